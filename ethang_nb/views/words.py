"""Words that a newcomer meets on screen and that explain themselves least, each in one line."""

from __future__ import annotations

from ethang_nb.views.markup import Markup, el, lines

__all__ = ["WORDS", "part", "text"]

WORDS: dict[str, str] = {
    "usable": "the window less what is kept for the answer; fill is a share of it",
    "nudge": "a message that tells the model to offer what it no longer needs",
    "landing": "how full a cleanup tries to leave the window",
    "generation": "of a handoff note: how often it was written anew",
    "p95": "95 of 100 requests were at most so full",
    "facts": "names, numbers, dates, paths: what a cleanup kept, lost or made up",
}


def text() -> list[str]:
    """A line each, for a terminal of 80 columns."""
    wide = max(map(len, WORDS))
    return [f"  {word:<{wide}}  {about}" for word, about in WORDS.items()]


def part() -> Markup:
    """The words in a closed `<details>`."""
    rows = lines(el("p", el("strong", word), f": {about}.") for word, about in WORDS.items())
    return el("details", el("summary", "Words"), rows)
