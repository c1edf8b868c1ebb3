"""Base of the live views: one anywidget over a source's feed.

It speaks the anywidget protocol and nothing else, so it works wherever that does. Its traits are small and change
once; what it shows travels in custom messages. A stored output holds the same numbers as text, HTML and data.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import anywidget
from traitlets import Dict, Unicode

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.errors import NoSuchAddress
from ethang_nb.views import bundle, page, stored
from ethang_nb.views.limits import BODY_BYTES, DATA_LEAST
from ethang_nb.views.live.feed import Subscription
from ethang_nb.views.live.hub import feed_of
from ethang_nb.views.live.source import source_of
from ethang_nb.views.live.wire import Part
from ethang_nb.views.markup import Markup, el
from ethang_nb.views.plain import line
from ethang_nb.views.stylesheet import output
from ethang_nb.views.widgets.cells import Cells, running
from ethang_nb.views.widgets.chosen import refuse_others
from ethang_nb.views.widgets.comms import unpin
from ethang_nb.views.widgets.unheard import Unheard

__all__ = ["CELLS", "LiveView"]

UNSAID = 200
"""► Parts that wait for a thread that may speak; a view that misses older ones asks for the whole."""
ROOM = BODY_BYTES - DATA_LEAST
"""Bytes of the static view in a stored output."""

CELLS = Cells()
_made: Counter[str] = Counter()


class LiveView(anywidget.AnyWidget):
    """A live view of a session, an eth.Context or messages, which then need a `window`.

    `chosen` is what the view is told beside the document. Raises Misuse, BadMessage; Missing where the front end was
    not built.
    """

    _id: ClassVar[str]
    """Its name in the registry of the front end."""

    _esm = Unicode().tag(sync=True)
    _css = Unicode().tag(sync=True)
    view = Unicode().tag(sync=True)
    options = Dict().tag(sync=True)
    first = Unicode().tag(sync=True)

    _subscription: Subscription | None = None
    _unheard: Unheard | None = None

    def __init__(
        self, shown: object, *, window: Any = None, chosen: Mapping[str, Any] | None = None, **settings: Any
    ) -> None:
        refuse_others(settings)
        self._feed = feed_of(source_of(shown, window=window, **settings))
        self._source = self._feed.source
        self._unsaid: deque[Part] = deque(maxlen=UNSAID)
        self._saying = threading.RLock()
        first = self._feed.first()
        super().__init__(
            model_id=_model_id(self._source.name, self._id),
            view=self._id,
            options={name: value for name, value in (chosen or {}).items() if value is not None},
            first=first,
            _esm=bundle.script(),
            _css=bundle.sheet(),
        )
        unpin(self.comm)
        self.comm.on_close(lambda _: self.close())
        self.on_msg(self._heard)
        # What changes from `first` on is told unasked: in a busy kernel a hello may not be heard for long.
        self._subscription = self._feed.subscribe(self._say, at=json.loads(first)["rev"] if first else None)
        self._unheard = Unheard(self._feed, self._subscription)
        CELLS.hold(self, running())

    # ---- what is drawn without a kernel; a view says how

    def _text(self, snapshot: Snapshot) -> str:
        raise NotImplementedError

    def _part(self, snapshot: Snapshot, room: int) -> Markup:
        raise NotImplementedError

    # ---- for whoever shows it

    def save(self, path: str | Path, title: str = "") -> Path:
        """Writes what it shows as one HTML file that can be clicked through without a kernel, and returns where.

        Texts of segments that stand in the window are in it, up to a limit; what is left out is counted there.
        Raises PathRefused, Misuse.
        """
        snapshot = self.snapshot
        texts: dict[str, Any] = {}
        for segment in snapshot.segments:
            with suppress(NoSuchAddress):  # it left meanwhile
                texts[segment.id] = self._source.segment(segment.id)
        found = page.interactive(snapshot, title=title, view=self._id, options=self.options, texts=texts)
        return page.write(found, path)

    def close(self) -> None:
        """Closes it, here and in every cell that shows it."""
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.close()
        if self._unheard is not None:
            self._unheard.heard()
        if self.comm is None:  # closed already, or never quite made
            return
        CELLS.forget(self)
        super().close()
        del self._repr_mimebundle_  # ipywidgets puts None there; ours goes on with what is static
        self.layout.close()  # a model of its own, which nothing else closes

    @property
    def closed(self) -> bool:
        """Whether nobody is told any more: it was closed here or, with its output, by its host."""
        return self.comm is None or getattr(self.comm, "_closed", False) is True

    def shows(self, shown: object) -> bool:
        """Whether it is open and shows that very session or context."""
        return not self.closed and self._source.shown is shown

    def opening(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The output of a view that has nothing to show yet, and its metadata: small, and the same every time."""
        CELLS.hold(self, running())
        name = self._source.name
        said = f"Live view of {self._source.kind} {line(name, 60)}. It needs a kernel; what stays is stored below it."
        data, metadata = self._drawn()
        return {**data, "text/html": el("p", said), stored.MIME: stored.live(name)}, metadata

    def __repr__(self) -> str:
        return f"{type(self).__name__}({line(self._source.name, 60)})"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if self.closed:
            return self._static(), {stored.MIME: {"view": self._id}}
        CELLS.hold(self, running())
        data, metadata = self._drawn()
        return {**data, **self._static()}, metadata

    def _drawn(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a host draws the live view from, and its metadata: which view to draw of stored data."""
        data, metadata = super()._repr_mimebundle_() or ({}, {})
        return data, {**metadata, stored.MIME: {"view": self._id}}

    @property
    def snapshot(self) -> Snapshot:
        """What it shows now."""
        return self._source.snapshot

    @property
    def _where(self) -> str:
        """The Python that gives what it shows, for what a stored output has no room for."""
        session = self._source.kind == "session"
        return f"eth.open_session({self._source.name!r}).snapshot" if session else "context.snapshot"

    def _static(self) -> dict[str, Any]:
        """Text, HTML and data of one snapshot, in the bytes of one stored output."""
        snapshot = self.snapshot
        text = f"{self!r}\n\n{self._text(snapshot)}"
        html = output(
            self._part(snapshot, ROOM), label=f"{type(self).__name__} of {line(self._source.name, 60)}"
        )
        return {"text/plain": text, "text/html": html, **stored.beside(snapshot, text, html)}

    # ---- between kernel and view

    def _heard(self, _: object, message: Any, __: object) -> None:
        """A view asks something, in whatever thread its host hears it."""
        with self._saying:
            self._say_unsaid()
        if self._unheard is not None:
            self._unheard.heard()
        subscription = self._subscription
        if subscription is None or not isinstance(message, dict):
            return
        if message.get("ask") == "hello" and self.first:
            self.first = ""  # from here on the feed tells, and nothing is stored twice
        subscription.hear(message)

    def _say(self, part: Part) -> None:
        if self.closed:
            self.close()
            return
        with self._saying:
            self._unsaid.append(part)
            self._say_unsaid()
        if self._unheard is not None:
            self._unheard.told()

    def _say_unsaid(self) -> None:
        """Says what waits. Hosts differ in which thread may speak; what this one may not say, the next one does."""
        while self._unsaid:
            try:
                self.send(self._unsaid[0])
            except Exception:
                return
            self._unsaid.popleft()


def _model_id(name: str, view: str) -> str:
    """The same for the same view of a session in every run of a notebook, so that its file stays as it is."""
    known = f"ethang-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}-{view}"
    _made[known] += 1
    return f"{known}-{_made[known]}"
