"""OpenAI Responses items and tools to ours and back.

An answer is a list of items here, where the other formats have one message: reasoning, texts and calls, in the order
in which they came. Neighbouring items of the assistant's are read as one message, and a message is written as its
items. Read: typed items and the plain `role` and `content`, custom calls, the `instructions` beside them. An item of a
type that nobody here knows (`web_search_call`, `mcp_call`) becomes a text that says so (`parts`).

A reasoning item is one Thinking: its text is the summaries (or, without any, the reasoning itself) joined by blank
lines, its signature the item's id, `redacted` the `encrypted_content`. It is sent back only with that content, since
nothing is stored at the provider, and only where a text or a call follows it in its message.

What the format cannot hold and `read(wire.items)` therefore gives back otherwise: where a message came from (the role
`developer` and a refusal excepted), its trust, step and kind; neighbours of the assistant's, which come back as one
message; an error mark, address and paging of a result, and a name that is not its call's; an error result without a
text, which gets one; other thinking than the above; images in an assistant message, of which a line of text is left;
ids with characters the API refuses, too long ones, and ids that come twice.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any

from ethang_nb.context.answering import shown
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Image, Message, Part, Role, Text, Thinking, ToolCall, ToolResult, tool
from ethang_nb.context.pairing import mend
from ethang_nb.formats import call_ids
from ethang_nb.formats.items import ITEMS
from ethang_nb.formats.openai import read_tool, read_tools
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
    "NO_ID_CHARACTER",
    "ROLES",
    "Wire",
    "joined",
    "read",
    "read_one",
    "read_tool",
    "read_tools",
    "to_wire",
    "tools_to_wire",
]

ROLES = ("system", "developer", "user", "assistant")
LONGEST_ID = 64  # characters
NO_ID_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")
_PARAGRAPH = "\n\n"
_DIGITS = 24  # ► of a hash, in an id made up here
_SOURCES: dict[Role, str] = {"system": "system", "user": "person", "assistant": "model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Items, in one list for each message, and what was mended, then what is not sent, one line each."""

    messages: list[list[dict[str, Any]]]
    repairs: tuple[str, ...] = field(default=(), compare=False)

    @property
    def items(self) -> list[dict[str, Any]]:
        """What stands in `input`."""
        return list(chain.from_iterable(self.messages))


def read(items: Iterable[Any], instructions: object = None) -> tuple[Message, ...]:
    """Items as dicts, or the SDK's objects, as messages; `instructions`, a text or items, before them.

    BadMessage names position and value.
    """
    done: list[Message] = []
    if isinstance(instructions, str):
        done += (
            split("system", read_parts(instructions, "instructions"), source="system") if instructions else ()
        )
    elif instructions is not None:
        done += read(_listed(instructions, "instructions"))
    for position, item in enumerate(items):
        for message in read_one(item, position):
            if message.role == "assistant" and done and done[-1].role == "assistant":
                done[-1] = joined(done[-1], message)
            else:
                done.append(message)
    return call_ids.filled(done)


def read_one(item: object, position: int = 0) -> tuple[Message, ...]:
    """One item as messages; ids and names that only its neighbours know are still empty (`call_ids.filled`)."""
    where = f"item {position}"
    data = plain(item, where, "an item, a dict with a 'type'")
    kind = data.get("type", "message" if "role" in data else None)
    match kind:
        case "message":
            return _read_message(data, where)
        case "reasoning":
            return split("assistant", [_read_reasoning(data, where)], source="model")
        case "function_call" | "custom_tool_call":
            return split("assistant", [_read_call(data, where)], source="model")
        case "function_call_output" | "custom_tool_call_output":
            return (_read_result(data, where),)
        case str():
            return (_read_unknown(data, kind, where),)
        case _:
            raise bad(f"{where}: type", kind, f"the name of an item type, such as {', '.join(ITEMS)}")


def joined(before: Message, after: Message) -> Message:
    """Two assistant messages of one answer as one."""
    source = after.source if any(isinstance(part, Text) for part in after.parts) else before.source
    return replace(before, parts=before.parts + after.parts, source=source)


