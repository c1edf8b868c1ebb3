"""OpenAI Chat Completions messages and tools to ours and back.

Read: every role of the API, the old `function_call` pair, content as a string or as parts, the
`reasoning_content` of servers that have it. A part type nobody knows becomes a text that says so (`parts`).

What the format cannot hold and `read(to_wire(messages))` therefore gives back otherwise: where a message came
from, its trust, step and kind (a `name` is kept as the source `name:…`, the role `developer` as the source
`developer`); an error mark, address and paging of a result, and a name that is not its call's; thinking, unless
`reasoning_field` names a field for its text; the order of text and calls within a message (text goes first);
images in a tool result, which follow the turn as a user message; images in a system or assistant message, of
which a line of text is left; ids that are too long or come twice.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import (
    Image,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    clean,
    tool,
    user,
)
from ethang_nb.context.pairing import mend
from ethang_nb.errors import BadMessage
from ethang_nb.formats import call_ids
from ethang_nb.formats.parts import (
    arguments,
    bad,
    image_left_out,
    plain,
    read_parts,
    result_content,
    split,
    text,
)

__all__ = ["NAMED", "ROLES", "read", "read_one", "read_tool", "read_tools", "to_wire", "tools_to_wire"]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
NAMED = "name:"
"""How the source of a message begins that carried a participant's `name`."""

_LONGEST_ID = 40  # characters; a longer call id is refused with 400
_IMAGE_FOLLOWS = "[an image; it follows the results]"


def read(items: Iterable[Any]) -> tuple[Message, ...]:
    """Chat Completions dicts, or the SDK's objects, as messages. BadMessage names position and value."""
    read_all = (message for position, item in enumerate(items) for message in read_one(item, position))
    return call_ids.filled(read_all)


def read_one(item: object, position: int = 0) -> tuple[Message, ...]:
    """One dict as messages; ids and names that only its neighbours know are still empty (`call_ids.filled`)."""
    where = f"message {position}"
    data = plain(item, where, "a message, a dict with a 'role'")
    role = data.get("role")
    match role:
        case "tool" | "function":
            return (_read_result(data, where),)
        case "assistant":
            return _read_assistant(data, where)
        case "system" | "developer":
            return split("system", read_parts(data.get("content"), where), source=_source(data, role))
        case "user":
            return split("user", read_parts(data.get("content"), where), source=_source(data, "person"))
        case _:
            raise bad(f"{where}: role", role, f"one of {', '.join(ROLES)}")


def to_wire(
    messages: Iterable[Message], *, strict_alternation: bool = False, reasoning_field: str | None = None
) -> list[dict[str, Any]]:
    """Messages as the API takes them: the history is mended first, so what is sent is always legal.

    `mend` the messages yourself to learn what had to be repaired. `strict_alternation` joins neighbours of
    one role by a blank line, for chat templates that demand it. `reasoning_field` (`reasoning_content`) sends
    thinking back to servers that want it.
    """
    legal = call_ids.sendable(mend(messages).messages, longest=_LONGEST_ID)
    shown = _images_apart(legal)
    if strict_alternation:
        shown = _alternating(shown)
    return [_write(message, reasoning_field) for message in shown]


def read_tools(items: Iterable[Any]) -> tuple[ToolSpec, ...]:
    """Function tools, nested (Chat Completions), flat (Responses) or bare (the old `functions`)."""
    return tuple(read_tool(item, position) for position, item in enumerate(items))


def read_tool(item: object, position: int = 0) -> ToolSpec:
    """One function tool. BadMessage names position and value."""
    where = f"tool {position}"
    data = plain(item, where, "a tool, a dict with a name and parameters")
    if data.get("type", "function") != "function":
        raise bad(f"{where}: type", data["type"], "'function', the only type whose schema is known here")
    inner = data.get("function")
    shape = data if inner is None else plain(inner, f"{where}: function", "a dict with a name")
    name = text(shape.get("name"), f"{where}: name")
    if not name:
        raise BadMessage(f"{where}: a name is missing; expected a function tool with 'name' and 'parameters'")
    described = text(shape.get("description"), f"{where}: description")
    parameters = shape.get("parameters")
    if parameters is None:
        return ToolSpec(name=name, description=described)
    schema = plain(parameters, f"{where}: parameters", "a JSON schema, a dict")
    return ToolSpec(name=name, description=described, parameters=copy.deepcopy(dict(schema)))


