"""The file of a cassette: JSON lines, each on its own, so that two recordings can be merged as texts are.

    {"at": 1796017009, "cassette": 1}                              the head: when it was begun, and the format
    {"piece": HASH, "text": …}                                     a piece of requests, once
    {"exchange": KEY, "origin": …, "path": …, "pieces": [HASH, …], a request, and what was answered
     "status": 200, "type": …, "answer": …}
    {"model": …, "facts": {…}}                                     what was known of a model

An exchange that begins as another one has `"as": KEY, "same": n` for the first n pieces, so that the file grows as the
conversation does. Beyond the head order means nothing. Lines are written by one call and are on the disk when `append`
returns; what a killed writer left of a line is taken away by the next one. Answers may be edited by hand, pieces are
checked against their hash. Whoever writes here has scrubbed everything before.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ethang_nb.errors import Misuse, PathRefused
from ethang_nb.providers.cassettes.lines import Answer, Asked, common, digest, packed

__all__ = ["Tape"]

VERSION = 1
END = 64  # ► bytes before the place read up to that tell whether what stands before it is what was read
AGAIN = "take the file from its last commit, or record it anew with ETHANG_CASSETTE=record"
_BOM = b"\xef\xbb\xbf"
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


@dataclass(frozen=True, slots=True)
class _Begun:
    """How a recorded request is put together: the first `same` pieces of another one, then `rest`."""

    base: str
    same: int
    rest: tuple[str, ...]


class Tape:
    """What is in the file at `path`, called `name` in errors; `read` takes in what has come since.

    A file that is not there is an empty one. Raises Misuse for what is no cassette, PathRefused for what cannot be
    read or written; they name the line, or the reason.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._forget()

    def _forget(self) -> None:
        self.at: int | None = None
        """When it was begun, in seconds since the epoch; None: there is nothing in it."""
        self.answers: dict[str, list[Answer]] = {}
        """The answers to each request by its key, in the order of the file."""
        self.facts: dict[str, Mapping[str, Any] | None] = {}
        self.places: dict[str, tuple[str, str]] = {}
        """Origin and path of each request by its key."""
        self._pieces: dict[str, str] = {}
        self._begun: dict[str, _Begun] = {}
        self._wholes: dict[str, tuple[str, ...]] = {}
        self._last: dict[tuple[str, str], str] = {}
        self._file: tuple[int, int] | None = None
        self._offset = self._line = 0
        self._end = b""  # of what is known, to see whether it is still there
        self.torn = False
        """Whether it ends with a part of a line."""

    def read(self) -> None:
        try:
            with self.path.open("rb") as file:
                self._take(file.fileno())
        except (FileNotFoundError, NotADirectoryError):
            self._forget()
        except OSError as error:
            raise PathRefused(f"cassette {self.name} cannot be read: {_why(error)}") from None

    def request(self, key: str) -> Asked | None:
        """The recorded request; None where lines of it are missing."""
        hashes = self._hashes(key)
        if hashes is None or any(item not in self._pieces for item in hashes):
            return None
        return Asked(*self.places[key], tuple(self._pieces[item] for item in hashes))

    def append(
        self, at: int, facts: Mapping[str, Any], asked: Asked | None = None, answer: Answer | None = None
    ) -> None:
        """Records `facts` by model, and an exchange; durable when it returns."""
        try:
            with self._held() as fd:
                self._take(fd)
                size = os.fstat(fd).st_size
                if size > self._offset:  # a part of a line: its writer was killed
                    os.ftruncate(fd, self._offset)
                    size = self._offset
                _write(fd, b"\n" * (not _ends(fd, size)) + self._block(at, facts, asked, answer), size)
                self._take(fd)
        except OSError as error:
            raise PathRefused(f"cassette {self.name} cannot be written: {_why(error)}") from None

    def begin(self, at: int, facts: Mapping[str, Any], asked: Asked, answer: Answer) -> None:
        """The same in a new file, which takes the old one's place once it is on the disk."""
        self.check_ours()
        self._forget()
        block = self._block(at, facts, asked, answer)
        try:
            handle, temporary = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
            try:
                try:
                    _write(handle, block, 0)
                finally:
                    os.close(handle)
                Path(temporary).chmod(0o644)
                Path(temporary).replace(self.path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise PathRefused(f"cassette {self.name} cannot be written: {_why(error)}") from None
        self.read()

    def check_ours(self) -> None:
        """Raises Misuse where the file is something else than a cassette: it must not be overwritten."""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            first = file.readline(4_096).removeprefix(_BOM).strip()
            if first and b'"cassette"' not in first and not first.startswith(_CONFLICT):
                raise self._damaged(1, "no head of a cassette; take another name, or delete the file first")

    @property
    def identity(self) -> tuple[int, int] | None:
        """The file at `path` as the system knows it; None: there is none."""
        with suppress(OSError):
            found = self.path.stat()
            return found.st_dev, found.st_ino
        return None

    # ---- reading

    def _take(self, fd: int) -> None:
        """Takes in the whole lines behind those that are known; all of them where it is another file by now."""
        found = os.fstat(fd)
        if self._file != (found.st_dev, found.st_ino) or found.st_size < self._offset:
            self._forget()
            self._file = found.st_dev, found.st_ino
        with os.fdopen(os.dup(fd), "rb") as file:
            file.seek(self._offset - len(self._end))
            if file.read(len(self._end)) != self._end:  # an editor wrote it anew in its place
                self._forget()
                self._file = found.st_dev, found.st_ino
                file.seek(0)
            new = file.read()
        if not new:
            return
        *lines, rest = new.split(b"\n")
        for line in lines:
            self._row(line, whole=True)
            self._offset += len(line) + 1
        # A last line without its end is one where it is a whole row. What comes behind its end then is the next line.
        self.torn = bool(rest) and not self._row(rest, whole=False)
        if rest and not self.torn:
            self._offset += len(rest)
            self._line -= 1
        known = len(new) - (len(rest) if self.torn else 0)
        self._end = (self._end + new[:known])[-END:]

    def _row(self, line: bytes, *, whole: bool) -> bool:
        """Takes in a line; False where it is not `whole` and no row yet."""
        number = self._line + 1
        row = self._parsed(number, line.removeprefix(_BOM if number == 1 else b"").strip(), whole=whole)
        if row is None:
            return False
        self._line = number
        if row:
            self._put(number, row)
        return True

    def _parsed(self, number: int, text: bytes, *, whole: bool) -> dict[str, Any] | None:
        if not text:
            return {}
        if text.startswith(_CONFLICT):
            raise self._damaged(
                number,
                "a mark of a merge conflict; delete such lines and keep both sides, their order means nothing",
            )
        try:
            row = json.loads(text.decode())
        except (ValueError, RecursionError) as error:
            if not whole:
                return None
            what = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
            raise self._damaged(number, f"{what}; {AGAIN}") from None
        if not isinstance(row, dict):
            raise self._damaged(number, f"no JSON object; {AGAIN}")
        return row

    def _put(self, number: int, row: dict[str, Any]) -> None:
        try:
            if "cassette" in row:
                self._put_head(row)
            elif self.at is None:
                raise self._damaged(
                    number, "no head of a cassette, which stands first in one; give another name"
                )
            elif "piece" in row:
                self._put_piece(number, row["piece"], row["text"])
            elif "exchange" in row:
                self._put_exchange(row)
            elif "model" in row:
                self.facts[row["model"]] = row["facts"] if row["facts"] is None else dict(row["facts"])
            else:
                raise self._damaged(number, f"of no known kind; {AGAIN}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"without {error}" if isinstance(error, KeyError) else "with a value of another kind"
            raise self._damaged(number, f"{what}; {AGAIN}") from None

    def _put_head(self, row: dict[str, Any]) -> None:
        version, at = row["cassette"], row["at"]
        if type(version) is not int or type(at) is not int:
            raise TypeError
        if version > VERSION:
            raise Misuse(
                f"cassette {self.name} was written by a newer ethang_nb (format {version}, this one reads {VERSION}); "
                "update ethang_nb, or record it anew with ETHANG_CASSETTE=record"
            )
        self.at = at if self.at is None else self.at

    def _put_piece(self, number: int, key: str, text: str) -> None:
        if key != digest(text):
            raise self._damaged(
                number, f"a piece of a request that was changed; only answers may be; {AGAIN}"
            )
        self._pieces[key] = text

    def _put_exchange(self, row: dict[str, Any]) -> None:
        key, rest = str(row["exchange"]), tuple(str(item) for item in row["pieces"])
        begun = _Begun(str(row["as"]), int(row["same"]), rest) if "as" in row else _Begun("", 0, rest)
        place = str(row["origin"]), str(row["path"])
        answer = Answer(
            status=int(row["status"]),
            type=str(row["type"]),
            text=str(row["answer"]),
            notes=tuple(str(line) for line in row.get("notes", ())),
        )
        self.answers.setdefault(key, []).append(answer)
        self._begun.setdefault(key, begun)
        self.places[key] = place
        self._last[place] = key

    def _hashes(self, key: str) -> tuple[str, ...] | None:
        """The hashes of all pieces of a recorded request; None where it begins as one that is not there."""
        waiting: dict[str, _Begun] = {}
        while key and key not in self._wholes:
            if key in waiting or key not in self._begun:
                return None
            waiting[key] = self._begun[key]
            key = waiting[key].base
        whole = self._wholes.get(key, ())
        for key, begun in reversed(waiting.items()):
            whole = self._wholes[key] = (*whole[: begun.same], *begun.rest)
        return whole

    def _damaged(self, number: int, what: str) -> Misuse:
        return Misuse(f"cassette {self.name}, line {number}: {what}")

    # ---- writing

    def _block(self, at: int, facts: Mapping[str, Any], asked: Asked | None, answer: Answer | None) -> bytes:
        rows = self._rows(at, facts)
        if asked is not None and answer is not None:
            rows = chain(rows, self._exchange(asked, answer))
        return b"".join(packed(row) + b"\n" for row in rows)

    def _rows(self, at: int, facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if self.at is None:
            yield {"cassette": VERSION, "at": at}
        for model in sorted(facts):
            if model not in self.facts:
                yield {"model": model, "facts": facts[model]}

    def _exchange(self, asked: Asked, answer: Answer) -> Iterator[dict[str, Any]]:
        """What an exchange adds to the file."""
        hashes = asked.hashes
        for key, text in dict(zip(hashes, asked.pieces, strict=True)).items():
            if key not in self._pieces:
                yield {"piece": key, "text": text}
        row: dict[str, Any] = {"exchange": asked.key, "origin": asked.origin, "path": asked.path}
        base = self._last.get((asked.origin, asked.path), "")
        same = common(self._hashes(base) or (), hashes)
        if same:
            row |= {"as": base, "same": same}
        if answer.notes:
            row |= {"notes": list(answer.notes)}
        yield row | {
            "pieces": list(hashes[same:]),
            "status": answer.status,
            "type": answer.type,
            "answer": answer.text,
        }

    @contextmanager
    def _held(self) -> Iterator[int]:
        """The file, open for appending by this writer alone, and still the one at `path`."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        while True:
            fd = os.open(self.path, flags, 0o644)
            try:
                _lock(fd)
                found = os.fstat(fd)
                if (found.st_dev, found.st_ino) == self.identity:
                    yield fd
                    return
            finally:
                os.close(fd)


def _lock(fd: int) -> None:
    """Waits until no other process writes here; it is let go with the file. Windows has no such lock for readers."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX)


def _ends(fd: int, size: int) -> bool:
    """Whether the file ends with the end of a line, or is empty."""
    if not size:
        return True
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1) == b"\n"


def _write(fd: int, block: bytes, size: int) -> None:
    """Writes all of `block` to the disk, or leaves the file at `size` bytes."""
    try:
        left = memoryview(block)
        while left:
            left = left[os.write(fd, left) :]
        os.fsync(fd)
    except OSError:
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _why(error: OSError) -> str:
    return (error.strerror or "it cannot be used").lower()
