"""Diffing: what a cleanup did to the texts: what left, what stands for it, which facts survived.

A fact of a departed text is *kept* where its string still stands in the note, the core or the rest of the
window, else *lost*, with the address and line where it can be read. A fact of the note's prose that stands in
nothing that left and in no other source is *invented*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from ethang_nb.context.address import parse
from ethang_nb.context.facts import WORD, FactString, facts
from ethang_nb.context.snapshot import Fact

__all__ = ["UPPER_BOUND", "Gone", "compare", "line_address"]

UPPER_BOUND = "String survival is an upper bound on recall: the model may overlook what still stands."
"""The sentence beside every report of what survived."""

SMALL = 1_000  # ► whole numbers below are as often the writer's own count, so they are not called invented
_NUMBERS = ("number", "amount")
_WORDS = re.compile(f"[{WORD}]+")
_WORD = re.compile(f"[{WORD}]")
_THOUSANDS = re.compile(r",[0-9]{3}(?![0-9])")
_GIVEN = (  # what stands between a name and its small number, and the number
    r"[\"'`*]{0,3}(?: ?(?::?=|:|->|→) ?| (?:is|are|was|of|at|to|now|set to) )[\"'`*]{0,3}"
    rf"(-?[0-9]{{1,2}}(?:\.[0-9])?)(?![{WORD}%‰]|[.,:/-][0-9])"
)
_NAMED = re.compile(rf"([A-Za-z_][{WORD}-]{{2,40}}+){_GIVEN}")
_DIGITS = re.compile("[0-9]+")
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_MONTH = re.compile("Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec")
_MEASURE = re.compile(r"([^\d ]*) ?([\d.,]*\d)[ -]?([^\d ]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A text that left the window, with its address; `offset` is how many lines of it precede the addressed text."""

    text: str
    address: str
    offset: int = 0


def compare(
    gone: Sequence[Gone], *, note: str, core: str, window: Iterable[str], sources: str
) -> tuple[Fact, ...]:
    """What became of every fact of the texts that left, in order; then what the note invented.

    `window` holds the texts that still stand there. `sources` is what else the note could know of: texts that
    left earlier, system text, tools. Linear in what left and what stands; `sources` is searched for the few
    facts of the note that are found nowhere nearer.
    """
    places = {"note": _Place(note), "core": _Place(core), "window": _Place("\n".join(window))}
    written = {_day(fact) for fact in facts(note)} - {""}
    days: set[str] = set()
    found: dict[str, Fact] = {}
    for item in gone:
        for fact in facts(item.text):
            if fact.text in found:
                continue
            where = next((name for name, place in places.items() if place.holds(fact)), "")
            if fact.kind == "date":
                days.add(_day(fact))
                where = where or ("note" if _day(fact) in written else "")
            found[fact.text] = Fact(
                text=fact.text,
                kind=fact.kind,
                fate="kept" if where else "lost",
                where=where or line_address(item.address, fact.line - item.offset),
            )
    whole = "\n".join([*(item.text for item in gone), sources])
    for fact in facts(note):
        known = fact.text in found or places["core"].holds(fact) or places["window"].holds(fact)
        if not known and not _from(fact, whole) and _day(fact) not in days - {""}:
            found[fact.text] = Fact(text=fact.text, kind=fact.kind, fate="invented", where="note")
    return tuple(found.values())


class _Place:
    """A text in which facts are looked up. Its words are found once; what they rule out is not searched for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = set(_WORDS.findall(text))

    def holds(self, fact: FactString) -> bool:
        """Whether the fact stands here as itself: "30" does not stand in "contract_30" or "1,300"."""
        if not self._words:
            return False
        for form in _forms(fact):
            words = _WORDS.findall(form)
            if self._words.issuperset(words):
                whole_word = words == [form] and fact.kind not in _NUMBERS
                if whole_word or _stands(form, self._text, fact.kind):
                    return True
        named = _named(fact)
        return named is not None and named in self._numbers

    @cached_property
    def _numbers(self) -> set[tuple[str, str]]:
        """Names with the small number each is given: "the cap is 7" says what "cap = 7" says."""
        return set(_NAMED.findall(self._text))


def _forms(fact: FactString) -> tuple[str, ...]:
    """The strings that say this fact: as it was written; a measure however it is spaced; an amount's number alone."""
    measure = _MEASURE.fullmatch(fact.text) if fact.kind in _NUMBERS else None
    if measure is None or not (measure[1] or measure[3]):
        return (fact.text,)
    sign, number, unit = measure.groups()
    spaced = product(("", " ") if sign else ("",), ("", " ", "-") if unit else ("",))
    forms = [f"{sign}{one}{number}{two}{unit}" for one, two in spaced]
    if fact.kind == "amount" and sum(map(str.isdigit, number)) > 2:
        forms.append(number)
    return (fact.text, *(form for form in forms if form != fact.text))


