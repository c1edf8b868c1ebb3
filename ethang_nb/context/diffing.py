"""Diffing: what a cleanup did to the texts: what left, what stands for it, which facts survived.

A fact of a departed text is *kept* where the same string still stands in the note, the core or the rest of
the window, else *lost*, with the address where it can be read. A fact of the note's prose that stands in
nothing the note was made from is *invented*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ethang_nb.context.facts import FactString, facts
from ethang_nb.context.snapshot import Fact

__all__ = ["Gone", "compare", "line_address"]

SMALL = 1_000  # ► whole numbers below are not called invented
_RANGE = re.compile(r"#L(\d+)(?:-\d+)?(?:@[0-9a-f]+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A text that left the window, with its address; `offset` is how many lines of it precede the addressed text."""

    text: str
    address: str
    offset: int = 0


def compare(
    gone: Sequence[Gone], *, note: str, core: str, window: Iterable[str], sources: str
) -> tuple[Fact, ...]:
    """What became of every fact of the texts that left.

    `window` holds the texts that still stand there, `sources` all that the note was made from. The window's own
    facts are found once and looked up; only what is not among them is searched for.
    """
    found: dict[str, Fact] = {}
    texts = list(window)
    standing = {fact.text for text in texts for fact in facts(text)}
    whole = "\n".join(texts)
    for item in gone:
        for fact in facts(item.text):
            if fact.text in found:
                continue
            where = next((name for name, text in (("note", note), ("core", core)) if _stands(fact, text)), "")
            where = where or ("window" if fact.text in standing or _stands(fact, whole) else "")
            found[fact.text] = Fact(
                text=fact.text,
                kind=fact.kind,
                fate="kept" if where else "lost",
                where=where or line_address(item.address, fact.line - item.offset),
            )
    for fact in facts(note):
        known = fact.text in standing or any(_stands(fact, text) for text in (sources, core))
        if fact.text not in found and not known and not _counts(fact) and not _points(fact, note, sources):
            found[fact.text] = Fact(text=fact.text, kind=fact.kind, fate="invented", where="note")
    return tuple(found.values())


def _stands(fact: FactString, text: str) -> bool:
    """Whether the string stands in `text` as itself: "30" does not stand in "contract_30" or "1,300"."""
    if fact.text not in text:
        return False
    own = re.escape(fact.text)
    if fact.kind == "number":
        return bool(re.search(rf"(?<![\w.,-]){own}(?![\w-]|[.,]\d)", text))
    return bool(re.search(rf"(?<!\w){own}(?!\w)", text))


def _counts(fact: FactString) -> bool:
    """A small number is as often the writer's own count ("27 files read") as anything read somewhere."""
    return fact.kind == "number" and fact.text.isdigit() and int(fact.text) < SMALL


def _points(fact: FactString, note: str, sources: str) -> bool:
    """Whether it only points: the line number of an address beside it, or a path put together from known parts."""
    if fact.kind == "number":
        return bool(re.search(rf"#L(?:\d+-)?{re.escape(fact.text)}\b", note))
    return fact.kind == "path" and all(part in sources for part in fact.text.split("/"))


def line_address(address: str, line: int) -> str:
    """The address of line `line` (from 1) of the text at `address`."""
    match = _RANGE.search(address)
    if match:
        return f"{address[: match.start()]}#L{int(match.group(1)) + max(0, line - 1)}"
    return f"{address}#L{line}" if address and line > 0 else address
