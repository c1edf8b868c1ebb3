"""Fakes for the three seams, for the tests of those who use ethang_nb: a counter, a clock, a provider.

And `serve`: one of the offline stand-ins behind an HTTP interface, for a loop that has a client of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Literal

from ethang_nb.context.messages import Message, to_json
from ethang_nb.extras.server import serve
from ethang_nb.providers.protocol import Body, Reply, Request, Usage

__all__ = ["ManualClock", "ScriptedProvider", "WordCounter", "serve"]


class WordCounter:
    """Counts words, so that a test can see at a glance how many tokens a text has."""

    name = "words"
    how: Literal["exact", "estimated"] = "exact"

    def count(self, text: str) -> int:
        return len(text.split())

    def over(self, text: str, limit: int) -> bool:
        return len(text.split(maxsplit=max(0, limit + 1))) > limit


class ManualClock:
    """A clock that stands still until it is told to go on. Seconds."""

    def __init__(self, start: float = 0.0) -> None:
        self.time = start

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds


class ScriptedProvider:
    """Gives the replies it was made with, in order, and keeps the bodies it was sent in `bodies`."""

    name = "scripted"
    label = "scripted (a test's replies)"

    def __init__(self, replies: Iterable[Message | BaseException], *, usage: Usage | None = None) -> None:
        self._replies = iter(replies)
        self._usage = usage
        self.bodies: list[bytes] = []

    def encode(self, request: Request) -> Body:
        tools = [spec.name for spec in request.tools]
        head = json.dumps({"model": request.model, "tools": tools, "max_output": request.max_output})
        pieces = [json.dumps(to_json(message), ensure_ascii=False).encode() for message in request.messages]
        return Body((head.encode(), *pieces))

    async def close(self) -> None:
        """Nothing is open here."""

    async def send(
        self,
        body: Body,
        *,
        on_text: Callable[[str], None] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Reply:
        del on_note
        self.bodies.append(body.bytes)
        reply = next(self._replies)
        if isinstance(reply, BaseException):
            raise reply
        if on_text is not None:
            on_text(reply.text)
        return Reply(message=reply, stop="calls" if reply.calls else "end", usage=self._usage)
