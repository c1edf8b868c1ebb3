"""Passages: a text as sentences that can be quoted, each with its lines, its place and the definition it is in.

Prose that was wrapped is joined to sentences; code, lists and tables stay a line each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Passage", "plain", "split", "together"]

Numbered = tuple[int, str]

_NEIGHBOURS = 3  # ► passages that may answer together
_WRAPPED = 50  # ► characters from which on a line may go on in the next
_LONGEST_BLOCK = 8  # lines

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“'(\[])")
_DEFINITION = re.compile(r"(?:async\s+def|def|class|func|function|fn)\s+\w+\s*[(:{<]")
_CODE = re.compile(r"[={}]|\):|\bself\.|;$")
_PLAIN_WORD = re.compile(r"[\"'“(*`\[]*[^\W\d_][\w'’-]*[.,;:!?)\"'”*`\]]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence, or a few together: its lines in the text at `base`, and how many pieces it joins.

    `base` is an address, "" where the text has none, or a few words instead of one. `scope` is the line of the
    definition around it, "" outside of code.
    """

    text: str
    first: int
    last: int
    base: str
    scope: str = ""
    pieces: int = 1

    @property
    def defines(self) -> bool:
        """Whether it is the first line of a definition in code."""
        return bool(_DEFINITION.match(self.text))

    @property
    def words(self) -> str:
        """What is searched: its text and its scope, names in humps also as words (`DuplicateKey`: duplicate key)."""
        said = f"{self.text}\n{self.scope}" if self.scope else self.text
        humps = _HUMP.sub(" ", said)
        return said if humps == said else f"{said}\n{humps}"

    @property
    def where(self) -> str:
        """Its line and address, as an answer gives them."""
        lines = f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"
        span = f"L{self.first}" if self.first == self.last else f"L{self.first}-{self.last}"
        if self.base and "://" not in self.base and not self.base.startswith("file:"):
            return self.base  # no text with lines, but a word for where it stands
        place = f", {self.base}#{span}" if self.base else ""
        inside = f", in {self.scope.rstrip(':{ ')}" if self.scope and self.scope not in self.text else ""
        return f"{lines}{place}{inside}"


def split(lines: Iterable[Numbered], base: str) -> list[Passage]:
    """The sentences of numbered lines."""
    found: list[Passage] = []
    scopes: list[tuple[int, str]] = []  # (indent, line) of the definitions around the current line
    for block in _blocks(lines):
        indent = _indent(block[0][1])
        while scopes and scopes[-1][0] >= indent:
            scopes.pop()
        text = " ".join(line.strip() for _, line in block)
        scope = scopes[-1][1] if scopes else ""
        at = 0
        for sentence in _SENTENCE.split(text):
            at = text.index(sentence, at)
            first, last = _line_at(block, at), _line_at(block, at + len(sentence) - 1)
            found.append(Passage(text=sentence.strip(), first=first, last=last, base=base, scope=scope))
            at += len(sentence)
        if _DEFINITION.match(text):
            scopes.append((indent, text))
    return found


def together(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Each two and three neighbours as one."""
    for at, first in enumerate(passages):
        for count in range(2, _NEIGHBOURS + 1):
            group = passages[at : at + count]
            if len(group) < count or not all(_touch(one, other) for one, other in pairwise(group)):
                break
            text = " ".join(passage.text for passage in group)
            last = group[-1].last
            yield Passage(
                text=text, first=first.first, last=last, base=first.base, scope=first.scope, pieces=count
            )


def plain(text: str) -> str:
    """The words of `text` alone, to tell whether two texts say the same."""
    return " ".join(re.findall(r"\w+", text.lower()))


def _touch(one: Passage, other: Passage) -> bool:
    return one.base == other.base and one.last <= other.first <= one.last + 1


def _blocks(lines: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    block: list[Numbered] = []
    for number, line in lines:
        if block and not (len(block) < _LONGEST_BLOCK and _goes_on(block[-1], (number, line))):
            yield block
            block = []
        if line.strip():
            block.append((number, line))
    if block:
        yield block


def _goes_on(before: Numbered, after: Numbered) -> bool:
    """Whether a line is the rest of the sentence before it: prose, long enough, same margin, small letter first."""
    (number, line), (next_number, following) = before, after
    here, there = line.strip(), following.strip()
    if next_number != number + 1 or len(here) < _WRAPPED or not there or here[-1] in ".!?:;":
        return False
    # Lines that begin alike are a list, whatever their letters.
    alike = here.split(" ", 1)[0] == there.split(" ", 1)[0]
    small = there.lstrip("\"'`*(_")[:1].islower()
    return _indent(line) == _indent(following) and small and not alike and _prose(here) and _prose(there)


def _prose(line: str) -> bool:
    words = line.split()
    return (
        not _CODE.search(line)
        and sum(bool(_PLAIN_WORD.fullmatch(word)) for word in words) * 10 >= len(words) * 8
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line_at(block: Sequence[Numbered], offset: int) -> int:
    """The number of the line that character `offset` of the joined block lies in."""
    end = -1
    for number, line in block:
        end += len(line.strip()) + 1
        if offset < end:
            return number
    return block[-1][0]
