"""Shrink: results that stay are cut in place to head, tail and a marker with the address, largest first.

Only while the request is still at or over the cleanup level, and no further than needed. Seed 000: "it
compresses those oversized results in place, replacing each with a short marker saying where the full text
lives".
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft

__all__ = ["LAST_RESORT_TOKENS", "shrink"]

LAST_RESORT_TOKENS = 100  # ► what a result keeps in a plan that otherwise would not fit hard


def shrink(draft: Draft) -> None:
    """Down to just below the cleanup level; in the last resort down to hard."""
    settings = draft.settings
    if draft.last_resort:
        least, goal = LAST_RESORT_TOKENS, settings.hard
    else:
        least, goal = settings.policy.shrink_tokens, settings.cleanup_at - 1
    if draft.total <= goal:
        return
    for large in sorted(draft.results(over=least), key=lambda item: (-item.tokens, item.row, item.nth)):
        excess = draft.total - goal
        if excess <= 0:
            return
        draft.set_result(large.place, max(least, large.tokens - excess), "shrunk")
