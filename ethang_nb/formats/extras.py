"""Extras: what a Chat Completions server wants back with a call beside its name and arguments.

Gemini's compatible endpoint signs a call's thoughts in `extra_content` and refuses the call without it. A call has no
place for that, so it is kept, as JSON, in a Thinking of its own right before the call: like other thinking it goes
back to the provider it came from, and only there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ethang_nb.context.messages import Message, Part, Thinking, ToolCall, clean

__all__ = ["FIELD", "extras_of", "is_extra", "thinking_with"]

FIELD = "extra_content"
_MARK = f'{{"{FIELD}":'


def thinking_with(extra: Mapping[str, Any]) -> Thinking:
    """The thinking that keeps what the next call came with."""
    packed = json.dumps({FIELD: extra}, ensure_ascii=False, separators=(",", ":"), default=str)
    return Thinking(redacted=clean(packed))


def is_extra(part: Part) -> bool:
    return isinstance(part, Thinking) and part.redacted.startswith(_MARK)


def extras_of(message: Message) -> list[dict[str, Any]]:
    """What is sent beside each call of a message, in call order; mostly nothing."""
    found: list[dict[str, Any]] = []
    waiting: dict[str, Any] = {}
    for part in message.parts:
        if isinstance(part, Thinking) and is_extra(part):
            waiting = json.loads(part.redacted)
        elif isinstance(part, ToolCall):
            found.append(waiting)
            waiting = {}
    return found
