"""Rehearsal: a plan carried out on a copy, to see what would be sent. The context itself stays as it is."""

from __future__ import annotations

from ethang_nb.context.counting import message_tokens
from ethang_nb.context.explain import as_plan
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.plan import Act, Applied, Plan, Removed

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
            _removed(move.row, move.act, entry.messages[place], entry.addresses[place], context)
            for place in places
        ]
    return Applied(messages=copy.assemble(), removed=tuple(removed))


def _removed(row: int, act: Act, message: Message, address: str, context: LiveContext) -> Removed:
    return Removed(
        segment=str(row),
        title=context.entries[row].title,
        tokens=message_tokens(message, context.counter),
        address=address,
        how=act,
        text=message.text,
    )
