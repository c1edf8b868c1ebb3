"""Reseeding: a start from the core as a plan: what leaves, what the core holds then, and what it does not.

The planner decides it and the live context carries it out; here it is only told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from ethang_nb.context.core import NotHeld, Recorded, not_held, state_lines
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.decision import Decision
from ethang_nb.context.explain import as_plan
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.plan import Applied, Plan, Removed
from ethang_nb.context.planner import new_work
from ethang_nb.context.rehearsal import foretold

__all__ = [
    "COOLED",
    "ReseedPlan",
    "SessionPlan",
    "foretold_next",
    "foretold_reseed",
    "next_work",
    "reseed_plan",
]

COOLED = "cooled: the next piece of work starts from the core"

NOTHING_LEAVES = "nothing but the task is in the window, so a start from the core would leave nothing behind"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReseedPlan(Plan):
    """A start from the core. All that leaves stays in the record, at its address.

    `not_held` is what of it the core does not hold, with a warning where nothing would stand for it; `core` is the
    block as it stands then.
    """

    _view = "ethang_nb.views.reseed"

    not_held: NotHeld
    core: str


@dataclass(frozen=True, kw_only=True, eq=False)
class SessionPlan(Plan):
    """What the policy does at the next request.

    `next_work` says what the next piece of work does at its start; "" where it goes on as the window stands.
    """

    _view = "ethang_nb.views.session_plan"

    next_work: str = ""


def foretold_next(live: LiveContext, *, begun: bool) -> SessionPlan:
    """What happens at the next request. `begun`: the piece of work it belongs to is begun already. Changes nothing."""
    plan = foretold(live)
    values: dict[str, Any] = {field.name: getattr(plan, field.name) for field in fields(plan)}
    return SessionPlan(**values, next_work="" if begun else next_work(live))


def next_work(live: LiveContext) -> str:
    """What a piece of work that begins now does to the window, in one sentence; "" where it goes on as it stands."""
    decision, cooled = new_work(live.state), live.state.cooled
    if decision is None:
        return ""
    if decision.lands:
        start = f"C{COOLED[1:]}" if cooled else "The next piece of work starts from the core"
        return f"{start}: frees {decision.gain:,} tokens; see %ethang plan --reseed"
    return f"Cooled, but {as_plan(live, decision).reason}" if cooled else ""


class _Leaving(NamedTuple):
    kind: str
    title: str
    tokens: int
    address: str
    messages: tuple[Message, ...]


def foretold_reseed(live: LiveContext) -> ReseedPlan:
    """What a start from the core would do now. Changes nothing; the plan can be applied."""
    twin = live.copy()
    decision = twin.reseed() or _idle(live)
    plan = reseed_plan(twin, decision)
    if plan.outcome == "reseed" and not decision.moves and not decision.before.notes:
        return replace(plan, outcome="nothing", reason=NOTHING_LEAVES)
    return replace(plan, _apply=lambda _note, _spill: _applied(twin, decision)) if plan.lands else plan


def reseed_plan(live: LiveContext, decision: Decision) -> ReseedPlan:
    """A decision to start from the core, which was taken in `live`."""
    plan = as_plan(live, decision)
    values: dict[str, Any] = {field.name: getattr(plan, field.name) for field in fields(plan)}
    results = sum(len(entry.sizes) for entry in live.entries.values())
    state = state_lines(Recorded(works=live.state.work, results=results), live.counter)
    missing = not_held(_leaving(live, decision), live.pins, state)
    return ReseedPlan(**values, not_held=missing, core=live.core)


def _idle(live: LiveContext) -> Decision:
    return Decision(outcome="idle", before=live.state, after=live.state, asked=True, cause="reseed")


def _leaving(live: LiveContext, decision: Decision) -> Iterator[_Leaving]:
    """The notes and segments that leave, in the order in which they stood."""
    before = decision.before
    if decision.lands:
        for note in before.notes:
            yield _Leaving("note", f"handoff note, generation {note.generation}", note.tokens, "", ())
    for move in decision.moves:
        if move.act == "evict":
            row, entry = before.row(move.row), live.entries[move.row]
            yield _Leaving(row.kind, entry.title, row.tokens, entry.address, tuple(entry.messages))


def _applied(twin: LiveContext, decision: Decision) -> Applied:
    removed = [
        Removed(
            segment=str(move.row),
            title=twin.entries[move.row].title,
            tokens=message_tokens(message, twin.counter),
            address=twin.entries[move.row].addresses[place],
            how="evict",
            text=message.text,
        )
        for move in decision.moves
        if move.act == "evict"
        for place, message in enumerate(
            twin.entries[move.row].forms(decision.before.row(move.row), twin.counter)
        )
    ]
    return Applied(messages=twin.assemble(), removed=tuple(removed))
