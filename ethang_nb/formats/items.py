"""Items: what tells an item of the Responses API from the messages of the other formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ITEMS", "item_type", "type_of"]

ITEMS = (
    "custom_tool_call", "custom_tool_call_output", "function_call", "function_call_output", "message", "reasoning",
)  # fmt: skip
"""The item types that are read as what they are; any other becomes a text."""

_MADE = ("_call", "_output", "_reference", "compaction")
"""How the types end of items that the provider made by itself."""
_PARTS = ("input_text", "output_text", "input_image", "input_file")
"""Types of content parts that no other format has."""


def item_type(data: Mapping[str, Any]) -> str:
    """The type of an item; "" for what is none, or may as well be a message of another format.

    Only types of items, and of parts, that no other format has tell.
    """
    kind, content = data.get("type"), data.get("content")
    if "role" not in data:
        made = isinstance(kind, str) and (kind in ITEMS or kind.endswith(_MADE))
        return str(kind) if made and kind != "message" else ""
    if isinstance(content, str):
        return "message" if kind == "message" else ""
    if not isinstance(content, list | tuple):
        return ""
    telling = (*_PARTS, "refusal") if kind == "message" else _PARTS
    return "message" if any(type_of(part) in telling for part in content) else ""


def type_of(part: object) -> object:
    """The type of a content part, be it a dict or an object of an SDK."""
    return part.get("type") if isinstance(part, Mapping) else getattr(part, "type", None)
