"""The answers of Chat Completions servers: a stream of deltas, or one body, as a reply.

The format's own rules first; beyond them what real servers do: usage in every chunk, beside the finish, or never;
`[DONE]` missing; a whole `message` where a delta should be; calls in many spellings (`calls`); content as parts.
A stream has ended where it gave a finish_reason or `[DONE]`; any other end is a cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ethang_nb.context.messages import Message, Part, Text, to_json
from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.events import DONE, event_of, nothing_said, object_of
from ethang_nb.providers.protocol import Reply, Stop, Usage
from ethang_nb.providers.wires.calls import Calls
from ethang_nb.providers.wires.thoughts import Thoughts
from ethang_nb.providers.wires.usage import of_chat, of_timings
from ethang_nb.providers.wires.words import Words

__all__ = ["ChatParser"]

_ENDINGS: dict[str, Stop | Literal["fault", "full"]] = {
    "stop": "end",
    "eos": "end",  # Together
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "tool_use": "calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",  # Gemini
    "sensitive": "refused",  # z.ai
    "abort": "cut",  # vLLM, SGLang
    "insufficient_system_resource": "cut",  # DeepSeek
    "error": "fault",  # OpenRouter
    "network_error": "fault",  # z.ai
    "model_context_window_exceeded": "full",  # z.ai
}
_UNREAD = ("audio", "images")


class ChatParser:
    """One answer; see `line.Parser`. Of several choices the first is read."""

    def __init__(
        self, on_text: Callable[[str], None] | None = None, *, excludes_reasoning: bool = False
    ) -> None:
        self._text = Words(on_text)
        self._thoughts = Thoughts()
        self._calls = Calls()
        self._excludes = excludes_reasoning
        self._finish = self._why = ""
        self._done = self._whole = self._refused = False
        self._usage: Usage | None = None
        self._timings: Usage | None = None
        self._said: dict[str, None] = {}

    @property
    def heard(self) -> bool:
        return bool(self._text or self._thoughts or self._calls)

    def event(self, name: str, data: str) -> None:
        if data.strip() == DONE:
            self._done = True
        elif data.strip():
            self._chunk(event_of(name, data))

    def whole(self, data: Any) -> None:
        answer = object_of(data)
        if _choice(answer) is None:
            raise ProviderFault("the answer has no choices, so nothing was said; ask again", retryable=True)
        self._whole = True
        self._chunk(answer)

    def reply(self) -> Reply:
        if not (self.heard or self._finish or self._whole):
            raise nothing_said()
        stop = self._stop()
        return Reply(
            message=self._message(), stop=stop, why=self._why, usage=self.usage(), notices=tuple(self._said)
        )

    def partial(self) -> dict[str, Any] | None:
        return to_json(self._message()) if self.heard else None

    def usage(self) -> Usage | None:
        return self._usage or self._timings

    def _chunk(self, data: Mapping[str, Any]) -> None:
        self._usage = self._report(data) or self._usage
        self._timings = of_timings(data.get("timings")) or self._timings
        choice = _choice(data)
        if choice is None:
            return
        if isinstance(choice.get("delta"), Mapping):
            self._take(choice["delta"])
        elif isinstance(choice.get("message"), Mapping):
            self._take_whole(choice["message"])
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish

    def _report(self, data: Mapping[str, Any]) -> Usage | None:
        groq = data.get("x_groq")
        inner = groq.get("usage") if isinstance(groq, Mapping) else None
        found = (of_chat(one, excludes_reasoning=self._excludes) for one in (data.get("usage"), inner))
        return next((one for one in found if one is not None), None)

    def _take_whole(self, message: Mapping[str, Any]) -> None:
        """A message after deltas says again what they said; only what they lacked is taken from it."""
        kept = dict(message)
        if self._text:
            kept["content"] = kept["refusal"] = None
        if self._thoughts:
            kept = {name: value for name, value in kept.items() if name not in Thoughts.FIELDS}
        if self._calls:
            kept["tool_calls"] = kept["function_call"] = None
        self._take(kept)

    def _take(self, delta: Mapping[str, Any]) -> None:
        self._thoughts.add(delta)
        self._take_content(delta.get("content"))
        self._take_refusal(delta.get("refusal"))
        if delta.get("tool_calls"):
            self._calls.add(delta["tool_calls"])
        if delta.get("function_call"):
            self._calls.add_function(delta["function_call"])
        for name in _UNREAD:
            if delta.get(name):
                self._say(f"the {name} in the answer cannot be kept")

    def _take_content(self, content: Any) -> None:
        """A text, or parts as Mistral and others send them."""
        if isinstance(content, str):
            self._text.add(content)
        elif content is not None and not isinstance(content, list):
            self._say(f"content of type {type(content).__name__} in the answer cannot be kept: it is no text")
        for part in content if isinstance(content, list) else ():
            kind = part.get("type") if isinstance(part, Mapping) else None
            match kind:
                case "text" | "output_text":
                    self._text.add(part.get("text"))
                case "refusal":
                    self._take_refusal(part.get("refusal"))
                case "thinking":
                    self._thoughts.add_part(part)
                case _:
                    self._say(f"a part of type {str(kind)[:60]!r} in the answer cannot be kept")

    def _take_refusal(self, refusal: Any) -> None:
        if isinstance(refusal, str) and refusal:
            self._refused = True
            self._text.add(refusal)

    def _message(self) -> Message:
        parts: list[Part] = [*self._thoughts.done()]
        if self._text:
            parts.append(Text(text=self._text.text))
        return Message(role="assistant", parts=(*parts, *self._calls.done()), source="model", trust="agent")

    def _stop(self) -> Stop:
        finish = self._finish.lower()
        if not finish and not (self._done or self._whole):
            return "cut"
        if not finish and not self._whole:
            self._say("the stream ended without saying why (no finish_reason)")
        meant = _ENDINGS.get(finish, "end")
        if finish and finish not in _ENDINGS:
            self._say(f"the answer ended for the unknown reason {self._finish[:60]!r}")
        if meant == "fault":
            raise ProviderFault(f"the server broke off its answer ({finish}); ask again", retryable=True)
        if meant == "full":
            raise Overflow(f"the reply filled the model's window before its end ({finish})")
        if meant == "cut":
            self._why = f"the server broke off its answer ({finish}); run it again"
        if meant not in ("end", "calls"):
            return meant
        if self._refused:
            return "refused"
        return "calls" if self._calls else "end"

    def _say(self, line: str) -> None:
        self._said[line] = None


def _choice(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first choice, which may lack its index."""
    choices = data.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and choice.get("index") in (0, None):
            return choice
    return None
