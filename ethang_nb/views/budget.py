"""Budget as text and HTML: one sentence, the window to scale, and a table whose rows sum to the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb.context.budget import Budget, Slice
from ethang_nb.context.counting import How
from ethang_nb.views import bar as drawn
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import grouped, per_mille, percent, share, tokens
from ethang_nb.views.palette import swatch
from ethang_nb.views.plain import WIDTH, Column, indented, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["bar", "full", "html", "legend", "part", "rows", "rulers", "sentence", "text", "warnings"]

_HOW: dict[How, str] = {
    "exact": "counted exactly",
    "estimated": "estimated",
    "provider": "counted by the provider",
}
_HOW_ROW: dict[How, str] = {"exact": "exact", "estimated": "estimated", "provider": "provider"}
_UNITS = {"tools": "", "core": "pin"}
BEYOND_SENT = "more than may be sent"
OURS = 1000  # per mille: the provider counts as we do
FREE, BEYOND, UNSENDABLE, RESERVE, OVER = "·", "░", "×", "/", "!"
TOO_FULL = 900  # per mille of usable at p95: above it the budget is wrong (DESIGN section 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table: sign on the bar, name, tokens, share of usable ("" where it says nothing), how counted."""

    sign: str
    name: str
    tokens: int
    share: str
    how: str
    slug: str


def full(budget: Budget) -> str:
    """The fill as people read it: "68.4 % full"."""
    return f"{percent(budget.fill)} full"


def sentence(budget: Budget) -> str:
    """What is used, how it was counted, what still fits, and p95."""
    used = f"{grouped(budget.used)} of {grouped(budget.usable)} usable tokens, {_HOW[budget.how]}."
    p95 = "" if budget.p95 is None else f" p95 {percent(budget.p95)}."
    return f"{used} {_room(budget)}{p95}"


def warnings(budget: Budget) -> tuple[str, ...]:
    """What is wrong with the budget, with the next step; empty where nothing is."""
    said = []
    if budget.over:
        follows = (
            "whoever makes the requests sends them all the same; the provider may refuse or cut them."
            if budget.followed
            else "nothing is sent until something leaves or the window grows."
        )
        said.append(f"{grouped(budget.over)} tokens more than fit ({grouped(budget.hard)}): {follows}")
    if budget.p95 is not None and budget.p95 > TOO_FULL:
        said.append(
            f"p95 is above {percent(TOO_FULL)}: this budget is wrong for the work. Give a larger window, fewer tools, "
            "a smaller entry limit, or begin pieces of work more often."
        )
    if budget.unattributed:
        more = "more" if budget.unattributed > 0 else "fewer"
        said.append(f"The provider counted {grouped(abs(budget.unattributed))} {more} than we can place.")
    return tuple(said)


def rows(budget: Budget) -> tuple[Row, ...]:
    """Slices that hold something, then what is left of the window, as they sum to it."""
    window = budget.window
    kept = [_slice_row(budget, item) for item in budget.slices if item.tokens]
    rest = (
        (FREE, "free", budget.free, True, "free"),
        (BEYOND, "beyond effective", budget.beyond, False, "dots"),
        (UNSENDABLE, BEYOND_SENT, budget.unsendable, False, "dots"),
        (RESERVE, "reserve for the answer", window.reserve, False, "hatch"),
        (OVER, "over what fits", budget.over, False, "over"),
    )
    for sign, name, size, shared, slug in rest:
        if size or name == "free":
            part_of = share(size, budget.usable) if shared else ""
            kept.append(Row(sign=sign, name=name, tokens=size, share=part_of, how="", slug=slug))
    return tuple(kept)


def bar(budget: Budget, width: int = WIDTH) -> str:
    """The window in `width` characters: a letter per slice, then free, beyond effective and reserve.

    Whatever holds a token has at least one character while there is room for that.
    """
    window = budget.window
    parts = [(swatch(item.name).letter, item.tokens) for item in budget.slices if item.tokens]
    left = drawn.scale(budget) - budget.used
    after = []
    for sign, size in ((RESERVE, window.reserve), (UNSENDABLE, budget.unsendable), (BEYOND, budget.beyond)):
        after.append((sign, min(left, size)))
        left -= min(left, size)
    parts += [(FREE, left), *reversed(after)]
    shown = [(sign, size) for sign, size in parts if size > 0]
    sizes = _characters([size for _, size in shown], width)
    return "".join(sign * size for (sign, _), size in zip(shown, sizes, strict=True))


