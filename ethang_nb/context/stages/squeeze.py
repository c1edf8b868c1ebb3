"""Squeeze: old tool output is rewritten by rule in fewer tokens: repeated lines, progress bars, ANSI, blank JSON.

What it takes squeezed is worked out as a result enters; the original keeps its address. Oldest first, down to the
landing level, never a segment that stays. Off unless a policy names it. Seed 003: "Rewrite the same content in fewer
tokens without going through semantic summarisation".
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft

__all__ = ["squeeze"]


def squeeze(draft: Draft) -> None:
    """Only what a rule makes shorter, and only what nothing else has made shorter before."""
    goal, stays = draft.settings.landing_at, draft.kept()
    if draft.total <= goal:
        return
    for large in draft.results(over=0):
        if draft.total <= goal:
            return
        again, at = large.place
        column = draft.ledger.results[again]
        squeezed = column.squeezed.get(at, 0)
        untouched = large.place not in draft.changed and large.tokens == column.tokens[at]
        if squeezed and untouched and squeezed < large.tokens and large.row not in stays:
            draft.set_result(large.place, squeezed, "squeezed")