def tools_to_wire(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Function tools in the nested shape of Chat Completions."""
    return [
        {
            "type": "function",
            "function": {
                "name": spec.name,
                "description": spec.description,
                "parameters": copy.deepcopy(dict(spec.parameters)),
            },
        }
        for spec in tools
    ]


def _read_result(data: Mapping[str, Any], where: str) -> Message:
    words, images = result_content(data.get("content"), where)
    return tool(
        ToolResult(
            call_id=text(data.get("tool_call_id"), f"{where}: tool_call_id"),
            name=text(data.get("name"), f"{where}: name"),
            text=words,
            images=images,
        )
    )


def _read_assistant(data: Mapping[str, Any], where: str) -> tuple[Message, ...]:
    content = data.get("content")
    parts: list[Part] = [*_read_thinking(data, where), *read_parts(content, where)]
    source = _source(data, "model")
    refusal = text(data.get("refusal"), f"{where}: refusal")
    if refusal:
        parts.append(Text(text=refusal))
    if refusal or _ends_refused(content):
        source = "refusal"
    if data.get("audio") is not None:
        parts += read_parts([{"type": "audio", "audio": data["audio"]}], where)
    return split("assistant", [*parts, *_read_calls(data, where)], source=source)


def _read_thinking(data: Mapping[str, Any], where: str) -> tuple[Part, ...]:
    """Reasoning beside the content, as DeepSeek, vLLM and llama.cpp, OpenRouter and LiteLLM name it."""
    blocks = data.get("thinking_blocks")
    if blocks:
        return read_parts(blocks, f"{where}: thinking_blocks")
    words = data.get("reasoning_content") or data.get("reasoning")
    return (Thinking(text=text(words, f"{where}: reasoning_content")),) if words else ()


def _read_calls(data: Mapping[str, Any], where: str) -> list[ToolCall]:
    asked = data.get("tool_calls") or ()
    if not isinstance(asked, list | tuple):
        raise bad(f"{where}: tool_calls", asked, "a list of calls")
    calls = [_read_call(call, f"{where}: tool call {index}") for index, call in enumerate(asked)]
    old = data.get("function_call")
    if old is not None:
        inner = plain(old, f"{where}: function_call", "a dict with name and arguments")
        call = _read_function(inner, "", f"{where}: function_call")
        calls.append(replace(call, id=call_ids.legacy_id(call.name)))
    return calls


def _read_call(call: object, where: str) -> ToolCall:
    data = plain(call, where, "a call, a dict with 'id' and 'function'")
    call_id = text(data.get("id"), f"{where}: id")
    if data.get("type") == "custom":
        inner = plain(data.get("custom"), f"{where}: custom", "a dict with name and input")
        return _read_function({"name": inner.get("name"), "arguments": inner.get("input")}, call_id, where)
    inner = plain(data.get("function"), f"{where}: function", "a dict with name and arguments")
    return _read_function(inner, call_id, where)


def _read_function(data: Mapping[str, Any], call_id: str, where: str) -> ToolCall:
    name = text(data.get("name"), f"{where}: name")
    return ToolCall(id=call_id, name=name, arguments=arguments(data.get("arguments"), f"{where}: arguments"))


def _source(data: Mapping[str, Any], default: str) -> str:
    name = data.get("name")
    return f"{NAMED}{clean(name)}" if isinstance(name, str) and name else default


def _ends_refused(content: object) -> bool:
    last = content[-1] if isinstance(content, list | tuple) and content else None
    return isinstance(last, Mapping) and last.get("type") == "refusal"


def _images_apart(messages: Iterable[Message]) -> list[Message]:
    """Tool messages hold text alone, so the images of a turn's results follow its last one as the user's."""
    done: list[Message] = []
    waiting: list[Part] = []
    for message in messages:
        if message.role != "tool" and waiting:
            done.append(replace(user(""), parts=tuple(waiting)))
            waiting = []
        shown = message
        for result in message.results:
            if result.images:
                label = f"[images in the result of {result.name or result.call_id}]"
                waiting += (Text(text=label), *result.images)
                shown = tool(replace(result, text=result.text or _IMAGE_FOLLOWS, images=()))
        done.append(shown)
    return [*done, replace(user(""), parts=tuple(waiting))] if waiting else done


def _alternating(messages: Iterable[Message]) -> list[Message]:
    done: list[Message] = []
    for message in messages:
        if done and message.role != "tool" and done[-1].role == message.role:
            source = message.source if message.source == done[-1].source else ""
            done[-1] = replace(done[-1], parts=_joined(done[-1].parts, message.parts), source=source)
        else:
            done.append(message)
    return done


def _joined(first: tuple[Part, ...], second: tuple[Part, ...]) -> tuple[Part, ...]:
    before, after = first[-1], second[0]
    if isinstance(before, Text) and isinstance(after, Text):
        return (*first[:-1], Text(text=f"{before.text}\n\n{after.text}"), *second[1:])
    return first + second


def _write(message: Message, reasoning_field: str | None) -> dict[str, Any]:
    if message.role == "tool":
        result = message.results[0]
        return {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
    developer = message.role == "system" and message.source == "developer"
    wire: dict[str, Any] = {"role": "developer" if developer else message.role}
    if message.source.startswith(NAMED):
        wire["name"] = message.source.removeprefix(NAMED)
    wire["content"] = _write_content(message)
    thoughts = "\n".join(part.text for part in message.parts if isinstance(part, Thinking) and part.text)
    if reasoning_field and thoughts:
        wire[reasoning_field] = thoughts
    if message.calls:
        wire["tool_calls"] = [_write_call(call) for call in message.calls]
    return wire


def _write_content(message: Message) -> str | list[dict[str, Any]] | None:
    parts = [_write_part(part, message.role) for part in message.parts if isinstance(part, Text | Image)]
    if not parts:
        return None
    if message.source == "refusal" and message.role == "assistant":
        return [*parts[:-1], {"type": "refusal", "refusal": parts[-1]["text"]}]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return parts


def _write_part(part: Text | Image, role: Role) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if role != "user" or not (part.data or part.url):
        return {"type": "text", "text": image_left_out(part, role)}
    url = f"data:{part.media_type};base64,{part.data}" if part.data else part.url
    return {"type": "image_url", "image_url": {"url": url}}


def _write_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
