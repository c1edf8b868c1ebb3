"""Content parts of the OpenAI and Anthropic families as ours: text, images, thinking, calls and results.

One reader knows both families, because real histories mix them: proxies put Anthropic's thinking blocks
beside OpenAI's `tool_calls`. A part type that nobody here knows becomes a text part that names the type and
holds its JSON, so that it is seen and counted; base64 in it is replaced by its length. What is no part at all
raises BadMessage.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

from ethang_nb.context.messages import (
    Image,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Trust,
    clean,
    tool,
)
from ethang_nb.errors import BadMessage
from ethang_nb.formats.items import type_of

__all__ = [
    "CONTENT",
    "FAILED",
    "IMAGES",
    "arguments",
    "bad",
    "ends_refused",
    "image_left_out",
    "plain",
    "read_parts",
    "result_content",
    "source_of",
    "split",
    "text",
]

FAILED = "[the tool failed without a word]"
"""What stands for the text of an error result that has none."""

IMAGES = ("image_url", "input_image", "image")
CONTENT = (
    "text", "input_text", "output_text", "refusal", *IMAGES, "thinking", "redacted_thinking", "tool_use", "tool_result",
)  # fmt: skip
"""The part types that are read as what they are; any other becomes a text."""

_DEEPEST = 40  # levels of an unknown part that are kept
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{200,}")
_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^;,]*)*;base64,(.*)", re.DOTALL)
_TRUST: dict[Role, Trust] = {"system": "owner", "user": "owner", "assistant": "agent", "tool": "outside"}

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60
_short.maxdict = _short.maxlist = _short.maxlevel = 3


def bad(where: str, value: object, expected: str) -> BadMessage:
    """The error for a value that neither format has there: position, value, what was expected."""
    return BadMessage(f"{where}: {' '.join(_short.repr(value).split())} is not {expected}")


def plain(value: object, where: str, expected: str) -> Mapping[str, Any]:
    """A dict, or an object of an official SDK (anything with pydantic's `model_dump`) as one."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) and not isinstance(value, type) else None
    if not isinstance(dumped, Mapping):
        raise bad(where, value, expected)
    return dumped


def text(value: object, where: str) -> str:
    """A string, cleaned; null is the empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise bad(where, value, "a string")
    return clean(value)


def arguments(value: object, where: str) -> str:
    """A call's arguments: a string verbatim, an object as compact JSON, nothing as `{}`."""
    if value is None:
        return "{}"
    if isinstance(value, Mapping):
        try:
            return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
        except (TypeError, ValueError, RecursionError):
            raise bad(where, value, "an object that JSON can hold") from None
    if not isinstance(value, str):
        raise bad(where, value, "the arguments of a call, a JSON string or an object")
    return clean(value)


def read_parts(content: object, where: str) -> tuple[Part, ...]:
    """The content of a message: null and "" are no part, a string is one text, a list has a part an item."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(text=clean(content)),)
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        raise bad(f"{where}: content", content, "a string or a list of parts")
    return tuple(_read_part(block, f"{where}: part {index}") for index, block in enumerate(content))


def split(role: Role, parts: Sequence[Part], *, source: str) -> tuple[Message, ...]:
    """One tool message a result, the rest as messages of `role`; no parts at all are one empty message."""
    messages: list[Message] = []
    rest: list[Part] = []

    def close() -> None:
        if rest:
            messages.append(Message(role=role, parts=tuple(rest), source=source, trust=_TRUST[role]))
            rest.clear()

    for part in parts:
        if isinstance(part, ToolResult):
            close()
            messages.append(tool(part))
        else:
            rest.append(part)
    close()
    return tuple(messages) or (Message(role=role, parts=(), source=source, trust=_TRUST[role]),)


def ends_refused(content: object) -> bool:
    """Whether the last part of a content is a refusal; such a message is one as a whole."""
    return isinstance(content, list | tuple) and bool(content) and type_of(content[-1]) == "refusal"


def image_left_out(image: Image, role: str) -> str:
    """What stands for an image where the format allows none."""
    what = image.media_type or image.url or "of unknown type"
    return f"[image left out: {what}; this format has no images in a message of role {role}]"


def _read_part(block: object, where: str) -> Part:
    if isinstance(block, str):
        return Text(text=clean(block))
    data = plain(block, where, "a content part, a dict with a 'type'")
    kind = data.get("type")
    match kind:
        case "text" | "input_text" | "output_text":
            return Text(text=text(data.get("text"), f"{where}: text"))
        case "refusal":
            return Text(text=text(data.get("refusal"), f"{where}: refusal"))
        case "image_url" | "input_image" | "image":
            return _read_image(data, where) or _unknown(data)
        case "thinking":
            words = text(data.get("thinking"), f"{where}: thinking")
            return Thinking(text=words, signature=text(data.get("signature"), f"{where}: signature"))
        case "redacted_thinking":
            return Thinking(redacted=text(data.get("data"), f"{where}: data"))
        case "tool_use":
            return ToolCall(
                id=text(data.get("id"), f"{where}: id"),
                name=text(data.get("name"), f"{where}: name"),
                arguments=arguments(data.get("input"), f"{where}: input"),
            )
        case "tool_result":
            return _read_result(data, where)
        case str():
            return _unknown(data)
        case _:
            raise bad(f"{where}: type", kind, "the name of a part type, such as 'text' or 'tool_result'")


def _read_result(data: Mapping[str, Any], where: str) -> ToolResult:
    words, images = result_content(data.get("content"), where)
    call_id = text(data.get("tool_use_id"), f"{where}: tool_use_id")
    return ToolResult(call_id=call_id, text=words, images=images, error=data.get("is_error") is True)


def result_content(content: object, where: str) -> tuple[str, tuple[Image, ...]]:
    """The texts of a result, joined by line ends, and its images."""
    parts = read_parts(content, where)
    stray = next((part for part in parts if not isinstance(part, Text | Image)), None)
    if stray is not None:
        raise bad(f"{where}: content", stray, "text or an image, all that a tool result can hold")
    words = "\n".join(part.text for part in parts if isinstance(part, Text))
    return words, tuple(part for part in parts if isinstance(part, Image))


def _read_image(data: Mapping[str, Any], where: str) -> Image | None:
    """The image, or None for a reference that only its provider can follow (a file id)."""
    source = source_of(data)
    if source is None:
        return None
    if isinstance(source, Mapping):
        media_type = text(source.get("media_type"), f"{where}: media_type")
        return Image(media_type=media_type, data=clean(source["data"]))
    found = _DATA_URL.fullmatch(source)
    return Image(media_type=clean(found[1]), data=clean(found[2])) if found else Image(url=clean(source))


def source_of(data: Mapping[str, Any]) -> str | Mapping[str, Any] | None:
    """Where an image part has its image: a URL, or a dict with the `data`; None where only its provider can tell."""
    source = data.get("source") if data.get("type") == "image" else data.get("image_url")
    if isinstance(source, Mapping):
        if isinstance(source.get("data"), str):
            return source
        source = source.get("url")
    return source if isinstance(source, str) else None


def _unknown(data: Mapping[str, Any]) -> Text:
    packed = json.dumps(_without_blobs(data), ensure_ascii=False, separators=(",", ":"), default=str)
    return Text(text=clean(f"[part of type {data['type']!r}, kept as JSON] {packed}"))


def _without_blobs(value: object, depth: int = 0) -> object:
    if depth > _DEEPEST:
        return "(deeper levels left out)"
    if isinstance(value, str) and _BLOB.fullmatch(value.rpartition(",")[2]):
        return f"({len(value)} characters of base64 left out)"
    if isinstance(value, Mapping):
        return {str(key): _without_blobs(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_blobs(item, depth + 1) for item in value]
    return value
