"""Segments: one or more messages that live or die together, ranked by retention, droppable or not with the reason.

A tool call is never parted from its results, so an assistant message with calls and all their results is one
segment (a tool turn). These are the values that people see; the planner works on the integers beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Self

from ethang_nb._show import Shown
from ethang_nb.context.messages import Message, Trust
from ethang_nb.context.pairing import LOST

__all__ = ["Retention", "Segment", "SegmentKind", "Segments"]

SegmentKind = Literal[
    "system",
    "tools",
    "project",
    "core",
    "task",
    "note",
    "memory",
    "user",
    "assistant",
    "turn",
    "pin",
    "nudge",
    "notice",
]


class Retention(IntEnum):
    """Who leaves last (0) to who leaves first. Seed 003's priority order, with the note and notices placed in it."""

    SYSTEM = 0
    PROJECT = 1
    CORE = 2
    NOTE = 3
    RECENT = 4
    MEMORY = 5
    OLDER = 6
    TOOL_OUTPUT = 7
    NOTICE = 8

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Retention.SYSTEM: "system",
    Retention.PROJECT: "project",
    Retention.CORE: "core",
    Retention.NOTE: "handoff note",
    Retention.RECENT: "recent",
    Retention.MEMORY: "recalled memory",
    Retention.OLDER: "older",
    Retention.TOOL_OUTPUT: "tool output",
    Retention.NOTICE: "nudge or notice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One segment as it stands in the window now.

    `id` is stable within a session: `fixed:<kind>` for the parts before the conversation, `note:<n>`, else
    the number of the segment in order of arrival. `tokens` are what it takes in the window now; `address` is
    where its text can be read again ("" where it has never left). `verdict` is what the next cleanup would do.
    """

    id: str
    kind: SegmentKind
    title: str
    messages: tuple[Message, ...]
    tokens: int
    retention: Retention
    droppable: bool
    reason: str
    source: str
    trust: Trust
    position: int
    step: int | None = None
    address: str = ""
    collapsed: bool = False
    verdict: str = "stays"
    why: str = ""

    @property
    def incomplete(self) -> bool:
        """Whether a call of it has no result of its own: it still waits, or none was ever recorded."""
        answered = {
            result.call_id
            for message in self.messages
            for result in message.results
            if not (result.error and result.text == LOST)
        }
        return any(call.id not in answered for message in self.messages for call in message.calls)


class Segments(tuple[Segment, ...], Shown):  # noqa: SLOT001 - it carries its repairs
    """The segments of a context, oldest first, and what had to be mended to make them legal (`repairs`)."""

    _view = "ethang_nb.views.segments"
    repairs: tuple[str, ...]

    def __new__(cls, items: tuple[Segment, ...] = (), repairs: tuple[str, ...] = ()) -> Self:
        self = super().__new__(cls, items)
        self.repairs = repairs
        return self

    def __repr__(self) -> str:
        return f"Segments({len(self)} segments, {sum(item.tokens for item in self):,} tokens)"
