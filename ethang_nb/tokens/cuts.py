r"""Where a long text may be cut without changing its token count.

Both encodings first split a text into *pieces* by a pattern, then merge the bytes of each piece into tokens.
The pattern never looks back, so what follows a place where it splits anyway is counted the same alone. Three
kinds of cut follow, tried in this order:

1. *Between two pieces, seen from two characters* (`safe_cut`). No alternative of either pattern spans
   - a character that is not white space and a blank after it: blanks only ever begin a piece;
   - a line end and what is neither white space nor a slash after it: line ends only ever finish a piece,
     where o200k takes slashes along (`;\n//`);
   - an ASCII letter or digit and ASCII punctuation after it other than the apostrophe of a contraction;
   - an ASCII letter and an ASCII digit, either way round: digits share a piece with nothing.
   What stands before the cut is split as before too: only white space looks ahead, and a run of it left at
   the end of the text by such a cut ends in a line end, which makes it one piece either way.
2. *Between two pieces, found by the pattern itself*, where 16,000 characters hold no such place.
3. *Inside one long piece* (`piece_tokens`), where merging decides, not the pattern. Merges go by rank, then
   from left to right, so whether the border between two tokens is ever merged across depends on these two
   alone. A row of tokens is therefore what merging the whole would give if and only if each two neighbours,
   merged alone, stay those two. Blocks are merged alone; then the tokens at each joint are merged again, with
   ever more of their neighbours, until the borders around them hold.

Rules 1 and 3 hold for any text. Rule 2 runs the pattern in Python's `regex`, whose Unicode tables may be of
another year than tiktoken's: in 16,000 characters without a cut of rule 1, a character assigned between the
two might move a border.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["BLOCK", "LONGEST", "Merge", "Unmerge", "piece_tokens", "safe_cut"]

# ► Characters given to tiktoken at once; its regex engine panics on 1,000,000 blanks.
LONGEST = 16_000
# ► Bytes of one piece merged at once; longer blocks cost more per byte.
BLOCK = 4_096

Merge = Callable[[bytes], list[int]]
Unmerge = Callable[[list[int]], bytes]

# Unicode's White_Space without line ends; Python's own \s holds four control characters more.
_BLANK = "\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SAFE = re.compile(
    rf"(?<=[^\r\n{_BLANK}])(?=[{_BLANK}])"
    rf"|(?<=[\r\n])(?=[^/\r\n{_BLANK}])"
    r"|(?<=[A-Za-z0-9])(?=[!-&(-/:-@\[-`{-~])"
    r"|(?<=[A-Za-z])(?=[0-9])"
    r"|(?<=[0-9])(?=[A-Za-z])"
)


def safe_cut(text: str, start: int) -> int | None:
    """A place where any text splits, 8,000 to 16,000 characters after `start`, if there is one."""
    found = _SAFE.search(text, start + LONGEST // 2, start + LONGEST)
    return found.start() if found else None


def piece_tokens(piece: bytes, merge: Merge, unmerge: Unmerge) -> int:
    """The number of tokens that `merge` makes of one piece, in time that only grows with its length."""
    if len(piece) <= BLOCK:
        return len(merge(piece))
    tokens: list[int] = []
    merged: dict[bytes, list[int]] = {}  # a long piece is mostly one thing again and again, joints included

    def remembered(part: bytes) -> list[int]:
        if part not in merged:
            merged[part] = merge(part)
        return merged[part]

    for start in range(0, len(piece), BLOCK):
        _append(tokens, remembered(piece[start : start + BLOCK]), remembered, unmerge)
    return len(tokens)


def _append(tokens: list[int], more: list[int], merge: Merge, unmerge: Unmerge) -> None:
    """Extends `tokens` by `more`, each the merge of its bytes, to the merge of both together."""
    if not tokens:
        tokens.extend(more)
        return
    around = 1
    while True:
        joint = merge(unmerge(tokens[-around:] + more[:around]))
        before, after = tokens[-around - 1 : -around], more[around : around + 1]
        if _borders_hold(before + joint[:1], merge, unmerge) and _borders_hold(
            joint[-1:] + after, merge, unmerge
        ):
            tokens[-around:] = joint + more[around:]
            return
        around *= 2


def _borders_hold(neighbours: list[int], merge: Merge, unmerge: Unmerge) -> bool:
    return merge(unmerge(neighbours)) == neighbours
