"""Report: one self-contained HTML page of a snapshot, and of a run where one is given.

It needs no script and no network, works from `file://`, and a policy in its head forbids both. The caller
writes it to a file. The same snapshot gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ethang_nb.context.snapshot import Diff, Snapshot
from ethang_nb.views import bar, budget, chart, context, diff, pins, plan, segments, timeline, words
from ethang_nb.views import run as run_view
from ethang_nb.views.limits import ANSWER_REPORT, FACTS_REPORT, NOTE_REPORT, PREVIEW, ROWS_REPORT
from ethang_nb.views.markup import Markup, el, lines, style_sheet
from ethang_nb.views.numbers import percent
from ethang_nb.views.plain import line, opened, visible
from ethang_nb.views.run import RunLike
from ethang_nb.views.stylesheet import for_page

__all__ = ["body", "heading", "report"]

EVERYTHING = 20_000_000  # ► bytes of one table: only hostile data comes near
TALL = 40  # ► segments from which on their table scrolls in a box of its own
TASK = 4_000  # ► characters of the task
NO_SCRIPT = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

_CELL = re.compile(r"<(tr|td|th|table|thead|tbody)( [^>]*)?>")
_ROLES = {"tr": "row", "td": "cell", "table": "table", "thead": "rowgroup", "tbody": "rowgroup"}


def report(snapshot: Snapshot, run: RunLike | None = None, title: str = "") -> str:
    """The whole page. Without a title it is called after the session."""
    name = heading(snapshot, title)
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", http_equiv="Content-Security-Policy", content=NO_SCRIPT),
        el("meta", name="color-scheme", content="light dark"),
        el("title", name),
        style_sheet(for_page()),
    )
    main = el("main", body(snapshot, run, name), class_="eth-view eth-report")
    page = el("body", main, class_="eth-page")
    return f"<!doctype html>\n{el('html', lines([head, page]), lang='en')}\n"


def heading(snapshot: Snapshot, title: str = "") -> str:
    """What a page is called."""
    return line(title, 120) or f"Context of {line(snapshot.name, 80)}"


def body(snapshot: Snapshot, run: RunLike | None, name: str) -> Markup:
    """All that a page called `name` shows."""
    parts = _parts(snapshot)
    return lines(
        [
            _header(snapshot, run, name),
            _navigation(parts),
            _run(run) if run else None,
            _figure(snapshot),
            *(_section(part_id, head, part) for part_id, head, part in parts),
            _footer(snapshot),
        ]
    )


def _header(snapshot: Snapshot, run: RunLike | None, name: str) -> Markup:
    if run is None:
        pill = el("span", context.state(snapshot), class_="eth-pill")
    else:
        pill = el("span", run_view.ending(run), class_=f"eth-pill {run_view.tone(run)}")
    session = f"session {line(snapshot.name, 60)} · {context.about(snapshot)}"
    return el("header", el("h1", name), pill, el("p", session, class_="eth-dim"))


def _navigation(parts: Sequence[tuple[str, str, Markup]]) -> Markup:
    links = [el("a", head, href=f"#eth-{part_id}") for part_id, head, _ in parts]
    return el("nav", lines(links), aria_label="Parts of this page")


def _run(run: RunLike) -> Markup:
    """Task and answer. They stand on top, because they are what the person came for."""
    fault = run_view.fault(run)
    answer = run_view.answer(run, ANSWER_REPORT)
    task = visible(run.task[:TASK]) + ("…" if len(run.task) > TASK else "")
    return el(
        "section",
        el("pre", task, class_="eth-task", aria_label="Task"),
        el("p", fault, class_="eth-stop") if fault else None,
        el("div", el("pre", answer), class_="eth-said", role="group", aria_label="Answer")
        if run.answer
        else None,
        el("p", f"{opened(run_view.ending(run))}: {run_view.figures(run)}.", class_="eth-dim"),
        aria_label="Task and answer",
    )


def _figure(snapshot: Snapshot) -> Markup:
    found = snapshot.budget
    number = percent(found.fill).removesuffix(" %")
    return el(
        "section",
        el(
            "div",
            el("strong", number, el("small", " % full"), class_="eth-big"),
            el("p", budget.sentence(found), class_="eth-dim"),
            class_="eth-figure",
        ),
        *(el("p", warning, class_="eth-warn") for warning in budget.warnings(found)),
        bar.bar(found),
        _with_roles(budget.legend(found)),
        aria_label="Budget",
    )


def _parts(snapshot: Snapshot) -> list[tuple[str, str, Markup]]:
    """The parts below the budget: id, heading, body. Those that would be empty are left out."""
    found = [
        ("steps", "Fill, step by step", _steps(snapshot)),
        ("next", "Next cleanup", _next(snapshot)),
    ]
    found.append(("segments", "Segments", _segments(snapshot)))
    if snapshot.diffs:
        found.append(("cleanups", "Cleanups", _cleanups(snapshot.diffs)))
    if snapshot.pins:
        found.append(("pins", "Pins", _pins(snapshot)))
    if snapshot.notices:
        found.append(("notices", "Notices", _notices(snapshot.notices)))
    return found


def _section(part_id: str, head: str, body: Markup) -> Markup:
    return el("section", el("h2", head), body, id=f"eth-{part_id}")


def _steps(snapshot: Snapshot) -> Markup:
    rows = snapshot.timeline
    if not rows:
        return el("p", "No request has been made yet.", class_="eth-dim")
    table = timeline.rows_table(rows, most=ROWS_REPORT, allowance=EVERYTHING, where="snapshot.timeline")
    folded = el(
        "details",
        el("summary", "Every step as a table"),
        el("div", table, class_="eth-scroll eth-wide", tabindex=0),
    )
    return lines([chart.chart(rows, snapshot.budget.levels), folded])


def _next(snapshot: Snapshot) -> Markup:
    said = el("p", el("strong", opened(context.coming(snapshot))), ".")
    body = plan.part(
        snapshot.plan,
        most=ROWS_REPORT,
        allowance=EVERYTHING,
        where="snapshot.plan.verdicts",
        reason=bool(context.reason(snapshot)),
    )
    return lines([said, el("div", body, class_="eth-scroll", tabindex=0)])


def _segments(snapshot: Snapshot) -> Markup:
    if not snapshot.segments:
        return el("p", "Nothing is in the window yet.", class_="eth-dim")
    table = segments.part(
        snapshot.segments,
        pins=snapshot.pins,
        most=ROWS_REPORT,
        allowance=EVERYTHING,
        where="snapshot.segments",
        drawn=True,
    )
    if len(snapshot.segments) <= TALL:
        return _with_roles(table)
    return el(
        "div",
        _with_roles(table),
        class_="eth-tall",
        tabindex=0,
        role="region",
        aria_label="Segments, scrollable",
    )


def _cleanups(diffs: Sequence[Diff]) -> Markup:
    """Newest first; the newest is open."""
    folded = []
    for index, item in enumerate(reversed(diffs)):
        facts = el("small", f" facts: {diff.survival(item)}") if item.facts else None
        body = diff.part(
            item, whole_note=NOTE_REPORT, facts=FACTS_REPORT, rows=ROWS_REPORT, allowance=EVERYTHING
        )
        folded.append(
            el("details", el("summary", opened(diff.headline(item)), ".", facts), body, open=index == 0)
        )
    return lines(folded)


def _pins(snapshot: Snapshot) -> Markup:
    return pins.part(snapshot.pins, most=ROWS_REPORT, allowance=EVERYTHING, where="snapshot.pins")


def _notices(notices: Sequence[str]) -> Markup:
    return el("ul", lines(el("li", line(item, PREVIEW)) for item in notices[-ROWS_REPORT:]))


def _footer(snapshot: Snapshot) -> Markup:
    return el(
        "footer",
        words.part(),
        el("p", f"{diff.BOUND} Every number here can be printed: it is a field of the snapshot."),
        el("p", f"Drawn by ethang_nb from a snapshot of version {snapshot.version}."),
    )


def _with_roles(table: Markup) -> Markup:
    """The table with its roles spelled out: laid out as cards on a narrow page, it stays one to a screen reader."""

    def spelled(match: re.Match[str]) -> str:
        tag, rest = match.group(1), match.group(2) or ""
        role = _ROLES.get(tag) or ("rowheader" if 'scope="row"' in rest else "columnheader")
        return f'<{tag}{rest} role="{role}">'

    return Markup(_CELL.sub(spelled, table))
