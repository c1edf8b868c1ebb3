"""Prompts: versioned files of the package, each with a reference that says which text was really used."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

from ethang_nb.errors import Unknown

__all__ = ["Prompt", "prompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt's text and its name, e.g. `compaction@v2`."""

    name: str
    text: str

    @property
    def reference(self) -> str:
        """`name@vN+` and 8 hex digits of the sha256 of the text, so that an edited file is told apart."""
        return f"{self.name}+{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"


def prompt(name: str) -> Prompt:
    """The prompt file of that name, line ends normalised."""
    folder = files("ethang_nb") / "prompts"
    file = folder / f"{name}.md"
    if not file.is_file():
        known = sorted(
            item.name.removesuffix(".md") for item in folder.iterdir() if item.name.endswith(".md")
        )
        raise Unknown("prompt", name, known)
    return Prompt(name=name, text=file.read_text(encoding="utf-8").replace("\r\n", "\n").strip())
