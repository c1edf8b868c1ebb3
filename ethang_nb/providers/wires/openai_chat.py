"""OpenAI Chat Completions: the wire format of OpenAI and of nearly everybody who is compatible with it.

Requests are streams, one piece of the body a message. What servers make of the format differs in much; what is told
apart here is told apart by what they send, and the rest by the model's quirks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ethang_nb.context.messages import Message
from ethang_nb.formats import openai
from ethang_nb.providers.models.quirks import PLAIN, Quirks
from ethang_nb.providers.packing import packed
from ethang_nb.providers.protocol import Body, Request
from ethang_nb.providers.wires.addressed import GO_ON, GONE_ON, addressed, legal_arguments
from ethang_nb.providers.wires.chat_parser import ChatParser
from ethang_nb.providers.wires.head import Asked, asked
from ethang_nb.providers.wires.schemas import is_strict

__all__ = ["ChatWire"]

_OURS = (
    "function_call", "functions", "max_completion_tokens", "max_tokens", "messages", "model", "n", "stream",
    "stream_options", "tools",
)  # fmt: skip
_SYSTEM = ("system", "developer")
_LATE = "a system message behind others is sent as the user's: this model takes none there"


@dataclass(frozen=True, slots=True)
class ChatWire:
    """Chat Completions as one model takes it."""

    quirks: Quirks = PLAIN

    @property
    def path(self) -> str:
        return "chat/completions"

    @property
    def headers(self) -> Mapping[str, str]:
        return MappingProxyType({})

    def encode(self, request: Request, *, model: str) -> Body:
        quirks = self.quirks
        ours = _OURS if request.schema is None else (*_OURS, "response_format")
        settled = asked(request, quirks, ours=ours)
        sent = addressed(
            request.messages, model=request.model, quirks=quirks, thinking=bool(quirks.reasoning_field)
        )
        said = [*settled.notices, *sent.notices]
        messages = _system_first(sent.messages, said) if quirks.strict_alternation else sent.messages
        wire = openai.write(
            messages,
            strict_alternation=quirks.strict_alternation,
            reasoning_field=quirks.reasoning_field or None,
        )
        pieces = [packed(self._head(request, settled, model))[:-1] + b',"messages":[']
        for number, message in enumerate(wire.messages):
            pieces.append((b"," if number else b"") + packed(self._legal(message)))
        tail = b"]}"
        if not quirks.prefill and wire.messages and wire.messages[-1]["role"] == "assistant":
            said.append(GONE_ON)
            tail = b"," + packed({"role": "user", "content": GO_ON}) + tail
        return Body(pieces=(*pieces, tail), notices=(*said, *wire.repairs))

    def parser(self, on_text: Callable[[str], None] | None = None) -> ChatParser:
        return ChatParser(on_text, excludes_reasoning=self.quirks.output_excludes_reasoning)

    def _head(self, request: Request, settled: Asked, model: str) -> dict[str, Any]:
        head: dict[str, Any] = {"model": model, self.quirks.output_field: request.max_output, "stream": True}
        if self.quirks.stream_usage:
            head["stream_options"] = {"include_usage": True}
        head |= settled.params
        if settled.tools:
            head["tools"] = openai.tools_to_wire(settled.tools)
        if settled.schema is not None:
            answer = {"name": "answer", "schema": settled.schema, "strict": is_strict(settled.schema)}
            head["response_format"] = {"type": "json_schema", "json_schema": answer}
        return head

    def _legal(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message with the system's role as it is called here, and arguments that every server takes back."""
        if message["role"] in _SYSTEM:
            return message | {"role": "developer" if self.quirks.developer else "system"}
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = legal_arguments(call["function"]["arguments"])
        return message


def _system_first(messages: Iterable[Message], said: list[str]) -> list[Message]:
    """For chat templates that take the system's words at the beginning only."""
    done: list[Message] = []
    late = False
    for message in messages:
        late = late or message.role != "system"
        if late and message.role == "system":
            done.append(replace(message, role="user", source=""))
            if _LATE not in said:
                said.append(_LATE)
        else:
            done.append(message)
    return done
