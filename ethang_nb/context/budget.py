"""Budget: where the window goes. Slices in the order of assembly sum to the window; nothing is left unnamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb._show import Shown
from ethang_nb.context.counting import How
from ethang_nb.context.pricing import FixedCost, fixed_cost
from ethang_nb.context.window import Levels, Window

__all__ = ["SLICES", "Budget", "Slice", "nearest_rank", "percentile"]

SLICES = (
    "system",
    "tools",
    "project",
    "core",
    "task",
    "handoff notes",
    "recalled memory",
    "history",
    "tool output",
    "images",
)
"""The slices a request is made of, in the order of assembly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Tokens of one slice, how they were counted, and of how many things (tools, pins, segments) it consists."""

    name: str
    tokens: int
    how: How
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Shown):
    """Occupancy: what is in the window now, in tokens; `fill` and levels in per mille of usable.

    `used + free + beyond + unsendable + reserve == window.total` while nothing is over; `over` is what exceeds hard.
    `room` is how large one more tool result may be before the next cleanup. `p95` is the 95th percentile of
    fill over all requests so far. `unattributed` is what the provider counted and we cannot place; it stands
    beside the sum.
    """

    _view = "ethang_nb.views.budget"

    window: Window
    levels: Levels
    slices: tuple[Slice, ...]
    how: How
    p95: int | None = None
    unattributed: int = 0
    ratio: int = 1000
    """Per mille by which the provider counts more than we do; it divides usable and hard, never a count."""
    cleanup_at: int = 0
    """Tokens at which the next cleanup is due (calibration included)."""
    followed: bool = False
    """Whether somebody else makes the requests: they are sent however full they are."""

    @property
    def usable(self) -> int:
        """Tokens by our count that levels are measured against."""
        return self.window.usable * 1000 // self.ratio

    @property
    def hard(self) -> int:
        """Tokens by our count that can be sent."""
        return self.window.hard * 1000 // self.ratio

    @property
    def used(self) -> int:
        return sum(item.tokens for item in self.slices)

    @property
    def fill(self) -> int:
        """Per mille of usable, rounded down."""
        return self.used * 1000 // self.usable

    @property
    def free(self) -> int:
        return max(0, self.usable - self.used)

    @property
    def beyond(self) -> int:
        """Tokens between usable (or what is used, if more) and hard: there, but not trusted by the user."""
        return max(0, self.hard - max(self.usable, self.used))

    @property
    def unsendable(self) -> int:
        """Tokens of the window that cannot be filled: max input forbids it, or the provider counts more."""
        return self.window.total - self.window.reserve - self.hard

    @property
    def over(self) -> int:
        return max(0, self.used - self.hard)

    @property
    def room(self) -> int:
        return max(0, self.cleanup_at - self.used)

    @property
    def fixed(self) -> int:
        """Tokens paid on every request before any work: system, tools, project."""
        return sum(item.tokens for item in self.slices if item.name in ("system", "tools", "project"))

    def fixed_cost(self, so_far: int, projected: int) -> FixedCost:
        """What the fixed parts come to over `so_far` requests, and over the `projected` ones of the whole task."""
        return fixed_cost(self.fixed, so_far, projected)

    @property
    def headroom(self) -> int:
        """Tokens of the window that are not used: the reserve, and what is free."""
        return self.window.total - self.used

    @property
    def line(self) -> str:
        """The five numbers of seed 003 in one line, in tokens: "One log line … shows you where the window is going"."""
        task, output = self.slice("task").tokens, self.slice("tool output").tokens
        fixed = self.fixed + self.slice("core").tokens
        history = self.used - fixed - task - output
        numbers = {
            "fixed": fixed,
            "task": task,
            "history": history,
            "tool output": output,
            "headroom": self.headroom,
        }
        return ", ".join(f"{name} {tokens:,}" for name, tokens in numbers.items())

    def slice(self, name: str) -> Slice:
        for item in self.slices:
            if item.name == name:
                return item
        return Slice(name=name, tokens=0, how=self.how)

    def __repr__(self) -> str:
        return f"Budget({self.used:,} of {self.usable:,} usable tokens, fill {self.fill})"


def percentile(values: tuple[int, ...], per_cent: int = 95) -> int | None:
    """The nearest-rank percentile of `values`; None without values."""
    return nearest_rank(sorted(values), per_cent)


def nearest_rank(ordered: Sequence[int], per_cent: int = 95) -> int | None:
    """The same of values in order."""
    return ordered[max(0, -(-per_cent * len(ordered) // 100) - 1)] if ordered else None
