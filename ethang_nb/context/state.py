"""State: what the planner knows of a context. A small immutable value over a shared ledger of rows.

Rows stand for segments of the conversation; system, tools, project, core and notes stand before them as plain
sums. All token counts are of the form in which the thing is in the window now. What is in the window is told by a
few ranges of rows (`live`), per class how many of its results were collapsed (`collapsed`), and the few results
that stand otherwise (`changed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ethang_nb.context.ledger import CLASSES, FORMS, KINDS, Form, Ledger, Result, Row, RowKind
from ethang_nb.context.policy import Policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.window import Levels, Window

__all__ = ["END", "Changed", "NoteRow", "Passing", "PinRow", "Reports", "State"]

END = 1 << 62
"""The stop of the last live range: whatever comes is live."""

Changed = Mapping[tuple[int, int], tuple[int, Form]]
"""(class, position in its column) -> tokens and form of a result that stands otherwise than its column says."""


class NoteRow(NamedTuple):
    """A handoff note: `tokens` is what is reserved until it is written, then what it takes."""

    id: int
    tokens: int
    generation: int


class PinRow(NamedTuple):
    """A pin: the row that holds its message (-1: none), the tokens of its line in the core, whether it is there."""

    id: int
    row: int
    line: int
    core: bool = False


class Passing(NamedTuple):
    """A nudge or notice: its number (below 0), what it is, its tokens, and how many rows precede it."""

    id: int
    kind: RowKind
    tokens: int
    after: int


class Reports(NamedTuple):
    """What providers reported: for the calibration, and for knowing how much to trust the fill."""

    last: tuple[int, ...] = ()
    """The last non-phantom reports, each as provider input per mille of our own count."""
    ever: bool = False
    sent: bool = False
    """Of the current piece of work: whether a request was made, how many reports were good, how many phantom."""
    good: int = 0
    phantom: int = 0
    family: int = 1000
    """The ratio that holds before any report."""


class State(NamedTuple):
    """A context between two events."""

    settings: Settings
    ledger: Ledger
    exact: bool = True
    """Whether the counts are those of the model's own tokenizer."""
    n: int = 0
    """How many rows of the ledger this state has; `tail` is the one after them, while results may still join it."""
    tail: Row | None = None
    system: int = 0
    tools: int = 0
    project: int = 0
    core: int = 0
    core_head: int = 0
    """Tokens of the core's heading, paid with its first line."""
    pointers: int = 0
    """Of the core: what its pointers and the state of the work take."""
    pointers_head: int = 0
    """Tokens of what stands around pointers: headings, the state, how to search the record."""
    live: tuple[tuple[int, int], ...] = ((0, END),)
    collapsed: tuple[int, int, int] = (0, 0, 0)
    changed: Changed = MappingProxyType({})
    opened: tuple[tuple[int, int], ...] = ()
    """Rows of the ledger whose calls still lack results: (row, how many)."""
    passing: tuple[Passing, ...] = ()
    notes: tuple[NoteRow, ...] = ()
    pins: tuple[PinRow, ...] = ()
    occupied: int = 0
    """Tokens of all rows and of what passes."""
    next_note: int = 1
    next_passing: int = -1
    exchange: int = 0
    user: int = -1
    """The newest user message; the session's first task; the task of this piece of work. -1: none."""
    first_task: int = -1
    task: int = -1
    work: int = 0
    begun: bool = True
    """Whether the next user message is the task of a piece of work."""
    armed: bool = True
    """Whether a nudge may be sent."""
    nudged: bool = False
    asked: bool = False
    """Whether somebody asked for a cleanup at the next request point."""
    refused: bool = False
    """Whether that was the provider, which refused a request as too long."""
    cooled: bool = False
    """Whether somebody asked that the next piece of work starts from the core."""
    declined: bool = False
    """Whether a start from the core was declined since the last landing; said once."""
    said: str = ""
    """The cause last said of a context that is stuck or cannot be cleaned; said once per cause."""
    reports: Reports = Reports()

    # ---- limits

    @property
    def window(self) -> Window:
        return self.settings.window

    @property
    def policy(self) -> Policy:
        return self.settings.policy

    @property
    def levels(self) -> Levels:
        return self.settings.levels

    @property
    def ratio(self) -> int:
        return self.settings.ratio

    @property
    def hard(self) -> int:
        return self.settings.hard

    @property
    def usable(self) -> int:
        return self.settings.usable

    @property
    def cleanup_at(self) -> int:
        return self.settings.cleanup_at

    @property
    def landing_at(self) -> int:
        return self.settings.landing_at

    @property
    def note_tokens(self) -> int:
        return self.settings.note_tokens

    @property
    def entry_tokens(self) -> int:
        return self.settings.entry_tokens

    # ---- sums

    @property
    def fixed(self) -> int:
        return self.system + self.tools + self.project

    @property
    def total(self) -> int:
        """Tokens of the assembled request."""
        total = self.system + self.tools + self.project + self.core + self.occupied
        return total + sum([note.tokens for note in self.notes]) if self.notes else total

    @property
    def fill(self) -> int:
        """Per mille of usable."""
        return self.total * 1000 // self.settings.usable

    # ---- rows

    @property
    def head(self) -> int | None:
        """The task that stands before the notes: the first row, unless something of ours came before it."""
        first = self.live[0][0]
        passed = bool(self.passing) and self.passing[0].after <= first
        return first if first in (self.first_task, self.task) and not passed else None

    @property
    def next_row(self) -> int:
        return self.n + (self.tail is not None)

    def closed(self) -> State:
        """The same state with its newest row in the ledger, where plans are made."""
        row = self.tail
        if row is None:
            return self
        ledger = self.ledger.push(self.n, row, user=self.user, task=self.task)
        opened = (*self.opened, (row.id, row.open)) if row.open else self.opened
        return self._replace(ledger=ledger, n=self.n + 1, tail=None, opened=opened)

    def row(self, number: int) -> Row:
        """Segment `number` as it stands in the window now."""
        if self.tail is not None and number == self.n:
            return self.tail
        waiting = dict(self.opened).get(number, 0)
        entered = self.ledger.entered(number, open=waiting, task=number in (self.first_task, self.task))
        if not entered.results:
            return entered
        places = self.places(number)
        results = tuple(self.result(again, at) for again, at in places)
        return Row(
            entered.id, entered.kind, entered.base, entered.exchange, results, entered.open, entered.task
        )

    def places(self, number: int) -> list[tuple[int, int]]:
        """(class, position) of the results of a row of the ledger, in call order."""
        ledger = self.ledger
        found = [
            (ledger.results[again].index[at], again, at)
            for again in CLASSES
            for at in range(ledger.upto[again][number], ledger.upto[again][number + 1])
        ]
        return [(again, at) for _, again, at in sorted(found)]

    def result(self, again: int, at: int) -> Result:
        """A result of the ledger as it stands now."""
        column = self.ledger.results[again]
        tokens, form = column.tokens[at], FORMS[column.form[at]]
        changed = self.changed.get((again, at))
        if changed is not None:
            tokens, form = changed
        elif at < self.collapsed[again] and tokens > column.stub[at]:
            tokens, form = column.stub[at], "stub"
        return Result(tokens, column.stub[at], again, form, column.squeezed.get(at, 0))

    @property
    def numbers(self) -> list[int]:
        """The numbers of all live rows of the conversation, oldest first."""
        end = self.next_row
        return [number for start, stop in self.live for number in range(start, min(stop, end))]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All that is live, in the order of assembly, nudges and notices among it. O(live)."""
        passing = list(self.passing)
        found: list[Row] = []
        for number in self.numbers:
            while passing and passing[0].after <= number:
                found.append(_passing(passing.pop(0), self.exchange))
            found.append(self.row(number))
        found += [_passing(item, self.exchange) for item in passing]
        return tuple(found)

    def kind(self, number: int) -> RowKind:
        if self.tail is not None and number == self.n:
            return self.tail.kind
        return KINDS[self.ledger.kind[number]]

    def is_live(self, number: int) -> bool:
        if number < 0:
            return any(item.id == number for item in self.passing)
        return number < self.next_row and any(start <= number < stop for start, stop in self.live)


def _passing(item: Passing, exchange: int) -> Row:
    return Row(item.id, item.kind, item.tokens, exchange)
