"""What the tests of the live side stand on: a host that takes parts, a timer by hand, messages to show."""

from __future__ import annotations

import json
from typing import Any

from ethang_nb.testing import ManualClock
from ethang_nb.views.live.feed import Feed
from ethang_nb.views.live.source import source_of
from tests.views.live.applier import Applier

__all__ = ["Host", "Timers", "fed", "messages"]


class Host:
    """Takes parts as a view does, puts them together and applies the frames that it can."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.revision: int | None = None
        self.applier = Applier()
        self.missed = 0
        self._open: dict[int, list[str]] = {}

    def __call__(self, part: dict[str, Any]) -> None:
        assert part["t"] == "part"
        self.parts.append(part)
        texts = self._open.setdefault(part["m"], [])
        assert len(texts) == part["i"]
        texts.append(part["s"])
        if len(texts) == part["n"]:
            self._take(json.loads("".join(self._open.pop(part["m"]))))

    def _take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if message["t"] != "frame":
            return
        body = {key: value for key, value in message.items() if key not in ("t", "rev", "base")}
        if message["base"] is None:
            self.applier = Applier()
        elif message["base"] != self.revision:
            self.missed += 1
            return
        self.revision = message["rev"]
        self.applier.apply(body)

    @property
    def document(self) -> dict[str, Any]:
        return self.applier.document()

    def frames(self) -> list[tuple[int, int | None]]:
        return [(one["rev"], one["base"]) for one in self.messages if one["t"] == "frame"]

    def replies(self) -> list[dict[str, Any]]:
        return [one for one in self.messages if one["t"] == "reply"]

    def count(self, kind: str) -> int:
        return sum(one["t"] == kind for one in self.messages)


class Timers:
    """A timer that goes off when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Any]] = []
        self.cancelled = 0

    def __call__(self, seconds: float, function: Any) -> Timers:
        self.waiting.append((seconds, function))
        return self

    def cancel(self) -> None:
        self.cancelled += 1
        self.waiting.clear()

    def go_off(self) -> None:
        waiting, self.waiting = self.waiting, []
        for _, function in waiting:
            function()


def fed(shown: Any, **options: Any) -> tuple[Feed, ManualClock, Timers]:
    """A feed whose clock and timer a test holds."""
    clock, timers = ManualClock(), Timers()
    return Feed(source_of(shown, **options), clock=clock, timer=timers), clock, timers


def messages(turns: int, words: int = 40, start: int = 0) -> list[dict[str, Any]]:
    """A task and turns of one call each, in OpenAI's shape."""
    found: list[dict[str, Any]] = (
        [] if start else [{"role": "user", "content": "Read all files. Never open c_05.txt."}]
    )
    for number in range(start, start + turns):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "look", "arguments": f'{{"n": {number}}}'},
        }
        found += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"ORD-{number} " + "word " * words},
        ]
    return found
