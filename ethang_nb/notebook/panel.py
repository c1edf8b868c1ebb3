"""The kernel's side of the side panel: comms that front ends open, each showing one source of this process.

Loading opens one comm of our own, which says that we are here; a front end that knows us answers with a panel, and
one that does not may close it. Messages come in any thread. Whatever can wait for a session's lock is done in a
thread of its own, so that it neither holds up a run nor a stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ethang_nb.errors import EthangError, Misuse, Unknown
from ethang_nb.views.live.feed import Feed, Subscription
from ethang_nb.views.live.hub import HUB, Hub, Listed
from ethang_nb.views.live.wire import Part, parts, to_text
from ethang_nb.views.widgets.comms import unpin

__all__ = ["ANNOUNCE", "PANEL", "Panels", "wanted"]

PANEL, ANNOUNCE = "ethang_nb.panel", "ethang_nb.announce"
HERE = {"t": "announce", "v": 1}
NOTHING = "no session in this kernel yet; start one with a cell: %%ethang, and the task in the lines below"

Asked = Mapping[str, Any]


class Panels:
    """The panels that are open on this kernel. `current()` names the session that the magics look at."""

    def __init__(self, manager: Any, current: Callable[[], str], hub: Hub = HUB) -> None:
        self._manager, self._current, self._hub = manager, current, hub
        self._open: list[_Panel] = []
        self._running: frozenset[str] = frozenset()
        manager.register_target(PANEL, self._opened)
        self._here: Any = None
        self._announce()
        self._leave = hub.watch(self._changed)

    @classmethod
    def of(cls, shell: Any, current: Callable[[], str]) -> Panels | None:
        """The panels of a shell's kernel; None where there is no kernel, as in a terminal."""
        manager = getattr(getattr(shell, "kernel", None), "comm_manager", None)
        return None if manager is None else cls(manager, current)

    def close(self) -> None:
        """Closes every panel and takes the target away."""
        self._leave()
        if self._manager.targets.get(PANEL) == self._opened:
            self._manager.unregister_target(PANEL, self._opened)
        for panel in list(self._open):
            panel.close()
        if self._here is not None:
            self._here.close()

    def _announce(self) -> None:
        """Says that we are here, on a comm that a front end finds after a reload of its page."""
        if self._here is None:
            from comm import create_comm

            self._here = create_comm(target_name=ANNOUNCE, data=HERE)
            unpin(self._here)
            self._here.on_close(self._unheard)
        else:
            self._here.send(HERE)

    def _unheard(self, _message: object) -> None:
        """A front end does not know us. Another one may: it is told anew when a run starts."""
        self._here = None

    def _opened(self, comm: Any, _message: object) -> None:
        unpin(comm)
        panel = _Panel(comm, self._hub, self._current, self._open.remove)
        self._open.append(panel)
        panel.look()

    def _changed(self, _: None) -> None:
        """The list of sources has changed. Comes in a session's thread, maybe under its lock."""
        running = frozenset(found.id for found in self._hub.listed() if found.state == "running")
        new, self._running = running - self._running, running
        if new:
            self._announce()
        for panel in list(self._open):
            panel.look()


