"""The ledger's columns and the sums of a draft, against plain lists; and that nobody changes what another looks at."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.draft import Draft
from ethang_nb.context.events import CleanupAsked, Event, MessageAdded, RequestPoint, ResultAdded
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import CLASSES, KINDS, Ledger, Result, Row
from ethang_nb.context.planner import cleanup, decide, enter, new_work, release, reseeded
from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.window import Window
from tests.context.generators import budgeted, patient

pytestmark = patient

results = st.builds(
    Result,
    st.integers(0, 400),
    st.integers(0, 60),
    st.sampled_from(CLASSES),
    st.sampled_from(["full", "full", "spilled"]),
    st.integers(0, 40),
)
row_shapes = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "turn", "turn", "memory", "pin"]),
        st.integers(0, 90),
        st.lists(results, max_size=4),
    ),
    max_size=25,
)


def rows_of(shapes: list[tuple[str, int, list[Result]]]) -> list[Row]:
    rows, exchange = [], 0
    for number, (kind, base, found) in enumerate(shapes):
        exchange += kind == "user"
        rows.append(Row(number, kind, base, exchange, tuple(found) if kind == "turn" else ()))  # type: ignore[arg-type]
    return rows


def pushed(rows: list[Row], ledger: Ledger | None = None) -> Ledger:
    ledger = Ledger() if ledger is None else ledger
    users = [row.id for row in rows if row.kind == "user"]
    for row in rows[len(ledger) :]:
        said = [number for number in users if number <= row.id]
        ledger = ledger.push(row.id, row, user=max(said, default=-1), task=min(said, default=-1))
    return ledger


def columns(ledger: Ledger, n: int | None = None) -> bytes:
    """All that a state with n rows can see of a ledger."""
    seen = ledger.until(len(ledger) if n is None else n)
    return pickle.dumps(
        [
            [seen.kind, seen.sums, seen.exchange, seen.user, seen.task, seen.starts, seen.upto],
            [
                [
                    column.row,
                    column.index,
                    column.tokens,
                    column.stub,
                    column.form,
                    column.saved,
                    column.squeezed,
                ]
                for column in seen.results
            ],
        ]
    )


# ---- columns


@budgeted(120, nightly=50)
@given(shapes=row_shapes)
def test_a_row_comes_out_as_it_went_in(shapes):
    rows = rows_of(shapes)
    ledger = pushed(rows)
    assert rows == [ledger.entered(number) for number in range(len(ledger))]


@budgeted(120, nightly=50)
@given(shapes=row_shapes)
def test_sums_starts_and_counts_are_those_of_the_plain_rows(shapes):
    rows = rows_of(shapes)
    ledger = pushed(rows)
    assert [sum(row.tokens for row in rows[:n]) for n in range(len(rows) + 1)] == list(ledger.sums)
    assert [row.kind for row in rows] == [KINDS[code] for code in ledger.kind]
    exchanges = sorted({row.exchange for row in rows if row.kind == "user"})
    assert [0, *(min(row.id for row in rows if row.exchange == one) for one in exchanges)] == list(
        ledger.starts
    )
    for again in CLASSES:
        of_class = [
            (row.id, at, out) for row in rows for at, out in enumerate(row.results) if out.again == again
        ]
        column = ledger.results[again]
        assert [row for row, *_ in of_class] == list(column.row)
        assert [at for _, at, _ in of_class] == list(column.index)
        assert [out for *_, out in of_class] == [ledger.result(again, at) for at in range(len(of_class))]
        savings = [max(0, out.tokens - out.stub) for *_, out in of_class]
        assert [sum(savings[:count]) for count in range(len(savings) + 1)] == list(column.saved)
        assert [sum(row < n for row, *_ in of_class) for n in range(len(rows) + 1)] == list(
            ledger.upto[again]
        )


@budgeted(80, nightly=50)
@given(shapes=row_shapes, data=st.data())
def test_the_first_rows_of_a_ledger_are_the_ledger_of_those_rows(shapes, data):
    rows = rows_of(shapes)
    n = data.draw(st.integers(0, len(rows)))
    assert columns(pushed(rows[:n])) == columns(pushed(rows).until(n)) == columns(pushed(rows), n)


@budgeted(80, nightly=50)
@given(shapes=row_shapes, other=row_shapes, data=st.data())
def test_going_another_way_from_an_older_row_leaves_the_ledger_as_it_was(shapes, other, data):
    rows = rows_of(shapes)
    ledger = pushed(rows)
    before = columns(ledger)
    n = data.draw(st.integers(0, len(rows)))
    last = rows[n - 1].exchange if n else 0
    branch = [row._replace(id=n + at, exchange=last + row.exchange) for at, row in enumerate(rows_of(other))]
    found = ledger
    for row in branch:
        found = found.push(row.id, row, user=-1, task=-1)
    assert [*rows[:n], *branch] == [found.entered(number) for number in range(n + len(branch))]
    assert columns(ledger, len(rows)) == before
    assert columns(ledger, n) == columns(pushed(rows[:n]))


def test_states_that_follow_each_other_share_one_ledger_and_so_do_two_that_went_the_same_way():
    row = Row(0, "user", 5, 1)
    turn = Row(1, "turn", 3, 1, (Result(50, 9, 0),))
    ledger = Ledger().push(0, row, user=0, task=0)
    first = ledger.push(1, turn, user=0, task=0)
    assert ledger is first
    assert first is ledger.push(1, turn, user=0, task=0)  # the same row again: nothing is copied
    assert first is not ledger.push(1, turn._replace(base=4), user=0, task=0)
    assert first is not ledger.push(1, turn._replace(results=(Result(50, 9, 1),)), user=0, task=0)


# ---- the sums of a draft


class Plain:
    """What a draft says, worked out row by row."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {row.id: [row, [out.tokens for out in row.results]] for row in rows}

    def tokens(self, row: int) -> int:
        found, sizes = self.rows[row]
        return found.base + sum(sizes)

    @property
    def total(self) -> int:
        return sum(self.tokens(row) for row in self.rows)

    def collapse(self, again: int, edge: int, stays: set[int], goal: int) -> None:
        for row, (found, sizes) in sorted(self.rows.items()):
            for at, out in enumerate(found.results):
                if self.total <= goal:
                    return
                if row < edge and row not in stays and out.again == again and sizes[at] > out.stub:
                    sizes[at] = out.stub


