"""Rehearsal: a plan carried out on a copy, to see what would be sent. The context itself stays as it is."""

from __future__ import annotations

from ethang_nb.context.counting import message_tokens
from ethang_nb.context.explain import as_plan
from ethang_nb.context.live import LiveContext
from ethang_nb.context.plan import Applied, Plan, Removed

__all__ = ["foretold", "rehearse"]


def foretold(context: LiveContext) -> Plan:
    """What the policy does at the next request point; pins that enter there are counted."""
    copy = context.copy()
    turning = copy.request()
    return as_plan(copy, turning.before, turning.decision, turning.entries)


def rehearse(context: LiveContext, note: str | None) -> Applied:
    """The next request point of a copy of `context`; `note` is the handoff note's text, None: by rule."""
    copy = context.copy()
    turning = copy.request()
    if copy.pending is not None:
        copy.write_note(note, reference="given", author="the caller")
    removed: list[Removed] = []
    whole = {move.row for move in turning.decision.moves if move.index < 0}
    for move in turning.decision.moves:
        entry = turning.entries[move.row]
        if move.index >= 0 and move.row in whole:
            continue
        places = range(len(entry.messages)) if move.index < 0 else [move.index + 1]
        removed += [
            Removed(
                segment=str(move.row),
                title=entry.title,
                tokens=message_tokens(entry.messages[place], context.counter),
                address=entry.addresses[place],
                how=move.act,
                text=entry.messages[place].text,
            )
            for place in places
        ]
    return Applied(messages=copy.assemble(), removed=tuple(removed))
