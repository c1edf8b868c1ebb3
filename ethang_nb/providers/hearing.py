"""Hearing: one answer as it is received: bytes in, events to the parser, an outcome at the end.

It opens nothing itself. Event streams are split by httpx-sse, at CR, LF and CRLF only; what is JSON instead of a stream
is read as a whole, and so is any status that says failure.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from httpx_sse import EventSource

from ethang_nb.errors import ModelFault, Overflow, ProviderFault
from ethang_nb.providers.faults import fault_of
from ethang_nb.providers.protocol import Reply

if TYPE_CHECKING:
    from ethang_nb.providers.line import Parser

__all__ = ["Hearing"]

STREAM = "text/event-stream"


class Hearing:
    """An answer for `parser`. After `listen` its `outcome` is there; `raw` keeps what came, for a cassette."""

    def __init__(self, parser: Parser) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.raw = bytearray()
        self.outcome: Reply | ModelFault | None = None
        self._parser = parser

    @property
    def heard(self) -> bool:
        """Whether anything of the reply itself has come; then it must not be asked for again."""
        return self._parser.heard

    async def listen(self, status: int, headers: Mapping[str, str], chunks: AsyncIterator[bytes]) -> None:
        """Takes an answer to its end. Names of `headers` in small letters. What `chunks` raises goes through."""
        self.status, self.headers = status, headers
        try:
            if status < 400 and headers.get("content-type", "").startswith(STREAM):
                source = EventSource(cast("Any", _Texts(headers, self._kept(chunks))))
                async for event in source.aiter_sse():
                    self._parser.event(event.event, event.data)
            else:
                async for _ in self._kept(chunks):
                    pass
                self._whole()
            self.outcome = self._parser.reply()
        except (Overflow, ProviderFault) as fault:
            fault.partial = fault.partial or self._parser.partial()
            self.outcome = fault

    def break_off(self, fault: ProviderFault) -> None:
        """The connection ended before the body did; what had come of the reply stays with the fault."""
        fault.partial = self._parser.partial()
        self.outcome = fault

    def reply(self) -> Reply:
        """The reply. Raises Overflow or ProviderFault."""
        if isinstance(self.outcome, Reply):
            return self.outcome
        raise self.outcome or ProviderFault("the answer was not heard to its end; ask again")

    def _whole(self) -> None:
        text = self.raw.decode("utf-8", "replace")
        if self.status >= 400:
            raise fault_of(self.status, self.headers, text)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise ProviderFault(
                f"the answer is neither a stream nor JSON: {' '.join(text.split())[:200]!r}", retryable=True
            ) from None
        self._parser.whole(data)

    async def _kept(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            self.raw += chunk
            yield chunk


class _Texts:
    """What httpx-sse asks of a response: its headers, and its body as text."""

    def __init__(self, headers: Mapping[str, str], chunks: AsyncIterator[bytes]) -> None:
        self.headers, self._chunks = headers, chunks

    async def aiter_text(self) -> AsyncIterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        async for chunk in self._chunks:
            if text := decoder.decode(chunk):
                yield text
        # Servers that end right after the last event's line: without an empty line it would be lost.
        yield decoder.decode(b"", final=True) + "\n\n"
