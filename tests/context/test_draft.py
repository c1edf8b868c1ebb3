"""The planner on its ledger against a naive one on plain lists: same rows, same totals, same decisions.

`Naive` is DESIGN 5 written down the long way: it copies every row for every plan, walks all of them, and takes
one thing out after the other. It shares nothing with the planner but the policy and the numbers that `Settings`
works out from it.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

from ethang_nb.context.events import (
    CleanupAsked,
    Cooled,
    Event,
    MessageAdded,
    NoteWritten,
    PartsChanged,
    Pinned,
    PolicyChanged,
    ReleaseOffered,
    RequestPoint,
    ResultAdded,
    Unpinned,
    WindowChanged,
    WorkBegun,
)
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import Ledger, Result
from ethang_nb.context.planner import cleanup
from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.window import Levels, Window
from tests.context.generators import budgeted, patient, policies, shipped, windows

pytestmark = patient

HEAD, POINTERS_HEAD = 4, 20
NUDGE = 50


@dataclass
class Out:
    """A result: its tokens now, those of its line, its class, its form, and what it would take squeezed."""

    tokens: int
    stub: int
    again: int
    form: str = "full"
    squeezed: int = 0


@dataclass
class Seg:
    id: int
    kind: str
    base: int
    exchange: int
    results: list[Out] = field(default_factory=list)
    open: int = 0

    @property
    def tokens(self) -> int:
        return self.base + sum(out.tokens for out in self.results)


@dataclass
class Hold:
    """A pin: which row holds it, what its line takes in the core, whether it stands there."""

    id: int
    row: int
    line: int
    core: bool = False


class Naive:
    """A context as plain lists, with the rules of DESIGN 5."""

    def __init__(self, window: Window, rules: Policy, fixed: int) -> None:
        self.settings = Settings.of(window, rules)
        self.fixed = fixed
        self.core = self.pointers = 0
        self.rows: list[Seg] = []
        self.every: list[Out] = []
        """All results that ever came, by row and place there, as they entered."""
        self.passing: list[list[int]] = []
        self.notes: list[list[int]] = []
        self.pins: list[Hold] = []
        self.next_row, self.next_note, self.next_passing = 0, 1, -1
        self.exchange, self.user, self.first, self.task = 0, -1, -1, -1
        self.begun, self.armed, self.nudged, self.asked, self.cooled = True, True, False, False, False
        self.said, self.declined = "", False
        self.entered: dict[int, list[Out]] = {}

    # ---- sums

    @property
    def policy(self) -> Policy:
        return self.settings.policy

    @property
    def total(self) -> int:
        return (
            self.fixed
            + self.core
            + sum(row.tokens for row in self.rows)
            + sum(tokens for _, tokens, _ in self.passing)
            + sum(tokens for _, tokens, _ in self.notes)
        )

    def stays(self, keep: int) -> set[int]:
        """The newest `keep` segments, the newest user message, the tasks, and turns whose calls still wait.

        Beside the newest one, so do questions that wait for their answer, unless one segment alone can stay.
        """
        newest = [row.id for row in self.rows if row.kind != "pin"][-keep:]
        waiting = [row.id for row in self.rows if row.open]
        if keep > 1:
            asked = itertools.takewhile(lambda row: row.kind in ("user", "pin"), reversed(self.rows))
            waiting += [row.id for row in asked]
        return {*newest, *waiting, self.user, self.first, self.task}

    def edge(self, keep: int) -> int:
        """Before this row everything may leave, single rows excepted; what stands between is ours alone."""
        newest = [row.id for row in self.rows if row.kind != "pin"][-keep:]
        return newest[0] if len(newest) == keep else 0

    # ---- events

    def message(self, kind: str, tokens: int, calls: int = 0) -> None:
        if kind == "nudge":
            self.passing.append([self.next_passing, tokens, self.next_row])
            self.next_passing -= 1
            return
        if kind == "user":
            self.exchange += 1
            self.user = self.next_row
            if self.begun:
                self.task = self.next_row
                self.first = self.next_row if self.first < 0 else self.first
            self.begun = False
        self.rows.append(Seg(self.next_row, kind, tokens, self.exchange, [], calls))
        self.entered[self.next_row] = []
        self.next_row += 1

    def result(self, row: int, at: int, out: Out) -> str | None:
        """A result joins its turn; where that is the newest, all that arrives with it is judged together."""
        self.entered[row].insert(at, copy.copy(out))
        seg = next(seg for seg in self.rows if seg.id == row)
        seg.results.insert(at, copy.copy(out))
        seg.open -= 1
        if row != self.next_row - 1 or "intake" not in self.policy.stages:
            return None
        changed = None
        for other in sorted(seg.results, key=lambda item: -item.tokens):
            if min(self.floor(), self.total) <= self.settings.usable:
                break
            if other.tokens > other.stub:
                other.tokens, other.form, changed = other.stub, "stub", "intake"
        return changed

    def floor(self) -> int:
        """What would be left if all that may leave had left: a note stands for it."""
        stays, rules = self.stays(1), self.policy
        held = sum(row.tokens for row in self.rows if row.id in stays)
        old = sum(row.tokens for row in self.rows if row.id not in stays)
        old += sum(tokens for _, tokens, _ in self.passing)
        lines = sum(
            pin.line for pin in self.pins if not pin.core and self.is_live(pin.row) and pin.row not in stays
        )
        core = self.core + lines + (HEAD if lines and not self.core else 0)
        protected = sum(tokens for _, tokens, _ in self.notes) if rules.notes == "protected" else 0
        return (
            self.fixed
            + core
            + held
            + protected
            + (min(old, self.settings.note_tokens) if "evict" in rules.stages else 0)
        )

    def is_live(self, row: int) -> bool:
        return any(seg.id == row for seg in self.rows)

    def release(self, offered: list[tuple[int, int]]) -> bool:
        newest = self.edge(1)
        done = False
        for row, index in offered:
            seg = next((seg for seg in self.rows if seg.id == row), None)
            if seg is None or row == newest or index >= len(seg.results):
                continue
            out = seg.results[index]
            if out.tokens > out.stub:
                out.tokens, out.form, done = out.stub, "stub", True
        return done

    def work(self) -> str | None:
        """A piece of work begins; whether it starts from the core."""
        level = self.settings.reseed_at
        inside = any(row.open for row in self.rows)  # a tool turn: it waits for the next piece of work
        outcome = None
        if not inside and (self.cooled or (level is not None and self.total >= level)):
            outcome = self.reseed(asked=self.cooled)
        self.begun, self.cooled = True, self.cooled and inside
        return outcome

    def reseed(self, *, asked: bool) -> str | None:
        other = copy.deepcopy(self)
        left = [row for row in self.rows if row.id != self.first]
        other.passing, other.notes = [], []
        other.rows = [row for row in other.rows if row.id == self.first]
        for pin in other.pins:
            pin.core = True
        if left:
            other.pointers = self.pointer_lines() + POINTERS_HEAD
        other.render()
        gain = self.total - other.total
        if gain <= 0 and not asked:
            return None
        if other.total > self.settings.hard or (gain < self.settings.minimum and not asked):
            if self.declined:
                return None
            self.declined = True
            return "idle"
        self.take(other, wrote=False)
        return "reseed"

    def pointer_lines(self) -> int:
        """The newest ten results, each with its line, as far as they have room in 20 ‰ of usable."""
        taken = 0
        lines = [out.stub for row in sorted(self.entered) for out in self.entered[row]]
        for line in lines[:-11:-1]:
            if taken + line > self.settings.usable * 20 // 1000:
                break
            taken += line
        return taken

    def render(self) -> None:
        lines = sum(pin.line for pin in self.pins if pin.core) + self.pointers
        self.core = lines + HEAD if lines else 0

    def take(self, other: Naive, *, wrote: bool) -> None:
        self.rows, self.passing, self.notes = other.rows, other.passing, other.notes
        self.pins, self.core, self.pointers = other.pins, other.core, other.pointers
        self.next_note += wrote
        self.armed = self.total < self.settings.nudge_at
        self.asked = False
        self.said, self.declined = "", False

    # ---- the request point

    def request(self) -> tuple[str, bool]:
        """(outcome, forced); a nudge is entered by whoever calls."""
        settings, total = self.settings, self.total
        if self.asked or total >= settings.cleanup_at or total > settings.hard:
            return self.cleanup()
        early = self.early()
        if early is not None:
            self.take(early, wrote=False)
            return "cleanup", False
        spent = self.policy.nudge_once and self.nudged
        may = "nudge" in self.policy.stages and self.armed and not spent
        if may and total >= settings.nudge_at and total + 140 <= settings.hard:
            self.asked, self.armed, self.nudged, self.said = False, False, True, ""
            return "nudge", False
        self.said = ""
        return "nothing", False

    def early(self) -> Naive | None:
        """Below the cleanup level collapse may act where its policy says so, if that frees the minimum."""
        settings = self.settings
        if self.total < settings.act_at:
            return None
        other = copy.deepcopy(self)
        other.passing = []
        other.render()
        for stage in self.policy.stages:
            if stage == "squeeze":
                other.squeeze(self.policy.keep)
            if stage == "collapse":
                other.collapse(self.policy.keep)
        gain = self.total - other.total
        return other if gain > 0 and gain >= settings.early_minimum else None

    def cleanup(self) -> tuple[str, bool]:
        settings, total, asked = self.settings, self.total, self.asked
        best = self.attempt(self.policy.keep, settings.note_tokens)
        for keep in range(self.policy.keep - 1, 0, -1):
            if best.total <= settings.slack_at:
                break
            best = min(best, self.attempt(keep, settings.note_tokens), key=lambda plan: plan.total)
        if best.total > settings.hard:
            last = self.attempt(1, min(settings.note_tokens, 200), last=True)
            best = min(best, last, key=lambda plan: plan.total)
        gain, forced = total - best.total, total > settings.hard
        self.asked = False
        if best.total > settings.hard:
            self.said = "stuck"
            return "stuck", forced
        if gain > 0 and (gain >= settings.minimum or forced or asked):
            self.take(best, wrote=best.next_note > self.next_note)
            return "cleanup", forced
        if not asked and total <= settings.evict_to:
            self.said = ""
            return "nothing", False
        self.said = "idle"
        return "idle", False

    def attempt(self, keep: int, note_tokens: int, *, last: bool = False) -> Naive:
        other = copy.deepcopy(self)
        other.passing = []
        other.render()
        ordinary = (self.policy.shrink_tokens, self.settings.cleanup_at - 1)
        due = self.total >= self.settings.evict_at or self.total > self.settings.hard or self.asked
        for stage in self.policy.stages:
            if stage == "squeeze":
                other.squeeze(keep)
            elif stage == "collapse":
                other.collapse(keep)
            elif stage == "evict" and due:
                other.evict(keep, note_tokens)
            elif stage == "shrink":
                if last:
                    other.shrink(100, self.settings.hard)
                other.shrink(*ordinary)
        if last and "shrink" not in self.policy.stages:
            other.shrink(100, self.settings.hard)  # the last resort is every policy's
        return other

    # ---- the stages

    def squeeze(self, keep: int) -> None:
        stays = self.stays(keep)
        for row in self.rows:
            for out in row.results:
                if self.total <= self.settings.landing_at:
                    return
                if row.id not in stays and out.form in ("full", "spilled") and 0 < out.squeezed < out.tokens:
                    out.tokens, out.form = out.squeezed, "squeezed"

    def collapse(self, keep: int) -> None:
        goal, rules = self.settings.collapse_to, self.policy
        stays = self.stays(keep if rules.collapse_keep is None else min(keep, rules.collapse_keep))
        old = [
            (out.again, row.id, index, out)
            for row in self.rows
            if row.id not in stays
            for index, out in enumerate(row.results)
        ]
        for *_, out in sorted(old, key=lambda item: item[:3]):
            if self.total <= goal:
                return
            if out.tokens > out.stub:
                out.tokens, out.form = out.stub, "stub"

    def evict(self, keep: int, note_tokens: int) -> None:
        goal, before = self.settings.evict_to, self.total
        if before <= goal:
            return
        other = copy.deepcopy(self)
        other.put_note(note_tokens)
        gone = False
        for unit in self.units(keep):  # one at least: a note is never rewritten unless something leaves
            gone = True
            other.leave(unit)
            if other.total <= goal:
                break
        if gone and other.total < before:
            self.rows, self.notes, self.pins, self.core = other.rows, other.notes, other.pins, other.core
            self.next_note += bool(self.policy.notes != "none")

    def put_note(self, tokens: int) -> None:
        rules = self.policy
        generation = 1 + max((item[2] for item in self.notes), default=0)
        new = [self.next_note, tokens, generation]
        if rules.notes == "none":
            self.notes = []
        elif rules.notes == "protected":
            self.notes = [*self.notes, new]
            cap = self.settings.usable * rules.notes_cap // 1000
            while len(self.notes) > 1 and sum(item[1] for item in self.notes) > cap:
                self.notes.pop(0)
        else:
            self.notes = [new]

    def leave(self, ids: list[int]) -> None:
        """Rows leave; the pins they hold move into the core, which grows by their lines."""
        self.rows = [row for row in self.rows if row.id not in ids]
        for pin in self.pins:
            if pin.row in ids and not pin.core:
                self.core += pin.line + (0 if self.core else HEAD)
                pin.core = True

    def units(self, keep: int) -> Iterator[list[int]]:
        """What may leave, in the order of leaving: lists of rows that leave together."""
        rules, stays, edge = self.policy, self.stays(keep), self.edge(keep)
        free = [row for row in self.rows if row.id not in stays]
        if rules.order == "rank":
            rank = {"turn": 0, "assistant": 1, "user": 1}
            old = [row for row in free if row.id < edge]
            for row in sorted(old, key=lambda row: (rank.get(row.kind, 2), row.id)):
                yield [row.id]
        elif rules.unit == "segment":
            for row in free:
                if row.id < edge:
                    yield [row.id]
        else:
            # An exchange leaves whole, so one of which something stays does not leave; tasks stay by themselves.
            held = {row.exchange for row in self.rows if row.id in stays - {self.first, self.task}}
            for exchange in range(self.exchange):
                if exchange not in held:
                    whole = [row.id for row in free if row.exchange == exchange]
                    if whole:
                        yield whole
            for row in free:
                if row.exchange == self.exchange and row.kind != "user":
                    yield [row.id]

    def shrink(self, least: int, goal: int) -> None:
        large = [
            (-out.tokens, row.id, index, out)
            for row in self.rows
            for index, out in enumerate(row.results)
            if out.tokens > least
        ]
        for *_, out in sorted(large, key=lambda item: item[:3]):
            if self.total <= goal:
                return
            out.tokens, out.form = max(least, out.tokens - (self.total - goal)), "shrunk"


# ---- the same events for both


@dataclass(frozen=True)
class Op:
    """An event in the small: `a`, `b` choose which of what is there it is about."""

    kind: str
    a: int = 0
    b: int = 0
    results: tuple[tuple[int, int, int, int], ...] = ()


class Both:
    """A state of the fold and the naive context that is to be the same."""

    def __init__(self, window: Window, rules: Policy, fixed: int) -> None:
        self.naive = Naive(window, rules, fixed)
        self.state = State(
            Settings.of(window, rules), Ledger(), system=fixed, core_head=HEAD, pointers_head=POINTERS_HEAD
        )
        self.waiting: list[tuple[int, list[Out]]] = []
        """Rows whose calls still wait, with the results that are to come."""
        self.pinned = 0
        self.last = ""

    def copy(self) -> Both:
        twin = copy.copy(self)
        twin.naive, twin.waiting = (
            copy.deepcopy(self.naive),
            [(row, list(outs)) for row, outs in self.waiting],
        )
        return twin

    def do(self, op: Op) -> None:
        getattr(self, op.kind)(op)

    def feed(self, event: Event) -> str | None:
        self.state, decision = step(self.state, event)
        return None if decision is None else decision.outcome

    # ---- what enters

    def user(self, op: Op) -> None:
        self.feed(MessageAdded(kind="user", tokens=op.a))
        self.naive.message("user", op.a)

    def say(self, op: Op) -> None:
        self.feed(MessageAdded(kind="assistant", tokens=op.a))
        self.naive.message("assistant", op.a)

    def memory(self, op: Op) -> None:
        self.feed(MessageAdded(kind="memory", tokens=op.a))
        self.naive.message("memory", op.a)

    def turn(self, op: Op) -> None:
        """A tool turn; its last `b` results come later."""
        outs = [
            Out(tokens, stub, again, "full", squeezed if stub < squeezed < tokens else 0)
            for tokens, stub, again, squeezed in op.results
        ]
        row = self.naive.next_row
        self.feed(MessageAdded(kind="turn", tokens=op.a, calls=len(outs)))
        self.naive.message("turn", op.a, len(outs))
        late = min(op.b, len(outs))
        for at, out in enumerate(outs[: len(outs) - late]):
            self.join(row, at, out)
        if late:
            self.waiting.append((row, outs[len(outs) - late :]))

    def join(self, row: int, at: int, out: Out) -> None:
        result = Result(out.tokens, out.stub, out.again, "full", out.squeezed)
        assert self.feed(ResultAdded(result=result, row=row, at=at)) == self.naive.result(row, at, out)

    def late(self, op: Op) -> None:
        """A result comes that others have overtaken, also some whose calls come after its own."""
        self.waiting = [(row, outs) for row, outs in self.waiting if self.naive.is_live(row)]
        if self.waiting:
            row, outs = self.waiting[op.a % len(self.waiting)]
            self.join(row, op.b % (len(self.naive.entered[row]) + 1), outs.pop(0))
            if not outs:
                self.waiting.remove((row, outs))

    # ---- what is decided

    def request(self, _op: Op) -> None:
        outcome, forced = self.naive.request()
        self.state, decision = step(self.state, RequestPoint())
        assert decision is not None
        self.last = decision.outcome
        assert (outcome, forced) == (decision.outcome, decision.forced)
        if outcome == "nudge":
            self.feed(MessageAdded(kind="nudge", tokens=NUDGE))
            self.naive.message("nudge", NUDGE)

    def work(self, _op: Op) -> None:
        assert self.naive.work() == self.feed(WorkBegun())

    def ask(self, _op: Op) -> None:
        self.feed(CleanupAsked())
        self.naive.asked = True

    def cool(self, _op: Op) -> None:
        self.feed(Cooled())
        self.naive.cooled = True

    def release(self, op: Op) -> None:
        rows = [row.id for row in self.naive.rows if row.results]
        if rows:
            offered = [(rows[op.a % len(rows)], 0), (rows[op.b % len(rows)], op.a % 2)]
            done = self.naive.release(sorted(set(offered)))
            assert ("release" if done else "nothing") == self.feed(ReleaseOffered(results=tuple(offered)))

    # ---- pins, notes, settings

    def pin(self, op: Op) -> None:
        """A message of the person holds a pin, which may already be gone."""
        users = [row for row in range(self.naive.next_row) if self.naive.is_live(row)]
        if users:
            self.pinned += 1
            row = users[op.a % len(users)]
            self.feed(Pinned(id=self.pinned, row=row, line=op.b))
            self.naive.pins.append(Hold(self.pinned, row, op.b))

    def hand(self, op: Op) -> None:
        """A pin by hand enters as a message of its own."""
        self.pinned += 1
        row = self.naive.next_row
        self.feed(MessageAdded(kind="pin", tokens=op.a))
        self.naive.message("pin", op.a)
        self.feed(Pinned(id=self.pinned, row=row, line=op.b))
        self.naive.pins.append(Hold(self.pinned, row, op.b))

    def unpin(self, op: Op) -> None:
        if self.naive.pins:
            pin = self.naive.pins.pop(op.a % len(self.naive.pins))
            self.feed(Unpinned(id=pin.id))

    def write(self, op: Op) -> None:
        """Somebody wrote the newest note, shorter than what was reserved."""
        if self.naive.notes:
            tokens = 1 + self.naive.notes[-1][1] * op.a // 200
            self.feed(NoteWritten(tokens=tokens))
            self.naive.notes[-1][1] = tokens

    def system(self, op: Op) -> None:
        self.feed(PartsChanged(system=op.a))
        self.naive.fixed = op.a

    def window(self, op: Op) -> None:
        window = Window.of(700 + op.a * 20)
        self.feed(WindowChanged(window=window))
        self.naive.settings = Settings.of(window, self.naive.policy)
        self.naive.armed, self.naive.said = True, ""

    def change(self, op: Op) -> None:
        rules = policy(sorted(POLICIES)[op.a % len(POLICIES)])
        self.feed(PolicyChanged(policy=rules))
        self.naive.settings = Settings.of(self.naive.settings.base, rules)
        self.naive.armed, self.naive.said = True, ""

    # ---- comparing

    def same(self) -> None:
        naive, state = self.naive, self.state
        assert naive.total == state.total
        assert pictured(naive) == shown(state)


def pictured(naive: Naive) -> dict[str, object]:
    tasks = (naive.first, naive.task)
    return {
        "rows": [
            (row.id, row.kind, row.base, row.exchange, row.open, row.id in tasks, sizes(row.results))
            for row in naive.rows
        ],
        "passing": [tuple(item) for item in naive.passing],
        "notes": [tuple(item) for item in naive.notes],
        "pins": [(pin.id, pin.row, pin.line, pin.core) for pin in naive.pins],
        "core": (naive.core, naive.pointers),
        "nudge": (naive.armed, naive.nudged),
        "said": (naive.said, naive.declined),
    }


def sizes(results: Iterable[Out | Result]) -> list[tuple[int, int, int, str]]:
    return [(out.tokens, out.stub, out.again, out.form) for out in results]


def shown(state: State) -> dict[str, object]:
    return {
        "rows": [
            (row.id, row.kind, row.base, row.exchange, row.open, row.task, sizes(row.results))
            for row in state.rows
            if row.id >= 0
        ],
        "passing": [(item.id, item.tokens, item.after) for item in state.passing],
        "notes": [tuple(note) for note in state.notes],
        "pins": [tuple(pin) for pin in state.pins],
        "core": (state.core, state.pointers),
        "nudge": (state.armed, state.nudged),
        "said": (state.said, state.declined),
    }


tokens = st.one_of(st.integers(1, 60), st.integers(60, 260), st.integers(200, 1_200))
one_result = st.tuples(tokens, st.integers(1, 40), st.integers(0, 2), st.integers(0, 300))
_say = st.integers(1, 160)
ops = st.one_of(
    st.builds(
        Op,
        kind=st.just("turn"),
        a=st.integers(5, 60),
        b=st.sampled_from([0, 0, 0, 1, 2]),
        results=st.lists(one_result, min_size=1, max_size=4).map(tuple),
    ),
    st.builds(
        Op, kind=st.just("turn"), a=st.just(10), results=st.tuples(st.tuples(
            st.integers(30, 150), st.just(20), st.integers(0, 2), st.just(0)
        )),
    ),
    st.builds(Op, kind=st.sampled_from(["request", "request", "say", "user"]), a=_say),
    st.builds(Op, kind=st.sampled_from(["late", "release", "unpin", "write"]), a=_say, b=_say),
    st.builds(Op, kind=st.sampled_from(["pin", "hand"]), a=_say, b=st.integers(5, 40)),
    st.builds(Op, kind=st.sampled_from(["work", "ask", "memory", "request", "cool"]), a=_say),
    st.builds(Op, kind=st.sampled_from(["system", "window", "change"]), a=st.integers(10, 90)),
)  # fmt: skip


# ---- tests

scripts_of_ops = st.lists(ops, min_size=3, max_size=40)


def play(script: list[Op], window: Window, rules: Policy) -> Both:
    both = Both(window, rules, fixed=40)
    both.user(Op("user", 20))
    both.same()
    for number, op in enumerate(script):
        note(f"event {number}: {op}")
        both.do(op)
        both.same()
    return both


@budgeted(500)
@given(script=scripts_of_ops, window=windows, name=shipped)
def test_planned_on_the_ledger_as_on_plain_lists(script, window, name):
    play(script, window, policy(name))


# Where the note that stands is larger than the next one, its exchange alone would reach the level: something leaves all
# the same. Found by the test below, made smaller; in the last, an exchange that left before stands in between.
TO_TRIM = Op("change", sorted(POLICIES).index("trim"))
FORCED = [
    Op("turn", 10, results=((131, 20, 0, 0),)),
    Op("turn", 10, results=((103, 20, 0, 0),)),
    Op("turn", 28, results=((329, 26, 0, 300), (200, 36, 0, 82))),
    Op("request"),
    TO_TRIM,
    Op("turn", 10, results=((91, 20, 0, 0),)),
    Op("request"),
]
WITH_A_PIN = [
    *[Op("turn", 10, results=((30, 20, 0, 0),))] * 3,
    Op("system", 52),
    Op("pin", 1, 5),
    Op("turn", 5, results=((192, 1, 0, 7), (277, 1, 0, 5))),
    Op("request"),
    TO_TRIM,
    *[Op("turn", 10, results=((30, 20, 0, 0),))] * 2,
    Op("turn", 10, results=((46, 20, 0, 0),)),
    Op("turn", 10, results=((150, 20, 2, 0),)),
    Op("request"),
]
AROUND_A_GAP = [
    Op("turn", 10, 1, ((10, 5, 0, 0),)),
    *[Op("user", 20), Op("say", 1_500)],
    *[Op("user", 20), Op("say", 300), Op("say", 340)],
    *[Op("ask"), Op("request")],
    *[Op("window", 220), Op("ask"), Op("request")],
]


def evicting(nudge: int, cleanup: int, landing: int, **knobs: int) -> Policy:
    levels = Levels(nudge=nudge, cleanup=cleanup, landing=landing)
    return Policy(name="own", stages=("evict",), levels=levels, **knobs)


@budgeted(500)
@given(script=scripts_of_ops, window=windows, rules=policies())
@example(FORCED, Window.of(800), evicting(180, 548, 296))
@example(
    WITH_A_PIN, Window.of(3_000, reserve=22, effective=950), evicting(30, 54, 51, minimum=0, note_least=100)
)
@example(AROUND_A_GAP, Window.of(6_000), evicting(300, 500, 400, keep=1, minimum=0, note=200))
def test_planned_on_the_ledger_as_on_plain_lists_under_anybodys_policy(script, window, rules):
    note(str(rules.knobs()))
    play(script, window, rules)


forks = st.one_of(*[ops] * 5, st.builds(Op, kind=st.sampled_from(["fork", "back"]), a=st.integers(0, 20)))


@budgeted(200)
@given(script=st.lists(forks, min_size=6, max_size=40), window=windows, rules=policies())
def test_states_that_go_separate_ways_share_a_ledger_and_none_sees_what_the_other_got(script, window, rules):
    note(str(rules.knobs()))
    both = Both(window, rules, fixed=40)
    kept: list[tuple[Both, dict[str, object], dict[str, object]]] = []
    for op in script:
        if op.kind == "fork":
            kept.append((both.copy(), shown(both.state), shown(cleanup(both.state, asked=True).after)))
        elif op.kind == "back" and kept:
            both = kept[op.a % len(kept)][0].copy()
        elif op.kind != "back":
            both.do(op)
            both.same()
    for old, rows, plan in kept:
        assert rows == shown(old.state)
        assert plan == shown(cleanup(old.state, asked=True).after)


@pytest.mark.parametrize("name", sorted(POLICIES))
@pytest.mark.parametrize("seed", range(2))
def test_planned_on_the_ledger_as_on_plain_lists_over_a_long_run(name, seed):
    """Hundreds of events, so that frontiers, gaps and notes pile up; the short random ones never get that far."""
    rng = random.Random(f"{name}/{seed}")
    both = Both(Window.of(rng.choice((1_500, 4_000, 12_000))), policy(name), fixed=100)
    usable, outcomes = both.state.usable, set[str]()
    for _ in range(250):
        op = _one_of_a_long_run(rng, usable)
        both.do(op)
        both.same()
        outcomes.add(both.last)
    assert "cleanup" in outcomes


def _one_of_a_long_run(rng: random.Random, usable: int) -> Op:
    kind = rng.choices(
        (
            "turn",
            "say",
            "user",
            "request",
            "late",
            "release",
            "pin",
            "hand",
            "unpin",
            "work",
            "write",
            "memory",
        ),
        (30, 6, 6, 40, 3, 2, 1, 1, 2, 2, 3, 1),
    )[0]
    if kind != "turn":
        return Op(kind, rng.randint(5, max(6, usable // 40)), rng.randint(5, max(6, usable // 60)))
    results = tuple(
        (rng.randint(5, usable // 14), rng.randint(4, 30), rng.choice((0, 0, 0, 1, 2)), rng.randint(0, 60))
        for _ in range(rng.choice((1, 1, 1, 2, 4)))
    )
    return Op("turn", rng.randint(8, 40), rng.choice((0, 0, 0, 0, 0, 1)), results)
