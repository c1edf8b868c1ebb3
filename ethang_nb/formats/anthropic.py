"""Anthropic Messages and tools to ours and back.

`Wire.repairs` says what was mended and what of it is not sent.

Read: content as a string or as blocks; `tool_result` blocks become tool messages, thinking keeps text and
signature to the byte. A block type nobody knows becomes a text that says so (`parts`); `cache_control` and
citations are no content and are not kept.

What the format cannot hold and `read(wire.messages, wire.system)` therefore gives back otherwise: where a
message came from, its trust, step and kind; address and paging of a result, and a name that is not its call's;
the spelling of arguments (their value stays; what is no JSON object is wrapped and comes back as it was);
neighbours of one role, which come back as one message, system messages first; thinking without a signature,
thinking that nothing follows in its message and texts of white space alone, all of which the API refuses;
images in a system or assistant message, of which a line of text is left; ids with characters the API refuses,
too long ones, and ids that come twice.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ethang_nb.context.answering import shown
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Image, Message, Part, Role, Text, Thinking, ToolCall, ToolResult
from ethang_nb.context.pairing import mend
from ethang_nb.errors import BadMessage
from ethang_nb.formats import call_ids
from ethang_nb.formats.parts import FAILED, bad, image_left_out, plain, read_parts, split, text

__all__ = [
    "AS_WRITTEN",
    "LONGEST_ID",
    "NO_ID_CHARACTER",
    "OPENING",
    "ROLES",
    "Wire",
    "apart",
    "joined",
    "read",
    "read_one",
    "read_tool",
    "read_tools",
    "to_wire",
    "tools_to_wire",
]

ROLES = ("user", "assistant", "system")
AS_WRITTEN = "arguments_as_written"
"""The one key of the `input` that stands for arguments which are no JSON object."""

LONGEST_ID = 64  # characters
NO_ID_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")
OPENING = "[the conversation begins with the assistant]"
"""What the user is made to say first, where the history has an assistant message there."""
_SOURCES: dict[Role, str] = {"system": "system", "user": "person", "assistant": "model", "tool": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The two parts of a request that carry messages; `system` is a list of text blocks, maybe empty.

    `repairs`: what was mended, then what is not sent or not as it was, one line each by position in the input.
    """

    system: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    repairs: tuple[str, ...] = field(default=(), compare=False)


def read(items: Iterable[Any], system: object = None) -> tuple[Message, ...]:
    """Messages dicts, or the SDK's objects, as messages, the system text (string or blocks) before them.

    BadMessage names position and value.
    """
    first = split("system", read_parts(system, "system"), source=_SOURCES["system"]) if system else ()
    read_all = (message for position, item in enumerate(items) for message in read_one(item, position))
    return call_ids.filled((*first, *read_all))


def read_one(item: object, position: int = 0) -> tuple[Message, ...]:
    """One dict as messages; ids and names that only its neighbours know are still empty (`call_ids.filled`)."""
    where = f"message {position}"
    data = plain(item, where, "a message, a dict with a 'role'")
    role = data.get("role")
    if role not in ROLES:
        raise bad(f"{where}: role", role, f"one of {', '.join(ROLES)}")
    parts = tuple(_as_it_was(part) for part in read_parts(data.get("content"), where))
    return split(role, parts, source=_SOURCES[role])


def to_wire(messages: Iterable[Message]) -> Wire:
    """Messages as the API takes them: the history is mended first, so what is sent is always legal.

    All system messages go to `system`.
    """
    wire = apart(messages)
    return replace(wire, messages=joined(wire.messages))


def apart(messages: Iterable[Message]) -> Wire:
    """The same before neighbours of one role are `joined`, so that pieces of a history can be written by themselves."""
    mended = mend(messages)
    legal = call_ids.sendable(mended.messages, longest=LONGEST_ID, other=NO_ID_CHARACTER)
    system: list[dict[str, Any]] = []
    wire: list[dict[str, Any]] = []
    said: list[str] = []
    for position, message in zip(mended.positions, legal, strict=True):
        lost: list[str] = []
        blocks = _write_blocks(message, lost.append)
        said += (f"message {position}: {line}" for line in lost)
        if message.role == "system":
            system += blocks
        elif blocks:
            wire.append({"role": "assistant" if message.role == "assistant" else "user", "content": blocks})
    return Wire(system=system, messages=wire, repairs=(*mended.repairs, *said))


