"""Addressed: a history as it may go to one model.

What only another provider can read, images where none are taken, and names that the APIs refuse are left out or
replaced, each said in one line. What comes out of a message depends on that message and the model alone, so a
history that grows keeps its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ethang_nb.context.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from ethang_nb.formats.anthropic import AS_WRITTEN
from ethang_nb.formats.extras import is_extra
from ethang_nb.providers.models.quirks import Quirks

__all__ = ["GONE_ON", "GO_ON", "Addressed", "addressed", "legal_arguments"]

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64  # characters
_NO_NAME = "unnamed"

GO_ON = "Go on."
"""What the user says to a model that does not continue its own last message."""
GONE_ON = (
    "the history ends with the model's own message, which this model does not continue: it is told to go on"
)
"""The notice of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """The messages, and one line for each thing that is not sent as it is."""

    messages: tuple[Message, ...]
    notices: tuple[str, ...]


def addressed(messages: Iterable[Message], *, model: str, quirks: Quirks, thinking: bool = True) -> Addressed:
    """`model` is our id of the model, `provider/name`; `thinking`: whether the format has a place for any."""
    change = _Change(model.partition("?")[0].partition("/")[0], quirks, thinking=thinking)
    done = tuple(change.message(message) for message in messages)
    return Addressed(messages=done, notices=tuple(change.said))


def legal_arguments(arguments: str) -> str:
    """Arguments as every server takes them back: a JSON object, as it was written where it is one.

    What is none goes back inside one, so that the model sees what it wrote; servers that fill a template with
    the arguments fail on anything else (llama.cpp with 500).
    """
    if arguments.strip() in ("", "null"):
        return "{}"
    try:
        value = json.loads(arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    return arguments if isinstance(value, dict) else json.dumps({AS_WRITTEN: arguments}, ensure_ascii=False)


def _refuse(constant: str) -> Mapping[str, Any]:
    raise ValueError(f"{constant} is no JSON")


class _Change:
    def __init__(self, provider: str, quirks: Quirks, *, thinking: bool) -> None:
        self.said: dict[str, None] = {}
        self._provider, self._images, self._thinking = provider, quirks.images, thinking

    def message(self, message: Message) -> Message:
        parts = tuple(
            part for part in (self._part(part, message) for part in message.parts) if part is not None
        )
        return message if parts == message.parts else replace(message, parts=parts)

    def _part(self, part: Part, message: Message) -> Part | None:
        match part:
            case Thinking():
                kept = self._thinking or is_extra(part)
                return part if self._may_think(message.source, kept=kept) else None
            case Image() if not self._images:
                return Text(text=self._left_out(part))
            case ToolResult() if part.images and not self._images:
                lines = [part.text, *map(self._left_out, part.images)]
                return replace(part, text="\n".join(filter(None, lines)), images=())
            case ToolCall():
                return self._call(part)
            case _:
                return part

    def _may_think(self, source: str, *, kept: bool) -> bool:
        """Whether thinking from there can be sent; where nobody knows whose it is, the format decides."""
        if not kept:
            self._say("thinking is not sent back: there is no place for it in this model's requests")
            return False
        origin, slash, _ = source.partition("/")
        if slash and origin != self._provider:
            self._say(f"thinking of {source} is not sent: only its own provider can read it")
            return False
        return True

    def _left_out(self, image: Image) -> str:
        self._say("images are not sent: this model takes none; a line of text stands for each")
        return f"[image left out: {image.media_type or image.url or 'of unknown type'}; this model takes no images]"

    def _call(self, call: ToolCall) -> ToolCall:
        name = _ILLEGAL.sub("_", call.name)[:_LONGEST_NAME] or _NO_NAME
        if name == call.name:
            return call
        self._say(f"a call of {call.name[:_LONGEST_NAME]!r} is sent as one of {name!r}: APIs refuse the name")
        return replace(call, name=name)

    def _say(self, line: str) -> None:
        self.said[line] = None
