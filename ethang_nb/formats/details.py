"""Reasoning details: OpenRouter's list of what a model thought, each item as a Thinking and back.

An item goes back as it came: texts as `text`, what its provider alone can read as `redacted`. Where an item has more
to it than these say (the format it has at its provider, an id), that is kept in `redacted` too, as JSON. What is not
kept is its `index`: the order of the list says it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ethang_nb.context.messages import Thinking, clean

__all__ = ["FIELD", "detail_of", "thinking_of"]

FIELD = "reasoning_details"

_TEXT, _SUMMARY, _SEALED = "reasoning.text", "reasoning.summary", "reasoning.encrypted"
_USUAL = "anthropic-claude-v1"  # the format where none is named
_APART = ("type", "text", "summary", "signature", "data", "index")
_MARK = '{"type":"reasoning.'


def thinking_of(detail: Mapping[str, Any]) -> Thinking:
    """The thinking that an item is. Fields of other types than they should have count as absent."""
    data, signature = _string(detail, "data"), _string(detail, "signature")
    kind = _string(detail, "type")
    if not kind.startswith("reasoning."):
        kind = _SEALED if data else _TEXT
    words = _string(detail, "summary" if kind == _SUMMARY else "text")
    more = {name: value for name, value in detail.items() if name not in _APART and value is not None}
    if more.get("format") == _USUAL:
        del more["format"]
    if more or kind not in (_TEXT, _SEALED) or (data and words):
        kept = {"type": kind, **more} | ({"data": data} if data else {})
        data = json.dumps(kept, ensure_ascii=False, separators=(",", ":"), default=str)
    return Thinking(text=clean(words), signature=clean(signature), redacted=clean(data))


def detail_of(thinking: Thinking) -> dict[str, Any]:
    """The item that a thinking was."""
    if thinking.redacted.startswith(_MARK):
        detail: dict[str, Any] = json.loads(thinking.redacted)
    elif thinking.redacted:
        detail = {"type": _SEALED, "data": thinking.redacted}
    else:
        detail = {"type": _TEXT}
    if thinking.text or detail["type"] == _TEXT:
        detail["summary" if detail["type"] == _SUMMARY else "text"] = thinking.text
    if thinking.signature:
        detail["signature"] = thinking.signature
    return detail


def _string(detail: Mapping[str, Any], name: str) -> str:
    value = detail.get(name)
    return value if isinstance(value, str) else ""
