"""TextFile: a file as tools count its lines, and the addresses of ranges of them.

Only line feeds end a line, so numbers agree with every editor's; a byte order mark and the carriage returns of
CRLF belong to no line. Reading a file and reading it again at its address go through here, so they agree.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ethang_nb.agent.masking import mask
from ethang_nb.context.address import Address
from ethang_nb.context.messages import clean
from ethang_nb.errors import PathRefused

__all__ = ["TextFile"]

BINARY_PROBE = 8_000  # bytes looked at for NUL before a file is taken for text


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """`name` as tools show it, and its lines without their ends; a key of ours in them is masked before any is cut."""

    name: str
    lines: tuple[str, ...]

    @classmethod
    def read(cls, real: Path, name: str) -> TextFile:
        """Raises PathRefused for what cannot be read, or is no text."""
        try:
            raw = real.read_bytes()
        except OSError as error:
            raise PathRefused(f"{name!r} cannot be read: {error.strerror}") from None
        if b"\x00" in raw[:BINARY_PROBE]:
            raise PathRefused(f"{name!r} holds NUL bytes; it is not a text file")
        text = mask(clean(raw.decode("utf-8", "replace").removeprefix("\ufeff"))).replace("\r\n", "\n")
        lines = text.split("\n")
        return cls(name=name, lines=tuple(lines if lines[-1] else lines[:-1]))

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def hash(self, first: int, last: int) -> str:
        """8 hex digits over lines `first` to `last`, from 1."""
        body = "\n".join(self.lines[first - 1 : last])
        return hashlib.sha256(body.encode()).hexdigest()[:8]

    def address(self, first: int, last: int) -> str:
        version = self.hash(first, last)
        return str(Address(scheme="file", place=self.name, first=first, last=last, version=version))
