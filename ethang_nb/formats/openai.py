"""OpenAI Chat Completions messages and tools to ours and back.

Read: every role of the API, the old `function_call` pair, content as a string or as parts, the
`reasoning_content` of servers that have it. A part type nobody knows becomes a text that says so (`parts`).

`write` says what was mended and what is not sent.

What the format cannot hold and `read(to_wire(messages))` therefore gives back otherwise: where a message came
from, its trust, step and kind (a `name` is kept as the source `name:…`, the role `developer` as the source
`developer`); an error mark, address and paging of a result, and a name that is not its call's; an error result
without a text, which gets one; thinking, unless `reasoning_field` names a field for its text; the order of text
and calls within a message (text goes first); images in a tool result, which follow the turn as a user message;
images in an assistant message, of which a line of text is left; ids that are too long or come twice.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
from ethang_nb.context.pairing import Mended, mend
from ethang_nb.errors import BadMessage
from ethang_nb.formats import call_ids, details, extras
from ethang_nb.formats.parts import (
    FAILED,
    arguments,
    bad,
    ends_refused,
    image_left_out,
    plain,
    read_parts,
    result_content,
    split,
    text,
)

__all__ = [
    "LONGEST_ID",
    "NAMED",
    "ROLES",
    "Wire",
    "read",
    "read_one",
    "read_tool",
    "read_tools",
    "to_wire",
    "tools_to_wire",
    "write",
]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
NAMED = "name:"
"""How the source of a message begins that carried a participant's `name`."""

LONGEST_ID = 40  # characters; a longer call id is refused with 400
_IMAGE_FOLLOWS = "[an image; it follows the results]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Messages as dicts, and what was mended, then what is not sent or not as it was, one line each."""

    messages: list[dict[str, Any]]
    repairs: tuple[str, ...] = ()


def read(items: Iterable[Any]) -> tuple[Message, ...]:
    """Chat Completions dicts, or the SDK's objects, as messages. BadMessage names position and value."""
    read_all = (message for position, item in enumerate(items) for message in read_one(item, position))
    return call_ids.filled(read_all)


def read_one(item: object, position: int = 0) -> tuple[Message, ...]:
    """One dict as messages; ids and names that only its neighbours know are still empty (`call_ids.filled`)."""
    where = f"message {position}"
    data = plain(item, where, "a message, a dict with a 'role'")
    messages = _read_role(data, where)
    if data.get("role") == "assistant" or not (data.get("tool_calls") or data.get("function_call")):
        return messages
    # Nobody but the model calls; kept, so that whoever mends the history says so.
    *before, last = messages
    return (*before, replace(last, parts=(*last.parts, *_read_calls(data, where))))


