"""The answers of Anthropic Messages servers: a stream of events, or one body, as a reply.

Blocks stay in their order, thinking and its signature to the byte. A block of a type that is not ours becomes a text
that says so; citations are not kept. A stream has ended with `message_stop`; any other end is a cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ethang_nb.context.messages import Message, Part, Text, Thinking, ToolCall, clean, to_json
from ethang_nb.errors import BadMessage, Overflow, ProviderFault
from ethang_nb.formats import call_ids
from ethang_nb.formats.parts import read_parts
from ethang_nb.providers.events import event_of, nothing_said, object_of
from ethang_nb.providers.protocol import Reply, Stop, Usage
from ethang_nb.providers.wires.calls import as_arguments
from ethang_nb.providers.wires.usage import merged, of_messages
from ethang_nb.providers.wires.words import Words

__all__ = ["MessagesParser"]

_ENDINGS: dict[str, Stop | Literal["full"]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "refusal": "refused",
    "pause_turn": "cut",
    "model_context_window_exceeded": "full",
}
_OF_DELTA = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
}
_OF_THE_BEGINNING = ("output_tokens", "output_tokens_details")
"""What a report says before the end of what was written is only its first token or two."""


@dataclass(slots=True)
class _Block:
    """A content block as it comes: how it began, and what its deltas brought."""

    start: Mapping[str, Any]
    words: Words = field(default_factory=Words)
    signature: Words = field(default_factory=Words)
    json: Words = field(default_factory=Words)

    @property
    def kind(self) -> object:
        return self.start.get("type")

    @property
    def says(self) -> bool:
        """Whether there is anything in it."""
        if self.kind in ("text", "thinking"):
            return bool(self.words or self.signature)
        return True

    @property
    def arguments(self) -> str:
        """The input as JSON text. What came in pieces stands for what the start had."""
        return self.json.text or clean(as_arguments(self.start.get("input"))) or "{}"


class MessagesParser:
    """One answer; see `line.Parser`."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        self._on_text = on_text
        self._blocks: list[_Block] = []
        self._at: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._stop_reason = self._why = ""
        self._ended = False
        self._said: dict[str, None] = {}

    @property
    def heard(self) -> bool:
        return any(block.says for block in self._blocks)

    def event(self, name: str, data: str) -> None:
        if not data.strip():
            return
        event = event_of(name, data)
        match event.get("type", name):
            case "message_start":
                self._take_message(event.get("message"))
            case "content_block_start":
                self._begin(event.get("index"), event.get("content_block"))
            case "content_block_delta":
                self._go_on(event.get("index"), event.get("delta"))
            case "message_delta":
                self._take_end(event.get("delta"))
                self._take_usage(event.get("usage"))
            case "message_stop":
                self._ended = True

    def whole(self, data: Any) -> None:
        answer = object_of(data)
        if not isinstance(answer.get("content"), list):
            raise ProviderFault("the answer has no content, so nothing was said; ask again", retryable=True)
        self._take_message(answer)
        self._ended = True

    def reply(self) -> Reply:
        if not (self.heard or self._stop_reason):
            raise nothing_said()
        message = self._message()
        stop = self._stop(message)
        return Reply(
            message=message,
            stop=stop,
            why=self._why,
            usage=self.usage(),
            notices=tuple(self._said),
        )

    def partial(self) -> dict[str, Any] | None:
        return to_json(self._message()) if self.heard else None

    def usage(self) -> Usage | None:
        report = dict(self._usage)
        if not (self._ended or self._stop_reason):
            for name in _OF_THE_BEGINNING:
                report.pop(name, None)
        return of_messages(report)

    def _take_message(self, message: Any) -> None:
        if not isinstance(message, Mapping):
            return
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            self._begin(None, block)
        self._take_end(message)
        self._take_usage(message.get("usage"))

    def _begin(self, index: object, start: Any) -> None:
        if not isinstance(start, Mapping):
            return
        text = start.get("type") == "text"
        block = _Block(start, Words(self._on_text if text else None))
        self._blocks.append(block)
        if isinstance(index, int):
            self._at[index] = block
        block.words.add(start.get("text" if text else "thinking"))
        block.signature.add(start.get("signature"))

    def _go_on(self, index: object, delta: Any) -> None:
        if not isinstance(delta, Mapping):
            return
        kind = delta.get("type")
        block = self._block_of(index, _OF_DELTA.get(str(kind), ""))
        if block is None:
            return
        match kind:
            case "text_delta":
                text = delta.get("text")
                if not isinstance(text, str):
                    self._say(
                        f"text of type {type(text).__name__} in the answer cannot be kept: it is no text"
                    )
                block.words.add(text)
            case "thinking_delta":
                block.words.add(delta.get("thinking"))
            case "signature_delta":
                block.signature.add(delta.get("signature"))
            case "input_json_delta":
                block.json.add(delta.get("partial_json"))

    def _block_of(self, index: Any, kind: str) -> _Block | None:
        """The block that a delta goes on with; where it never began, one of the `kind` that the delta is for."""
        if isinstance(index, int):
            if index not in self._at and kind:
                self._begin(index, {"type": kind})
            return self._at.get(index)
        if not self._blocks and kind:
            self._begin(None, {"type": kind})
        return self._blocks[-1] if self._blocks else None

    def _take_end(self, delta: Any) -> None:
        if not isinstance(delta, Mapping):
            return
        reason, details = delta.get("stop_reason"), delta.get("stop_details")
        if isinstance(reason, str) and reason:
            self._stop_reason = reason
        if isinstance(details, Mapping) and isinstance(details.get("explanation"), str):
            self._say(f"the provider says why it refused: {' '.join(details['explanation'].split())[:300]}")

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, Mapping):
            self._usage = merged(self._usage, usage)

    def _message(self) -> Message:
        free = call_ids.Free()
        parts = [
            part
            for place, block in enumerate(self._blocks)
            if block.says
            for part in self._parts(block, place, free)
        ]
        return Message(role="assistant", parts=tuple(parts), source="model", trust="agent")

    def _parts(self, block: _Block, place: int, free: call_ids.Free) -> tuple[Part, ...]:
        start = block.start
        match block.kind:
            case "text":
                return (Text(text=block.words.text),) if block.words else ()
            case "thinking":
                return (Thinking(text=block.words.text, signature=block.signature.text),)
            case "redacted_thinking":
                return (Thinking(redacted=_text(start.get("data"))),)
            case "tool_use":
                call_id = free.take(_text(start.get("id")) or f"call_{place}")
                return (ToolCall(id=call_id, name=_text(start.get("name")), arguments=block.arguments),)
            case _:
                return self._unknown(block)

    def _unknown(self, block: _Block) -> tuple[Part, ...]:
        """A block that we have no value for: a tool that ran at the provider, its result, a file."""
        known = {**block.start, "type": str(block.kind)}
        if block.json:
            known["input"] = block.json.text
        try:
            return read_parts([known], "the answer")
        except BadMessage:
            return (Text(text=f"[a block of type {known['type'][:60]!r} that could not be read]"),)

    def _stop(self, message: Message) -> Stop:
        reason = self._stop_reason
        if not self._ended:
            return "cut"
        meant = _ENDINGS.get(reason, "end")
        if reason not in _ENDINGS:
            why = (
                f"for the unknown reason {reason[:60]!r}" if reason else "without saying why (no stop_reason)"
            )
            self._say(f"the answer ended {why}")
        if meant == "full":
            raise Overflow(
                f"the reply filled the model's window before its end ({reason})", partial=self.partial()
            )
        if meant == "cut":
            self._why = f"the provider paused a long turn ({reason}); ask it to go on, and it does"
        if meant not in ("end", "calls"):
            return meant
        return "calls" if message.calls else "end"

    def _say(self, line: str) -> None:
        self._said[line] = None


def _text(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""
