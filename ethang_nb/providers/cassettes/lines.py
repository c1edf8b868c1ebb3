"""The lines of a cassette: requests and answers as values, canonical JSON, and the hashes they are found by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Answer", "Asked", "common", "digest", "packed"]

KEY_DIGITS = 32  # ► hex digits of an exchange's key
PIECE_DIGITS = 16  # ► of a piece's
_SPLITTERS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""Ends of a line to some editors; here only a line feed is one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a cassette knows it: to whom, where, and the scrubbed texts of its pieces."""

    origin: str
    path: str
    pieces: tuple[str, ...]

    @property
    def hashes(self) -> tuple[str, ...]:
        return tuple(map(digest, self.pieces))

    @property
    def key(self) -> str:
        return hashlib.sha256(packed([self.origin, self.path, *self.hashes])).hexdigest()[:KEY_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was answered: the status, the content type and the scrubbed text of the body.

    `notes` are the lines that whoever waited was told meanwhile.
    """

    status: int
    type: str
    text: str
    notes: tuple[str, ...] = ()


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two sequences have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:PIECE_DIGITS]


def packed(value: Any) -> bytes:
    """Canonical JSON on one line; a lone surrogate is JSON but not UTF-8, so with one all is written in escapes."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        return text.translate(_SPLITTERS).encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
