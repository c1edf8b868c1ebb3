"""OpenAI Responses: the wire format in which OpenAI's reasoning models keep what they thought.

Nothing is stored at the provider (`store=false`), so reasoning goes there and back encrypted, item by item in its
place, where the model offers that. The system text is the first item of the input: unlike `instructions` it is a piece
of its own, and a second system message stays where it stands. Both come first in what the cache keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ethang_nb.context.messages import Message, Thinking
from ethang_nb.formats import responses
from ethang_nb.providers.models.quirks import PLAIN, Quirks
from ethang_nb.providers.packing import packed
from ethang_nb.providers.protocol import Body, Request
from ethang_nb.providers.wires.addressed import addressed, legal_arguments
from ethang_nb.providers.wires.head import asked
from ethang_nb.providers.wires.responses_parser import ResponsesParser
from ethang_nb.providers.wires.schemas import is_strict

__all__ = ["ResponsesWire"]

_OURS = (
    "background", "conversation", "input", "instructions", "max_output_tokens", "messages", "model",
    "previous_response_id", "prompt", "stream", "tools",
)  # fmt: skip
_ENCRYPTED = "reasoning.encrypted_content"
_UNSEALED = "some thinking is not sent back: it came without the encrypted content that stands for it"


@dataclass(frozen=True, slots=True)
class ResponsesWire:
    """Responses as one model takes it."""

    quirks: Quirks = PLAIN

    @property
    def path(self) -> str:
        return "responses"

    @property
    def headers(self) -> Mapping[str, str]:
        return MappingProxyType({})

    def encode(self, request: Request, *, model: str) -> Body:
        """The head, then a piece a message, then the tail. Raises Misuse for a value that JSON cannot hold."""
        ask = asked(request, self.quirks, ours=_OURS)
        history = addressed(
            request.messages,
            model=request.model,
            quirks=self.quirks,
            thinking=self.quirks.encrypted_reasoning,
        )
        replayed = tuple(map(_replayable, history.messages))
        wire = responses.to_wire(replayed, developer=self.quirks.developer)
        head: dict[str, Any] = {
            "model": model,
            "max_output_tokens": request.max_output,
            "stream": True,
            "store": False,
            **ask.params,
        }
        if self.quirks.encrypted_reasoning:
            head["include"] = _with(head.get("include"), _ENCRYPTED)
        if ask.schema is not None:
            head["text"] = _held_to(ask.schema, head.get("text"))
        if ask.tools:
            head["tools"] = responses.tools_to_wire(ask.tools)
        pieces = [packed(head)[:-1] + b',"input":[']
        for number, items in enumerate(wire.messages):
            legal = b",".join(packed(_legal(item)) for item in items)
            pieces.append(b"," + legal if number else legal)
        unsealed = (_UNSEALED,) if replayed != history.messages else ()
        notices = (*ask.notices, *history.notices, *unsealed, *wire.repairs)
        return Body(pieces=(*pieces, b"]}"), notices=notices)

    def parser(self, on_text: Callable[[str], None] | None = None) -> ResponsesParser:
        return ResponsesParser(on_text)


def _replayable(message: Message) -> Message:
    """The message without thinking that the format has nothing to send for, so that this is said once for all."""
    parts = tuple(
        part for part in message.parts if not isinstance(part, Thinking) or (part.signature and part.redacted)
    )
    return message if parts == message.parts else replace(message, parts=parts)


def _with(given: object, name: str) -> list[Any]:
    """A list of a person's, and `name` in it."""
    names = list(given) if isinstance(given, list | tuple) else []
    return names if name in names else [*names, name]


def _held_to(schema: Mapping[str, Any], given: object) -> dict[str, Any]:
    """The `text` settings with the format of the answer; a verbosity that a person asked for stays."""
    form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)}
    return {**(given if isinstance(given, Mapping) else {}), "format": form}


def _legal(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] != "function_call":
        return item
    return {**item, "arguments": legal_arguments(item["arguments"])}
