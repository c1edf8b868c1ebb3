"""CompactionDiff: what left in a cleanup, what stands for it, and what became of the facts."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.snapshot import Diff, Snapshot
from ethang_nb.views import diff
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.plain import opened
from ethang_nb.views.widgets import chosen
from ethang_nb.views.widgets.base import LiveView

__all__ = ["CompactionDiff"]

NONE = "No cleanup took place."
LEFT, FACTS = 8_000, 6  # ► bytes of the list of what left, and facts of one fate, in a stored output


class CompactionDiff(LiveView):
    """A live view of the cleanups. `shown` is as for ContextView; `index` is the cleanup it opens, else the newest."""

    _id = "diff"

    def __init__(
        self, shown: object, window: Any = None, *, index: int | None = None, **settings: Any
    ) -> None:
        chosen.number("index", index, what="the number of a cleanup, from 0, or -1 for the last one now")
        super().__init__(shown, window=window, chosen={"index": index}, **settings)

    def _text(self, snapshot: Snapshot) -> str:
        found = self._diff(snapshot)
        return NONE if found is None else diff.text(found)

    def _part(self, snapshot: Snapshot, room: int) -> Markup:
        found = self._diff(snapshot)
        if found is None:
            return el("p", NONE)
        said = el("p", el("strong", opened(diff.headline(found))), ".")
        return lines([said, diff.part(found, facts=FACTS, allowance=min(room, LEFT))])

    def _diff(self, snapshot: Snapshot) -> Diff | None:
        index, known = self.options.get("index", -1), len(snapshot.diffs)
        return snapshot.diffs[index] if -known <= index < known else None
