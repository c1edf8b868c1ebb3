"""Marks: what is said of a segment that changes while the segment does not: its rank, its reason, its next verdict.

`mark` is the one rule, for one row. `Marking` follows a context from state to state and works out anew only what the
step between two states can have changed, so an appended segment costs the same in a long context as in a short one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ethang_nb.context.decision import Decision, Move, without
from ethang_nb.context.draft import kept_rows
from ethang_nb.context.explain import strongest
from ethang_nb.context.ledger import CLASSES, Ledger, Row
from ethang_nb.context.plan import SHOWN_ACTS
from ethang_nb.context.planner import cleanup
from ethang_nb.context.segments import Retention, SegmentKind
from ethang_nb.context.state import State
from ethang_nb.context.staying import Staying
from ethang_nb.context.wording import REASONS

__all__ = ["NO_MARK", "Followed", "Mark", "Marking", "Sizes", "mark", "sizes_of"]

NO_MARK = 0xFFFF
"""The code of a row that has no mark yet."""


class Mark(NamedTuple):
    """What is said of a row. `kind` is None where it is the row's own; `collapsed`: all its results are one line."""

    kind: SegmentKind | None
    retention: Retention
    droppable: bool
    reason: str
    verdict: str
    why: str
    collapsed: bool


def mark(row: Row, staying: Staying, moves: Sequence[Move]) -> Mark:
    """The mark of a row as it stands; `moves` are what the next cleanup does to it."""
    fixed = staying.fixed(row)
    return Mark(
        kind="task" if row.task else None,
        retention=_retention(row, staying.rows),
        droppable=not fixed,
        reason=staying.said(fixed or staying.may_leave(row)),
        verdict=SHOWN_ACTS[strongest(moves)],
        why=REASONS[moves[-1].code] if moves else staying.said(staying.why(row)),
        collapsed=bool(row.results) and all(result.form == "stub" for result in row.results),
    )


def _retention(row: Row, stays: frozenset[int]) -> Retention:
    if row.passing:
        return Retention.NOTICE
    if row.task or row.kind == "pin":
        return Retention.CORE
    if row.kind == "memory":
        return Retention.MEMORY
    if row.id in stays:
        return Retention.RECENT
    return Retention.TOOL_OUTPUT if row.results else Retention.OLDER


class Sizes(NamedTuple):
    """Tokens of a row as it entered, and when every result of it that can be is one line."""

    whole: int
    short: int


def sizes_of(ledger: Ledger, number: int) -> Sizes:
    whole = ledger.sums[number + 1] - ledger.sums[number]
    saves = 0
    for again in CLASSES:
        saved, upto = ledger.results[again].saved, ledger.upto[again]
        saves += saved[upto[number + 1]] - saved[upto[number]]
    return Sizes(whole, whole - saves)


class Followed(NamedTuple):
    """What a step to another state changed: rows whose mark is another, and rows of a size of their own.

    `rows` are in order; `sizes` has None for a row that stands as it entered again. One that is collapsed has none.
    """

    decision: Decision
    """The next cleanup."""
    staying: Staying
    looked: list[int]
    """The rows that were looked at."""
    rows: list[int]
    sizes: list[tuple[int, int | None]]

    def passed(self, number: int) -> list[Move]:
        """What the next cleanup does to a nudge or notice."""
        return [move for move in self.decision.passed if move.row == number]


