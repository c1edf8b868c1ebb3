"""The chart: fill step by step as a sawtooth, with its levels and what happened.

Lines are SVG stretched to any width; labels and marks lie over it at their own size, so that they stay legible
at 300 pixels. The list below it says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ethang_nb.context.snapshot import StepRow
from ethang_nb.context.window import Levels
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import grouped, numbered, percent

__all__ = ["KINDS", "chart", "described", "kinds", "said", "steps_of"]

KINDS = ("stuck", "reseed", "cleanup", "foretold", "shrink", "idle", "release", "nudge")
"""What is marked, the weightiest first: of two at one step the first is drawn."""

SAID = {"foretold": "would clean up"}
"""What a kind is called where its own word says too little."""

SIDE = 1_000  # units of the drawing, both ways
BUCKET = 6  # ► units; of the points in one bucket the first, highest, lowest and last are drawn
DENSE = 300  # ► steps from which the line is drawn thinner
APART = 25  # ► units between two marks of one kind
PLOT = 1_100  # hundredths of an em, as `.eth-chart` in output.css
LABEL = 110  # ► hundredths of an em between two labels
LABEL_FONT = 84  # per cent, as in output.css


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    x: int
    y: int


def kinds(row: StepRow) -> tuple[str, ...]:
    """The kinds of a step's events that are marked, the weightiest first."""
    return tuple(kind for kind in KINDS if kind in row.kinds)


def said(kind: str) -> str:
    return SAID.get(kind, kind)


def steps_of(rows: Sequence[StepRow], kind: str) -> tuple[int, ...]:
    """Numbers of the steps at which something of `kind` happened."""
    return tuple(row.step for row in rows if kind in kinds(row))


def chart(rows: Sequence[StepRow], levels: Levels) -> Markup:
    """The sawtooth and the list of what is marked on it. Nothing without a step."""
    if not rows:
        return Markup("")
    top = _top(rows)
    plot = el(
        "div",
        *(_level_lines(levels, top)),
        _drawing(rows, top),
        *_marks(rows, top),
        *_step_labels(rows),
        class_="eth-chart",
        role="img",
        aria_label=described(rows),
    )
    return el("div", plot, _key(rows, levels))


def described(rows: Sequence[StepRow]) -> str:
    """The chart in words, for who does not see it."""
    last = rows[-1]
    told = [f"Fill by step, {grouped(len(rows))} in all; {percent(last.fill)} at step {grouped(last.step)}"]
    told.extend(
        f"{said(kind)} at {numbered(steps, 'step')}" for kind in KINDS if (steps := steps_of(rows, kind))
    )
    return "; ".join(told)


