"""A start from the core as text and HTML: what leaves that the core does not hold, and what the core holds then."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.agent.reseeding import ReseedPlan
from ethang_nb.context.snapshot import Left
from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.limits import ADDRESS, ANSWER, OPEN_ROWS, ROWS, TITLE
from ethang_nb.views.markup import Markup, address, breakable, el, lines
from ethang_nb.views.numbers import count, grouped, tokens
from ethang_nb.views.plain import Column, indented, line, opened, table, visible
from ethang_nb.views.plan import change, price
from ethang_nb.views.stylesheet import output

__all__ = ["headline", "html", "missing", "text"]

ALLOWANCE = 25_000  # ► bytes of the table when it is an output of its own


def headline(plan: ReseedPlan) -> str:
    """What a start from the core does to the totals, in one sentence."""
    done = "start from the core" if plan.lands else "no start from the core"
    return f"{done}: {change(plan)}"


def missing(plan: ReseedPlan) -> str:
    """How much of what leaves the core does not hold."""
    items = plan.not_held.items
    if not items:
        return "Nothing leaves that the core does not hold."
    verb = "leaves" if len(items) == 1 else "leave"
    return (
        f"{count(len(items), 'segment')} of {tokens(plan.not_held.tokens)} {verb} that the core does not hold; all of "
        "it stays in the record."
    )


def text(plan: ReseedPlan) -> str:
    """The plan for a terminal of 80 columns."""
    said = [*indented(f"{opened(headline(plan))}. Policy {line(plan.policy, 40)}.", "")]
    said += indented(line(plan.reason, 400), "") if plan.reason else []
    if not plan.lands:
        return "\n".join(said)
    if plan.not_held.warning:
        said += ["", *indented(f"! {opened(plan.not_held.warning)}.", "")]
    said += ["", *indented(missing(plan), "")]
    said += _text_rows(plan.not_held.items)
    if plan.core:
        said += ["", "The core then:", *indented(visible(plan.core[:ANSWER]))]
    if plan.price:
        said += ["", *indented(price(plan.price), "")]
    return "\n".join(said)


def html(plan: ReseedPlan) -> str:
    """The plan as a stored output."""
    said = lines(
        [
            el("p", el("strong", opened(headline(plan))), f". Policy {line(plan.policy, 40)}."),
            el("p", line(plan.reason, 400)) if plan.reason else None,
        ]
    )
    if not plan.lands:
        return output(said, label="Start from the core")
    items, warning = plan.not_held.items, plan.not_held.warning
    folded = [
        el("details", el("summary", missing(plan)), _table(items), open=len(items) <= OPEN_ROWS)
        if items
        else el("p", missing(plan)),
        el("details", el("summary", "The core then"), el("pre", visible(plan.core[:ANSWER])))
        if plan.core
        else None,
        el("p", price(plan.price), class_="eth-dim") if plan.price else None,
    ]
    warned = el("p", f"{opened(warning)}.", class_="eth-warn") if warning else None
    return output(said, warned, *folded, label="Start from the core")


def _table(items: Sequence[Left]) -> Markup:
    head = el(
        "tr",
        el("th", "not in the core", scope="col"),
        el("th", "tokens", scope="col", class_="eth-n"),
        el("th", "read again at", scope="col"),
    )
    body = rows_within(
        items,
        _row,
        lambda said: el("tr", el("td", said, colspan=3, class_="eth-dim")),
        where="plan.not_held.items",
        most=ROWS,
        allowance=ALLOWANCE,
    )
    return el("table", el("thead", head), el("tbody", body), class_="eth-cards")


def _row(item: Left) -> Markup:
    return el(
        "tr",
        el("th", breakable(line(item.title, TITLE)), scope="row"),
        el("td", grouped(item.tokens), class_="eth-n"),
        el("td", address(item.address) or "the record", class_="eth-w"),
    )


def _text_rows(items: Sequence[Left]) -> list[str]:
    columns = (Column(head="not in the core", width=60), Column(head="tokens", width=9, align=">"))
    shown = excerpt(items, ROWS)
    said = table(columns, []) if items else []
    for at, item in enumerate((*shown.head, *shown.tail)):
        if shown.hidden and at == len(shown.head):
            said.append("  " + shown.gap("plan.not_held.items"))
        said += table(columns, [(line(item.title, TITLE), grouped(item.tokens))])[1:]
        if item.address:
            said.append("    read again: " + line(item.address, ADDRESS))
    return said
