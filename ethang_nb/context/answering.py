"""Answering: a history taken apart message by message, each result given to the call it belongs to.

A result belongs to the nearest call before it that has its id and is still open, so an id may come again in a
later turn. What cannot stand is left out and said. Putting the pieces together is `context.pairing`'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, TypeVar

from ethang_nb.context.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult, tool

__all__ = ["Answering", "Item", "OpenCalls", "answer_to", "named", "shown", "thinking_alone"]

_UNNAMED = "call"  # what a call without an id is called
_PREVIEW = 40  # characters of a removed text that its repair shows
_IMAGE_LEFT_OUT = "[image left out: a system message holds text alone]"
_Tag = TypeVar("_Tag")


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
        if not turns:
            del self._waiting[call_id]
        return tag


@dataclass(frozen=True, slots=True)
class Item:
    """A message as it may stand, and where it came from.

    `turn` is the number of the turn it opens or answers, -1 for what is no part of one; `index` is that of the
    `call` it answers, -1 for what is no result.
    """

    position: int
    message: Message
    turn: int = -1
    index: int = -1
    call: ToolCall | None = None

    @property
    def with_name(self) -> Message:
        """The message; a result without a name has its call's."""
        if self.call is None or self.message.results[0].name:
            return self.message
        result = replace(self.message.results[0], name=self.call.name)
        return replace(self.message, parts=(result,), source=self.message.source or self.call.name)