def _top(rows: Sequence[StepRow]) -> int:
    """The highest fill to be drawn, per mille: 100 %, or the next full ten per cent above."""
    most = max(max(row.fill, row.before or 0) for row in rows)
    return max(1_000, -(-most // 100) * 100)


def _x(index: int, size: int) -> int:
    return index * SIDE // max(1, size - 1)


def _y(fill: int, top: int) -> int:
    return SIDE - max(0, fill) * SIDE // top


def _points(rows: Sequence[StepRow], top: int) -> Iterator[_Point]:
    for index, row in enumerate(rows):
        x = _x(index, len(rows))
        if row.before is not None:
            yield _Point(x=x, y=_y(row.before, top))
        yield _Point(x=x, y=_y(row.fill, top))


def _thinned(points: list[_Point]) -> list[_Point]:
    """At most four points per bucket, so that ten thousand steps cost no more than a few hundred."""
    kept: list[_Point] = []
    start = 0
    while start < len(points):
        stop = start
        while stop < len(points) and points[stop].x // BUCKET == points[start].x // BUCKET:
            stop += 1
        chosen = sorted(
            {
                start,
                stop - 1,
                min(range(start, stop), key=lambda i: points[i].y),
                max(range(start, stop), key=lambda i: points[i].y),
            }
        )
        kept.extend(points[index] for index in chosen)
        start = stop
    return kept


def _drawing(rows: Sequence[StepRow], top: int) -> Markup:
    points = _thinned(list(_points(rows, top)))
    # One path is both line and area: the edges that close it lie outside the drawing and are cut off.
    inside = "L".join(f"{point.x} {point.y}" for point in points)
    path = f"M-9 {SIDE + 9}V{points[0].y}L{inside}H{SIDE + 9}V{SIDE + 9}Z"
    return el(
        "svg",
        el(
            "path",
            d=path,
            class_="eth-path eth-dense" if len(rows) > DENSE else "eth-path",
            fill="none",
            stroke="#1c66a8",
        ),
        class_="eth-c-notes",
        viewBox=f"0 0 {SIDE} {SIDE}",
        width="100%",
        height="140",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _level_lines(levels: Levels, top: int) -> Iterator[Markup]:
    wanted = [(1_000, percent(1_000)), (0, percent(0))]
    wanted += [(level, f"{name} {percent(level)}") for name, level in _named(levels)]
    if top > 1_000:
        wanted.append((top, percent(top)))
    lowest = -LABEL
    for level, label in sorted(wanted, reverse=True):
        at = _y(level, top)
        here = at * PLOT // SIDE
        lowest = max(here, lowest + LABEL)
        moved = (lowest - here) * 100 // LABEL_FONT
        style = f"top:{_tenth(at)}" + (f";--d:{moved // 100}.{moved % 100:02d}em" if moved else "")
        edge = " eth-edge" if level in (0, 1_000) else ""
        yield el("i", class_=f"eth-level{edge}", style=style, data_l=label)


def _marks(rows: Sequence[StepRow], top: int) -> Iterator[Markup]:
    last: dict[str, int] = {}
    for index, row in enumerate(rows):
        x, found = _x(index, len(rows)), kinds(row)
        if found and x >= last.get(found[0], -APART) + APART:
            last[found[0]] = x
            yield _at(_look(found[0]), x, _y(row.fill, top))
    if not kinds(rows[-1]):
        yield _at("eth-m-now eth-c-notes", _x(len(rows) - 1, len(rows)), _y(rows[-1].fill, top))


def _look(kind: str) -> str:
    """What was only foretold has the shape of a cleanup without its colour."""
    return "eth-m-cleanup" if kind == "foretold" else f"eth-m-{kind} eth-c-core"


def _at(name: str, x: int, y: int) -> Markup:
    return el("i", class_=f"eth-m {name}", style=f"left:{_tenth(x)};top:{_tenth(y)}")


def _step_labels(rows: Sequence[StepRow]) -> Iterator[Markup]:
    size = len(rows)
    for index in sorted({0, (size - 1) // 2, size - 1} if size > 4 else {0, size - 1}):
        label = f"step {grouped(rows[index].step)}" if index == 0 else grouped(rows[index].step)
        shift = {0: ";--b:0"}.get(index, ";--b:-100%" if index == size - 1 else "")
        yield el("i", class_="eth-x", style=f"left:{_tenth(_x(index, size))}{shift}", data_l=label)


def _key(rows: Sequence[StepRow], levels: Levels) -> Markup:
    entries = [
        el("li", el("i", class_=f"eth-m {_look(kind)}"), f" {said(kind)}: {numbered(steps, 'step')}")
        for kind in reversed(KINDS)
        if (steps := steps_of(rows, kind))
    ]
    named = ", ".join(f"{name} {percent(level)}" for name, level in _named(levels))
    entries.append(el("li", f"levels: {named}", class_="eth-dim"))
    return el("ul", lines(entries), class_="eth-key")


def _named(levels: Levels) -> tuple[tuple[str, int], ...]:
    return (("cleanup", levels.cleanup), ("nudge", levels.nudge), ("landing", levels.landing))


def _tenth(units: int) -> str:
    """Units of 1,000 as a CSS percentage."""
    whole, rest = divmod(units, 10)
    return f"{whole}.{rest}%" if rest else f"{whole}%"
