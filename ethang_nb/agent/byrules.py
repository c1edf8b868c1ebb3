"""ByRules: the notices that a handoff note was written by rules because no model wrote it, once for each reason."""

from __future__ import annotations

from collections.abc import Iterable

from ethang_nb.context import kinds
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.wording import preview

__all__ = ["ByRules"]

WHY = 200  # ► characters of a reason; the record has all of it


class ByRules:
    """Which notes rules had to write. A summariser that always fails alike is said once, at its first note."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def say(self, step: int, why: str) -> None:
        """At a cleanup of step `step` no model wrote the note."""
        self._first.setdefault(preview(why, WHY), step)

    def recall(self, entries: Iterable[JournalEntry]) -> None:
        """What a record says of it, whose request points come before the notes they ask for."""
        step = 0
        for entry in entries:
            if entry.kind == kinds.POINT:
                step = entry.data["step"]
            elif entry.kind in (kinds.NOTE_FAILED, kinds.NOTE_BY_RULE):
                self.say(step, entry.data["text"])

    @property
    def notices(self) -> tuple[str, ...]:
        return tuple(
            f"step {step}: the note was written by rules: {why}" for why, step in tuple(self._first.items())
        )
