"""The SQLite file of a project folder: where it lies, how it is opened, and what its faults are called.

A database is opened with WAL and `synchronous=FULL` (a DELETE journal where the folder is on a network or is
synced), its schema is brought up to date one version a transaction, and every SQLite error becomes one of
ours that names the file and the next step. A file is never deleted here, whatever is wrong with it.
"""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ethang_nb.errors import EthangError, Missing, RecordDamaged, RecordNewer, RecordUnwritable
from ethang_nb.store.journal_mode import journal_mode

__all__ = [
    "connect",
    "faults",
    "home",
    "identity",
    "prepare",
    "set_aside",
    "transaction",
]

PATIENCE = 5.0  # ► seconds a writer waits for another one

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE session (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created REAL NOT NULL)",
        """CREATE TABLE lease (
            session INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,
            token TEXT NOT NULL, host TEXT NOT NULL, boot TEXT NOT NULL, pid INTEGER NOT NULL,
            heartbeat REAL NOT NULL)""",
        # `data` stands last: a row's other columns are then read without its overflow pages.
        """CREATE TABLE event (
            session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
            seq INTEGER NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, size INTEGER NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (session, seq))""",
        """CREATE TRIGGER event_is_final BEFORE UPDATE ON event
            BEGIN SELECT RAISE(ABORT, 'events are appended, never updated'); END""",
        """CREATE TABLE piece (
            session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
            key TEXT NOT NULL, digest BLOB NOT NULL, packed INTEGER NOT NULL, data BLOB NOT NULL,
            PRIMARY KEY (session, key))""",
        """CREATE TABLE text (
            id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,
            address TEXT NOT NULL, piece TEXT NOT NULL,
            UNIQUE (session, seq),
            FOREIGN KEY (session, seq) REFERENCES event ON DELETE CASCADE,
            FOREIGN KEY (session, piece) REFERENCES piece)""",
        """CREATE VIRTUAL TABLE word USING fts5(
            text, content='', tokenize='porter unicode61 remove_diacritics 2')""",
    ),
)
"""The record's schema: one entry a version, each a list of statements. Append to it, never change an entry."""

# SQLite's primary result codes, by what a person can do about them.
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_FOREIGN = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_SCHEMA}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and go on",
    sqlite3.SQLITE_READONLY: "it is read-only; make it writable, or set ETHANG_HOME to a folder that is",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the folder's rights, or set ETHANG_HOME to another one",
    sqlite3.SQLITE_PERM: "access is refused; check the file's rights, or set ETHANG_HOME to another folder",
    sqlite3.SQLITE_AUTH: "access is refused; check the file's rights, or set ETHANG_HOME to another folder",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write; check it, or set ETHANG_HOME to another one",
}


def home(root: Path | str | None = None) -> Path:
    """The folder of the record: `.ethang` in `root` (the current folder), or where ETHANG_HOME says. Makes nothing."""
    moved = os.environ.get("ETHANG_HOME", "").strip()
    if moved:
        return Path(moved).expanduser().absolute()
    return Path(root if root is not None else Path.cwd()).absolute() / ".ethang"


def prepare(folder: Path) -> Path:
    """Makes the folder with a `.gitignore` that keeps all of it out of git. Raises RecordUnwritable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        text = f"{folder} cannot be made ({error.strerror}); check its rights, or set ETHANG_HOME to another folder"
        raise RecordUnwritable(text) from error
    return folder


def connect(
    path: Path, *, write: bool = True, steps: Sequence[Sequence[str]] = STEPS, patience: float = PATIENCE
) -> sqlite3.Connection:
    """An open connection in autocommit mode whose schema is that of `steps`.

    For reading only, a file that is missing or empty reads as an empty database and is not made. Raises
    RecordDamaged, RecordNewer, RecordUnwritable, or Missing where this Python's SQLite has no FTS5.
    """
    _need_fts5()
    if not write and not _has_content(path):
        return _empty(steps)
    with faults(path):
        connection = _open(path, write=write, patience=patience)
        try:
            _check_version(connection, path, len(steps), write=write)
            if write:
                _set_up(connection, path)
                _migrate(connection, path, steps)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """All or nothing, durable on leaving. The write lock is taken at once, so that waiting happens here."""
    with faults(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself after some errors (a full disk).
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Gives SQLite's errors our names. Text: the file, what is wrong, the next step."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        _raise_named(path, error)


def identity(path: Path) -> tuple[int, int] | None:
    """What tells the file at `path` from another that takes its place; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path) -> Path:
    """Renames a damaged database, its journal with it, so that a new one can be made; gives back the new name.

    For a person to call; nothing here does so by itself.
    """
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(aside)
    for suffix in ("-wal", "-shm", "-journal"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + suffix))
    return aside


