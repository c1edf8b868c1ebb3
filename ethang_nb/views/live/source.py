"""Source: one face for views over a session, a context, or plain messages.

It reads and it acts; it decides nothing. Whatever reads the context takes the source's `lock`, acts take it
themselves. Nothing of it enters a request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Literal

from ethang_nb.agent.session import Session
from ethang_nb.agent.trace import Trace
from ethang_nb.agent.watchers import Change
from ethang_nb.api import Context
from ethang_nb.config import named_policy, own_policies
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.retold import Retold
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Window
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse, NoSuchAddress
from ethang_nb.providers.windows import window_of
from ethang_nb.views.live.document import About
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
        raise Misuse("messages alone have no window; name it, as in window=8_000 or window='gpt-4o'")
    return ContextSource(Context.of(shown, window, **options))


class Source(ABC):
    """What a view shows. `name` is that of the session or context."""

    kind: Literal["session", "context"]
    name: str
    live: LiveContext
    chronicle: Chronicle
    lock: AbstractContextManager[object]

    def __init__(self) -> None:
        self._replayed: tuple[object, Timeline] | None = None

    # ---- what it is

    @property
    @abstractmethod
    def shown(self) -> object:
        """The session or context itself."""

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

    @abstractmethod
    def report(self, failure: str) -> None:
        """Says in the notices that a view failed."""

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

    @abstractmethod
    def pin(self, text: str, kind: str) -> str: ...

    @abstractmethod
    def unpin(self, number: int) -> str: ...

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
            title, address, messages = self._segment(number)
        parts: list[dict[str, str]] = []
        room, cut = LONGEST, 0
        for part in (part for message in messages for part in _parts(message)):
            kept = part["text"][:room]
            cut += len(part["text"]) - len(kept)
            room -= len(kept)
            parts.append(part | {"text": kept})
        return {"title": title, "address": address, "parts": parts, "cut": cut}

    def _segment(self, number: str) -> tuple[str, str, tuple[Message | dict[str, str], ...]]:
        live, state = self.live, self.live.state
        if number in (parts := self._fixed()):
            title, texts = parts[number]
            return title, "", texts
        for note in state.notes:
            if number == f"note:{note.id}":
                message = live.notes.message(note.id, live.counter)
                return f"handoff note, generation {note.generation}", "", (message,)
        row = next((item.id for item in state.passing if number == f"{item.kind}:{-item.id}"), None)
        if row is None and number.isascii() and number.isdigit():
            row = int(number)
        if row is None or row not in live.entries:
            raise NoSuchAddress(
                f"no segment {number[:40]!r}; there are 0 to {state.next_row - 1} and what stands before them"
            )
        entry = live.entries[row]
        stands = row >= 0 and state.is_live(row)
        messages = entry.forms(state.row(row), live.counter) if stands else tuple(entry.messages)
        return entry.title, entry.address, messages

    def _fixed(self) -> dict[str, tuple[str, tuple[dict[str, str], ...]]]:
        live = self.live
        tools = tuple(
            {
                "role": "tool",
                "name": tool.name,
                "text": f"{tool.description}\n{dict(tool.parameters)}".strip(),
            }
            for tool in live.tools
        )
        texts = {"system": live.system, "project": live.project, "core": live.core}
        said = {
            f"fixed:{kind}": (f"{kind} text", ({"role": kind, "text": text},)) for kind, text in texts.items()
        }
        return said | {"fixed:tools": ("tool catalogue", tools)}

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
    def folder(self) -> Any:
        """The project folder, whose `ethang.toml` may define policies; None: the current one."""
        return None

    @property
    @abstractmethod
    def model(self) -> str: ...

    @abstractmethod
    def _retold(self) -> Retold:
        """What its context went through. Under the lock."""

    def replay(self) -> Timeline:
        """Its messages under its own settings; kept until something comes."""
        with self.lock:
            heard = self._heard()
            if self._replayed is not None and self._replayed[0] == heard:
                return self._replayed[1]
            told = self._retold()
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


def _parts(message: Message | dict[str, str]) -> Iterator[dict[str, str]]:
    if isinstance(message, dict):
        yield message
        return
    for part in message.parts:
        match part:
            case Text():
                yield {"role": message.role, "text": part.text}
            case Thinking():
                yield {"role": "thinking", "text": part.text}
            case ToolCall():
                yield {"role": "call", "name": part.name, "text": part.arguments}
            case ToolResult():
                pictures = "".join(f"\n[{_picture(image)}]" for image in part.images)
                yield {"role": "result", "name": part.name, "text": part.text + pictures}
            case Image():
                yield {"role": message.role, "text": f"[{_picture(part)}]"}


def _picture(image: Image) -> str:
    return f"picture {image.media_type}"
