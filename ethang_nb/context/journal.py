"""The Journal seam: whoever keeps what happens, and numbers it, so that everything has an address."""

from __future__ import annotations

from typing import Any, Protocol

from ethang_nb.context import kinds
from ethang_nb.context.messages import PASSING, Message, from_json

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
    Whoever feeds messages that were mended says with `go_to` which number the next one had as it was given; what
    shares a number was one message there.
    """

    records = False

    def __init__(self, first: int = 0) -> None:
        self._texts: dict[int, list[str]] = {}
        self._next = first

    @property
    def next(self) -> int:
        return self._next

    def go_to(self, number: int) -> None:
        """The next message is that number."""
        self._next = number

    def write(self, kind: str, data: dict[str, Any]) -> int:
        number = self.next
        if kind == kinds.MESSAGE:
            message = data["message"]
            if message.get("kind") in PASSING:
                return -1
            # Ours too (a pin by hand): two messages at one address would be one that cannot be read again.
            self._keep(_readable(from_json(message)))
        elif kind == kinds.SYSTEM:
            self._keep(data["text"])
        return number

    def _keep(self, text: str) -> None:
        self._texts.setdefault(self._next, []).append(text)
        self._next += 1

    def texts(self, number: int) -> tuple[str, ...]:
        """The texts of message `number`, more than one where it held several results; none for a number unknown."""
        return tuple(self._texts.get(number, ()))


def _readable(message: Message) -> str:
    """A turn that only calls has no text of its own; what it called is what can be read there."""
    return message.text or "\n".join(f"{call.name} {call.arguments}" for call in message.calls)
