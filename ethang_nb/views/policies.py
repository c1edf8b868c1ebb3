"""Policies as text and HTML: one row each, from whose thought it comes, its levels, stages, notes and reseed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ethang_nb.context.policy import Policy
from ethang_nb.views.markup import Markup, el, join
from ethang_nb.views.numbers import percent
from ethang_nb.views.plain import Column, indented, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["html", "origin", "text"]

MORE = (
    "All knobs of one: eth.policies['ethang']. One of your own: eth.Policy(...), or a table [policies.mine] in"
    " ethang.toml."
)
_HEADS = ("name", "from", "nudge / cleanup / landing", "notes", "reseed")
_WIDTHS = (10, 16, 25, 9, 7)
_WHOLE = "white-space:nowrap"  # a narrow column would break in the middle of a word
_FROM = re.compile(r"[:,]")


def origin(policy: Policy) -> str:
    """Where it comes from: how its `about` begins ("seed 002", "ours", the file that defines it)."""
    return line(_FROM.split(policy.about, maxsplit=1)[0], 40) if policy.about else "yours"


def text(policies: Mapping[str, Policy]) -> str:
    """The policies for a terminal of 80 columns: a row each, its stages and what it is about under it."""
    columns = [Column(head=head, width=width) for head, width in zip(_HEADS, _WIDTHS, strict=True)]
    said = table(columns, [], indent="")
    for item in policies.values():
        said += table(columns, [_cells(item)], indent="")[1:]
        said += indented(", ".join(item.stages))
        said += indented(line(_about(item), 400)) if _about(item) else []
    return "\n".join([*said, "", *indented(MORE, "")])


def html(policies: Mapping[str, Policy]) -> str:
    """The policies as a stored output."""
    head = el(
        "tr",
        *(el("th", head, scope="col", style=_WHOLE) for head in ("name", "from")),
        el("th", _HEADS[2], scope="col"),
        *(el("th", head, scope="col", style=_WHOLE) for head in ("notes", "reseed", "stages")),
    )
    body = join(*(_row(item) for item in policies.values()))
    drawn = el("table", el("caption", "Policies"), el("thead", head), el("tbody", body), class_="eth-cards")
    return output(drawn, el("p", MORE, class_="eth-dim"), label="Policies")


def _row(policy: Policy) -> Markup:
    name, source, levels, notes, reseed = _cells(policy)
    about = el("p", line(_about(policy), 400), class_="eth-dim") if _about(policy) else None
    return el(
        "tr",
        el("th", name, scope="row", style=_WHOLE),
        el("td", source, style=_WHOLE),
        el("td", levels),
        *(el("td", cell, style=_WHOLE) for cell in (notes, reseed)),
        el("td", ", ".join(policy.stages), about, class_="eth-w"),
    )


def _cells(policy: Policy) -> tuple[str, ...]:
    band = policy.levels
    levels = "by the size of the window"
    if band is not None:
        named = (percent(level).removesuffix(" %") for level in (band.nudge, band.cleanup, band.landing))
        levels = f"{' / '.join(named)} %"
    reseeds = policy.reseed is not None and "reseed" in policy.stages
    return (
        line(policy.name, 40),
        origin(policy),
        levels,
        policy.notes,
        percent(policy.reseed or 0) if reseeds else "never",
    )


def _about(policy: Policy) -> str:
    """What its `about` says beside where it comes from."""
    return _FROM.split(policy.about, maxsplit=1)[-1].strip() if policy.about else ""
