"""Fields: which fields of a message dict are read, and which only say something about it.

Any other field with something in it may hold content (a server's `images`, a framework's `files`), so that it
was not read is said. So is what becomes something else on the way in: a part of a type that we have no value
for is sent as a text, a custom call as a function call, and an image loses its `detail`.

Of a part's own fields `cache_control`, ids and citations are not kept either, and that is not said: they hold no
content, and whoever sends the history again sets its own. Nor is the `detail` "auto", which is the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ethang_nb.context.messages import clean
from ethang_nb.formats.items import ITEMS
from ethang_nb.formats.parts import CONTENT, IMAGES, plain, source_of

__all__ = ["rewritten", "unread"]

_READ = (
    "audio", "content", "function_call", "name", "parts", "reasoning", "reasoning_content", "reasoning_details",
    "refusal", "role", "thinking", "thinking_blocks", "tool_call_id", "tool_calls",
)  # fmt: skip
_READ_OF_ITEM = (
    "arguments",
    "call_id",
    "content",
    "encrypted_content",
    "input",
    "name",
    "output",
    "role",
    "summary",
)
_ABOUT = (
    # ours
    "kind", "source", "step", "trust",
    # of a response that is passed on as a message
    "annotations", "container", "context_management", "created", "created_at", "finish_reason", "id", "index",
    "logprobs", "model", "object", "service_tier", "status", "stop_details", "stop_reason", "stop_sequence",
    "system_fingerprint", "type", "usage",
    # of frameworks and clients
    "additional_kwargs", "cache_control", "metadata", "partial", "prefix", "provider_specific_fields",
    "response_metadata", "timestamp", "usage_metadata", "uuid",
)  # fmt: skip
_KNOWN = frozenset((*_READ, *_ABOUT))
_KNOWN_OF_ITEM = frozenset((*_READ_OF_ITEM, *_ABOUT, "caller", "namespace", "phase"))
_OF_IMAGE = frozenset(
    ("cache_control", "data", "id", "image_url", "index", "media_type", "source", "type", "url")
)  # fmt: skip


def rewritten(data: Mapping[str, Any], item: str = "") -> list[str]:
    """What of a message is not sent as the part or call it came as, each said once; `item`: its type as an item."""
    return list(dict.fromkeys(_of_item(data, item) if item else _rewritten(data)))


def _rewritten(data: Mapping[str, Any]) -> Iterator[str]:
    for name in ("thinking_blocks", "content"):
        yield from _of_parts(data.get(name))
    if data.get("role") == "assistant" and data.get("audio") is not None:
        yield _as_text("audio")
    for call in _dicts(data.get("tool_calls")):
        if call.get("type") == "custom":
            yield "its call of type 'custom' is sent as a function call"


def _of_item(data: Mapping[str, Any], kind: str) -> Iterator[str]:
    match kind:
        case "message":
            yield from _of_parts(data.get("content"))
        case "custom_tool_call":
            yield "its call of type 'custom' is sent as a function call"
        case "custom_tool_call_output" | "function_call_output":
            yield from _of_parts(data.get("output"))
        case "function_call" | "reasoning":
            pass
        case _:
            yield f"an item of type {_short(kind)!r} is sent as text"


def _of_parts(content: object) -> Iterator[str]:
    for part in _dicts(content):
        kind = part.get("type")
        if kind == "tool_result":
            yield from _of_parts(part.get("content"))
        elif kind in IMAGES:
            yield from _of_image(part)
        elif isinstance(kind, str) and kind not in CONTENT:
            yield _as_text(kind)


def _dicts(items: object) -> Iterator[Mapping[str, Any]]:
    """The dicts in a list, and an SDK's objects as such; what else stands in a field that nobody reads is nothing."""
    for item in items if isinstance(items, list | tuple) else ():
        if isinstance(item, Mapping) or hasattr(item, "model_dump"):
            yield plain(item, "a part", "a dict")


def _of_image(part: Mapping[str, Any]) -> Iterator[str]:
    if source_of(part) is None:
        yield _as_text(part["type"])
        return
    inner = part.get("source") if part["type"] == "image" else part.get("image_url")
    for fields in (part, inner):
        for name, value in fields.items() if isinstance(fields, Mapping) else ():
            if name not in _OF_IMAGE and value and (name, value) != ("detail", "auto"):
                yield f"the field {_short(name)!r} of its image is not read"


def _as_text(kind: str) -> str:
    return f"its part of type {_short(kind)!r} is sent as text"


def _short(name: object) -> str:
    return " ".join(clean(str(name)).split())[:60]


def unread(data: Mapping[str, Any], item: str = "") -> list[str]:
    """The names of the other fields that have a text, a list or a dict in them; flags and numbers hold none."""
    if item and item not in ITEMS:  # kept whole
        return []
    known = _KNOWN_OF_ITEM if item else _KNOWN
    return [
        str(name)
        for name, value in data.items()
        if name not in known and value and not isinstance(value, int | float)
    ]
