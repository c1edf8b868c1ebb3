"""Call ids: filled in where a format leaves them out, and made unique and legal where a history is sent.

Both pair as `context.answering` does: a result belongs to the nearest open call before it. Ids made up here
depend on nothing but the message's own content, so the same message gets the same id every time.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from ethang_nb.context.answering import OpenCalls
from ethang_nb.context.messages import Message, Part, ToolCall, ToolResult

__all__ = ["Free", "filled", "legacy_id", "renamed", "sendable"]

LONGEST = 1_000  # ► characters of an id that are kept; a format that takes fewer shortens it where it is sent


def legacy_id(name: str) -> str:
    """The id of a `function_call` and of the `function` message that answers it; the old API had none."""
    return f"function_{name}"


def filled(messages: Iterable[Message], given: Container[int] = ()) -> tuple[Message, ...]:
    """Calls and results with the ids and names that the format left out.

    A call without an id becomes `call_<n>`, n its number in its message. A result without an id answers the
    first open call of the turn before it, of its own name if it has one; where no turn is here, it stays
    without. A result without a name gets its call's. Messages at the positions `given` stay as they are, but
    their calls are known.
    """
    waiting: OpenCalls[ToolCall] = OpenCalls()
    turn: list[ToolCall] = []
    done: list[Message] = []
    for position, before in enumerate(messages):
        message = before if position in given else _with_call_ids(before)
        if message.calls:
            turn = list(message.calls)
            waiting.ask((call.id, call) for call in turn)
        if message.results and position not in given:
            message = _with_names(message, turn, waiting)
        else:
            for result in message.results:
                _settle(waiting.answer(result.call_id), turn)
        done.append(message)
    return tuple(done)


def sendable(
    messages: Iterable[Message], *, longest: int, other: re.Pattern[str] | None = None
) -> tuple[Message, ...]:
    """A legal history as it may be sent: no id comes twice, is longer than `longest` or has an `other` character.

    The first to use an id keeps it; a later turn is renamed as a whole, call and result. Names depend only on
    what stands before, so a history that grows keeps the bytes it had.
    """
    free = Free(longest=longest, other=other)
    turn: dict[str, str] = {}
    done: list[Message] = []
    for message in messages:
        if message.calls:
            turn = {call.id: free.take(call.id) for call in message.calls}
        done.append(renamed(message, turn))
    return tuple(done)


class Free:
    """The ids that a history has not used yet."""

    def __init__(self, *, longest: int = LONGEST, other: re.Pattern[str] | None = None) -> None:
        self._longest, self._other = longest, other
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def take(self, call_id: str) -> str:
        """What the next call is called that came with this id."""
        legal = name = (self._other.sub("_", call_id) if self._other else call_id)[: self._longest]
        while name in self._taken:
            self._counts[legal] = self._counts.get(legal, 1) + 1
            suffix = f"_{self._counts[legal]}"
            name = legal[: self._longest - len(suffix)] + suffix
        self._taken.add(name)
        return name


def _with_call_ids(message: Message) -> Message:
    calls = message.calls
    if all(call.id for call in calls):
        return message
    number = iter(range(len(calls)))
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            fallback = f"call_{next(number)}"
            parts.append(part if part.id else replace(part, id=fallback))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))


def _with_names(message: Message, turn: list[ToolCall], waiting: OpenCalls[ToolCall]) -> Message:
    parts = [_named(part, turn, waiting) if isinstance(part, ToolResult) else part for part in message.parts]
    name = next((part.name for part in parts if isinstance(part, ToolResult)), "")
    return replace(message, parts=tuple(parts), source=message.source or name)


def _named(result: ToolResult, turn: list[ToolCall], waiting: OpenCalls[ToolCall]) -> ToolResult:
    call_id = result.call_id
    if not call_id:
        asked = (call.id for call in turn if not result.name or call.name == result.name)
        call_id = next(asked, legacy_id(result.name) if result.name else "")
    call = waiting.answer(call_id)
    _settle(call, turn)
    name = result.name or (call.name if call else "")
    return replace(result, call_id=call_id, name=name)


def _settle(call: ToolCall | None, turn: list[ToolCall]) -> None:
    turn[:] = [other for other in turn if other is not call]


def renamed(message: Message, turn: Mapping[str, str]) -> Message:
    """The message with its calls, or the calls it answers, called as `turn` says."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall) and turn[part.id] != part.id:
            parts.append(replace(part, id=turn[part.id]))
        elif isinstance(part, ToolResult) and turn.get(part.call_id, part.call_id) != part.call_id:
            parts.append(replace(part, call_id=turn[part.call_id]))
        else:
            parts.append(part)
    return message if tuple(parts) == message.parts else replace(message, parts=tuple(parts))
