"""Wire: messages between kernel and views as JSON text, cut into parts that every host carries.

Deterministic: the same message is the same text. A lone surrogate, which no UTF-8 can hold, travels as a visible
escape; a cut never falls inside a character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

__all__ = ["MOST", "Part", "Send", "parts", "to_text"]

MOST = 60_000
"""► The most UTF-16 code units of a part, and the most bytes that they take as a JSON string."""

Part = dict[str, Any]
Send = Callable[[Part], object]
"""Takes the parts for one view, in order."""

_LONE = re.compile("[\ud800-\udfff]")
_QUOTED = '"\\'
"""What takes a byte more inside a JSON string; control characters are escapes already in what `to_text` gives."""
_numbers = count(1)


def to_text(message: Mapping[str, Any]) -> str:
    """The message as compact JSON. Raises ValueError for what is not JSON."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if text.isascii() else _LONE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text)


def parts(text: str) -> list[Part]:
    """The parts in which this JSON text travels; their number `m` is no other message's in this process."""
    pieces = _pieces(text)
    number = next(_numbers)
    return [
        {"t": "part", "m": number, "i": at, "n": len(pieces), "s": piece} for at, piece in enumerate(pieces)
    ]


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    while start < len(text) or not pieces:
        size = min(MOST, len(text) - start)
        piece = text[start : start + size]
        while (taken := _size(piece)) > MOST:
            size = max(1, min(size - 1, size * MOST // taken))
            piece = text[start : start + size]
        pieces.append(piece)
        start += size
    return pieces


def _size(piece: str) -> int:
    """Bytes as a JSON string without its quotes. UTF-16 code units are never more: one of 1 to 3 bytes, two of 4."""
    own = len(piece) if piece.isascii() else len(piece.encode())
    return own + sum(piece.count(char) for char in _QUOTED)
