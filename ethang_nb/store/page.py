"""Pages: how a text of any length is read back a part at a time, under its address.

A page is one header line and then an exact slice of the text, line ends included, so the slices of the pages
that follow each other's headers join to the original, character for character. A page ends after the last
whole line that fits; a line that is longer than a page by itself is given in parts, counted in characters:

    [spill://0123456789ab lines 1-200 of 900; read on with start=201]
    [spill://0123456789ab line 7 of 9, characters 1-15800 of 27006; read on with ref=spill://0123456789ab#L7C15801]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ethang_nb.errors import NoSuchAddress

__all__ = ["LINES", "PAGE", "page"]

LINES = 200  # ► lines of a page where no end is named
PAGE = 16_000  # ► characters of a page, its header included
_HEADER = 120  # characters of the longest header beside the address, which may stand in it twice
_PIECE = re.compile(r"[^\n]*\n|[^\n]+")


def page(
    base: str,
    chunks: Iterable[str],
    start: int = 1,
    end: int = LINES,
    *,
    character: int = 1,
    limit: int = PAGE,
) -> str:
    """Lines `start` to `end` of the text that `chunks` join to, from `character` of the first line on.

    `base` is the text's address in the header. At most `limit` characters, header included. An `end` before
    `start` means a page of 200 lines. Raises NoSuchAddress for a start behind the text's end.
    """
    start, character = max(1, start), max(1, character)
    room = max(1, limit - _HEADER - 2 * len(base))
    slice_ = _Slice(start, end if end >= start else start + LINES - 1, character - 1, room)
    for chunk in chunks:
        slice_.feed(chunk)
    slice_.finish()
    return f"[{_header(base, slice_)}]\n{slice_.text}"


def _header(base: str, slice_: _Slice) -> str:
    first, last, total = slice_.first, slice_.shown, slice_.total
    if not total and first == 1:
        return f"{base} is empty"
    if first > total:
        raise NoSuchAddress(f"{base} has {total} lines; start={first} is behind its end")
    if slice_.skip and slice_.skip >= slice_.width:
        raise NoSuchAddress(
            f"line {first} of {base} has {slice_.width} characters; character {slice_.skip + 1} is behind its end"
        )
    if not slice_.skip and not slice_.cut:
        on = f"; read on with start={last + 1}" if last < total else ""
        return f"{base} lines {first}-{last} of {total}{on}"
    until = slice_.skip + len(slice_.text.removesuffix("\n"))
    where = f"{base} line {first} of {total}, characters {slice_.skip + 1}-{until} of {slice_.width}"
    if slice_.cut:
        return f"{where}; read on with ref={base}#L{first}C{until + 1}"
    return f"{where}; read on with start={first + 1}" if first < total else where


class _Slice:
    """Takes the wanted slice out of a stream of text; keeps no more of it than `room` characters and a chunk.

    `shown` is the last line taken, `total` the lines of the text, `width` the characters of the first line
    taken without its line end, `cut` whether that line did not fit.
    """

    def __init__(self, first: int, last: int, skip: int, room: int) -> None:
        # A page that begins inside a line ends with that line.
        self.first, self.last, self.skip, self.room = first, first if skip else last, skip, room
        self.shown, self.total, self.width, self.cut = first - 1, 0, 0, False
        self._taken: list[str] = []
        self._line: list[str] = []  # of the line that is being read, what may still be taken
        self._number, self._full, self._inside = 1, False, False

    @property
    def text(self) -> str:
        return "".join(self._taken)

    def feed(self, chunk: str) -> None:
        if not chunk:
            return
        ends = chunk.count("\n")
        done = self._number > self.last or (self._full and self._number != self.first)
        if done or self._number + ends < self.first:
            self._number += ends
        else:
            for piece in _PIECE.findall(chunk):
                self._read(piece)
        self._inside = not chunk.endswith("\n")

    def finish(self) -> None:
        if self._inside:
            self._end_line()
        self.total = self._number - 1

    def _read(self, piece: str) -> None:
        ended = piece.endswith("\n")
        if self._number == self.first:
            fresh = piece[max(0, self.skip - self.width) :]
            self.width += len(piece) - ended
            self._offer(fresh)
        elif self.first < self._number <= self.last:
            self._offer(piece)
        if ended:
            self._end_line()

    def _offer(self, piece: str) -> None:
        """Keeps the piece while its line fits; of the first line, the part that does."""
        if self._full:
            return
        if len(piece.removesuffix("\n")) <= self.room:
            self._line.append(piece)
            self.room -= len(piece)
            return
        self._full = True
        if self._number == self.first:
            self.cut = True
            self._line.append(piece[: self.room])
        else:
            self._line.clear()

    def _end_line(self) -> None:
        if self._line and self.first <= self._number <= self.last:
            self._taken += self._line
            self._line.clear()
            self.shown = self._number
        self._number += 1