class _Panel:
    """One front end's panel. It shows what a person picked there, else the session at work, else the current one."""

    def __init__(
        self, comm: Any, hub: Hub, current: Callable[[], str], gone: Callable[[_Panel], None]
    ) -> None:
        self._comm, self._hub, self._current, self._gone = comm, hub, current, gone
        self._picked = ""
        self._shown = ""
        self._feed: Feed | None = None
        self._subscription: Subscription | None = None
        self._turn = 0
        """Counts what was shown: what an earlier feed still sends is not for this panel any more."""
        self._said: tuple[list[Listed], str] | None = None
        self._own = threading.Lock()
        """Held for moments and while something is sent; no session's lock is taken under it."""
        self._looks = _Once(self._look)
        comm.on_msg(self._asked)
        comm.on_close(lambda _: self._end())

    def look(self) -> None:
        """Shows and lists what there is now; soon, in another thread."""
        self._looks.call()

    def close(self) -> None:
        """Ends the comm from here."""
        self._end()
        self._comm.close()

    # ---- inside

    def _end(self) -> None:
        with self._own:
            if self._ended:
                return
            self._turn = -1
            subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.close()
        self._gone(self)

    @property
    def _ended(self) -> bool:
        return self._turn < 0

    def _asked(self, message: Asked) -> None:
        asked, subscription = message["content"]["data"], self._subscription
        what = asked.get("ask") if isinstance(asked, Mapping) else None
        if what == "show":
            self._reply(asked, self._pick)
        elif subscription is not None:
            subscription.hear(asked)
        elif what != "hello":
            self._reply(asked, _nothing)

    def _pick(self, asked: Asked) -> dict[str, Any]:
        """What a person picked; stays until it is gone."""
        number = str(asked.get("source"))
        self._hub.find(number)  # raises Unknown
        self._picked = number
        self.look()
        return {"shown": number}

    def _reply(self, asked: Asked, answer: Callable[[Asked], Any]) -> None:
        reply = {"t": "reply", "id": asked.get("id") if isinstance(asked, Mapping) else None}
        try:
            self._say({**reply, "ok": True, "data": answer(asked)})
        except EthangError as error:
            self._say({**reply, "ok": False, "error": str(error)})

    def _look(self) -> None:
        listed = self._hub.listed()
        number = wanted(listed, picked=self._picked, shown=self._shown, current=self._current())
        if number:
            with suppress(Unknown):  # it was closed meanwhile; the hub says so next
                self._turn_to(number, self._hub.find(number))
        if not self._ended and (listed, self._shown) != self._said:
            self._said = (listed, self._shown)
            self._list(listed)

    def _turn_to(self, number: str, feed: Feed) -> None:
        """Shows this feed. The view says hello once the list names another source; of the same one it does not know."""
        with self._own:
            if self._ended or feed is self._feed:
                return
            self._turn += 1
            turn, again = self._turn, number == self._shown
            self._shown, self._feed = number, feed
        subscription = feed.subscribe(self._sender(turn), reply=self._send)
        with self._own:
            gone = subscription if self._ended else self._subscription
            if not self._ended:  # until then the one before is asked, so that a stop always reaches somebody
                self._subscription = subscription
        if gone is not None:
            gone.close()
        if again:
            subscription.hello()

    def _list(self, listed: Sequence[Listed]) -> None:
        sources = [found._asdict() for found in listed]
        self._say({"t": "list", "sources": sources, "shown": self._shown or None})

    def _say(self, message: Mapping[str, Any]) -> None:
        for part in parts(to_text(message)):
            self._send(part)

    def _send(self, part: Part) -> None:
        with self._own:
            if not self._ended:
                self._comm.send(part)

    def _sender(self, turn: int) -> Callable[[Part], None]:
        """What the feed of this turn sends its frames with; those that come late are dropped."""

        def send(part: Part) -> None:
            with self._own:
                if turn == self._turn:
                    self._comm.send(part)

        return send


def _nothing(_asked: Asked) -> None:
    raise Misuse(NOTHING)


def wanted(listed: Sequence[Listed], *, picked: str, shown: str, current: str) -> str:
    """The id of the source to show, "" where there is none.

    What was picked, else what is at work (the one shown before others), else what is shown already, else the current
    session, else the one that came last.
    """
    there = [found.id for found in listed]
    running = [found.id for found in listed if found.state == "running"]
    named = [found.id for found in listed if found.kind == "session" and found.name == current]
    if picked in there:
        return picked
    if shown in running or (not running and shown in there):
        return shown
    return next(iter([*running[-1:], *named, *there[-1:]]), "")


class _Once:
    """Calls a function in a thread of its own; calls that come while one is due or at work make one more, not many."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._due = self._working = False

    def call(self) -> None:
        with self._lock:
            self._due = True
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._work, name="ethang-panel", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._due:
                    self._working = False
                    return
                self._due = False
            try:
                self._function()
            except BaseException:  # threading says it; the next call is not held up by this one
                with self._lock:
                    self._working = False
                raise
