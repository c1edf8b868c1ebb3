"""Files: documents of a lesson put into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ethang_nb.errors import PathRefused

__all__ = ["put"]


def put(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Writes each text under its name; the folder is made where it is missing. Raises PathRefused."""
    files = tuple(folder / name for name in texts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in zip(files, texts.values(), strict=True):
            # Line feeds on every system, so that line numbers, hashes and addresses agree.
            file.write_bytes(text.encode())
    except OSError as error:
        raise PathRefused(f"{str(folder)!r} cannot be written: {error.strerror}; name another folder") from None
    return files
