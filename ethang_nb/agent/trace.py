"""Trace: where did this text go? Every place that holds it or held it: fixed parts, core, notes, segments.

Reads only. A text is the same however it is spaced and whatever the case of its letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ethang_nb._show import Shown
from ethang_nb.agent.departures import Departure
from ethang_nb.agent.desk import Desk
from ethang_nb.context import kinds
from ethang_nb.context.address import event_of, logged
from ethang_nb.context.entry import Entry
from ethang_nb.context.ledger import Form, Result
from ethang_nb.context.messages import Message, Text, ToolCall, ToolResult, from_json
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse, NoSuchAddress

__all__ = ["Place", "Trace", "check_text", "excerpt", "trace"]

AROUND = 60  # ► characters shown on each side of the text where it was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place that holds or held the text.

    `logged` is its event in the record ("" for fixed parts and the core), `address` where it can be read again.
    `step` is the last request before it came, 0 where there was none. `form` is how a result stands in
    the window, `left` what happened to it since it came. `excerpt` is the text with what stands around it.
    """

    where: Literal["fixed", "core", "note", "segment"]
    title: str
    in_window: bool
    excerpt: str
    segment: str = ""
    logged: str = ""
    address: str = ""
    step: int = 0
    form: Form | Literal[""] = ""
    left: tuple[Departure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Shown):
    """Where a text is and was, in the order of assembly. `events` is how many events the record has."""

    _view = "ethang_nb.views.trace"

    text: str
    session: str
    places: tuple[Place, ...]
    events: int

    @property
    def in_window(self) -> tuple[Place, ...]:
        """The places that the next request carries, unless a plan changes it."""
        return tuple(place for place in self.places if place.in_window)

    @property
    def out(self) -> tuple[Place, ...]:
        """The places that it left; the record has them."""
        return tuple(place for place in self.places if not place.in_window)


def trace(desk: Desk, text: str) -> Trace:
    """Looks for `text` in all that this session has and had. Raises Misuse for a text without a character."""
    check_text(text)
    search = _Search(desk, text)
    places = (*search.fixed(), *search.core(), *search.notes(), *search.segments())
    return Trace(text=text.strip(), session=desk.name, places=places, events=desk.archive.record.last)


def check_text(text: object) -> None:
    """Raises Misuse for what cannot be looked for."""
    if not isinstance(text, str) or not text.strip():
        raise Misuse(f"nothing to look for in {str(text)[:60]!r}; give a text, as in trace('ORD-88421')")


def excerpt(text: str, wanted: str) -> str:
    """`wanted` as it was found in `text`, with what stands around it; "" where it is not there."""
    spaced, wanted = " ".join(text.split()), _flat(wanted)
    flat = spaced.casefold()
    at = flat.find(wanted)
    if at < 0:
        return ""
    if len(flat) != len(spaced):  # a letter that is two in lower case: show what was compared
        spaced = flat
    start, stop = max(0, at - AROUND), at + len(wanted) + AROUND
    return ("…" if start else "") + spaced[start:stop] + ("…" if stop < len(spaced) else "")


class _Sought(NamedTuple):
    """A message with its event, and which of its segment's results it is (-1: it opens the segment)."""

    seq: int
    row: int
    nth: int


