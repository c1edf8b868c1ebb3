"""WhatIf: the same messages under another window, other levels or another policy, with no model call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ethang_nb.context.policy import Policy
from ethang_nb.context.snapshot import Snapshot
from ethang_nb.context.window import Levels
from ethang_nb.views import timeline
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import grouped, percent
from ethang_nb.views.plain import line, opened
from ethang_nb.views.widgets import chosen
from ethang_nb.views.widgets.base import LiveView

__all__ = ["WhatIf"]

TABLE = 14_000  # ► bytes of the table in a stored output


class WhatIf(LiveView):
    """A form that plans every step anew. `shown` is as for ContextView.

    `policy`, `other_window` (tokens) and `levels` (nudge, cleanup, landing per mille) are what it begins with, `second`
    is a policy to compare with; without them it begins with what is in force.
    """

    _id = "whatif"

    def __init__(
        self,
        shown: object,
        window: Any = None,
        *,
        policy: str | Policy | None = None,
        other_window: int | None = None,
        levels: Levels | Sequence[int] | None = None,
        second: str | Policy | None = None,
        **settings: Any,
    ) -> None:
        begun = {
            "policy": chosen.known_policy("policy", policy),
            "window": chosen.tokens("other_window", other_window),
            "levels": chosen.band("levels", levels),
            "second": chosen.known_policy("second", second),
        }
        super().__init__(shown, window=window, chosen=begun, **settings)

    def _text(self, snapshot: Snapshot) -> str:
        return (
            f"{self._told(snapshot)}\n\n{timeline.text(snapshot.timeline, where=f'{self._where}.timeline')}"
        )

    def _part(self, snapshot: Snapshot, room: int) -> Markup:
        rows = timeline.part(
            snapshot.timeline,
            snapshot.budget.levels,
            allowance=min(room, TABLE),
            where=f"{self._where}.timeline",
        )
        return lines([el("p", self._told(snapshot)), rows])

    def _told(self, snapshot: Snapshot) -> str:
        """What was in force; anything else is only planned where a kernel plans it."""
        band, total = snapshot.budget.levels, snapshot.budget.window.total
        levels = (
            f"nudge {percent(band.nudge)}, cleanup {percent(band.cleanup)}, landing {percent(band.landing)}"
        )
        return opened(f"as it was: policy {line(snapshot.policy, 40)}, window {grouped(total)}, {levels}.")
