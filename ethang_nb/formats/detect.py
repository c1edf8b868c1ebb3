"""Messages and tools in any known shape as ours: the shape itself says which.

Takes our own values, their JSON, OpenAI and Anthropic dicts and the objects of the official SDKs, mixed as
they come, or a single one of them. Nothing of an SDK is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Message, Part, Role, ToolResult, clean, from_json
from ethang_nb.errors import BadMessage
from ethang_nb.formats import anthropic, call_ids, openai
from ethang_nb.formats.fields import rewritten, unread
from ethang_nb.formats.parts import bad, plain

__all__ = ["Reading", "is_anthropic", "is_openai", "reading", "to_messages", "to_tools"]

_EXPECTED = "a message: one of ethang_nb, or an OpenAI- or Anthropic-style dict with 'role' and 'content'"
_TOOL_EXPECTED = "a tool: a ToolSpec, or an OpenAI- or Anthropic-style dict with a name and a schema"
_ROLES = get_args(Role)
_OPENAI_ROLES = ("developer", "tool", "function")
_OPENAI_KEYS = ("tool_calls", "function_call", "refusal", "tool_call_id", "reasoning_content", "audio")
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "image")
_BODIES = {
    "choices": "a whole response; pass its .choices[0].message",
    "messages": "a whole request; pass its 'messages' (and its 'system' apart)",
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
    done: list[Message] = []
    positions: list[int] = []
    given: set[int] = set()
    ignored: list[tuple[int, str]] = []
    for position, item in enumerate(_listed(items, _EXPECTED)):
        if isinstance(item, Message):
            given.add(len(done))
            done.append(_cleaned(item))
            positions.append(position)
            continue
        data = plain(item, f"message {position}", _EXPECTED)
        if "parts" in data and "content" not in data:
            given.add(len(done))
            done.append(_ours(data, position))
        else:
            done += _read_one(data, position)
            ignored += ((position, said) for said in rewritten(data))
        positions += [position] * (len(done) - len(positions))
        ignored += ((position, f"its field {name!r} is not read") for name in unread(data))
    return Reading(messages=call_ids.filled(done, given), positions=tuple(positions), unread=tuple(ignored))


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


def _read_one(data: Mapping[str, Any], position: int) -> tuple[Message, ...]:
    if "role" not in data:
        for key, said in _BODIES.items():
            if key in data:
                raise BadMessage(f"message {position}: this is {said}")
    if is_anthropic(data):
        return anthropic.read_one(data, position)
    return openai.read_one(data, position)


def is_anthropic(data: Mapping[str, Any]) -> bool:
    """Only blocks that OpenAI does not have tell; what both have reads the same either way."""
    if is_openai(data):
        return False
    content = data.get("content")
    if not isinstance(content, list | tuple):
        return False
    return any(_type(block) in _ANTHROPIC_BLOCKS for block in content)


def is_openai(data: Mapping[str, Any]) -> bool:
    """Only roles and keys that Anthropic does not have tell."""
    return data.get("role") in _OPENAI_ROLES or any(data.get(key) for key in _OPENAI_KEYS)


def _type(block: object) -> object:
    return block.get("type") if isinstance(block, Mapping) else getattr(block, "type", None)


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
