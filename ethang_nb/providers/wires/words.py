"""Words: a text that comes in pieces."""

from __future__ import annotations

from collections.abc import Callable

from ethang_nb.context.messages import clean

__all__ = ["Words"]


class Words:
    """Collects the pieces; `heard` gets each as it comes.

    Some servers cut between the two halves of a character outside the basic plane, each half escaped by itself; they
    are put together again here.
    """

    def __init__(self, heard: Callable[[str], None] | None = None) -> None:
        self._pieces: list[str] = []
        self._heard, self._half = heard, ""

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def text(self) -> str:
        return _whole("".join(self._pieces))

    def add(self, piece: object) -> None:
        """Anything but a text with something in it is passed over."""
        if not isinstance(piece, str) or not piece:
            return
        self._pieces.append(piece)
        if self._heard is None:
            return
        piece = self._half + piece
        self._half = piece[-1] if "\ud800" <= piece[-1] <= "\udbff" else ""
        if known := piece.removesuffix(self._half):
            self._heard(_whole(known))


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return clean(text)
