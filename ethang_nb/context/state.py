"""State: what the planner knows of a context. Integers and segment numbers; content hashes lie beside them.

Rows stand for segments of the conversation; system, tools, project, core and notes stand before them as plain
sums. All token counts are of the form in which the thing is in the window now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ethang_nb.context.messages import Again
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels, Window

__all__ = ["AGAIN_RANK", "Form", "NoteRow", "PinRow", "ResultRow", "Row", "RowKind", "State"]

RowKind = Literal["user", "assistant", "turn", "memory", "pin", "nudge", "notice"]
Form = Literal["full", "spilled", "stub", "shrunk"]
"""How a result stands in the window: as it came, cut on entry, as its one line, or shrunk in place."""
AGAIN_RANK: dict[Again, int] = {"read": 0, "run": 1, "lost": 2}
"""Collapse order: first what can be read again, then run again, last what cannot be had again."""
PASSING: tuple[RowKind, ...] = ("nudge", "notice")
"""Kinds that do not count among the segments that stay, and go first of all."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One tool result: its tokens now, those of its one-line stub, how it can be had again, its form."""

    tokens: int
    stub: int
    again: int
    form: Form = "full"


@dataclass(frozen=True, slots=True)
class Row:
    """One segment. `base` is what it takes without results; `open` how many calls still lack a result."""

    id: int
    kind: RowKind
    base: int
    exchange: int
    work: int
    results: tuple[ResultRow, ...] = ()
    open: int = 0
    task: bool = False
    hash: str = ""

    @property
    def tokens(self) -> int:
        total = self.base
        for result in self.results:
            total += result.tokens
        return total

    @property
    def passing(self) -> bool:
        return self.kind in PASSING

    @property
    def own(self) -> bool:
        """Whether it is a text of ours: none of them counts as the newest segment, which is somebody's work."""
        return self.kind in PASSING or self.kind == "pin"


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A handoff note: `tokens` is what is reserved until it is written, then what it takes."""

    id: int
    tokens: int
    generation: int
    hash: str = ""


@dataclass(frozen=True, slots=True)
class PinRow:
    """A pin: the row that holds its message (-1: none), the tokens of its line in the core, whether it is there."""

    id: int
    row: int
    line: int
    core: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A context between two events."""

    window: Window
    policy: Policy
    ratio: int = 1000
    """Per mille by which the provider counts more than we do; divides every limit, never below 1,000."""
    reports: tuple[int, ...] = ()
    """The last non-phantom reports, each as provider input per mille of our own count."""
    system: int = 0
    tools: int = 0
    project: int = 0
    core: int = 0
    core_head: int = 0
    """Tokens of the core's heading, paid with its first line."""
    rows: tuple[Row, ...] = ()
    notes: tuple[NoteRow, ...] = ()
    pins: tuple[PinRow, ...] = ()
    next_row: int = 0
    next_note: int = 1
    exchange: int = 0
    work: int = 0
    armed: bool = True
    """Whether a nudge may be sent."""
    nudged: bool = False
    asked: bool = False
    """Whether somebody asked for a cleanup at the next request point."""
    said: str = ""
    """The cause last said of a context that is stuck or cannot be cleaned; said once per cause."""
    occupied: int = 0
    """Tokens of all rows; kept so that a request point costs nothing while no level is crossed."""

    @property
    def fixed(self) -> int:
        return self.system + self.tools + self.project

    @property
    def total(self) -> int:
        """Tokens of the assembled request."""
        return self.fixed + self.core + sum(note.tokens for note in self.notes) + self.occupied

    @property
    def hard(self) -> int:
        return self.window.hard * 1000 // self.ratio

    @property
    def usable(self) -> int:
        return self.window.usable * 1000 // self.ratio

    @property
    def levels(self) -> Levels:
        return self.policy.levels_for(self.window)

    @property
    def fill(self) -> int:
        """Per mille of usable."""
        return self.total * 1000 // self.usable

    @property
    def cleanup_at(self) -> int:
        """The first total at which fill reaches the cleanup level."""
        return -(-self.levels.cleanup * self.usable // 1000)

    @property
    def landing_at(self) -> int:
        """The total a cleanup aims at."""
        return self.usable * self.levels.landing // 1000

    @property
    def note_tokens(self) -> int:
        return self.policy.note_tokens(self.usable)

    @property
    def entry_tokens(self) -> int:
        return self.policy.entry_tokens(self.usable)
