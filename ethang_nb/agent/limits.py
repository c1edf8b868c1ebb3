"""Limits: how far one run may go before it ends by name."""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.errors import Misuse

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`steps` and `tokens` (input and output summed) end a run; `tool_seconds` ends one tool call; None: no limit."""

    steps: int = 100
    tokens: int | None = None
    tool_seconds: float | None = 120.0

    def __post_init__(self) -> None:
        for name, value in (
            ("steps", self.steps),
            ("tokens", self.tokens),
            ("tool_seconds", self.tool_seconds),
        ):
            if value is not None and value <= 0:
                raise Misuse(f"limit {name} is {value}; it must be above 0, or None for no limit")
