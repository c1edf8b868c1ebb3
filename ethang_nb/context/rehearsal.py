"""Rehearsal: a plan carried out on a copy, to see what would be sent. The context itself stays as it is."""

from __future__ import annotations

from dataclasses import replace

from ethang_nb.context.arriving import Spill
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.entry import Turning
from ethang_nb.context.explain import as_plan
from ethang_nb.context.live import LiveContext
from ethang_nb.context.plan import Applied, Plan, Removed

__all__ = ["foretold"]


def foretold(context: LiveContext, *, asked: bool = False) -> Plan:
    """What the policy does at the next request point, or, `asked`, what a cleanup would do there.

    Pins that enter there are counted. The plan can be applied.
    """
    copy = context.copy()
    if asked:
        copy.ask_cleanup()
    turning = copy.request()
    copy.sent = context.sent  # what lies in the cache now, not once the plan is carried out
    plan = as_plan(copy, turning.decision)
    return replace(plan, _apply=lambda note, spill: _applied(copy.copy(), turning, note, spill))


def _applied(copy: LiveContext, turning: Turning, note: str | None, spill: Spill | None) -> Applied:
    removed: list[Removed] = []
    for move in turning.decision.moves:
        entry = turning.entries[move.row]
        row = turning.before.row(move.row) if move.row >= 0 else None
        standing = entry.messages if row is None else entry.forms(row, copy.counter)
        places = range(len(standing)) if move.index < 0 else [move.index + 1]
        if spill is not None:
            entry = copy.entries[move.row] = entry.copy()
            for place in places:
                entry.addresses[place] = spill(entry.title, entry.messages[place].text)
        removed += [
            Removed(
                segment=str(move.row),
                title=entry.title,
                tokens=message_tokens(standing[place], copy.counter),
                address=entry.addresses[place],
                how=move.act,
                text=standing[place].text,
            )
            for place in places
        ]
    if copy.pending is not None and note is not None:
        copy.write_note(note, reference="given", author="the caller")
    return Applied(messages=copy.assemble(), removed=tuple(removed))
