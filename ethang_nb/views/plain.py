"""Plain text: data made safe to look at, measured in terminal cells, cut and put into columns.

Control, bidi and other invisible characters are shown as visible escapes, so that a title can neither
disguise itself nor drive a terminal. Everything a view shows from outside passes through `visible` or `line`.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "WIDTH",
    "Column",
    "cells",
    "clip",
    "indented",
    "line",
    "middle",
    "opened",
    "pad",
    "table",
    "visible",
]

WIDTH = 80
"""Cells of a terminal line that every text form keeps to, long addresses excepted."""

_JOINERS = "\u200c\u200d"  # parts of words in Persian and Hindi, and of emoji
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SMUGGLED = range(0xE0000, 0xE0200)  # tag characters and variation selectors that carry unseen text
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")
_SPACES = re.compile(r"[ \t\r\n\f\v]+")


def visible(text: str) -> str:
    """`text` with every control, bidi and other invisible character as an escape; line ends and tabs stay."""
    return _SUSPECT.sub(_escape, text)


def line(text: str, limit: int = 0) -> str:
    """`text` on one line, made visible, at most `limit` characters long (0: any), its end shown by "…"."""
    part = text[: 4 * limit + 64] if limit else text  # a title may be a megabyte
    return (
        clip(visible(_SPACES.sub(" ", part).strip()), limit)
        if limit
        else visible(_SPACES.sub(" ", part).strip())
    )


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, its end shown by "…"."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def opened(text: str) -> str:
    """`text` with a capital first letter."""
    return text[:1].upper() + text[1:]


def middle(text: str, width: int) -> str:
    """At most `width` cells of `text`, cut in its middle: a path tells more at its end."""
    if cells(text) <= width:
        return text
    end = _cut(text[::-1], width - width // 3)[::-1]
    return _cut(text, width - cells(end) + 1).removesuffix("…") + end


def cells(text: str) -> int:
    """Terminal cells `text` takes: two for wide characters, none for combining ones."""
    return len(text) if text.isascii() else sum(_cells(char) for char in text)


def pad(text: str, width: int, align: str = "<") -> str:
    """`text` in `width` cells, filled with spaces; what stands left is cut with "…", a number at the right never."""
    if cells(text) > width and align == "<":
        text = _cut(text, width)
    fill = " " * (width - cells(text))
    return fill + text if align == ">" else text + fill


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a text table: heading, width in cells, `<` or `>`. The last column is never filled up."""

    head: str
    width: int
    align: str = "<"


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Lines of a table: headings, then one line per row, two spaces between columns."""
    lines = [_row(columns, [column.head for column in columns], indent)]
    lines.extend(_row(columns, row, indent) for row in rows)
    return lines


def indented(text: str, indent: str = "  ", width: int = WIDTH) -> list[str]:
    """`text` wrapped to `width` with every line behind `indent`; its own line ends stay."""
    wrapper = textwrap.TextWrapper(
        width=width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines: list[str] = []
    for own in text.splitlines() or [""]:
        lines.extend(wrapper.wrap(own) or [indent.rstrip()])
    return lines


def _row(columns: Sequence[Column], row: Sequence[str], indent: str) -> str:
    parts = [pad(cell, column.width, column.align) for column, cell in zip(columns, row, strict=True)]
    return (indent + "  ".join(parts)).rstrip()


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    hidden = unicodedata.category(char) in _HIDDEN_CATEGORIES or code in _SMUGGLED
    if not hidden or char in _JOINERS:
        return char
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _cells(char: str) -> int:
    if unicodedata.combining(char) or char in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _cut(text: str, width: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += _cells(char)
        if taken > width - 1:
            return text[:index].rstrip() + "…"
    return text
