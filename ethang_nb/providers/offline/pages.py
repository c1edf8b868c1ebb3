"""Pages: what a tool's text says of itself (address, lines, where to read on), and its lines by number.

A text that was cut holds a marker with the numbers of the lines left out. The lines at the edges of a cut may
be halves, so they count as left out too: half a name or half a number is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Lines", "Page", "Part", "lines_of", "page", "unmarked"]

_FILE = re.compile(
    r"\[(?P<address>file:(?P<path>.+?)#L(?P<start>\d+)-(?P<end>\d+)@[0-9a-f]+) of (?P<total>[\d,]+) lines?"
    r"(?:; read on with start=(?P<on>\d+))?\]"
)
_PLACE = re.compile(
    r"\[(?P<address>[^\n\]]+?) lines? (?P<start>\d+)(?:-(?P<end>\d+))? of (?P<total>[\d,]+)"
    r"(?:, characters (?P<first>\d+)-(?P<last>\d+) of (?P<of>\d+))?"
    r"(?:; read on with (?:start=(?P<on>\d+)|ref=(?P<ref>[^\n]+?)))?\](?=\n|$)"
)
_GOES_ON = re.compile(
    r" \[… (?P<last>[\d,]+) of this line's (?P<of>[\d,]+) characters; it goes on at (?P<ref>[^\n]+#L\d+C\d+), "
    r"for read_spill\]\Z"
)
_LEFT_OUT = re.compile(
    r"\[… [^\[\]]*? left out, (?:lines (?P<from>[\d,]+)-(?P<to>[\d,]+) of (?P<of>[\d,]+)|of 1 line)"
    r"(?:; the whole text: (?P<ref>[^\s\]]+?),? [^\]]*)?\]$"
)
_TOP = 3  # lines a label may stand before the header


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Characters `first` to `last` of a line that has `of`; `ref` is where it goes on, "" at its end."""

    first: int
    last: int
    of: int
    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page's own words: `path` is "" where it was read at an address; `on` is 0 where nothing follows."""

    path: str
    address: str
    start: int
    end: int
    on: int
    total: int
    """Lines of the whole text."""
    head: int
    """The number, from 1, of the header's line in the text."""
    part: Part | None = None
    """Where the page is not whole lines, but a part of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A text's lines by number from 1, without those left out; `ref` is where the whole text is."""

    lines: dict[int, str]
    total: int
    ref: str = ""


def page(text: str) -> Page | None:
    """What the header of a file page, or of a page read at an address, says; None for any other text."""
    for number, line in enumerate(text.split("\n", _TOP)[:_TOP], 1):
        if match := _FILE.match(line) or _PLACE.match(line):
            found = match.groupdict()
            return Page(
                path=found.get("path") or "",
                address=found["address"],
                start=int(found["start"]),
                end=int(found["end"] or found["start"]),
                on=int(found["on"] or 0),
                total=_number(found["total"]),
                head=number,
                part=_part(found if found.get("last") else _cut(text, found)),
            )
    return None


def unmarked(line: str) -> str:
    """A line without the words that a tool put behind its part of it."""
    return _GOES_ON.sub("", line)


def _cut(text: str, header: Mapping[str, str | None]) -> Mapping[str, str | None] | None:
    """What the mark at the end of a file page says, where it is about the line that the header names."""
    mark = _GOES_ON.search(text, text.rfind("\n") + 1) if "path" in header else None
    if mark is None or not mark["ref"].startswith(f"file:{header['path']}#L{header['end']}C"):
        return None
    return {"first": "1", **mark.groupdict()}


def _part(found: Mapping[str, str | None] | None) -> Part | None:
    if found is None:
        return None
    first, last, of = (_number(found[name]) for name in ("first", "last", "of"))
    return Part(first=first, last=last, of=of, ref=found["ref"] or "")


def _number(digits: str | None) -> int:
    return int((digits or "0").replace(",", ""))


def lines_of(text: str) -> Lines:
    """The lines of a tool's text by their number in the text as it was before anything was cut out of it."""
    shown = text.split("\n")
    at = next((at for at, line in enumerate(shown) if _LEFT_OUT.match(line)), None)
    if at is None:
        return Lines(lines=dict(enumerate(shown, 1)), total=len(shown))
    marker = _LEFT_OUT.match(shown[at])
    if marker is None or marker["from"] is None:
        return Lines(lines={}, total=1, ref=(marker["ref"] if marker else "") or "")
    first, last, total = (int(marker[name].replace(",", "")) for name in ("from", "to", "of"))
    tail = shown[at + 1 :]
    head = {number: line for number, line in enumerate(shown[:at], 1) if number < first}
    rest = {number: line for number, line in enumerate(tail, total - len(tail) + 1) if number > last}
    return Lines(lines=head | rest, total=total, ref=marker["ref"] or "")
