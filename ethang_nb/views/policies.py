"""Policies as text and HTML: one row each, from whose thought it comes, its levels, stages, notes and reseed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ethang_nb.context.policy import Policy
from ethang_nb.views.markup import Markup, el, join
from ethang_nb.views.numbers import percent
from ethang_nb.views.plain import indented, line
from ethang_nb.views.policy import bands
from ethang_nb.views.stylesheet import output

__all__ = ["html", "origin", "text"]

MORE = "All knobs of one: eth.policies['ethang']. One of your own: Policy(...), or a table [policies.mine] in ethang.toml."
_HEADS = ("name", "from", "levels", "stages", "notes", "reseed")
_FROM = re.compile(r"[:,]")


def origin(policy: Policy) -> str:
    """Where it comes from: how its `about` begins ("seed 002", "ours", the file that defines it)."""
    return line(_FROM.split(policy.about, maxsplit=1)[0], 40) if policy.about else "yours"


def text(policies: Mapping[str, Policy]) -> str:
    """The policies for a terminal of 80 columns."""
    said: list[str] = []
    for item in policies.values():
        name, source, levels, stages, notes, reseed = _cells(item)
        said += [
            f"{name} ({source})",
            *(indented(line(_about(item), 400)) if _about(item) else []),
            *indented(f"stages {stages}; levels {levels}; notes {notes}; reseed {reseed}"),
        ]
    return "\n".join([*said, *indented(MORE, "")])


def html(policies: Mapping[str, Policy]) -> str:
    """The policies as a stored output."""
    head = el("tr", *(el("th", name, scope="col") for name in _HEADS))
    body = join(*(_row(item) for item in policies.values()))
    drawn = el("table", el("caption", "Policies"), el("thead", head), el("tbody", body), class_="eth-cards")
    return output(drawn, el("p", MORE, class_="eth-dim"), label="Policies")


def _row(policy: Policy) -> Markup:
    name, source, levels, stages, notes, reseed = _cells(policy)
    about = el("p", line(_about(policy), 400), class_="eth-dim") if _about(policy) else None
    return el(
        "tr",
        el("th", name, scope="row"),
        el("td", source),
        el("td", levels),
        el("td", stages, about, class_="eth-w"),
        el("td", notes),
        el("td", reseed),
    )


def _cells(policy: Policy) -> tuple[str, ...]:
    reseeds = policy.reseed is not None and "reseed" in policy.stages
    return (
        line(policy.name, 40),
        origin(policy),
        bands(policy),
        ", ".join(policy.stages),
        policy.notes,
        percent(policy.reseed or 0) if reseeds else "never",
    )


def _about(policy: Policy) -> str:
    """What its `about` says beside where it comes from."""
    return _FROM.split(policy.about, maxsplit=1)[-1].strip() if policy.about else ""