def joined(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbours of one role as one message, the first of the user's. Takes the dicts over."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        if wire and wire[-1]["role"] == message["role"]:
            wire[-1]["content"] += message["content"]
        else:
            wire.append(message)
    if wire and wire[0]["role"] == "assistant":
        wire.insert(0, {"role": "user", "content": [_text_block(OPENING)]})
    return wire


def read_tools(items: Iterable[Any]) -> tuple[ToolSpec, ...]:
    """Client tools; a tool that runs at the provider (`web_search_…`) has no schema and raises BadMessage."""
    return tuple(read_tool(item, position) for position, item in enumerate(items))


def read_tool(item: object, position: int = 0) -> ToolSpec:
    """One client tool. BadMessage names position and value."""
    where = f"tool {position}"
    data = plain(item, where, "a tool, a dict with 'name' and 'input_schema'")
    name = text(data.get("name"), f"{where}: name")
    if not name:
        raise BadMessage(f"{where}: a name is missing; expected a tool with 'name' and 'input_schema'")
    schema = plain(data.get("input_schema"), f"{where}: input_schema", "a JSON schema, a dict")
    described = text(data.get("description"), f"{where}: description")
    return ToolSpec(name=name, description=described, parameters=copy.deepcopy(dict(schema)))


def tools_to_wire(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Client tools; a schema without a type, which the API refuses, becomes one of type object."""
    return [
        {
            "name": spec.name,
            "description": spec.description,
            "input_schema": {"type": "object"} | copy.deepcopy(dict(spec.parameters)),
        }
        for spec in tools
    ]


def _as_it_was(part: Part) -> Part:
    """Undoes `_input`: arguments that were wrapped because they are no JSON object."""
    if not isinstance(part, ToolCall) or AS_WRITTEN not in part.arguments:
        return part
    try:
        data = json.loads(part.arguments)
    except (ValueError, RecursionError):
        return part
    if not isinstance(data, dict) or set(data) != {AS_WRITTEN} or not isinstance(data[AS_WRITTEN], str):
        return part
    return ToolCall(id=part.id, name=part.name, arguments=data[AS_WRITTEN])


def _write_blocks(message: Message, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """The blocks of a message; `say` is told of what the API would refuse and what therefore is not sent."""
    kept: list[Part] = []
    for part in message.parts:
        if isinstance(part, Text) and not part.text.strip():
            say("a text of white space alone not sent")
        elif isinstance(part, Thinking) and not (part.signature or part.redacted):
            say(f"thinking without a signature not sent{shown(part)}")
        else:
            kept.append(part)
    while kept and isinstance(kept[-1], Thinking):
        say(f"thinking not sent: it may not stand at the end of a message{shown(kept.pop())}")
    if not kept:
        say(f"the {message.role} message not sent: nothing of it is left")
    images = sum(isinstance(part, Image) and not _can_hold(part, message.role) for part in kept)
    if images:
        say(f"{images} of its images replaced by a line of text")
    return [_write_part(part, message.role) for part in kept]


def _can_hold(image: Image, role: Role) -> bool:
    return role in ("user", "tool") and bool(image.data or image.url)


def _write_part(part: Part, role: Role) -> dict[str, Any]:
    match part:
        case Text():
            return _text_block(part.text)
        case Image():
            return _write_image(part, role)
        case Thinking():
            return _write_thinking(part)
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": _input(part.arguments)}
        case ToolResult():
            return _write_result(part)


def _text_block(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _write_image(image: Image, role: Role) -> dict[str, Any]:
    if not _can_hold(image, role):
        return _text_block(image_left_out(image, role))
    if image.data:
        source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    else:
        source = {"type": "url", "url": image.url}
    return {"type": "image", "source": source}


def _write_thinking(part: Thinking) -> dict[str, Any]:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.redacted}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _write_result(result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    images = [_write_image(image, "tool") for image in result.images]
    words = result.text or (FAILED if result.error and not images else "")
    if images:
        block["content"] = [_text_block(words), *images] if words.strip() else images
    elif words:
        block["content"] = words
    if result.error:
        block["is_error"] = True
    return block


def _input(arguments: str) -> dict[str, Any]:
    """The object that the arguments are; nothing and null are the empty one, all else is kept as written."""
    if arguments.strip() in ("", "null"):
        return {}
    try:
        value = json.loads(arguments, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return {AS_WRITTEN: arguments}
    wrapped = isinstance(value, dict) and set(value) == {AS_WRITTEN}
    return value if isinstance(value, dict) and not wrapped else {AS_WRITTEN: arguments}


def _refuse(constant: str) -> Mapping[str, Any]:
    raise ValueError(f"{constant} is no JSON")
