"""Core: the protected block at the end of the system text. Fixed order, no clock: same pins, same bytes.

It is rendered only when the prefix breaks anyway (session start, landing, reseed); until then a new pin is
kept by its own message, which does not leave.
"""

from __future__ import annotations

from collections.abc import Iterable

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.wording import CORE_HEAD, core_line

__all__ = ["core_text", "core_tokens", "head_tokens", "line_tokens"]


def core_text(pins: Iterable[Pin]) -> str:
    """The block, "" without a pin in the core. Constraints first, then decisions, each in order of pinning."""
    inside = sorted((pin for pin in pins if pin.core and not pin.lifted), key=lambda pin: (pin.kind, pin.id))
    if not inside:
        return ""
    return "\n".join([CORE_HEAD, *(core_line(pin.kind, pin.text) for pin in inside)])


def core_tokens(pins: Iterable[Pin], counter: TokenCounter) -> int:
    """Tokens of the block as the sum of its lines: the same sum that a plan bounds it by."""
    inside = [pin for pin in pins if pin.core and not pin.lifted]
    if not inside:
        return 0
    return head_tokens(counter) + sum(line_tokens(pin.kind, pin.text, counter) for pin in inside)


def head_tokens(counter: TokenCounter) -> int:
    return counter.count(CORE_HEAD) + 2  # the blank line before it


def line_tokens(kind: str, text: str, counter: TokenCounter) -> int:
    return counter.count(core_line(kind, text)) + 1  # the line end
