"""Plan as text and HTML: what leaves, by which rule, where it can be read again, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.plan import SHOWN_ACTS, Plan, Price, Verdict
from ethang_nb.views.excerpt import excerpt, fitting, rows_within, size
from ethang_nb.views.limits import ADDRESS, BODY_BYTES, OPEN_ROWS, ROWS, TITLE
from ethang_nb.views.markup import Markup, address, breakable, el, lines
from ethang_nb.views.numbers import count, grouped, percent, tokens
from ethang_nb.views.plain import Column, indented, line, opened, table
from ethang_nb.views.stylesheet import output

__all__ = ["change", "changes", "headline", "html", "part", "price", "text"]

ALLOWANCE = 25_000  # ► bytes of the table when it is an output of its own


def headline(plan: Plan) -> str:
    """The outcome with totals before and after, in one sentence."""
    marks = [word for word, on in (("forced", plan.forced), ("asked for", plan.asked)) if on]
    name = plan.outcome + (f" ({', '.join(marks)})" if marks else "")
    return f"{name}: {change(plan)}"


def change(plan: Plan) -> str:
    """Tokens and fill before and after."""
    if plan.before == plan.after:
        return f"{tokens(plan.before)} stay, {percent(plan.fill_before)} full"
    fill = f"{percent(plan.fill_before)} → {percent(plan.fill_after)} full"
    return f"{grouped(plan.before)} → {tokens(plan.after)}, {fill}"


def changes(plan: Plan) -> tuple[Verdict, ...]:
    """The verdicts that change something."""
    return tuple(item for item in plan.verdicts if item.act != "stay")


def _staying(plan: Plan) -> str:
    """How many segments a plan leaves as they are. It has no verdicts on what can never leave."""
    stay = len(plan.verdicts) - len(changes(plan))
    return f"{count(stay, 'segment')} {'stays' if stay == 1 else 'stay'}, and the fixed parts."


def price(cost: Price) -> str:
    """What the change costs at the provider's cache, in one sentence. It informs, it does not decide."""
    pays = (
        "never pays at these prices"
        if cost.pays_after is None
        else f"pays after {count(cost.pays_after, 'call')}"
    )
    return (
        f"Cached prefix breaks after {tokens(cost.prefix)}; {grouped(cost.again)} are processed again; "
        f"every later request is {grouped(cost.saved)} shorter; {pays}."
    )


def _rates(cost: Price) -> str:
    """The cache prices it was reckoned with, as shares of the price of fresh input."""
    read, write = percent(cost.read_per_mille), percent(cost.write_per_mille)
    whose = "usual prices" if cost.usual else "the model's prices"
    return f"Reckoned with {whose}: cache reads at {read} of the input price, writes at {write}."


def text(plan: Plan, *, more: str = "") -> str:
    """The plan for a terminal of 80 columns; `more` is a sentence to be said besides."""
    changed = changes(plan)
    said = [*indented(f"{opened(headline(plan))}. Policy {line(plan.policy, 40)}.", "")]
    said += indented(line(plan.reason, 400), "") if plan.reason else []
    said += indented(f"{line(more, 400)}.", "") if more else []
    if changed:
        said += ["", *_text_changes(changed)]
    if plan.verdicts:
        said += ["", _staying(plan)]
    if plan.note_tokens:
        said.append(f"{tokens(plan.note_tokens)} reserved for the handoff note.")
    if plan.price:
        said += indented(price(plan.price), "")
        said += [] if plan.price.usual else indented(_rates(plan.price), "")
    if plan.digest:
        said.append(f"digest {line(plan.digest, 80)}")
    return "\n".join(said)


def part(
    plan: Plan,
    *,
    most: int = ROWS,
    allowance: int = ALLOWANCE,
    where: str = "plan.verdicts",
    reason: bool = True,
) -> Markup:
    """The plan as a piece of a larger view: why (`reason`), what changes as a table, and what it costs."""
    changed = changes(plan)
    kept = _staying(plan) if plan.verdicts else ""
    note = f" {tokens(plan.note_tokens)} reserved for the handoff note." if plan.note_tokens else ""
    return lines(
        [
            el("p", line(plan.reason, 400)) if plan.reason and reason else None,
            _table(changed, most, allowance, where) if changed else None,
            el("p", kept + note) if kept or note else None,
            el("p", price(plan.price), " ", _rates(plan.price), class_="eth-dim") if plan.price else None,
            el("p", "digest ", el("code", line(plan.digest, 80)), class_="eth-dim") if plan.digest else None,
        ]
    )


def html(plan: Plan, *, more: str = "") -> str:
    """The plan as a stored output: the outcome and `more`, and the rest in `<details>`, open where it is short."""
    said = lines(
        [
            el("p", el("strong", opened(headline(plan))), f". Policy {line(plan.policy, 40)}."),
            el("p", f"{line(more, 400)}.") if more else None,
        ]
    )
    many = len(changes(plan))
    summary = el("summary", f"What changes: {count(many, 'segment')}")
    body = fitting((part(plan, most=most) for most in (ROWS, 10, 2)), BODY_BYTES - size(said))
    return output(said, el("details", summary, body, open=0 < many <= OPEN_ROWS), label="Plan")


def _table(changed: Sequence[Verdict], most: int, allowance: int, where: str) -> Markup:
    head = el(
        "tr",
        el("th", "segment", scope="col"),
        el("th", "tokens", scope="col", class_="eth-n"),
        *(el("th", name, scope="col") for name in ("what happens", "by which rule", "read again at")),
    )
    body = rows_within(
        changed,
        _row,
        lambda said: el("tr", el("td", said, colspan=5, class_="eth-dim")),
        where=f"[v for v in {where} if v.act != 'stay']",
        most=most,
        allowance=allowance,
    )
    return el("table", el("thead", head), el("tbody", body), class_="eth-cards")


def _row(verdict: Verdict) -> Markup:
    return el(
        "tr",
        el("th", breakable(line(verdict.title, TITLE)), scope="row"),
        el("td", f"{grouped(verdict.before)} → {grouped(verdict.after)}", class_="eth-n"),
        el("td", el("span", SHOWN_ACTS[verdict.act], class_="eth-v eth-leaves")),
        el("td", _rule(verdict), class_="eth-w"),
        el("td", address(verdict.address), class_="eth-w"),
    )


def _rule(verdict: Verdict) -> str:
    return line(verdict.reason, 160) or line(verdict.code, 40)


def _text_changes(changed: Sequence[Verdict]) -> list[str]:
    columns = (
        Column(head="", width=9),
        Column(head="segment", width=45),
        Column(head="before", width=9, align=">"),
        Column(head="after", width=8, align=">"),
    )
    shown = excerpt(changed, ROWS)
    said = table(columns, [], indent="")
    for item in shown.head:
        said += _text_row(item, columns)
    if shown.hidden:
        said.append(shown.gap("[v for v in plan.verdicts if v.act != 'stay']"))
    for item in shown.tail:
        said += _text_row(item, columns)
    return said


def _text_row(verdict: Verdict, columns: Sequence[Column]) -> list[str]:
    cells = (
        SHOWN_ACTS[verdict.act],
        line(verdict.title, TITLE),
        grouped(verdict.before),
        grouped(verdict.after),
    )
    under = indented(_rule(verdict), " " * 11) if _rule(verdict) else []
    if verdict.address:
        under.append(" " * 11 + "read again: " + line(verdict.address, ADDRESS))
    return table(columns, [cells], indent="")[1:] + under
