"""Fields: which fields of a message dict are read, and which only say something about it.

Any other field with something in it may hold content (a server's `images`, a framework's `files`), so that it
was not read is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["unread"]

_READ = (
    "audio", "content", "function_call", "name", "parts", "reasoning", "reasoning_content", "reasoning_details",
    "refusal", "role", "thinking", "thinking_blocks", "tool_call_id", "tool_calls",
)  # fmt: skip
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


def unread(data: Mapping[str, Any]) -> list[str]:
    """The names of the other fields that have a text, a list or a dict in them; flags and numbers hold none."""
    return [
        str(name)
        for name, value in data.items()
        if name not in _KNOWN and value and not isinstance(value, int | float)
    ]
