"""Session: an agent's model, window, policy, tools and record, and one context that all of it works on.

One run at a time. Everything is recorded as it happens; opening the same name again feeds the record and goes
on as itself. Looking changes nothing: what is shown never enters the context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.given import check_kinds, check_room, chosen_folder, chosen_name, chosen_system
from ethang_nb.agent.jail import Jail
from ethang_nb.agent.limits import Limits
from ethang_nb.agent.looking import Looking
from ethang_nb.agent.masking import mask
from ethang_nb.agent.models import Models
from ethang_nb.agent.reseeding import ReseedPlan
from ethang_nb.agent.run import Progress, Run
from ethang_nb.agent.runner import MainThread, on_main_thread
from ethang_nb.agent.settlement import dear_parts, resume, settle, under
from ethang_nb.agent.tool import Tool
from ethang_nb.agent.watchers import Change, Register
from ethang_nb.agent.worker import Worker
from ethang_nb.clock import Clock, SystemClock
from ethang_nb.config import named_policy
from ethang_nb.context.plan import Plan
from ethang_nb.context.policy import Policy
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.window import Window
from ethang_nb.context.wording import printable
from ethang_nb.errors import Misuse
from ethang_nb.providers.endpoints.table import Tables
from ethang_nb.providers.protocol import Provider
from ethang_nb.store.database import home
from ethang_nb.tokens.registry import counter

if TYPE_CHECKING:
    from ethang_nb.providers.cassettes.cassette import Cassette

__all__ = ["BUILT_IN", "OPEN", "Session"]

BUILT_IN = ("read_file", "list_files", "read_spill", "find_in_record", "release_context")
"""The tools every session has unless some of them are named."""

GRACE = 5.0  # ► seconds a stopped run gets to reach its end before the cell is let go

OPEN: Register[tuple[Path, str], Session] = Register()
"""Sessions that are open for writing in this process, by project folder and name; it tells who comes and goes."""


class Session(Looking):
    """An agent session. `model` is a model id; `window` tokens, a Window, or None for the model's own.

    `root` is the folder that tools may read and that holds the record (`.ethang`); `tools` adds functions, or
    names the built-in ones to be used; `["none"]` are no tools at all.

    `providers` are tables of providers by name (base_url, wire, key, headers), in front of those of `ethang.toml`; keys
    come from the environment alone. `cassette` is the name or path of a recording that answers, or listens.
    `summariser` writes the handoff notes; without one the cheapest of `models` that can hold the text does, else the
    session's own.

    `fresh`: begins with an empty record; an earlier one of that name is set aside whole, as `NAME~1`. None: a session
    with a cassette does so, so that what was recorded once plays from its beginning each time, and any other goes on
    with its record, as `open_session` does. Raises Unknown, BadWindow, BadPolicy, PathRefused, KeyMissing,
    CassetteMiss, SessionHeld.
    """

    def __init__(
        self,
        model: str = "reader",
        *,
        name: str | None = None,
        window: int | str | Window | None = None,
        policy: str | Policy = "ethang",
        system: str | None = None,
        project: str | None = None,
        params: Mapping[str, Any] | None = None,
        tools: Sequence[Tool | Callable[..., Any] | str] = (),
        root: str | Path | None = None,
        limits: Limits | None = None,
        cassette: str | Path | None = None,
        providers: Tables | None = None,
        summariser: str | None = None,
        models: Sequence[str] = (),
        fresh: bool | None = None,
        store: str | Path | None = None,
        clock: Clock | None = None,
        look: bool = False,
    ) -> None:
        if model is None:
            raise Misuse("model=None names no model; give one such as 'reader'")
        if fresh not in (None, True, False):
            raise Misuse(f"fresh={str(fresh)[:80]!r} is no answer; give True, False, or None for the usual")
        check_kinds(
            model=model, name=name, system=system, project=project, limits=limits, tools=tools, params=params
        )
        self.model, self.name = model, chosen_name(name)
        self.counter = counter(model)
        self.params: Mapping[str, Any] = dict(params or {})
        self.closed = False
        jail = Jail(Path.cwd() if root is None else root)
        self.root = jail.root
        folder = self.root if store is None else chosen_folder(store)
        given = Models(providers=providers, cassette=cassette, summariser=summariser, models=models)
        reach = given.reach(model, self.root, look=look)
        self._desk = desk = Desk(
            name=self.name,
            model=model,
            provider=given.provider(model, reach, look=look),
            counter=self.counter,
            limits=limits or Limits(),
            params=self.params,
            window=reach.window(window, model),
            policy=named_policy(policy, self.root),
            system=chosen_system(system, tools),
            project=project or "",
            tools=tools,
            jail=jail,
            reach=reach,
            given=given,
        )
        self.live, self.toolbox, self.lock = desk.live, desk.toolbox, desk.lock
        # Before the record is opened, so that a session that cannot be leaves nothing in it.
        if not look:
            check_room(self.live.state)
        real = clock or SystemClock()
        self._key = (home(folder).resolve(), self.name)
        afresh = (cassette is not None if fresh is None else fresh) and not look
        if not look:
            self._take_over()
        self.archive = Archive(
            folder, self.name, jail, reach.clock(real), write=not look, fresh=afresh, beats=real
        )
        try:
            desk.keep_in(self.archive)
            resumed = resume(desk, look=look)
        except BaseException:
            self.archive.close()
            raise
        self.chronicle, self.drift = desk.chronicle, resumed.drift
        self._dear = dear_parts(self.live.state)
        # The method is looked up at the end of a run, so that a test can put another in its place.
        self._worker = Worker(desk, begun=resumed.begun, snapshot=lambda ending: self._snapshot(ending))  # noqa: PLW0108
        if not look:
            OPEN[self._key] = self

    # ---- runs

    def run(self, task: str) -> Run:
        """Runs a piece of work and waits. ■ asks it to stop and waits up to 5 s; a second ■ lets go at once."""
        main = MainThread()
        main.waiting = on_main_thread()
        return self.wait(self._worker.start(task, main))

    async def arun(self, task: str) -> Run:
        """The same for `await`; looks every 0.1 s, since a cell's await is only interrupted when it wakes."""
        run = self.start(task)
        try:
            while not run.done:  # noqa: ASYNC110 - the run ends in another loop
                await asyncio.sleep(0.1)
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.stop()
            raise
        return run.faultless()

    def start(self, task: str) -> Run:
        """Starts a piece of work and returns at once. Raises EmptyTask, SessionBusy, Misuse (task too large)."""
        return self._worker.start(task, MainThread())

    def wait(self, run: Run, *, grace: float = GRACE) -> Run:
        """Waits for a run of this session on this thread, which meanwhile serves tools defined in the notebook.

        Raises what broke the run where that was a fault of the record, or a bug.
        """
        self.main.wait_for(lambda: run.done, stop=self.stop, grace=grace)
        return run.faultless()

    def begin(self, name: str = "") -> None:
        """Begins a piece of work; the next run's task is its task. Every other run begins one by itself."""
        self._worker.begin(name)

    def stop(self) -> None:
        """Asks the run that is going on to end; it is recorded as interrupted. Nothing without one."""
        self._worker.stop()

    @property
    def _run(self) -> Run | None:
        """The run that is going on, or the last one."""
        return self._worker.run

    # ---- acts

    def compact(self) -> Plan:
        """A cleanup now, or at the next step boundary where a run is going on; returns its plan."""
        plan = self._worker.compact()
        self._desk.changes.tell("compact")
        return plan

    def change(self, *, window: int | str | Window | None = None, policy: str | Policy | None = None) -> None:
        """Goes on with another window or policy. Raises SessionBusy, BadWindow, Unknown, and then changes nothing."""
        with self.lock:
            self.refuse_busy()
            settle(self._desk, under(self._desk, window, self._policy(policy)))
        self._desk.changes.tell("change")

    def reseed(self) -> ReseedPlan:
        """Starts from the core now; what leaves stays in the record. The plan says what the core does not hold.

        Only between pieces of work: raises SessionBusy while a run is going on; `cool` is what can be asked for then.
        """
        plan = self._worker.reseed()
        self._desk.changes.tell("reseed")
        return plan

    def cool(self) -> None:
        """Drops the warm context: the next piece of work starts from the core, whatever the fill."""
        self._worker.cool()
        self._desk.changes.tell("cool")

    def pin(self, text: str, kind: str = "constraint") -> Pin:
        """Keeps a constraint or decision verbatim from the next request on."""
        with self.lock:
            pin = self.live.pin(mask(" ".join(text.split())) if isinstance(text, str) else text, kind)
        self._desk.changes.tell("pin")
        return pin

    def unpin(self, number: int) -> Pin:
        """Lifts pin `number`; its message may leave at once."""
        with self.lock:
            pin = self.live.unpin(number)
        self._desk.changes.tell("unpin")
        return pin

    def watch(self, callback: Callable[[Progress], None]) -> Callable[[], None]:
        """Calls `callback` from the worker thread after each request point; returns how to stop that."""
        return self._desk.watchers.add(callback)

    def watch_changes(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Calls `callback` after every change, in the thread that made it; returns how to stop that.

        Told are also messages, notes, acts, the start and the end of runs, and that the session was closed.
        """
        return self._desk.changes.add(callback)

    def close(self) -> None:
        """Stops what runs, and gives the session free for others. The record stays."""
        run = self._run
        if run is not None and not run.done:
            self.stop()
            if not self._worker.inside:
                run.wait(GRACE)
        before, self.closed = self.closed, True
        self._worker.close()
        self.archive.close()
        if OPEN.get(self._key) is self:
            del OPEN[self._key]
        if not before:
            self._desk.changes.tell("closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what may be exchanged between runs

    @property
    def provider(self) -> Provider:
        return self._desk.provider

    @provider.setter
    def provider(self, other: Provider) -> None:
        before, self._desk.provider = self._desk.provider, other
        self._desk.reading = None  # what the last one counted says nothing of this one
        if before is not other:
            self._worker.let_go(before)

    @property
    def limits(self) -> Limits:
        return self._desk.limits

    @limits.setter
    def limits(self, other: Limits) -> None:
        self._desk.limits = other

    @property
    def given(self) -> Models:
        """What was said of models beside its own: providers, cassette, summariser."""
        return self._desk.given

    @property
    def cassette(self) -> Cassette | None:
        """The recording that answers or listens; None without one, and where the session is only looked at."""
        return self._desk.reach.cassette

    @property
    def main(self) -> MainThread:
        """Who waits for the run that is going on."""
        return self._desk.main

    # ---- inside

    def _take_over(self) -> None:
        """A session of this name that is open here gives way, so that a cell that makes one can be run again."""
        found = OPEN.get(self._key)
        if found is not None:
            found.refuse_busy()
            found.close()

    def refuse_busy(self) -> None:
        """Raises SessionBusy while a run is going on."""
        self._worker.refuse_busy()

    def __repr__(self) -> str:
        return f"Session({printable(self.name)}: {self.model}, policy {self.policy.name}, window {self.window.total:,})"
