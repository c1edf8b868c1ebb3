"""A policy as text and HTML: its stages in order, its levels, the knobs that are its own, and all others folded."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.policy import Policy
from ethang_nb.views.markup import Markup, el, join
from ethang_nb.views.numbers import count, percent, tokens
from ethang_nb.views.plain import Column, cells, indented, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["bands", "html", "others", "part", "rows", "text"]

_TOKENS = frozenset({"reserve", "note_least", "note_most", "entry_least", "shrink_tokens"})
_SEGMENTS = frozenset({"keep", "collapse_keep"})
_CHARACTERS = frozenset({"entry_chars", "head_chars"})
_ALREADY_SAID = frozenset({"name", "stages", "levels"})
_NONE = {
    "reserve": "the window's own rule",
    "collapse_at": "the cleanup level",
    "collapse_to": "the landing level",
    "collapse_minimum": "the minimum",
    "collapse_keep": "as keep",
    "evict_at": "the cleanup level",
    "evict_to": "the landing level",
    "reseed": "never",
    "entry_chars": "by tokens",
}
"""What None stands for."""


def bands(policy: Policy) -> str:
    """Its levels: nudge, cleanup, landing."""
    band = policy.levels
    if band is None:
        return "by the size of the window"
    return f"nudge {percent(band.nudge)}, cleanup {percent(band.cleanup)}, landing {percent(band.landing)}"


def rows(policy: Policy) -> tuple[tuple[str, str], ...]:
    """Name and value of stages and levels, and of each knob that differs from what a policy has by itself."""
    own = _differing(policy)
    named = [(name, _value(name, value)) for name, value in policy.knobs().items() if name in own]
    return (("stages", ", ".join(policy.stages)), ("levels", bands(policy)), *named)


def others(policy: Policy) -> tuple[tuple[str, str], ...]:
    """Name and value of the knobs that are as in every policy."""
    own = _differing(policy) | _ALREADY_SAID
    return tuple((name, _value(name, value)) for name, value in policy.knobs().items() if name not in own)


def text(policy: Policy) -> str:
    """The policy for a terminal of 80 columns."""
    said, rest = rows(policy), others(policy)
    columns = (
        Column(head="knob", width=max(cells(name) for name, _ in (*said, *rest))),
        Column(head="value", width=60),
    )
    about = indented(line(policy.about, 400)) if policy.about else []
    shared = [*indented("As in every policy that does not say otherwise:", ""), *table(columns, rest)[1:]]
    return "\n".join([f"Policy {line(policy.name, 40)}", *about, *table(columns, said), *shared])


def part(policy: Policy) -> Markup:
    """The policy as a piece of a larger view."""
    head = el("tr", el("th", "knob", scope="col"), el("th", "value", scope="col"))
    caption = el("caption", f"Policy {line(policy.name, 40)}")
    own = el("table", caption, el("thead", head), el("tbody", _rows(rows(policy))))
    shared = el("table", el("tbody", _rows(others(policy))))
    return join(own, el("details", el("summary", "As in every policy that does not say otherwise"), shared))


def html(policy: Policy) -> str:
    """The policy as a stored output."""
    about = el("p", line(policy.about, 400)) if policy.about else None
    return output(about, part(policy), label=f"Policy {line(policy.name, 40)}")


def _rows(said: tuple[tuple[str, str], ...]) -> Markup:
    return join(*(el("tr", el("th", name, scope="row"), el("td", value)) for name, value in said))


def _differing(policy: Policy) -> frozenset[str]:
    usual = Policy(name=policy.name).knobs()
    return frozenset(name for name, value in policy.knobs().items() if value != usual[name]) - _ALREADY_SAID


def _value(name: str, value: Any) -> str:
    if value is None:
        return _NONE.get(name, "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int):
        return line(str(value), 60)
    if name in _TOKENS:
        return tokens(value)
    if name in _SEGMENTS:
        return count(value, "segment")
    return count(value, "character") if name in _CHARACTERS else f"{percent(value)} of usable"
