"""Lesson: documents to read, the folder they belong in, and the task over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ethang_nb.errors import PathRefused

__all__ = ["Lesson", "put"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """`folder` is relative to the root that an agent may read; `texts` gives the documents by file name."""

    folder: str
    task: str
    texts: Callable[[], Mapping[str, str]]

    def write(self, root: Path) -> tuple[Path, ...]:
        """Writes the documents to their folder in `root`. Raises PathRefused."""
        return put(root / self.folder, self.texts())


def put(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Writes each text under its name; the folder is made where it is missing. Raises PathRefused."""
    files = tuple(folder / name for name in texts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in zip(files, texts.values(), strict=True):
            # Line feeds on every system, so that line numbers, hashes and addresses agree.
            file.write_bytes(text.encode())
    except OSError as error:
        raise PathRefused(
            f"{str(folder)!r} cannot be written: {error.strerror}; name another folder"
        ) from None
    return files
