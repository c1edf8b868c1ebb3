"""SegmentList: what is in the window, whether it may leave and why."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.views import segments
from ethang_nb.views.markup import Markup
from ethang_nb.views.widgets import chosen
from ethang_nb.views.widgets.base import LiveView

__all__ = ["SegmentList"]

TABLE = 20_000  # ► bytes of the table in a stored output


class SegmentList(LiveView):
    """A live list of the segments. `shown` is as for ContextView; `segment` is the id of one to open."""

    _id = "segments"

    def __init__(
        self,
        shown: object,
        window: Any = None,
        *,
        segment: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(
            shown,
            window=window,
            chosen={"segment": segment if segment is None else chosen.text("segment", segment, example="4")},
            **settings,
        )

    def _text(self, snapshot: Snapshot) -> str:
        return segments.text(snapshot.segments, where=f"{self._where}.segments")

    def _part(self, snapshot: Snapshot, room: int) -> Markup:
        allowance, where = min(room, TABLE), f"{self._where}.segments"
        return segments.part(snapshot.segments, pins=snapshot.pins, allowance=allowance, where=where)
