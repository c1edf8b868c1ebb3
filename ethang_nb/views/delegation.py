"""The reading experiment as text and HTML: a table a setting, and a chart of what each configuration sends.

Both say that this is visibility, not model quality: a row tells which text stood in the window at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ethang_nb.views.diff import BOUND
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import count, grouped, percent
from ethang_nb.views.plain import Column, indented, line, opened, pad, table
from ethang_nb.views.stylesheet import output

__all__ = ["QUALITY", "DelegationLike", "MeasuredLike", "html", "text"]

QUALITY = "Visibility, not model quality"
BAR = 34  # cells of the longest bar
NAME, NAME_LONGEST = 15, 40  # cells, characters of a configuration's name


class MeasuredLike(Protocol):
    """One configuration in one setting, as `experiments.delegation` measures it."""

    @property
    def setting(self) -> str: ...
    @property
    def configuration(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def calls(self) -> int: ...
    @property
    def helper_calls(self) -> int: ...
    @property
    def seed_total(self) -> int: ...
    @property
    def main(self) -> int: ...
    @property
    def helpers(self) -> int: ...
    @property
    def all_in(self) -> int: ...
    @property
    def p95(self) -> int: ...
    @property
    def cached(self) -> int: ...
    @property
    def cost(self) -> int: ...
    @property
    def answer(self) -> bool: ...
    @property
    def constraint(self) -> bool: ...


class ReadingLike(Protocol):
    @property
    def documents(self) -> Sequence[str]: ...


class DelegationLike(Protocol):
    """The whole experiment: its rows, what each setting is, and what was read."""

    @property
    def reading(self) -> ReadingLike: ...
    @property
    def measured(self) -> Sequence[MeasuredLike]: ...
    @property
    def settings(self) -> Sequence[tuple[str, str]]: ...


_MAIN, _HELPERS = "eth-c-notes", "eth-c-output"
_CHART = "All-in tokens:"
_BEHIND = f"Behind them: which of answer and constraint was in view at the end. {QUALITY}."
_WHOLE = "white-space:nowrap"
_HEADS = ("calls", "seed", "all-in", "p95", "cached", "cost", "answer", "kept")
_LEGEND = (
    "calls: of the thread + of sub-agents or summarisers. seed: tokens as the source adds them up, the reading calls "
    "of the thread. all-in: tokens of every call, helpers too. p95: of fill; over 100 % could not be sent. cached: "
    "share of the thread's tokens. cost: in tokens at full price; from the cache 0.1, into it 1.25, a helper's answer "
    "5. answer: in view in the last request. kept: the constraint that the person adds in the extended task, word for "
    "word. This project's rows search the record once, too, where the answer is not in view."
)


def _headline(value: DelegationLike) -> str:
    return f"{count(len(value.reading.documents), 'document')}, one question: what stays in view, and what it takes"


def _caveat() -> str:
    return f"{QUALITY}: a row says which text stood in the window at the end. {BOUND}"


def _of(value: DelegationLike, setting: str) -> list[MeasuredLike]:
    return [item for item in value.measured if item.setting == setting]


def _name(item: MeasuredLike) -> str:
    return line(item.configuration, NAME_LONGEST)


def _numbers(item: MeasuredLike) -> tuple[str, ...]:
    """The cells of a row behind its name, in the order of the heads."""
    helped = f"+{grouped(item.helper_calls)}" if item.helper_calls else ""
    return (
        f"{grouped(item.calls)}{helped}",
        grouped(item.seed_total),
        grouped(item.all_in),
        percent(item.p95),
        percent(item.cached),
        grouped(item.cost),
        "yes" if item.answer else "no",
        "yes" if item.constraint else "no",
    )


def _in_view(item: MeasuredLike) -> str:
    """Which of answer and constraint was in view in the end."""
    if item.answer and item.constraint:
        return "both"
    if item.answer:
        return "answer"
    return "constraint" if item.constraint else "neither"


def text(value: DelegationLike) -> str:
    """The experiment for a terminal of 80 columns."""
    said = [*indented(f"{_headline(value)}.", ""), *indented(_caveat(), ""), ""]
    for name, about in value.settings:
        rows = _of(value, name)
        said += [*indented(f"{opened(line(name))}: {line(about)}", ""), *_table(rows), ""]
        if name == value.settings[0][0]:
            said += [*_chart(rows), ""]
    said += indented(_LEGEND, "")
    for name, about in _configurations(value):
        said += _hanging(name, about)
    return "\n".join(said)


def _configurations(value: DelegationLike) -> list[tuple[str, str]]:
    """Each configuration once, with what it is."""
    return list(dict.fromkeys((_name(item), line(item.about)) for item in value.measured))


def _table(rows: Sequence[MeasuredLike]) -> list[str]:
    widths = (5, 7, 7, 7, 6, 7, 6, 4)
    columns = [
        Column(head="configuration", width=NAME),
        *(Column(head=head, width=width, align=">") for head, width in zip(_HEADS, widths, strict=True)),
    ]
    return table(columns, [(_name(item), *_numbers(item)) for item in rows], indent="")


def _chart(rows: Sequence[MeasuredLike]) -> list[str]:
    said = indented(f"{_CHART} █ the thread, ░ sub-agents and summarisers. {_BEHIND}", "")
    for item in rows:
        main, helpers = _lengths(item, rows, BAR)
        bar = pad("█" * main + "░" * helpers, BAR)
        said.append(f"{pad(_name(item), NAME)}  {bar} {grouped(item.all_in):>7} {_in_view(item)}")
    return said


def _lengths(item: MeasuredLike, rows: Sequence[MeasuredLike], longest: int) -> tuple[int, int]:
    """The two parts of a bar, in parts of the longest one; what holds a token is never nothing."""
    most = max(1, *(row.all_in for row in rows))
    helpers = -(-item.helpers * longest // most)
    return max(1, -(-item.all_in * longest // most) - helpers), helpers


def _hanging(name: str, about: str) -> list[str]:
    """A name, and behind it what it is, wrapped under itself."""
    first, *more = indented(about, " " * (NAME + 2))
    return [pad(name, NAME) + first[NAME:], *more]


def html(value: DelegationLike) -> str:
    """The experiment as a stored output."""
    return output(part(value), label="Reading experiment")


def part(value: DelegationLike) -> Markup:
    """The experiment as a piece of a larger view: a chart of the first setting, the table, what its words mean."""
    first = value.settings[0][0]
    return lines(
        [
            el("p", el("strong", _headline(value)), "."),
            el("p", _caveat()),
            _drawing(_of(value, first)),
            _numbers_table(value),
            el("details", el("summary", "Columns and configurations"), el("p", _LEGEND), _glossary(value)),
        ]
    )


def _drawing(rows: Sequence[MeasuredLike]) -> Markup:
    """The chart: a bar a configuration, its number and what was in view beside it."""
    sign = "display:inline-block;width:1em;height:.8em;background:var(--c)"
    caption = el(
        "caption",
        f"{_CHART} left ",
        el("i", class_=_MAIN, style=sign),
        " the thread, right ",
        el("i", class_=_HELPERS, style=sign),
        f" sub-agents and summarisers. {_BEHIND}",
    )
    return _wide(el("table", caption, el("tbody", lines(_bar(item, rows) for item in rows))))


def _bar(item: MeasuredLike, rows: Sequence[MeasuredLike]) -> Markup:
    main, helpers = _lengths(item, rows, 1_000)
    pieces = [el("i", class_=_MAIN, style=f"width:{main / 10}%")]
    if helpers:
        pieces.append(el("i", class_=_HELPERS, style=f"width:{helpers / 10}%"))
    return el(
        "tr",
        el("th", _name(item), scope="row", style=_WHOLE),
        el(
            "td",
            el("div", *pieces, class_="eth-bar", style="height:1.1em", aria_hidden="true"),
            style="width:60%;min-width:5em",
        ),
        el("td", grouped(item.all_in), class_="eth-n"),
        el(
            "td",
            _in_view(item),
            class_="eth-ok" if item.answer and item.constraint else "eth-dim",
            style=_WHOLE,
        ),
    )


def _numbers_table(value: DelegationLike) -> Markup:
    """All settings in one table, so that their columns stand under each other."""
    heads = (el("th", head, scope="col", class_="eth-n") for head in _HEADS)
    head = el("tr", el("th", "configuration", scope="col"), *heads)
    bodies = [
        el("tbody", lines([_setting(name, about), *(_row(item) for item in _of(value, name))]))
        for name, about in value.settings
    ]
    tabled = el("table", el("caption", f"{QUALITY}."), el("thead", head), lines(bodies))
    return _wide(tabled)


def _wide(tabled: Markup) -> Markup:
    """A table that scrolls by itself where there is no room for it."""
    return el("div", tabled, style="overflow-x:auto")


def _setting(name: str, about: str) -> Markup:
    said = el(
        "th", el("strong", opened(line(name))), f": {line(about)}", scope="rowgroup", colspan=len(_HEADS) + 1
    )
    return el("tr", said)


def _row(item: MeasuredLike) -> Markup:
    *numbers, answer, kept = _numbers(item)
    return el(
        "tr",
        el("th", _name(item), scope="row", style=_WHOLE),
        *(el("td", number, class_="eth-n") for number in numbers),
        *(el("td", said, class_=f"eth-n eth-{'ok' if said == 'yes' else 'stop'}") for said in (answer, kept)),
    )


def _glossary(value: DelegationLike) -> Markup:
    items = (el("li", el("strong", name), f": {about}") for name, about in _configurations(value))
    return el("ul", lines(items))
