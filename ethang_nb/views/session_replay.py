"""A session's replay as text and HTML: that of any transcript, and how it differs from what happened."""

from __future__ import annotations

from ethang_nb.agent.replay import SessionTimeline
from ethang_nb.views import replay

__all__ = ["APART", "html", "text"]

APART = (
    "Not exactly what happened: the context as it stands counts as one more request, releases by the model are not "
    "replayed, and a model's note counts as what was reserved for it."
)


def text(timeline: SessionTimeline) -> str:
    """The replay for a terminal of 80 columns."""
    return replay.text(timeline, more=APART)


def html(timeline: SessionTimeline) -> str:
    """The replay as a stored output."""
    return replay.html(timeline, more=APART)
