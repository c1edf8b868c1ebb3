"""Messages and tools in any known shape as ours: the shape itself says which.

Takes our own values, their JSON, OpenAI and Anthropic dicts, items of the Responses API and the objects of the official
SDKs, mixed as they come, or a single one of them. Nothing of an SDK is imported.

The items of one answer of the Responses API are one message. So give them together: a reasoning item that comes alone
is a message of thinking alone, which no history may hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Message, Part, Role, ToolResult, clean, from_json
from ethang_nb.errors import BadMessage
from ethang_nb.formats import anthropic, call_ids, openai, responses
from ethang_nb.formats.fields import rewritten, unread
from ethang_nb.formats.items import item_type, type_of
from ethang_nb.formats.parts import bad, plain

__all__ = ["Reading", "is_anthropic", "is_openai", "reading", "to_messages", "to_tools"]

_EXPECTED = "a message: one of ethang_nb, or an OpenAI- or Anthropic-style dict with 'role' and 'content'"
_TOOL_EXPECTED = "a tool: a ToolSpec, or an OpenAI- or Anthropic-style dict with a name and a schema"
_Kind = Literal["item", "plain", "other"]
"""An item of the Responses API, a dict that may be one, or neither."""
_ROLES = get_args(Role)
_OPENAI_ROLES = ("developer", "tool", "function")
_OPENAI_KEYS = ("tool_calls", "function_call", "refusal", "tool_call_id", "reasoning_content", "audio")
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "image")
_BODIES = {
    "choices": "a whole response; pass its .choices[0].message",
    "messages": "a whole request; pass its 'messages' (and its 'system' apart)",
    "output": "a whole response; pass its .output",
    "input": "a whole request; pass its 'input' (and its 'instructions' apart)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Messages as they were read, and for each the position of the item it came from.

    `unread`: position and words of what was not read, or not as what it was; `mend` puts it among its repairs.
    """

    messages: tuple[Message, ...]
    positions: tuple[int, ...]
    unread: tuple[tuple[int, str], ...] = ()


def reading(items: object) -> Reading:
    """A list of messages in any known shape, or a single one. Raises BadMessage, which names the position.

    Messages of ours come through unchanged, text that was not cleaned excepted.
    """
    reader = _Reader()
    for position, item in enumerate(_listed(items, _EXPECTED)):
        reader.take(item, position)
    return reader.reading()


class _Reader:
    """Reads a list item by item; what is one answer of the Responses API becomes one message."""

    def __init__(self) -> None:
        self._done: list[Message] = []
        self._positions: list[int] = []
        self._given: set[int] = set()
        self._unread: list[tuple[int, str]] = []
        self._before: _Kind = "other"

    def take(self, item: object, position: int) -> None:
        if isinstance(item, Message):
            self._give(_cleaned(item))
        else:
            data = plain(item, f"message {position}", _EXPECTED)
            if "parts" in data and "content" not in data:
                self._give(_ours(data, position))
                self._unread += ((position, _not_read(name)) for name in unread(data))
            else:
                self._read(data, position)
        self._positions += [position] * (len(self._done) - len(self._positions))

    def reading(self) -> Reading:
        return Reading(
            messages=call_ids.filled(self._done, self._given),
            positions=tuple(self._positions),
            unread=tuple(self._unread),
        )

    def _give(self, message: Message) -> None:
        self._given.add(len(self._done))
        self._done.append(message)
        self._before = "other"

    def _read(self, data: Mapping[str, Any], position: int) -> None:
        kind = _kind(data)
        item = item_type(data) if kind == "item" else ""
        read = _read_one(data, position, kind)
        if self._done and _one_answer(self._done[-1], self._before, read[0], kind):
            self._done[-1], read = responses.joined(self._done[-1], read[0]), read[1:]
        self._done += read
        self._before = kind
        self._unread += ((position, said) for said in rewritten(data, item))
        self._unread += ((position, _not_read(name)) for name in unread(data, item))


def _not_read(name: str) -> str:
    return f"its field {name!r} is not read"


def to_messages(items: object) -> tuple[Message, ...]:
    """The messages of `reading`."""
    return reading(items).messages


def to_tools(items: object) -> tuple[ToolSpec, ...]:
    """Tools in any known shape, or a single one. Raises BadMessage, which names the position."""
    return tuple(_to_tool(item, position) for position, item in enumerate(_listed(items, _TOOL_EXPECTED)))


def _to_tool(item: object, position: int) -> ToolSpec:
    if isinstance(item, ToolSpec):
        return item
    data = plain(item, f"tool {position}", _TOOL_EXPECTED)
    if "input_schema" in data:
        return anthropic.read_tool(data, position)
    return openai.read_tool(data, position)


def _listed(items: object, expected: str) -> Iterable[Any]:
    if isinstance(items, Message | ToolSpec | Mapping) or hasattr(items, "model_dump"):
        return (items,)
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise bad("input", items, f"{expected}; or a list of them")
    return items


def _read_one(data: Mapping[str, Any], position: int, kind: _Kind) -> tuple[Message, ...]:
    if "role" not in data and kind != "item":
        for key, said in _BODIES.items():
            if key in data:
                raise BadMessage(f"message {position}: this is {said}")
    if kind == "item":
        return responses.read_one(data, position)
    if is_anthropic(data):
        return anthropic.read_one(data, position)
    return openai.read_one(data, position)


def _kind(data: Mapping[str, Any]) -> _Kind:
    if is_openai(data) or is_anthropic(data):
        return "other"
    return "item" if item_type(data) else "plain"


def _one_answer(before: Message, kind_before: _Kind, message: Message, kind: _Kind) -> bool:
    """Whether a message goes on with the answer before it: both are items, or one is and the other may be."""
    kinds = {kind_before, kind}
    return "item" in kinds and "other" not in kinds and before.role == message.role == "assistant"


def is_anthropic(data: Mapping[str, Any]) -> bool:
    """Only blocks that OpenAI does not have tell; what both have reads the same either way."""
    if is_openai(data):
        return False
    content = data.get("content")
    if not isinstance(content, list | tuple):
        return False
    return any(type_of(block) in _ANTHROPIC_BLOCKS for block in content)


def is_openai(data: Mapping[str, Any]) -> bool:
    """Only roles and keys that Anthropic does not have tell."""
    return data.get("role") in _OPENAI_ROLES or any(data.get(key) for key in _OPENAI_KEYS)


def _ours(data: Mapping[str, Any], position: int) -> Message:
    where = f"message {position}"
    if data.get("role") not in _ROLES:
        raise bad(f"{where}: role", data.get("role"), f"one of {', '.join(_ROLES)}")
    try:
        return _cleaned(from_json(dict(data)))
    except (AttributeError, KeyError, TypeError) as fault:
        raise bad(f"{where}: parts", data["parts"], "a list of parts as `to_json` writes them") from fault


def _cleaned(message: Message) -> Message:
    parts = tuple(_cleaned_part(part) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _cleaned_part(part: Part) -> Part:
    changed: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, str) and clean(value) != value:
            changed[field.name] = clean(value)
        elif isinstance(part, ToolResult) and field.name == "images":
            images = tuple(_cleaned_part(image) for image in part.images)
            if images != part.images:
                changed["images"] = images
    return replace(part, **changed) if changed else part
