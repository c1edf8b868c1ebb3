"""Limits: how far one run may go before it ends by name."""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.errors import Misuse

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`steps` and `tokens` (input and output summed) end a run; `tool_seconds` ends one tool call; None: no limit."""

    steps: int | None = 100
    tokens: int | None = None
    tool_seconds: float | None = 120.0

    def __post_init__(self) -> None:
        _check("steps", self.steps, (int,))
        _check("tokens", self.tokens, (int,))
        _check("tool_seconds", self.tool_seconds, (int, float))


def _check(name: str, value: object, kinds: tuple[type, ...]) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, kinds) or not value > 0:  # type: ignore[operator]
        number = "a whole number" if kinds == (int,) else "a number"
        raise Misuse(f"limit {name} is {value!r}; give {number} above 0, or None for no limit")
