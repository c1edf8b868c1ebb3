"""The Journal seam: whoever keeps what happens, and numbers it, so that everything has an address."""

from __future__ import annotations

from typing import Any, Protocol

from ethang_nb.context.messages import from_json

__all__ = ["Journal", "MemoryJournal"]


class Journal(Protocol):
    """Written before the context changes. `next` is the number the next entry will get."""

    @property
    def next(self) -> int: ...

    def write(self, kind: str, data: dict[str, Any]) -> int: ...


class MemoryJournal:
    """For a context without a record: messages alone are numbered, from 0, as they entered (`log://<i>`)."""

    def __init__(self, first: int = 0) -> None:
        self.texts: list[str] = []
        self._first = first

    @property
    def next(self) -> int:
        return self._first + len(self.texts)

    def write(self, kind: str, data: dict[str, Any]) -> int:
        number = self.next
        # Ours too (a pin by hand): two messages at one address would be one that cannot be read again.
        if kind == "message":
            self.texts.append(from_json(data["message"]).text)
        elif kind == "system":
            self.texts.append(data["text"])
        return number