class _Search:
    def __init__(self, desk: Desk, text: str) -> None:
        self.desk, self.live = desk, desk.live
        self.wanted = text
        self.events = desk.archive.record.events(kinds=(kinds.MESSAGE, kinds.NOTE, kinds.SPILLED))

    def excerpt(self, text: str) -> str:
        return excerpt(text, self.wanted)

    def fixed(self) -> Iterator[Place]:
        tools = " ".join(f"{tool.name}: {tool.description}" for tool in self.live.tools)
        parts = {"system text": self.live.system, "project text": self.live.project, "tool catalogue": tools}
        for title, text in parts.items():
            if found := self.excerpt(text):
                yield Place(where="fixed", title=title, in_window=True, excerpt=found)

    def core(self) -> Iterator[Place]:
        for line in self.live.core.splitlines():
            if found := self.excerpt(line):
                yield Place(where="core", title="core", in_window=True, excerpt=found)

    def notes(self) -> Iterator[Place]:
        """Those that were written, and those by rule that stand in as long as nobody has."""
        live = self.live
        standing = [live.notes.message(note.id, live.counter).text for note in live.state.notes]
        for event in self.events:
            if event.kind == kinds.NOTE:
                text = from_json(event.data["message"]).text
                here = text in standing
                if here:
                    standing.remove(text)
                yield from self._note(text, str(logged(event.seq)), in_window=here)
        for text in standing:
            yield from self._note(text, "", in_window=True)

    def _note(self, text: str, address: str, *, in_window: bool) -> Iterator[Place]:
        if found := self.excerpt(text):
            title = preview(text.partition("\n")[0].strip("[]"))
            yield Place(
                where="note", title=title, in_window=in_window, excerpt=found, logged=address, address=address
            )

    def segments(self) -> Iterator[Place]:
        opened = {event_of(entry.addresses[0]): row for row, entry in self.live.entries.items()}
        seen: dict[int, int] = {}
        whole = {event.data["address"]: event.seq for event in self.events if event.kind == kinds.SPILLED}
        for event in self.events:
            if event.kind != kinds.MESSAGE:
                continue
            row = event.data.get("row", opened.get(event.seq))
            if row is None or row not in self.live.entries:
                continue  # another process has recorded it since this one looked
            index = seen.get(row, -1)
            seen[row] = index + 1
            yield from self._message(_Sought(event.seq, row, index), event.data, whole)

    def _message(self, it: _Sought, data: Mapping[str, Any], whole: Mapping[str, int]) -> Iterator[Place]:
        entry, message = self.live.entries[it.row], from_json(data["message"])
        left = self.desk.departures.of(it.row, it.nth)
        first = Departure(step=entry.step + 1, how="cut", by="intake")
        found = self.excerpt(_texts(message))
        counted = Result(*data["result"]) if "result" in data else None
        if not found and counted is not None and counted.form == "spilled":
            found = self.excerpt(self._spilled(whole.get(data["address"])))
            left = (first, *left)
        elif counted is not None and not left and self._form(it) == "stub":
            left = (Departure(step=entry.step + 1, how="collapse", by="intake"),)
        if found:
            log = str(logged(it.seq))
            yield Place(
                where="segment",
                title=self._title(entry, message),
                in_window=self._in_window(entry, it),
                excerpt=found,
                segment=str(it.row),
                logged=log,
                address=data.get("address") or log,
                step=entry.step,
                form=self._form(it),
                left=left,
            )

    def _spilled(self, seq: int | None) -> str:
        if seq is not None:
            with suppress(NoSuchAddress):  # an echo of the record: its text is elsewhere in it
                return self.desk.archive.record.text(seq)
        return ""

    @staticmethod
    def _title(entry: Entry, message: Message) -> str:
        return entry.call_title(message.results[0]) if message.results else entry.title

    def _form(self, it: _Sought) -> Form | Literal[""]:
        state = self.live.state
        if it.nth < 0 or not state.is_live(it.row):
            return ""
        return state.row(it.row).results[it.nth].form

    def _in_window(self, entry: Entry, it: _Sought) -> bool:
        """Whether the text is in what stands there now."""
        state = self.live.state
        if not state.is_live(it.row):
            return False
        if it.row < 0 or it.nth < 0:
            return True
        forms = entry.forms(state.row(it.row), self.live.counter)
        return bool(self.excerpt(_texts(forms[it.nth + 1])))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _texts(message: Message) -> str:
    """What is said and asked for in a message, without the thinking, which no one is answerable for."""
    return "\n".join(_said(message.parts))


def _said(parts: Iterable[object]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text | ToolResult):
            yield part.text
        elif isinstance(part, ToolCall):
            yield f"{part.name} {part.arguments}"
