"""BudgetBar: where the window goes."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.views import budget
from ethang_nb.views.markup import Markup
from ethang_nb.views.widgets.base import LiveView

__all__ = ["BudgetBar"]


class BudgetBar(LiveView):
    """A live bar of the budget, to scale, with its table. `shown` is as for ContextView."""

    _id = "budget"

    def __init__(self, shown: object, window: Any = None, **settings: Any) -> None:
        super().__init__(shown, window=window, **settings)

    def _text(self, snapshot: Snapshot) -> str:
        return budget.text(snapshot.budget)

    def _part(self, snapshot: Snapshot, room: int) -> Markup:  # noqa: ARG002 - it is always small
        return budget.part(snapshot.budget)
