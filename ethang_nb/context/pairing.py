"""Pairing: every tool call has its result right behind it, and every result was asked for.

`mend` makes any list of messages a legal history and says in words what it changed; `violations` says what
is illegal about one. A result belongs to the nearest call before it that has its id and is still open, so an
id may come again in a later turn. Nothing leaves unseen: what `mend` takes out stands in `repairs`.

A legal history: each message has a part and no empty text; calls and thinking stand in assistant messages,
each result is a tool message of its own; the calls of one message have different ids; right behind them come
their results, one a call, in call order; no result stands anywhere else; no message holds thinking alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ethang_nb.context.messages import Message, Part, Role, Text, Thinking, ToolCall, ToolResult, tool

__all__ = ["LOST", "Mended", "OpenCalls", "mend", "violations"]

LOST = "no result was recorded; it may or may not have run"
"""The text of the error result that stands for one that was never recorded."""

_UNNAMED = "call"  # what a call without an id is called
_PREVIEW = 40  # characters of a removed text that its repair shows
_WORDS = {ToolCall: "call", ToolResult: "result", Thinking: "thinking"}
_Tag = TypeVar("_Tag")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A legal history and what had to be changed for it: one line each, by position in the input from 0."""

    messages: tuple[Message, ...]
    repairs: tuple[str, ...] = ()


