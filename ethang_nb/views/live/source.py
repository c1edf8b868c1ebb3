"""Source: one face for views over a session, a context, or plain messages.

It reads and it acts; it decides nothing. Whatever reads the context takes the source's `lock`, acts take it
themselves. Nothing of it enters a request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from ethang_nb.agent.session import Session
from ethang_nb.agent.trace import Trace
from ethang_nb.agent.watchers import Change
from ethang_nb.api import Context
from ethang_nb.config import named_policy, own_policies
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.live import LiveContext
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.snapshot import Snapshot
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Window
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse, NoSuchAddress
from ethang_nb.providers.windows import window_of
from ethang_nb.views.live.document import About
from ethang_nb.views.live.texts import opened, shortened
from ethang_nb.views.live.whatif import timeline_of

__all__ = ["LONGEST", "Source", "source_of"]

LONGEST = 200_000
"""► Characters of one text that a view is given; what is left out is counted, and stands at its address."""


def source_of(shown: object, *, window: int | str | Window | None = None, **options: Any) -> Source:
    """The source of what a view is to show: a Session, an eth.Context, a source, or messages of any known shape.

    Messages need a `window`, and stand as they are; `options` are those of eth.Context. Raises Misuse, BadMessage.
    """
    from ethang_nb.views.live.of_context import ContextSource
    from ethang_nb.views.live.of_session import SessionSource

    own = isinstance(shown, Session | Context | Source)
    if own and (window is not None or options):
        given = ", ".join(name for name in ("window", *options) if name != "window" or window is not None)
        raise Misuse(
            f"{given} belongs to messages; a {type(shown).__name__.lstrip('_')} has its own: leave it out"
        )
    if isinstance(shown, Source):
        return shown
    if isinstance(shown, Session):
        return SessionSource(shown)
    if isinstance(shown, Context):
        return ContextSource(shown)
    if isinstance(shown, str | bytes) or not (isinstance(shown, Iterable) or hasattr(shown, "model_dump")):
        raise Misuse(
            f"a view shows a session, an eth.Context or messages, not {preview(repr(shown), 60)}; "
            "eth.open_session(name) opens a session by its name"
        )
    if window is None:
        raise Misuse("messages alone have no window; give its tokens, as in window=8_000")
    return ContextSource(Context.of(shown, window, **options))


class Source(ABC):
    """What a view shows: `shown` is the session or context itself, `name` its name."""

    kind: Literal["session", "context"]

    def __init__(self, shown: Session | Context) -> None:
        self.shown, self.name, self.model = shown, shown.name, shown.model
        self.live: LiveContext = shown.live
        self.chronicle: Chronicle = shown.chronicle
        self.lock: AbstractContextManager[object] = shown.lock
        self._replayed: tuple[object, Timeline] | None = None

    # ---- what it is

    @property
    def snapshot(self) -> Snapshot:
        return self.shown.snapshot

    @abstractmethod
    def about(self) -> About:
        """What the document says beside the context itself. Cheap; under the lock."""

    @property
    @abstractmethod
    def state(self) -> str:
        """In one word: running, idle, closed; or live, of a context."""

    @property
    def closed(self) -> bool:
        return False

    @abstractmethod
    def watch(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Calls `callback` after every change, in the thread that made it; returns how to stop that."""

    def report(self, failure: str) -> None:
        """Says in the notices that a view failed."""
        self.shown.report(failure)

    # ---- acts; each says in one line what came of it

    @abstractmethod
    def stop(self) -> str:
        """Asks the run to end. Takes no lock, so that it never waits."""

    @abstractmethod
    def compact(self) -> str: ...

    @abstractmethod
    def reseed(self) -> str: ...

    @abstractmethod
    def cool(self) -> str: ...

    def pin(self, text: str, kind: str) -> str:
        pin = self.shown.pin(text, kind)
        return f"{pin.kind} {pin.id} is pinned from the next request on"

    def unpin(self, number: int) -> str:
        pin = self.shown.unpin(number)
        return f"{pin.kind} {pin.id} is lifted{'; its message may leave' if pin.segment else ''}"

    # ---- what can be read

    @abstractmethod
    def request(self, step: int) -> tuple[str, Literal["as sent", "as planned"]]:
        """The request of a step as text, and how it came by it. Raises NoSuchAddress."""

    @abstractmethod
    def read(self, address: str) -> str:
        """What stands at an address, at most LONGEST characters. Raises NoSuchAddress."""

    @abstractmethod
    def trace(self, text: str) -> Trace: ...

    def segment(self, number: str) -> dict[str, Any]:
        """The texts of a segment as it stands in the window, or as it entered where it has left.

        Raises NoSuchAddress.
        """
        with self.lock:
            found = opened(self.live, number)
        parts, cut = shortened(found.parts, LONGEST)
        return {"title": found.title, "address": found.address, "parts": parts, "cut": cut}

    def diff(self, index: int) -> dict[str, Any]:
        """Diff `index`, from 0, with all its parts. Raises NoSuchAddress."""
        with self.lock:
            known = len(self.chronicle.heads)
            if not 0 <= index < known:
                there = f"there are 0 to {known - 1}" if known else "there was none yet"
                raise NoSuchAddress(f"no cleanup {index}; {there}")
            return asdict(self.chronicle.diff(index))

    # ---- what-if

    @property
    def folder(self) -> Path | None:
        """The project folder, whose `ethang.toml` may define policies; None: the current one."""
        return None

    def replay(self) -> Timeline:
        """Its messages under its own settings; kept until something comes."""
        with self.lock:
            heard = self._heard()
            if self._replayed is not None and self._replayed[0] == heard:
                return self._replayed[1]
            told = self.shown.retold()
        timeline = timeline_of(told)  # without the lock: a run need not wait for it
        self._replayed = heard, timeline
        return timeline

    def _heard(self) -> object:
        """What tells whether anything came since."""
        live, state = self.live, self.live.state
        pins = [(pin.id, pin.lifted) for pin in live.pins]
        return (state.settings, state.n, state.tail, state.opened, state.work, state.begun, pins, live.system)

    def window(self, given: int | str) -> Window:
        """A window in tokens or by model id. Raises BadWindow."""
        return window_of(given, model=self.model)

    def policy(self, name: str) -> Policy:
        """Raises Unknown, and as `own_policies` does."""
        return named_policy(name, self.folder)

    def policies(self) -> Iterator[Policy]:
        """Those that ship, and the project's own."""
        own: Mapping[str, Policy] = own_policies(self.folder)
        yield from (*POLICIES.values(), *own.values())
