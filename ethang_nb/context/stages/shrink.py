"""Shrink: results that stay are cut in place to head, tail and a marker with the address, largest first.

Only while the request is still at or over the cleanup level, and no further than needed. Seed 000: "it
compresses those oversized results in place, replacing each with a short marker saying where the full text
lives".
"""

from __future__ import annotations

from ethang_nb.context.draft import Code, Draft

__all__ = ["LAST_RESORT_TOKENS", "shrink"]

LAST_RESORT_TOKENS = 100  # ► what a result keeps in a plan that otherwise would not fit hard


def shrink(draft: Draft) -> None:
    """Down to just below the cleanup level; in the last resort down to hard."""
    state = draft.state
    if draft.last_resort:
        least, goal = LAST_RESORT_TOKENS, state.hard
    else:
        least, goal = state.policy.shrink_tokens, state.cleanup_at - 1
    large = draft.results(over=least)
    for at, index, result in sorted(large, key=lambda item: (-item[2].tokens, item[0], item[1])):
        excess = draft.total - goal
        if excess <= 0:
            return
        tokens = max(least, result.tokens - excess)
        code: Code = "last-resort" if draft.last_resort else "oversized"
        draft.set_result(at, index, tokens, "shrunk", "shrink", code)
