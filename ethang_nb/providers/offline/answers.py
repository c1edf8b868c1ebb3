"""Answers by rule: which passages in view cover a question's words, and how they are quoted.

Only what a tool returned is looked at, as text to quote and nothing else: whatever it orders, nobody obeys.
Ranking is `store.search` (SQLite's bm25). A single sentence is enough with two thirds of the words; where no
sentence has them all, neighbours together (code, short lines) must have every one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ethang_nb.providers.offline.admissions import ERROR, admits
from ethang_nb.providers.offline.pages import lines_of, page, unmarked
from ethang_nb.providers.offline.passages import Passage, plain, split, together
from ethang_nb.providers.offline.view import Item, View
from ethang_nb.store.search import rank

__all__ = ["ENOUGH", "Best", "best", "by_coverage", "hits", "passages", "quote"]

ENOUGH = 666  # ► two thirds of the question's words, per mille, rounded down as `rank` does
_MOST_QUOTES = 3
_LONGEST_QUOTE = 400  # ► characters

_HIT = re.compile(r"^(?P<address>(?:file:|spill://|log://|cell:|var:)\S.*?) \| (?P<text>.*)$")
_HIT_LINE = re.compile(r"#L(\d+)")
_RECORD = "log://"  # what was said in this session, the reader's own failures among it
_NO_SOURCE = ("list_files", "release_context")  # their answers are about the window, not about the question


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The passages that cover most of a question, equals together; `coverage` is per mille, 0 for none."""

    passages: tuple[Passage, ...] = ()
    coverage: int = 0

    @property
    def enough(self) -> bool:
        return self.coverage >= ENOUGH


def passages(view: View, question: str) -> list[Passage]:
    """Everything in view that may be quoted: pages of files and addresses, hits of the record, tools' answers."""
    found: list[Passage] = []
    for item in view.results():
        name = item.answers.name if item.answers else ""
        if name == "find_in_record":
            found += hits(item.text, question)
        elif name not in _NO_SOURCE and not item.unanswered:
            found += _of_result(item, name)
    # A source's own line before what the record says that somebody said about it.
    return sorted(found, key=_is_claim)


def hits(text: str, question: str) -> list[Passage]:
    """The hits of one search of the record. One that only repeats the question answers nothing."""
    found: list[Passage] = []
    asked = plain(question)
    for line in text.split("\n"):
        match = _HIT.match(line)
        if (
            match is None
            or match["text"].lstrip().startswith("[")
            or (match["address"].startswith(_RECORD) and admits(match["text"]))
            or (asked and asked in plain(match["text"]))
        ):
            continue
        number = _HIT_LINE.search(match["address"])
        at = int(number[1]) if number else 1
        found.append(
            Passage(text=match["text"].strip(), first=at, last=at, base=match["address"].partition("#")[0])
        )
    return found


def best(candidates: Sequence[Passage], words: Sequence[str]) -> Best:
    """The passages that cover most of `words`, at most three."""
    single = _top(candidates, words)
    if single.coverage == 1000:
        return single
    joined = _top(list(together(candidates)), words)
    return joined if joined.coverage == 1000 else single


def by_coverage(candidates: Sequence[Passage], words: Sequence[str]) -> list[Passage]:
    """Those that hold a word, most words first; of equals, definitions first, then by score."""
    ranked = rank([passage.words for passage in candidates], " ".join(words), limit=max(1, len(candidates)))
    order = sorted(ranked, key=lambda one: (-one.coverage, not candidates[one.index].defines))
    return [candidates[one.index] for one in order]


def quote(passage: Passage) -> str:
    """The sentence in quotes with its line and address."""
    text = passage.text.removeprefix("r").strip('"') if '"""' in passage.text else passage.text
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1].rstrip() + "…"
    return f'"{text}" ({passage.where})'


def _of_result(item: Item, name: str) -> list[Passage]:
    part = page(item.text)
    if item.failed or (part is None and name in ("read_file", "read_spill")):
        return []  # the tool said why it could not
    known = lines_of(item.text)
    shift = part.start - part.head - 1 if part else 0
    after = part.head if part else 0
    base = part.address.partition("#")[0] if part else ""
    body = [(number + shift, line) for number, line in sorted(known.lines.items()) if number > after]
    if base.startswith(_RECORD):
        if body and body[0][1].startswith(ERROR):
            return []
        body = [(number, line) for number, line in body if not admits(line)]
    elif part and part.part and body:
        body[-1] = (body[-1][0], unmarked(body[-1][1]))
    return split(body, base)


def _top(candidates: Sequence[Passage], words: Sequence[str]) -> Best:
    ranked = rank([passage.words for passage in candidates], " ".join(words), limit=max(1, len(candidates)))
    if not ranked:
        return Best()
    top = max(one.coverage for one in ranked)
    # Of equals, fewer pieces say the same in fewer words; then the order of the score.
    equals = sorted(
        (candidates[one.index] for one in ranked if one.coverage == top), key=lambda passage: passage.pieces
    )
    return Best(passages=tuple(_apart(equals)), coverage=top)


def _apart(equals: Sequence[Passage]) -> Iterator[Passage]:
    """The first three that neither say the same nor lie over each other."""
    taken: list[Passage] = []
    for passage in equals:
        if passage.pieces > equals[0].pieces or len(taken) == _MOST_QUOTES:
            return
        if not any(_same(passage, other) for other in taken):
            taken.append(passage)
            yield passage


def _same(one: Passage, other: Passage) -> bool:
    claim = _is_claim(one) or _is_claim(other)
    if (claim or one.base == other.base) and plain(one.text) == plain(other.text):
        return True
    return one.base == other.base and one.pieces > 1 and one.first <= other.last and other.first <= one.last


def _is_claim(passage: Passage) -> bool:
    return passage.base.startswith(_RECORD)
