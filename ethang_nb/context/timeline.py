"""Timeline: what a policy does over a whole transcript, with no model call: every step, every request.

Moving a slider gives another timeline of the same tape; only what is decided is worked out again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from ethang_nb._show import Shown
from ethang_nb.context.budget import percentile
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.digest import digest
from ethang_nb.context.entry import Entry
from ethang_nb.context.explain import as_plan
from ethang_nb.context.leaving import cuts
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.plan import Outcome, Plan
from ethang_nb.context.policies import policy as find_policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.refold import Turn, advance, refold
from ethang_nb.context.regret import Regret, Seen, regrets
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.tape import Tape
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy, BadWindow, Misuse

__all__ = ["Step", "Timeline"]

_BEFORE = ("reseed", "intake")
"""What is decided before a request point, of what comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request. Fill in per mille of usable; `before` is the fill a cleanup started from, None without one."""

    step: int
    fill: int
    tokens: int
    outcome: Outcome
    before: int | None = None
    reseed: bool = False
    """Whether the piece of work that begins here started from the core."""


class Timeline(Shown, Sequence[Step]):
    """The steps of a replay, one per request. Make one with `eth.replay(...)`; `at(i)` is what step i would send."""

    _view = "ethang_nb.views.replay"

    def __init__(
        self, tape: Tape, settings: Settings, retape: Callable[[Settings], Tape], repairs: Sequence[str] = ()
    ) -> None:
        self._tape, self.settings, self._retape = tape, settings, retape
        self.repairs = tuple(repairs)
        counter = tape.context.counter
        self._nudge = tape.context.nudge(settings)
        self._turns = refold(tape, settings, nudge_tokens=message_tokens(self._nudge, counter))

    # ---- the same transcript otherwise

    def move(
        self,
        *,
        levels: Levels | tuple[int, int, int] | None = None,
        policy: str | Policy | None = None,
        window: int | Window | None = None,
    ) -> Timeline:
        """The timeline under other levels (nudge, cleanup, landing, ‰), another policy or another window (tokens).

        Raises BadPolicy, BadWindow, Unknown. Where the entry limit stays the same, nothing is counted again.
        """
        rules = self.settings.policy if policy is None else find_policy(policy)
        if levels is not None:
            band = _band(levels)
            rules = rules.with_levels(band)
        base = self.settings.base if window is None else window
        base = base if isinstance(base, Window) else Window.of(_tokens(base))
        settings = Settings.of(base, rules, self.settings.ratio)
        tape = self._tape if settings.entry == self.settings.entry else self._retape(settings)
        return Timeline(tape, settings, self._retape, self.repairs)

    # ---- steps

    def __len__(self) -> int:
        return len(self._tape.points)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        if isinstance(index, slice):
            return tuple(self._step(at) for at in range(*index.indices(len(self))))
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"step {index} of {len(self)}")
        return self._step(at)

    def __iter__(self) -> Iterator[Step]:
        return (self._step(at) for at in range(len(self)))

    def _step(self, at: int) -> Step:
        settings = self.settings
        tokens = self.tokens[at]
        here = [turn for turn in self._at(at) if turn.decision.cause != "reseed"]
        reseeds = any(turn.decision.outcome == "reseed" for turn in here)
        turn = next((turn for turn in here if turn.decision.outcome not in _BEFORE), None)
        if turn is not None:
            outcome = turn.decision.outcome
        else:
            idle = tokens >= settings.cleanup_at and tokens > settings.evict_to
            outcome = "idle" if idle else "nothing"
        before = (
            turn.decision.before.total * 1000 // settings.usable if turn and turn.decision.lands else None
        )
        return Step(
            step=at + 1,
            fill=tokens * 1000 // settings.usable,
            tokens=tokens,
            outcome=outcome,
            before=before,
            reseed=reseeds,
        )

    def _at(self, at: int) -> list[Turn]:
        points = self._points
        return self._turns[bisect_left(points, at) : bisect_right(points, at)]

    @cached_property
    def _points(self) -> list[int]:
        return [turn.point for turn in self._turns]

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """Tokens of every request."""
        tape, points = self._tape, self._tape.points
        sums, found = tape.ledger.sums, []
        state, at, marks = tape.start, 0, iter(tape.marks)
        base = state.total
        extra, mark = 0, next(marks, None)
        for turn in (*self._turns, None):
            upto = len(points) if turn is None else turn.point
            while at < upto:
                while mark is not None and mark.point <= at:
                    extra = mark.system - state.system
                    mark = next(marks, None)
                found.append(base + sums[points[at]] + extra)
                at += 1
            if turn is None:
                break
            state, extra = turn.state, 0
            base = state.total - sums[state.n]
        return tuple(found)

    @cached_property
    def fills(self) -> tuple[int, ...]:
        usable = self.settings.usable
        return tuple(tokens * 1000 // usable for tokens in self.tokens)

    @property
    def p95(self) -> int:
        """The fill that 95 % of the requests stay at or below, per mille."""
        return percentile(self.fills) or 0

    def count(self, outcome: object) -> int:
        """How many decisions had this outcome (`cleanup`, `nudge`, `reseed`, `idle`, `stuck`)."""
        return sum(turn.decision.outcome == outcome for turn in self._turns)

    @cached_property
    def happened(self) -> tuple[Step, ...]:
        """The steps at which something was decided. At all others nothing was, or they are idle as before."""
        return tuple(self._step(at) for at in dict.fromkeys(self._points))

    @property
    def plans(self) -> tuple[tuple[int, Plan], ...]:
        """(step, plan) of every decision that landed, could not, or nudged."""
        return tuple(
            (turn.point + 1, as_plan(self._context(turn.point), turn.decision))
            for turn in self._turns
            if turn.decision.outcome != "intake"
        )

    @cached_property
    def regrets(self) -> tuple[Regret, ...]:
        """What the transcript does again after this policy would have taken it out of the window."""
        points, entries = self._tape.points, self._entries(len(self._tape.points) - 1)
        seen = (
            Seen(step=bisect_right(points, number), message=message)
            for number in range(len(self._tape.ledger))
            for message in entries[number].messages
        )
        gone = [
            cut
            for turn in self._turns
            if turn.decision.lands
            for cut in cuts(turn.point + 1, turn.decision, entries)
        ]
        return regrets(seen, gone)

    @property
    def digests(self) -> tuple[str, ...]:
        """Of every decision at a request point that was not nothing, in order; the same for the same input."""
        entries = self._entries(len(self._tape.points) - 1)
        return tuple(
            digest(turn.decision, entries, {}) for turn in self._turns if turn.decision.outcome not in _BEFORE
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row a step, ready for a table."""
        return [
            {
                "step": step.step,
                "fill": step.fill,
                "tokens": step.tokens,
                "outcome": "reseed" if step.reseed and step.outcome == "nothing" else step.outcome,
                "before": step.before,
            }
            for step in self
        ]

    # ---- requests

    def at(self, index: int) -> tuple[Message, ...]:
        """The request of step `index` (from 0, or from the end) as it would have been sent."""
        if type(index) is not int:
            raise Misuse(f"step {_short(index)} is no whole number; the {len(self)} steps count from 0")
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise Misuse(f"step {index} is not among the {len(self)} steps of this replay; the first is 0")
        return self._context(at).assemble()

    def state(self, at: int) -> State:
        """What the planner knows at step `at`, its decision taken."""
        turns = self._turns[: bisect_right(self._points, at)]
        state, after = (turns[-1].state, turns[-1].marks) if turns else (self._start, 0)
        state = advance(self._tape, state, max(state.n, self._tape.points[at]))
        came = [mark for mark in self._tape.marks if mark.point <= at]
        if not came:
            return state
        state = state._replace(work=max(state.work, came[-1].work))
        return came[-1].on(state) if len(came) > after else state

    @property
    def _start(self) -> State:
        return self._tape.start._replace(settings=self.settings, ledger=self._tape.ledger)

    def _context(self, at: int) -> LiveContext:
        """A context that stands where step `at` is sent."""
        tape = self._tape
        context = tape.context.copy()
        context.entries = self._entries(at)
        context.begin_again(tape.start, tape.system, tape.board.copy())
        turns = self._turns[: bisect_right(self._points, at)]
        marks = sum(mark.point <= at for mark in tape.marks)
        came = 0
        for upto, decision in (*[(turn.marks, turn.decision) for turn in turns], (marks, None)):
            if upto > came:
                mark, came = tape.marks[upto - 1], upto
                context.pinning.board, context.system = mark.board.copy(), mark.text
            if decision is not None:
                context.follow(decision)
        context.state, context.step = self.state(at), at + 1
        return context

    def _entries(self, at: int) -> dict[int, Entry]:
        entries = dict(self._tape.context.entries)
        number = self._tape.start.next_passing
        for turn in self._turns[: bisect_right(self._points, at)]:
            if turn.decision.outcome == "nudge":
                entries[number] = Entry(number, [self._nudge], [""], turn.point)
                number -= 1
        return entries

    def __repr__(self) -> str:
        policy, usable = self.settings.policy.name, self.settings.usable
        return f"Timeline({len(self)} steps, policy {policy}, {usable:,} usable tokens)"


def _band(levels: object) -> Levels:
    """Levels as given: three whole numbers. Policy checks their order and range."""
    band = (levels.nudge, levels.cleanup, levels.landing) if isinstance(levels, Levels) else levels
    if not isinstance(band, tuple | list) or len(band) != 3 or any(type(level) is not int for level in band):
        raise BadPolicy(
            f"levels={_short(levels)} are not nudge, cleanup and landing in whole per mille of the usable tokens; "
            "give three such as (700, 800, 400)"
        )
    return Levels(nudge=band[0], cleanup=band[1], landing=band[2])


def _tokens(window: object) -> int:
    if type(window) is not int:
        raise BadWindow(
            f"window={_short(window)} is neither a number of tokens nor a Window; give one such as 8000, or "
            "eth.window(model) for that of a model"
        )
    return window


def _short(value: object) -> str:
    return " ".join(repr(value).split())[:80]
