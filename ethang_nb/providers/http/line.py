"""HttpLine: carries calls over HTTP with httpx: pooled connections, a limit for each phase, nothing followed elsewhere.

A request's body goes out byte for byte as it was recorded. Keys are asked for at the moment of sending and stand in no
error: a fault names the host, the phase and what to do.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import httpx

from ethang_nb.clock import Clock, SystemClock
from ethang_nb.errors import ProviderFault
from ethang_nb.providers.endpoints.credentials import mask
from ethang_nb.providers.endpoints.table import is_local
from ethang_nb.providers.faults.faults import fault_of
from ethang_nb.providers.hearing import MOST, Hearing
from ethang_nb.providers.http.logs import tame
from ethang_nb.providers.http.phases import Phases
from ethang_nb.providers.http.trying import insist
from ethang_nb.providers.http.waiting import TIMEOUTS, WAITS, Timeouts, Waits
from ethang_nb.providers.line import Call

__all__ = ["HttpLine", "get_json"]

KEPT = 30.0  # ► seconds an idle connection is kept; one that went stale meanwhile costs one resend
CONNECTIONS = 100  # ► of one session at the same time, children included

_NONE: Mapping[str, str] = MappingProxyType({})
_ALWAYS = {
    "accept": "text/event-stream, application/json",
    "accept-encoding": "identity",  # what compresses a stream may hold words back
    "content-type": "application/json",
    "user-agent": "ethang_nb",
}


class HttpLine:
    """A line to `address`, a base URL. It and `headers` are asked for anew at each sending.

    Nothing is opened before the first call. Each running event loop has connections of its own.
    """

    def __init__(
        self,
        address: str | Callable[[], str],
        *,
        headers: Callable[[], Mapping[str, str]] = lambda: _NONE,
        query: Mapping[str, str] = _NONE,
        timeouts: Timeouts = TIMEOUTS,
        waits: Waits = WAITS,
        clock: Clock | None = None,
    ) -> None:
        self._address, self._headers, self._query = address, headers, query
        self._timeouts, self._waits = timeouts, waits
        self._clock = clock or SystemClock()
        self._clients: dict[tuple[asyncio.AbstractEventLoop, str], httpx.AsyncClient] = {}
        tame()

    async def ask(
        self,
        call: Call,
        hearing: Callable[[], Hearing],
        *,
        on_note: Callable[[str], None] | None = None,
    ) -> Hearing:
        """The hearing of the answer that counts. Raises ProviderFault where no answer came, KeyMissing before."""

        async def once() -> Hearing:
            return await self._once(call, hearing)

        heard = await insist(once, waits=self._waits, clock=self._clock, on_note=on_note)
        if not heard.status:
            heard.reply()
        return heard

    async def close(self) -> None:
        """Closes the connections of the running loop."""
        loop = asyncio.get_running_loop()
        for key in [key for key in list(self._clients) if key[0] is loop]:
            await self._clients.pop(key).aclose()

    async def _once(self, call: Call, hearing: Callable[[], Hearing]) -> Hearing:
        """One try. A connection that had been kept and gone stale is no try of its own: once more, at once."""
        heard = hearing()
        if await self._send(call, heard):
            heard = hearing()
            await self._send(call, heard)
        return heard

    async def _send(self, call: Call, heard: Hearing) -> bool:
        """Fills `heard`. True: a kept connection was dead when the request went out, so that nothing can have come."""
        address = self._address if isinstance(self._address, str) else self._address()
        host = _host(address)
        phases = Phases(self._timeouts, host)
        try:
            url, headers = _url(address, call.path, self._query), _headers(call.headers, self._headers())
            client = self._client(address)
            request = client.build_request(
                "POST", url, content=call.body.bytes, headers=headers, extensions={"trace": phases.trace}
            )
            async with phases.timer:
                phases.begin()
                response = await _answered(client.send(request, stream=True), host)
                chunks = _chunks(response, host, lambda: phases.heard(done=heard.done))
                try:
                    await heard.listen(response.status_code, dict(response.headers), chunks)
                finally:
                    await response.aclose()
        except TimeoutError:
            if not phases.timer.expired():
                raise
            heard.break_off(phases.late())
        except _Broken as broken:
            heard.break_off(broken.fault)
            return phases.stale
        return False

    def _client(self, address: str) -> httpx.AsyncClient:
        """The client for the running loop and the address: another address may want another proxy, and TLS."""
        loop = asyncio.get_running_loop()
        if (loop, address) not in self._clients:
            for key in list(self._clients):
                if key[0].is_closed():
                    del self._clients[key]
            self._clients[loop, address] = _opened(httpx.AsyncClient, address, timeout=None)
        return self._clients[loop, address]


class _Broken(Exception):
    """Inside this module: the connection failed, with the fault that this is."""

    def __init__(self, fault: ProviderFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


async def _answered(sending: Awaitable[httpx.Response], host: str) -> httpx.Response:
    """The answer's head. Raises _Broken."""
    try:
        return await sending
    except (httpx.HTTPError, OSError) as error:
        raise _Broken(_fault(error, host)) from None


async def _chunks(response: httpx.Response, host: str, taken: Callable[[], None]) -> AsyncIterator[bytes]:
    """The body as it comes; `taken` is called after each piece.

    Raises _Broken for a fault of the network; what the reader of the pieces raises is never taken for one.
    """
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
            taken()
    except (httpx.HTTPError, OSError) as error:
        raise _Broken(_fault(error, host, begun=True)) from None


