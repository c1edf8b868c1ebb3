"""Anthropic Messages: the wire format of Anthropic, and of servers that are compatible with it (llama.cpp).

Requests are streams. Neighbours of one role are one message there, so a piece of the body opens a message or goes on
with the one before it: a history that is appended to keeps its bytes all the same. Marks for the prompt cache stand in
the head and in the tail, where they change no message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ethang_nb.formats import anthropic
from ethang_nb.providers.models.quirks import PLAIN, Quirks
from ethang_nb.providers.packing import packed
from ethang_nb.providers.protocol import Body, Request
from ethang_nb.providers.wires.addressed import GO_ON, GONE_ON, addressed
from ethang_nb.providers.wires.cache_marks import worth_marking
from ethang_nb.providers.wires.head import Asked, asked
from ethang_nb.providers.wires.messages_parser import MessagesParser
from ethang_nb.providers.wires.schemas import closed

__all__ = ["VERSION", "MessagesWire"]

VERSION = "2023-06-01"
_OURS = ("max_tokens", "messages", "model", "stream", "system", "tools")
_MARK = {"type": "ephemeral"}  # 5 minutes, renewed by each use
_UNLISTED = (
    "tools that only the history knows are named without a schema, which the API demands; none can be called"
)


@dataclass(frozen=True, slots=True)
class MessagesWire:
    """Anthropic Messages as one model takes it."""

    quirks: Quirks = PLAIN

    @property
    def path(self) -> str:
        return "messages"

    @property
    def headers(self) -> Mapping[str, str]:
        return MappingProxyType({"anthropic-version": VERSION})

    def encode(self, request: Request, *, model: str) -> Body:
        ours = _OURS if self.quirks.cache_control else (*_OURS, "cache_control")
        settled = asked(request, self.quirks, ours=ours)
        sent = addressed(request.messages, model=request.model, quirks=self.quirks)
        said = [*settled.notices, *sent.notices]
        wire = anthropic.apart(sent.messages)
        mark = settled.params.pop("cache_control", _MARK)
        worth = worth_marking(request, self.quirks.cached_from) if self.quirks.cache_control else None

        head = {"model": model, "max_tokens": request.max_output, "stream": True} | _params(settled)
        tools = anthropic.tools_to_wire(settled.tools)
        if not tools and self.quirks.tools and (tools := _of_history(wire.messages)):
            said.append(_UNLISTED)
            head["tool_choice"] = {"type": "none"}
        if worth and worth.head and (wire.system or tools):
            (wire.system or tools)[-1]["cache_control"] = mark
        head |= ({"tools": tools} if tools else {}) | ({"system": wire.system} if wire.system else {})

        goes_on = _ends_with_assistant(wire.messages) and not self._continues(wire.messages, settled.params)
        if goes_on:
            said.append(GONE_ON)
        tail = _tail(wire.messages, goes_on=goes_on, mark=mark if worth and worth.whole else None)
        pieces = (packed(head)[:-1] + b',"messages":[', *_pieces(wire.messages), tail)
        return Body(pieces=pieces, notices=(*said, *wire.repairs))

    def parser(self, on_text: Callable[[str], None] | None = None) -> MessagesParser:
        return MessagesParser(on_text)

    def _continues(self, messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> bool:
        """Whether the model goes on with its own last message, which must then end in a text, and not in a space."""
        thinking = params.get("thinking")
        thinks = isinstance(thinking, Mapping) and thinking.get("type") != "disabled"
        last = messages[-1]["content"][-1]
        may = self.quirks.prefill and not thinks and last["type"] == "text"
        return bool(may and last["text"] == last["text"].rstrip())


def _params(settled: Asked) -> dict[str, Any]:
    if settled.schema is None:
        return settled.params
    given = settled.params.get("output_config")
    config = dict(given) if isinstance(given, Mapping) else {}
    config["format"] = {"type": "json_schema", "schema": closed(settled.schema)}
    return settled.params | {"output_config": config}


def _of_history(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tools that calls in the history name: a request with calls in it is refused where none are defined."""
    blocks = (block for message in messages for block in message["content"])
    names = dict.fromkeys(block["name"] for block in blocks if block["type"] == "tool_use")
    return [
        {"name": name, "description": "", "input_schema": {"type": "object", "properties": {}}}
        for name in names
    ]


def _ends_with_assistant(messages: Sequence[Mapping[str, Any]]) -> bool:
    return bool(messages) and messages[-1]["role"] == "assistant"


def _pieces(messages: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """One piece a message. The last one is still open, so that the next can go on with it."""
    role = ""
    for message in messages:
        blocks = b",".join(packed(block) for block in message["content"])
        if message["role"] == role:
            yield b"," + blocks
            continue
        opening = b""
        if not role and message["role"] == "assistant":
            opening = _open("user") + packed({"type": "text", "text": anthropic.OPENING}) + b"]},"
        yield (b"]}," if role else opening) + _open(message["role"]) + blocks
        role = message["role"]


def _open(role: str) -> bytes:
    return b'{"role":' + packed(role) + b',"content":['


def _tail(messages: Sequence[Mapping[str, Any]], *, goes_on: bool, mark: Any) -> bytes:
    tail = b"]}" if messages else b""
    if goes_on:
        tail += b"," + _open("user") + packed({"type": "text", "text": GO_ON}) + b"]}"
    tail += b"]"
    if mark is not None:
        tail += b',"cache_control":' + packed(mark)
    return tail + b"}"
