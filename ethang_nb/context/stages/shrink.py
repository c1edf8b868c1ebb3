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
    """Down to just below the cleanup level; in the last resort first down to hard, and further than else for that."""
    settings = draft.settings
    if draft.last_resort:
        _shrink(draft, LAST_RESORT_TOKENS, settings.hard)
        if "shrink" not in settings.policy.stages:
            return
    # Also then: what the next request point would shrink anyway would be a second landing with nothing new.
    _shrink(draft, settings.policy.shrink_tokens, settings.cleanup_at - 1)


def _shrink(draft: Draft, least: int, goal: int) -> None:
    """Results over `least` tokens, largest first, down to it, until the total is `goal`."""
    if draft.total <= goal:
        return
    for large in sorted(draft.results(over=least), key=lambda item: (-item.tokens, item.row, item.nth)):
        excess = draft.total - goal
        if excess <= 0:
            return
        draft.set_result(large.place, max(least, large.tokens - excess), "shrunk")
