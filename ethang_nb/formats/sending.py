"""Sending: the assembled messages in the shape in which a caller's messages came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ethang_nb.context.messages import Message
from ethang_nb.context.plan import Plan
from ethang_nb.formats import anthropic, openai
from ethang_nb.formats.detect import is_anthropic

__all__ = ["Sending", "Shape", "shape_of", "write"]

Shape = Literal["ethang", "openai", "anthropic"]


class Sending(list[Any]):
    """What to send now: a list of messages. `system` is set where the shape keeps it apart (Anthropic)."""

    def __init__(self, items: Sequence[Any], *, system: str = "", plan: Plan | None = None) -> None:
        super().__init__(items)
        self.system = system
        self.plan = plan


def shape_of(message: Any, before: Shape | None) -> Shape:
    """The shape a caller works in. A plain text message tells little, so a later Anthropic block decides."""
    first = message[0] if isinstance(message, list | tuple) and message else message
    if isinstance(first, Message):
        return before or "ethang"
    data = first if isinstance(first, Mapping) else getattr(first, "model_dump", dict)()
    return "anthropic" if before == "anthropic" or is_anthropic(data) else "openai"


def write(messages: Sequence[Message], shape: Shape, plan: Plan | None) -> Sending:
    if shape == "ethang":
        return Sending(messages, plan=plan)
    if shape == "openai":
        return Sending(openai.to_wire(messages), plan=plan)
    wire = anthropic.to_wire(messages)
    return Sending(wire.messages, system="\n\n".join(block["text"] for block in wire.system), plan=plan)
