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

Stop = Literal["end", "calls", "length", "refused", "cut"]
"""Why a reply ended. `cut`: before its end, or without its end marker, so that nobody knows whether this is all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the loop wants answered. `max_output` is the reserve really sent, in tokens.

    `schema`: a JSON schema that the answer should follow, where the provider can hold it to one; None: any text.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int
    params: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a request, in pieces (one a message), so that the record stores a repeated piece once.

    `notices`: what of the request is not in them, or not as it was asked for; one line each.
    """

    pieces: tuple[bytes, ...]
    notices: tuple[str, ...] = ()

    @property
    def bytes(self) -> bytes:
        return b"".join(self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider says it counted, in tokens; None: it does not say, which is never the same as 0.

    `input` is all that was read; `cached` of it came from its cache, `written` of it was put there. `output` is all
    that was written; `reasoning` of it nobody sees.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    written: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: an assistant message, why it ended, what it cost (None where the provider gave no report).

    `why`: why a reply is `cut` although its end marker came, in one line with what to do; "": no such marker came.
    `notices`: what a person should know of how it came, one line each, such as that it was asked for twice.
    """

    message: Message
    stop: Stop
    why: str = ""
    usage: Usage | None = None
    notices: tuple[str, ...] = ()


class Provider(Protocol):
    """A model behind its wire format. `label` is what views show, with any warning a person needs."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def encode(self, request: Request) -> Body:
        """The request's bytes: same request, same bytes."""
        ...

    async def send(
        self,
        body: Body,
        *,
        on_text: Callable[[str], None] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Reply:
        """Sends and waits. Raises Overflow or ProviderFault; cancellation stops it at once.

        `on_text` hears the answer's text as it comes; `on_note` one line for each thing that a person who waits should
        know meanwhile: that it is tried again, and after how long. An empty line: what it heard is over, and the answer
        may come any moment.
        """
        ...

    async def close(self) -> None:
        """Lets go of connections and servers; it may be asked again afterwards. Called in the loop that sends."""
        ...
