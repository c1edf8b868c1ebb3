"""Feed: sends one source's document to all who show it, whole once and then only what changed.

At most 20 updates a second: the first at once in the thread that made the change, the last by a timer, so that what is
shown last is how it stands. A subscriber that fails is dropped and never breaks a run. Without subscribers it costs
nothing: nobody is watched, no timer runs.

Locks: what is sent is made under the source's lock, and put into an outbox; one thread at a time empties that, under
no lock, and nobody waits for it. The feed's own lock is held for moments, and nothing else is taken under it.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ethang_nb.agent.runner import on_main_thread
from ethang_nb.agent.watchers import Change
from ethang_nb.clock import Clock, SystemClock
from ethang_nb.views.live.answers import Answers
from ethang_nb.views.live.document import Body, Document
from ethang_nb.views.live.source import Source
from ethang_nb.views.live.wire import Part, Send, parts, to_text

__all__ = ["FIRST", "INTERVAL", "Feed", "Subscription"]

INTERVAL = 1 / 20
"""► Seconds between two updates."""
FIRST = 48_000
"""► The most bytes of a first frame that a host stores."""
ROWS = 600
"""► Segments above which a first frame cannot be that small, and is not made to find out."""


class Timer(Protocol):
    """`timer(seconds, function)` calls `function` once; what it returns can be cancelled."""

    def __call__(self, seconds: float, function: Callable[[], None], /) -> Any: ...


class _Outgoing(NamedTuple):
    """A frame that waits to be sent: to those that stand at `base`, or to `to` alone; to all: the source has ended."""

    parts: list[Part]
    revision: int
    base: int | None = None
    to: Subscription | None = None

    def is_for(self, subscription: Subscription) -> bool:
        if self.to is not None:
            return self.to is subscription
        # One at another revision, or at none, says hello and gets the whole.
        return not subscription.ended if self.base is None else subscription.at == self.base


class Subscription:
    """One view of the source. `at` is the revision it has, None where nobody knows."""

    def __init__(self, feed: Feed, send: Send, reply: Send, at: int | None) -> None:
        self._feed, self._send, self.at = feed, send, at
        self._answers = Answers(feed.source, reply, hello=self.hello)
        self.open = True
        self.ended = False
        """Whether it knows that the source has ended."""

    def hear(self, message: object) -> None:
        """Answers what the view sent, whatever that is; in any thread."""
        self._answers.ask(message)

    def hello(self, revision: object = None) -> None:
        """Sends it a whole frame, or an empty one where `revision` is the one that stands now."""
        self._feed.greet(self, revision if type(revision) is int else None)

    def close(self) -> None:
        """Sends it nothing any more."""
        self._feed.leave(self)

    def take(self, frame: _Outgoing) -> None:
        """Sends it a frame. Only the feed's sending thread does."""
        for part in frame.parts:
            self._send(part)
        self.at = frame.revision
        self.ended = self.ended or (frame.to is None and frame.base is None)