@functools.cache
def _need_fts5() -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.Error as error:
        raise Missing(
            f"this Python's SQLite {sqlite3.sqlite_version} has no FTS5, which the record is searched with;"
            " use a Python whose sqlite3 has it (python.org, conda-forge, uv)"
        ) from error
    finally:
        connection.close()


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _empty(steps: Sequence[Sequence[str]]) -> sqlite3.Connection:
    path = Path(":memory:")
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    _migrate(connection, path, steps)
    return connection


def _open(path: Path, *, write: bool, patience: float) -> sqlite3.Connection:
    """The bare connection; the first statement that reads the file has run."""
    address = path.absolute().as_uri()
    if write:
        return _first_read(f"{address}?mode=rwc", patience)
    try:
        return _first_read(f"{address}?mode=ro", patience)
    except sqlite3.OperationalError as error:
        # Beside a WAL database SQLite makes a file even to read it. Where it may not, a finished one can be read.
        if _code(error) not in _UNWRITABLE or _has_content(path.with_name(path.name + "-wal")):
            raise
        return _first_read(f"{address}?mode=ro&immutable=1", patience)


def _first_read(uri: str, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, path: Path, known: int, *, write: bool) -> None:
    version = _version(connection)
    if version > known:
        raise RecordNewer(
            f"{path} was written by a newer ethang_nb (its version is {version}, this one knows {known}); upgrade"
            " ethang_nb"
        )
    if version < known and not write:
        raise RecordUnwritable(
            f"{path} was made by an older ethang_nb (its version is {version}, this one reads {known}); open a"
            " session of it once for writing, which brings it up to date"
        )


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    wanted = journal_mode(path).mode.lower()
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != wanted:
        try:
            connection.execute(f"PRAGMA journal_mode = {wanted}")
        except sqlite3.OperationalError as error:
            # Another connection is in it, and it chose the journal as we would.
            if _code(error) not in _LOCKED:
                raise
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # only macOS knows the difference
    connection.execute("PRAGMA foreign_keys = ON")


def _migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[Sequence[str]]) -> None:
    while _version(connection) < len(steps):
        with transaction(connection, path):
            # Another process may have taken this very step while we waited for the lock.
            if (version := _version(connection)) < len(steps):
                for statement in steps[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _code(error: sqlite3.Error) -> int:
    """The primary result code; 255 where the error is the Python module's and not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF


def _raise_named(path: Path, error: sqlite3.DatabaseError) -> NoReturn:
    code = _code(error)
    named: EthangError
    if code in _DAMAGED:
        named = RecordDamaged(
            f"{path} is damaged or not a database ({error}); nothing was changed: restore it from a copy, or"
            " rename it and start a new one"
        )
    elif code in _LOCKED:
        named = RecordUnwritable(
            f"{path} is locked by another program ({error}); close that one and try again, nothing was lost"
        )
    elif code in _UNWRITABLE:
        named = RecordUnwritable(f"{path}: {_UNWRITABLE[code]} ({error})")
    elif code in _FOREIGN:
        named = RecordDamaged(
            f"{path} is not what this ethang_nb expects ({error}); nothing was changed: restore it from a copy, or"
            " rename it and start a new one"
        )
    else:
        raise error
    raise named from error