class OpenCalls(Generic[_Tag]):
    """The calls that wait for a result: nearest turn first, within a turn in call order."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[deque[_Tag]]] = {}

    def ask(self, calls: Iterable[tuple[str, _Tag]]) -> None:
        """The calls of one turn: id, and what `answer` shall give back for it."""
        turn: dict[str, deque[_Tag]] = {}
        for call_id, tag in calls:
            turn.setdefault(call_id, deque()).append(tag)
        for call_id, tags in turn.items():
            self._waiting.setdefault(call_id, []).append(tags)

    def answer(self, call_id: str) -> _Tag | None:
        """The call that a result with this id belongs to, now open no more; None where nobody asked."""
        turns = self._waiting.get(call_id)
        if not turns:
            return None
        tag = turns[-1].popleft()
        if not turns[-1]:
            turns.pop()
        return tag


def mend(messages: Iterable[Message], *, still_open: bool = False) -> Mended:
    """The nearest legal history. Messages that need no repair come back as the very same objects.

    An unanswered call gets the `LOST` error result. With `still_open` the calls of the last turn may go on
    waiting, as long as nothing but results of theirs follows it.
    """
    bench = _Bench()
    for position, message in enumerate(messages):
        bench.take(position, message)
    return bench.finish(still_open=still_open)


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
            faults += (f"the result of {_named(call)} should stand before it" for call in due)
            due = list(message.calls) if message.role == "assistant" else []
        found += (f"message {position}: {fault}" for fault in faults)
    if not still_open:
        found += (f"end: the result of {_named(call)} is missing" for call in due)
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
    if _thinking_alone(message):
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
            faults += (f"the result of {_named(call)} should stand before it" for call in due[:at])
        del due[: at + 1]
    return faults


@dataclass(slots=True)
class _Turn:
    """An assistant message with calls, and the tool message that answers each, None where there is none."""

    position: int
    message: Message
    results: list[Message | None]


class _Bench:
    """Where a history is taken apart, message by message, and put together again."""

    def __init__(self) -> None:
        self._slots: list[Message | _Turn] = []
        self._open: OpenCalls[tuple[_Turn, int]] = OpenCalls()
        self._answered: set[str] = set()
        self._repairs: list[tuple[int, str]] = []

    def take(self, position: int, message: Message) -> None:
        message = self._tidied(position, message)
        rest = self._without_results(position, message)
        if message.role == "assistant":  # calls first: a result beside them is theirs
            self._place(position, rest)
            self._answer_all(position, message)
        else:
            self._answer_all(position, message)
            self._place(position, rest)

    def finish(self, *, still_open: bool) -> Mended:
        last = self._slots[-1] if self._slots else None
        messages: list[Message] = []
        for slot in self._slots:
            if isinstance(slot, Message):
                messages.append(slot)
                continue
            if not (still_open and slot is last):
                self._fill(slot)
            messages.append(slot.message)
            messages += (result for result in slot.results if result is not None)
        in_order = sorted(self._repairs, key=lambda repair: repair[0])
        repairs = tuple(f"message {position}: {text}" for position, text in in_order)
        return Mended(messages=tuple(messages), repairs=repairs)

    def _say(self, position: int, text: str) -> None:
        self._repairs.append((position, text))

    def _tidied(self, position: int, message: Message) -> Message:
        """Without empty texts, and without calls and thinking where no such message can hold them."""
        kept: list[Part] = []
        for part in message.parts:
            if isinstance(part, Text) and not part.text:
                self._say(position, f"an empty text of the {message.role} message left out")
            elif isinstance(part, ToolCall | Thinking) and message.role != "assistant":
                what = _named(part) if isinstance(part, ToolCall) else "thinking"
                self._say(position, f"{what} removed: a message of role {message.role} cannot hold it")
            else:
                kept.append(part)
        if not kept:
            self._say(position, f"the {message.role} message removed: nothing is in it")
        return message if len(kept) == len(message.parts) else replace(message, parts=tuple(kept))

    def _without_results(self, position: int, message: Message) -> Message:
        """What stays of the message once its results have gone to their calls."""
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if message.role == "tool" and rest:
            self._say(position, "what is no result in the tool message set apart as a user message")
            return replace(message, role="user", parts=rest)
        return message if len(rest) == len(message.parts) else replace(message, parts=rest)

    def _place(self, position: int, message: Message) -> None:
        if message.calls:
            own = self._with_own_ids(position, message)
            turn = _Turn(position=position, message=own, results=[None] * len(own.calls))
            self._slots.append(turn)
            # Results carry the ids as they came in, so the turn is asked for under those.
            self._open.ask((call.id, (turn, index)) for index, call in enumerate(message.calls))
        elif _thinking_alone(message):
            self._say(position, "the assistant message removed: it held thinking alone")
        elif message.parts:
            self._slots.append(message)

    def _answer_all(self, position: int, message: Message) -> None:
        """Gives each result to its call, as a tool message of its own."""
        if message.role == "tool" and len(message.parts) == 1 and message.results:
            self._answer(position, message)
            return
        trust = message.trust if message.role == "tool" else "outside"
        for result in message.results:
            self._say(position, f"the result of call {result.call_id!r} set apart as a tool message")
            self._answer(position, replace(tool(result, trust=trust), step=message.step))

    def _answer(self, position: int, message: Message) -> None:
        result = message.results[0]
        what = f"the result of call {result.call_id!r}"
        found = self._open.answer(result.call_id)
        if found is None:
            known = result.call_id in self._answered
            reason = "its call has a result already" if known else "no call before it asked for it"
            text = result.text[:_PREVIEW] + ("…" if len(result.text) > _PREVIEW else "")
            self._say(position, f"{what} removed, {reason}: {text!r}")
            return
        turn, index = found
        self._answered.add(result.call_id)
        if self._slots[-1] is not turn:
            self._say(position, f"{what} moved up to its call in message {turn.position}")
        elif any(turn.results[index + 1 :]):
            self._say(position, f"{what} moved into call order")
        call_id = turn.message.calls[index].id
        if call_id != result.call_id:
            message = replace(message, parts=(replace(result, call_id=call_id),))
        turn.results[index] = message

    def _with_own_ids(self, position: int, message: Message) -> Message:
        """An id that is empty or comes twice in the message gets a name of its own in this turn."""
        ids = [call.id for call in message.calls]
        if "" not in ids and len(set(ids)) == len(ids):
            return message
        taken = set(ids)
        seen: set[str] = set()
        parts: list[Part] = []
        for part in message.parts:
            if not isinstance(part, ToolCall) or (part.id and part.id not in seen):
                parts.append(part)
                seen.update([part.id] if isinstance(part, ToolCall) else [])
                continue
            fresh = _fresh(part.id or _UNNAMED, taken)
            taken.add(fresh)
            parts.append(replace(part, id=fresh))
            self._say(position, f"{_named(part)} renamed to {fresh!r}: no two calls of a turn share an id")
        return replace(message, parts=tuple(parts))

    def _fill(self, turn: _Turn) -> None:
        for index, call in enumerate(turn.message.calls):
            if turn.results[index] is None:
                lost = ToolResult(call_id=call.id, name=call.name, text=LOST, error=True, again="lost")
                turn.results[index] = replace(tool(lost), step=turn.message.step)
                self._say(turn.position, f"{_named(call)} has no result; an error result says so")


def _belongs(part: Part, role: Role) -> bool:
    if isinstance(part, ToolResult):
        return role == "tool"
    if isinstance(part, ToolCall | Thinking):
        return role == "assistant"
    return role != "tool"


def _thinking_alone(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, Thinking) for part in message.parts)


def _fresh(base: str, taken: set[str]) -> str:
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _named(call: ToolCall) -> str:
    return f"call {call.id!r} ({call.name})"


def _word(part: Part) -> str:
    return _WORDS.get(type(part), type(part).__name__.lower())
