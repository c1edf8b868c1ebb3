"""The bar: a window drawn to scale, with its levels marked below or above it.

Everything on it is also said in words beside it; letters and marks are put there by the style sheet, so that a
host without one shows nothing instead of a row of loose letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb.context.budget import Budget
from ethang_nb.views.markup import Markup, el
from ethang_nb.views.numbers import grouped, percent, share
from ethang_nb.views.palette import swatch

__all__ = ["Mark", "Placed", "bar", "described", "level_tokens", "marks", "place", "scale"]

WIDE, NARROW = 780, 262  # ► pixels of the bar in the two layouts that labels are placed for
CHARACTER = 6.4  # ► pixels of a label's character, rounded up
APART = 8  # ► pixels between two labels
PARTS = 100_000  # the bar's width in parts, so that positions are integers
LETTER, THIN = 2_600, 7_000  # ► parts that a slice needs to carry its letter: wide, narrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place on the bar in parts of 100,000, with a label of two lines. A low `rank` keeps its label longest."""

    at: int
    name: str
    value: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a label goes in one layout: above the bar (1), below (0) or nowhere (None); and its shift in per cent."""

    up: int | None
    shift: int


def scale(budget: Budget) -> int:
    """Tokens that the whole bar stands for: the window, or what is used where that is more."""
    return max(budget.window.total, budget.used, 1)


def level_tokens(budget: Budget, level: int) -> int:
    """Tokens at which a level (per mille of usable) is reached, calibration included."""
    return budget.usable * level // 1000


def marks(budget: Budget) -> tuple[Mark, ...]:
    """What is marked on the bar, from left to right."""
    window, levels, whole = budget.window, budget.levels, scale(budget)

    def mark(name: str, tokens: int, value: str, rank: int) -> Mark:
        return Mark(at=min(PARTS, tokens * PARTS // whole), name=name, value=value, rank=rank)

    found = [
        mark("landing", level_tokens(budget, levels.landing), percent(levels.landing), 2),
        mark("nudge", level_tokens(budget, levels.nudge), percent(levels.nudge), 3),
        mark("cleanup", level_tokens(budget, levels.cleanup), percent(levels.cleanup), 0),
        mark("usable", budget.usable, percent(1000), 1),
        mark("answer", window.total - window.reserve // 2, grouped(window.reserve), 5),
    ]
    if budget.hard != budget.usable:
        found.append(mark("hard", budget.hard, share(budget.hard, budget.usable), 4))
    return tuple(sorted(found, key=lambda item: (item.at, item.rank)))


def place(found: Sequence[Mark], pixels: int) -> dict[str, Placed]:
    """Labels for a bar of `pixels`: in order of rank, each below, else above, else not at all. None overlap."""
    taken: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    placed: dict[str, Placed] = {}
    for mark in sorted(found, key=lambda item: item.rank):
        width = max(len(mark.name), len(mark.value)) * CHARACTER + APART
        centre = mark.at * pixels / PARTS
        shift = -50 if width / 2 <= centre <= pixels - width / 2 else (0 if centre < width else -100)
        left = centre + width * shift / 100
        free = [up for up, spans in taken.items() if all(left >= b or left + width <= a for a, b in spans)]
        placed[mark.name] = Placed(up=free[0] if free else None, shift=shift)
        if free:
            taken[free[0]].append((left, left + width))
    return placed


def bar(budget: Budget) -> Markup:
    """The window to scale: slices, free, beyond effective, what may not be sent, the reserve, and what is over."""
    found = marks(budget)
    wide, narrow = place(found, WIDE), place(found, NARROW)
    ups = [
        " eth-up" if any(p.up for p in wide.values()) else "",
        " eth-nup" if any(p.up for p in narrow.values()) else "",
    ]
    return el(
        "div",
        el("div", *_slices(budget), *_rest(budget), class_="eth-bar"),
        *(_mark(mark, wide[mark.name], narrow[mark.name]) for mark in found),
        class_="eth-scale" + "".join(ups),
        role="img",
        aria_label=described(budget),
    )


def described(budget: Budget) -> str:
    """The bar in words, for who does not see it."""
    slices = ", ".join(f"{item.name} {grouped(item.tokens)}" for item in budget.slices if item.tokens)
    over = f"; {grouped(budget.over)} over what fits" if budget.over else ""
    return (
        f"{grouped(budget.used)} of a window of {grouped(budget.window.total)} tokens are used: {slices or 'nothing'}; "
        f"free {grouped(budget.free)}; reserve {grouped(budget.window.reserve)}{over}"
    )


def _slices(budget: Budget) -> list[Markup]:
    whole = scale(budget)
    drawn = []
    for item in budget.slices:
        if not item.tokens:
            continue
        look, width = swatch(item.name), item.tokens * PARTS // whole
        thin = "" if width >= THIN else " eth-thin"
        letter = look.letter if width >= LETTER else None
        drawn.append(
            el("i", class_=f"eth-c-{look.slug}{thin}", style=f"width:{_per_cent(width)}", data_l=letter)
        )
    return drawn


def _rest(budget: Budget) -> list[Markup]:
    whole, window = scale(budget), budget.window
    left = whole - budget.used
    drawn = [el("i", class_="eth-r eth-free")]
    for name, tokens in (("hatch", window.reserve), ("dots", budget.unsendable), ("dots", budget.beyond)):
        width = min(left, tokens)
        left -= width
        if width > 0:
            part = el("i", class_=f"eth-r eth-{name}", style=f"width:{_per_cent(width * PARTS // whole)}")
            drawn.insert(1, part)
    if budget.over:
        start, width = budget.hard * PARTS // whole, budget.over * PARTS // whole
        drawn.append(
            el("i", class_="eth-r eth-over", style=f"left:{_per_cent(start)};width:{_per_cent(width)}")
        )
    return drawn


def _mark(mark: Mark, wide: Placed, narrow: Placed) -> Markup:
    hidden = (" eth-wx" if wide.up is None else "") + (" eth-nx" if narrow.up is None else "")
    answer = " eth-answer" if mark.name == "answer" else ""
    style = (
        f"left:{_per_cent(mark.at)};--u:{wide.up or 0};--t:{wide.shift}%;"
        f"--nu:{narrow.up or 0};--nt:{narrow.shift}%"
    )
    return el("i", class_=f"eth-k{answer}{hidden}", style=style, data_l=f"{mark.name}\n{mark.value}")


def _per_cent(parts: int) -> str:
    """Parts of 100,000 as a CSS percentage."""
    whole, rest = divmod(parts, 1000)
    return f"{whole}.{rest:03d}%" if rest else f"{whole}%"
