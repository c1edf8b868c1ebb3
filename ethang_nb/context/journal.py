"""The Journal seam: whoever keeps what happens, and numbers it, so that everything has an address."""

from __future__ import annotations

from typing import Any, Protocol

from ethang_nb.context import kinds
from ethang_nb.context.messages import Message, from_json

__all__ = ["Journal", "MemoryJournal"]


class Journal(Protocol):
    """Written before the context changes. `next` is the number the next entry will get.

    `records`: whether entries are kept to be fed again; then each decision brings its digest.
    """

    @property
    def records(self) -> bool: ...

    @property
    def next(self) -> int: ...

    def write(self, kind: str, data: dict[str, Any]) -> int: ...


class MemoryJournal:
    """For a context without a record: messages alone are numbered, from 0, as they entered (`log://<i>`).

    Nudges and notices, which are ours and pass, get no number (-1): so message i has the same one whatever the policy.
    """

    records = False

    def __init__(self, first: int = 0) -> None:
        self._texts: list[str] = []
        self._first = first

    @property
    def next(self) -> int:
        return self._first + len(self._texts)

    def write(self, kind: str, data: dict[str, Any]) -> int:
        number = self.next
        if kind == kinds.MESSAGE:
            message = data["message"]
            if message.get("kind") in ("nudge", "notice"):
                return -1
            # Ours too (a pin by hand): two messages at one address would be one that cannot be read again.
            self._texts.append(_readable(from_json(message)))
        elif kind == kinds.SYSTEM:
            self._texts.append(data["text"])
        return number

    def text(self, number: int) -> str:
        """The text of entry `number`. Raises IndexError."""
        if number < self._first:
            raise IndexError(number)
        return self._texts[number - self._first]


def _readable(message: Message) -> str:
    """A turn that only calls has no text of its own; what it called is what can be read there."""
    return message.text or "\n".join(f"{call.name} {call.arguments}" for call in message.calls)
