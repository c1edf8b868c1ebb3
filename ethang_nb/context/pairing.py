"""Pairing: every tool call has its result right behind it, and every result was asked for.

`mend` makes any list of messages a legal history and says in words what it changed; `Mending` does so for a
context that is fed as it goes; `violations` says what is illegal. A result belongs to the nearest call before
it that has its id and is still open, so an id may come again in a later turn. Nothing leaves unseen: what is
taken out stands in `repairs`, with the first words of its text.

A legal history: each message has a part and no empty text; a system message holds text alone; calls and
thinking stand in assistant messages, each result is a tool message of its own; the calls of one message have
different ids; right behind them come their results, one a call, in call order; no result stands anywhere
else; no message holds thinking alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ethang_nb.context.answering import Answering, Item, answer_to, named, thinking_alone
from ethang_nb.context.messages import Message, Part, Role, Text, Thinking, ToolCall, ToolResult, tool

__all__ = ["LOST", "Mended", "Mending", "mend", "violations"]

LOST = "no result was recorded; it may or may not have run"
"""The text of the error result that stands for one that was never recorded."""

_WORDS = {ToolCall: "call", ToolResult: "result", Thinking: "thinking"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """Legal messages and what had to be changed for them: one line each, by position in the input from 0.

    `positions` says for each message which of the input it came from.
    """

    messages: tuple[Message, ...]
    repairs: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()


def mend(
    messages: Iterable[Message],
    *,
    still_open: bool = False,
    positions: Iterable[int] | None = None,
    said: Iterable[tuple[int, str]] = (),
) -> Mended:
    """The nearest legal history. Messages that need no repair come back as the very same objects.

    An unanswered call gets the `LOST` error result. With `still_open` the calls of the last turn may go on
    waiting, as long as nothing but results of theirs follows it. `positions`: what to call each message in
    the repairs, where it is not its place in this list; `said`: by such a position, what is to be said besides.
    """
    messages, said = tuple(messages), tuple(said)
    places = range(len(messages)) if positions is None else tuple(positions)
    if not said and not violations(messages, still_open=still_open):
        return Mended(messages=messages, positions=tuple(places[: len(messages)]))
    answering = Answering()
    for place, text in said:
        answering.say(place, text)
    bench = _Bench(answering)
    for message, position in zip(messages, places, strict=False):
        for item in answering.take(position, message):
            bench.put(item)
    return bench.finish(still_open=still_open)


class Mending:
    """`mend` for a context that is fed as it goes: what may enter of each message, in the order it came.

    What comes out is legal by itself, its results carry id and name of the call they answer, and each call
    has one result at most. Where a late result stands, and that every call has one, is for who assembles.
    """

    def __init__(self) -> None:
        self._answering = Answering()
        self._next = 0

    def take(
        self,
        messages: Sequence[Message],
        *,
        positions: Sequence[int] | None = None,
        said: Iterable[tuple[int, str]] = (),
    ) -> Mended:
        """What enters of these messages. Positions, here from 0 again, count on from what was given before."""
        for place, text in said:
            self._answering.say(self._next + place, text)
        places = range(len(messages)) if positions is None else positions
        items = [
            item
            for place, message in zip(places, messages, strict=True)
            for item in self._answering.take(self._next + place, message)
        ]
        self._next += places[-1] + 1 if places else 0
        return Mended(
            messages=tuple(item.with_name for item in items),
            repairs=self._answering.told(),
            positions=tuple(item.position for item in items),
        )


def violations(messages: Sequence[Message], *, still_open: bool = False) -> tuple[str, ...]:
    """What is illegal about this history, one line each; empty for all that `mend` gives back.

    With `still_open` the calls of the last turn may lack results at the very end of the list.
    """
    found: list[str] = []
    due: list[ToolCall] = []
    tail = max((at for at, message in enumerate(messages) if message.role != "tool"), default=-1)
    for position, message in enumerate(messages):
        faults = _faults(message)
        if message.role == "tool":
            faults += _answer_faults(message.results, due, may_skip=still_open and position > tail)
        else:
            faults += (f"the result of {named(call)} should stand before it" for call in due)
            due = list(message.calls) if message.role == "assistant" else []
        found += (f"message {position}: {fault}" for fault in faults)
    if not still_open:
        found += (f"end: the result of {named(call)} is missing" for call in due)
    return tuple(found)


def _faults(message: Message) -> list[str]:
    """What is illegal about a message whatever stands around it."""
    parts, role = message.parts, message.role
    faults = [f"{_word(part)} in a message of role {role}" for part in parts if not _belongs(part, role)]
    if not parts:
        faults.append("no part")
    if any(isinstance(part, Text) and not part.text for part in parts):
        faults.append("empty text")
    if role == "tool" and len(message.results) > 1:
        faults.append(f"{len(message.results)} results in one message")
    if thinking_alone(message):
        faults.append("thinking alone")
    ids = [call.id for call in message.calls]
    if "" in ids or len(set(ids)) < len(ids):
        faults.append(f"the call ids {ids} are empty or come twice")
    return faults


def _answer_faults(results: Sequence[ToolResult], due: list[ToolCall], *, may_skip: bool) -> list[str]:
    """Takes what `results` answer out of `due`; a call skipped by an answer is a fault unless it may be."""
    faults: list[str] = []
    for result in results:
        at = next((index for index, call in enumerate(due) if call.id == result.call_id), None)
        if at is None:
            faults.append(f"nobody asked for the result of call {result.call_id!r} here")
            continue
        if not may_skip:
            faults += (f"the result of {named(call)} should stand before it" for call in due[:at])
        del due[: at + 1]
    return faults


@dataclass(slots=True)
class _Turn:
    """An assistant message with calls, and what answers each, None where nothing does."""

    asked: Item
    results: list[Item | None]


class _Bench:
    """Where a history is put together again: each result right behind its call, in call order."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._slots: list[Item | _Turn] = []
        self._turns: dict[int, _Turn] = {}

    def put(self, item: Item) -> None:
        if item.index >= 0:
            self._answer(item)
        elif item.turn >= 0:
            turn = _Turn(asked=item, results=[None] * len(item.message.calls))
            self._turns[item.turn] = turn
            self._slots.append(turn)
        else:
            self._slots.append(item)

    def finish(self, *, still_open: bool) -> Mended:
        last = self._slots[-1] if self._slots else None
        items: list[Item] = []
        for slot in self._slots:
            if isinstance(slot, Item):
                items.append(slot)
                continue
            if not (still_open and slot is last):
                self._fill(slot)
            items.append(slot.asked)
            items += (result for result in slot.results if result is not None)
        return Mended(
            messages=tuple(item.message for item in items),
            repairs=self._answering.told(),
            positions=tuple(item.position for item in items),
        )

    def _answer(self, item: Item) -> None:
        turn = self._turns[item.turn]
        what = answer_to(item.message.results[0])
        if self._slots[-1] is not turn:
            self._answering.say(
                item.position, f"{what} moved up to its call in message {turn.asked.position}"
            )
        elif any(turn.results[item.index + 1 :]):
            self._answering.say(item.position, f"{what} moved into call order")
        turn.results[item.index] = item

    def _fill(self, turn: _Turn) -> None:
        asked = turn.asked
        for index, call in enumerate(asked.message.calls):
            if turn.results[index] is None:
                lost = ToolResult(call_id=call.id, name=call.name, text=LOST, error=True, again="lost")
                message = replace(tool(lost), step=asked.message.step)
                turn.results[index] = Item(asked.position, message, asked.turn, index, call)
                self._answering.say(asked.position, f"{named(call)} has no result; an error result says so")


def _belongs(part: Part, role: Role) -> bool:
    if isinstance(part, ToolResult):
        return role == "tool"
    if isinstance(part, ToolCall | Thinking):
        return role == "assistant"
    return role not in ("tool", "system") or (role == "system" and isinstance(part, Text))


def _word(part: Part) -> str:
    return _WORDS.get(type(part), type(part).__name__.lower())
