"""Messages: one provider-neutral item with its parts, where it came from and how far it is trusted.

Values only. Text is cleaned once, where it enters (`clean`), so that counting, recording and sending always
see the same string. Other tools' shapes are turned into these in `formats/`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

__all__ = [
    "AGAINS",
    "PASSING",
    "Again",
    "Image",
    "Kind",
    "Message",
    "Part",
    "Role",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Trust",
    "assistant",
    "clean",
    "from_json",
    "system",
    "to_json",
    "tool",
    "user",
]

Role = Literal["system", "user", "assistant", "tool"]
Trust = Literal["owner", "agent", "outside"]
Again = Literal["read", "run", "lost"]
"""How a removed result can be had again: read at its own address, by running the tool again, or not at all
(then only the record still has it)."""
AGAINS: tuple[Again, ...] = ("read", "run", "lost")
"""In the order of collapse: first what is easiest to have again."""
Kind = Literal["message", "project", "nudge", "notice", "note", "memory", "pin"]
PASSING: tuple[Literal["nudge", "notice"], ...] = ("nudge", "notice")
"""Texts of ours that are taken out at the next landing and have no place in the record's numbering of messages."""

_DEFAULT_TRUST: dict[Role, Trust] = {
    "system": "owner",
    "user": "owner",
    "assistant": "agent",
    "tool": "outside",
}
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` as it may be counted, stored and sent: lone surrogates become U+FFFD, NUL becomes U+2400."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    return _SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image as base64 `data` of `media_type`, or as a `url`."""

    media_type: str = ""
    data: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's reasoning, kept verbatim with its signature; `redacted` holds what only the provider can read."""

    text: str = ""
    signature: str = ""
    redacted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`arguments` is the JSON text exactly as the model wrote it, broken or not."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered.

    `address` is where this very text can be read again (`file:…`, `spill://…`), "" where it has no place of
    its own; `again` says how it can be had again. `paged` marks a page of something longer, which is cut but
    never spilled again.
    """

    call_id: str
    name: str = ""
    text: str = ""
    images: tuple[Image, ...] = ()
    error: bool = False
    address: str = ""
    again: Again = "lost"
    paged: bool = False


Part = Text | Image | Thinking | ToolCall | ToolResult
_PARTS: dict[str, type[Part]] = {
    "text": Text,
    "image": Image,
    "thinking": Thinking,
    "call": ToolCall,
    "result": ToolResult,
}
_PART_NAMES = {cls: name for name, cls in _PARTS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One item of a conversation. `step` is the request it belongs to, `source` who or what wrote it."""

    role: Role
    parts: tuple[Part, ...]
    source: str = ""
    trust: Trust = "owner"
    step: int | None = None
    kind: Kind = "message"

    @property
    def text(self) -> str:
        """All text parts and results, joined by line ends."""
        pieces = (part.text for part in self.parts if isinstance(part, Text | ToolResult))
        return "\n".join(piece for piece in pieces if piece)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def hash(self) -> str:
        """16 hex digits of the content's sha256. Call ids are left out: they are random and mean nothing."""
        shape = [self.role, self.kind, [_bare(part) for part in self.parts]]
        packed = json.dumps(shape, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return hashlib.sha256(packed).hexdigest()[:16]


def _bare(part: Part) -> list[Any]:
    values: list[Any] = [_PART_NAMES[type(part)]]
    for field in fields(part):
        if field.name in ("id", "call_id"):
            continue
        value = getattr(part, field.name)
        values.append([_bare(item) for item in value] if isinstance(value, tuple) else value)
    return values


def system(text: str, *, source: str = "system") -> Message:
    return Message(role="system", parts=(Text(text=clean(text)),), source=source)


def user(text: str, *, source: str = "person", kind: Kind = "message", trust: Trust = "owner") -> Message:
    return Message(role="user", parts=(Text(text=clean(text)),), source=source, kind=kind, trust=trust)


def assistant(text: str = "", calls: Iterable[ToolCall] = (), *, source: str = "model") -> Message:
    parts: tuple[Part, ...] = (Text(text=clean(text)),) if text else ()
    return Message(role="assistant", parts=parts + tuple(calls), source=source, trust="agent")


def tool(result: ToolResult, *, trust: Trust = "outside") -> Message:
    return Message(role="tool", parts=(result,), source=result.name, trust=trust)


def to_json(message: Message) -> dict[str, Any]:
    """The message as plain JSON data; `from_json` gives back an equal one. Fields at their default are left out."""
    data: dict[str, Any] = {"role": message.role, "parts": [_part_to_json(part) for part in message.parts]}
    if message.source:
        data["source"] = message.source
    if message.trust != _DEFAULT_TRUST[message.role]:
        data["trust"] = message.trust
    if message.step is not None:
        data["step"] = message.step
    if message.kind != "message":
        data["kind"] = message.kind
    return data


def from_json(data: dict[str, Any]) -> Message:
    role: Role = data["role"]
    return Message(
        role=role,
        parts=tuple(_part_from_json(part) for part in data["parts"]),
        source=data.get("source", ""),
        trust=data.get("trust", _DEFAULT_TRUST[role]),
        step=data.get("step"),
        kind=data.get("kind", "message"),
    )


def _part_to_json(part: Part) -> dict[str, Any]:
    data: dict[str, Any] = {"type": _PART_NAMES[type(part)]}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, tuple):
            value = [_part_to_json(item) for item in value]
        if value not in (field.default, []):
            data[field.name] = value
    return data


def _part_from_json(data: dict[str, Any]) -> Part:
    values = {key: value for key, value in data.items() if key != "type"}
    if "images" in values:
        values["images"] = tuple(_part_from_json(image) for image in values["images"])
    return _PARTS[data["type"]](**values)
