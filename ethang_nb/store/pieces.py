"""Pieces: bytes stored once per session under the start of their hash, so that repeating one costs nothing.

Used inside the record's transactions and under its lock.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ethang_nb.errors import NoSuchAddress, RecordDamaged

__all__ = ["Hashed", "Pieces", "digest"]

Hashed = tuple[bytes, bytes]
"""A piece with its digest before it."""

_KEY_DIGITS = 16  # ► hex digits of a key; all 64 where another piece is in the way
_PACK_FROM = 256  # ► bytes below which compressing is not tried


class Pieces:
    """The pieces of one session. Its one writer remembers which are stored, so asking again needs no disk."""

    def __init__(self, connection: sqlite3.Connection, path: Path, session: int) -> None:
        self._connection, self._path, self._session = connection, path, session
        self._stored: dict[bytes, str] | None = None

    def known(self) -> dict[bytes, str]:
        """Digest -> key of every stored piece."""
        if self._stored is None:
            sql = "SELECT digest, key FROM piece WHERE session = ?"
            self._stored = dict(self._connection.execute(sql, (self._session,)).fetchall())
        return self._stored

    def forget(self) -> None:
        """After a transaction that failed: what is stored is to be read again."""
        self._stored = None

    def stored(self, pieces: Iterable[Hashed]) -> bool:
        """Whether all of them are stored already."""
        known = self.known()
        return all(of in known for of, _ in pieces)

    def keep(self, pieces: Iterable[Hashed]) -> tuple[str, ...]:
        """Stores those that are not stored yet; the keys of all, in order."""
        return tuple(self._keep(of, piece) for of, piece in pieces)

    def read(self, key: str) -> bytes:
        """The piece with this key. Raises NoSuchAddress, or RecordDamaged where its bytes have another hash."""
        sql = "SELECT digest, packed, data FROM piece WHERE session = ? AND key = ?"
        row = self._connection.execute(sql, (self._session, key)).fetchone()
        if row is None:
            raise NoSuchAddress(f"this session's record has no piece {key!r}")
        of, packed, data = row
        with suppress(zlib.error):
            piece: bytes = zlib.decompress(data) if packed else data
            if digest(piece) == of:
                return piece
        raise RecordDamaged(f"{self._path}: piece {key} is not what was stored; restore the file from a copy")

    def _keep(self, of: bytes, piece: bytes) -> str:
        known = self.known()
        if of in known:
            return known[of]
        key = of.hex()[:_KEY_DIGITS]
        taken = self._connection.execute(
            "SELECT 1 FROM piece WHERE session = ? AND key = ?", (self._session, key)
        ).fetchone()
        if taken:
            key = of.hex()
        packed = zlib.compress(piece) if len(piece) >= _PACK_FROM else piece
        pays = len(packed) < len(piece)
        self._connection.execute(
            "INSERT INTO piece (session, key, digest, packed, data) VALUES (?, ?, ?, ?, ?)",
            (self._session, key, of, pays, packed if pays else piece),
        )
        known[of] = key
        return key


def digest(piece: bytes) -> bytes:
    """What a piece is known by: its sha256."""
    return hashlib.sha256(piece).digest()