def rulers(budget: Budget, width: int = WIDTH) -> list[str]:
    """Lines under the bar: `^` at each level with its name, in as few lines as keep the names apart."""
    under: list[str] = []
    for mark in drawn.marks(budget):
        if mark.name == "answer":
            continue
        at = min(width - 1, mark.at * width // drawn.PARTS)
        label = f"^{mark.name} {mark.value}"
        start = at
        if at + len(label) > width:
            label, start = f"{mark.name} {mark.value}^", at - len(mark.name) - len(mark.value) - 1
        _put(under, max(0, start), label)
    return under


def text(budget: Budget) -> str:
    """The budget for a terminal of 80 columns."""
    columns = (
        Column(head="", width=1),
        Column(head="slice", width=30),
        Column(head="tokens", width=12, align=">"),
        Column(head="of usable", width=10, align=">"),
        Column(head="counted", width=10),
    )
    body = [(row.sign, row.name, grouped(row.tokens), row.share, row.how) for row in rows(budget)]
    return "\n".join(
        [
            *indented(f"{full(budget)}: {sentence(budget)}", ""),
            *(said for warning in warnings(budget) for said in indented(warning, "")),
            "",
            bar(budget),
            *rulers(budget),
            "",
            *table(columns, body),
            f"  {_window(budget)}",
            *(said for note in _margin(budget) for said in indented(note, "  ")),
        ]
    )


def part(budget: Budget) -> Markup:
    """The budget as a piece of a larger view: sentence, bar, table."""
    return lines(
        [
            el("p", el("strong", full(budget)), f". {sentence(budget)}"),
            *(el("p", warning, class_="eth-warn") for warning in warnings(budget)),
            drawn.bar(budget),
            legend(budget),
            *(el("p", note) for note in _margin(budget)),
        ]
    )


def legend(budget: Budget) -> Markup:
    """The table of slices with the letters and colours of the bar."""
    mixed = any(item.how != budget.how for item in budget.slices if item.tokens)
    head = el(
        "tr",
        el("th", "slice", scope="col"),
        el("th", "tokens", scope="col", class_="eth-n"),
        el("th", "of usable", scope="col", class_="eth-n"),
        el("th", "counted", scope="col") if mixed else None,
    )
    body = lines(_legend_row(row, mixed) for row in rows(budget))
    caption = el("caption", f"{_window(budget)}, {_HOW[budget.how]}")
    return el("table", caption, el("thead", head), el("tbody", body), class_="eth-legend")


def html(budget: Budget) -> str:
    """The budget as a stored output."""
    return output(part(budget), label="Budget")


def _window(budget: Budget) -> str:
    return f"window {tokens(budget.window.total)} ({line(budget.window.source, 60)})"


def _margin(budget: Budget) -> tuple[str, ...]:
    """Why less can be sent than the window without its reserve; empty where nothing is lost."""
    if not budget.unsendable:
        return ()
    why = []
    if budget.ratio != OURS:
        how = "counts are estimated; " if budget.how == "estimated" else ""
        why.append(f"{how}this model is taken to count {percent(budget.ratio)} of ours")
    most = budget.window.max_input
    if most is not None and most < budget.window.total - budget.window.reserve:
        why.append(f"the model takes {grouped(most)} tokens of input at most")
    return (f"{UNSENDABLE} {BEYOND_SENT}: {', and '.join(why)}.",)


def _room(budget: Budget) -> str:
    if budget.room:
        return f"Room for one more result of {grouped(budget.room)} before cleanup."
    return "No room for one more result before cleanup."


def _slice_row(budget: Budget, item: Slice) -> Row:
    look = swatch(item.name)
    return Row(
        sign=look.letter,
        name=_named(item),
        tokens=item.tokens,
        share=share(item.tokens, budget.usable),
        how=_HOW_ROW[item.how],
        slug=f"c-{look.slug}",
    )


def _named(item: Slice) -> str:
    """The slice with how many things it is made of: "tools, 6", "core, 2 pins"; one segment goes without saying."""
    unit = _UNITS.get(item.name, "segment")
    if item.count <= (unit == "segment"):
        return item.name
    plural = "s" if unit and item.count != 1 else ""
    return f"{item.name}, {grouped(item.count)} {unit}{plural}".rstrip()


def _legend_row(row: Row, mixed: bool) -> Markup:
    look = "eth-sw eth-" + row.slug
    return el(
        "tr",
        el("th", el("span", row.sign, class_=look), f" {row.name}", scope="row"),
        el("td", grouped(row.tokens), class_="eth-n"),
        el("td", row.share, class_="eth-n"),
        el("td", row.how) if mixed else None,
    )


def _characters(amounts: Sequence[int], width: int) -> list[int]:
    """`width` characters shared out by largest remainder; everything gets at least one while that is possible."""
    total = sum(amounts)
    if not total or len(amounts) > width:
        return [min(1, max(0, width - index)) for index in range(len(amounts))]
    sizes = [max(1, amount * width // total) for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda i: (-(per_mille(amounts[i] * width, total) % 1000), i))
    for index in order[: max(0, width - sum(sizes))]:
        sizes[index] += 1
    while sum(sizes) > width:
        sizes[sizes.index(max(sizes))] -= 1
    return sizes


def _put(under: list[str], start: int, label: str) -> None:
    for index, own in enumerate(under):
        if len(own) + 1 <= start:
            under[index] = own.ljust(start) + label
            return
    under.append(" " * start + label)
