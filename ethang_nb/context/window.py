"""Window: how many tokens may be sent, and the levels that follow from its size.

hard = min(total - reserve, max input); usable = min(hard, effective). Levels are per mille of usable and
come from one table by size; nothing is ever set per model (seed 000: "a rule that asks how big is this
model's memory cannot rot").
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.errors import BadWindow

__all__ = ["BANDS", "Levels", "Window", "levels"]

RESERVE_PER_MILLE = 200  # ► the largest part of a window kept for the answer
RESERVE_MOST = 32_000  # ► tokens
SMALLEST = 256  # ► a window below this holds no conversation at all
LARGEST = 100_000_000  # ► tokens; where somebody writes down more, it is a slip


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Nudge, cleanup and landing, per mille of usable."""

    nudge: int
    cleanup: int
    landing: int


BANDS: tuple[tuple[int | None, Levels], ...] = (
    # seed 000, table: inclusive upper bounds of the size in tokens, None = anything larger
    (200_000, Levels(nudge=700, cleanup=800, landing=400)),
    (500_000, Levels(nudge=600, cleanup=700, landing=350)),
    (1_000_000, Levels(nudge=500, cleanup=600, landing=300)),
    (None, Levels(nudge=400, cleanup=500, landing=250)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Sizes in tokens. `source` says where the numbers come from and is shown beside them."""

    total: int
    reserve: int
    max_input: int | None = None
    effective: int | None = None
    source: str = "given"
    reserve_given: bool = True
    """Whether somebody chose the reserve; one that follows the rule gives way to a policy's own."""

    def __post_init__(self) -> None:
        if self.total < SMALLEST:
            raise BadWindow(f"window {self.total:,} is too small; give at least {SMALLEST:,} tokens")
        if not 0 < self.reserve < self.total:
            raise BadWindow(
                f"reserve {self.reserve:,} is not inside the window of {self.total:,}; give 1 to {self.total - 1:,}"
            )
        for name, value in (("max_input", self.max_input), ("effective", self.effective)):
            if value is not None and value < SMALLEST:
                raise BadWindow(
                    f"{name} {value:,} is too small; give at least {SMALLEST:,} tokens, or leave it out"
                )
        if self.hard < 1:
            raise BadWindow(f"window {self.total:,} with reserve {self.reserve:,} leaves nothing to send")

    @staticmethod
    def of(
        total: int,
        *,
        reserve: int | None = None,
        max_output: int | None = None,
        max_input: int | None = None,
        effective: int | None = None,
        source: str = "given",
    ) -> Window:
        """A window whose reserve follows the rule where none is given: min(max output, 20 % of total, 32,000)."""
        given = reserve is not None
        if reserve is None:
            by_rule = min(total * RESERVE_PER_MILLE // 1000, RESERVE_MOST)
            reserve = by_rule if max_output is None else min(max_output, by_rule)
        return Window(
            total=total,
            reserve=max(1, reserve),
            max_input=max_input,
            effective=effective,
            source=source,
            reserve_given=given,
        )

    @property
    def hard(self) -> int:
        """The most that fits into a request, in tokens."""
        room = self.total - self.reserve
        return room if self.max_input is None else min(room, self.max_input)

    @property
    def usable(self) -> int:
        """What levels are measured against, in tokens."""
        return self.hard if self.effective is None else min(self.hard, self.effective)

    @property
    def size(self) -> int:
        """The size the band table is entered with."""
        return self.total if self.effective is None else min(self.total, self.effective)


def levels(size: int) -> Levels:
    """The band of a window of `size` tokens."""
    for top, band in BANDS:
        if top is None or size <= top:
            return band
    raise AssertionError("the last band has no upper bound")
