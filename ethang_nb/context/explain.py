"""Explain: a decision as the plan that people read: verdicts with reasons, totals, price, digest.

Reads only. The reasons are worked out when they are asked for; planning itself pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from ethang_nb.context.decision import WITHDRAWN, Decision, Move
from ethang_nb.context.digest import digest
from ethang_nb.context.draft import Draft, kept_rows
from ethang_nb.context.entry import Entry
from ethang_nb.context.ledger import Row
from ethang_nb.context.live import LiveContext
from ethang_nb.context.plan import Act, Plan, Verdict
from ethang_nb.context.planner import cleanup
from ethang_nb.context.pricing import RATES, Price, Rates, price
from ethang_nb.context.state import State
from ethang_nb.context.staying import Staying
from ethang_nb.context.wording import REASONS, percent

__all__ = ["as_plan", "moves_by_row", "next_cleanup", "price_of", "segment_id", "strongest"]


def next_cleanup(context: LiveContext) -> Plan:
    """What the policy would do if a cleanup were asked for now. Changes nothing."""
    return as_plan(context, cleanup(context.state, asked=True))


def as_plan(context: LiveContext, decision: Decision) -> Plan:
    """A decision as the value people see, priced against the request that was sent last, where one was.

    At the model's own cache prices where the context has them, else at the usual ones.
    """
    cached = context.sent
    state, known = decision.before, context.known()
    usable = state.usable
    before, after = state.total, decision.after.total
    hashes = dict(context.notes.hashes)
    return Plan(
        outcome=decision.outcome,
        policy=state.policy.name,
        window=state.window,
        levels=state.levels,
        before=before,
        after=after,
        fill_before=before * 1000 // usable,
        fill_after=after * 1000 // usable,
        reason=_reason(decision, known),
        forced=decision.forced,
        asked=decision.asked,
        kept=decision.keep,
        note_tokens=decision.note_tokens,
        price=price_of(decision, cached, context.rates or RATES) if decision.after is not state else None,
        _verdicts=lambda: _verdicts(decision, known),
        _digest=lambda: digest(decision, known, hashes),
    )


def price_of(decision: Decision, cached: int | None = None, rates: Rates = RATES) -> Price:
    """From the first changed position of the cached prefix on, everything is processed again."""
    before, after = decision.before.total, decision.after.total
    return price(before, after, _unchanged(decision), cached=cached, rates=rates)


def _unchanged(decision: Decision) -> int:
    """Tokens of the request before the first position, in the order of assembly, that the decision changes."""
    before, after = decision.before, decision.after
    if _core(before) != _core(after):
        return before.fixed
    same = before.fixed + before.core
    task = before.head
    if task != after.head:
        return same
    draft = Draft(before)
    head = 0 if task is None else draft.row_tokens(task)
    pairs = zip(before.notes, after.notes, strict=False)
    notes = sum([note.tokens for note, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)])
    if before.notes != after.notes:
        return same + head + notes
    stop, index = decision.first or (before.n, -1)
    same += notes
    for item in before.passing:
        if item.after <= stop and item not in after.passing:
            stop, index = item.after, -1
            break
        same += item.tokens if item.after <= stop else 0
    if index >= 0:
        row = before.row(stop)
        same += row.base + sum([result.tokens for result in row.results[:index]])
    return same + sum([draft.span(start, min(end, stop)) for start, end in before.live])


def _core(state: State) -> tuple[int, tuple[int, ...]]:
    return state.core, tuple([pin.id for pin in state.pins if pin.core])


def moves_by_row(decision: Decision) -> dict[int, list[Move]]:
    acts: dict[int, list[Move]] = {}
    for move in decision.moves:
        acts.setdefault(move.row, []).append(move)
    return acts


def strongest(moves: Sequence[Move]) -> Act:
    """The move that says most of what happens to a segment: leaving before being made shorter."""
    ranked: tuple[Act, ...] = ("evict", "remove", "collapse", "shrink", "squeeze")
    return next((act for act in ranked if any(move.act == act for move in moves)), "stay")


def _verdicts(decision: Decision, entries: Mapping[int, Entry]) -> tuple[Verdict, ...]:
    state, acts = decision.before, moves_by_row(decision)
    staying = Staying(state, decision.keep or state.policy.keep)
    after = {row.id: row.tokens for row in decision.after.rows}
    found = []
    for row in state.rows:
        moves = acts.get(row.id, [])
        act = strongest(moves)
        entry = entries.get(row.id)
        code = moves[-1].code if moves else staying.why(row)
        found.append(
            Verdict(
                segment=segment_id(row),
                title=entry.title if entry else f"segment {row.id}",
                act=act,
                before=row.tokens,
                after=after.get(row.id, 0),
                code=code,
                reason=staying.said(code),
                address=entry.address if entry else "",
            )
        )
    if decision.writes_note:
        note = decision.after.notes[-1]
        had = state.notes[-1].tokens if state.notes and state.policy.notes != "protected" else 0
        found.append(
            Verdict(
                segment=f"note:{note.id}",
                title=f"handoff note, generation {note.generation}",
                act="rewrite" if had else "write",
                before=had,
                after=decision.note_tokens,
                code="note",
                reason=REASONS["note"],
            )
        )
    return tuple(found)


def segment_id(row: Row) -> str:
    """How people name a segment: its number; what passes is counted by itself."""
    return str(row.id) if row.id >= 0 else f"{row.kind}:{-row.id}"


def _reason(decision: Decision, entries: Mapping[int, Entry]) -> str:
    state = decision.before
    before, levels = state.total, state.levels
    fill = percent(before * 1000 // state.usable)
    match decision.outcome:
        case "nothing":
            return f"{fill} full, below the levels at which anything is done"
        case "nudge":
            return f"{fill} full, over the nudge level of {percent(levels.nudge)}"
        case "release":
            return "the model offered results; rules let those go that may"
        case "idle" if decision.cause == "reseed" and not decision.lacks:
            return "what a start from the core holds does not fit what can be sent, so work goes on"
        case "idle" if decision.cause == "reseed":
            least = state.settings.minimum
            return (
                f"a start from the core would free less than the minimum of {least:,} tokens, so work goes on"
            )
        case "reseed":
            return (
                f"{fill} full; the new piece of work starts from the core, {decision.gain:,} tokens are freed"
            )
        case "idle" if decision.asked and before > state.landing_at:
            return f"{fill} full, and nothing is left that may leave"
        case "idle" if before <= state.landing_at:
            return f"{fill} full; the landing level of {percent(levels.landing)} is not even reached"
        case "idle":
            least = state.settings.minimum
            return f"a cleanup would free less than the minimum of {least:,} tokens, so nothing is done"
        case "stuck":
            return _stuck(state, entries)
        case _ if decision.cause == WITHDRAWN:
            return "what was refused as too large, and never answered, left before the next piece of work"
        case _:
            if decision.forced:
                return f"{before:,} tokens do not fit the {state.hard:,} that can be sent"
            if decision.asked:
                return f"asked for; frees {decision.gain:,} tokens"
            level = (
                state.policy.collapse_at if decision.early and state.policy.collapse_at else levels.cleanup
            )
            return f"{fill} full, over the {'collapse' if decision.early else 'cleanup'} level of {percent(level)}"


def _stuck(state: State, entries: Mapping[int, Entry]) -> str:
    """Names the part that is too big to be sent."""
    parts = [("system text", state.system), ("tool catalogue", state.tools), ("project text", state.project)]
    parts += [("core", state.core)]
    edge, stays = kept_rows(state, 1)
    for number in sorted({state.first_task, state.task, edge} - {-1, state.n}):
        row, entry = state.row(number), entries.get(number)
        parts.append(
            (f"{'task' if row.task else 'newest segment'} {entry.title if entry else row.id}", row.tokens)
        )
    name, tokens = max(parts, key=lambda item: item[1])
    movable = state.occupied - sum(state.row(number).tokens for number in stays)
    why = "and nothing more can leave"
    if movable:
        why = f"not even without the {movable:,} that could leave, for which a note would stand"
    step = "Unpin what no longer holds" if name == "core" else "Make it smaller"
    return (
        f"{state.total:,} tokens do not fit the {state.hard:,} that can be sent, {why}; the largest part that "
        f"stays is the {name} with {tokens:,}. {step}, or give a larger window, if the model has one"
    )
