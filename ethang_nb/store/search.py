"""Plain-text search: which of some texts fit a query best, by SQLite's bm25 over stemmed words.

Same texts and query, same order, on every machine. A query is words and nothing else: operators, quotes and
wildcards in it are text. Chinese, Japanese and Korean, written without spaces, match by pairs of characters.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb.context.messages import clean

__all__ = ["STOP_WORDS", "Ranked", "content_words", "indexable", "match", "rank"]

_STOP_WORDS = """
    a an the and but or nor if then than that this these those as at by for from in into of on onto to with about
    i me my mine we us our you your he him his she her it its they them their there here
    am is are was were be been being do does did have has had can could will would shall should may might
    what which who whom whose when where why how not no so such please s t d ll m re ve
"""  # ► small words that say nothing about what is looked for; the last ones are what an apostrophe leaves
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Dropped from a query, not from the texts."""

_TOKENIZER = (
    "porter unicode61 remove_diacritics 2"  # ► how a text is cut into words; the record's index does likewise
)
_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"[^\W_]+(?:[-_./:@#][^\W_]+)+")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_CHARACTER = re.compile(f"([{_UNSPACED}])")
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_DIGITS = 12  # of a score: what lies behind them may differ between two machines' logarithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One text of `rank`: its position, its score (bm25, higher is better), its coverage.

    `coverage` is how many of the query's different content words stand in the text, per mille.
    """

    index: int
    score: float
    coverage: int


def rank(texts: Sequence[str], query: str, limit: int) -> tuple[Ranked, ...]:
    """The up to `limit` texts that hold a word of the query, best first; of equals the earlier one first."""
    words = content_words(query)
    if not words or limit < 1:
        return ()
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute(f"CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='{_TOKENIZER}')")
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO word (rowid, text) VALUES (?, ?)",
            ((i, indexable(text)) for i, text in enumerate(texts)),
        )
        rows = connection.execute("SELECT rowid, bm25(word) FROM word WHERE word MATCH ?", (match(query),))
        scores = {index: round(-value, _DIGITS) for index, value in rows}
        found = Counter[int]()
        for word in words:
            holding = connection.execute("SELECT rowid FROM word WHERE word MATCH ?", (_quoted(word),))
            found.update(index for (index,) in holding)
    finally:
        connection.close()
    best = sorted(scores, key=lambda index: (-scores[index], index))[:limit]
    return tuple(
        Ranked(index=index, score=scores[index], coverage=found[index] * 1000 // len(words)) for index in best
    )


def content_words(query: str) -> tuple[str, ...]:
    """The query's different words in lower case without stop words; all of them where nothing else is left."""
    words = tuple(dict.fromkeys(part for word in _WORD.findall(query.lower()) for part in _parts(word)))
    return tuple(word for word in words if word not in STOP_WORDS) or words


def match(query: str) -> str:
    """The FTS5 expression of a plain-text query: any of its content words, identifiers and numbers as wholes too.

    Every term is quoted. Empty where the query has no word.
    """
    wholes = dict.fromkeys(_JOINED.findall(query.lower()))
    return " OR ".join(_quoted(term) for term in (*content_words(query), *wholes))


def indexable(text: str) -> str:
    """`text` as it goes into an FTS5 table."""
    return clean(text) if text.isascii() else _CHARACTER.sub(r" \1 ", clean(text))


def _parts(word: str) -> list[str]:
    """The word itself; where it is written without spaces, its pairs of neighbouring characters."""
    parts: list[str] = []
    for run in [word] if word.isascii() else _RUN.findall(word):
        pairs = len(run) > 2 and _CHARACTER.match(run)
        parts += [run[i : i + 2] for i in range(len(run) - 1)] if pairs else [run]
    return parts


def _quoted(term: str) -> str:
    return f'"{indexable(term)}"'
