"""Versions: which texts have moved since they were read, by the addresses of what was read, in order.

A version is the hash of the lines shown. So one range of lines that comes back with another hash has moved;
another range of the same file is another page, of which nothing is known. Two readings of the whole file are
readings of the same thing, whatever their last line: where they differ, the file has moved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ethang_nb.context.address import Address, logged, parse

__all__ = ["Stale", "Versions", "total_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """What stood at `address` moved at event `since` of the record; `now` is where its newest reading stands."""

    address: str
    since: int
    now: str

    def __str__(self) -> str:
        return f"stale since {logged(self.since)}, read again at {self.now}"


class Versions:
    """The newest version of every place that was read. Entering and asking are O(1)."""

    __slots__ = ("_moved", "_ranges", "_wholes")

    def __init__(self) -> None:
        self._ranges: dict[str, str] = {}
        """A place with its range -> the address of its newest reading."""
        self._wholes: dict[str, str] = {}
        """A file -> the address of its newest reading from the first line to the last."""
        self._moved: dict[str, int] = {}
        """An address -> the event in which its text first came back as another."""

    def copy(self) -> Versions:
        twin = Versions()
        twin._ranges, twin._wholes, twin._moved = dict(self._ranges), dict(self._wholes), dict(self._moved)
        return twin

    def enter(self, log: int, address: str, *, total: int | None = None) -> None:
        """A text that was read at `address` enters with event `log`. What names no version says nothing.

        `total`: how many lines the file had then, where that is known (`total_of`).
        """
        read = parse(address)
        if read is None or not read.version:
            return
        text = str(read)
        self._moved.pop(text, None)  # it is as it was once more
        self._take(self._ranges, read.unversioned, text, log)
        if total is not None and _is_whole(read, total):
            self._take(self._wholes, read.base, text, log)

    def _take(self, newest: dict[str, str], key: str, text: str, log: int) -> None:
        before = newest.get(key, text)
        if before != text:
            self._moved.setdefault(before, log)
        newest[key] = text

    @property
    def moved(self) -> int:
        """How many readings are stale."""
        return len(self._moved)

    def stale(self, address: str) -> Stale | None:
        """None where the text still stands as it was read, as far as is known."""
        read = parse(address)
        since = None if read is None else self._moved.get(str(read))
        if read is None or since is None:
            return None
        return Stale(address=str(read), since=since, now=self._newest(read))

    def _newest(self, read: Address) -> str:
        """Of the same lines, else of the whole file, whichever nothing newer is known of."""
        now = self._ranges[read.unversioned]
        if now == str(read) or now in self._moved:
            now = self._wholes.get(read.base, now)
        again = parse(now)
        return self._ranges[again.unversioned] if now in self._moved and again is not None else now


def _is_whole(read: Address, total: int) -> bool:
    return read.lines is not None and read.lines[0] == 1 and read.character is None and read.lines[1] >= total


_TOP = 3  # lines among which a page's header stands
_LONGEST_LINE = 4_000
_OF = re.compile(r"(?: lines? [0-9]{1,9}(?:-[0-9]{1,9})?)? of ([0-9][0-9,]{0,14})")


def total_of(text: str, address: str) -> int | None:
    """How many lines the whole file has, by the header of a page that was read of it; None where none says so.

    Only a header that names `address` counts: what a file says of itself in its own lines does not.
    """
    read = parse(address)
    if read is None or read.first is None:
        return None
    for line in text[: _TOP * _LONGEST_LINE].split("\n", _TOP)[:_TOP]:
        for head in (f"[{read}", f"[{read.base}"):
            found = _OF.match(line, len(head)) if line.startswith(head) else None
            if found is not None:
                return int(found[1].replace(",", ""))
    return None
