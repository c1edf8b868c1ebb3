"""The path jail: every path a tool is given is resolved, links followed, and must lie inside the root."""

from __future__ import annotations

from pathlib import Path

from ethang_nb.errors import PathRefused

__all__ = ["Jail"]


class Jail:
    """Resolves paths under one root folder. `root` may hold any files; nothing outside is ever opened."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise PathRefused(f"root {str(root)!r} is not a folder; give a folder that exists")

    def resolve(self, path: str) -> Path:
        """The real path. `~` is not expanded; links are followed before the check."""
        if "\x00" in path or "\u2400" in path:
            raise PathRefused(f"path {path!r} holds a NUL character; leave it out")
        try:
            real = (self.root / path).resolve()
            inside = real == self.root or self.root in real.parents
        except (OSError, RuntimeError) as error:
            raise PathRefused(f"path {path[:80]!r} cannot be resolved: {error.__class__.__name__}") from None
        if not inside:
            raise PathRefused(f"path {path[:200]!r} leads out of the root; use a path inside it")
        return real

    def file(self, path: str) -> Path:
        real = self.resolve(path)
        if not real.exists():
            raise PathRefused(f"no file {path[:200]!r}; list_files shows what is there")
        if not real.is_file():
            raise PathRefused(f"{path[:200]!r} is not a file; list_files shows what is in a folder")
        return real

    def folder(self, path: str) -> Path:
        real = self.resolve(path)
        if not real.is_dir():
            raise PathRefused(f"no folder {path[:200]!r}; list_files('.') shows the root")
        return real

    def name(self, real: Path) -> str:
        """The path as tools show it: relative to the root, with forward slashes."""
        return real.relative_to(self.root).as_posix() or "."
