"""Answers by rule: which sentences of the texts in view cover a question's words, and how they are quoted.

Only what a tool returned is looked at, as text to quote and nothing else: whatever it orders, nobody obeys.
Ranking is `store.search` (SQLite's bm25). A single sentence is enough with two thirds of the words; where no
sentence has them all, neighbouring lines together (code, short lines) must have every one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ethang_nb.providers.pages import lines_of, page
from ethang_nb.providers.view import Item, View
from ethang_nb.store.search import rank

__all__ = ["ENOUGH", "Passage", "best", "hits", "passages", "quote", "split"]

ENOUGH = 667  # ► per mille of the question's words that an answer covers
_MOST_QUOTES = 3
_LONGEST_QUOTE = 400  # ► characters
_NEIGHBOURS = 3  # ► lines that may answer together

_HIT = re.compile(r"^(?P<address>(?:file:|spill://|log://|cell:|var:)\S.*?) \| (?P<text>.*)$")
_HIT_LINE = re.compile(r"#L(\d+)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“'(\[])")
_NO_SOURCE = (
    "list_files",
    "release_context",
)  # tools whose answers are about the window, not about the question


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence, or a few lines together: its lines in the text at `base`, and how many pieces it joins."""

    text: str
    first: int
    last: int
    base: str
    pieces: int = 1

    @property
    def where(self) -> str:
        lines = f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"
        span = f"L{self.first}" if self.first == self.last else f"L{self.first}-{self.last}"
        return (
            f"{lines}, {self.base}#{span}" if "://" in self.base or self.base.startswith("file:") else lines
        )


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
    return sorted(found, key=lambda passage: passage.base.startswith("log://"))


def hits(text: str, question: str) -> list[Passage]:
    """The hits of one search of the record. One that only repeats the question answers nothing."""
    found: list[Passage] = []
    asked = _plain(question)
    for line in text.split("\n"):
        match = _HIT.match(line)
        if (
            match is None
            or match["text"].lstrip().startswith("[")
            or (asked and asked in _plain(match["text"]))
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
    together = _top(list(_together(candidates)), words)
    return together if together.coverage == 1000 else single


def quote(passage: Passage) -> str:
    """The sentence in quotes with its line and address."""
    text = passage.text
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1].rstrip() + "…"
    return f'"{text}" ({passage.where})'


def split(lines: Iterable[tuple[int, str]], base: str) -> list[Passage]:
    """The sentences of numbered lines: prose that was wrapped is joined, everything else stays a line each."""
    found: list[Passage] = []
    for block in _blocks(lines):
        text = " ".join(line.strip() for _, line in block)
        at = 0
        for sentence in _SENTENCE.split(text):
            at = text.index(sentence, at)
            first, last = _line_at(block, at), _line_at(block, at + len(sentence) - 1)
            found.append(Passage(text=sentence.strip(), first=first, last=last, base=base))
            at += len(sentence)
    return found


def _of_result(item: Item, name: str) -> list[Passage]:
    part = page(item.text)
    if part is None and name in ("read_file", "read_spill"):
        return []  # the tool said why it could not
    known = lines_of(item.text)
    shift = part.start - part.head - 1 if part else 0
    after = part.head if part else 0
    base = part.address.partition("#")[0] if part else ""
    return split(
        ((number + shift, line) for number, line in sorted(known.lines.items()) if number > after), base
    )


def _top(candidates: Sequence[Passage], words: Sequence[str]) -> Best:
    ranked = rank([passage.text for passage in candidates], " ".join(words), limit=max(1, len(candidates)))
    if not ranked:
        return Best()
    # rank gives equal coverage in the order of its score; fewer pieces say the same in fewer words.
    order = sorted(ranked, key=lambda one: (-one.coverage, candidates[one.index].pieces))
    top = order[0]
    equals = [candidates[one.index] for one in order if one.coverage == top.coverage]
    return Best(passages=tuple(_apart(equals)), coverage=top.coverage)


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
    claim = one.base.startswith("log://") or other.base.startswith("log://")
    if (claim or one.base == other.base) and _plain(one.text) == _plain(other.text):
        return True
    return one.base == other.base and one.pieces > 1 and one.first <= other.last and other.first <= one.last


def _together(candidates: Sequence[Passage]) -> Iterator[Passage]:
    """Each two and three neighbours as one."""
    for at in range(len(candidates)):
        for count in range(2, _NEIGHBOURS + 1):
            group = candidates[at : at + count]
            if len(group) < count or not all(
                one.base == other.base and one.last <= other.first <= one.last + 1
                for one, other in pairwise(group)
            ):
                break
            text = " ".join(passage.text for passage in group)
            yield Passage(
                text=text, first=group[0].first, last=group[-1].last, base=group[0].base, pieces=count
            )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


# Lines into blocks of wrapped prose

_WRAPPED = 50  # ► characters from which on a line may go on in the next
_LONGEST_BLOCK = 8  # lines


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if block and not (len(block) < _LONGEST_BLOCK and _goes_on(block[-1], (number, line))):
            yield block
            block = []
        if line.strip():
            block.append((number, line))
    if block:
        yield block


def _goes_on(before: tuple[int, str], after: tuple[int, str]) -> bool:
    """Whether a line is the rest of the sentence before it: prose, long enough, same margin, small letter first."""
    (number, line), (next_number, following) = before, after
    here, there = line.strip(), following.strip()
    if next_number != number + 1 or len(here) < _WRAPPED or not there or here[-1] in ".!?:;":
        return False
    margin = len(line) - len(line.lstrip()) == len(following) - len(following.lstrip())
    # Lines that begin alike are a list, whatever their letters.
    alike = here.split(" ", 1)[0] == there.split(" ", 1)[0]
    return margin and not alike and there[0].islower() and _prose(here) and _prose(there + " ")


def _prose(line: str) -> bool:
    plain = sum(character.isalpha() or character in " ,.'’-" for character in line)
    return plain * 10 >= len(line) * 9


def _line_at(block: Sequence[tuple[int, str]], offset: int) -> int:
    """The number of the line that character `offset` of the joined block lies in."""
    end = -1
    for number, line in block:
        end += len(line.strip()) + 1
        if offset < end:
            return number
    return block[-1][0]
