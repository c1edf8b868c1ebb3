"""What-if: the replay of a source under another window, policy or levels, as the rows that a view draws.

The tapes of a source are kept from one move of a slider to the next; only what is decided is worked out again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from ethang_nb.context.retold import Retold
from ethang_nb.context.settings import Settings
from ethang_nb.context.tape import Tape
from ethang_nb.context.timeline import Timeline

__all__ = ["Tapes", "as_run", "timeline_of"]

KEPT = 8  # ► tapes; each has the numbers of all rows, their texts are shared

COUNTED = ("nudge", "cleanup", "reseed", "idle", "stuck")


class Tapes:
    """The tapes of what was retold, by how results enter."""

    def __init__(self, told: Retold) -> None:
        self._told = told
        self._made: dict[object, Tape] = {}

    def __call__(self, settings: Settings) -> Tape:
        key = self._told.same_tape(settings)
        tape = self._made.pop(key, None) or self._told.tape(settings)
        self._made[key] = tape
        while len(self._made) > KEPT:
            del self._made[next(iter(self._made))]
        return tape


def timeline_of(told: Retold) -> Timeline:
    """What was retold under its own settings; `move` gives it under others."""
    tapes = Tapes(told)
    return Timeline(tapes(told.settings), told.settings, tapes)


def as_run(timeline: Timeline) -> dict[str, Any]:
    """A timeline as a view draws it: fills in per mille, what was decided when, and the sums."""
    settings, tokens = timeline.settings, timeline.tokens
    happened = timeline.happened
    counts: Counter[str] = Counter(step.outcome for step in happened)
    # A step over its level at which nothing was decided anew is idle as the one before.
    due = max(settings.cleanup_at, settings.evict_to + 1)
    quiet = sum(step.tokens >= due and step.outcome != "nothing" for step in happened)
    counts["idle"] += sum(taken >= due for taken in tokens) - quiet
    counts["reseed"] = sum(step.reseed for step in happened)
    events: list[list[Any]] = []
    for step in happened:
        if step.reseed:
            events.append([step.step, "reseed", None])
        if step.outcome != "nothing":
            events.append([step.step, step.outcome, step.before])
    return {
        "policy": settings.policy.name,
        "window": settings.window.total,
        "usable": settings.usable,
        "levels": asdict(settings.levels),
        "fills": list(timeline.fills),
        "p95": timeline.p95,
        "counts": {name: counts[name] for name in COUNTED},
        "events": events,
        "tokens": sum(tokens),
        "over": sum(taken > settings.usable for taken in tokens),
    }
