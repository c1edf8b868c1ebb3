"""Beginning afresh: a session whose record is empty again, while the earlier one stays whole under another name.

The earlier record gets the next free name (`NAME~1`, `NAME~2` …): one row is renamed, in the transaction that makes the
new session and takes its lease. What it spilled is to be had under the new name before that, so whatever ends the
process in between, nothing is lost and no name points nowhere.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from itertools import count
from pathlib import Path

from ethang_nb.clock import Clock
from ethang_nb.errors import EthangError
from ethang_nb.store import database
from ethang_nb.store.lease import Lease
from ethang_nb.store.spill import share, spill_folder

__all__ = ["take", "take_afresh"]

_ASIDE = re.compile(r"~[1-9][0-9]*\Z")


def take(connection: sqlite3.Connection, path: Path, name: str, clock: Clock, beats: Clock) -> Lease:
    """Makes the session where it is missing, and takes its lease. Raises SessionHeld."""
    with database.transaction(connection, path):
        return _taken(connection, name, clock, beats)


def take_afresh(
    connection: sqlite3.Connection, root: Path | str | None, path: Path, name: str, clock: Clock, beats: Clock
) -> Lease:
    """The same with an empty record; one that has events is set aside. After SessionHeld nothing has moved."""
    lease = take(
        connection, path, name, clock, beats
    )  # from here on nobody else writes what is to be set aside
    try:
        while _has_events(connection, name):
            aside = _free(connection, name)
            share(spill_folder(root, name), spill_folder(root, aside))
            with database.transaction(connection, path):
                lease.check()
                if aside in _names(connection):  # somebody called a session so in this very moment
                    continue
                lease.release()
                connection.execute("UPDATE session SET name = ? WHERE name = ?", (aside, name))
                taken = _taken(connection, name, clock, beats)
            lease = taken
    except BaseException:
        with suppress(EthangError, sqlite3.Error), database.transaction(connection, path):
            lease.release()
        raise
    return lease


def _taken(connection: sqlite3.Connection, name: str, clock: Clock, beats: Clock) -> Lease:
    connection.execute("INSERT OR IGNORE INTO session (name, created) VALUES (?, ?)", (name, clock.now()))
    lease = Lease(connection, _names(connection)[name], name, beats)
    lease.take()
    return lease


def _free(connection: sqlite3.Connection, name: str) -> str:
    """The next free name for a record that is set aside; one that has such a name already gets another number."""
    taken, base = _names(connection), _ASIDE.sub("", name) or name
    return next(aside for number in count(1) if (aside := f"{base}~{number}") not in taken)


def _names(connection: sqlite3.Connection) -> dict[str, int]:
    """Every session's number in the file, by name."""
    return dict(connection.execute("SELECT name, id FROM session"))


def _has_events(connection: sqlite3.Connection, name: str) -> bool:
    sql = "SELECT 1 FROM event JOIN session ON session.id = event.session WHERE name = ? LIMIT 1"
    return connection.execute(sql, (name,)).fetchone() is not None
