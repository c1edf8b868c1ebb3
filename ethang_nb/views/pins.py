"""Pins as text and HTML: each kept sentence, the rule that found it, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.snapshot import Pin
from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.limits import PREVIEW, ROWS
from ethang_nb.views.markup import Markup, el
from ethang_nb.views.numbers import count, grouped
from ethang_nb.views.plain import indented, line
from ethang_nb.views.stylesheet import output

__all__ = ["html", "part", "place", "summary", "text"]

ALLOWANCE = 20_000  # ► bytes of the table when it is an output of its own


def summary(pins: Sequence[Pin]) -> str:
    """How many hold: "2 pins", "2 pins, 1 of them lifted"."""
    lifted = sum(bool(pin.lifted) for pin in pins)
    return count(len(pins), "pin") + (f", {grouped(lifted)} of them lifted" if lifted else "")


def place(pin: Pin) -> str:
    """Where the sentence stands now, or why it no longer holds."""
    if pin.lifted:
        return f"lifted: {line(pin.lifted, 80)}"
    if pin.core:
        return "in the core"
    return "in its own message, which stays" if pin.segment else "enters with the next request"


def text(pins: Sequence[Pin], most: int = ROWS) -> str:
    """Two or more lines a pin: the sentence word for word, then rule and place."""
    if not pins:
        return "No pins."
    shown = excerpt(pins, most)
    said = [f"{summary(pins)}:"]
    for pin in (*shown.head, *shown.tail):
        said += indented(f"{pin.id}  {pin.kind}: {line(pin.text, PREVIEW)}")
        said += indented(f"{_found(pin)}; {place(pin)}", "     ")
    if shown.hidden:
        said.append(shown.gap("pins"))
    return "\n".join(said)


def part(pins: Sequence[Pin], *, most: int = ROWS, allowance: int = ALLOWANCE, where: str = "pins") -> Markup:
    """The table as a piece of a larger view."""
    heads = ("pin", "kind", "kept word for word", "found by", "where it stands")
    body = rows_within(
        pins,
        _row,
        lambda said: el("tr", el("td", said, colspan=5, class_="eth-dim")),
        where=where,
        most=most,
        allowance=allowance,
    )
    head = el("tr", *(el("th", name, scope="col") for name in heads))
    return el("table", el("caption", summary(pins)), el("thead", head), el("tbody", body))


def html(pins: Sequence[Pin]) -> str:
    """The pins as a stored output."""
    return output(part(pins), label="Pins")


def _found(pin: Pin) -> str:
    rule = line(pin.rule, 80)
    return "pinned by hand" if rule == "by hand" else f"found by the rule “{rule}”"


def _row(pin: Pin) -> Markup:
    return el(
        "tr",
        el("td", grouped(pin.id)),
        el("td", pin.kind),
        el("th", line(pin.text, PREVIEW), scope="row"),
        el("td", _found(pin)),
        el("td", place(pin)),
    )
