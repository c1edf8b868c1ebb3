"""The tool catalogue: what a model is told about each tool, and what that costs on every request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ethang_nb.context.counting import TokenCounter

__all__ = ["ToolSpec", "catalogue_tokens"]

SPEC_OVERHEAD = 8  # ► tokens around one definition


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """Name, description and JSON schema of the arguments of one tool."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


def catalogue_tokens(tools: Sequence[ToolSpec], counter: TokenCounter) -> int:
    """Tokens of the definitions of `tools`; they are sent with every request."""
    return sum(SPEC_OVERHEAD + counter.count(_as_text(spec)) for spec in tools)


def _as_text(spec: ToolSpec) -> str:
    shape = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return json.dumps(shape, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
