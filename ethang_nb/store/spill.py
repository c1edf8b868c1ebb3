"""Spilled text: whole outputs on disk under the hash of their content, and the notice that stands for one.

A reference names its content and nothing else: no tool name, call id or user text ever becomes a path. Text
is stored as it may be sent (`clean`), and what is read is checked against its hash first.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ethang_nb.context.address import Address, parse
from ethang_nb.context.messages import clean
from ethang_nb.errors import NoSuchAddress, RecordUnwritable
from ethang_nb.store.database import home
from ethang_nb.store.page import LINES, PAGE, page

__all__ = ["HEAD", "SpillStore", "share", "spill_folder"]

HEAD = 600  # ► characters of the beginning that a notice shows; seed 002
_LENGTHS = (12, 24, 64)  # hex digits of a reference: the first at which no other content is in the way
_CHUNK = 1 << 20
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")


def spill_folder(root: Path | str | None, session: str) -> Path:
    """Where a session's spilled text lies: `.ethang/spill/<session>`, the name made harmless where it is not."""
    name = session
    if not _PLAIN_NAME.fullmatch(session) or session.endswith("."):
        digest = hashlib.sha256(clean(session).encode()).hexdigest()[:8]
        name = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', session)[:60].strip('-')}-{digest}".lstrip("-")
    return home(root) / "spill" / name


def share(source: Path, target: Path) -> None:
    """Makes every text that is kept in `source` available in `target`, too, by a link where the disk has links.

    A text is there whole or not at all, and on the disk when this returns. Raises RecordUnwritable.
    """
    texts = sorted(source.glob("*.txt")) if source.is_dir() else []
    try:
        for path in texts:
            target.mkdir(parents=True, exist_ok=True)
            _put(path, target / path.name)
        if texts:
            _settle(target)
    except OSError as error:
        raise RecordUnwritable(
            f"{target} cannot be written ({error.strerror}); free some space or check its rights"
        ) from error


class SpillStore:
    """The spilled texts in `folder`, which is made with the first of them.

    `limit` is the most characters that `read` gives at once, its header included; keep it below the size at
    which results are spilled, and a page is never spilled again.
    """

    def __init__(self, folder: Path | str, *, limit: int = PAGE) -> None:
        self.folder = Path(folder)
        self.limit = limit

    def spill(self, tool: str, text: str) -> str:
        """Keeps `text` and gives back the notice that enters the context: size, reference, head, how to read on."""
        text = clean(text)
        ref = self.keep(text)
        lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
        name = " ".join(clean(tool).split())[:60] or "the tool"
        says = (
            f"{name} returned {_many(len(text), 'character')}, {_many(lines, 'line')}; all of it is at {ref}"
        )
        if len(text) <= HEAD:
            return f"[{says}]\n{text}\n[end of the text]"
        head = text[:HEAD]
        begun, column = head.count("\n") + 1, HEAD - (head.rfind("\n") + 1) + 1
        return (
            f"[{says}; its first {HEAD} characters:]\n{head}\n[{len(text) - HEAD:,} characters left out here; read"
            f" them with read_spill, ref={ref}#L{begun}C{column}, or any lines with ref={ref}, start and end]"
        )

    def keep(self, text: str) -> str:
        """Stores `text` once and gives back its reference, `spill://` and 12 hex digits of its sha256.

        Durable when it returns. Raises RecordUnwritable.
        """
        data = clean(text).encode()
        digest = hashlib.sha256(data).hexdigest()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for length in _LENGTHS:
                path = self._path(digest[:length])
                held = _digest(path) if path.is_file() else ""
                if held == digest:
                    break
                # A file that no longer fits its own name was changed; the text at hand is what belongs there.
                if not held.startswith(digest[:length]):
                    _write(path, data)
                    break
        except OSError as error:
            raise RecordUnwritable(
                f"{self.folder} cannot be written ({error.strerror}); free some space or check its rights"
            ) from error
        return str(Address(scheme="spill", place=digest[:length]))

    def read(self, ref: str, start: int = 1, end: int = LINES) -> str:
        """Lines `start` to `end` under a header that says where they stand and how to read on (see `page`).

        A place in the reference (`spill://…#L12`, `#L12-40`, `#L1C16001`) counts where `start` is 1. Raises
        NoSuchAddress where there is no such text, or it was changed since.
        """
        place = parse(ref)
        if place is None or place.scheme != "spill":
            raise NoSuchAddress(f"{_short(ref)} is no spill reference; one looks like spill://0123456789ab")
        path = self._path(place.place)
        if not path.is_file():
            raise NoSuchAddress(
                f"nothing is kept at {_short(place.base)}; it was deleted, or is another session's"
            )
        character = 1
        if place.first is not None and start == 1:
            start, end, character = place.first, place.last or 0, place.character or 1
        try:
            reading = _Reading(path)
            shown = page(place.base, reading, start, end, character=character, limit=self.limit)
        except OSError as error:
            raise NoSuchAddress(f"{place.base} cannot be read ({error.strerror})") from error
        if not reading.digest.startswith(place.place):
            raise NoSuchAddress(
                f"the text at {place.base} was changed on disk since it was kept ({path.name} has another hash)"
            )
        return shown

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.txt"

    def __repr__(self) -> str:
        return f"SpillStore({self.folder.name!r})"


class _Reading:
    """The text of a file, a chunk at a time; `digest` is the hash of what was read, complete at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.digest = ""

    def __iter__(self) -> Iterator[str]:
        digest = hashlib.sha256()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with self._path.open("rb") as file:
            while data := file.read(_CHUNK):
                digest.update(data)
                yield decoder.decode(data)
        yield decoder.decode(b"", final=True)
        self.digest = digest.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, and on the disk when it returns."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _settle(path.parent)


def _put(path: Path, target: Path) -> None:
    """The file of `path` as `target`, in place of what is there; a copy where no link can be made."""
    if target.exists() and path.samefile(target):
        return
    new = target.with_name(f".{target.name}.link")
    new.unlink(missing_ok=True)
    try:
        os.link(path, new)
    except OSError:
        _write(target, path.read_bytes())
    else:
        new.replace(target)


def _settle(folder: Path) -> None:
    """What was made in a folder is on the disk when this returns."""
    with suppress(OSError):  # Windows has no handle on a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _short(text: str) -> str:
    text = clean(text)
    return repr(text if len(text) <= 60 else text[:59] + "…")
