"""Draft: the working copy on which stages plan. Made for one plan, thrown away with it.

A stage is `stage(draft) -> None`: it looks at the draft, changes it through the methods here, and leaves. Sums over
rows come from the ledger's prefix sums, so a stage finds where it may stop by bisection instead of walking.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ethang_nb.context.ledger import CLASSES, FORMS, KINDS, Form
from ethang_nb.context.state import NoteRow, State

__all__ = ["Draft", "Place", "Span", "Stage", "kept_rows"]

_PIN = KINDS.index("pin")
_USER = KINDS.index("user")

Span = tuple[int, int]
"""Rows from, up to and without."""
Place = tuple[int, int]
"""A result: its class and its position there."""


class Large(NamedTuple):
    """A result: its tokens, its row, which of that row's it is, and its place."""

    tokens: int
    row: int
    nth: int
    place: Place


Stage = Callable[["Draft"], None]


class Draft:
    """A copy of a state that may be changed."""

    def __init__(
        self,
        state: State,
        *,
        keep: int | None = None,
        note_tokens: int | None = None,
        last_resort: bool = False,
        asked: bool = False,
    ) -> None:
        self.state = state
        self.ledger = state.ledger
        self.settings = state.settings
        self.live = state.live
        self.collapsed = list(state.collapsed)
        self.changed = dict(state.changed) if state.changed else {}
        self.passing = state.passing
        self.notes = state.notes
        self.pins = state.pins
        self.core = state.core
        self.pointers = state.pointers
        self.occupied = state.occupied
        self.fixed = state.system + state.tools + state.project
        self._notes = sum([note.tokens for note in state.notes]) if state.notes else 0
        self.before = self.fixed + self.core + self._notes + self.occupied
        """The total of the state."""
        self.keep = state.settings.policy.keep if keep is None else keep
        self.note_tokens = state.settings.note_tokens if note_tokens is None else note_tokens
        self.last_resort = last_resort
        """Whether this is the plan made after all others failed to fit hard."""
        self.asked = asked
        self.writes_note = False
        self.nudges = False
        self._kept: dict[int, tuple[int, frozenset[int]]] = {}

    # ---- sums

    @property
    def total(self) -> int:
        return self.fixed + self.core + self._notes + self.occupied

    def span(self, start: int, stop: int) -> int:
        """Tokens of rows start to stop as they stand in this draft, whether live or not."""
        if stop <= start:
            return 0
        ledger = self.ledger
        total = ledger.sums[stop] - ledger.sums[start]
        for again in CLASSES:
            front = self.collapsed[again]
            if front:
                upto = ledger.upto[again]
                low = upto[start]
                if low < front:
                    saved, high = ledger.results[again].saved, upto[stop]
                    total -= saved[min(high, front)] - saved[low]
        if self.changed:
            for (again, at), (tokens, _) in self.changed.items():
                if start <= ledger.results[again].row[at] < stop:
                    total += tokens - self._by_front(again, at)
        return total

    def row_tokens(self, row: int) -> int:
        return self.span(row, row + 1)

    def movable(self, start: int, stop: int, stays: frozenset[int]) -> list[Span]:
        """The live rows from start up to stop that do not stay, as ranges."""
        found: list[Span] = []
        for a, b in self.live:
            low, high = max(start, a), min(stop, b)
            if low >= high:
                continue
            for row in sorted([row for row in stays if low <= row < high]):
                if low < row:
                    found.append((low, row))
                low = row + 1
            if low < high:
                found.append((low, high))
        return found

    def _by_front(self, again: int, at: int) -> int:
        """Tokens of a result by its column alone: its line behind the front, else as it entered."""
        column = self.ledger.results[again]
        tokens = column.tokens[at]
        return min(tokens, column.stub[at]) if at < self.collapsed[again] else tokens

    # ---- what stays

    def kept(self, keep: int | None = None) -> frozenset[int]:
        """The rows that stay whatever happens: the newest `keep`, the newest user message, tasks, open turns."""
        return self._stays(self.keep if keep is None else keep)[1]

    def edge(self, keep: int | None = None) -> int:
        """The first of the newest `keep` rows: everything before it may leave, single rows excepted."""
        return self._stays(self.keep if keep is None else keep)[0]

    def _stays(self, keep: int) -> tuple[int, frozenset[int]]:
        found = self._kept.get(keep)
        if found is None:
            found = self._kept[keep] = kept_rows(self.state, keep, live=self.live)
        return found

    # ---- changes

    def render_core(self) -> None:
        """The core as it stands when the prefix breaks anyway: a lifted pin is in it no longer."""
        lines = sum([pin.line for pin in self.pins if pin.core]) + self.pointers
        self.core = lines + self.state.core_head if lines else 0

    def drop_passing(self) -> None:
        """Nudges and notices go first of all."""
        if self.passing:
            self.occupied -= sum([item.tokens for item in self.passing])
            self.passing = ()

    def collapse(self, again: int, edge: int, stays: frozenset[int], goal: int) -> None:
        """Results of one class in rows before `edge` become their line, oldest first, until the total is `goal`."""
        ledger = self.ledger
        column, upto = ledger.results[again], ledger.upto[again]
        rows, front = column.row, self.collapsed[again]
        if not self.changed:
            self._collapse_plain(again, front, edge, stays, goal)
            return
        odd = sorted(at for kind, at in self.changed if kind == again)
        for at in odd:  # what stayed whole when the front went past it
            if at < front and self.total > goal and rows[at] not in stays and self._is_live(rows[at]):
                self._fold(again, at)
        for start, stop in self.live:
            low, high = max(front, upto[min(start, edge)]), upto[min(stop, edge)]
            if low >= high:
                continue
            for at in (*[at for at in odd if low <= at < high], -1):
                end = high if at < 0 else at
                while low < end and (need := self.total - goal) > 0:
                    reached = min(bisect_left(column.saved, column.saved[low] + need, low, end + 1), end)
                    self._advance(again, low, reached, stays)
                    low = front = reached
                if self.total <= goal:
                    return
                if at >= 0:
                    self.collapsed[again] = front = low = at + 1
                    if rows[at] not in stays:
                        self._fold(again, at)

    def _collapse_plain(self, again: int, front: int, edge: int, stays: frozenset[int], goal: int) -> None:
        """The same where no result stands otherwise: almost always."""
        saved, upto = self.ledger.results[again].saved, self.ledger.upto[again]
        for start, stop in self.live:
            if start >= edge:
                return
            low, high = upto[start], upto[min(edge, stop)]
            low = max(low, front)
            while low < high:  # more than once only where an open turn holds back what was counted on
                need = self.total - goal
                if need <= 0:
                    return
                reached = min(bisect_left(saved, saved[low] + need, low, high + 1), high)
                self._advance(again, low, reached, stays)
                low = reached

    def _advance(self, again: int, low: int, reached: int, stays: frozenset[int]) -> None:
        """The front goes from `low` to `reached`; results of open turns on the way stay as they are."""
        if reached <= low:
            return
        column = self.ledger.results[again]
        self.occupied -= column.saved[reached] - column.saved[low]
        self.collapsed[again] = reached
        for row, _ in self.state.opened:
            if row in stays:
                for at in range(*(self.ledger.upto[again][row + step] for step in (0, 1))):
                    if low <= at < reached and column.tokens[at] > column.stub[at]:
                        self.changed[again, at] = (column.tokens[at], FORMS[column.form[at]])
                        self.occupied += column.tokens[at] - column.stub[at]

    def _fold(self, again: int, at: int) -> None:
        """A result that stands otherwise, and that the front has passed, becomes its line if that is shorter."""
        tokens, form = self.changed[again, at]
        line = self._by_front(again, at)
        if tokens > line or (tokens == line and form not in ("shrunk", "squeezed")):
            del self.changed[again, at]
            self.occupied -= tokens - line

    def set_result(self, place: Place, tokens: int, form: Form) -> None:
        """Puts one result into another form."""
        again, at = place
        self.occupied += tokens - self.result_tokens(again, at)
        self.changed[place] = (tokens, form)

    def result_tokens(self, again: int, at: int) -> int:
        changed = self.changed.get((again, at)) if self.changed else None
        return self._by_front(again, at) if changed is None else changed[0]

    def remove(self, gone: list[Span]) -> None:
        """Takes live rows out; pins whose message goes move into the core."""
        if not gone:
            return
        self.occupied -= sum([self.span(start, stop) for start, stop in gone])
        if self.pins:
            self.core += self.core_growth(gone)
            self.pins = tuple(
                [
                    pin if pin.core or not _inside(pin.row, gone) else pin._replace(core=True)
                    for pin in self.pins
                ]
            )
        self.live = _minus(self.live, gone)
        rows = self.ledger.results if self.changed else ()
        for place in [place for place in self.changed if _inside(rows[place[0]].row[place[1]], gone)]:
            del self.changed[place]
        self._kept = {}

    def loose(self) -> bool:
        """Whether a message that may leave holds a pin that the core does not hold yet."""
        stays = self.kept()
        return any(not pin.core and pin.row not in stays for pin in self.pins)

    def core_growth(self, gone: Iterable[Span]) -> int:
        """Tokens the core grows by when these rows leave."""
        loose = [pin for pin in self.pins if not pin.core]
        if not loose:
            return 0
        spans = list(gone)
        lines = sum([pin.line for pin in loose if _inside(pin.row, spans)])
        return lines + self.state.core_head if lines and not self.core else lines

    def put_notes(self, notes: Iterable[NoteRow]) -> None:
        """The notes that stand from now on, the last of them new; none where the policy writes none."""
        self.notes = tuple(notes)
        self.writes_note = bool(self.notes)
        self._notes = sum([note.tokens for note in self.notes])

    # ---- walks, for what happens seldom

    def results(self, *, over: int) -> list[Large]:
        """All live results over `over` tokens, oldest first."""
        found: list[Large] = []
        ledger, end = self.ledger, self.state.n
        for again in CLASSES:
            column, upto = ledger.results[again], ledger.upto[again]
            for start, stop in self.live:
                for at in range(upto[min(start, end)], upto[min(stop, end)]):
                    tokens = self.result_tokens(again, at)
                    if tokens > over:
                        found.append(Large(tokens, column.row[at], column.index[at], (again, at)))
        return sorted(found, key=lambda item: (item.row, item.nth))

    def places_of(self, row: int) -> list[Large]:
        """The results of one row, in call order."""
        found: list[Large] = []
        for again in CLASSES:
            column, upto = self.ledger.results[again], self.ledger.upto[again]
            found += [
                Large(self.result_tokens(again, at), row, column.index[at], (again, at))
                for at in range(upto[row], upto[row + 1])
            ]
        return sorted(found, key=lambda item: item.nth)

    def stub(self, place: Place) -> int:
        return self.ledger.results[place[0]].stub[place[1]]

    def is_user(self, row: int) -> bool:
        return self.ledger.kind[row] == _USER

    def _is_live(self, row: int) -> bool:
        return any(start <= row < stop for start, stop in self.live)

    def after(self) -> State:
        """The state as this draft leaves it."""
        return self.state._replace(
            live=self.live,
            collapsed=(self.collapsed[0], self.collapsed[1], self.collapsed[2]),
            changed=self.changed,
            passing=self.passing,
            notes=self.notes,
            pins=self.pins,
            core=self.core,
            pointers=self.pointers,
            occupied=self.occupied,
            # A call that left with a reseed waits no longer.
            opened=tuple([item for item in self.state.opened if self._is_live(item[0])]),
        )


