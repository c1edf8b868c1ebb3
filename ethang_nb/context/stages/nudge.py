"""Nudge: one text names the pressure, the tool that helps, and what happens otherwise (seed 000).

It is armed again by a landing that ended below the nudge level, by a reseed, and when window or policy change;
`pressure` sends it once per session.
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft

__all__ = ["NUDGE_MOST", "nudge"]

NUDGE_MOST = 140  # ► tokens a nudge may take; its text is kept below


def nudge(draft: Draft) -> None:
    """Where nudge <= fill < cleanup, judged before its own text."""
    state, settings = draft.state, draft.settings
    spent = settings.policy.nudge_once and state.nudged
    if state.armed and not spent and settings.nudge_at <= draft.total < settings.cleanup_at:
        draft.nudges = draft.total + NUDGE_MOST <= settings.hard
