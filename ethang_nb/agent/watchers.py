"""Watchers: who is told of each request point of a session. Looking never ends a run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ethang_nb.agent.run import Progress

__all__ = ["Watcher", "Watchers"]

Watcher = Callable[[Progress], None]


class Watchers:
    """The watchers of one session, told one after the other in the worker thread."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []
        self.failures: list[str] = []
        """What went wrong in watchers that are no longer told. Not in the record: looking must not move its
        numbers, which are addresses."""

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Tells `watcher` from now on; returns how to stop that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher) if watcher in self._watchers else None

    def tell(self, progress: Progress) -> None:
        """Tells them all. One that fails is dropped."""
        for watcher in list(self._watchers):
            try:
                watcher(progress)
            except Exception as error:
                with suppress(ValueError):  # it has taken itself away
                    self._watchers.remove(watcher)
                self.failures.append(f"a view failed and is no longer told: {type(error).__name__}: {error}")
