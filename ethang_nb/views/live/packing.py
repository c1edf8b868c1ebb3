"""Packing: the marks of rows as they travel, in few characters: long runs as such, what alternates as a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ethang_nb.context.draft import Span
from ethang_nb.context.marks import NO_MARK

__all__ = ["FIRST", "Piece", "packed"]

Piece = list[int | str]
"""[from, to, mark], or [from, text] with one character a row: the mark's number is its code point less FIRST."""
FIRST = 48
_RUN, _TEXT = 14, 10  # characters that a run takes, and a text beside its own


def packed(rows: Iterable[int], codes: Sequence[int]) -> list[Piece]:
    """The marks of these rows, in order, in few characters. A text also says the marks of rows between them."""
    pieces: list[Piece] = []
    for start, stop, uniform in _groups(_runs(rows, codes)):
        if uniform:
            pieces.append([start, stop, codes[start]])
        else:
            # A row between them that is not live has no mark; whatever is said of it is said of nothing.
            pieces.append([start, "".join([chr(FIRST + code % NO_MARK) for code in codes[start:stop]])])
    return pieces


def _runs(rows: Iterable[int], codes: Sequence[int]) -> Iterator[Span]:
    start = stop = -1
    for row in rows:
        if row == stop and codes[row] == codes[start]:
            stop += 1
            continue
        if stop > start:
            yield start, stop
        start, stop = row, row + 1
    if stop > start:
        yield start, stop


class _Group(NamedTuple):
    """Runs that travel together: one as it is, several as one text."""

    start: int
    stop: int
    uniform: bool

    @property
    def cost(self) -> int:
        return _RUN if self.uniform else _TEXT + self.stop - self.start


def _groups(runs: Iterable[Span]) -> Iterator[_Group]:
    """Joined wherever the text takes less than both did apart."""
    last: _Group | None = None
    for start, stop in runs:
        if last is not None:
            joined = _Group(last.start, stop, uniform=False)
            if joined.cost < last.cost + _RUN:
                last = joined
                continue
            yield last
        last = _Group(start, stop, uniform=True)
    if last is not None:
        yield last
