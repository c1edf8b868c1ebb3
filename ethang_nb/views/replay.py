"""A replay as text and HTML: what a policy does over a whole transcript, step by step, with no model call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ethang_nb.context.snapshot import StepRow
from ethang_nb.context.timeline import Step, Timeline
from ethang_nb.views import timeline as steps
from ethang_nb.views.chart import chart
from ethang_nb.views.excerpt import rows_within
from ethang_nb.views.limits import ROWS
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import count, grouped, percent, tokens
from ethang_nb.views.plain import Column, indented, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["figures", "happenings", "headline", "html", "text"]

ALLOWANCE = 20_000  # ► bytes of the table
CURVE = 50  # cells of the small chart in the text form
_BLOCKS = "▁▂▃▄▅▆▇█"
_COUNTED = (
    ("nudge", "nudge", "nudges"),
    ("cleanup", "cleanup", "cleanups"),
    ("reseed", "reseed", "reseeds"),
    ("idle", "idle step", "idle steps"),
    ("stuck", "stuck step", "stuck steps"),
)


def headline(timeline: Timeline) -> str:
    """How many steps, under which policy and window."""
    settings = timeline.settings
    band = settings.levels
    named = f"nudge {percent(band.nudge)}, cleanup {percent(band.cleanup)}, landing {percent(band.landing)}"
    return (
        f"{count(len(timeline), 'step')} replayed with policy {line(settings.policy.name, 40)} in a window of "
        f"{tokens(settings.window.total)}, {grouped(settings.usable)} of them usable ({named})"
    )


def figures(timeline: Timeline) -> str:
    """p95 and the highest fill, and what happened how often."""
    fills = timeline.fills
    worst = max(range(len(fills)), key=fills.__getitem__)
    found: Counter[str] = Counter(step.outcome for step in timeline)
    found["reseed"] = sum(step.reseed for step in timeline)
    counted = ", ".join(count(found[kind], one, many) for kind, one, many in _COUNTED)
    return f"p95 {percent(timeline.p95)}, highest {percent(fills[worst])} at step {grouped(worst + 1)}; {counted}"


def happenings(timeline: Sequence[Step]) -> list[StepRow]:
    """A row for every step, as the chart takes them; what lasts over several steps is told at the first."""
    rows: list[StepRow] = []
    before = ""
    for step in timeline:
        events = ("reseed",) if step.reseed else ()
        if step.outcome not in ("nothing", "reseed") and not (
            step.outcome in ("idle", "stuck") and step.outcome == before
        ):
            events = (*events, step.outcome)
        before = step.outcome
        rows.append(
            StepRow(
                step=step.step,
                fill=step.fill,
                tokens=step.tokens,
                events=events,
                kinds=events,
                before=step.before,
            )
        )
    return rows


def text(timeline: Timeline, *, more: str = "") -> str:
    """The replay for a terminal of 80 columns; `more` is a sentence to be said besides."""
    rows = happenings(timeline)
    said = [*indented(f"{headline(timeline)}.", ""), *indented(f"{figures(timeline)}.", "")]
    said += indented(more, "") if more else []
    said += [f"mended: {line(item, 200)}" for item in timeline.repairs[:ROWS]]
    said += ["", _curve(timeline.fills)]
    happened = [row for row in rows if row.events]
    if not happened:
        return "\n".join([*said, "", "Nothing happened at any step."])
    columns = (
        Column(head="step", width=6, align=">"),
        Column(head="fill", width=8, align=">"),
        Column(head="", width=steps.GAUGE),
        Column(head="tokens", width=9, align=">"),
        Column(head="what happened before it was sent", width=steps.WHAT),
    )
    shown = happened[:ROWS]
    said += ["", *table(columns, [_cells(row) for row in shown], indent="")]
    rest = len(happened) - len(shown)
    return "\n".join([*said, f"… {grouped(rest)} more"] if rest else said)


def html(timeline: Timeline, *, more: str = "") -> str:
    """The replay as a stored output: figures, `more` and chart in the open, the steps that matter as a table."""
    rows = happenings(timeline)
    happened = [row for row in rows if row.events]
    said = [
        el("p", el("strong", headline(timeline)), "."),
        el("p", f"{figures(timeline)}."),
        el("p", more, class_="eth-dim") if more else None,
        *(el("p", f"mended: {line(item, 200)}", class_="eth-dim") for item in timeline.repairs[:ROWS]),
        chart(rows, timeline.settings.levels),
        _folded(happened) if happened else el("p", "Nothing happened at any step.", class_="eth-dim"),
    ]
    return output(lines(said), label="Replay")


def _folded(happened: Sequence[StepRow]) -> Markup:
    summary = el("summary", f"{count(len(happened), 'step')} at which something happened")
    return el("details", summary, _table(happened))


def _table(happened: Sequence[StepRow]) -> Markup:
    head = el(
        "tr",
        *(el("th", name, scope="col", class_="eth-n") for name in ("step", "fill", "tokens")),
        el("th", "what happened before it was sent", scope="col"),
    )
    shown = happened[:ROWS]
    body = rows_within(
        shown,
        _row,
        lambda said: el("tr", el("td", said, colspan=4, class_="eth-dim")),
        where="timeline.rows()",
        most=ROWS,
        allowance=ALLOWANCE,
    )
    rest = len(happened) - len(shown)
    more = el("tr", el("td", f"… {grouped(rest)} more", colspan=4, class_="eth-dim")) if rest else None
    return el("table", el("thead", head), el("tbody", body, more))


def _row(row: StepRow) -> Markup:
    return el(
        "tr",
        el("th", grouped(row.step), scope="row", class_="eth-n"),
        el("td", percent(row.fill), class_="eth-n"),
        el("td", grouped(row.tokens), class_="eth-n"),
        el("td", steps.events(row)),
    )


def _cells(row: StepRow) -> tuple[str, ...]:
    return (
        grouped(row.step),
        percent(row.fill),
        steps.gauge(row.fill),
        grouped(row.tokens),
        steps.events(row),
    )


def _curve(fills: Sequence[int]) -> str:
    """The fill over all steps in at most `CURVE` cells, the highest of each; "▲" stands for over 100 %."""
    size = min(CURVE, len(fills))
    tops = [max(fills[at * len(fills) // size : (at + 1) * len(fills) // size]) for at in range(size)]
    cells = ("▲" if top > 1_000 else _BLOCKS[min(top * len(_BLOCKS) // 1_000, 7)] for top in tops)
    return f"fill  {''.join(cells)}  {percent(fills[-1])} at the last"
