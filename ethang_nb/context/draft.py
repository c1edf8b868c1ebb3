"""Draft: the working copy on which stages plan. Made for one plan, thrown away with it.

A stage is `stage(draft) -> None`: it looks at the draft, changes it through the methods here, and leaves. So
every change is written down as a Move with its code, and the total is always right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ethang_nb.context.plan import Act
from ethang_nb.context.state import Form, NoteRow, PinRow, ResultRow, Row, State

__all__ = ["Code", "Draft", "Move", "Stage", "kept"]

Code = Literal[
    "nudge",
    "read",
    "run",
    "lost",
    "exchange",
    "turn",
    "oversized",
    "last-resort",
    "passing",
    "note",
    "joint",
    "offered",
]


@dataclass(frozen=True, slots=True)
class Move:
    """One change: row `row` (result `index`, -1 for the whole row), what is done, tokens before and after."""

    row: int
    index: int
    act: Act
    before: int
    after: int
    code: Code


Stage = Callable[["Draft"], None]


class Draft:
    """A copy of a state that may be changed, and the list of changes made."""

    def __init__(
        self,
        state: State,
        *,
        keep: int | None = None,
        note_tokens: int | None = None,
        last_resort: bool = False,
    ) -> None:
        self.state = state
        self.rows: list[Row] = list(state.rows)
        self.notes: list[NoteRow] = list(state.notes)
        self.pins: list[PinRow] = list(state.pins)
        self.core = state.core
        self.occupied = state.occupied
        self.moves: list[Move] = []
        self.keep = state.policy.keep if keep is None else keep
        self.note_tokens = state.note_tokens if note_tokens is None else note_tokens
        self.last_resort = last_resort
        """Whether this is the plan made after all others failed to fit hard."""
        self.writes_note = False
        self.nudges = False
        self._kept: set[int] | None = None

    @property
    def total(self) -> int:
        return self.state.fixed + self.core + sum(note.tokens for note in self.notes) + self.occupied

    @property
    def fill(self) -> int:
        return self.total * 1000 // self.state.usable

    @property
    def kept(self) -> set[int]:
        """Numbers of the rows that stay: the newest `keep`, the newest user message, tasks, open turns."""
        if self._kept is None:
            self._kept = kept(self.rows, self.keep)
        return self._kept

    def set_result(self, at: int, index: int, tokens: int, form: Form, act: Act, code: Code) -> None:
        """Puts result `index` of the row at position `at` into another form."""
        row = self.rows[at]
        old = row.results[index]
        results = list(row.results)
        results[index] = replace(old, tokens=tokens, form=form)
        self.rows[at] = replace(row, results=tuple(results))
        self.occupied += tokens - old.tokens
        self.moves.append(Move(row.id, index, act, old.tokens, tokens, code))

    def remove(self, rows: Iterable[int], act: Act, code: Code) -> None:
        """Takes the rows with these numbers out; pins whose message goes move into the core."""
        gone = set(rows)
        for row in self.rows:
            if row.id in gone:
                self.moves.append(Move(row.id, -1, act, row.tokens, 0, code))
                self.occupied -= row.tokens
        self.rows = [row for row in self.rows if row.id not in gone]
        self.core += self.core_growth(gone)
        self.pins = [replace(pin, core=True) if pin.row in gone else pin for pin in self.pins]
        self._kept = None

    def core_growth(self, gone: set[int]) -> int:
        """Tokens the core grows by when these rows leave."""
        lines = sum(pin.line for pin in self.pins if pin.row in gone and not pin.core)
        return lines + self.state.core_head if lines and not self.core else lines

    def put_notes(self, notes: list[NoteRow]) -> None:
        self.notes = notes
        self.writes_note = True

    def results(self, *, over: int, kept: bool | None = None) -> list[tuple[int, int, ResultRow]]:
        """(position, index, result) of results over `over` tokens; of rows that stay, that may leave, or both."""
        return [
            (at, index, result)
            for at, row in enumerate(self.rows)
            if kept is None or (row.id in self.kept) is kept
            for index, result in enumerate(row.results)
            if result.tokens > over
        ]


def kept(rows: Iterable[Row], keep: int) -> set[int]:
    """Numbers of the rows that stay whatever happens, with `keep` of the newest among them."""
    real = [row for row in rows if not row.own]
    ids = {row.id for row in real[-keep:]}
    ids |= {row.id for row in real if row.task or row.open}
    for row in reversed(real):
        if row.kind == "user":
            ids.add(row.id)
            break
    return ids