def _read_role(data: Mapping[str, Any], where: str) -> tuple[Message, ...]:
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

    `strict_alternation` joins neighbours of one role by a blank line, for chat templates that demand it.
    `reasoning_field` (`reasoning_content`) sends thinking back to servers that want it: its text, or all of it as
    a list where the field is OpenRouter's `reasoning_details`.
    """
    return write(messages, strict_alternation=strict_alternation, reasoning_field=reasoning_field).messages


def write(
    messages: Iterable[Message], *, strict_alternation: bool = False, reasoning_field: str | None = None
) -> Wire:
    """`to_wire`, and what it had to say."""
    mended = mend(messages)
    legal = call_ids.sendable(mended.messages, longest=LONGEST_ID)
    shown = _images_apart(legal)
    if strict_alternation:
        shown = _alternating(shown)
    said = _left_out(mended, reasoning_field)
    return Wire(
        messages=[_write(message, reasoning_field) for message in shown],
        repairs=(*mended.repairs, *said),
    )


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
    if refusal or ends_refused(content):
        source = "refusal"
    if data.get("audio") is not None:
        parts += read_parts([{"type": "audio", "audio": data["audio"]}], where)
    return split("assistant", [*parts, *_read_calls(data, where)], source=source)


def _read_thinking(data: Mapping[str, Any], where: str) -> tuple[Part, ...]:
    """Reasoning beside the content, as DeepSeek, vLLM and llama.cpp, OpenRouter, LiteLLM and Ollama name it."""
    blocks = data.get("thinking_blocks")
    if blocks:
        return read_parts(blocks, f"{where}: thinking_blocks")
    listed = data.get(details.FIELD)
    if listed:
        return _read_details(listed, f"{where}: {details.FIELD}")
    words = data.get("reasoning_content") or data.get("reasoning") or data.get("thinking")
    return (Thinking(text=text(words, f"{where}: reasoning_content")),) if words else ()


def _read_details(listed: object, where: str) -> tuple[Part, ...]:
    """OpenRouter's list: texts with their signature, summaries, and what only the provider can read."""
    if not isinstance(listed, list | tuple):
        raise bad(where, listed, "a list of reasoning details")
    parts: list[Part] = []
    for index, item in enumerate(listed):
        data = plain(item, f"{where}: {index}", "a dict with a 'type'")
        words = data.get("text") or data.get("summary")
        parts.append(
            Thinking(
                text=text(words, f"{where}: {index}: text"),
                signature=text(data.get("signature"), f"{where}: {index}: signature"),
                redacted=text(data.get("data"), f"{where}: {index}: data"),
            )
        )
    return tuple(parts)


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


def _left_out(mended: Mended, reasoning_field: str | None) -> list[str]:
    """What of a legal history is not sent. Thinking, which is in every turn or in none, is said once."""
    said: list[str] = []
    silent: list[int] = []
    for position, message in zip(mended.positions, mended.messages, strict=True):
        images = sum(isinstance(part, Image) and not _can_hold(part, message.role) for part in message.parts)
        if images:
            said.append(f"message {position}: {images} of its images replaced by a line of text")
        if any(_is_silent(part, reasoning_field) for part in message.parts):
            silent.append(position)
    if silent:
        more = f", nor that of {len(silent) - 1} more" if len(silent) > 1 else ""
        said.append(
            f"message {silent[0]}: its thinking is not sent{more}: Chat Completions has no place for it"
        )
    return said


def _is_silent(part: Part, reasoning_field: str | None) -> bool:
    if not isinstance(part, Thinking) or reasoning_field == details.FIELD or extras.is_extra(part):
        return False
    return not (reasoning_field and part.text)


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
                shown = tool(replace(result, text=result.text or _IMAGE_FOLLOWS, images=(), error=False))
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
        words = result.text or (FAILED if result.error else "")
        return {"role": "tool", "tool_call_id": result.call_id, "content": words}
    developer = message.role == "system" and message.source == "developer"
    wire: dict[str, Any] = {"role": "developer" if developer else message.role}
    if message.source.startswith(NAMED):
        wire["name"] = message.source.removeprefix(NAMED)
    wire["content"] = _write_content(message)
    thoughts = _write_thinking(message, reasoning_field)
    if reasoning_field and thoughts:
        wire[reasoning_field] = thoughts
    if message.calls:
        beside = extras.extras_of(message)
        wire["tool_calls"] = [
            _write_call(call) | extra for call, extra in zip(message.calls, beside, strict=True)
        ]
    return wire


def _write_thinking(message: Message, reasoning_field: str | None) -> str | list[dict[str, Any]]:
    thoughts = [part for part in message.parts if isinstance(part, Thinking) and not extras.is_extra(part)]
    if reasoning_field == details.FIELD:
        return [details.detail_of(thought) for thought in thoughts]
    return "\n".join(thought.text for thought in thoughts if thought.text)


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
    if not _can_hold(part, role):
        return {"type": "text", "text": image_left_out(part, role)}
    url = f"data:{part.media_type};base64,{part.data}" if part.data else part.url
    return {"type": "image_url", "image_url": {"url": url}}


def _can_hold(image: Image, role: Role) -> bool:
    return role == "user" and bool(image.data or image.url)


def _write_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
