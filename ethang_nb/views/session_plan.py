"""A session's plan as text and HTML: the next request, and what the next piece of work does at its start."""

from __future__ import annotations

from ethang_nb.agent.reseeding import SessionPlan
from ethang_nb.views import plan as plans

__all__ = ["html", "text"]


def text(plan: SessionPlan) -> str:
    """The plan for a terminal of 80 columns."""
    return plans.text(plan, more=plan.next_work)


def html(plan: SessionPlan) -> str:
    """The plan as a stored output."""
    return plans.html(plan, more=plan.next_work)
