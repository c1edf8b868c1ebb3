"""ContextView: the whole of a context with tabs: what fills it, what is in it, what happened, what would."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.views import context
from ethang_nb.views.markup import Markup
from ethang_nb.views.widgets import chosen
from ethang_nb.views.widgets.base import LiveView

__all__ = ["ContextView"]

TABS = ("segments", "timeline", "diff", "whatif", "trace")
_shared: list[ContextView] = []
"""Those that the cells of a session share."""


class ContextView(LiveView):
    """A live view of all of a context. `shown` is a session, an eth.Context, or messages with their `window`.

    `tab` is the part that is open at first: segments, timeline, diff, whatif or trace.
    """

    _id = "context"

    def __init__(self, shown: object, window: Any = None, *, tab: str | None = None, **settings: Any) -> None:
        super().__init__(shown, window=window, chosen={"tab": chosen.one_of("tab", tab, TABS)}, **settings)

    @classmethod
    def of(cls, shown: object) -> ContextView:
        """The one view that all cells of a session share: each shows it, and what is told is told once."""
        _shared[:] = [view for view in _shared if not view.closed]
        found = next((view for view in _shared if view.shows(shown)), None)
        if found is None:
            found = cls(shown)
            _shared.append(found)
        return found

    def _text(self, snapshot: Snapshot) -> str:
        return context.text(snapshot, where=self._where)

    def _part(self, snapshot: Snapshot, room: int) -> Markup:
        return context.part(snapshot, where=self._where, room=room)
