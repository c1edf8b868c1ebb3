"""Sending: the assembled messages in the shape in which a caller's messages came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ethang_nb.context.messages import Message
from ethang_nb.context.plan import Plan
from ethang_nb.formats import anthropic, openai
from ethang_nb.formats.detect import is_anthropic, is_openai

__all__ = ["Sending", "Shape", "shape_of", "write"]

Shape = Literal["ethang", "openai", "anthropic"]


class Sending(list[Any]):
    """What to send now: a list of messages. `system` is set where the shape keeps it apart (Anthropic)."""

    def __init__(self, items: Sequence[Any], *, system: str = "", plan: Plan | None = None) -> None:
        super().__init__(items)
        self.system = system
        self.plan = plan


def shape_of(given: Any, before: Shape, *, plain: Shape = "openai") -> Shape:
    """The shape of a message, or of a list of them, after others of the shape `before`.

    A dict that tells nothing, because both have it, leaves it as it was; the first such dict is `plain`.
    """
    shape = before
    for item in given if isinstance(given, list | tuple) else (given,):
        shape = _shape_of_one(item, shape, plain)
    return shape


def _shape_of_one(message: Any, before: Shape, plain: Shape) -> Shape:
    if isinstance(message, Message):
        return before
    data = message if isinstance(message, Mapping) else getattr(message, "model_dump", dict)()
    if is_anthropic(data):
        return "anthropic"
    if is_openai(data):
        return "openai"
    return plain if before == "ethang" else before


def write(messages: Sequence[Message], shape: Shape, plan: Plan | None) -> Sending:
    if shape == "ethang":
        return Sending(messages, plan=plan)
    if shape == "openai":
        return Sending(openai.to_wire(messages), plan=plan)
    wire = anthropic.to_wire(messages)
    return Sending(wire.messages, system="\n\n".join(block["text"] for block in wire.system), plan=plan)
