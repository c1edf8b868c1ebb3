"""Unheard: a view of which nothing was heard yet is sent the whole now and then, until it says something.

A host may hand on no message while a cell is busy, or hand it to the shell that is busy. What a view missed before it
stood there it could then not ask for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ethang_nb.views.live.feed import Feed, Subscription

__all__ = ["EVERY", "Unheard"]

EVERY = 1.0  # ► seconds between two whole documents


class Unheard:
    """Sends `subscription` the whole, where it is small, at most once every EVERY seconds and only if it changed."""

    def __init__(
        self, feed: Feed, subscription: Subscription, timer: Callable[..., threading.Timer] = threading.Timer
    ) -> None:
        self._feed, self._subscription, self._new = feed, subscription, timer
        self._revision = feed.revision
        self._timer: threading.Timer | None = None
        self._heard = False

    def told(self) -> None:
        """Something was sent."""
        if self._heard or self._timer is not None or self._feed.revision == self._revision:
            return
        self._timer = self._new(EVERY, self._due)
        self._timer.daemon = True
        self._timer.start()

    def heard(self) -> None:
        """It said something, or is closed: from now on it asks for itself."""
        self._heard = True
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _due(self) -> None:
        self._timer = None
        if self._heard or not self._feed.first():
            return
        self._revision = self._feed.revision
        self._subscription.hello()
