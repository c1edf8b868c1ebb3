"""Watchers: who is told of what happens: of each request point of a session, of every change, of sessions that open.

Looking never ends a run: a watcher that fails is dropped, and what went wrong in it is said.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Literal, TypeVar

__all__ = ["Change", "Register", "Watchers"]

Change = Literal[
    "run started", "request", "text", "waited", "message", "note", "usage", "pin", "unpin", "begin", "compact",
    "reseed", "cool", "change", "run ended", "closed",
]  # fmt: skip
"""What changed in a session or context: what was done to it, or what came."""

_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")


class Watchers(Generic[_T]):
    """Those who are told, one after the other, in the thread in which it happened."""

    def __init__(self) -> None:
        self._watchers: list[Callable[[_T], None]] = []
        self.failures: list[str] = []
        """What went wrong in watchers that are no longer told. Not in the record: looking must not move its
        numbers, which are addresses."""

    def __bool__(self) -> bool:
        """Whether anybody is told."""
        return bool(self._watchers)

    def add(self, watcher: Callable[[_T], None]) -> Callable[[], None]:
        """Tells `watcher` from now on; returns how to stop that."""
        self._watchers.append(watcher)

        def leave() -> None:
            with suppress(ValueError):  # it was dropped, or has left already
                self._watchers.remove(watcher)

        return leave

    def tell(self, told: _T) -> None:
        """Tells them all. One that fails is dropped."""
        for watcher in list(self._watchers):
            try:
                watcher(told)
            except Exception as error:
                with suppress(ValueError):  # it has taken itself away
                    self._watchers.remove(watcher)
                self.failures.append(f"a view failed and is no longer told: {type(error).__name__}: {error}")


class Register(UserDict[_K, _V]):
    """A mapping that tells its `watchers` what came into it and what left: ("opened" or "closed", the value)."""

    def __init__(self) -> None:
        super().__init__()
        self.watchers: Watchers[tuple[Literal["opened", "closed"], _V]] = Watchers()

    def __setitem__(self, key: _K, value: _V) -> None:
        super().__setitem__(key, value)
        self.watchers.tell(("opened", value))

    def __delitem__(self, key: _K) -> None:
        value = self[key]
        super().__delitem__(key)
        self.watchers.tell(("closed", value))
