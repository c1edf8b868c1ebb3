"""The answers of OpenAI Responses servers: a stream of events, or one body, as a reply.

What the items of an answer say is collected in `output_items`. A stream has ended with `response.completed` or one of
its kin; any other end is a cut. What is the provider's own (a search, an image it made) is named in a notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ethang_nb.context.messages import Message, Part, Text, Thinking, ToolCall, to_json
from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.formats import call_ids, responses
from ethang_nb.providers.events import DONE, event_of, nothing_said, object_of
from ethang_nb.providers.protocol import Reply, Stop, Usage
from ethang_nb.providers.wires.output_items import KEPT, Items
from ethang_nb.providers.wires.usage import of_responses

__all__ = ["ResponsesParser"]


class ResponsesParser:
    """One answer; see `line.Parser`."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        self._items = Items(on_text)
        self._end: Mapping[str, Any] | None = None
        self._failed_usage: Usage | None = None

    @property
    def heard(self) -> bool:
        return bool(self._items)

    def event(self, name: str, data: str) -> None:
        if data.strip() == DONE or self._end is not None:
            return
        try:
            event = event_of(name, data)
        except (Overflow, ProviderFault):
            self._failed_usage = _usage_in(data)
            raise
        kind = event.get("type", name)
        if not isinstance(kind, str):
            return
        if kind in _ENDS:
            self._finish(event.get("response"), _ENDS[kind])
        elif kind == "response.output_item.added":
            self._items.begun(event)
        elif kind == "response.output_item.done":
            self._items.ended(event)
        elif kind in _PIECES:
            self._items.add(event, *_PIECES[kind])
        elif kind in _WHOLES:
            item, place, part, name = _WHOLES[kind]
            self._items.settle(event, item, place, part, event.get(name))

    def whole(self, data: Any) -> None:
        answer = object_of(data)
        if "output" in answer:
            self._finish(answer, "completed")

    def reply(self) -> Reply:
        message = self._message()
        if self._end is None:
            if not self.heard:
                raise nothing_said()
            return Reply(message=message, stop="cut", usage=None, notices=self._unkept())
        stop, why = self._stop(message), ""
        if stop == "cut":
            why = f"the provider left the answer there ({self._end.get('status')}); run it again"
        return Reply(message=message, stop=stop, why=why, usage=self.usage(), notices=self._unkept())

    def partial(self) -> dict[str, Any] | None:
        return to_json(self._message()) if self.heard else None

    def usage(self) -> Usage | None:
        return self._failed_usage if self._end is None else of_responses(self._end.get("usage"))

    def _finish(self, response: object, status: str) -> None:
        end = dict(response) if isinstance(response, Mapping) else {}
        if status != "completed":  # what the event is called tells more than the state in it
            end["status"] = status
        self._end = end
        self._items.all_ended(self._end.get("output"))

    def _message(self) -> Message:
        made = [item for item in self._items.made() if item["type"] in KEPT]
        read = responses.read(made) or (Message(role="assistant", parts=(), source="model", trust="agent"),)
        return replace(read[0], parts=_told_apart(read[0].parts))

    def _unkept(self) -> tuple[str, ...]:
        others = sorted({str(item["type"])[:60] for item in self._items.made()} - set(KEPT))
        return tuple(
            f"an item of type {kind!r} in the answer is not kept: it is the provider's own" for kind in others
        )

    def _stop(self, message: Message) -> Stop:
        """Why an answer ended that has its end marker."""
        end = self._end or {}
        match end.get("status"):
            case "incomplete":
                details = end.get("incomplete_details")
                reason = details.get("reason") if isinstance(details, Mapping) else None
                return "refused" if reason == "content_filter" else "length"
            case "failed":
                raise ProviderFault("the server failed: it does not say why; ask again", retryable=True)
            case "cancelled" | "queued" | "in_progress":
                return "cut"
        if message.calls:
            return "calls"
        return "refused" if message.source == "refusal" else "end"


_ENDS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
_PIECES = {
    # event: kind of the item, the list or field that the words stand in, their part
    "response.output_text.delta": ("message", "content", "output_text"),
    "response.refusal.delta": ("message", "content", "refusal"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary", "summary_text"),
    "response.reasoning_text.delta": ("reasoning", "content", "reasoning_text"),
    "response.function_call_arguments.delta": ("function_call", "arguments", "arguments"),
    "response.custom_tool_call_input.delta": ("custom_tool_call", "input", "input"),
}
_WHOLES = {
    # event: the same, and the field that has them whole
    "response.output_text.done": (*_PIECES["response.output_text.delta"], "text"),
    "response.refusal.done": (*_PIECES["response.refusal.delta"], "refusal"),
    "response.reasoning_summary_text.done": (*_PIECES["response.reasoning_summary_text.delta"], "text"),
    "response.reasoning_text.done": (*_PIECES["response.reasoning_text.delta"], "text"),
    "response.function_call_arguments.done": (
        *_PIECES["response.function_call_arguments.delta"],
        "arguments",
    ),
    "response.custom_tool_call_input.done": (*_PIECES["response.custom_tool_call_input.delta"], "input"),
}


def _usage_in(data: str) -> Usage | None:
    """What an event that says `failed` reports all the same."""
    try:
        return of_responses(json.loads(data)["response"]["usage"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _told_apart(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that say something, with arguments that are at least an empty object, and no call id twice."""
    free = call_ids.Free()
    done: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCall):
            done.append(replace(part, id=free.take(part.id), arguments=part.arguments or "{}"))
        elif not isinstance(part, Text | Thinking) or part.text or getattr(part, "redacted", ""):
            done.append(part)
    return tuple(done)
