"""Address: where a text can be read again. The one place that builds, parses and finds addresses.

    log://17            event 17 of the session's record
    spill://0123456789ab a text kept outside the window
    file:data/x.txt     a file under the root, as tools name it
    cell:…  var:…       a cell or a variable of the notebook

A range of lines may follow, and the version of the text it names: `#L1-31@1a2b3c4d`, `#L7`, `#L7C15801` (from a
character of a line on). A version is the hash of the lines shown, never of what somebody claims to have read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, cast

__all__ = ["LONGEST", "Address", "Scheme", "event_of", "find_all", "logged", "parse"]

Scheme = Literal["log", "spill", "file", "cell", "var"]

LONGEST = 8_192  # characters; nothing longer is an address

_NUMBER = "(?:0|[1-9][0-9]{0,8})"
_PLACE = rf"#L{_NUMBER}(?:C[1-9][0-9]{{0,11}})?(?:-{_NUMBER})?(?:@[0-9a-f]{{1,64}})?"
_RANGE = re.compile(rf"#L({_NUMBER})(?:C([1-9][0-9]{{0,11}}))?(?:-({_NUMBER}))?(?:@([0-9a-f]{{1,64}}))?\Z")
_VERSION = re.compile(r"@([0-9a-f]{8,64})\Z")
_LOG = r"log://(?:0|[1-9][0-9]{0,14})"
_SPILL = r"spill://[0-9a-f]{12,64}"
_WHOLE = re.compile(rf"({_LOG}|{_SPILL})({_PLACE})?")
_NAMED = re.compile(r"(file|cell|var):(?!//)(.+)")
_FOUND = re.compile(
    rf"(?<![\w/])(?:(?:{_LOG}|{_SPILL})(?!\w)(?:{_PLACE})?"
    # An odd name is a JSON string; else it goes up to its range, over blanks, but not into the next address.
    rf'|(?:file|cell|var):(?:"(?:[^"\\\n]|\\.){{1,2000}}"'
    r"|(?:(?!(?:file|cell|var):|(?:log|spill)://)(?:[^\n|,;:\]]|[|,;:\]](?=[^\s|,;:\]]))){1,1000}?)"
    rf"{_PLACE}"
    r"|(?:file|cell|var):[^\s|,;)\]}>\"'`]{1,1000})"
)
_AFTER = ".:!?"  # what may end a sentence right behind an address without a range


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`first` and `last` are lines from 1, `character` counts in the first line; None where it does not say.

    `str` gives the address back as it was parsed. `version` is "" where none is named.
    """

    scheme: Scheme
    place: str
    first: int | None = None
    last: int | None = None
    character: int | None = None
    version: str = ""

    def __str__(self) -> str:
        slashes = "//" if self.scheme in ("log", "spill") else ""
        version = f"@{self.version}" if self.version else ""
        return f"{self.scheme}:{slashes}{self.place}{self._range}{version}"

    @property
    def _range(self) -> str:
        if self.first is None:
            return ""
        begin = f"C{self.character}" if self.character is not None else ""
        until = f"-{self.last}" if self.last is not None else ""
        return f"#L{self.first}{begin}{until}"

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line; None where no range is named."""
        return None if self.first is None else (self.first, self.first if self.last is None else self.last)

    @property
    def base(self) -> str:
        """The address of the whole text."""
        return str(replace(self, first=None, last=None, character=None, version=""))

    @property
    def unversioned(self) -> str:
        return str(replace(self, version=""))

    @property
    def number(self) -> int:
        """The event's number; -1 for what is not in the record."""
        return int(self.place) if self.scheme == "log" else -1

    def line(self, number: int) -> Address:
        """Line `number` (from 1) of the text that stands at this address; below 1 is its first line."""
        first = (self.first or 1) + max(1, number) - 1
        return replace(self, first=first, last=None, character=None, version="")


def logged(number: int) -> Address:
    """The address of event `number` of the record."""
    return Address(scheme="log", place=str(number))


def event_of(text: object) -> int:
    """The number of the event that `text` is the address of; -1 for anything else."""
    address = parse(text)
    return -1 if address is None else address.number


def parse(text: object) -> Address | None:
    """The address that `text` is, blanks around it aside; None for anything else. Never raises."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    text = text.strip()
    if not text.isprintable():
        return None
    if known := _WHOLE.fullmatch(text):
        scheme, _, place = known[1].partition("://")
        return _ranged(cast("Scheme", scheme), place, known[2] or "")
    if named := _NAMED.fullmatch(text):
        found = _RANGE.search(named[2])
        at = found.start() if found else len(named[2])
        return _ranged(cast("Scheme", named[1]), named[2][:at], named[2][at:]) if at else None
    return None


def _ranged(scheme: Scheme, place: str, rest: str) -> Address:
    found = _RANGE.fullmatch(rest)
    if found is None:
        # Files are often named with an @; what lives in a notebook is not.
        version = _VERSION.search(place) if scheme in ("cell", "var") else None
        if version is None or not version.start():
            return Address(scheme=scheme, place=place)
        return Address(scheme=scheme, place=place[: version.start()], version=version[1])
    first, character, last = (None if part is None else int(part) for part in found.group(1, 2, 3))
    return Address(
        scheme=scheme, place=place, first=first, last=last, character=character, version=found[4] or ""
    )


def find_all(text: str) -> tuple[Address, ...]:
    """The addresses in a text that rules wrote (lines, lists, headers), in order. Linear in the text."""
    found = (parse(match.group()) or parse(match.group().rstrip(_AFTER)) for match in _FOUND.finditer(text))
    return tuple(address for address in map(_ended, found) if address is not None)


def _ended(address: Address | None) -> Address | None:
    """Without the full stop of the sentence it stands in."""
    if address is None or address.first is not None:
        return address
    place = address.place.rstrip(_AFTER)
    # What is left may be no address by itself: of "file:#L3." a range of nothing.
    return parse(str(replace(address, place=place))) if place else None
