"""Peers for the tests of what lies behind HTTP: raw socket servers that misbehave on order, a wire format as small as
one can be, and the chaos peer `llmock`, started once.
"""

import asyncio
import atexit
import functools
import json
import socket
from contextlib import asynccontextmanager, contextmanager
from types import MappingProxyType

import pytest

from ethang_nb.context.messages import assistant
from ethang_nb.errors import ProviderFault
from ethang_nb.providers.faults.faults import fault_in
from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.http.line import HttpLine
from ethang_nb.providers.http.waiting import Waits
from ethang_nb.providers.line import Call
from ethang_nb.providers.protocol import Body, Reply, Usage

SSE = "text/event-stream"
QUICK = Waits(first=0.01, most=0.02, jitter=0.0)

# ---- a wire format: events are {"t": text}, the end is [DONE]


class Plain:
    """Its parser; `events` is all that it was given."""

    def __init__(self, on_text=None):
        self.events, self.text, self.ended = [], "", False
        self._on_text = on_text

    @property
    def heard(self):
        return bool(self.text)

    def event(self, name, data):
        self.events.append((name, data))
        if data == "[DONE]":
            self.ended = True
            return
        try:
            self.whole(json.loads(data), end=False)
        except ValueError:
            raise ProviderFault(f"an event is no JSON: {data[:40]!r}", retryable=True) from None

    def whole(self, data, *, end=True):
        if fault := fault_in(data):
            raise fault
        text = data.get("t", "")
        self.text += text
        self.ended = self.ended or end
        if text and self._on_text:
            self._on_text(text)

    def reply(self):
        if not self.text:
            raise ProviderFault("nothing came", retryable=True)
        return Reply(message=assistant(self.text), stop="end" if self.ended else "cut")

    def partial(self):
        return {"text": self.text} if self.text else None

    def usage(self):
        return Usage(input=40) if self.text else None


class PlainWire:
    path = "/say"
    headers = MappingProxyType({"x-wire": "plain"})

    def encode(self, request, *, model):
        texts = [message.text for message in request.messages]
        return Body(pieces=(json.dumps({"model": model, "texts": texts}).encode(),))

    def parser(self, on_text=None):
        return Plain(on_text)


def event(text):
    return f"data: {json.dumps({'t': text})}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def heard(body, *, status=200, kind=SSE, size=None, **headers):
    """A Hearing that has listened to `body`, cut into pieces of `size` bytes (or as `body` lists them)."""
    pieces = body if isinstance(body, list) else [body]
    if size:
        pieces = [body[at : at + size] for at in range(0, len(body), size)]

    async def chunks():
        for piece in pieces:
            yield piece

    hearing = Hearing(Plain())
    asyncio.run(hearing.listen(status, {"content-type": kind, **headers}, chunks()))
    return hearing


# ---- raw servers: each request gets the next of the answers, and the last one over again


class Peer:
    """What a raw server saw. `closed` is set when a client has closed a connection that was waiting."""

    def __init__(self, answers):
        self.answers, self.url = answers, ""
        self.connections, self.bodies, self.heads, self.times = 0, [], [], []
        self.closed, self.asked = asyncio.Event(), asyncio.Event()
        self._open = {}

    async def connected(self, reader, writer):
        self.connections += 1
        self._open[asyncio.current_task()] = writer
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                names = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                self.times.append(asyncio.get_running_loop().time())
                self.heads.append(head)
                self.bodies.append(await reader.readexactly(int(names.get("content-length", 0))))
                self.asked.set()
                answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
                if not await answer(self, reader, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
        finally:
            del self._open[asyncio.current_task()]
            writer.close()

    async def end(self):
        """Drops whoever is connected; nothing of it is left to the loop."""
        tasks = list(self._open)
        for writer in self._open.values():
            writer.transport.abort()
        await asyncio.gather(*tasks)


@asynccontextmanager
async def peer(*answers):
    """A server for the time being; on leaving, nobody is connected any more."""
    it = Peer(answers)
    server = await asyncio.start_server(it.connected, "127.0.0.1", 0)
    it.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield it
    finally:
        server.close()
        await it.end()


def says(body, status=200, kind="application/json", length=None, **headers):
    """An answer in one piece; headers by name with `_` for `-`. `length` other than the truth cuts it short."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines.append(f"content-length: {len(body) if length is None else length}")

    async def answer(_, __, writer):
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        return length is None

    return answer


def _chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def streams(*pieces, then="end", every=0.0, kind=SSE):
    """A chunked stream. `then`: `end` it; `break` the connection in the middle; `hang` until the client closes it;
    `vanish`: end the stream, and drop the connection without a word when it is asked once more.
    """

    async def answer(it, reader, writer):
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        for piece in pieces:
            writer.write(_chunk(piece))
            await writer.drain()
            await asyncio.sleep(every)
        if then == "break":
            return False
        if then == "hang":
            return await hangs(it, reader, writer)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        if then == "vanish":
            await reader.read(1)
            writer.transport.abort()
            return False
        return True

    return answer


async def hangs(it, reader, _):
    """Says nothing until the client has closed the connection."""
    while await reader.read(65_536):
        pass
    it.closed.set()
    return False


async def drops(_, __, ___):
    """Closes the connection without a byte."""
    return False


@contextmanager
def deaf():
    """An address that takes no connection and refuses none: its queue is full."""
    listening, waiting = socket.socket(), []
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    try:
        for _ in range(8):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
            waiting.append(client)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        for each in [*waiting, listening]:
            each.close()


CALL = Call(path="/say", body=Body(pieces=(b'{"q": ', b'"\xc3\xa9"}')), headers={"x-wire": "plain"})


async def ask(url, *, call=CALL, on_text=None, on_note=None, waits=QUICK, **settings):
    """The hearing that a line to `url` brings home, closed behind it."""
    line = HttpLine(url, waits=waits, **settings)
    try:
        return await line.ask(call, lambda: Hearing(Plain(on_text)), on_note=on_note)
    finally:
        await line.close()


def asked(*answers, call=CALL, on_note=None, **settings):
    """What came of asking a raw server once: the hearing and the peer. Raises as the line does."""

    async def main():
        async with peer(*answers) as it:
            return await ask(it.url, call=call, on_note=on_note, **settings), it

    return asyncio.run(main())


# ---- the chaos peer


def llmock_package():
    """What starts a chaos peer; who asks for it is skipped where the package is not there."""
    return pytest.importorskip("llmock.testing", reason="llmock is not installed; uv sync --group peers")


@functools.cache
def llmock():
    """The running chaos peer; its thread ends with the tests."""
    server = llmock_package().LLMockServer().start()
    atexit.register(server.stop)
    return server
