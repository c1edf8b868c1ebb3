"""Replacing: in which pin's place a later sentence of the owner's stands, which is pinned itself.

It does so where it names what it replaces ("MySQL instead of Postgres"), or gives the same matter another value
("Budget is now 800 euros"). A sentence that could as well stand beside the pin replaces nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ethang_nb.context.likeness import Rule, best, names, rule, said
from ethang_nb.context.sentences import Sentence
from ethang_nb.context.snapshot import Pin

__all__ = ["replaced"]

_ANEW = re.compile(
    r"\b(?:instead|after all|now|changed (?:my|our) minds?|second thoughts?|actually|again|rather|from now on)\b"
)
_OVER = re.compile(
    r"\b(?:instead of|rather than|in place of)\s([^,;]*?)(?=\s(?:but|because|since|so|as)\b|[,;]|$)"
)
_SCOPE = re.compile(
    r"\b(?:for|during|within|(?:in|on) (?:the|this|that|our|those))\s(?!now\b)([^,;]+?)(?=\sinstead\b|[,;]|$)"
)


def replaced(sentence: Sentence, kind: str, pins: Sequence[Pin]) -> list[Pin]:
    """The pins that a sentence replaces, which is itself pinned as a `kind`."""
    new = rule(sentence.text)
    others = [pin for pin in pins if rule(pin.text).text != new.text and len(rule(pin.text).parts) == 1]
    found: list[Pin] = []
    if over := _OVER.search(new.text):
        named = [(_over(new, over, rule(pin.text)), pin) for pin in others]
        found = best(named, beside=said(new.text[: over.start()]))
    return found or best([(_anew(new, rule(pin.text), kind), pin) for pin in others if pin.kind == kind])


def _over(new: Rule, over: re.Match[str], held: Rule) -> int:
    """How well "X instead of Y" names a pin by Y. One that has X already, or another scope, is not meant."""
    chosen = said(held.text[: held_over.start()]) if (held_over := _OVER.search(held.text)) else held.said
    if held.forbids or set(said(new.text[: over.start()]).strong) <= set(chosen.strong):
        return 0
    scope = said(" ".join(_SCOPE.findall(new.text))).all
    return names(said(over[1]), (chosen,)) if scope <= held.said.all else 0


def _anew(new: Rule, held: Rule, kind: str) -> int:
    """How well a sentence fits as a new value for the matter of a pin, 0 where it does not."""
    says_so = _ANEW.search(new.text) is not None
    differ = [what for what in held.values if what in new.values and new.values[what] != held.values[what]]
    if differ:
        # Without such a word "We use Redis for sessions" leaves "We use Postgres" standing.
        if says_so or kind == "constraint":
            return _other_value(new, held, differ, says_so=says_so)
    elif kind == "decision" and says_so and not new.forbids and not held.forbids:
        return _other_way(new, held)
    return 0


def _other_value(new: Rule, held: Rule, differ: list[str], *, says_so: bool) -> int:
    if any(len(new.values.get(what, ())) != 1 or len(held.values[what]) != 1 for what in held.values):
        return 0
    counted = all(what.startswith("number of ") for what in differ)
    if not counted and (new.forbids or held.forbids):
        return 0  # two things that are forbidden are both forbidden
    given = {word for values in (*new.values.values(), *held.values.values()) for word in values}
    ours, theirs = set(new.said.strong) - given, set(held.said.strong) - given
    if ours != theirs and not (says_so and ours <= theirs):
        return 0
    weak = new.said.weak and held.said.weak and not new.said.weak & held.said.weak
    if not ours and weak and not says_so:
        return 0  # "Answer in German" and "Write in English" speak of different things
    return 1 + len(ours & theirs)


def _other_way(new: Rule, held: Rule) -> int:
    """How well a sentence fits that says of the same thing otherwise: the green layout for the blue layout."""
    ours, theirs = new.said.strong, held.said.strong
    shared = set(ours) & set(theirs)
    if not shared or ours[-1] != theirs[-1] or set(ours) == set(theirs):
        return 0
    return len(shared) if 2 * len(shared) >= max(len(ours), len(theirs)) else 0