def to_wire(messages: Iterable[Message], *, developer: bool = False) -> Wire:
    """Messages as the API takes them: the history is mended first, so what is sent is always legal.

    Each message has the same items whatever follows it. `developer` says `developer` for every `system`.
    """
    mended = mend(messages)
    legal = call_ids.sendable(mended.messages, longest=LONGEST_ID, other=NO_ID_CHARACTER)
    writer = _Writer(developer=developer)
    written = [
        writer.write(position, message) for position, message in zip(mended.positions, legal, strict=True)
    ]
    return Wire(messages=written, repairs=(*mended.repairs, *writer.said()))


def tools_to_wire(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Function tools in the flat shape; a schema is taken as it is (`strict` would refuse most of them)."""
    return [
        {
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": copy.deepcopy(dict(spec.parameters)),
            "strict": False,
        }
        for spec in tools
    ]


def _listed(value: object, where: str) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        return value
    raise bad(where, value, "a text or a list of items")


def _read_message(data: Mapping[str, Any], where: str) -> tuple[Message, ...]:
    role, content = data.get("role"), data.get("content")
    if role not in ROLES:
        raise bad(f"{where}: role", role, f"one of {', '.join(ROLES)}")
    if role == "developer":
        return split("system", read_parts(content, where), source="developer")
    source = "refusal" if role == "assistant" and ends_refused(content) else _SOURCES[role]
    return split(role, read_parts(content, where), source=source)


def _read_reasoning(data: Mapping[str, Any], where: str) -> Thinking:
    words = _texts(data.get("summary"), f"{where}: summary") or _texts(
        data.get("content"), f"{where}: content"
    )
    return Thinking(
        text=words,
        signature=text(data.get("id"), f"{where}: id"),
        redacted=text(data.get("encrypted_content"), f"{where}: encrypted_content"),
    )


def _texts(parts: object, where: str) -> str:
    if parts is None:
        return ""
    if not isinstance(parts, list | tuple):
        raise bad(where, parts, "a list of parts with a text")
    read_all = [plain(part, where, "a part with a text") for part in parts]
    return _PARAGRAPH.join(text(part.get("text"), f"{where}: text") for part in read_all)


def _read_call(data: Mapping[str, Any], where: str) -> ToolCall:
    given = data.get("input" if data["type"] == "custom_tool_call" else "arguments")
    return ToolCall(
        id=text(data.get("call_id") or data.get("id"), f"{where}: call_id"),
        name=text(data.get("name"), f"{where}: name"),
        arguments=arguments(given, f"{where}: arguments"),
    )


def _read_result(data: Mapping[str, Any], where: str) -> Message:
    words, images = result_content(data.get("output"), f"{where}: output")
    call_id = text(data.get("call_id"), f"{where}: call_id")
    name = text(data.get("name"), f"{where}: name")
    return tool(ToolResult(call_id=call_id, name=name, text=words, images=images))


def _read_unknown(data: Mapping[str, Any], kind: str, where: str) -> Message:
    """What the provider did by itself is the assistant's; what somebody answered to it came from outside."""
    parts = read_parts([data], where)
    if kind.endswith(("_output", "_response")):
        return Message(role="user", parts=parts, source=kind, trust="outside")
    return split("assistant", parts, source="model")[0]


class _Writer:
    """Writes a history message by message, and collects what of it is not sent."""

    def __init__(self, *, developer: bool) -> None:
        self._developer = developer
        self._ids = call_ids.Free(longest=LONGEST_ID)
        self._replayed: set[str] = set()
        self._silent: list[int] = []
        """Positions of messages whose thinking the provider gave nothing for by which it could be sent back."""
        self._said: list[str] = []

    def write(self, position: int, message: Message) -> list[dict[str, Any]]:
        """The items of a legal message."""

        def say(line: str) -> None:
            self._said.append(f"message {position}: {line}")

        held = (*message.parts, *(image for result in message.results for image in result.images))
        images = sum(isinstance(part, Image) and not _can_hold(part, message.role) for part in held)
        if images:
            say(f"{images} of its images replaced by a line of text")
        if message.role == "tool":
            return [_write_result(message.results[0])]
        if message.role != "assistant":
            developer = message.role == "system" and (self._developer or message.source == "developer")
            role = "developer" if developer else message.role
            return [
                {
                    "type": "message",
                    "role": role,
                    "content": [_input(part, message.role) for part in message.parts],
                }
            ]
        return list(self._answer(message, say, position))

    def said(self) -> list[str]:
        """What is not sent. Thinking, which is in every turn or in none, is said once."""
        if not self._silent:
            return self._said
        first, *others = self._silent
        more = f", nor that of {len(others)} more" if others else ""
        line = f"its thinking is not sent{more}: it came without encrypted_content, which include= asks for"
        return [f"message {first}: {line}", *self._said]

    def _answer(
        self, message: Message, say: Callable[[str], None], position: int
    ) -> Iterator[dict[str, Any]]:
        kept = self._replayable(message.parts, say, position)
        texts = [at for at, part in enumerate(kept) if isinstance(part, Text)]
        refusal = texts[-1] if texts and message.source == "refusal" else None
        for is_text, parts in groupby(enumerate(kept), lambda one: isinstance(one[1], Text | Image)):
            if is_text:
                yield self._said_by_model([_output(part, refused=at == refusal) for at, part in parts])
                continue
            yield from (_write_part(part) for _, part in parts)

    def _said_by_model(self, content: list[dict[str, Any]]) -> dict[str, Any]:
        """The types want an id, and the API takes any that begins so. Made of the text, it stays the same."""
        words = "\0".join(part.get("text") or part.get("refusal") or "" for part in content)
        name = f"msg_{hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"
        return {
            "type": "message",
            "id": self._ids.take(name),
            "role": "assistant",
            "status": "completed",
            "content": content,
        }

    def _replayable(self, parts: tuple[Part, ...], say: Callable[[str], None], position: int) -> list[Part]:
        """The parts without the thinking that the API would refuse."""
        kept: list[Part] = []
        for part in parts:
            if not isinstance(part, Thinking):
                kept.append(part)
            elif not (part.signature and part.redacted):
                if position not in self._silent:
                    self._silent.append(position)
            elif part.signature in self._replayed:
                say(f"thinking not sent: another one has its id {part.signature[:LONGEST_ID]!r}{shown(part)}")
            else:
                self._replayed.add(part.signature)
                kept.append(part)
        while kept and isinstance(last := kept[-1], Thinking):
            say(f"thinking not sent: nothing follows it in its message{shown(last)}")
            self._replayed.discard(last.signature)
            kept.pop()
        return kept


def _can_hold(image: Image, role: Role) -> bool:
    return role in ("user", "tool") and bool(image.data or image.url)


def _input(part: Part, role: Role) -> dict[str, Any]:
    if isinstance(part, Image) and _can_hold(part, role):
        url = f"data:{part.media_type};base64,{part.data}" if part.data else part.url
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    return {"type": "input_text", "text": _words(part, role)}


def _output(part: Part, *, refused: bool) -> dict[str, Any]:
    if refused:
        return {"type": "refusal", "refusal": _words(part, "assistant")}
    return {"type": "output_text", "text": _words(part, "assistant"), "annotations": []}


def _words(part: Part, role: Role) -> str:
    return image_left_out(part, role) if isinstance(part, Image) else getattr(part, "text", "")


def _write_part(part: Part) -> dict[str, Any]:
    match part:
        case Thinking():
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            return {
                "type": "reasoning",
                "id": part.signature,
                "summary": summary,
                "encrypted_content": part.redacted,
            }
        case ToolCall():
            return {
                "type": "function_call",
                "call_id": part.id,
                "name": part.name,
                "arguments": part.arguments,
            }
        case _:
            raise TypeError(f"{part!r} has no item of its own")  # mended: there is nothing else


def _write_result(result: ToolResult) -> dict[str, Any]:
    words = result.text or (FAILED if result.error and not result.images else "")
    output: str | list[dict[str, Any]] = words
    if result.images:
        images = [_input(image, "tool") for image in result.images]
        output = [{"type": "input_text", "text": words}, *images] if words else images
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}