def kept_rows(state: State, keep: int, *, live: tuple[Span, ...] | None = None) -> tuple[int, frozenset[int]]:
    """The first of the newest `keep` segments, and the numbers of all rows that stay whatever happens.

    Pins by hand are texts of ours and do not count among the newest. The state must be closed.
    """
    kinds, left, edge = state.ledger.kind, keep, state.n
    newest: list[int] = []
    spans = state.live if live is None else live
    for start, stop in reversed(spans):
        for row in range(min(stop, state.n) - 1, start - 1, -1):
            if kinds[row] != _PIN:
                newest.append(row)
                edge = row
                left -= 1
                if not left:
                    break
        if not left:
            break
    if left:
        edge = 0
    if keep > 1:  # questions that still wait for an answer; one of them at least stays always
        row = state.n - 1
        while row >= 0 and kinds[row] in (_USER, _PIN):
            newest.append(row)
            row -= 1
    stays = set(newest)
    for row in (state.first_task, state.task, state.user, *[row for row, _ in state.opened]):
        # What left with a reseed is no more: the task and the newest user message of the work before it.
        if row not in stays and _inside(row, spans):
            stays.add(row)
    return edge, frozenset(stays)


def _inside(row: int, spans: Sequence[Span]) -> bool:
    for start, stop in spans:  # noqa: SIM110 - asked at every plan, and twice as fast as any()
        if start <= row < stop:
            return True
    return False


def _minus(live: tuple[Span, ...], gone: list[Span]) -> tuple[Span, ...]:
    """The live ranges without some of their rows."""
    left = list(live)
    for start, stop in gone:
        pieces: list[Span] = []
        for low, high in left:
            if stop <= low or high <= start:
                pieces.append((low, high))
                continue
            if low < start:
                pieces.append((low, start))
            if stop < high:
                pieces.append((stop, high))
        left = pieces
    return tuple(left)
