"""The source over a session: its record answers for requests, texts that left, and what-if."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from ethang_nb.agent.session import Session
from ethang_nb.agent.settlement import unsent
from ethang_nb.agent.trace import Trace
from ethang_nb.agent.watchers import Change
from ethang_nb.context.live import LiveContext
from ethang_nb.context.pairing import violations
from ethang_nb.context.plan import Plan
from ethang_nb.context.wording import preview
from ethang_nb.views.live.document import About
from ethang_nb.views.live.saying import ending
from ethang_nb.views.live.source import LONGEST, Source
from ethang_nb.views.numbers import tokens

__all__ = ["SessionSource"]

LONGEST_WAIT = 300
"""► Characters of why nothing comes."""


class SessionSource(Source):
    """A session as views see it."""

    kind: Literal["session", "context"] = "session"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._unsent = _Unsent(session.live)

    @property
    def folder(self) -> Path:
        return self._session.root

    @property
    def state(self) -> str:
        return "closed" if self.closed else self._session.state

    @property
    def closed(self) -> bool:
        return self._session.closed

    def about(self) -> About:
        session = self._session
        return About(
            **session.about(self.state),
            repairs=self._unsent.lines(),
            saying=ending(session.saying),
            waiting=preview(session.waiting, LONGEST_WAIT),
        )

    def watch(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        return self._session.watch_changes(callback)

    # ---- acts

    def stop(self) -> str:
        if not self._session.running:
            return "no run is going on"
        self._session.stop()
        return "asked to stop; the run ends at its next step and is recorded as interrupted"

    def compact(self) -> str:
        session = self._session
        waits = session.running
        plan = session.compact()
        return (
            f"asked for a cleanup before the next request; now it would be: {_said(plan)}"
            if waits
            else _said(plan)
        )

    def reseed(self) -> str:
        return _said(self._session.reseed())

    def cool(self) -> str:
        self._session.cool()
        return "cooled: the next piece of work starts from the core"

    # ---- what can be read

    def request(self, step: int) -> tuple[str, Literal["as sent", "as planned"]]:
        return self._session.request(step).decode("utf-8", "backslashreplace"), "as sent"

    def read(self, address: str) -> str:
        return self._session.archive.read(address, characters=LONGEST, fits=lambda _: True).text

    def trace(self, text: str) -> Trace:
        return self._session.trace(text)


def _said(plan: Plan) -> str:
    """The plan's reason and totals."""
    if plan.before == plan.after:
        return f"{plan.outcome}: {plan.reason}"
    return f"{plan.outcome}: {tokens(plan.before)} to {tokens(plan.after)}; {plan.reason}"


class _Unsent:
    """`unsent` of a context that grows: each message is looked at once, and the rest only where one needs it."""

    def __init__(self, live: LiveContext) -> None:
        self._live = live
        self._seen = 0
        self._faulty = False

    def lines(self) -> tuple[str, ...]:
        live = self._live
        state = live.state
        while self._seen < state.next_row and not self._faulty:
            first = live.entries[self._seen].messages[0]
            self._faulty = bool(violations([first], still_open=True))
            self._seen += 1
        waits = state.opened or (state.tail is not None and state.tail.open and state.passing)
        return unsent(live) if self._faulty or waits else ()
