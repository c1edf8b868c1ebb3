"""Collapse: old tool output becomes one line that says what it was, its size, and where to read it again.

In one batch: first what can be read again, then run again, last what cannot be had again; by age within each; never
a segment that stays. Seed 003: "the agent loses the content and keeps the way back"; "drop with an address over
summarising".
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft
from ethang_nb.context.ledger import CLASSES

__all__ = ["collapse"]


def collapse(draft: Draft) -> None:
    """Until the policy's level is reached or nothing old is left that its line would make shorter."""
    policy, goal = draft.settings.policy, draft.settings.collapse_to
    keep = draft.keep if policy.collapse_keep is None else min(draft.keep, policy.collapse_keep)
    edge, stays = draft.edge(keep), draft.kept(keep)
    for again in CLASSES:
        if draft.total <= goal:
            return
        draft.collapse(again, edge, stays, goal)
