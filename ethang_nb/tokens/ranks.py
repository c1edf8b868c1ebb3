"""The token ranks: the two files that turn bytes into tokens, checked before anybody uses them.

They are copied in when the package is built (`labextension/scripts/ranks.mjs`); `ranks.json` is the one list
of their names and hashes. Nothing is ever fetched: tiktoken deletes a wrong file and goes to the network for
another, so it is shown a folder only after the file there was found right.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ethang_nb.errors import RanksMissing, Unknown

if TYPE_CHECKING:
    import tiktoken

__all__ = ["ENCODINGS", "load", "verified"]

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_OURS = Path(__file__).parent.parent / "data" / "tiktoken"
_RANKS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("ranks.json").read_text(encoding="utf-8")
)

# The environment is the process's own, so one load at a time may point it at a folder.
_environment = threading.Lock()

ENCODINGS: tuple[str, ...] = tuple(sorted(_RANKS))


@cache
def load(encoding: str) -> tiktoken.Encoding:
    """The encoding of that name, read from checked ranks; about 0.5 s and 80 MB the first time.

    Raises `Unknown` for an encoding that is not shipped, `RanksMissing` where no right file is found.
    """
    import tiktoken

    if encoding not in _RANKS:
        raise Unknown("encoding", encoding, ENCODINGS)
    folder = _folder(encoding)
    with _environment, _pointed_at(folder):
        return tiktoken.get_encoding(encoding)


def verified(encoding: str, folder: Path) -> bool:
    """Whether `folder` holds the published ranks of `encoding`, byte for byte."""
    try:
        content = (folder / _RANKS[encoding]["file"]).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == _RANKS[encoding]["sha256"]


def _folder(encoding: str) -> Path:
    """The user's own tiktoken cache where it serves, else ours."""
    theirs = os.environ.get(_CACHE_VARIABLE)
    for folder in (Path(theirs), _OURS) if theirs else (_OURS,):
        if verified(encoding, folder):
            return folder
    raise RanksMissing(
        f"the ranks of {encoding} are missing or damaged in {_OURS}; "
        "install again: `uv sync --reinstall-package ethang_nb`, or `pip install --force-reinstall ethang_nb`"
    )


@contextmanager
def _pointed_at(folder: Path) -> Iterator[None]:
    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before
