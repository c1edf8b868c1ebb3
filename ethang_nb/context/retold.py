"""Retold: what a live context went through, told once more: its own messages under other settings.

The messages stand in the order of its segments, with what a person did between them: pieces of work that began, pins
set and lifted by hand. What only happened because of the context's own plans is not in it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ethang_nb.context import kinds
from ethang_nb.context.address import event_of
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.settings import Settings
from ethang_nb.context.snapshot import BY_HAND, Pin
from ethang_nb.context.tape import ByHand, Tape

__all__ = ["TOLD", "Retold", "retold"]

TOLD = (kinds.MESSAGE, kinds.WORK, kinds.CORE, kinds.PIN, kinds.UNPIN)
"""The kinds of journal entries that `retold` needs; of messages it needs those of results alone."""


class Retold(NamedTuple):
    """The messages in row order, their numbers in the journal, where pieces of work begin, and what a person pinned.

    `pins` were set before the first request; `acts` are the pins by hand and the lifting that came later. The rest is
    what a context is made of beside its messages.
    """

    messages: tuple[Message, ...]
    numbers: tuple[int, ...]
    begins: tuple[int, ...]
    pins: tuple[Pin, ...]
    acts: Mapping[int, Sequence[ByHand]]
    settings: Settings
    counter: TokenCounter
    system: str
    project: str
    tools: tuple[ToolSpec, ...]
    searchable: bool
    largest: int
    """Tokens of the largest result."""

    def same_tape(self, settings: Settings) -> object:
        """What tells tapes apart: under settings for which this is the same, results enter the same way."""
        whole = settings.policy.entry_chars is None and self.largest <= settings.entry_tokens
        return ("squeeze" in settings.policy.stages,) if whole else settings.entry

    def tape(self, settings: Settings) -> Tape:
        """All of it under these settings. The context that it was told of stays as it is."""
        context = LiveContext(
            window=settings.base,
            policy=settings.policy,
            counter=self.counter,
            system=self.system,
            project=self.project,
            tools=self.tools,
            journal=_Numbers(self.numbers),
            searchable=self.searchable,
            refuses=False,
            ratio=settings.ratio,
        )
        for pin in self.pins:
            context.pinning.put(pin.kind, pin.text, pin.rule, -1)
        context.pinning.enter()
        return Tape(context, self.messages, self.begins, self.acts)


def retold(live: LiveContext, entries: Iterable[JournalEntry]) -> Retold:
    """What `live` went through. `entries` are those of its journal of the kinds in TOLD, in their order."""
    entries = tuple(entries)
    results = _numbers_of_results(entries)
    messages: list[Message] = []
    numbers: list[int] = []
    opened: list[int] = []  # the entry that opened each row, and below where its first message stands
    starts: list[int] = []
    rows: dict[int, int] = {}
    for number in range(live.state.next_row):
        texts = live.entries[number]
        if texts.again or texts.withdrawn:
            continue
        rows[number] = len(rows)
        opened.append(event_of(texts.addresses[0]))
        starts.append(len(messages))
        messages += texts.messages
        numbers.append(opened[-1])
        numbers += [results.get((number, message.results[0].call_id), -1) for message in texts.messages[1:]]
    starts.append(len(messages))

    def after(entry: JournalEntry) -> int:
        """The position of the first message of the row that came next."""
        return starts[bisect_left(opened, entry.number)]

    acts: dict[int, list[ByHand]] = {}
    for entry in entries:
        if (act := _act(entry, live.pins, rows)) is not None:
            acts.setdefault(after(entry), []).append(act)
    cored = [number for entry in entries if entry.kind == kinds.CORE for number in entry.data["pins"]]
    return Retold(
        messages=tuple(messages),
        numbers=tuple(numbers),
        begins=tuple(sorted({after(entry) for entry in entries if entry.kind == kinds.WORK})),
        pins=tuple(live.pins[number - 1] for number in cored),
        acts=acts,
        settings=live.state.settings,
        counter=live.counter,
        system=live.system,
        project=live.project,
        tools=live.tools,
        searchable=live.notes.searchable,
        largest=max((size for texts in live.entries.values() for size in texts.sizes), default=0),
    )


class _Numbers:
    """A journal that writes nothing and gives each message the number that it has in the other one."""

    records = False

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self._numbers = numbers
        self._at = 0

    @property
    def next(self) -> int:
        return self._numbers[self._at] if self._at < len(self._numbers) else -1

    def write(self, kind: str, data: dict[str, Any]) -> int:
        del data
        number = self.next
        self._at += kind == kinds.MESSAGE
        return number


def _numbers_of_results(entries: Iterable[JournalEntry]) -> dict[tuple[int, str], int]:
    """By row and call, whatever the order in which results came."""
    return {
        (entry.data["row"], entry.data["message"]["parts"][0]["call_id"]): entry.number
        for entry in entries
        if entry.kind == kinds.MESSAGE and "row" in entry.data
    }


def _act(entry: JournalEntry, pins: Sequence[Pin], rows: Mapping[int, int]) -> ByHand | None:
    """What a person did by hand; pins by rule, and pins that entered as a message, come with their message.

    `rows`: the number that a row has when it is told once more.
    """
    data = entry.data
    if entry.kind == kinds.PIN and data["rule"] == BY_HAND and data["row"] >= 0:
        return _pinned({**data, "row": rows.get(data["row"], -1)})
    return partial(_unpin, pins[data["id"] - 1], data["reason"]) if entry.kind == kinds.UNPIN else None


def _pinned(data: Mapping[str, Any]) -> Callable[[LiveContext], object]:
    return lambda context: context.pinning.put(data["kind"], data["text"], data["rule"], data["row"])


def _unpin(pin: Pin, reason: str, context: LiveContext) -> None:
    """Nothing where the message that lifted it has done so here too."""
    same = context.board.same(pin.text, pin.kind)
    if same is not None:
        context.unpin(same.id, reason)
