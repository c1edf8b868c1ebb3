"""Applied as text and HTML: how much would be sent, and what left with the address at which it can be read again."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.plan import SHOWN_ACTS, Applied, Removed
from ethang_nb.views.excerpt import fitting, rows_within, size
from ethang_nb.views.limits import ADDRESS, BODY_BYTES, OPEN_ROWS, ROWS, TITLE
from ethang_nb.views.markup import Markup, address, breakable, el
from ethang_nb.views.numbers import count, grouped, tokens
from ethang_nb.views.plain import Column, indented, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["headline", "html", "text"]

_HEADS = ("removed", "tokens", "how", "read again at")


def headline(applied: Applied) -> str:
    """How much would be sent and how much left, in one sentence."""
    sent = count(len(applied.messages), "message")
    left = count(len(applied.removed), "text")
    return (
        f"{sent} to send, at most {tokens(applied.tokens)}; {left} removed, {tokens(_sum(applied.removed))}"
    )


def text(applied: Applied) -> str:
    """For a terminal of 80 columns."""
    said = indented(f"{headline(applied)}.", "")
    if not applied.removed:
        return "\n".join(said)
    columns = (
        Column(head=_HEADS[0], width=50),
        Column(head=_HEADS[1], width=9, align=">"),
        Column(head=_HEADS[2], width=10),
    )
    said += ["", *table(columns, [], indent="")]
    for item in applied.removed[:ROWS]:
        said += table(
            columns, [(line(item.title, TITLE), grouped(item.tokens), SHOWN_ACTS[item.how])], indent=""
        )[1:]
        if item.address:
            said.append(f"  read again: {line(item.address, ADDRESS)}")
    if len(applied.removed) > ROWS:
        said.append(_gap(applied.removed, ROWS))
    return "\n".join(said)


def html(applied: Applied) -> str:
    """As a stored output: the sum, and what was removed as a table in `<details>`, open where it is short."""
    said = el("p", el("strong", f"{headline(applied)}."))
    if not applied.removed:
        return output(said, label="Applied plan")
    body = fitting(
        (_table(applied.removed, most) for most in (ROWS, 10, 2)),
        BODY_BYTES - size(said),
    )
    summary = el("summary", f"What was removed: {count(len(applied.removed), 'text')}")
    details = el("details", summary, body, open=len(applied.removed) <= OPEN_ROWS)
    return output(said, details, label="Applied plan")


def _table(removed: Sequence[Removed], most: int) -> Markup:
    first, number, *rest = _HEADS
    head = el(
        "tr",
        el("th", first, scope="col"),
        el("th", number, scope="col", class_="eth-n"),
        *(el("th", name, scope="col") for name in rest),
    )
    body = rows_within(
        removed,
        _row,
        lambda said: el("tr", el("td", said, colspan=4, class_="eth-dim")),
        where="applied.removed",
        most=most,
        first=most,
        allowance=BODY_BYTES,
    )
    return el("table", el("thead", head), el("tbody", body), class_="eth-cards")


def _row(item: Removed) -> Markup:
    return el(
        "tr",
        el("th", breakable(line(item.title, TITLE)), scope="row"),
        el("td", grouped(item.tokens), class_="eth-n"),
        el("td", el("span", SHOWN_ACTS[item.how], class_="eth-v eth-leaves")),
        el("td", address(item.address), class_="eth-w"),
    )


def _gap(removed: Sequence[Removed], shown: int) -> str:
    return f"… {grouped(len(removed) - shown)} more; see applied.removed[{shown}:]"


def _sum(removed: Sequence[Removed]) -> int:
    return sum(item.tokens for item in removed)
