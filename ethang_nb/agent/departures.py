"""Departures: at which step, and how, each segment and result of a live context left it or was made shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ethang_nb.context.decision import Decision
from ethang_nb.context.entry import Turning
from ethang_nb.context.live import LiveContext
from ethang_nb.context.notedesk import Written
from ethang_nb.context.plan import Act, Outcome

__all__ = ["Departure", "Departures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """`how` something left at request `step`, or was made shorter there, and `by` what: a cleanup, a release, ...

    `cut`: it was cut as it entered, and the rest never stood in the window.
    """

    step: int
    how: Act | Literal["cut"]
    by: Outcome


class Departures:
    """Watches one live context from its first event on, so that a session opened again knows them too."""

    def __init__(self, context: LiveContext) -> None:
        self._context = context
        self._decided: list[tuple[int, Decision]] = []
        """What landed or let go, by step; the moves of it are worked out when somebody asks."""
        self._found: dict[tuple[int, int], list[Departure]] = {}
        context.observers.append(self)

    def of(self, row: int, index: int) -> tuple[Departure, ...]:
        """Those of segment `row` and of its result `index` (-1: of its first message), in their order."""
        self._work_out()
        whole = self._found.get((row, -1), [])
        return (*(self._found.get((row, index), []) if index >= 0 else []), *whole)

    # ---- what the live context tells

    def requested(self, turning: Turning) -> None:
        self._take(turning.step, turning.decision)

    def reseeded(self, turning: Turning) -> None:
        self._take(turning.step, turning.decision)

    def released(self, decision: Decision) -> None:
        self._take(self._context.step + 1, decision)

    def noted(self, written: Written) -> None:
        """Nothing leaves with a note."""

    def reported(self, reported: int, own: int, cached: int | None) -> None:
        """Nor with a report."""

    def _take(self, step: int, decision: Decision) -> None:
        if decision.after is not decision.before:
            self._decided.append((step, decision))

    def _work_out(self) -> None:
        for step, decision in self._decided:
            for move in decision.moves:
                departure = Departure(step=step, how=move.act, by=decision.outcome)
                self._found.setdefault((move.row, move.index), []).append(departure)
        self._decided.clear()
