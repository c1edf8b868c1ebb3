"""Hub: the feeds of this process, one for each source, and the sources that a panel may show.

Nobody is kept by being known here: a session goes when it is closed, a context when nobody holds it any more.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ethang_nb.agent.session import OPEN, Session
from ethang_nb.agent.watchers import Change, Register, Watchers
from ethang_nb.api import Context
from ethang_nb.errors import Unknown
from ethang_nb.views.live.feed import Feed
from ethang_nb.views.live.source import Source, source_of

__all__ = ["HUB", "Hub", "Listed", "feed_of"]


class Listed(NamedTuple):
    """A source that may be shown. `id` is stable: a session that is opened again under its name has the same."""

    id: str
    name: str
    kind: Literal["session", "context"]
    state: str


class Hub:
    """`opened`: the sessions that are open, which it watches."""

    def __init__(self, opened: Register[Any, Session]) -> None:
        self._opened = opened
        self._feeds: weakref.WeakKeyDictionary[Session | Context, weakref.ref[Feed]] = (
            weakref.WeakKeyDictionary()
        )
        self._ids: weakref.WeakKeyDictionary[Session | Context, str] = weakref.WeakKeyDictionary()
        """Of what may be shown, in the order in which it was opened or first shown."""
        self._contexts = 0
        self._lock = threading.RLock()
        self._watchers: Watchers[None] = Watchers()
        self._told: list[Listed] = []
        self._stops: weakref.WeakKeyDictionary[Session, Callable[[], None]] = weakref.WeakKeyDictionary()
        opened.watchers.add(self._registered)

    def feed_of(self, shown: Session | Context | Source) -> Feed:
        """The feed of what a view shows; the same one for the same session or context."""
        source = source_of(shown)
        target = source.shown
        with self._lock:
            known = self._feeds.get(target)
            feed = None if known is None else known()
            if feed is None:
                feed = Feed(source)
                self._feeds[target] = weakref.ref(feed)
            new = isinstance(target, Context) and target not in self._ids
            if new:
                self._contexts += 1
                self._ids[target] = f"context:{self._contexts}"
        if new:
            self._tell()
        return feed

    def listed(self) -> list[Listed]:
        """The sources that may be shown, in the order in which they were opened or first shown."""
        with self._lock:
            self._number()
            return [_listed(shown, number) for shown, number in self._ids.items() if _lives(shown)]

    def find(self, number: str) -> Feed:
        """The feed of the source with this id. Raises Unknown."""
        with self._lock:
            self._number()
            known = {found: shown for shown, found in self._ids.items() if _lives(shown)}
        if number not in known:
            raise Unknown("source", str(number)[:60], known)
        return self.feed_of(known[number])

    def watch(self, callback: Callable[[None], None]) -> Callable[[], None]:
        """Calls `callback(None)` whenever the list has changed: who is on it, or in what state; returns how to stop."""
        with self._lock:
            if not self._watchers:
                self._told = self.listed()
            leave = self._watchers.add(callback)
        for session in list(self._opened.values()):
            self._follow(session)

        def stop() -> None:
            leave()
            if not self._watchers:
                self._unfollow()

        return stop

    # ---- inside

    def _number(self) -> None:
        """Gives each open session its id; the second of a name in this process, in another folder, has a number."""
        taken = {number for shown, number in self._ids.items() if _lives(shown)}
        for session in self._opened.values():
            if session in self._ids:
                continue
            number, again = f"session:{session.name}", 1
            while number in taken:
                again += 1
                number = f"session:{session.name}:{again}"
            taken.add(number)
            self._ids[session] = number

    def _registered(self, told: tuple[Literal["opened", "closed"], Session]) -> None:
        what, session = told
        with self._lock:
            self._number()
        if self._watchers and what == "opened":
            self._follow(session)
        self._tell()

    def _follow(self, session: Session) -> None:
        """Its runs change the list too, as long as somebody looks at it."""
        with self._lock:
            if session not in self._stops:
                self._stops[session] = session.watch_changes(self._changed)

    def _unfollow(self) -> None:
        with self._lock:
            stops = list(self._stops.values())
            self._stops.clear()
        for stop in stops:
            stop()

    def _changed(self, change: Change) -> None:
        if change in ("run started", "run ended", "closed"):
            self._tell()

    def _tell(self) -> None:
        """Tells of a list that is another than the one told last."""
        if not self._watchers:
            return
        with self._lock:
            now = self.listed()
            same, self._told = now == self._told, now
        if not same:
            self._watchers.tell(None)


def _lives(shown: Session | Context) -> bool:
    return not (isinstance(shown, Session) and shown.closed)


def _listed(shown: Session | Context, number: str) -> Listed:
    if isinstance(shown, Session):
        return Listed(number, shown.name, "session", shown.state)
    return Listed(number, shown.name, "context", "live")


HUB = Hub(OPEN)


def feed_of(shown: Session | Context | Source) -> Feed:
    """The feed of what a view shows in this process; see Hub.feed_of."""
    return HUB.feed_of(shown)
