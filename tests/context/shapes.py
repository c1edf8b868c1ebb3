"""The same conversation in each shape a caller may have it in: OpenAI dicts, Anthropic dicts, messages of ours."""

from __future__ import annotations

import json

import pytest

from ethang_nb.context.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    tool,
    user,
)
from ethang_nb.context.pairing import violations
from ethang_nb.formats.detect import to_messages
from tests.formats.wire_rules import anthropic_faults, openai_faults

PNG = "iVBORw0KGgo="
SIGNATURE = "c2lnbmVk+/=="


class OpenAI:
    model = "gpt-4o"

    @staticmethod
    def user(text, images=0):
        if not images:
            return {"role": "user", "content": text}
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        return {"role": "user", "content": [{"type": "text", "text": text}, *[url] * images]}

    @staticmethod
    def say(text, thinking=None):
        return {"role": "assistant", "content": text, **_thoughts(thinking)}

    @staticmethod
    def asks(*ids, text=None, thinking=None):
        calls = [
            {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids
        ]
        return {"role": "assistant", "content": text, "tool_calls": calls, **_thoughts(thinking)}

    @staticmethod
    def answers(*pairs, images=0):
        content = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}] * images
        return [
            {
                "role": "tool",
                "tool_call_id": one,
                "content": [{"type": "text", "text": text}, *content] if images else text,
            }
            for one, text in pairs
        ]

    @staticmethod
    def faults(sending):
        return openai_faults(sending)


class Anthropic:
    model = "claude-x"

    @staticmethod
    def user(text, images=0):
        if not images:
            return {"role": "user", "content": text}
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        return {"role": "user", "content": [{"type": "text", "text": text}, *[picture] * images]}

    @staticmethod
    def say(text, thinking=None):
        return {"role": "assistant", "content": [*_blocks(thinking), {"type": "text", "text": text}]}

    @staticmethod
    def asks(*ids, text=None, thinking=None):
        calls = [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids]
        said = [] if text is None else [{"type": "text", "text": text}]
        return {"role": "assistant", "content": [*_blocks(thinking), *said, *calls]}

    @staticmethod
    def answers(*pairs, images=0):
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": one,
                "content": [{"type": "text", "text": text}, *[picture] * images] if images else text,
            }
            for one, text in pairs
        ]
        return [{"role": "user", "content": blocks}] if blocks else []

    @staticmethod
    def faults(sending):
        system = [{"type": "text", "text": sending.system}] if sending.system else []
        return anthropic_faults(system, sending)


class Ours:
    model = "gpt-4o"

    @staticmethod
    def user(text, images=0):
        picture = Image(media_type="image/png", data=PNG)
        return Message(role="user", parts=(Text(text=text), *[picture] * images), source="person")

    @staticmethod
    def say(text, thinking=None):
        thoughts = () if thinking is None else (Thinking(text=thinking, signature=SIGNATURE),)
        return Message(role="assistant", parts=(*thoughts, Text(text=text)), source="model", trust="agent")

    @staticmethod
    def asks(*ids, text=None, thinking=None):
        thoughts = () if thinking is None else (Thinking(text=thinking, signature=SIGNATURE),)
        said = () if text is None else (Text(text=text),)
        calls = assistant("", [ToolCall(id=one, name="look") for one in ids])
        return Message(
            role="assistant", parts=(*thoughts, *said, *calls.parts), source="model", trust="agent"
        )

    @staticmethod
    def answers(*pairs, images=0):
        pictures = (Image(media_type="image/png", data=PNG),) * images
        return [tool(ToolResult(call_id=one, name="look", text=text, images=pictures)) for one, text in pairs]

    @staticmethod
    def faults(sending):
        return list(violations(sending))


SHAPES = {"openai": OpenAI, "anthropic": Anthropic, "ethang": Ours}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def turn(shape, number, text, **asked):
    """One tool turn with one call."""
    return [shape.asks(f"c{number}", **asked), *shape.answers((f"c{number}", text))]


def shown(sending):
    """All that is sent, as one text."""
    system = getattr(sending, "system", "")
    bodies = [
        str(item) if isinstance(item, Message) else json.dumps(item, ensure_ascii=False) for item in sending
    ]
    return "\n".join([system, *bodies])


def read_back(sending):
    """What is sent, read as messages again."""
    return to_messages(list(sending))


def _thoughts(text):
    if text is None:
        return {}
    return {"thinking_blocks": [{"type": "thinking", "thinking": text, "signature": SIGNATURE}]}


def _blocks(text):
    return [] if text is None else [{"type": "thinking", "thinking": text, "signature": SIGNATURE}]


__all__ = ["PNG", "SHAPES", "SIGNATURE", "every_shape", "read_back", "shown", "turn", "user"]
