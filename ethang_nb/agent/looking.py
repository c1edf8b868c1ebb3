"""Looking: what a session shows of itself: its context, plans, steps, requests, texts. Looking changes nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Literal

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.masking import mask
from ethang_nb.agent.replay import recorded, replayed
from ethang_nb.agent.reseeding import COOLED, foretold_next, foretold_reseed
from ethang_nb.agent.settlement import unsent
from ethang_nb.agent.trace import Trace, trace
from ethang_nb.agent.worker import Worker
from ethang_nb.config import named_policy
from ethang_nb.context.budget import Budget
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.occupancy import budget
from ethang_nb.context.outline import segments
from ethang_nb.context.plan import Plan
from ethang_nb.context.policy import Policy
from ethang_nb.context.rehearsal import foretold
from ethang_nb.context.retold import Retold
from ethang_nb.context.segments import Segments
from ethang_nb.context.snapshot import Pin, Snapshot, StepRow
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import Misuse
from ethang_nb.store.record import Event

__all__ = ["Looking"]


class Looking:
    """The part of a session that is only read. Whoever makes one lays out the desk, its worker and its archive."""

    name: str
    model: str
    root: Path
    live: LiveContext
    archive: Archive
    chronicle: Chronicle
    lock: threading.RLock
    drift: tuple[str, ...]
    """Where the rules of today would have decided otherwise than the record says."""
    _desk: Desk
    _worker: Worker
    _dear: tuple[str, ...]

    @property
    def running(self) -> bool:
        return self._worker.running

    @property
    def state(self) -> Literal["running", "idle"]:
        """What a snapshot says it is doing: a run whose end is on record is not running any more."""
        return "running" if self.running and self._worker.working else "idle"

    @property
    def window(self) -> Window:
        return self.live.state.window

    @property
    def policy(self) -> Policy:
        return self.live.state.policy

    @property
    def sent(self) -> tuple[Message, ...]:
        """The messages of the last request."""
        return self._desk.last_sent

    @property
    def saying(self) -> str:
        """What the model has said of the reply that is coming; "" when none is."""
        return self._desk.coming.text

    @property
    def waiting(self) -> str:
        """Why nothing comes just now, such as that a request is tried again in 2 s; "" where nothing keeps it."""
        return self._desk.coming.waiting

    @property
    def recorded(self) -> tuple[Event, ...]:
        """Every event of this session, oldest first."""
        return self.archive.record.events()

    @property
    def segments(self) -> Segments:
        with self.lock:
            return segments(self.live, unsent(self.live))

    @property
    def budget(self) -> Budget:
        with self.lock:
            return budget(self.live, self.chronicle.fills)

    @property
    def timeline(self) -> tuple[StepRow, ...]:
        with self.lock:
            return tuple(self.chronicle.steps)

    @property
    def pins(self) -> tuple[Pin, ...]:
        with self.lock:
            return tuple(self.live.pins)

    @property
    def snapshot(self) -> Snapshot:
        with self.lock:
            return self._snapshot(self.state)

    def plan(self, *, cleanup: bool = False, reseed: bool = False) -> Plan:
        """What the policy does at the next request; with `cleanup` what a cleanup would do now. Changes nothing.

        It says also where the next piece of work would start from the core before that. With `reseed` what a start
        from the core would do, and what the core does not hold (a ReseedPlan).
        """
        if cleanup and reseed:
            raise Misuse("cleanup and reseed are two plans; ask for one of them")
        with self.lock:
            if reseed:
                return foretold_reseed(self.live)
            return (
                foretold(self.live, asked=True)
                if cleanup
                else foretold_next(self.live, begun=self._worker.begun)
            )

    def trace(self, text: str) -> Trace:
        """Where did this text go? All that holds or held it: in the window, in the record, when it left and how.

        However it is spaced, and whatever the case of its letters. Changes nothing. Raises Misuse for a blank text.
        """
        with self.lock:
            return trace(self._desk, text)

    def replay(
        self,
        *,
        policy: str | Policy | None = None,
        window: int | str | Window | None = None,
        levels: Levels | tuple[int, int, int] | None = None,
    ) -> Timeline:
        """Every step of this session under another policy, window or levels (nudge, cleanup, landing ‰); no model call.

        Without arguments, too, it is not exactly what happened: releases by the model are not replayed, and notes that
        a model wrote count as what was reserved.

        It is made of the session's own messages in the order of its segments, pieces of work begun where they began.
        Results are taken as they entered: what was cut on entry stays cut, also in a window that had had room for it,
        and a smaller one cuts further. What only happened because of this session's own plans is not in it: releases
        the model offered, cleanups and starts from the core that a person asked for, the prose of handoff notes (a
        note counts as what was reserved). A request is made before every answer and one at the end. Changes nothing.
        Raises BadPolicy, BadWindow, Unknown.
        """
        chosen, told = self._policy(policy), self.retold()
        # A run that is going on need not wait for what is planned here.
        return replayed(
            told,
            model=self.model,
            policy=chosen,
            window=window,
            levels=levels,
            find=self._desk.reach.known,
        )

    def retold(self) -> Retold:
        """What it went through, to be told once more under other settings."""
        with self.lock:
            return recorded(self._desk)

    def report(self, failure: str) -> None:
        """Says in the notices that a view failed."""
        self._desk.changes.failures.append(failure)

    def request(self, step: int) -> bytes:
        """The bytes of the request of step `step`, exactly as they were sent. Raises NoSuchAddress."""
        return self.archive.request(step)

    def _snapshot(self, state: str) -> Snapshot:
        return self.chronicle.snapshot(**self.about(state), repairs=unsent(self.live))

    def about(self, state: str = "") -> dict[str, Any]:
        """What a snapshot says of the session beside its context: name, model, model_label, state and notices."""
        cooled = (COOLED,) if self.live.state.cooled else ()
        said = (
            *self._dear,
            *cooled,
            *self._worker.notices,
            *self._desk.notices.lines,
        )
        failures = [mask(line) for line in (*self._desk.watchers.failures, *self._desk.changes.failures)]
        return {
            "name": self.name,
            "model": self.model,
            "model_label": self._desk.provider.label,
            "state": state or self.state,
            "notices": (*said, *failures, *self.drift),
        }

    def _policy(self, policy: str | Policy | None) -> Policy | None:
        return None if policy is None else named_policy(policy, self.root)
