"""Coming: what a model has said of the reply that is coming. Shown while one waits; never in the context."""

from __future__ import annotations

from ethang_nb.agent.masking import mask

__all__ = ["Coming"]


class Coming:
    """Written by the worker, read by whoever looks."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.waiting = ""
        """Why nothing comes just now, as whoever waits was told last; "" once that is over, or something has come."""

    def say(self, text: str) -> None:
        self.waiting = ""
        self._pieces.append(text)

    def wait(self, text: str) -> None:
        self.waiting = text

    def begin(self) -> None:
        """Nothing is said yet: a request goes out, or its reply is whole."""
        self.waiting = ""
        self._pieces = []

    @property
    def text(self) -> str:
        """All of it; a key that came in two pieces is masked, too."""
        return mask("".join(self._pieces))