def get_json(url: str, headers: Mapping[str, str], seconds: float) -> Any:
    """The JSON behind a URL, asked for once. Raises ProviderFault for anything else.

    A connection, each wait for a piece of the answer, and all pieces together take `seconds` at the most.
    """
    tame()
    try:
        asked = _headers({"accept": "application/json"}, headers)
        with (
            _opened(httpx.Client, url, timeout=seconds) as client,
            client.stream("GET", url, headers=asked) as answer,
        ):
            body = _read(answer, _host(url), seconds)
    except _Broken as broken:
        raise broken.fault from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _fault(error, _host(url)) from None
    if answer.status_code >= 400:
        raise fault_of(answer.status_code, dict(answer.headers), mask(body.decode("utf-8-sig", "replace")))
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderFault(f"{_host(url)} answered HTTP {answer.status_code} without JSON") from None


def _read(answer: httpx.Response, host: str, seconds: float) -> bytearray:
    """The body. Raises _Broken for one that is not over in time, or at all."""
    body, clock = bytearray(), SystemClock()
    late = clock.monotonic() + seconds
    for chunk in answer.iter_bytes():
        body += chunk
        if len(body) > MOST or clock.monotonic() > late:
            raise _Broken(ProviderFault(f"{host} did not come to the end of its answer within {seconds:g} s"))
    return body


def _opened(kind: Callable[..., Any], address: str, *, timeout: float | None) -> Any:
    """A client for one host.

    The environment's proxies and certificates are the person's wish (many are behind a company's proxy) and are
    followed, but not to this very machine: a proxy would look for a local server on its own. Without TLS no
    certificates are read, which takes longer than many an answer from there.
    """
    try:
        return kind(
            timeout=timeout,
            limits=httpx.Limits(max_connections=CONNECTIONS, keepalive_expiry=KEPT),
            trust_env=not is_local(address),
            verify=not address.startswith("http://"),
            follow_redirects=False,
        )
    except (ValueError, ImportError, httpx.InvalidURL, OSError) as error:
        # Not its text: a proxy's address may hold a password.
        raise _Broken(
            ProviderFault(
                f"no connection could be prepared ({type(error).__name__}); check the addresses in HTTPS_PROXY, "
                "HTTP_PROXY and ALL_PROXY and the files in SSL_CERT_FILE and SSL_CERT_DIR"
            )
        ) from None


def _url(address: str, path: str, query: Mapping[str, str]) -> httpx.URL:
    """The address with the path at its end; what is in its own query stays."""
    try:
        url = httpx.URL(address)
        url = url.copy_with(path=f"{url.path.rstrip('/')}/{path.lstrip('/')}")
        return url.copy_merge_params(query) if query else url
    except (httpx.InvalidURL, ValueError, TypeError):
        text = f"{_host(address)!r} is no address; base_url is one such as https://host/v1"
        raise _Broken(ProviderFault(text)) from None


def _headers(*given: Mapping[str, str]) -> httpx.Headers:
    """Ours, and over them those that are given; whatever the case of their names, none is sent twice."""
    headers = httpx.Headers(_ALWAYS)
    try:
        for each in given:
            headers.update(each)
    except UnicodeEncodeError:
        text = "a header holds a character outside of ASCII, which no header can carry; write it without"
        raise _Broken(ProviderFault(text)) from None
    return headers


def _host(address: str) -> str:
    """Host and port: what a person needs to know of an address, and no secret."""
    try:
        return httpx.URL(address).netloc.decode() or address.partition("?")[0].rpartition("@")[2][:80]
    except (httpx.InvalidURL, ValueError):
        return address.partition("?")[0].rpartition("@")[2][:80]


def _fault(error: Exception, host: str, *, begun: bool = False) -> ProviderFault:
    """What went wrong on the way, as a fault; its text repeats nothing that was sent."""
    why = _reason(error)
    if isinstance(error, httpx.TimeoutException):
        return ProviderFault(
            f"{host} did not answer in time; check the network and the address", retryable=True
        )
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol | httpx.InvalidURL):
        # The text of the first may repeat a header's value, and with it a key.
        return ProviderFault(
            f"the request to {host or 'nowhere'} cannot be sent: its address or one of its headers is not as HTTP "
            "wants it; base_url is one such as https://host/v1"
        )
    if isinstance(error, httpx.DecodingError):
        return ProviderFault(
            f"{host} compressed its answer in a way that cannot be read; ask again", retryable=True
        )
    if isinstance(error, httpx.ProxyError):
        return ProviderFault(f"the proxy to {host} refused; check HTTPS_PROXY and NO_PROXY", retryable=False)
    if isinstance(error, httpx.ConnectError):
        cause = _cause(error, ssl.SSLError)
        if cause is not None:
            return ProviderFault(
                f"no safe connection to {host}: {why}; check the address, or name the certificates in SSL_CERT_FILE"
            )
        unknown = _cause(error, socket.gaierror)
        lasting_fault = unknown is not None and unknown.errno == socket.EAI_NONAME
        return ProviderFault(
            f"no connection to {host}: {why}; is the server running, and base_url its address?",
            retryable=not lasting_fault,
        )
    where = "in the middle of its answer" if begun else "before it had answered"
    return ProviderFault(f"the connection to {host} broke {where}: {why}; ask again", retryable=True)


def _cause(error: BaseException | None, kind: type[OSError]) -> OSError | None:
    """The innermost cause of that kind."""
    found = None
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        found = error if isinstance(error, kind) else found
        below = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__
        error = below or error.__context__
    return found


def _reason(error: Exception) -> str:
    """The system's own words where there are some."""
    cause = _cause(error, OSError)
    words: str | None = None
    if isinstance(cause, ssl.SSLError):
        words = getattr(cause, "verify_message", "") or (cause.reason or "").replace("_", " ").lower()
    elif cause is not None and cause.errno:
        words = cause.strerror if isinstance(cause, socket.gaierror) else os.strerror(cause.errno)
    return " ".join((words or str(error) or type(error).__name__).split())[:200]
