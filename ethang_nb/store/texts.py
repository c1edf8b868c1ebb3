"""Texts: what the events of a session say, searchable line by line, each line with the address to read it at.

Used inside the record's transactions and under its lock.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from dataclasses import dataclass

from ethang_nb.context.address import logged, parse
from ethang_nb.context.messages import clean
from ethang_nb.errors import Misuse
from ethang_nb.store.pieces import Pieces, digest
from ethang_nb.store.search import content_words, indexable, match, rank

__all__ = ["Hit", "Texts"]

_CANDIDATE_LINES = 50_000  # ► lines that one search compares
_LINE_SHOWN = 400  # ► characters of a line that a hit shows
_BEFORE_HIT = 100  # ► of them, before the first word found
_HEADER_LINES = re.compile(r" lines? (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line that matches a query: the address it can be read at, its text, the event that holds it."""

    address: str
    text: str
    seq: int


class Texts:
    """The indexed texts of one session."""

    def __init__(self, connection: sqlite3.Connection, session: int, pieces: Pieces) -> None:
        self._connection, self._session, self._pieces = connection, session, pieces

    def add(self, seq: int, text: str, address: str) -> None:
        """Indexes the text of event `seq`. Raises Misuse where that event already holds another one."""
        text, address = clean(text), clean(address) or str(logged(seq))
        data = text.encode()
        (key,) = self._pieces.keep([(digest(data), data)])
        held = self._connection.execute(
            "SELECT address, piece FROM text WHERE session = ? AND seq = ?", (self._session, seq)
        ).fetchone()
        if held is not None:
            if held != (address, key):
                raise Misuse(f"{logged(seq)} already holds another text; what is recorded is never changed")
            return
        added = self._connection.execute(
            "INSERT INTO text (session, seq, address, piece) VALUES (?, ?, ?, ?)",
            (self._session, seq, address, key),
        )
        self._connection.execute(
            "INSERT INTO word (rowid, text) VALUES (?, ?)", (added.lastrowid, indexable(text))
        )

    def read(self, seq: int) -> str | None:
        """The text of event `seq`, None where it has none."""
        sql = "SELECT piece FROM text WHERE session = ? AND seq = ?"
        row = self._connection.execute(sql, (self._session, seq)).fetchone()
        return None if row is None else self._pieces.read(row[0]).decode()

    def find(self, query: str, limit: int) -> tuple[Hit, ...]:
        lines = self._candidates(query)
        ranked = rank([line.text for line in lines], query, limit)
        return tuple(
            Hit(address=line.address, text=_excerpt(line.text, query), seq=line.seq)
            for line in (lines[item.index] for item in ranked)
        )

    def _candidates(self, query: str) -> list[_Line]:
        """The lines of the texts with most of the query's words, of equals the newest, in the record's order.

        Other sessions in the file have no say in it, so the same session gives the same answer.
        """
        found = Counter[tuple[int, str, str]]()
        for word in content_words(query):
            found.update(
                self._connection.execute(
                    "SELECT seq, address, piece FROM word JOIN text ON text.id = word.rowid"
                    " WHERE word MATCH ? AND session = ?",
                    (match(word), self._session),
                )
            )
        lines: list[list[_Line]] = []
        room = _CANDIDATE_LINES
        for seq, address, key in sorted(found, key=lambda row: (-found[row], -row[0])):
            if room > 0:
                lines.append(_lines(seq, address, self._pieces.read(key).decode()))
                room -= len(lines[-1])
        return _once([line for text in sorted(lines, key=lambda of: of[0].seq) for line in text])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of a recorded text: its address, and the one in the record that no later change can touch."""

    address: str
    logged: str
    text: str
    seq: int


def _lines(seq: int, address: str, text: str) -> list[_Line]:
    """The lines that are not blank. A page's header line (`[address …`) is no line of the text it names."""
    place, lines = parse(address), text.split("\n")
    base, first = (address, 1) if place is None else (place.base, place.first or 1)
    header = lines[0] if lines[0].startswith(f"[{address}") else ""
    if header and (shown := _HEADER_LINES.match(header, len(address) + 1)):
        first += int(shown[1]) - 1
    record = str(logged(seq))
    return [
        _Line(
            # Written out, not made as values: one search may compare 50,000 lines.
            address=f"{base}#L{first + number - bool(header)}",
            logged=f"{record}#L{number + 1}",
            text=line.rstrip("\r"),
            seq=seq,
        )
        for number, line in enumerate(lines)
        if line.strip() and not (header and number == 0)
    ]


def _once(lines: list[_Line]) -> list[_Line]:
    """Each line of each place once, as it was recorded last; an older wording is named by its place in the log."""
    newest = {line.address: line.text for line in lines}
    last = {(line.address, line.text): line for line in lines}
    return [
        line
        if newest[line.address] == line.text
        else _Line(address=line.logged, logged=line.logged, text=line.text, seq=line.seq)
        for line in lines
        if last[line.address, line.text] is line
    ]


def _excerpt(line: str, query: str) -> str:
    """The line, or of a long one the part around the first of the query's words in it."""
    if len(line) <= _LINE_SHOWN:
        return line
    lower = line.lower()
    places = [place for word in content_words(query) if (place := lower.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - _BEFORE_HIT, len(line) - _LINE_SHOWN))
    end = start + _LINE_SHOWN
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
