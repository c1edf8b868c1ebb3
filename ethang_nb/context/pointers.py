"""Pointers: lines that say where what left can be read again, in the core and under a handoff note.

A pointer is the line that stood for the result itself, so it holds the exact call or place and what a plan
counted for that line bounds it. What moved since it was read says so, and where it stands now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.versions import Versions
from ethang_nb.context.wording import STUB_HEAD

__all__ = ["MOST", "REFERENCES_HEAD", "Pointer", "Readable", "choose", "how_to_search", "references"]

MOST = 10  # ► pointers in the core

REFERENCES_HEAD = "## Where to read it again"
_SEARCH = "- anything else that left: find_in_record(query)"
_NO_SEARCH = "- anything else that left: read its log:// address in the record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """`what` names the call, `address` is where its result can be read; `line` takes at most `tokens`."""

    what: str
    line: str
    address: str
    tokens: int

    @classmethod
    def of(cls, *, what: str, stub: str, address: str, tokens: int) -> Pointer:
        """From the line that stands for the result in the window (`wording.stub`) and its tokens as a message."""
        inner = " ".join(stub.removeprefix(STUB_HEAD).removesuffix("]").split())
        return cls(what=" ".join(what.split()), line=f"- {inner}", address=address, tokens=tokens)


def choose(
    candidates: Sequence[Pointer],
    room: int,
    counter: TokenCounter,
    *,
    versions: Versions | None = None,
    most: int = MOST,
) -> tuple[Pointer, ...]:
    """The newest of `candidates` (oldest first, as they were read), newest last, each address once.

    Together they take at most `room` tokens, which is what the plan counted; the first that does not fit ends
    the list. Of several readings of a place that moved, one line is left.
    """
    seen: set[str] = set()
    chosen: list[Pointer] = []
    for pointer in reversed(candidates):
        if len(chosen) == most:
            break
        stale = versions.stale(pointer.address) if versions is not None else None
        place = pointer.address if stale is None else stale.now
        if place in seen:
            continue
        if pointer.tokens > room:
            break
        lines = [pointer.line]
        if stale is not None:
            # The place it stands at now may be longer than what was counted.
            lines = [f"- {pointer.what}: {stale}", f"- stale since log://{stale.since}: {pointer.what}"]
        fitting = (
            line for line in lines if counter.count(line) < pointer.tokens
        )  # one more for the line end
        line = next(fitting, None)
        if line is None:
            continue
        seen.add(place)
        chosen.append(replace(pointer, line=line, address=place))
        room -= pointer.tokens
    return tuple(reversed(chosen))


def how_to_search(*, searchable: bool) -> str:
    """The last line of every list of places; `searchable`: whether a tool searches the record."""
    return _SEARCH if searchable else _NO_SEARCH


class Readable(Protocol):
    """What a reference list names: a departed segment."""

    @property
    def title(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def address(self) -> str: ...
    @property
    def places(self) -> tuple[str, ...]:
        """The addresses of all that was read in it."""
        ...


def references(
    departed: Sequence[Readable], limit: int, counter: TokenCounter, versions: Versions, *, searchable: bool
) -> str:
    """The list under a note, in at most `limit` tokens. Newest first, since work goes on from there.

    The last line says how to reach the rest; it stays alone where there is room for no more.
    """
    last = how_to_search(searchable=searchable)
    lines = [REFERENCES_HEAD]
    used = counter.count(REFERENCES_HEAD) + counter.count(last) + 2
    if used > limit:
        return last if counter.count(last) <= limit else ""
    for item in reversed(departed):
        line = _reference(item, versions)
        cost = counter.count(line) + 1
        if used + cost > limit:
            break
        lines.append(line)
        used += cost
    return "\n".join([*lines, last])


def _reference(item: Readable, versions: Versions) -> str:
    moved = (versions.stale(place) for place in dict.fromkeys((item.address, *item.places)))
    stale = next((found for found in moved if found is not None), None)
    return f"- {item.title}: {stale}" if stale else f"- {item.title}, {item.tokens:,} tokens: {item.address}"