class Answering:
    """Where a history is taken apart, message by message, and each result is given to its call."""

    def __init__(self) -> None:
        self._open: OpenCalls[tuple[int, int, ToolCall]] = OpenCalls()
        self._newest: list[
            tuple[str, ToolCall]
        ] = []  # calls of the newest turn that wait, by the id they came with
        self._ids: set[str] = set()  # that calls came with or were given
        self._given: set[str] = set()
        self._turns = count()
        self._repairs: list[tuple[int, str]] = []

    def say(self, position: int, text: str) -> None:
        self._repairs.append((position, text))

    def told(self) -> tuple[str, ...]:
        """What was said since the last time, by position."""
        in_order = sorted(self._repairs, key=lambda repair: repair[0])
        self._repairs = []
        return tuple(f"message {position}: {text}" for position, text in in_order)

    def take(self, position: int, message: Message) -> Iterator[Item]:
        """What may stand of a message, in order: itself, and each of its results as a message of its own."""
        message = self._tidied(position, message)
        rest = self._without_results(position, message)
        if message.role == "assistant":  # calls first: a result beside them is theirs
            yield from self._placed(position, rest)
            yield from self._answers(position, message)
        else:
            yield from self._answers(position, message)
            yield from self._placed(position, rest)

    def _tidied(self, position: int, message: Message) -> Message:
        """Without empty texts, and without what no message of its role can hold."""
        kept: list[Part] = []
        for part in message.parts:
            if isinstance(part, Text) and not part.text:
                self.say(position, f"an empty text of the {message.role} message left out")
            elif isinstance(part, ToolCall | Thinking) and message.role != "assistant":
                self.say(
                    position,
                    f"{named(part)} removed: a message of role {message.role} cannot hold it{shown(part)}",
                )
            elif isinstance(part, Image) and message.role == "system":
                self.say(position, "an image of the system message left out: it holds text alone")
                kept.append(Text(text=_IMAGE_LEFT_OUT))
            else:
                kept.append(part)
        if not kept:
            self.say(position, f"the {message.role} message removed: nothing is in it")
        return message if tuple(kept) == message.parts else replace(message, parts=tuple(kept))

    def _without_results(self, position: int, message: Message) -> Message:
        """What stays of the message once its results have gone to their calls."""
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if message.role == "tool" and rest:
            self.say(position, "what is no result in the tool message set apart as a user message")
            return replace(message, role="user", parts=rest)
        return message if len(rest) == len(message.parts) else replace(message, parts=rest)

    def _placed(self, position: int, message: Message) -> Iterator[Item]:
        if message.calls:
            own = self._with_own_ids(position, message)
            turn = next(self._turns)
            # Results carry the ids as they came in, so the turn is asked for under those.
            pairs = zip(message.calls, own.calls, strict=True)
            self._newest = [(came.id, call) for came, call in pairs]
            self._open.ask((came, (turn, at, call)) for at, (came, call) in enumerate(self._newest))
            yield Item(position, own, turn)
        elif thinking_alone(message):
            thoughts = ", ".join(shown(part).removeprefix(": ") or "redacted" for part in message.parts)
            self.say(position, f"the assistant message removed: it held thinking alone: {thoughts}")
        elif message.parts:
            yield Item(position, message)

    def _answers(self, position: int, message: Message) -> Iterator[Item]:
        """Each result as a tool message of its own."""
        whole = message.role == "tool" and len(message.parts) == 1
        trust = message.trust if message.role == "tool" else "outside"
        for result in message.results:
            if not whole:
                self.say(position, f"the result of call {result.call_id!r} set apart as a tool message")
            alone = message if whole else replace(tool(result, trust=trust), step=message.step)
            yield from self._answer(position, alone)

    def _answer(self, position: int, message: Message) -> Iterator[Item]:
        result = message.results[0]
        came = result.call_id or self._unnamed(result)
        found = self._open.answer(came)
        if found is None:
            known = came in self._ids and came not in self._given
            reason = "its call has a result already" if known else "no call before it asked for it"
            self.say(position, f"{answer_to(result)} removed, {reason}{shown(result)}")
            return
        turn, index, call = found
        self._newest = [waiting for waiting in self._newest if waiting[1] is not call]
        if call.id != result.call_id:
            message = replace(message, parts=(replace(result, call_id=call.id),))
        yield Item(position, message, turn, index, call)

    def _unnamed(self, result: ToolResult) -> str:
        """The id for a result without one: of the first call of the newest turn that waits, by name if it has one."""
        return next((came for came, call in self._newest if result.name in ("", call.name)), "")

    def _with_own_ids(self, position: int, message: Message) -> Message:
        """An id that is empty, comes twice in the message, or was given to another call by us, gets a new name."""
        ids = [call.id for call in message.calls]
        self._ids.update(ids)
        if "" not in ids and len(set(ids)) == len(ids) and self._given.isdisjoint(ids):
            return message
        seen = {""}
        parts: list[Part] = []
        for part in message.parts:
            taken = isinstance(part, ToolCall) and (part.id in seen or part.id in self._given)
            own = self._renamed(position, part) if taken and isinstance(part, ToolCall) else part
            seen.update([own.id] if isinstance(own, ToolCall) else [])
            parts.append(own)
        return replace(message, parts=tuple(parts))

    def _renamed(self, position: int, call: ToolCall) -> ToolCall:
        fresh = _fresh(call.id or _UNNAMED, self._ids)
        self._ids.add(fresh)
        self._given.add(fresh)
        reason = "no two calls of a turn share an id" if call.id else "it came without an id"
        self.say(position, f"{named(call)} renamed to {fresh!r}: {reason}")
        return replace(call, id=fresh)


def named(part: ToolCall | Thinking) -> str:
    return f"call {part.id!r} ({part.name})" if isinstance(part, ToolCall) else "thinking"


def answer_to(result: ToolResult) -> str:
    return f"the result of call {result.call_id!r}"


def thinking_alone(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, Thinking) for part in message.parts)


def _fresh(base: str, taken: set[str]) -> str:
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def shown(part: Part) -> str:
    """The first words of what is removed, and how many images go with it; "" where it has no text."""
    words = part.arguments if isinstance(part, ToolCall) else getattr(part, "text", "")
    images = len(part.images) if isinstance(part, ToolResult) else 0
    pieces = [repr(words[:_PREVIEW] + ("…" if len(words) > _PREVIEW else ""))] if words else []
    pieces += [f"{images} image{'s' * (images > 1)}"] if images else []
    return f": {' and '.join(pieces)}" if pieces else ""