def _day(fact: FactString) -> str:
    """The day a date names as year-month-day, however it is written; "" where it names none for certain."""
    if fact.kind != "date":
        return ""
    numbers, month = _DIGITS.findall(fact.text), _MONTH.search(fact.text)
    if month is not None and len(numbers) == 2 and len(numbers[1]) == 4:
        return f"{numbers[1]}-{_MONTHS.index(month[0]) // 3 + 1:02}-{int(numbers[0]):02}"
    if month is not None or len(numbers) < 3:
        return ""
    if len(numbers[0]) == 4:
        return f"{numbers[0]}-{int(numbers[1]):02}-{int(numbers[2]):02}"
    first, second, year = int(numbers[0]), int(numbers[1]), numbers[2]
    if "." in fact.text or first > 12:  # with slashes the month comes first in some countries
        return f"{year}-{second:02}-{first:02}"
    return f"{year}-{first:02}-{second:02}" if second > 12 else ""


def _named(fact: FactString) -> tuple[str, str] | None:
    match = _NAMED.fullmatch(fact.text) if fact.kind == "number" and fact.text[0].isalpha() else None
    return (match[1], match[2]) if match else None


def _stands(string: str, text: str, kind: str) -> bool:
    at = text.find(string)
    while at >= 0:
        if _apart(string, text, at, kind):
            return True
        at = text.find(string, at + 1)
    return False


def _apart(string: str, text: str, start: int, kind: str) -> bool:
    """Whether what stands at `start` is itself, no piece of a longer word or number."""
    end = start + len(string)
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if (before and _WORD.match(before)) or (after and _WORD.match(after) and _WORD.match(string[-1])):
        return False
    if kind not in _NUMBERS:
        return True
    return not (
        (string[0].isdigit() and _number_before(string, text, start))
        or (string[-1].isdigit() and _number_after(string, text, end))
    )


def _number_before(string: str, text: str, start: int) -> bool:
    """Whether the number at `start` is the end of a longer one, or of a word with a dash."""
    sign, beyond = text[max(0, start - 1) : start], text[max(0, start - 2) : max(0, start - 1)]
    if sign == "-":
        return bool(_WORD.match(beyond))
    if sign == ".":
        return beyond.isdigit()
    four = re.fullmatch("[0-9]{4}", text[max(0, start - 5) : start - 1]) if sign == "," else None
    # Three digits behind a comma go with those before it, unless these are four: then it is a list.
    return sign == "," and beyond.isdigit() and not four and bool(re.match("[0-9]{3}(?![0-9])", string))


def _number_after(string: str, text: str, end: int) -> bool:
    """Whether the number that ends at `end` goes on, or is the beginning of a word with a dash."""
    sign, beyond = text[end : end + 1], text[end + 1 : end + 2]
    if sign == "-":
        return bool(_WORD.match(beyond))
    if sign == ".":
        return beyond.isdigit()
    return bool(_THOUSANDS.match(text, end)) and ("," in string or len(string) <= 3)


def _from(fact: FactString, sources: str) -> bool:
    """Whether the note has it from `sources`, counted it itself, or only points somewhere with it."""
    if any(_stands(form, sources, fact.kind) for form in _forms(fact)):
        return True
    named = _named(fact)
    if named is not None:
        # A count of the writer's own, unless the sources give that very name another number.
        numbers = re.findall(re.escape(named[0]) + _GIVEN, sources)
        return not numbers or named[1] in numbers
    if fact.kind == "number":
        return fact.text.isdigit() and int(fact.text) < SMALL
    # A path may be put together from parts that were read.
    return fact.kind == "path" and all(part in sources for part in fact.text.split("/"))


_parsed = lru_cache(maxsize=256)(parse)


def line_address(address: str, line: int) -> str:
    """The address of line `line` (from 1) of the text at `address`."""
    place = _parsed(address)
    return str(place.line(line)) if place else address
