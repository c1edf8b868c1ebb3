"""The offline providers' wire: a request as the bytes of a Chat Completions body, and back.

One piece a message, fixed key order, nothing random: same request, same bytes, and a repeated message is a
repeated piece. Nothing about a request reaches an offline provider but through these bytes.
"""

from __future__ import annotations

import json
from typing import Any

from ethang_nb.context.catalogue import catalogue_tokens
from ethang_nb.context.counting import message_tokens
from ethang_nb.errors import ProviderFault
from ethang_nb.formats.openai import read, read_tools, to_wire, tools_to_wire
from ethang_nb.providers.packing import packed
from ethang_nb.providers.protocol import Body, Request
from ethang_nb.tokens.registry import counter

__all__ = ["decode", "encode", "tokens"]

_HEAD_ONLY = {"model", "max_tokens", "tools", "messages"}


def encode(request: Request, *, model: str) -> Body:
    """The body of `request`, addressed to `model`. Raises Misuse for a parameter that JSON cannot hold."""
    head: dict[str, Any] = {"model": model, "max_tokens": request.max_output}
    head |= {name: request.params[name] for name in sorted(request.params) if name not in _HEAD_ONLY}
    if request.tools:
        head["tools"] = tools_to_wire(request.tools)
    pieces = [packed(head)[:-1] + b',"messages":[']
    for number, message in enumerate(to_wire(request.messages)):
        pieces.append((b"," if number else b"") + packed(message))
    return Body(pieces=(*pieces, b"]}"))


def decode(body: Body) -> dict[str, Any]:
    """The JSON of `body`. Raises ProviderFault for bytes that are no request."""
    try:
        data = json.loads(body.bytes)
    except ValueError as error:
        raise ProviderFault(
            f"the request is not JSON ({error}); send the bytes that `encode` made"
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        raise ProviderFault("the request has no messages; send the bytes that `encode` made")
    return data


def tokens(body: Body) -> int:
    """Tokens of the body as our own counter counts its texts: messages with their overhead, and the tools."""
    data = decode(body)
    ours = counter("reader")
    messages = sum(message_tokens(message, ours) for message in read(data["messages"]))
    return messages + catalogue_tokens(read_tools(data.get("tools", ())), ours)