def state_of(rows: list[Row], opened: list[int] = ()) -> State:  # type: ignore[assignment]
    """A state that holds these rows; calls of `opened` still wait."""
    settings = Settings.of(Window.of(10_000), policy("ethang"))
    return State(
        settings,
        pushed(rows),
        n=len(rows),
        occupied=sum(row.tokens for row in rows),
        exchange=rows[-1].exchange if rows else 0,
        opened=tuple((row, 1) for row in opened),
    )


changes = st.lists(
    st.one_of(
        st.tuples(st.just("collapse"), st.sampled_from(CLASSES), st.integers(0, 26), st.integers(0, 1_000)),
        st.tuples(
            st.just("set"), st.integers(0, 99), st.integers(0, 120), st.sampled_from(["shrunk", "stub"])
        ),
        st.tuples(st.just("remove"), st.integers(0, 25), st.integers(1, 6), st.just(0)),
    ),
    max_size=12,
)


@budgeted(400, nightly=400)
@given(shapes=row_shapes, done=changes, waits=st.lists(st.integers(0, 24), max_size=4), data=st.data())
def test_a_draft_sums_collapses_and_removes_as_plain_rows_do(shapes, done, waits, data):
    rows = rows_of(shapes)
    opened = sorted({row.id for row in rows if row.results and row.id in waits})
    state = state_of(rows, opened)
    draft, plain = Draft(state), Plain(rows)
    for kind, a, b, c in done:
        if kind == "collapse":
            # c is how far down, per mille of what there is
            goal = plain.total * c // 1000
            draft.collapse(a, min(b, len(rows)), frozenset(opened), goal)
            plain.collapse(a, b, set(opened), goal)
        elif kind == "remove":
            gone = [row for row in range(a, min(a + b, len(rows))) if row in plain.rows and row not in opened]
            draft.remove(draft.movable(a, min(a + b, len(rows)), frozenset(opened)))
            for row in gone:
                del plain.rows[row]
        else:
            places = [(row, at) for row, (found, _) in plain.rows.items() for at in range(len(found.results))]
            if places:
                row, at = places[a % len(places)]
                large = draft.places_of(row)[at]
                shorter = min(b, large.tokens)
                draft.set_result(large.place, shorter, c)
                plain.rows[row][1][at] = shorter
        assert plain.total == draft.total
        for row, (_, sizes) in plain.rows.items():
            assert plain.tokens(row) == draft.row_tokens(row)
            assert sizes == [large.tokens for large in draft.places_of(row)]
        start, stop = sorted((data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, len(rows)))))
        movable = [row for a, b in draft.movable(start, stop, frozenset()) for row in range(a, b)]
        assert [row for row in sorted(plain.rows) if start <= row < stop] == movable
        if all(row in plain.rows for row in range(start, stop)):
            assert sum(plain.tokens(row) for row in range(start, stop)) == draft.span(start, stop)
        over = data.draw(st.integers(0, 200))
        large_ones = [
            (row, at, size)
            for row, (_, sizes) in sorted(plain.rows.items())
            for at, size in enumerate(sizes)
            if size > over
        ]
        assert large_ones == [(large.row, large.nth, large.tokens) for large in draft.results(over=over)]
    after = draft.after()
    assert sorted(plain.rows) == after.numbers
    assert [sizes for _, (_, sizes) in sorted(plain.rows.items())] == [
        [out.tokens for out in row.results] for row in after.rows
    ]
    assert rows == [row._replace(open=0, task=False) for row in state.rows]  # and the state is as it was


