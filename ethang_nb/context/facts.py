"""Facts: strings of a text that a later step may need word for word.

Rules over characters, nothing more: that such a string survives says only that a model *could* still use it;
string survival is an upper bound on recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["FactString", "facts"]


class FactString(NamedTuple):
    """A fact, what kind it is, and the line (from 1) it stands in."""

    text: str
    kind: str
    line: int


_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    # In order of precedence: a span taken by one rule is not looked at by the next.
    ("error", re.compile(r"\b[A-Z][A-Za-z]{2,40}(?:Error|Exception|Warning)\b(?:: [^\n]{1,80})?")),
    ("date", re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?\b")),
    (
        "path",
        re.compile(
            r"(?<![\w/.])(?:\.{0,2}/)?(?:[\w.-]{1,60}/){1,12}[\w.-]{1,80}|\b[\w-]{1,60}\.[a-z]{1,4}\b"
        ),
    ),
    (
        "identifier",
        re.compile(
            r"\b(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[A-Za-z])[A-Za-z0-9]{1,40}(?:[-_][A-Za-z0-9]{1,40}){1,6}\b"
        ),
    ),
    ("command", re.compile(r"`[^`\n]{2,120}`")),
    (
        "number",
        re.compile(
            r"(?<![\w.])\d{1,3}(?:,\d{3}){1,12}(?:\.\d{1,40})?|(?<![\w.,-])\d{1,40}(?:\.\d{1,40})?(?: ?%)?(?![\w-])"
        ),
    ),
)
_LONGEST = 100_000  # ► characters looked at; a longer text is looked at from its beginning
_LONGEST_LINE = 2_000  # ► characters; a longer line is looked at in pieces, so that the work stays linear


def facts(text: str) -> tuple[FactString, ...]:
    """Facts of `text` in order of appearance, each string once. Linear in the text."""
    found: dict[str, FactString] = {}
    for number, line in enumerate(text[:_LONGEST].split("\n"), 1):
        for at in range(0, len(line), _LONGEST_LINE):
            for _start, string, kind in sorted(_of_line(line[at : at + _LONGEST_LINE])):
                if len(string) > 1 and string not in found:
                    found[string] = FactString(string, kind, number)
    return tuple(found.values())


def _of_line(line: str) -> Iterable[tuple[int, str, str]]:
    taken: list[tuple[int, int]] = []
    for kind, rule in _RULES:
        for match in rule.finditer(line):
            if not any(match.start() < end and start < match.end() for start, end in taken):
                taken.append(match.span())
                yield match.start(), match.group().strip("`"), kind
