"""Hearing: one answer as it is received: bytes in, events to the parser, an outcome at the end.

It opens nothing itself. Event streams are split by httpx-sse, at CR, LF and CRLF only; what is JSON instead of a stream
is read as a whole, and so is any status that says failure. What a server calls its answer is believed as long as the
answer bears it out.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from httpx_sse import EventSource

from ethang_nb.errors import ModelFault, Overflow, ProviderFault
from ethang_nb.providers.endpoints.credentials import mask
from ethang_nb.providers.events import DONE
from ethang_nb.providers.faults.faults import fault_of
from ethang_nb.providers.protocol import Reply

if TYPE_CHECKING:
    from ethang_nb.providers.line import Parser

__all__ = ["Hearing"]

STREAM = "text/event-stream"
MOST = 100_000_000  # ► bytes of one answer; what goes on beyond is no answer of a model
_SHOWN = 200  # ► characters of an answer that nobody can read, in the error about it

_FIELDS = ("data:", "event:", ":", "id:", "retry:")
"""How the first line of an event stream begins."""


class Hearing:
    """An answer for `parser`. After `listen` its `outcome` is there; `raw` keeps what came, for a cassette."""

    def __init__(self, parser: Parser) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.raw = bytearray()
        self.outcome: Reply | ModelFault | None = None
        self.done = False
        """The stream has said `[DONE]`; nothing that matters comes after it."""
        self._events = 0
        self._parser = parser

    @property
    def heard(self) -> bool:
        """Whether anything of the reply itself has come; then it must not be asked for again."""
        return self._parser.heard

    async def listen(self, status: int, headers: Mapping[str, str], chunks: AsyncIterator[bytes]) -> None:
        """Takes an answer to its end. Names of `headers` in small letters. What `chunks` raises goes through."""
        self.status, self.headers = status, headers
        try:
            if 200 <= status < 300 and headers.get("content-type", "").lower().startswith(STREAM):
                await self._stream(self._kept(chunks))
            else:
                async for _ in self._kept(chunks):
                    pass
            if not self._events:
                await self._whole()
            self.outcome = self._parser.reply()
        except (Overflow, ProviderFault) as fault:
            self._fail(fault)

    def break_off(self, fault: ProviderFault) -> None:
        """The connection ended before the body did; what had come of the reply stays with the fault, its report too.

        A reply that had come to its own end by then is whole, whatever became of the connection.
        """
        try:
            reply = self._parser.reply() if self._events else None
        except (Overflow, ProviderFault):
            reply = None
        if reply is not None and reply.stop != "cut":
            self.outcome = reply
            return
        self._fail(fault)

    def reply(self) -> Reply:
        """The reply. Raises Overflow or ProviderFault."""
        if isinstance(self.outcome, Reply):
            return self.outcome
        raise self.outcome or ProviderFault("the answer was not heard to its end; ask again")

    def _fail(self, fault: Overflow | ProviderFault) -> None:
        fault.partial = fault.partial or self._parser.partial()
        usage = self._parser.usage()
        fault.usage = None if usage is None else asdict(usage)
        self.outcome = fault

    async def _stream(self, chunks: AsyncIterator[bytes]) -> None:
        texts = _Texts(chunks)
        async with aclosing(EventSource(cast("Any", texts)).aiter_sse()) as events:
            async for event in events:
                # httpx-sse gives an event for an empty line after an `id`, too; one without data is none.
                if not event.data or (texts.ended and _torn(event.data)):
                    continue
                self._events += 1
                self.done = self.done or event.data.strip() == DONE
                # Before anybody shortens it: half a key would be masked no more.
                data = mask(event.data) if "error" in event.data else event.data
                self._parser.event(event.event or "message", data)

    async def _whole(self) -> None:
        """The body of what is no stream, whatever it was called, or a stream that was called something else."""
        text = mask(self.raw.decode("utf-8-sig", "replace"))
        if self.status >= 400:
            raise fault_of(self.status, self.headers, text)
        if not 200 <= self.status < 300:
            raise ProviderFault(_moved(self.status, self.headers))
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            if not self._named_stream and text.lstrip().startswith(_FIELDS):
                await self._stream(_single(bytes(self.raw)))
            elif not (self._named_stream and _is_sse(text)):
                raise ProviderFault(_unreadable(text, self.headers), retryable=not text.strip()) from None
        else:
            self._parser.whole(data)

    @property
    def _named_stream(self) -> bool:
        return self.headers.get("content-type", "").lower().startswith(STREAM)

    async def _kept(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            self.raw += chunk
            if len(self.raw) > MOST:
                raise ProviderFault(
                    f"the answer is over {MOST // 1_000_000} MB and goes on; it was left there"
                )
            yield chunk


class _Texts:
    """What httpx-sse asks of a response: its headers, and its body as text. `ended`: the body has come to its end."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self.headers = {"content-type": STREAM}
        self.ended = False
        self._chunks = chunks

    async def aiter_text(self) -> AsyncIterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        async for chunk in self._chunks:
            if text := decoder.decode(chunk):
                yield text
        # Servers that end right after the last event's line: without an empty line it would be lost.
        self.ended = True
        yield decoder.decode(b"", final=True) + "\n\n"


async def _single(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _torn(data: str) -> bool:
    """Whether an event that the end of the body ended is only the beginning of one."""
    if data.strip() == DONE:
        return False
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return True
    return False


def _is_sse(text: str) -> bool:
    """Whether an event stream without an event is one at all: empty, heartbeats, the beginning of an event."""
    return not text.strip() or text.lstrip().startswith(_FIELDS)


def _moved(status: int, headers: Mapping[str, str]) -> str:
    where = mask(headers.get("location", "")).partition("?")[0][:_SHOWN]
    return (
        f"the server points elsewhere (HTTP {status}): {where or 'it does not say where'!r}; that is not followed, "
        "since the key would go along: give the address as base_url"
    )


def _unreadable(text: str, headers: Mapping[str, str]) -> str:
    if not text.strip():
        return "the answer is empty; ask again"
    kind = headers.get("content-type", "") or "no content-type"
    return (
        f"the answer is neither a stream nor JSON ({kind[:60]}): {' '.join(text.split())[:_SHOWN]!r}; "
        "is base_url the address of the model's interface?"
    )