@pytest.mark.parametrize("touched", [False, True])
def test_what_a_turn_holds_back_whose_calls_wait_is_freed_by_younger_results(touched):
    sizes = (100, 500, 100, 100, 100, 100, 100, 100)
    rows = [Row(0, "user", 5, 1)]
    rows += [Row(at, "turn", 10, 1, (Result(size, 20, 0),)) for at, size in enumerate(sizes, 1)]
    draft = Draft(state_of(rows, opened=[2]))
    if touched:
        draft.set_result((0, 7), 90, "shrunk")
    draft.collapse(0, len(rows), frozenset({2}), draft.total - 240)
    assert [20, 500, 20, 20, 100] == [draft.row_tokens(row) - 10 for row in range(1, 6)]


# ---- late results

late = st.lists(st.tuples(st.integers(0, 30), results), min_size=1, max_size=6)


@budgeted(150, nightly=100)
@given(
    shapes=row_shapes, late=late, fronts=st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
)
def test_a_late_result_stands_whole_in_its_older_turn_and_changes_nothing_else(shapes, late, fronts):
    rows = rows_of(shapes)
    turns = [row.id for row in rows if row.kind == "turn"]
    if not turns or rows[-1].kind == "turn":
        return
    state = state_of(rows, turns)
    draft = Draft(state)
    for again, count in enumerate(fronts):
        size = len(state.ledger.results[again].row)
        at = min(count, size) - 1
        if at >= 0:
            edge = state.ledger.results[again].row[at] + 1
            draft.collapse(again, edge, frozenset(), 0)
    state = draft.after()._replace(opened=tuple((row, 9) for row in turns))
    expected = {row.id: [*row.results] for row in state.rows}
    for where, result in late:
        row = turns[where % len(turns)]
        before, ledger = columns(state.ledger, state.n), state.ledger
        younger, _ = step(state, ResultAdded(result=result, row=row, judged=True))
        expected[row].append(result)
        assert {row.id: [*row.results] for row in younger.rows} == expected
        assert state.total + result.tokens == younger.total
        assert columns(ledger, state.n) == before  # who looks at the state before does not see it
        state = younger


