"""The Provider seam: a request becomes bytes, the bytes become a reply.

`encode` is pure and comes first, so that what is sent can be recorded byte for byte before it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Message

__all__ = ["Body", "Provider", "Reply", "Request", "Stop", "Usage"]

Stop = Literal["end", "calls", "length", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the loop wants answered. `max_output` is the reserve really sent, in tokens."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a request, in pieces (one a message), so that the record stores a repeated piece once."""

    pieces: tuple[bytes, ...]

    @property
    def bytes(self) -> bytes:
        return b"".join(self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider says it counted, in tokens. `cached` is a part of `input`."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: an assistant message, why it ended, what it cost (None where the provider gave no report)."""

    message: Message
    stop: Stop
    usage: Usage | None = None


class Provider(Protocol):
    """A model behind its wire format. `label` is what views show, with any warning a person needs."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def encode(self, request: Request) -> Body:
        """The request's bytes: same request, same bytes."""
        ...

    async def send(self, body: Body, *, on_text: Callable[[str], None] | None = None) -> Reply:
        """Sends and waits. Raises Overflow or ProviderFault; cancellation stops it at once."""
        ...
