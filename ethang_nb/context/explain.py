"""Explain: a decision as the plan that people read: verdicts with reasons, totals, price, digest.

Reads only. The reasons are worked out when they are asked for; planning itself pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.digest import digest
from ethang_nb.context.draft import Move, kept
from ethang_nb.context.entry import Entry
from ethang_nb.context.live import LiveContext
from ethang_nb.context.plan import Act, Plan, Price, Verdict
from ethang_nb.context.planner import Decision, cleanup
from ethang_nb.context.state import State
from ethang_nb.context.wording import REASONS, percent

__all__ = ["as_plan", "moves_by_row", "next_cleanup", "price", "strongest"]

READ_PER_MILLE = 100  # ► a cached token's price against a fresh one
WRITE_PER_MILLE = 1_250  # ► a fresh token's price where it is written to the cache


def next_cleanup(context: LiveContext) -> Plan:
    """What the policy would do if a cleanup were asked for now. Changes nothing."""
    return as_plan(context, context.state, cleanup(context.state, asked=True))


def as_plan(
    context: LiveContext, state: State, decision: Decision, entries: dict[int, Entry] | None = None
) -> Plan:
    """A decision as the value people see. `entries` are the texts as they stood when it was made."""
    known = dict(context.entries) if entries is None else entries
    usable = state.usable
    return Plan(
        outcome=decision.outcome,
        policy=state.policy.name,
        window=state.window,
        levels=state.levels,
        before=decision.before,
        after=decision.after,
        fill_before=decision.before * 1000 // usable,
        fill_after=decision.after * 1000 // usable,
        reason=_reason(state, decision, known),
        forced=decision.forced,
        asked=decision.asked,
        kept=decision.keep,
        note_tokens=decision.note_tokens,
        price=price(state, decision) if decision.moves else None,
        _verdicts=lambda: _verdicts(state, decision, known),
        _digest=lambda: digest(state, decision, known),
    )


def price(state: State, decision: Decision) -> Price:
    """From the first changed position of the cached prefix on, everything is processed again."""
    changed = {move.row for move in decision.moves}
    prefix = state.system + state.tools + state.project
    if decision.core == state.core:
        prefix += state.core
        task = state.rows[0] if state.rows and state.rows[0].task else None
        prefix += task.tokens if task else 0
        if not decision.writes_note:
            prefix += sum(note.tokens for note in state.notes)
            for row in state.rows[1 if task else 0 :]:
                if row.id in changed:
                    break
                prefix += row.tokens
    again, saved = max(0, decision.after - prefix), decision.before - decision.after
    extra = again * (WRITE_PER_MILLE - READ_PER_MILLE)
    return Price(
        prefix=prefix,
        again=again,
        saved=saved,
        pays_after=-(-extra // (saved * READ_PER_MILLE)) if saved > 0 else None,
        read_per_mille=READ_PER_MILLE,
        write_per_mille=WRITE_PER_MILLE,
    )


def moves_by_row(decision: Decision) -> dict[int, list[Move]]:
    acts: dict[int, list[Move]] = {}
    for move in decision.moves:
        acts.setdefault(move.row, []).append(move)
    return acts


def strongest(moves: Sequence[Move]) -> Act:
    """The move that says most of what happens to a segment: leaving before being made shorter."""
    ranked: tuple[Act, ...] = ("evict", "remove", "collapse", "shrink")
    return next((act for act in ranked if any(move.act == act for move in moves)), "stay")


def _verdicts(state: State, decision: Decision, entries: dict[int, Entry]) -> tuple[Verdict, ...]:
    acts = moves_by_row(decision)
    after = {row.id: row.tokens for row in decision.rows}
    found = []
    for row in state.rows:
        moves = acts.get(row.id, [])
        act = strongest(moves)
        entry = entries.get(row.id)
        code = moves[-1].code if moves else "below"
        found.append(
            Verdict(
                segment=str(row.id),
                title=entry.title if entry else f"segment {row.id}",
                act=act,
                before=row.tokens,
                after=after.get(row.id, 0) if decision.rows else row.tokens,
                code=code,
                reason=REASONS[code],
                address=entry.address if entry else "",
            )
        )
    if decision.writes_note:
        had = state.notes[-1].tokens if state.notes and state.policy.notes == "one" else 0
        found.append(
            Verdict(
                segment=f"note:{decision.notes[-1].id}",
                title=f"handoff note, generation {decision.notes[-1].generation}",
                act="rewrite" if had else "write",
                before=had,
                after=decision.note_tokens,
                code="note",
                reason=REASONS["note"],
            )
        )
    return tuple(found)


def _reason(state: State, decision: Decision, entries: dict[int, Entry]) -> str:
    fill, levels = percent(decision.before * 1000 // state.usable), state.levels
    match decision.outcome:
        case "nothing":
            return f"{fill} full, below the levels at which anything is done"
        case "nudge":
            return f"{fill} full, over the nudge level of {percent(levels.nudge)}"
        case "release":
            return "the model offered results; rules let those go that may"
        case "idle" if decision.before <= state.landing_at:
            return f"{fill} full; the landing level of {percent(levels.landing)} is not even reached"
        case "idle":
            least = state.usable * state.policy.minimum // 1000
            return f"a cleanup would free less than the minimum of {least:,} tokens, so nothing is done"
        case "stuck":
            return _stuck(state, entries)
        case _:
            if decision.forced:
                return f"{decision.before:,} tokens do not fit the {state.hard:,} that can be sent"
            if decision.asked:
                return f"asked for; frees {decision.gain:,} tokens"
            return f"{fill} full, over the cleanup level of {percent(levels.cleanup)}"


def _stuck(state: State, entries: dict[int, Entry]) -> str:
    """Names the part that is too big to be sent."""
    parts = [("system text", state.system), ("tool catalogue", state.tools), ("project text", state.project)]
    parts += [("core", state.core)]
    for row in state.rows:
        if row.task or row.id == state.rows[-1].id:
            entry = entries.get(row.id)
            parts.append(
                (f"{'task' if row.task else 'newest segment'} {entry.title if entry else row.id}", row.tokens)
            )
    name, tokens = max(parts, key=lambda item: item[1])
    stays = kept(state.rows, 1)
    movable = sum(row.tokens for row in state.rows if row.id not in stays)
    why = "and nothing more can leave"
    if movable:
        why = f"not even without the {movable:,} that could leave, for which a note would stand"
    step = "Unpin what no longer holds" if name == "core" else "Make it smaller"
    return (
        f"{state.total:,} tokens do not fit the {state.hard:,} that can be sent, {why}; the largest part that "
        f"stays is the {name} with {tokens:,}. {step}, or take a larger window"
    )
