"""Session: an agent's model, window, policy, tools and record, and one context that all of it works on.

One run at a time. Everything is recorded as it happens; opening the same name again feeds the record and goes
on as itself. Looking changes nothing: what is shown never enters the context.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.files import file_tools
from ethang_nb.agent.jail import Jail
from ethang_nb.agent.limits import Limits
from ethang_nb.agent.loop import Loop
from ethang_nb.agent.prompt import prompt
from ethang_nb.agent.recall import recall_tools
from ethang_nb.agent.run import Progress, Run
from ethang_nb.agent.runner import MainThread, Runner
from ethang_nb.agent.tool import Tool, as_tool
from ethang_nb.agent.toolbox import INTERRUPTED, NEVER_STARTED, Toolbox, refusal
from ethang_nb.clock import Clock, SystemClock
from ethang_nb.context.budget import Budget
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.explain import as_plan, next_cleanup
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, tool, user
from ethang_nb.context.occupancy import budget
from ethang_nb.context.outline import segments
from ethang_nb.context.plan import Plan
from ethang_nb.context.planner import decide
from ethang_nb.context.policy import Policy
from ethang_nb.context.policy import policy as find_policy
from ethang_nb.context.replaying import replay_into
from ethang_nb.context.segments import Segments
from ethang_nb.context.snapshot import Pin, Snapshot, StepRow
from ethang_nb.context.window import Window
from ethang_nb.errors import BadWindow, EmptyTask, Misuse, NoSuchAddress, SessionBusy, Unknown
from ethang_nb.providers.registry import facts, provider
from ethang_nb.store.database import home
from ethang_nb.store.record import Event, Record, SessionRow
from ethang_nb.store.record import sessions as recorded_sessions
from ethang_nb.tokens.registry import counter

__all__ = ["Session", "default_name", "open_session", "sessions"]

NOTE_PROMPT = "compaction@v2"
SYSTEM_PROMPT = "system@v1"
GRACE = 5.0  # ► seconds a stopped run gets to reach its end before the cell is let go
CHARACTERS_PER_TOKEN = 3  # a page by characters that stays inside the entry limit for prose and code alike

_OPEN: dict[tuple[Path, str], Session] = {}


class Session:
    """An agent session. `model` is a model id; `window` tokens, a Window, or None for the model's own.

    `root` is the folder that tools may read and that holds the record (`.ethang`); `tools` adds functions, or
    names the built-in ones to be used. Raises Unknown, BadWindow, BadPolicy, PathRefused, SessionHeld.
    """

    def __init__(
        self,
        model: str = "reader",
        *,
        name: str | None = None,
        window: int | Window | None = None,
        policy: str | Policy = "ethang",
        system: str | None = None,
        project: str | None = None,
        params: Mapping[str, Any] | None = None,
        tools: Sequence[Tool | Callable[..., Any] | str] = (),
        root: str | Path | None = None,
        limits: Limits | None = None,
        store: str | Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.model = model
        self.name = name or default_name()
        self.provider = provider(model)
        self.counter = counter(model)
        self.limits = limits or Limits()
        self.params: Mapping[str, Any] = dict(params or {})
        self.lock = threading.RLock()
        self.main = MainThread()
        self.last_sent: tuple[Message, ...] = ()
        self.note_prompt = prompt(NOTE_PROMPT)
        chosen = _window(model, window)
        chosen_policy = find_policy(policy)
        system_text = prompt(SYSTEM_PROMPT).text if system is None else system
        page_tokens = chosen_policy.entry_tokens(chosen.usable)
        self.root = Path(root or Path.cwd()).resolve()
        jail = Jail(self.root)
        self._folder = Path(store).resolve() if store else self.root
        self._watchers: list[Callable[[Progress], None]] = []
        self._runner = Runner(f"ethang-{self.name}")
        self._run: Run | None = None
        self._working: asyncio.Task[None] | None = None
        self._to_stop: Run | None = None
        self.closed = False
        self.archive = Archive(
            self._folder, self.name, jail, clock or SystemClock(), page_tokens * CHARACTERS_PER_TOKEN
        )
        try:
            built_in = (
                *file_tools(jail, self.counter, page_tokens),
                *recall_tools(self.archive, lambda: self.live),
            )
            self.toolbox = Toolbox(_chosen(tools, built_in), self.limits, self.archive.write)
            self.live = LiveContext(
                window=chosen,
                policy=chosen_policy,
                counter=self.counter,
                system=system_text,
                project=project or "",
                tools=self.toolbox.specs,
                journal=self.archive,
                spill=self.archive.spill,
                searchable="find_in_record" in self.toolbox.names,
            )
            self.chronicle = Chronicle(self.live)
            wanted = self.live.state
            _check_room(wanted)
            self.drift = replay_into(self.live, self.archive.entries())
            self._settle(wanted)
            self._settle_open_calls()
        except BaseException:
            self.archive.close()
            raise
        _OPEN[(home(self._folder).resolve(), self.name)] = self

    # ---- runs

    def run(self, task: str) -> Run:
        """Runs a piece of work and waits. ■ asks it to stop and waits up to 5 s; a second ■ lets go at once."""
        return self.wait(self.start(task))

    async def arun(self, task: str) -> Run:
        """The same for `await`; looks every 0.1 s, since a cell's await is only interrupted when it wakes."""
        run = self.start(task)
        try:
            while not run.done:
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            self.stop()
            raise
        return run

    def start(self, task: str) -> Run:
        """Starts a piece of work and returns at once. Raises EmptyTask, SessionBusy, Misuse (task too large)."""
        text = _task_text(task)
        with self.lock:
            self._refuse_busy()
            run = Run(self.name, text, self.provider.label)
            self.live.begin()
            self.live.append(user(text))
            self.archive.write("run", {"task": text})
            self.main = MainThread()
            self._runner.submit(self._work(run))
            self._run = run
        return run

    def wait(self, run: Run, *, grace: float = GRACE) -> Run:
        """Waits for a run of this session on this thread, which meanwhile serves tools defined in the notebook."""
        self.main.waiting = threading.current_thread() is threading.main_thread()
        asked = False
        try:
            while not run.done:
                try:
                    if not self.main.serve(timeout=grace if asked else None):
                        break
                except KeyboardInterrupt:
                    if asked:
                        break
                    asked = True
                    self.stop()
        finally:
            self.main.waiting = False
        return run

    def stop(self) -> None:
        """Asks the run that is going on to end; it is recorded as interrupted. Nothing without one."""
        if self.running:
            self._to_stop = self._run
            self._runner.call(self._cancel)

    def _cancel(self) -> None:
        if self._working is not None:
            self._working.cancel()

    @property
    def running(self) -> bool:
        return self._run is not None and not self._run.done

    async def _work(self, run: Run) -> None:
        main = self.main
        loop = Loop(self, run)
        self._working = asyncio.ensure_future(loop.work())
        if self._to_stop is run:  # asked for before the work began
            self._working.cancel()
        try:
            await self._working
        except asyncio.CancelledError:
            run.finish("interrupted", "stopped")
        except BaseException as error:  # a bug of ours: the run ends by name and the error is in the record
            run.finish("provider error", f"{type(error).__name__}: {error}")
            raise
        finally:
            self._working = None
            try:
                self._end(run)
            finally:  # whoever waits is woken, also where the end cannot be recorded (a full disk)
                run.release()
                main.post(None)

    def _end(self, run: Run) -> None:
        with self.lock:
            self.archive.write("run end", {"ending": run.ending, "error": run.error, "answer": run.answer})
            run.snapshot = self._snapshot(run.ending)
            first = len(self.chronicle.steps) - run.steps
            steps = {row.step for row in self.chronicle.steps[max(0, first) :]}
            run.diffs = tuple(diff for diff in self.chronicle.diffs if diff.step in steps)
        if self.chronicle.steps:
            self.tell(Progress(row=self.chronicle.steps[-1], ending=run.ending))

    # ---- acts

    def compact(self) -> Plan:
        """A cleanup now, or at the next step boundary where a run is going on; returns its plan."""
        with self.lock:
            self.live.ask_cleanup()
            if self.running:
                return next_cleanup(self.live)
        holder: list[Plan] = []

        async def turn() -> None:
            holder.append(await Loop(self, Run(self.name, "", self.provider.label)).turn_over())

        self._runner.submit(turn()).result()
        return holder[0]

    def pin(self, text: str, kind: str = "constraint") -> Pin:
        """Keeps a constraint or decision verbatim from the next request on."""
        if kind not in ("constraint", "decision"):
            raise Unknown("kind of pin", kind, ("constraint", "decision"))
        if not text.strip():
            raise Misuse("nothing to pin; give the sentence to keep")
        with self.lock:
            return self.live.pin(" ".join(text.split()), kind)

    def unpin(self, number: int) -> Pin:
        """Lifts pin `number`; its message may leave at once."""
        with self.lock:
            return self.live.unpin(number)

    def watch(self, callback: Callable[[Progress], None]) -> Callable[[], None]:
        """Calls `callback` from the worker thread after each request point; returns how to stop that."""
        self._watchers.append(callback)
        return lambda: self._watchers.remove(callback) if callback in self._watchers else None

    def tell(self, progress: Progress) -> None:
        """Tells the watchers. One that fails is dropped: looking must never end a run."""
        for callback in list(self._watchers):
            try:
                callback(progress)
            except Exception as error:
                self._watchers.remove(callback)
                self.archive.write("watcher failed", {"text": f"{type(error).__name__}: {error}"})

    def close(self) -> None:
        """Stops what runs, and gives the session free for others. The record stays."""
        run = self._run
        if run is not None and not run.done:
            self.stop()
            run.wait(GRACE)
        self._runner.close()
        self.archive.close()
        _OPEN.pop((home(self._folder).resolve(), self.name), None)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- looking

    @property
    def window(self) -> Window:
        return self.live.state.window

    @property
    def policy(self) -> Policy:
        return self.live.state.policy

    @property
    def sent(self) -> tuple[Message, ...]:
        """The messages of the last request."""
        return self.last_sent

    @property
    def recorded(self) -> tuple[Event, ...]:
        """Every event of this session, oldest first."""
        return self.archive.record.events()

    @property
    def segments(self) -> Segments:
        with self.lock:
            return segments(self.live)

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
            return self._snapshot("running" if self.running else "idle")

    def plan(self, *, cleanup: bool = False) -> Plan:
        """What the policy does at the next request; with `cleanup` what a cleanup would do now. Changes nothing."""
        with self.lock:
            if cleanup:
                return next_cleanup(self.live)
            return as_plan(self.live, self.live.state, decide(self.live.state))

    def request(self, step: int) -> bytes:
        """The bytes of the request of step `step`, exactly as they were sent. Raises NoSuchAddress."""
        steps = []
        for event in self.archive.record.events(kinds=("request",)):
            if event.data["step"] == step:
                return self.archive.record.body(event.data["pieces"])
            steps.append(event.data["step"])
        known = f"it has steps {steps[0]} to {steps[-1]}" if steps else "nothing was sent yet"
        raise NoSuchAddress(f"no request of step {step} in session {self.name}; {known}")

    def message_tokens(self, message: Message) -> int:
        return message_tokens(message, self.counter)

    def _snapshot(self, state: str) -> Snapshot:
        return self.chronicle.snapshot(
            name=self.name, model=self.model, model_label=self.provider.label, state=state, notices=self.drift
        )

    def _refuse_busy(self) -> None:
        if self.running:
            raise SessionBusy(
                f"session {self.name} is at step {self.live.step} of another run; wait for it, or stop it first"
            )

    def _check_room(self) -> None:
        """A window that cannot even hold the fixed parts is refused before the first request."""
        state = self.live.state
        least = state.fixed + state.note_tokens
        if least >= state.usable:
            parts = f"system {state.system:,}, tools {state.tools:,}, project {state.project:,}, a note {state.note_tokens:,}"
            raise BadWindow(
                f"window {state.window.total:,} leaves {state.usable:,} usable tokens, and the fixed parts take "
                f"{least:,} ({parts}); take a larger window or fewer tools"
            )

    def _settle_open_calls(self) -> None:
        """After a crash inside a tool turn: each open call gets the result that says how far it came."""
        started = {event.data["id"] for event in self.archive.record.events(kinds=("tool start",))}
        for row in self.live.state.rows:
            if row.open:
                messages = self.live.entries[row.id].messages
                answered = {result.call_id for message in messages for result in message.results}
                for call in messages[0].calls:
                    if call.id not in answered:
                        text = INTERRUPTED if call.id in started else NEVER_STARTED
                        self.live.append(tool(refusal(call, text)))

    def _note_settings(self) -> None:
        """Says in the record under which settings the session goes on, where they are new."""
        settings = {
            "model": self.model,
            "policy": self.policy.name,
            "window": asdict(self.window),
            "tools": list(self.toolbox.names),
            "prompts": [self.note_prompt.reference],
        }
        known = self.archive.record.events(kinds=("settings",))
        if not known or known[-1].data != settings:
            self.archive.write("settings", settings)

    def __repr__(self) -> str:
        return f"Session({self.name}: {self.model}, policy {self.policy.name}, window {self.window.total:,})"


