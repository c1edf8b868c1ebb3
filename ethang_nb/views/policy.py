"""A policy as text and HTML: its stages in order, its levels, and every other knob with its unit."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.policy import Policy
from ethang_nb.views.markup import Markup, el, join
from ethang_nb.views.numbers import count, grouped, percent, tokens
from ethang_nb.views.plain import Column, cells, indented, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["html", "part", "rows", "text"]

_TOKENS = frozenset({"note_least", "note_most", "entry_least", "shrink_tokens"})
_ALREADY_SAID = frozenset({"name", "stages", "levels"})


def rows(policy: Policy) -> tuple[tuple[str, str], ...]:
    """Name and value of each knob, in the order of the policy."""
    knobs = policy.knobs()
    band = policy.levels
    levels = (
        "by the size of the window"
        if band is None
        else f"nudge {percent(band.nudge)}, cleanup {percent(band.cleanup)}, landing {percent(band.landing)}"
    )
    named = [(name, _value(name, value)) for name, value in knobs.items() if name not in _ALREADY_SAID]
    return (("stages", ", ".join(policy.stages)), ("levels", levels), *named)


def text(policy: Policy) -> str:
    """The policy for a terminal of 80 columns."""
    said = rows(policy)
    columns = (
        Column(head="knob", width=max(cells(name) for name, _ in said)),
        Column(head="value", width=60),
    )
    about = indented(line(policy.about, 400)) if policy.about else []
    return "\n".join([f"Policy {line(policy.name, 40)}", *about, *table(columns, said)])


def part(policy: Policy) -> Markup:
    """The policy as a piece of a larger view."""
    head = el("tr", el("th", "knob", scope="col"), el("th", "value", scope="col"))
    body = join(*(el("tr", el("th", name, scope="row"), el("td", value)) for name, value in rows(policy)))
    return el("table", el("caption", f"Policy {line(policy.name, 40)}"), el("thead", head), el("tbody", body))


def html(policy: Policy) -> str:
    """The policy as a stored output."""
    about = el("p", line(policy.about, 400)) if policy.about else None
    return output(about, part(policy), label=f"Policy {line(policy.name, 40)}")


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int):
        return line(str(value), 60)
    if name in _TOKENS:
        return tokens(value)
    return (
        count(value, "segment")
        if name == "keep"
        else f"{percent(value)} of usable"
        if value
        else grouped(value)
    )
