"""Replaying: a context rebuilt from its journal, and the check that it comes out as it was recorded.

The context is driven through the same methods as live; its journal hands back the recorded numbers and
compares what is written with what was. Entries of other kinds (requests, tool runs) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ethang_nb.context.journal import Journal
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import from_json
from ethang_nb.context.policy import from_knobs
from ethang_nb.context.state import ResultRow
from ethang_nb.context.window import Window

__all__ = ["KINDS", "JournalEntry", "ReplayJournal", "replay_into"]

KINDS = (
    "message",
    "system",
    "work",
    "asked",
    "release",
    "point",
    "note",
    "usage",
    "pin",
    "unpin",
    "settings",
)
"""The kinds of entry a context writes, and `settings`, which its owner writes for it."""


class JournalEntry(NamedTuple):
    number: int
    kind: str
    data: dict[str, Any]


class ReplayJournal:
    """Hands back recorded numbers as long as there are entries, then writes on to `after`.

    `drift` lists where the replay wrote something else than was recorded: another kind or another digest.
    """

    def __init__(self, entries: Iterable[JournalEntry], after: Journal) -> None:
        self._entries: Sequence[JournalEntry] = [entry for entry in entries if entry.kind in KINDS]
        self._at = 0
        self._after = after
        self.drift: list[str] = []

    @property
    def following(self) -> JournalEntry | None:
        return self._entries[self._at] if self._at < len(self._entries) else None

    @property
    def next(self) -> int:
        entry = self.following
        return entry.number if entry else self._after.next

    def write(self, kind: str, data: dict[str, Any]) -> int:
        entry = self.following
        if entry is None:
            return self._after.write(kind, data)
        self._at += 1
        if entry.kind != kind or entry.data.get("digest") != data.get("digest"):
            self.drift.append(f"entry {entry.number} was {entry.kind}, replayed as {kind}")
        return entry.number


def replay_into(context: LiveContext, entries: Iterable[JournalEntry]) -> tuple[str, ...]:
    """Feeds recorded entries to an empty context; returns where it drifted from the record (empty: nowhere)."""
    journal = ReplayJournal(entries, context.journal)
    after, context.journal = context.journal, journal
    try:
        while (entry := journal.following) is not None:
            _feed(context, entry.kind, entry.data)
            if journal.following is entry:
                journal.write(entry.kind, entry.data)
    finally:
        context.journal = after
    return tuple(journal.drift)


def _feed(context: LiveContext, kind: str, data: dict[str, Any]) -> None:
    match kind:
        case "message" if "row" in data:
            counted = ResultRow(**data["result"])
            context.join(data["row"], from_json(data["message"]), counted, data["address"])
        case "message" if data["own"]:
            context.request()  # our own messages enter as part of a request point
        case "message":
            context.enter(from_json(data["message"]), tokens=data["tokens"])
        case "settings":
            window, policy = Window(**data["window"]), from_knobs(data["policy"])
            context.settle(window=window, policy=policy, **data["parts"])
        case "system":
            context.add_system(data["text"])
        case "work":
            context.begin()
        case "asked":
            context.ask_cleanup()
        case "release":
            context.release([(row, index) for row, index in data["results"]])
        case "point":
            context.request()
        case "note":
            context.write_note(data["text"], reference=data["reference"], author=data["author"])
        case "usage":
            context.usage(data["reported"], data["own"])
        case "pin":
            context.pin(data["text"], data["kind"])
        case "unpin":
            context.unpin(data["id"], data["reason"])
