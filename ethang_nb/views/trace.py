"""A trace as text and HTML: every place that holds or held a text, what became of it, and where to read it again."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.agent.trace import Place, Trace
from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.limits import ADDRESS, PREVIEW, ROWS, TITLE
from ethang_nb.views.markup import Markup, address, breakable, el, lines
from ethang_nb.views.numbers import count, grouped
from ethang_nb.views.plain import indented, line, opened
from ethang_nb.views.stylesheet import output

__all__ = ["happened", "html", "part", "place", "stands", "summary", "text"]

ALLOWANCE = 30_000  # ► bytes of the table
WANTED = 60  # characters of the text that was looked for

_FORMS = {"spilled": "cut on entry", "stub": "as one line", "shrunk": "shrunk", "squeezed": "squeezed"}
_HOW = {
    "cut": "cut as it entered",
    "collapse": "became one line",
    "shrink": "was shrunk",
    "squeeze": "was squeezed",
    "evict": "left",
    "remove": "was taken out",
}


def summary(trace: Trace) -> str:
    """In how many places of the window it is, and how many it left."""
    wanted = f"“{line(trace.text, WANTED)}”"
    record = f"the record of session {line(trace.session, 60)} ({count(trace.events, 'event')})"
    if not trace.places:
        return f"{wanted} is nowhere: neither in the window nor in {record}"
    here = sum(item.in_window for item in trace.places)
    gone = len(trace.places) - here
    in_window = f"in {count(here, 'place')} of the window" if here else "no longer in the window"
    return f"{wanted} is {in_window}; it left {count(gone, 'place')}" if gone else f"{wanted} is {in_window}"


def place(item: Place) -> str:
    """What holds or held it: "segment 4, read_file docs/c_03.txt"."""
    title = line(item.title, TITLE)
    return f"segment {item.segment}, {title}" if item.segment else title


def stands(item: Place) -> str:
    """Whether it is in the window, and in which form its segment stands there."""
    return ", ".join(part for part in _now(item) if part)


def _now(item: Place) -> tuple[str, str]:
    form = _FORMS.get(item.form, "")
    if item.in_window:
        return "in the window", form
    return "out of the window", f"its segment stands there {form or 'whole'}" if item.form else ""


def happened(item: Place) -> str:
    """When it came, and how it left: "came after step 4; became one line at step 8 (release)"."""
    came = f"came after step {grouped(item.step)}" if item.step else "came before step 1"
    said = [came] if item.segment else []
    said += [
        f"{_HOW.get(left.how, line(left.how, 40))} at step {grouped(left.step)} ({line(left.by, 40)})"
        for left in item.left
    ]
    return "; ".join(said)


def text(trace: Trace) -> str:
    """The trace for a terminal of 80 columns."""
    said = indented(f"{opened(summary(trace))}.", "")
    shown = excerpt(trace.places, ROWS)
    for at, item in enumerate((*shown.head, *shown.tail)):
        if shown.hidden and at == len(shown.head):
            said += ["", shown.gap("trace.places")]
        said += ["", *indented(opened(place(item)), "")]
        said += indented(f"now {stands(item)}" + (f"; {happened(item)}" if happened(item) else ""))
        said += indented(f"“{line(item.excerpt, PREVIEW)}”")
        where = [
            f"record: {line(item.logged, ADDRESS)}" if item.logged and item.logged != item.address else "",
            f"read again: {line(item.address, ADDRESS)}" if item.address else "",
        ]
        said += [f"  {part}" for part in where if part]
    return "\n".join(said)


def part(trace: Trace) -> Markup:
    """The trace as a piece of a stored output."""
    said = el("p", el("strong", opened(summary(trace))), ".")
    return lines([said, _table(trace.places) if trace.places else None])


def html(trace: Trace) -> str:
    """The trace as a stored output."""
    return output(part(trace), label="Trace")


def _table(places: Sequence[Place]) -> Markup:
    head = el(
        "tr",
        *(el("th", name, scope="col") for name in ("where", "now", "what happened to it", "read again at")),
    )
    body = rows_within(
        places,
        _row,
        lambda said: el("tr", el("td", said, colspan=4, class_="eth-dim")),
        where="trace.places",
        most=ROWS,
        allowance=ALLOWANCE,
    )
    return el("table", el("thead", head), el("tbody", body), class_="eth-cards")


def _row(item: Place) -> Markup:
    logged = item.logged if item.logged != item.address else ""
    tone = "eth-ok" if item.in_window else "eth-leaves"
    now, rest = _now(item)
    return el(
        "tr",
        el("th", breakable(place(item)), scope="row"),
        el("td", el("span", now, class_=f"eth-v {tone}"), f" {rest}" if rest else None),
        el("td", happened(item), el("p", line(item.excerpt, PREVIEW), class_="eth-dim"), class_="eth-w"),
        el("td", address(item.address), " " if logged else None, address(logged), class_="eth-w"),
    )
