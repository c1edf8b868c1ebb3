"""The exact counter: what tiktoken would say, for any text, in time that only grows with its length.

Special tokens written in a text are plain text, as they are to a provider that is sent a string. A lone
surrogate counts as U+FFFD. Long texts are cut by the rules of `cuts`; the count stays exact.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ethang_nb.errors import Misuse
from ethang_nb.tokens.bounds import TOKEN_BYTES, surely_over
from ethang_nb.tokens.cuts import BLOCK, LONGEST, piece_tokens, safe_cut
from ethang_nb.tokens.ranks import load

if TYPE_CHECKING:
    import regex

__all__ = ["ExactCounter"]

_CHARACTER_BYTES = 4  # the longest character in UTF-8


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCounter:
    """Counts with the encoding called `name`, which is loaded at the first count.

    The first count raises `RanksMissing` where the ranks are not installed; no text raises anything.
    """

    name: str
    how: Literal["exact"] = "exact"

    def count(self, text: str) -> int:
        """Tokens of `text`. Raises Misuse where it is none."""
        if not isinstance(text, str):
            raise Misuse(
                f"{' '.join(repr(text).split())[:60]} is a {type(text).__name__}; count() takes a text"
            )
        if len(text) <= LONGEST:
            return len(load(self.name).encode_ordinary(text))
        return sum(_counts(self.name, text))

    def over(self, text: str, limit: int) -> bool:
        """Whether `text` has more than `limit` tokens; reads no more of it than the answer needs."""
        if len(text) > limit * TOKEN_BYTES:
            return True
        if len(text) * _CHARACTER_BYTES <= limit:
            return False
        if surely_over(text, limit):
            return True
        total = 0
        for tokens in _counts(self.name, text):
            total += tokens
            if total > limit:
                return True
        return False


def _counts(encoding: str, text: str) -> Generator[int, None, None]:
    """The tokens of `text` in parts, whose sum is the count of the whole."""
    encode = load(encoding).encode_ordinary
    text = _mended(text)
    start = 0
    while len(text) - start > LONGEST:
        cut = safe_cut(text, start)
        if cut is None:
            start = yield from _counts_by_piece(encoding, text, start)
        else:
            yield len(encode(text[start:cut]))
            start = cut
    yield len(encode(text[start:]))


def _counts_by_piece(encoding: str, text: str, start: int) -> Generator[int, None, int]:
    """The tokens of all pieces from `start` on, for `LONGEST` characters or one longer piece."""
    tokenizer = load(encoding)
    encode, merge, unmerge = tokenizer.encode_ordinary, tokenizer._encode_single_piece, tokenizer.decode_bytes  # noqa: SLF001
    end = run = start
    for piece in _pattern(encoding).finditer(text, start):
        first, end = piece.span()
        # White space looks ahead, so a run of pieces that are encoded together must not end in any.
        alone = text[first].isspace() or end - first > BLOCK
        if alone:
            if run < first:
                yield len(encode(text[run:first]))
            yield piece_tokens(piece.group().encode(), merge, unmerge)
            run = end
        if end - start >= LONGEST:
            break
    if run < end:
        yield len(encode(text[run:end]))
    return end


@cache
def _pattern(encoding: str) -> regex.Pattern[str]:
    import regex

    return regex.compile(load(encoding)._pat_str)  # noqa: SLF001


def _mended(text: str) -> str:
    """`text` with each lone surrogate as U+FFFD and each pair as its character, as tiktoken does it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
