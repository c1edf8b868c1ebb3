"""Refold: the fold over a whole tape, jumping by bisection from one moment that decides something to the next.

Between two decisions a total only grows with what enters, so the next request point at which anything can happen is
found in the prefix sums. What is decided there is asked of the same planner as in a live context: same decisions, at
the cost of the decisions alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from ethang_nb.context.decision import Decision
from ethang_nb.context.draft import Draft
from ethang_nb.context.events import MessageAdded, ResultAdded, WorkBegun
from ethang_nb.context.fold import landed, step
from ethang_nb.context.planner import decide
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.tape import Tape

__all__ = ["Turn", "advance", "refold"]


class Turn(NamedTuple):
    """A decision and the state it led to. `point` is the request point it was made at, or the next one's number."""

    point: int
    decision: Decision
    state: State
    marks: int
    """How many marks of the tape came before it."""


def refold(tape: Tape, settings: Settings, *, nudge_tokens: int) -> list[Turn]:
    """All decisions over the tape that changed something, or could not, in order."""
    return _Refold(tape, settings, nudge_tokens).run()


class _Refold:
    def __init__(self, tape: Tape, settings: Settings, nudge_tokens: int) -> None:
        self.tape, self.ledger = tape, tape.ledger
        self.nudge_tokens = nudge_tokens
        self.state = tape.start._replace(settings=settings, ledger=tape.ledger)
        self.turns: list[Turn] = []
        self.at = 0
        """The next request point."""
        self._marks = 0
        """How many marks of the tape have come."""
        self._marked = [mark.point for mark in tape.marks]
        self._intake = "intake" in settings.policy.stages
        self._nudges = "nudge" in settings.policy.stages
        self._not_before = 0
        """Rows that must have come before a cleanup that was worth too little can be worth more."""

    def run(self) -> list[Turn]:
        system = self.state.system
        for number, mark in enumerate(self.tape.marks, 1):
            if mark.begins or mark.system != system:
                self._upto(mark.point)
                self._enter(mark.rows, number, mark.point)
                system = mark.system
            if mark.begins:
                self._begin()
        self._upto(len(self.tape.points))
        return self.turns

    def _upto(self, stop: int) -> None:
        """Decides at every request point before number `stop`."""
        points = self.tape.points
        while self.at < stop:
            point = self._next(stop)
            if point is None:
                self.at = stop
                break
            self._enter(points[point], bisect_right(self._marked, point), point)
            decision = decide(self.state)
            self.at = point + 1
            if decision.outcome in ("nothing", "idle"):
                self._postpone(decision)
            else:
                self._not_before = 0
            if decision.outcome != "nothing":
                self._take(point, decision)

    def _next(self, stop: int) -> int | None:
        """The next request point at which something may be decided."""
        state, settings = self.state, self.state.settings
        total = state.total
        levels = [settings.hard + 1]
        if self._intake:  # what comes is judged where it does not fit usable
            if total > settings.usable:
                return self.at
            levels.append(settings.usable + 1)
        if self._nudges and state.armed and not (settings.policy.nudge_once and state.nudged):
            levels.append(settings.nudge_at)
        if self._not_before:
            levels += [level for level in (settings.cleanup_at, settings.evict_at) if level > total]
        else:
            levels.append(settings.act_at)
        sums = self.ledger.sums
        rows = bisect_left(sums, sums[state.n] + min(levels) - total, state.n)
        if self._not_before:
            rows = min(rows, self._not_before)
        point = bisect_left(self.tape.points, rows, self.at)
        return point if point < stop else None

    def _postpone(self, decision: Decision) -> None:
        """A cleanup frees at most what it would have freed now, what still stays, and what comes."""
        if not decision.lacks:
            self._not_before = 0
            return
        state = decision.before
        draft, sums = Draft(state), self.ledger.sums
        edge, stays = draft.edge(), draft.kept()
        exchange = self.ledger.exchange[edge] if edge < state.n else state.exchange
        if state.settings.policy.unit == "exchange" and exchange < state.exchange:
            edge = self.ledger.starts[
                exchange
            ]  # what stays holds its exchange back, where it is an older one
        held = sum([draft.row_tokens(row) for row in stays if row < edge])
        held += sum([draft.span(a, b) for a, b in draft.movable(edge, state.n, frozenset())])
        lacks = 0 if state.opened else decision.lacks - held
        self._not_before = max(state.n + 1, bisect_left(sums, sums[state.n] + lacks, state.n))

    def _take(self, point: int, decision: Decision) -> None:
        state = landed(decision)
        if decision.outcome == "nudge":
            state, _ = step(state, MessageAdded(kind="nudge", tokens=self.nudge_tokens))
        self.state = state
        self._add(point, decision)

    def _add(self, point: int, decision: Decision) -> None:
        self.turns.append(Turn(point, decision, self.state, self._marks))

    def _begin(self) -> None:
        """A piece of work begins."""
        state, decision = step(self.state, WorkBegun())
        self.state = state
        self._not_before = 0
        if decision is not None:
            self._add(self.at, decision)

    def _enter(self, rows: int, marks: int, point: int) -> None:
        """Rows come until there are `rows` of them, with what the first `marks` marks brought, before `point`."""
        state, judged = advance(self.tape, self.state, rows), None
        if self._intake and state.total > state.settings.usable and rows > self.state.n:
            judged = self._judged(rows)
        self.state = state if judged is None else judged
        if marks > self._marks:
            self.state = self.tape.marks[marks - 1].on(self.state)
            self._marks = marks
        if judged is not None and judged.changed != state.changed:
            self._add(point, Decision(outcome="intake", before=state, after=self.state))

    def _judged(self, rows: int) -> State:
        """Rows come one result after the other, since together they may not fit; then back onto the tape's ledger."""
        ledger, state = self.ledger, self.state
        usable = state.settings.usable
        first = bisect_left(ledger.sums, ledger.sums[state.n] + usable + 1 - state.total, state.n) - 1
        state = advance(self.tape, state, max(state.n, first))
        start = state.n
        for number in range(start, rows):
            row = ledger.entered(number)
            state, _ = step(state, MessageAdded(kind=row.kind, tokens=row.base, calls=len(row.results)))
            for result in row.results:
                state, _ = step(state, ResultAdded(result=result))
        state = state.closed()
        changed = dict(state.changed)
        for number in range(start, rows):
            entered, now = ledger.entered(number), state.row(number)
            for place, old, new in zip(state.places(number), entered.results, now.results, strict=True):
                if (old.tokens, old.form) != (new.tokens, new.form):
                    changed[place] = (new.tokens, new.form)
                else:
                    changed.pop(place, None)
        return advance(self.tape, state._replace(ledger=ledger, changed=changed), rows)


def advance(tape: Tape, state: State, rows: int) -> State:
    """The state when more rows of the tape have come and nothing was decided."""
    ledger = tape.ledger
    if rows <= state.n and state.ledger is ledger:
        if rows == state.n:
            return state
        raise ValueError(f"the tape is at row {state.n} and cannot go back to {rows}")
    last = rows - 1
    first = tape.first_task
    return state._replace(
        n=rows,
        tail=None,
        occupied=state.occupied + ledger.sums[rows] - ledger.sums[state.n],
        exchange=ledger.exchange[last] if rows else 0,
        user=ledger.user[last] if rows else -1,
        task=ledger.task[last] if rows else -1,
        first_task=first if 0 <= first < rows else -1,
        begun=state.begun and not (0 <= first < rows),
        work=max(1, state.work),
    )
