"""TimelineView: fill step by step, and what happened before each request."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.views import timeline
from ethang_nb.views.markup import Markup
from ethang_nb.views.widgets import chosen
from ethang_nb.views.widgets.base import LiveView

__all__ = ["TimelineView"]

TABLE = 14_000  # ► bytes of the table in a stored output


class TimelineView(LiveView):
    """A live view of the steps. `shown` is as for ContextView; `step` is one whose request it opens."""

    _id = "timeline"

    def __init__(
        self, shown: object, window: Any = None, *, step: int | None = None, **settings: Any
    ) -> None:
        super().__init__(
            shown,
            window=window,
            chosen={"step": chosen.number("step", step, least=1, what="the number of a step")},
            **settings,
        )

    def _text(self, snapshot: Snapshot) -> str:
        return timeline.text(snapshot.timeline, where=f"{self._where}.timeline")

    def _part(self, snapshot: Snapshot, room: int) -> Markup:
        allowance, where = min(room, TABLE), f"{self._where}.timeline"
        return timeline.part(snapshot.timeline, snapshot.budget.levels, allowance=allowance, where=where)
