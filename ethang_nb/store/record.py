"""The record: the append-only log of a session's events, from which everything else is derived.

An event is on the disk when `append` returns. Nothing is updated in place. Beside the events lie the pieces
that requests were made of (`pieces`) and the texts that can be searched (`texts`).
"""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from typing import Any, Self

from ethang_nb.clock import Clock, SystemClock
from ethang_nb.context.address import logged
from ethang_nb.context.messages import clean
from ethang_nb.errors import EthangError, Misuse, NoSuchAddress, RecordDamaged, RecordUnwritable, Unknown
from ethang_nb.store import database
from ethang_nb.store.aside import take, take_afresh
from ethang_nb.store.lease import BEAT, Holder, Lease
from ethang_nb.store.pieces import Pieces, digest
from ethang_nb.store.texts import Hit, Texts

__all__ = ["FILE", "Event", "Record", "SessionRow", "sessions"]

FILE = "ethang.db"
_CLOCK = SystemClock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened: its number in the session (from 1, no gaps), kind, data, seconds since the epoch."""

    seq: int
    kind: str
    data: dict[str, Any]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session of a project folder.

    `created` and `last` (its last event, None where it has none) in seconds since the epoch; `running` says
    whether a living process has it open for writing; `bytes` is what its events and pieces take.
    """

    name: str
    events: int
    created: float
    last: float | None
    running: bool
    bytes: int


