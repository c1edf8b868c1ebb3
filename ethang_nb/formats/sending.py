"""Sending: the assembled messages in the shape in which a caller's messages came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ethang_nb.context.messages import Message
from ethang_nb.context.pairing import mend
from ethang_nb.context.plan import Plan
from ethang_nb.formats import anthropic, openai
from ethang_nb.formats.detect import is_anthropic, is_openai

__all__ = ["Sending", "Shape", "shape_of", "write"]

Shape = Literal["ethang", "openai", "anthropic"]


class Sending(list[Any]):
    """What to send now: a list of messages. `system` is set where the shape keeps it apart (Anthropic).

    `repairs`: what of the assembled messages was mended or is not sent, one line each by their position.
    """

    def __init__(
        self,
        items: Sequence[Any],
        *,
        system: str = "",
        plan: Plan | None = None,
        repairs: tuple[str, ...] = (),
    ) -> None:
        super().__init__(items)
        self.system = system
        self.plan = plan
        self.repairs = repairs


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
    """The messages in that shape. They need not be legal: what is sent is, and `repairs` says what was changed."""
    if shape == "ethang":
        mended = mend(messages)
        return Sending(mended.messages, plan=plan, repairs=mended.repairs)
    if shape == "openai":
        plain = openai.write(messages)
        return Sending(plain.messages, plan=plan, repairs=plain.repairs)
    wire = anthropic.to_wire(messages)
    system = "\n\n".join(block["text"] for block in wire.system)
    return Sending(wire.messages, system=system, plan=plan, repairs=wire.repairs)
