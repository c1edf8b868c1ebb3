"""The lease: one writer a session, known by host, boot, process and heartbeat.

A lease is stale 30 s after its last heartbeat, or at once where its process ran here and is gone. Every write
checks it in its own transaction, so a writer that slept while another took over cannot write any more.
"""

from __future__ import annotations

import functools
import os
import socket
import sqlite3
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from ethang_nb.clock import Clock
from ethang_nb.errors import SessionHeld

__all__ = ["BEAT", "STALE", "Holder", "Lease"]

STALE = 30.0  # seconds without a heartbeat
BEAT = 10.0  # ► seconds between two heartbeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who writes a session; `heartbeat` in seconds since the epoch."""

    host: str
    boot: str
    pid: int
    heartbeat: float

    @classmethod
    def of(cls, connection: sqlite3.Connection, session: int) -> Holder | None:
        """Who has the lease of this session, stale or not."""
        row = connection.execute(
            "SELECT host, boot, pid, heartbeat FROM lease WHERE session = ?", (session,)
        ).fetchone()
        return None if row is None else cls(host=row[0], boot=row[1], pid=row[2], heartbeat=row[3])

    @property
    def here(self) -> bool:
        """Whether it runs (or ran) on this very machine since it was started."""
        return (self.host, self.boot) == _machine()

    def stale(self, now: float) -> bool:
        return now - self.heartbeat > STALE or (self.here and not _alive(self.pid))

    def __str__(self) -> str:
        if self.here and self.pid == os.getpid():
            return "this very process"
        return f"process {self.pid} on {'this machine' if self.here else self.host}"


class Lease:
    """The right to write one session, from `take` to `release`. Call it inside a write transaction."""

    def __init__(self, connection: sqlite3.Connection, session: int, name: str, clock: Clock) -> None:
        self.pid = os.getpid()
        self._connection, self._session, self._name, self._clock = connection, session, name, clock
        self._token = uuid.uuid4().hex
        self._beaten = clock.now()

    def take(self) -> None:
        """Takes it over where it is free or stale. Raises SessionHeld."""
        holder = Holder.of(self._connection, self._session)
        if holder is not None and not holder.stale(self._clock.now()):
            age = max(0, round(self._clock.now() - holder.heartbeat))
            raise SessionHeld(
                f"session {self._name!r} is being written by {holder} (heartbeat {age} s ago); close it there,"
                " take another name, or open it to read"
            )
        host, boot = _machine()
        self._connection.execute(
            "INSERT OR REPLACE INTO lease (session, token, host, boot, pid, heartbeat) VALUES (?, ?, ?, ?, ?, ?)",
            (self._session, self._token, host, boot, self.pid, self._beaten),
        )

    def check(self) -> None:
        """Raises SessionHeld where another writer took it over; else keeps it fresh."""
        row = self._connection.execute(
            "SELECT token FROM lease WHERE session = ?", (self._session,)
        ).fetchone()
        if row is None or row[0] != self._token:
            holder = Holder.of(self._connection, self._session)
            raise SessionHeld(
                f"session {self._name!r} had no heartbeat from here for {STALE:.0f} s and was taken over by"
                f" {holder or 'another process'}; nothing more is written from here: open it again, or take"
                " another name"
            )
        if abs(self._clock.now() - self._beaten) >= BEAT:
            self.beat()

    def beat(self) -> None:
        """Says that this writer lives; says nothing where the lease is no longer ours."""
        now = self._clock.now()
        self._connection.execute(
            "UPDATE lease SET heartbeat = ? WHERE session = ? AND token = ?",
            (now, self._session, self._token),
        )
        self._beaten = now

    def release(self) -> None:
        self._connection.execute(
            "DELETE FROM lease WHERE session = ? AND token = ?", (self._session, self._token)
        )


@functools.cache
def _machine() -> tuple[str, str]:
    """Host name and boot id. Process numbers mean nothing across containers, so their namespace is part of it."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return socket.gethostname(), f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname(), ""


def _alive(pid: int) -> bool:
    """Whether a process of this number runs on this machine. True where that cannot be found out."""
    if sys.platform == "win32":
        return True  # there os.kill(pid, 0) would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