class Feed:
    """The frames of one source. `revision` counts what was sent."""

    def __init__(self, source: Source, *, clock: Clock | None = None, timer: Timer | None = None) -> None:
        self.source = source
        self.revision = 0
        self._clock, self._timer = clock or SystemClock(), timer or _timer
        self._document: Document | None = None
        """Made and asked under the source's lock, and so is `revision`."""
        self._own = threading.Lock()
        self._subscriptions: list[Subscription] = []
        self._greeted: dict[Subscription, int | None] = {}
        """Who said hello and waits for a frame, and the revision it has."""
        self._outbox: deque[_Outgoing] = deque()
        self._sending = False
        self._waiting: Any = None
        """The timer that is running."""
        self._last = float("-inf")
        self._leave_source: Callable[[], None] | None = None

    # ---- who shows it

    def subscribe(self, send: Send, *, reply: Send | None = None, at: int | None = None) -> Subscription:
        """A view that takes messages, part by part: after its hello a whole frame, then what changes.

        `reply`: what takes the answers to its asks, where that is not `send` too; `at`: the revision it has already,
        from which on it is told what changes. It is told as long as somebody holds the subscription or the feed.
        """
        subscription = Subscription(self, send, reply or send, at)
        with self._own:
            self._subscriptions.append(subscription)
            if self._leave_source is None:
                self._leave_source = _watch(self)
        return subscription

    @property
    def subscribers(self) -> int:
        return len(self._subscriptions)

    def first(self) -> str:
        """A whole frame as JSON text, for a host that stores it; "" where that is over 48 kB."""
        with self.source.lock:
            if len(self.source.live.state.numbers) > ROWS:
                return ""
            text = self._whole(self._follow())
        self._empty()
        return text if len(text.encode()) <= FIRST else ""

    # ---- what its subscriptions and its source tell it

    def greet(self, subscription: Subscription, revision: int | None) -> None:
        """It said hello, and has `revision`.

        Off the main thread a timer answers it: in the thread in which hosts hear views a stop may come next, which must
        not wait for a large document, or for whoever holds the source's lock.
        """
        with self._own:
            if not subscription.open:
                return
            self._greeted[subscription] = subscription.at = revision
            if not on_main_thread():
                self._waiting = self._waiting or self._timer(self._wait(), _weakly_due(self))
                return
        self._tell()

    def leave(self, subscription: Subscription) -> None:
        """It is closed. After the last one nobody is watched any more."""
        with self._own:
            if not subscription.open:
                return
            subscription.open = False
            self._subscriptions.remove(subscription)
            self._greeted.pop(subscription, None)
            if self._subscriptions:
                return
            leave, self._leave_source = self._leave_source, None
            waiting, self._waiting = self._waiting, None
            self._outbox.clear()
        if leave is not None:
            leave()
        if waiting is not None:
            waiting.cancel()
        with self.source.lock:
            if not self._subscriptions:
                self._document = None

    def changed(self, change: Change) -> None:
        """Sends at once, or once the interval is over; what ends the source does not wait."""
        self._tell(waits=change != "closed")

    def due(self) -> None:
        """The interval is over."""
        with self._own:
            self._waiting = None
            if not self._subscriptions:
                return
            self._last = self._clock.monotonic()
        self._flush()

    # ---- inside

    def _tell(self, *, waits: bool = True) -> None:
        with self._own:
            if not self._subscriptions:
                return
            wait = self._wait()
            if wait > 0 and waits:
                self._waiting = self._waiting or self._timer(wait, _weakly_due(self))
                return
            waiting, self._waiting = self._waiting, None
            self._last = self._clock.monotonic()
        if waiting is not None:
            waiting.cancel()
        self._flush()

    def _wait(self) -> float:
        """Seconds until the next update may be sent."""
        return max(0.0, self._last + INTERVAL - self._clock.monotonic())

    def _flush(self) -> None:
        """Puts what changed and what was asked for into the outbox, and empties it."""
        try:
            with self.source.lock:
                before = self.revision
                made = self._follow()
                self._greet(made, self.revision if made else before)
                behind = self._document is not None and self._document.behind
            if behind:
                self._later()
        except Exception as error:
            self._fail(error)
        if self.source.closed:
            self._end()
        self._empty()

    def _later(self) -> None:
        """The document has more to say by itself."""
        with self._own:
            if self._subscriptions:
                self._waiting = self._waiting or self._timer(INTERVAL, _weakly_due(self))

    def _end(self) -> None:
        self._outbox.append(_Outgoing(parts(to_text({"t": "end"})), self.revision))

    def _follow(self) -> Body:
        """What changed since the last time, for all; a document that is made new, which tells changes from here on.

        Under the source's lock.
        """
        if self._document is None:
            source = self.source
            self._document = Document(source.live, source.chronicle, source.about)
            self.revision += 1
            return self._document.full()
        body = self._document.update()
        if body:
            self.revision += 1
            text = to_text({"t": "frame", "rev": self.revision, "base": self.revision - 1, **body})
            self._outbox.append(_Outgoing(parts(text), self.revision, base=self.revision - 1))
        return {}

    def _whole(self, made: Body) -> str:
        """The whole frame of the revision that stands, after `_follow`, which may have made it. Under the lock."""
        assert self._document is not None  # noqa: S101 - `_follow` makes it
        body = made or self._document.full()
        return to_text({"t": "frame", "rev": self.revision, "base": None, **body})

    def _greet(self, made: Body, followed: int) -> None:
        """A whole frame for each who said hello; one that is empty where it has what stands, so that it is heard.

        One that has the revision that was `followed` is told what changed, like all others.

        Under the source's lock.
        """
        with self._own:
            greeted, self._greeted = self._greeted, {}
        text = ""
        for subscription, revision in greeted.items():
            if revision == self.revision:
                nothing = to_text({"t": "frame", "rev": revision, "base": revision})
                self._outbox.append(_Outgoing(parts(nothing), self.revision, to=subscription))
            elif revision != followed:
                text = text or self._whole(made)
                self._outbox.append(_Outgoing(parts(text), self.revision, to=subscription))

    def _empty(self) -> None:
        """Sends what is in the outbox, unless another thread is at it; that one then sends this too."""
        while self._outbox:
            with self._own:
                if self._sending:
                    return
                self._sending = True
            try:
                with suppress(IndexError):  # the last subscriber has left meanwhile
                    self._send(self._outbox.popleft())
            finally:
                self._sending = False

    def _send(self, item: _Outgoing) -> None:
        for subscription in list(self._subscriptions):
            if not subscription.open or not item.is_for(subscription):
                continue
            try:
                subscription.take(item)
            except Exception as error:
                subscription.close()
                self.source.report(f"a view failed and is no longer told: {type(error).__name__}: {error}")

    def _fail(self, error: Exception) -> None:
        """The document cannot be made, a bug of ours: all are let go, and the notices say why."""
        self.source.report(f"live views stopped: {type(error).__name__}: {error}")
        self._end()
        self._empty()
        for subscription in list(self._subscriptions):
            subscription.close()


def _watch(feed: Feed) -> Callable[[], None]:
    """Watches its source without being kept by it: a feed that nobody holds any more goes, and stops watching."""
    found = weakref.ref(feed)

    def changed(change: Change) -> None:
        held = found()
        if held is not None:
            held.changed(change)
        else:
            leave()

    leave = feed.source.watch(changed)
    return leave


def _weakly_due(feed: Feed) -> Callable[[], None]:
    found = weakref.ref(feed)

    def due() -> None:
        held = found()
        if held is not None:
            held.due()

    return due


def _timer(seconds: float, function: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.name = "ethang-feed"
    timer.start()
    return timer
