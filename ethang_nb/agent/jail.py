"""The path jail: every path a tool is given is resolved, links followed, and must lie inside the root."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ethang_nb.context.messages import clean
from ethang_nb.errors import PathRefused

__all__ = ["Jail", "quoted", "unquoted"]

LONGEST_SHOWN = 120  # ► characters of a refused path that the refusal repeats


class Jail:
    """Resolves paths under one root folder. `root` may hold any files; nothing outside is ever opened."""

    def __init__(self, root: Path | str) -> None:
        try:
            self.root = Path(root).resolve()
            usable = self.root.is_dir()
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise PathRefused(f"root {_shown(str(root))} cannot be used: {_why(error)}") from None
        if not usable:
            raise PathRefused(f"root {_shown(str(root))} is not a folder; give a folder that exists")

    def resolve(self, path: str) -> Path:
        """The real path. `~` is not expanded; links are followed before the check; a quoted name is unquoted."""
        path = unquoted(path)
        if "\x00" in path or "\u2400" in path:
            raise PathRefused(f"path {_shown(path)} holds a NUL character; leave it out")
        try:
            real = (self.root / path).resolve()
            real.exists()  # a name too long to be looked up fails here, and not in each caller
        except (OSError, RuntimeError, ValueError) as error:
            raise PathRefused(f"path {_shown(path)} cannot be used: {_why(error)}") from None
        if real != self.root and self.root not in real.parents:
            raise PathRefused(f"path {_shown(path)} leads out of the root; use a path inside it")
        return real

    def file(self, path: str) -> Path:
        real = self.resolve(path)
        if not real.exists():
            raise PathRefused(f"no file {_shown(path)}; list_files shows what is there")
        if not real.is_file():
            raise PathRefused(f"{_shown(path)} is not a file; list_files shows what is in a folder")
        return real

    def folder(self, path: str) -> Path:
        real = self.resolve(path)
        if not real.is_dir():
            raise PathRefused(f"no folder {_shown(path)}; list_files('.') shows the root")
        return real

    def name(self, real: Path) -> str:
        """The path as tools show it: relative to the root, with forward slashes, quoted where it has to be."""
        return quoted(real.relative_to(self.root).as_posix() or ".")


def quoted(name: str) -> str:
    """A name as one line that cannot be taken for anything else: a JSON string where it holds odd characters.

    So a name with a line end forges no line of a list, and one that is not UTF-8 can still be asked for.
    """
    return name if name.isprintable() and not name.startswith(('"', "[")) else json.dumps(name)


def unquoted(name: str) -> str:
    """The name or path whose parts `quoted` made one line of."""
    return _QUOTED.sub(_plain, name)


_QUOTED = re.compile(r'(?<![^/])"(?:[^"\\]|\\.)*"(?![^/])')
"""A JSON string that is a whole path, or a whole part of one: names are quoted one by one in a list."""


def _plain(found: re.Match[str]) -> str:
    try:
        return str(json.loads(found.group()))
    except ValueError:
        return found.group()


def _shown(path: str) -> str:
    text = clean(path)
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "a loop of links" if isinstance(error, RuntimeError) else "no such name can exist"
