"""Quirks: where a model or a server differs from its wire format, as data.

A wire format asks the quirks, never the model's name. What a request asks for and a model does not take is left out
with a notice, never sent blindly and never dropped without a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["PLAIN", "Quirks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """The defaults are what the format says; each field is one way to differ."""

    sampling: bool = True
    """Takes temperature, top_p and top_k."""
    forced_tools: bool = True
    """Takes a tool_choice that forces a call."""
    prefill: bool = True
    """Takes a last message of the assistant's, to be continued."""
    tools: bool = True
    """Takes tool definitions."""
    images: bool = True
    schema: bool = True
    """Can be held to a JSON schema."""
    output_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Chat Completions only: what the limit of the output is called."""
    developer: bool = False
    """Wants the role `developer` instead of `system`."""
    stream_usage: bool = True
    """Chat Completions only: takes `stream_options`, without which a stream carries no usage."""
    reasoning_field: str = ""
    """Chat Completions only: the field in which thinking is sent back; "": it is not."""
    strict_alternation: bool = False
    """Refuses neighbours of one role."""
    output_excludes_reasoning: bool = False
    """Its `completion_tokens` lack the reasoning tokens (xAI)."""
    cache_control: bool = False
    """Anthropic only: `cache_control` marks what is kept in the cache."""
    cached_from: int = 1_024
    """Tokens below which a prefix is not cached, so that marking it helps nobody."""


PLAIN = Quirks()