class Record:
    """A session's record. `Record.open` makes or opens one; a context manager, and safe to use from threads."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, name: str, *, clock: Clock, lease: Lease | None
    ) -> None:
        self.path, self.name = path, name
        self._identity = database.identity(path)
        self._connection, self._clock, self._lease = connection, clock, lease
        self._session = _number(connection, name)
        self._pieces = Pieces(connection, path, self._session)
        self._texts = Texts(connection, self._session, self._pieces)
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._pid = getpid()

    @classmethod
    def open(
        cls,
        root: Path | str | None,
        session: str,
        *,
        clock: Clock = _CLOCK,
        beats: Clock | None = None,
        write: bool = True,
        fresh: bool = False,
    ) -> Record:
        """The record of `session` in the project folder `root`.

        For writing it is made where it is missing, and held until `close`: SessionHeld where another process,
        or this one, has it. For reading (`write=False`) it sees every event as it is committed; Unknown where
        there is no such session. `fresh`: with nothing in it; an earlier record of that name is set aside whole under
        the next free one, `NAME~1`. Raises RecordFault for a file that cannot be used.

        `clock` dates the events, and may stand still; `beats` is the one of the lease, which must not (None: the same).
        """
        name = clean(session).strip()
        if not name:
            raise Misuse("a session needs a name; give one that is not blank")
        folder = database.home(root)
        path = (database.prepare(folder) if write else folder) / FILE
        connection = database.connect(path, write=write)
        try:
            with database.faults(path):
                lease: Lease | None = None
                if write and fresh:
                    lease = take_afresh(connection, root, path, name, clock, beats or clock)
                elif write:
                    lease = take(connection, path, name, clock, beats or clock)
                _check(connection, path, name)
                record = cls(connection, path, name, clock=clock, lease=lease)
        except BaseException:
            connection.close()
            raise
        if lease is not None:
            _Heartbeat(record, record._closed).start()
        return record

    def append(self, kind: str, data: dict[str, Any], *, text: str | None = None, address: str = "") -> Event:
        """Records an event in its own transaction; it is durable when this returns.

        `text` and `address` make its text searchable in the same transaction (see `index`). Raises Misuse for
        data that is not JSON, SessionHeld where another writer took over, RecordUnwritable.
        """
        packed = _packed(kind, data)
        with self._writing():
            seq, at = self._last() + 1, self._clock.now()
            self._connection.execute(
                "INSERT INTO event (session, seq, kind, at, size, data) VALUES (?, ?, ?, ?, ?, ?)",
                (self._session, seq, clean(kind), at, len(packed.encode()), packed),
            )
            if text is not None:
                self._texts.add(seq, text, address)
        return Event(seq=seq, kind=clean(kind), data=json.loads(packed), at=at)

    @property
    def last(self) -> int:
        """The number of the last event, 0 where there is none."""
        with self._reading():
            return self._last()

    def events(self, *, after: int = 0, kinds: Collection[str] | None = None) -> tuple[Event, ...]:
        """The events with a number over `after`, in order; only of `kinds` where given."""
        sql = "SELECT seq, kind, data, at FROM event WHERE session = ? AND seq > ?"
        wanted = list(kinds or ())
        if kinds is not None:
            sql += f" AND kind IN ({', '.join('?' * len(wanted))})"
        with self._reading():
            rows = self._connection.execute(f"{sql} ORDER BY seq", (self._session, after, *wanted)).fetchall()
        return tuple(self._event(row) for row in rows)

    def event(self, seq: int) -> Event:
        """Event `seq`. Raises NoSuchAddress."""
        sql = "SELECT seq, kind, data, at FROM event WHERE session = ? AND seq = ?"
        with self._reading():
            row = self._connection.execute(sql, (self._session, seq)).fetchone()
            if row is None:
                raise self._no_event(seq)
        return self._event(row)

    def keep(self, pieces: Sequence[bytes]) -> tuple[str, ...]:
        """Stores each piece once and gives back their keys in order; durable when it returns.

        A key is the start of the piece's sha256 and holds in this session. A piece seen before costs a hash.
        """
        hashed = [(digest(piece), piece) for piece in pieces]
        with self._reading():
            if self._pieces.stored(hashed):
                return self._pieces.keep(hashed)
            with self._writing():
                return self._pieces.keep(hashed)

    def body(self, keys: Sequence[str]) -> bytes:
        """The pieces with these keys, joined. Raises NoSuchAddress, or RecordDamaged where their bytes changed."""
        with self._reading():
            found = {key: self._pieces.read(key) for key in dict.fromkeys(keys)}
        return b"".join(found[key] for key in keys)

    def index(self, seq: int, text: str, address: str = "") -> None:
        """Says which text event `seq` holds and where it can be read again (`log://<seq>` unless given).

        Give the whole text, not what a cut left of it. Said again in the same words it changes nothing; in
        other words it is Misuse. NoSuchAddress where there is no such event.
        """
        with self._writing():
            if not 1 <= seq <= self._last():
                raise self._no_event(seq)
            self._texts.add(seq, text, address)

    def text(self, seq: int) -> str:
        """The text that event `seq` was indexed with. Raises NoSuchAddress."""
        with self._reading():
            text = self._texts.read(seq)
            if text is not None:
                return text
            if 1 <= seq <= self._last():
                raise NoSuchAddress(f"{logged(seq)} is an event without a text of its own")
            raise self._no_event(seq)

    def find(self, query: str, limit: int) -> tuple[Hit, ...]:
        """The up to `limit` recorded lines that fit the plain-text query best; equals in the order of the record.

        A line that was read at one address several times is one hit. Where its text differed then, the newest
        has the address and the older ones stand under `log://`. Long lines are shown around the word found.
        """
        with self._reading():
            return self._texts.find(query, limit)

    def beat(self) -> None:
        """A heartbeat, so that an idle session stays held. A failure shows at the next append."""
        with self._lock, suppress(EthangError, sqlite3.Error):
            if self._lease is not None:
                with database.transaction(self._connection, self.path):
                    self._lease.beat()

    def close(self) -> None:
        """Gives the session free. Closing again does nothing."""
        self._closed.set()
        # SQLite's connections do not survive a fork, and the lease is the parent's.
        if self._pid != getpid():
            return
        with self._lock:
            lease, self._lease = self._lease, None
            if lease is not None:
                # What cannot be released now is stale in half a minute.
                with suppress(EthangError, sqlite3.Error), database.transaction(self._connection, self.path):
                    lease.release()
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_pid") and not self._closed.is_set():
            self.close()

    def __repr__(self) -> str:
        return f"Record({self.name!r}, {'closed' if self._closed.is_set() else f'{self.last} events'})"

    @contextmanager
    def _reading(self) -> Iterator[None]:
        if self._pid != getpid():
            raise Misuse(
                f"the record of session {self.name!r} was opened by process {self._pid}, which this one was forked"
                " from; open it here"
            )
        with self._lock, database.faults(self.path):
            if self._closed.is_set():
                raise Misuse(f"the record of session {self.name!r} is closed; open it again")
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._reading():
            if self._lease is None:
                raise RecordUnwritable(f"session {self.name!r} is open for reading only; open it for writing")
            if database.identity(self.path) != self._identity:
                raise RecordUnwritable(
                    f"{self.path} was deleted or replaced while session {self.name!r} is open; what it wrote since "
                    f"would be lost. Put the file back, or close the session and start another"
                )
            try:
                with database.transaction(self._connection, self.path):
                    self._lease.check()
                    yield
            except BaseException:
                self._pieces.forget()
                raise

    def _last(self) -> int:
        sql = "SELECT max(seq) FROM event WHERE session = ?"
        return int(self._connection.execute(sql, (self._session,)).fetchone()[0] or 0)

    def _event(self, row: tuple[int, str, str, float]) -> Event:
        seq, kind, data, at = row
        try:
            return Event(seq=seq, kind=kind, data=json.loads(data), at=at)
        except ValueError as error:
            raise RecordDamaged(
                f"{self.path}: event {seq} of session {self.name!r} is not JSON; restore the file from a copy, or"
                " take another session name"
            ) from error

    def _no_event(self, seq: int) -> NoSuchAddress:
        last = self._last()
        has = f"events 1 to {last}" if last else "no events yet"
        return NoSuchAddress(f"{logged(seq)} is not in the record of session {self.name!r}, which has {has}")


class _Heartbeat(threading.Thread):
    """Beats for an open record, and ends with it: also when it is forgotten without being closed."""

    def __init__(self, record: Record, closed: threading.Event) -> None:
        super().__init__(name=f"ethang heartbeat {record.name}", daemon=True)
        self._record, self._closed = weakref.ref(record), closed

    def run(self) -> None:
        while not self._closed.wait(BEAT):
            if (record := self._record()) is None:
                return
            record.beat()
            del record


def sessions(root: Path | str | None = None, *, clock: Clock = _CLOCK) -> tuple[SessionRow, ...]:
    """The sessions of a project folder, the one used last first. Raises RecordFault."""
    path = database.home(root) / FILE
    connection = database.connect(path, write=False)
    try:
        with database.faults(path):
            rows = connection.execute(
                """SELECT id, name, created, count(event.seq), max(event.at), coalesce(sum(event.size), 0)
                    + (SELECT coalesce(sum(length(data)), 0) FROM piece WHERE piece.session = session.id)
                    FROM session LEFT JOIN event ON event.session = session.id
                    GROUP BY id ORDER BY coalesce(max(event.at), created) DESC, name"""
            ).fetchall()
            holders = {row[0]: Holder.of(connection, row[0]) for row in rows}
    finally:
        connection.close()
    now = clock.now()
    return tuple(
        SessionRow(
            name=name, events=events, created=created, last=last, bytes=size,
            running=(holder := holders[number]) is not None and not holder.stale(now),
        )
        for number, name, created, events, last, size in rows
    )  # fmt: skip


def _number(connection: sqlite3.Connection, name: str) -> int:
    """The session's number in the file. Raises Unknown."""
    known = dict(connection.execute("SELECT name, id FROM session ORDER BY name"))
    if name not in known:
        raise Unknown("session", name, known)
    return int(known[name])


def _check(connection: sqlite3.Connection, path: Path, name: str) -> None:
    """Raises RecordDamaged where events are missing in the middle."""
    count, low, high = connection.execute(
        "SELECT count(*), min(seq), max(seq) FROM event WHERE session = ?", (_number(connection, name),)
    ).fetchone()
    if count and (low, high) != (1, count):
        raise RecordDamaged(
            f"{path}: session {name!r} has {count} events numbered {low} to {high}, so some are missing; restore the"
            " file from a copy, or take another session name"
        )


def _packed(kind: str, data: dict[str, Any]) -> str:
    """Canonical JSON. A lone surrogate is JSON but not UTF-8: with one in it, all text is written in escapes."""
    try:
        text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if clean(text) != text:
            text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Misuse(f"the data of an event {kind!r} is not JSON: {error}") from error
    return text
