r"""Whether a text has more tokens than a limit, seen from its characters without counting any of it.

Two bounds from below hold for both encodings. They answer `yes` soon for most texts that are far over the
limit; `no` only means that they cannot tell.

1. *Pieces.* Every place where any text splits (rule 1 of `cuts`) begins another piece, and no token spans two.
   Two kinds of such places are counted: an ASCII letter or digit before a blank, and one before punctuation.
2. *Widths.* No token that holds an ASCII letter or digit is longer than `WORD_BYTES`, and none that holds a
   line end is longer than `LINE_END_BYTES` (a test holds both). So a run without any such place, as in base64
   or a megabyte of one letter, has its share of tokens all the same.
"""

from __future__ import annotations

import string

__all__ = ["LINE_END_BYTES", "TOKEN_BYTES", "WORD_BYTES", "surely_over"]

TOKEN_BYTES = 128  # the longest token of either encoding
WORD_BYTES = 42  # the longest one with an ASCII letter or digit in it
LINE_END_BYTES = 82  # the longest one with a line feed in it

# ► Characters for which at least one piece must be found. Prose has one in eight, code in ten; where sixteen hold
# less, counting the first part of the text is as quick.
_LOOK = 16
_BLOCK = 16_384

_WORD = b"a"


def _kind(byte: int) -> bytes:
    character = chr(byte)
    if character in string.ascii_letters + string.digits:
        return _WORD
    if character in string.punctuation and character != "'":  # the apostrophe of a contraction ends no piece
        return b"."
    return b" " if character in " \t\x0b\x0c" else b"?"


_KINDS = b"".join(map(_kind, range(256)))
_SPLITS = (_WORD + b" ", _WORD + b".")


def surely_over(text: str, limit: int) -> bool:
    """Whether the bounds alone say that `text` has more than `limit` tokens."""
    return len(text) > limit and (_pieces_over(text, limit) or _widths_over(text, limit))


def _pieces_over(text: str, limit: int) -> bool:
    pieces = 1
    for start in range(0, min(len(text), limit * _LOOK), _BLOCK):
        kinds = _kinds(text[start : start + _BLOCK])
        pieces += sum(map(kinds.count, _SPLITS))
        if pieces > limit:
            return True
        if pieces * _LOOK < start + _BLOCK:
            return False
    return False


def _widths_over(text: str, limit: int) -> bool:
    # Only where that is cheap to look at and can be the answer at all.
    if len(text) <= limit * WORD_BYTES or not text.isascii():
        return False
    words = _kinds(text[: limit * TOKEN_BYTES]).count(_WORD)
    return words // WORD_BYTES + text.count("\n", 0, limit * TOKEN_BYTES) // LINE_END_BYTES > limit


def _kinds(text: str) -> bytes:
    """One byte a byte of the text: `a` word, `.` punctuation, blank, `?` what no rule here knows."""
    return text.encode("utf-8", "surrogatepass").translate(_KINDS)
