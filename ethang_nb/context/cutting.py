"""Cutting: a text brought under a token limit, head and tail kept, with a marker that says what is missing.

The marker counts inside the limit. What is missing is said in characters and lines, which are exact and cost
nothing even on a huge text. A limit too small for the marker leaves the address, the one thing that must not
go missing. A cut falls between characters, never inside one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ethang_nb.context.counting import TokenCounter

__all__ = ["cut", "head", "pieces", "tail"]

HEAD_PER_MILLE = 750  # ► of what stays of a cut text, the share from its beginning
WIDEST = (
    12  # characters a token rarely exceeds; where a text is wider the cut is only shorter than it could be
)
LINE_BACK_PER_MILLE = 200  # ► how far a cut may step back to end at a line's end

_MARKER = re.compile(
    r"^\[… [\d,]+ characters left out, (?:lines [\d,]+-[\d,]+ of ([\d,]+)|of 1 line); the whole text: [^\n]*\]$",
    re.M,
)


def cut(text: str, limit: int, counter: TokenCounter, address: str, *, reader: str = "") -> str:
    """`text` in at most `limit` tokens: head, marker, tail. The whole is returned where it fits."""
    if not counter.over(text, limit):
        return text
    lines = text.count("\n") + 1
    alone = _marker(len(text), 1, lines, lines, address, reader)
    room = limit - counter.count(alone) - 2
    if room < 8:
        return head(f"[… {address}]" if counter.over(alone, limit) else alone, limit, counter)
    first = head(text, room * HEAD_PER_MILLE // 1000, counter)
    last = tail(text[len(first) :], room - counter.count(first), counter)
    missing = len(text) - len(first) - len(last)
    from_line = first.count("\n") + 1
    begins_line = not last or text[len(text) - len(last) - 1] == "\n"
    to_line = lines - last.count("\n") - begins_line
    shown = (
        f"{first.rstrip()}\n{_marker(missing, from_line, to_line, lines, address, reader)}\n{last.lstrip()}"
    )
    while counter.over(shown, limit) and last:
        last = last[len(last) // 4 + 1 :]
        shown = f"{first.rstrip()}\n{_marker(missing, from_line, to_line, lines, address, reader)}\n{last.lstrip()}"
    return shown if not counter.over(shown, limit) else head(shown, limit, counter)


def pieces(shown: str) -> tuple[tuple[str, int], ...]:
    """Head and tail of a text that was cut, each with how many lines of the whole text precede it.

    A text that was not cut is one piece.
    """
    markers = list(_MARKER.finditer(shown))
    if not markers:
        return ((shown, 0),)
    first, last = markers[0], markers[-1]
    tail = shown[last.end() :].removeprefix("\n")
    whole = int((last[1] or "1").replace(",", ""))
    return (shown[: first.start()], 0), (tail, max(0, whole - tail.count("\n") - 1))


def head(text: str, limit: int, counter: TokenCounter) -> str:
    """The longest beginning of `text` within `limit` tokens, ended at a line's end where one is near."""
    return _within(text, limit, counter, lambda size: text[:size], lambda kept: kept.rfind("\n") + 1)


def tail(text: str, limit: int, counter: TokenCounter) -> str:
    """The longest end of `text` within `limit` tokens, begun at a line's start where one is near."""
    total = len(text)
    kept = _within(text, limit, counter, lambda size: text[total - size :], len)
    start = kept.find("\n") + 1
    return kept[start:] if 0 < start <= len(kept) * LINE_BACK_PER_MILLE // 1000 else kept


def _within(
    text: str, limit: int, counter: TokenCounter, take: Callable[[int], str], line_end: Callable[[str], int]
) -> str:
    low, high = 0, min(len(text), max(0, limit) * WIDEST)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.over(take(middle), limit):
            high = middle - 1
        else:
            low = middle
    kept = take(low)
    end = line_end(kept)
    return kept[:end] if end >= len(kept) * (1000 - LINE_BACK_PER_MILLE) // 1000 else kept


def _marker(missing: int, from_line: int, to_line: int, lines: int, address: str, reader: str) -> str:
    where = f"lines {from_line:,}-{to_line:,} of {lines:,}" if lines > 1 else "of 1 line"
    how = f", read it with {reader}" if reader else ""
    return f"[… {missing:,} characters left out, {where}; the whole text: {address}{how}]"