class Marking:
    """The marks of one context's live rows, by number: `table[codes[row]]`."""

    def __init__(self) -> None:
        self.table: list[Mark] = []
        """Every mark that was ever given, in the order of its first use: a number never changes its meaning."""
        self.codes = array("H")
        self.odd: dict[int, int] = {}
        """Tokens of the rows that stand neither as they entered nor as one line, as far as was told; of a row that
        became one line since, what was told last."""
        self._numbers: dict[Mark, int] = {}
        self._last: Followed | None = None

    def follow(self, state: State) -> Followed:
        """Goes on to this state."""
        decision = cleanup(state, asked=True)
        now = decision.before
        staying = Staying(now, now.policy.keep)
        last = self._last
        looked = now.numbers if last is None else _touched(last.decision, last.staying, decision, staying)
        found = Followed(decision, staying, looked, [], [])
        if len(self.codes) < now.n:
            self.codes.extend([NO_MARK] * (now.n - len(self.codes)))
        for number in looked:
            self._look(number, now, found)
        if last is not None and last.decision.before.live != now.live:
            self.odd = {number: tokens for number, tokens in self.odd.items() if now.is_live(number)}
        self._last = found
        return found

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The rows that have a size of their own, in order."""
        return [
            (number, tokens)
            for number, tokens in sorted(self.odd.items())
            if not self.table[self.codes[number]].collapsed
        ]

    def _look(self, number: int, now: State, found: Followed) -> None:
        row = now.row(number)
        made = mark(row, found.staying, found.decision.of_row(number))
        code = self._numbers.get(made)
        if code is None:
            code = self._numbers[made] = len(self.table)
            self.table.append(made)
        if self.codes[number] != code:
            self.codes[number] = code
            found.rows.append(number)
        if made.collapsed:
            return  # it stands at its short size, whatever its size was
        sizes = sizes_of(now.ledger, number)
        odd = None if row.tokens == sizes.whole else row.tokens
        if odd != self.odd.get(number):
            found.sizes.append((number, odd))
            if odd is None:
                del self.odd[number]
            else:
                self.odd[number] = odd


def _touched(was: Decision, stayed: Staying, now: Decision, stays: Staying) -> list[int]:
    """The live rows whose mark or size can be another than it was; all of them where rules or old rows changed."""
    old, new = was.before, now.before
    # Only the newest row may be another than it was, unless a result came late to an older one.
    known = old.n - 1
    if old.policy != new.policy or new.n < old.n or not _same_results(old.ledger, new.ledger, known):
        return new.numbers
    rows = {*range(max(0, known), new.n), *(stayed.rows ^ stays.rows)}
    rows.update(row for _, row in _singled(old) ^ _singled(new))
    # What would leave, and why: a turn of the newest exchange leaves as a turn.
    for start, stop in (*without(was.evicted, now.evicted), *without(now.evicted, was.evicted)):
        rows.update(range(start, stop))
    if old.exchange != new.exchange:
        starts = new.ledger.starts
        first, end = starts[old.exchange], starts[old.exchange + 1]
        for start, stop in now.evicted:
            rows.update(range(max(start, first), min(stop, end)))
    # Which results are one line or made shorter, and which would be.
    for one, other in ((old, new), (was.after, now.after)):
        rows.update(_passed_by_fronts(one, other, known))
        if one.changed != other.changed:
            rows.update(_changed(one, other), _changed(other, one))
    if was.last_resort != now.last_resort:
        rows.update(_changed(now.after, None))
    return [number for number in sorted(rows) if number >= 0 and new.is_live(number)]


def _same_results(old: Ledger, new: Ledger, rows: int) -> bool:
    """Whether the first rows hold as many results as they did: none ever leaves a row of the ledger."""
    return rows < 0 or all(old.upto[again][rows] == new.upto[again][rows] for again in CLASSES)


def _singled(state: State) -> set[tuple[str, int]]:
    """The rows that stay for a reason of their own, each with that reason; of open ones how much they wait for."""
    found = {("task", state.first_task), ("task", state.task), ("user", state.user)}
    found.update((f"open {count}", row) for row, count in state.opened)
    found.update(("pin", pin.row) for pin in state.pins if not pin.core)
    if state.n:
        found.add(("newest", kept_rows(state, 1)[0]))
    return found


def _passed_by_fronts(one: State, other: State, rows: int) -> Iterator[int]:
    """Of the first rows, those with results between where two states collapsed to."""
    ledger = other.ledger
    for again in CLASSES:
        low, high = sorted((one.collapsed[again], other.collapsed[again]))
        yield from ledger.results[again].row[low : min(high, ledger.upto[again][max(0, rows)])]


def _changed(one: State, other: State | None) -> Iterator[int]:
    """The rows of results that stand out in the first state, and otherwise than in the second."""
    for place, value in one.changed.items():
        if other is None or other.changed.get(place) != value:
            yield one.ledger.results[place[0]].row[place[1]]
