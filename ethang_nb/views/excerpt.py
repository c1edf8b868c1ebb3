"""Excerpts: long lists are cut in the middle, with a line that says how many more there are and how to see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ethang_nb.views.markup import Markup, lines
from ethang_nb.views.numbers import grouped

__all__ = ["Excerpt", "excerpt", "fitting", "rows_within", "size"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt(Generic[T]):
    """The first and the last items of a sequence; `start` and `stop` are the slice between them that is not shown."""

    head: tuple[T, ...]
    tail: tuple[T, ...]
    start: int
    stop: int

    @property
    def hidden(self) -> int:
        return self.stop - self.start

    def gap(self, where: str) -> str:
        """The line that stands for what is not shown; `where` is the Python expression that holds all of it."""
        return f"… {grouped(self.hidden)} more; see {where}[{self.start}:{self.stop}]"


def excerpt(items: Sequence[T], most: int, *, first: int | None = None) -> Excerpt[T]:
    """At most `most` of `items`: `first` of them (a quarter) from the start, the rest from the end."""
    total = len(items)
    if total <= most:
        return Excerpt(head=tuple(items), tail=(), start=total, stop=total)
    start = most // 4 if first is None else min(first, most)
    stop = total - (most - start)
    return Excerpt(head=tuple(items[:start]), tail=tuple(items[stop:]), start=start, stop=stop)


def size(markup: Markup | None) -> int:
    """Bytes of UTF-8."""
    return len(markup.encode()) if markup else 0


def fitting(forms: Iterable[Markup], room: int) -> Markup:
    """The first of `forms` that takes at most `room` bytes, else the last; they come fullest first."""
    chosen = Markup("")
    for form in forms:
        chosen = form
        if size(form) <= room:
            break
    return chosen


def rows_within(
    items: Sequence[T],
    draw: Callable[[T], Markup],
    gap: Callable[[str], Markup],
    *,
    where: str,
    most: int,
    allowance: int,
    first: int | None = None,
) -> Markup:
    """Rows of at most `most` items in at most `allowance` bytes of UTF-8, halved until they fit."""
    while True:
        shown = excerpt(items, most, first=first)
        middle = [gap(shown.gap(where))] if shown.hidden else []
        rows = lines([*(draw(item) for item in shown.head), *middle, *(draw(item) for item in shown.tail)])
        if most == 0 or size(rows) <= allowance:
            return rows
        most //= 2
