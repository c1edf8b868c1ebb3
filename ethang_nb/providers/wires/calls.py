"""Calls: tool calls of Chat Completions that come in pieces.

By the format a piece says by `index` which call it belongs to, and only the first has id and name. Servers differ: no
index, one index for all calls, the id or the name again in every piece, the name in pieces, arguments as an object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ethang_nb.context.messages import Part, ToolCall, clean
from ethang_nb.errors import ProviderFault
from ethang_nb.formats import call_ids, extras
from ethang_nb.providers.wires.words import Words

__all__ = ["Calls", "OpenCall", "as_arguments"]


def as_arguments(value: Any) -> str:
    """Arguments as JSON text: a text as it is, nothing as nothing, any other value packed.

    Raises ProviderFault for a value that nests so deep that it could be read and cannot be written.
    """
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ProviderFault(
            "a call's arguments nest too deep to be kept; ask again", retryable=True
        ) from None


@dataclass(slots=True)
class OpenCall:
    """A call that is still coming."""

    id: str = ""
    name: str = ""
    words: Words = field(default_factory=Words)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> str:
        return self.words.text

    def add_name(self, name: str) -> None:
        """Takes a name that comes at once, in pieces, or again and again."""
        if name.startswith(self.name):
            self.name = name
        elif name:
            self.name += name


class Calls:
    """Collects the pieces of all calls of one reply."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []
        self._at: dict[int | str, list[OpenCall]] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, pieces: Any) -> None:
        """The `tool_calls` of one delta or message."""
        pieces = pieces if isinstance(pieces, list) else [pieces]
        for place, piece in enumerate(pieces):
            if isinstance(piece, Mapping):
                self._add(piece, place if len(pieces) > 1 else None)

    def add_function(self, piece: Any) -> None:
        """The `function_call` of the old API, which had one call at most and no id."""
        if isinstance(piece, Mapping):
            self._add({"index": "function_call", "function": piece}, None)

    def done(self) -> tuple[Part, ...]:
        """The calls as they stand, before each what its server wants back with it.

        One without an id gets one; no id comes twice.
        """
        free = call_ids.Free()
        parts: list[Part] = []
        for number, call in enumerate(self._calls):
            if call.extra:
                parts.append(extras.thinking_with(call.extra))
            call_id = free.take(clean(call.id) or f"call_{number}")
            parts.append(ToolCall(id=call_id, name=clean(call.name), arguments=call.arguments or "{}"))
        return tuple(parts)

    def _add(self, piece: Mapping[str, Any], place: int | None) -> None:
        inner = piece.get("function") or piece.get("custom") or {}
        inner = inner if isinstance(inner, Mapping) else {}
        call_id, name = _text(piece.get("id")), _text(inner.get("name"))
        given = inner.get("arguments", inner.get("input"))
        arguments = as_arguments(given)
        if not (call_id or name or arguments):
            return
        index = piece.get("index")
        if not isinstance(index, int | str):
            index = None
        if index is None and not call_id:
            index = place
        call = self._call_of(index, call_id, name, arguments)
        call.id = call.id or call_id or (call_ids.legacy_id(name) if index == "function_call" else "")
        call.add_name(name)
        extra = piece.get(extras.FIELD)
        if isinstance(extra, Mapping):
            call.extra |= extra
        if isinstance(given, str) or arguments != call.arguments:
            call.words.add(arguments)

    def _call_of(self, index: int | str | None, call_id: str, name: str, arguments: str) -> OpenCall:
        known = self._calls if index is None else self._at.get(index, [])
        same = next((call for call in known if call_id and call.id == call_id), None)
        if same is not None:
            return same
        if known and not _begins(known[-1], call_id, name, arguments):
            return known[-1]
        call = OpenCall()
        self._calls.append(call)
        if index is not None:
            self._at.setdefault(index, []).append(call)
        return call


def _begins(last: OpenCall, call_id: str, name: str, arguments: str) -> bool:
    """Whether a piece for the place of `last` begins another call: it needs a name for that."""
    if not name:
        return False
    if call_id and last.id:
        return True  # the ids differ
    if arguments.strip() and _is_whole(last.arguments):
        return True
    return bool(last.arguments) and name != last.name


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