# ---- purity

PLANS: dict[str, Callable[[State], Any]] = {
    "decide": decide,
    "cleanup": cleanup,
    "asked": lambda state: cleanup(state, asked=True),
    "enter": enter,
    "new work": new_work,
    "reseeded": reseeded,
    "release": lambda state: release(state, [(row, 0) for row in state.numbers]),
}


def played(name: str, *, size: int = 120, turns: int = 30) -> State:
    state = State(Settings.of(Window.of(4_000), policy(name)), Ledger(), system=50, core_head=4)
    for event in events(size, turns):
        state, _ = step(state, event)
    return state


def events(size: int, turns: int) -> list[Event]:
    found: list[Event] = [MessageAdded(kind="user", tokens=20)]
    for number in range(turns):
        found += [
            MessageAdded(kind="turn", tokens=12, calls=1 + (number == 3)),
            ResultAdded(result=Result(size + number, 20, number % 3)),
            RequestPoint(),
        ]
        if number % 7 == 6:
            found += [MessageAdded(kind="assistant", tokens=30), MessageAdded(kind="user", tokens=15)]
    return found


@pytest.mark.parametrize("plan", sorted(PLANS))
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_planning_changes_neither_the_state_nor_what_it_looks_at(name, plan):
    state = played(name)
    before = (shown(state), state.n, columns(state.ledger, state.n))
    held = dict(state.changed), state.live, state.collapsed, state.opened
    first = PLANS[plan](state)
    second = PLANS[plan](state)
    assert before == (shown(state), state.n, columns(state.ledger, state.n))
    assert held == (dict(state.changed), state.live, state.collapsed, state.opened)
    if first is not None:
        assert (first.outcome, first.moves, shown(first.after)) == (
            second.outcome, second.moves, shown(second.after),
        )  # fmt: skip


def shown(state: State) -> tuple[Any, ...]:
    return state.rows, state.total, state.notes, state.pins, state.passing, state.core


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_an_older_state_gives_the_same_plan_after_younger_ones_went_on_from_it(name):
    old = played(name, turns=17)
    plan = cleanup(old, asked=True)
    rows, moves, after = shown(old), plan.moves, shown(plan.after)
    younger = [old, old, old]
    for number in range(60):
        for way in range(3):
            came = ResultAdded(result=Result(90 + 50 * way + number, 20, way))
            for event in (MessageAdded(kind="turn", tokens=12, calls=1), came, RequestPoint()):
                younger[way], _ = step(younger[way], event)
    again = cleanup(old, asked=True)
    assert (rows, moves, after) == (shown(old), again.moves, shown(again.after))
    assert (rows, moves, after) == (shown(old), plan.moves, shown(plan.after))  # also looked at later
    assert 3 == len({state.total for state in younger})


def test_moves_can_be_asked_for_long_after_the_decision():
    """They are worked out from the two states, which keep what they saw."""
    state = played("ethang", turns=14)
    state, _ = step(state, CleanupAsked())
    decision = decide(state)
    early = [
        (move.row, move.index, move.act, move.before, move.after) for move in cleanup(state, asked=True).moves
    ]
    for number in range(40):
        state, _ = step(state, MessageAdded(kind="turn", tokens=12, calls=1))
        state, _ = step(state, ResultAdded(result=Result(150 + number, 20, 0)))
        state, _ = step(state, RequestPoint())
    assert early
    assert early == [(move.row, move.index, move.act, move.before, move.after) for move in decision.moves]


def test_what_a_ledger_takes_beside_the_messages_is_under_200_bytes_a_segment():
    rows = [
        Row(0, "user", 9, 1),
        *[Row(n, "turn", 12, 1, (Result(300 + n % 50, 20, n % 3),)) for n in range(1, 4_000)],
    ]
    assert len(columns(pushed(rows))) / len(rows) < 200
