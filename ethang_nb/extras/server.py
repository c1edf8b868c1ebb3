"""Server: an offline stand-in behind OpenAI's Chat Completions interface, on this machine alone, without a key.

For loops of one's own with any client that has a base URL: workshops, examples, tests. It answers by rules, says so in
the `model` of every answer, and writes no log.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from ethang_nb.context.wording import preview
from ethang_nb.errors import EthangError, Misuse, Overflow, ProviderFault
from ethang_nb.providers.offline.wire import tokens
from ethang_nb.providers.protocol import Body, Provider, Reply, Stop
from ethang_nb.providers.registry import provider
from ethang_nb.tokens.registry import counter

__all__ = ["Server", "serve"]

HOST = "127.0.0.1"
LARGEST = 16_000_000  # ► bytes of a request
DIGITS = 18  # ► of a content-length; more are no size
SECONDS = 30.0  # ► that a client may take for sending its request
MOST = 16  # ► requests at the same time; more are told to come back
PIECE = 24  # ► characters of a text in one event of a stream
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_OFFLINE = ("reader", "script")
_ENDS: Mapping[Stop, str] = {"calls": "tool_calls", "length": "length", "refused": "content_filter"}


def serve(model: str = "reader", *, root: str | Path | None = None) -> Server:
    """A server of `reader` or `script:PATH` with its options, started; close it, or use it in a `with`.

        with serve("reader") as server:
            client = OpenAI(base_url=server.base_url, api_key="none")

    `POST {base_url}/chat/completions`, streamed or not, with tools, and `GET {base_url}/models`. What model a request
    names does not matter. `root` is the folder that a script's path starts from. Raises Misuse for another model, and
    as the stand-ins do for a bad option or script.
    """
    kind, colon, path = model.partition(":")
    if kind.partition("?")[0] not in _OFFLINE:
        raise Misuse(
            f"model {preview(repr(model), 60)} is no offline stand-in; serve reader, or script:PATH, a file of turns"
        )
    if colon and root is not None:
        model = f"{kind}:{Path(root, path)}"
    return Server(provider(model))


class Server:
    """`base_url` is what a client is given. It serves until `close()`; twice is once."""

    def __init__(self, served: Provider) -> None:
        self._http = _Http((HOST, 0), _Handler)
        self._http.answering = _Answering(served)
        self.label = served.label
        self.base_url = f"http://{HOST}:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, name="ethang-server", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Takes no more requests and lets go of the port."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Server({self.label} at {self.base_url}{'' if self._thread.is_alive() else ', closed'})"


class _Refused(Exception):
    """A request that is not answered with a reply: the status and what is said."""

    def __init__(self, status: int, text: str, code: str = "") -> None:
        super().__init__(text)
        self.status, self.code = status, code


class _Answered(NamedTuple):
    """A reply, and what stands in every part of its answer."""

    reply: Reply
    head: dict[str, Any]
    usage: dict[str, Any]


class _Answering:
    """Asks the provider, one request after the other: a script counts its turns."""

    def __init__(self, served: Provider) -> None:
        self._provider = served
        self._lock = threading.Lock()
        self.seats = threading.Semaphore(MOST)

    def models(self) -> dict[str, Any]:
        model = {"id": self._provider.name, "object": "model", "created": 0, "owned_by": self._provider.label}
        return {"object": "list", "data": [model]}

    def answer(self, raw: bytes) -> tuple[_Answered, Mapping[str, Any]]:
        """The reply to the bytes of a request, and the request. Raises _Refused."""
        try:
            asked = json.loads(raw)
        except (ValueError, RecursionError):
            raise _Refused(400, "the request is not JSON") from None
        if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list):
            raise _Refused(400, "'messages' is required: a list of messages")
        # How the answer is to be carried is no part of what is asked.
        plain = {name: value for name, value in asked.items() if name not in ("stream", "stream_options")}
        plain["model"] = self._provider.name
        body = Body((json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace"),))
        try:
            with self._lock:
                reply = asyncio.run(self._provider.send(body))
            return self._answered(body, reply), asked
        except Overflow as fault:
            raise _Refused(400, str(fault), "context_length_exceeded") from fault
        except ProviderFault as fault:
            raise _Refused(429 if fault.retryable else 500, str(fault)) from fault
        except EthangError as fault:
            raise _Refused(400, str(fault)) from fault
        except Exception as fault:
            raise _Refused(400, f"the request cannot be read: {type(fault).__name__}: {fault}") from fault

    def _answered(self, body: Body, reply: Reply) -> _Answered:
        report = reply.usage
        said = "\n".join([reply.message.text, *(call.arguments for call in reply.message.calls)])
        read = report.input if report and report.input is not None else tokens(body)
        wrote = report.output if report and report.output is not None else counter("reader").count(said)
        number = hashlib.sha256(body.bytes).hexdigest()[:24]
        return _Answered(
            reply=reply,
            head={"id": f"chatcmpl-{number}", "created": 0, "model": self._provider.label},
            usage={"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
        )


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    answering: _Answering

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ethang_nb"
    sys_version = ""
    timeout = SECONDS
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        """Writes nothing."""

    def do_GET(self) -> None:
        self._take(self._get)

    def do_POST(self) -> None:
        self._take(self._post)

    def _take(self, act: Callable[[bytes], None]) -> None:
        self.close_connection = True  # so that no thread waits for a request that may never come
        seats = self.server.answering.seats
        if not seats.acquire(blocking=False):
            self._refuse(_Refused(503, f"{MOST} requests are being answered; come back in a second"))
            return
        try:
            # First of all: an answer to what is not read yet may be lost with the connection.
            body = self._body()
            self._check_sender()
            act(body)
        except _Refused as refused:
            self._refuse(refused)
        finally:
            seats.release()

    def _body(self) -> bytes:
        length = self.headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > DIGITS:
            raise _Refused(400, f"content-length {length[:20]!r} is no number of bytes")
        body = self.rfile.read(min(int(length), LARGEST))
        if int(length) > LARGEST:
            raise _Refused(413, f"the request has {int(length):,} bytes; {LARGEST:,} are taken at most")
        return body

    def _check_sender(self) -> None:
        """A page in a browser may reach this port, under a name of its own or as itself; neither is answered."""
        host = self.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name.lower() not in _LOCAL:
            raise _Refused(403, f"host {host[:60]!r} is not this machine; ask {HOST}")
        if "origin" in self.headers:
            raise _Refused(403, "pages in a browser are not answered")

    def _at(self, path: str) -> None:
        if urlsplit(self.path).path.rstrip("/") != path:
            raise _Refused(
                404,
                f"nothing is at {self.path[:60]!r}; there is GET /v1/models and POST /v1/chat/completions",
            )

    def _get(self, _: bytes) -> None:
        self._at("/v1/models")
        self._send(200, self.server.answering.models())

    def _post(self, body: bytes) -> None:
        self._at("/v1/chat/completions")
        answered, asked = self.server.answering.answer(body)
        if asked.get("stream"):
            options = asked.get("stream_options")
            usage = isinstance(options, dict) and bool(options.get("include_usage"))
            self._stream(_events(answered, usage=usage))
        else:
            self._send(200, _whole(answered))

    def _refuse(self, refused: _Refused) -> None:
        error = {
            "message": str(refused),
            "type": _kind(refused.status),
            "code": refused.code or None,
            "param": None,
        }
        self._send(refused.status, {"error": error})

    def _send(self, status: int, data: Mapping[str, Any]) -> None:
        body = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
        self._start(status, "application/json", ("Content-Length", str(len(body))))
        self.wfile.write(body)

    def _stream(self, events: Iterator[str]) -> None:
        self._start(200, "text/event-stream", ("Transfer-Encoding", "chunked"))
        for event in (*events, "[DONE]"):
            chunk = f"data: {event}\n\n".encode("utf-8", "replace")
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def _start(self, status: int, kind: str, length: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), length, ("Connection", "close")):
            self.send_header(name, value)
        self.end_headers()


def _kind(status: int) -> str:
    return {429: "rate_limit_error", 403: "permission_error"}.get(
        status, "invalid_request_error" if status < 500 else "server_error"
    )


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.message.calls
    ]


def _whole(answered: _Answered) -> dict[str, Any]:
    reply, calls = answered.reply, _calls(answered.reply)
    message: dict[str, Any] = {"role": "assistant", "content": reply.message.text or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": _ENDS.get(reply.stop, "stop"),
        "logprobs": None,
    }
    return {**answered.head, "object": "chat.completion", "choices": [choice], "usage": answered.usage}


def _events(answered: _Answered, *, usage: bool) -> Iterator[str]:
    """The reply in pieces: its role, its text, each call with its name before its arguments, how it ended."""
    text, head = answered.reply.message.text, {**answered.head, "object": "chat.completion.chunk"}

    def event(delta: dict[str, Any], ends: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": ends, "logprobs": None}
        return json.dumps({**head, "choices": [choice]}, ensure_ascii=False)

    yield event({"role": "assistant", "content": "" if text else None})
    for start in range(0, len(text), PIECE):
        yield event({"content": text[start : start + PIECE]})
    for index, call in enumerate(_calls(answered.reply)):
        arguments = call["function"]["arguments"]
        yield event(
            {"tool_calls": [{"index": index, **call, "function": {**call["function"], "arguments": ""}}]}
        )
        yield event({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
    yield event({}, _ENDS.get(answered.reply.stop, "stop"))
    if usage:
        yield json.dumps({**head, "choices": [], "usage": answered.usage}, ensure_ascii=False)
