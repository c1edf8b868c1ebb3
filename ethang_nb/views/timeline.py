"""Timeline as text and HTML: fill per request, what happened before it, and the five numbers of every step."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.snapshot import StepRow
from ethang_nb.context.window import Levels
from ethang_nb.views.chart import KINDS, chart, steps_of
from ethang_nb.views.chart import said as named
from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.limits import ROWS
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import count, grouped, numbered, percent
from ethang_nb.views.plain import Column, cells, indented, line, middle, opened, table
from ethang_nb.views.stylesheet import output

__all__ = ["events", "gauge", "html", "part", "rows_table", "summary", "text"]

ALLOWANCE = 20_000  # ► bytes of the table when it is an output of its own
GAUGE = 10  # cells of the small bar in the text form
WHAT = 39  # cells of what happened
SHORTEST = 14  # cells below which the newest message is not named
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def summary(rows: Sequence[StepRow]) -> str:
    """How many steps, where fill stands, and what happened how often."""
    if not rows:
        return "no step yet"
    said = [f"{count(len(rows), 'step')}, {percent(rows[-1].fill)} full at the last"]
    said.extend(
        f"{named(kind)} at {numbered(steps, 'step')}"
        for kind in reversed(KINDS)
        if (steps := steps_of(rows, kind))
    )
    return "; ".join(said)


def events(row: StepRow) -> str:
    """What happened before this request, with the fill a cleanup started from."""
    said = ", ".join(line(event, 100) for event in row.events)
    before = "" if row.before is None else f"from {percent(row.before)}"
    return ", ".join(part for part in (before, said) if part)


def gauge(fill: int, width: int = GAUGE) -> str:
    """A small bar of `width` cells for a fill in per mille; over 100 % it ends in "▶"."""
    if fill > 1_000:
        return "█" * (width - 1) + "▶"
    full, rest = divmod(max(0, fill) * width * 8 // 1_000, 8)
    return ("█" * full + _EIGHTHS[rest]).ljust(width, "·")


def text(rows: Sequence[StepRow], most: int = ROWS, where: str = "timeline") -> str:
    """One line a step: fill, a small bar, tokens, events."""
    columns = (
        Column(head="step", width=6, align=">"),
        Column(head="fill", width=8, align=">"),
        Column(head="", width=GAUGE),
        Column(head="tokens", width=9, align=">"),
        Column(head="before it was sent", width=WHAT),
    )
    said = indented(opened(summary(rows)) + ".", "")
    if not rows:
        return said[0]
    shown = excerpt(rows, most, first=most // 8)
    said += table(columns, [_cells(row) for row in shown.head], indent="")
    if shown.hidden:
        said.append(shown.gap(where))
    said += table(columns, [_cells(row) for row in shown.tail], indent="")[1:]
    return "\n".join(said)


def part(
    rows: Sequence[StepRow],
    levels: Levels | None = None,
    *,
    most: int = ROWS,
    allowance: int = ALLOWANCE,
    where: str = "timeline",
) -> Markup:
    """The chart, where the levels are known, and the table."""
    drawing = chart(rows, levels) if levels else None
    return lines([drawing, rows_table(rows, most=most, allowance=allowance, where=where)])


def rows_table(rows: Sequence[StepRow], *, most: int, allowance: int, where: str) -> Markup:
    """The steps as a table with the five numbers of each."""
    head = el(
        "tr",
        el("th", "step", scope="col", class_="eth-n"),
        *(el("th", name, scope="col", class_="eth-n") for name in ("fill", "tokens")),
        el("th", "before it was sent", scope="col"),
        *(
            el("th", name, scope="col", class_="eth-n")
            for name in ("fixed", "task", "history", "output", "headroom")
        ),
    )
    body = rows_within(
        rows,
        _row,
        lambda said: el("tr", el("td", said, colspan=9, class_="eth-dim")),
        where=where,
        most=most,
        allowance=allowance,
        first=most // 8,
    )
    return el("table", el("caption", summary(rows)), el("thead", head), el("tbody", body))


def html(rows: Sequence[StepRow]) -> str:
    """The timeline as a stored output: the summary, and the table in a closed `<details>`."""
    box = el("details", el("summary", opened(summary(rows))), part(rows))
    return output(box, label="Timeline")


def _row(row: StepRow) -> Markup:
    numbers = (row.fixed, row.task, row.history, row.output, row.headroom)
    what = "; ".join(item for item in (events(row), line(row.what, 100)) if item)
    return el(
        "tr",
        el("th", grouped(row.step), scope="row", class_="eth-n"),
        el("td", percent(row.fill), class_="eth-n"),
        el("td", grouped(row.tokens), class_="eth-n"),
        el("td", what),
        *(el("td", grouped(number), class_="eth-n") for number in numbers),
    )


def _cells(row: StepRow) -> tuple[str, ...]:
    happened = events(row)
    room = WHAT - cells(happened) - 2 if happened else WHAT
    what = middle(line(row.what, 100), room) if room >= SHORTEST else ""
    said = "; ".join(item for item in (happened, what) if item)
    return (grouped(row.step), percent(row.fill), gauge(row.fill), grouped(row.tokens), said)