def sessions(root: str | Path | None = None) -> tuple[SessionRow, ...]:
    """The sessions recorded in the project folder, the one used last first."""
    return recorded_sessions(root)


def open_session(name: str, root: str | Path | None = None) -> Session:
    """The session of that name: as it is where it is open here, else opened with its recorded settings."""
    key = (home(root).resolve(), name)
    if key in _OPEN:
        return _OPEN[key]
    known = {row.name for row in recorded_sessions(root)}
    if name not in known:
        raise Unknown("session", name, sorted(known))
    with Record.open(root, name, write=False) as record:
        found = record.events(kinds=("settings",))
    if not found:
        raise Unknown("session", name, sorted(known - {name}))
    settings = found[-1].data
    return Session(
        settings["model"],
        name=name,
        window=Window(**settings["window"]),
        policy=settings["policy"],
        root=root,
    )


def default_name() -> str:
    """The notebook's stem, else the script's, else `session`."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    stem = Path(notebook).stem or Path(sys.argv[0] if sys.argv else "").stem
    return stem if stem and not stem.startswith("-") else "session"


def _window(model: str, window: int | Window | None) -> Window:
    if isinstance(window, Window):
        return window
    known = facts(model)
    if window is not None:
        return Window.of(window, max_output=known.max_output if known else None)
    if known is None:
        raise BadWindow(f"the window of model {model!r} is unknown; give window=TOKENS")
    return Window.of(known.total, max_output=known.max_output, source=known.source)


def _chosen(given: Sequence[Tool | Callable[..., Any] | str], built_in: Sequence[Tool]) -> list[Tool]:
    """Built-in tools, all of them unless some are named, then the user's own."""
    by_name = {item.name: item for item in built_in}
    named = [item for item in given if isinstance(item, str)]
    for name in named:
        if name not in by_name:
            raise Unknown("tool", name, by_name)
    own = [as_tool(item) for item in given if not isinstance(item, str)]
    return [*([by_name[name] for name in named] if named else built_in), *own]


def _task_text(task: str) -> str:
    if not isinstance(task, str):
        raise Misuse(f"a task is a text, not a {type(task).__name__}")
    if not task.strip():
        raise EmptyTask("the task is empty; say what should be done")
    return task.strip()
