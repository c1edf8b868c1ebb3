"""What tests of wire formats share: answers fed to a parser event by event or as bytes, and recorded real ones."""

import asyncio
import json
from pathlib import Path

import pytest

from ethang_nb.context.messages import Message, Text, Thinking, ToolCall
from ethang_nb.providers.hearing import Hearing

BODIES = Path(__file__).resolve().parents[3] / "shared" / "reference" / "provider_bodies" / "bodies"
STREAM = {"content-type": "text/event-stream; charset=utf-8"}
JSON = {"content-type": "application/json"}


def feed(parser, events):
    """Events as dicts, whose type names them where they have one, or as raw data."""
    for event in events:
        if isinstance(event, str):
            parser.event("message", event)
        else:
            parser.event(event.get("type", "message"), json.dumps(event))
    return parser


def reply_of(parser, events):
    return feed(parser, events).reply()


def sse(events, *, named=False):
    """The bytes of a stream."""
    lines = []
    for event in events:
        if named:
            lines.append(f"event: {event['type']}")
        data = event if isinstance(event, str) else json.dumps(event)
        lines += [f"data: {data}", ""]
    return ("\n".join(lines) + "\n").encode()


def hear(parser, raw, headers=STREAM, *, status=200, size=7):
    """The bytes through a Hearing, `size` of them at a time."""
    hearing = Hearing(parser)

    async def chunks():
        for start in range(0, len(raw), size):
            yield raw[start : start + size]

    asyncio.run(hearing.listen(status, headers, chunks()))
    return hearing


def recorded(name):
    """The body of an answer that a real server gave, as bytes."""
    if not BODIES.exists():
        pytest.skip("the recorded bodies lie beside the project, not in it")
    text = (BODIES / f"{name}.txt").read_text()
    head, _, body = text.partition("\nHTTP 200")
    if not body:  # aimock's: request, then status, headers and body in one line
        return text.partition("\n200 {} ")[2].encode()
    del head
    return body.partition("\n")[2].encode()


def said(*parts):
    """An assistant message of these parts, a text given as a string."""
    return Message(
        role="assistant",
        parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts),
        source="model",
        trust="agent",
    )


def call(name, arguments="{}", id="a"):  # noqa: A002 - as the field is called
    return ToolCall(id=id, name=name, arguments=arguments)


def thought(text="", signature="", redacted=""):
    return Thinking(text=text, signature=signature, redacted=redacted)
