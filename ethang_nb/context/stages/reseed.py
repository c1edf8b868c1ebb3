"""Reseed: a new piece of work starts from the core; the rest is pulled again through pointers.

Only between pieces of work, where the fill is at the reseed level or uncertain. Seed 004: "If it's past the
threshold …, the agent doesn't resume at all. It starts fresh from the core and pulls what it needs again"; "any
uncertainty should tip toward rebuilding".
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft
from ethang_nb.context.ledger import CLASSES
from ethang_nb.context.pointers import MOST

__all__ = ["reseed"]

POINTERS_PER_MILLE = 20  # ► of usable, what the places that the core points to take at most


def reseed(draft: Draft) -> None:
    """All but the session's first task leaves; every pin stands in the core; pointers say where the newest was."""
    state = draft.state
    lines = _pointer_lines(draft)
    draft.drop_passing()
    live = draft.live
    draft.remove(draft.movable(0, state.n, frozenset({state.first_task})))
    draft.put_notes(())
    draft.pins = tuple([pin._replace(core=True) for pin in draft.pins])
    if draft.live != live:  # what left is said, also where no result of it can be pointed to
        draft.pointers = lines + state.pointers_head
    draft.render_core()


def _pointer_lines(draft: Draft) -> int:
    """Tokens of the pointers, the newest that have room: each takes at most what the line of its result takes."""
    newest: list[tuple[int, int, int]] = []
    for again in CLASSES:
        column, upto = draft.ledger.results[again], draft.ledger.upto[again][draft.state.n]
        newest += [
            (column.row[at], column.index[at], column.stub[at]) for at in range(max(0, upto - MOST), upto)
        ]
    room = draft.settings.usable * POINTERS_PER_MILLE // 1000
    taken = 0
    for _, _, stub in sorted(newest, reverse=True)[:MOST]:
        if taken + stub > room:
            break
        taken += stub
    return taken
