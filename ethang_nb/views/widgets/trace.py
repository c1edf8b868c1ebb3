"""Trace: finds where a text went."""

from __future__ import annotations

from typing import Any

from ethang_nb.agent import trace as traced
from ethang_nb.context.snapshot import Snapshot
from ethang_nb.views import trace
from ethang_nb.views.markup import Markup, el
from ethang_nb.views.widgets import chosen
from ethang_nb.views.widgets.base import LiveView

__all__ = ["Trace"]

NONE = "No text is traced yet."


class Trace(LiveView):
    """A form that finds all that holds or held a text. `shown` is as for ContextView; `text` is what it begins with."""

    _id = "trace"

    def __init__(self, shown: object, window: Any = None, *, text: str = "", **settings: Any) -> None:
        super().__init__(
            shown, window=window, chosen={"text": chosen.text("text", text, example="ORD-88421")}, **settings
        )

    def _text(self, snapshot: Snapshot) -> str:  # noqa: ARG002 - it looks in the record, too
        found = self._found()
        return NONE if found is None else trace.text(found)

    def _part(self, snapshot: Snapshot, room: int) -> Markup:  # noqa: ARG002 - its rows are few and short
        found = self._found()
        return el("p", NONE) if found is None else trace.part(found)

    def _found(self) -> traced.Trace | None:
        text = str(self.options["text"])
        return self._source.trace(text) if text.strip() else None
