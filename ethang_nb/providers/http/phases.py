"""Phases: where a request under way is, how long it may stay there, and whether its connection had been kept.

One timer for all of them, set anew at each beginning and at each piece of the answer.
"""

from __future__ import annotations

import asyncio

from ethang_nb.errors import ProviderFault
from ethang_nb.providers.http.waiting import Timeouts, lasting

__all__ = ["Phases"]

_BEGINS = {
    # What httpcore's trace calls the beginning of a phase, after the part's own name.
    "connect_tcp.started": "connect",
    "connect_unix_socket.started": "connect",
    "start_tls.started": "connect",
    "send_request_headers.started": "write",
    "receive_response_headers.started": "first",
}
_LATE = {
    "pool": "no connection to {host} became free within {time}; let another request end first",
    "connect": "{host} took no connection within {time}; check the network, the address and the proxy settings",
    "write": "the request could not be sent to {host} within {time}; check the network, or send less at once",
    "first": "{host} sent nothing within {time} of the request; ask again, with a smaller context or a faster model",
    "idle": "{host} fell silent for {time} in the middle of its answer; ask again",
    "grace": "{host} did not end its answer within {time}; ask again",
}


class Phases:
    """The phases of one request to `host`. It begins when `timer` is entered and `begin` called."""

    def __init__(self, timeouts: Timeouts, host: str) -> None:
        self.timer = asyncio.timeout(None)
        self._timeouts, self._host = timeouts, host
        self._phase = "pool"
        self._connected = self._sent = self._answered = False

    @property
    def stale(self) -> bool:
        """Whether the request went out on a connection that had been kept, and no answer began."""
        return self._sent and not self._connected and not self._answered

    def begin(self) -> None:
        self._enter("pool")

    def heard(self, *, done: bool) -> None:
        """A piece of the answer has been taken; `done`: what may come after it does not matter."""
        self._enter("grace" if done else "idle")

    def late(self) -> ProviderFault:
        """The fault, once the timer has expired."""
        return ProviderFault(
            _LATE[self._phase].format(host=self._host, time=lasting(self._limit)), retryable=True
        )

    async def trace(self, name: str, _: object) -> None:
        """Where httpcore tells what it begins; a connection that it does not make has been kept from before."""
        event = name.partition(".")[2]
        if phase := _BEGINS.get(event):
            self._enter(phase)
            self._connected = self._connected or phase == "connect"
            self._sent = self._sent or phase == "write"
        elif event == "receive_response_headers.complete":
            self._answered = True

    @property
    def _limit(self) -> float:
        limit: float = getattr(self._timeouts, self._phase)
        return limit

    def _enter(self, phase: str) -> None:
        self._phase = phase
        if not self.timer.expired():
            self.timer.reschedule(asyncio.get_running_loop().time() + self._limit)
