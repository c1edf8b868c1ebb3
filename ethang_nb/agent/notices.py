"""Notices: what a person should know of how requests, replies and notes went, each thing said once.

A notice is in the record with the request, reply or note it is about, so that a session opened again says the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from ethang_nb.context import kinds
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.wording import preview

__all__ = ["Notices", "by_rules"]

WHY = 200  # ► characters of the reason why rules wrote a note
LONGEST = 300  # ► characters of a notice; the record has all of it
WAITS = 3  # ► waits that are shown, the newest


def by_rules(why: str) -> str:
    """The notice that no model wrote a handoff note. A summariser that always fails alike is said once."""
    return f"the note was written by rules: {preview(why, WHY)}"


class Notices:
    """What was said, with the step at which it was said first; and what those who waited were told."""

    def __init__(self) -> None:
        self._all: list[str] = []
        self._known: set[str] = set()
        self._waits: list[int] = []
        """Where in `_all` they stand."""

    def say(self, step: int, *lines: str) -> None:
        for text in lines:
            shown = preview(text, LONGEST)
            if shown not in self._known:
                self._known.add(shown)
                self._all.append(f"step {step}: {shown}")

    def wait(self, step: int, text: str) -> None:
        """Somebody who waits for the reply of step `step` was told this."""
        self._waits.append(len(self._all))
        self._all.append(f"step {step}: {preview(text, LONGEST)}")

    def recall(self, entries: Iterable[JournalEntry]) -> None:
        """What a record says of it, whose request points come before what belongs to their step."""
        step = 0
        for entry in entries:
            if entry.kind == kinds.POINT:
                step = entry.data["step"]
            elif entry.kind == kinds.WAITED:
                self.wait(step, entry.data["text"])
            elif entry.kind in (kinds.NOTE_FAILED, kinds.NOTE_BY_RULE):
                self.say(step, by_rules(entry.data["text"]))
            else:
                self.say(step, *entry.data.get("notices", ()))

    @property
    def lines(self) -> tuple[str, ...]:
        """In the order in which they came: all notices, and the newest waits; before these how many there were more."""
        waits = tuple(self._waits)
        hidden, newest = set(waits[:-WAITS]), waits[-WAITS:]
        said: list[str] = []
        for at, text in enumerate(tuple(self._all)):
            if hidden and at == newest[0]:
                more = len(hidden)
                said.append(f"{more:,} earlier {'wait' if more == 1 else 'waits'}; the record has them")
            if at not in hidden:
                said.append(text)
        return tuple(said)
