"""Thoughts: the reasoning beside the content of a Chat Completions answer, in the fields that servers have for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ethang_nb.context.messages import Thinking
from ethang_nb.formats.details import FIELD, thinking_of
from ethang_nb.providers.wires.words import Words

__all__ = ["Thoughts"]

_PLAIN = (
    "reasoning_content",
    "reasoning",
    "thinking",
)  # DeepSeek, vLLM and llama.cpp; OpenRouter, Groq; Ollama
_SAME = ("reasoning.text", "reasoning.summary")  # what comes in pieces


@dataclass(slots=True)
class _Detail:
    item: dict[str, Any]
    words: Words = field(default_factory=Words)


class Thoughts:
    """Collects them. OpenRouter sends a text twice, plain and as details; the details, which can go back, are kept."""

    FIELDS: ClassVar[tuple[str, ...]] = (*_PLAIN, FIELD)

    def __init__(self) -> None:
        self._plain = Words()
        self._details: list[_Detail] = []

    def __bool__(self) -> bool:
        return bool(self._plain or self._details)

    def add(self, delta: Mapping[str, Any]) -> None:
        """What a delta or a message has of it. Servers that fill two plain fields say the same in both."""
        self._plain.add(next((delta[name] for name in _PLAIN if delta.get(name)), None))
        listed = delta.get(FIELD)
        earlier = tuple(self._details)  # the items of one list are different ones
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, Mapping):
                self._add_detail(item, earlier)

    def add_part(self, part: Mapping[str, Any]) -> None:
        """A content part of type thinking, its text plain or as parts of its own (Mistral)."""
        inner = part.get("thinking")
        for piece in inner if isinstance(inner, list) else [inner]:
            self._plain.add(piece.get("text") if isinstance(piece, Mapping) else piece)

    def done(self) -> tuple[Thinking, ...]:
        """What was thought, in order."""
        if self._details:
            return tuple(thinking_of(one.item | {_name(one.item): one.words.text}) for one in self._details)
        return (Thinking(text=self._plain.text),) if self._plain else ()

    def _add_detail(self, item: Mapping[str, Any], earlier: tuple[_Detail, ...]) -> None:
        more = {name: value for name, value in item.items() if value not in (None, "")}
        words = more.pop(_name(item), "")
        found = next((one for one in reversed(earlier) if _continues(one.item, more)), None)
        if found is None:
            found = _Detail({})
            self._details.append(found)
        found.item |= more
        found.words.add(words)


def _continues(before: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    places = (before.get("index"), item.get("index"))
    return item.get("type") in _SAME and before.get("type") == item.get("type") and places[0] == places[1]


def _name(item: Mapping[str, Any]) -> str:
    return "summary" if item.get("type") == "reasoning.summary" else "text"
