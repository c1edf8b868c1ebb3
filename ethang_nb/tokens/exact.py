"""The exact counter: what tiktoken would say, for any text, in time that only grows with its length.

Special tokens written in a text are plain text, as they are to a provider that is sent a string. A lone
surrogate counts as U+FFFD. Long texts are cut by the rules of `cuts`; the count stays exact.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ethang_nb.tokens.cuts import LONGEST, piece_tokens, safe_cut
from ethang_nb.tokens.ranks import load

if TYPE_CHECKING:
    import regex

__all__ = ["ExactCounter"]

_TOKEN_BYTES = 128  # the longest token of either encoding; a test holds it
_CHARACTER_BYTES = 4  # the longest character in UTF-8


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCounter:
    """Counts with the encoding called `name`, which is loaded at the first count.

    The first count raises `RanksMissing` where the ranks are not installed; no text raises anything.
    """

    name: str
    how: Literal["exact"] = "exact"

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        if len(text) <= LONGEST:
            return len(load(self.name).encode_ordinary(text))
        return sum(_counts(self.name, text))

    def over(self, text: str, limit: int) -> bool:
        """Whether `text` has more than `limit` tokens; reads no more of it than the answer needs."""
        if len(text) > limit * _TOKEN_BYTES:
            return True
        if len(text) * _CHARACTER_BYTES <= limit:
            return False
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
    """The tokens of each piece from `start` on, for `LONGEST` characters or one longer piece."""
    tokenizer, pattern = load(encoding), _pattern(encoding)
    merge, unmerge = tokenizer._encode_single_piece, tokenizer.decode_bytes  # noqa: SLF001
    end = start
    while end < len(text) and end - start < LONGEST:
        piece = pattern.match(text, end)
        assert piece is not None, f"the pattern of {encoding} leaves out character {end}"  # noqa: S101
        yield piece_tokens(piece.group().encode(), merge, unmerge)
        end = piece.end()
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
