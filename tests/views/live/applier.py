"""Frames applied in the plainest way, as a view does it: what a document is after them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from typing import Any

from ethang_nb.context.snapshot import LAZY, StepRow

__all__ = ["Applier", "as_live", "unpacked"]

Json = Any

FIRST = 48
MARKED = ("retention", "droppable", "reason", "verdict", "why", "collapsed")
STEP = tuple(field.name for field in fields(StepRow))
ROW = ("title", "source", "trust", "step", "address")


def as_live(document: dict[str, Any]) -> dict[str, Any]:
    """A whole document as live views have it: without what is worked out only when somebody asks."""
    diffs = [
        {**{key: value for key, value in diff.items() if key not in LAZY}, "digest": ""}
        for diff in document["diffs"]
    ]
    return {**document, "diffs": diffs, "plan": {**document["plan"], "digest": ""}}


def merged(old: Json, new: Json) -> Json:
    """Objects by key, lists by index where an object says what is new, everything else as it is now."""
    if not isinstance(new, dict) or not isinstance(old, dict | list):
        return new
    if isinstance(old, list):
        return [merged(value, new[str(at)]) if str(at) in new else value for at, value in enumerate(old)]
    assert set(new) <= set(old)
    return {**old, **{key: merged(old[key], value) for key, value in new.items()}}


def _step(row: list[Any]) -> dict[str, Any]:
    return dict(zip(STEP, row, strict=True))


def unpacked(pieces: Json) -> dict[int, int]:
    """The mark of each row that the pieces speak of; later ones win."""
    marks: dict[int, int] = {}
    for start, *rest in pieces:
        said = (
            [ord(letter) - FIRST for letter in rest[0]] if len(rest) == 1 else [rest[1]] * (rest[0] - start)
        )
        marks |= dict(enumerate(said, start))
    return marks


class Applier:
    """Takes bodies of frames, the first of them whole."""

    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.lists: dict[str, list[Any]] = {"timeline": [], "diffs": [], "regrets": []}
        self.parts: list[Any] = []
        self.notes: list[Any] = []
        self.passing: list[Any] = []
        self.head: int | None = None
        self.rows: dict[int, list[Any]] = {}
        self.marks: dict[int, int] = {}
        self.table: dict[int, list[Any]] = {}
        self.sizes: dict[int, int] = {}
        self.pins: dict[int, int] = {}

    def apply(self, body: dict[str, Any]) -> None:
        body = deepcopy(body)
        self.top |= body.pop("set", {})
        for passing in ("saying", "waiting"):  # once said, "" says that it is over
            if not self.top.get(passing):
                self.top.pop(passing, None)
        for key, changes in body.pop("merge", {}).items():
            self.top[key] = merged(self.top[key], changes)
        self._segments(body.pop("segments", {}))
        for name, change in body.items():
            old = self.lists[name]
            if name == "timeline":
                change["rows"] = [_step(row) for row in change.get("rows", ())]
                change["patch"] = [(at, _step(row)) for at, row in change.get("patch", ())]
            if "at" in change:
                assert change["at"] <= len(old)
                old[change["at"] :] = change["rows"]
            for at, row in change.get("patch", ()):
                old[at] = row

    def _segments(self, body: dict[str, Any]) -> None:
        for start, stop in body.pop("drop", ()):
            for kept in (self.rows, self.marks, self.sizes, self.pins):
                for number in range(start, stop):
                    kept.pop(number, None)
        for number, mark in body.pop("table", {}).items():
            assert int(number) not in self.table or self.table[int(number)] == mark
            self.table[int(number)] = mark
        for row in body.pop("rows", ()):
            self.rows[row[0]] = row
        marks = unpacked(body.pop("marks", ()))
        self.marks |= {number: mark for number, mark in marks.items() if number in self.rows}
        for number, tokens in body.pop("sizes", ()):
            if tokens is None:
                self.sizes.pop(number, None)
            else:
                self.sizes[number] = tokens
        if "pins" in body:
            self.pins = dict(body.pop("pins"))
        for name, value in body.items():
            assert name in {"parts", "notes", "passing", "head"}
            setattr(self, name, value)

    def document(self) -> dict[str, Any]:
        passing = list(self.passing)
        found = list(self.parts)
        if self.head is not None:
            found.append(self._row(self.head))
        found += self.notes
        for number in sorted(self.rows):
            while passing and passing[0][0] <= number:
                found.append(passing.pop(0)[1])
            if number != self.head:
                found.append(self._row(number))
        found += [item for _, item in passing]
        segments = [{**item, "position": at} for at, item in enumerate(found)]
        return deepcopy({**self.top, "segments": segments, **self.lists})

    def _row(self, number: int) -> dict[str, Any]:
        _, own, *said, whole, short, incomplete = self.rows[number]
        kind, *marked = self.table[self.marks[number]]
        collapsed = marked[-1]
        return {
            "id": str(number),
            "kind": kind or own,
            **dict(zip(ROW, said, strict=True)),
            "tokens": short if collapsed else self.sizes.get(number, whole),
            **dict(zip(MARKED, marked, strict=True)),
            "incomplete": incomplete,
            "pin": self.pins.get(number),
        }
