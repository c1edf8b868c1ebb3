"""Scrubbing a stream of events: a secret that a model says comes in pieces, none of which looks like one.

The texts of one place in the events are read as one text; only where that holds a secret which the pieces do not show
are the events written anew. What a parser makes of them stays the same but for the secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ethang_nb.providers.cassettes.scrub import scrub

__all__ = ["scrub_stream"]

DATA = "data:"
_LINE_END = re.compile(r"(\r\n|\r|\n)")
DEEPEST = 40  # ► levels of an event that are looked into
_NUMBERS = ("index", "output_index", "content_index", "summary_index", "item_id")
"""What tells apart the pieces of two texts that come by turns."""

Place = tuple[object, ...]


@dataclass(slots=True)
class _Piece:
    """A text in an event: where it stands, and the number of the event's line."""

    line: int
    holder: Any
    key: Any

    @property
    def text(self) -> str:
        return str(self.holder[self.key])


def scrub_stream(text: str) -> str:
    """The body of an event stream without its secrets, those that came in pieces included."""
    lines = _LINE_END.split(text)
    events: dict[int, Any] = {}
    found: dict[Place, list[_Piece]] = {}
    for number, line in enumerate(lines):
        if line.startswith(DATA):
            try:
                events[number] = json.loads(line.removeprefix(DATA))
            except (ValueError, RecursionError):
                continue
            for place, holder, key in _texts(events[number]):
                found.setdefault(place, []).append(_Piece(number, holder, key))
    changed: set[int] = set()
    for pieces in found.values():
        whole = scrub("".join(piece.text for piece in pieces)) if len(pieces) > 1 else ""
        if whole and whole != "".join(scrub(piece.text) for piece in pieces):
            for piece in pieces:
                piece.holder[piece.key], whole = whole, ""
                changed.add(piece.line)
    for number in changed:
        lines[number] = f"{DATA} {json.dumps(events[number], separators=(',', ':'))}"
    return scrub("".join(lines))


def _texts(value: Any, place: Place = (), depth: int = DEEPEST) -> Iterator[tuple[Place, Any, Any]]:
    """Every text in an event: its place, and where to write it."""
    if depth == 0:
        return
    if isinstance(value, dict):
        place += tuple(value[name] for name in _NUMBERS if isinstance(value.get(name), int | str))
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, str):
            yield (*place, key), value, key
        else:
            yield from _texts(item, (*place, key), depth - 1)
