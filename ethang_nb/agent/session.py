"""Session: an agent's model, window, policy, tools and record, and one context that all of it works on.

One run at a time. Everything is recorded as it happens; opening the same name again feeds the record and goes
on as itself. Looking changes nothing: what is shown never enters the context.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.files import file_tools
from ethang_nb.agent.given import (
    check_kinds,
    check_room,
    chosen_folder,
    chosen_name,
    chosen_tools,
    task_text,
)
from ethang_nb.agent.jail import Jail
from ethang_nb.agent.limits import Limits
from ethang_nb.agent.loop import Loop
from ethang_nb.agent.prompt import prompt
from ethang_nb.agent.recall import recall_tools
from ethang_nb.agent.run import Progress, Run
from ethang_nb.agent.runner import MainThread, Runner
from ethang_nb.agent.tool import Tool
from ethang_nb.agent.toolbox import FINISHED_UNREAD, INTERRUPTED, NEVER_STARTED, Toolbox, refusal
from ethang_nb.clock import Clock, SystemClock
from ethang_nb.context.budget import Budget
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.explain import next_cleanup
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, clean, tool, user
from ethang_nb.context.occupancy import budget
from ethang_nb.context.outline import segments
from ethang_nb.context.plan import Plan
from ethang_nb.context.policy import Policy
from ethang_nb.context.policy import policy as find_policy
from ethang_nb.context.rehearsal import foretold
from ethang_nb.context.replaying import replay_into
from ethang_nb.context.segments import Segments
from ethang_nb.context.snapshot import Pin, Snapshot, StepRow
from ethang_nb.context.state import State
from ethang_nb.context.window import Window
from ethang_nb.errors import (
    EthangError,
    Misuse,
    NoSuchAddress,
    SessionBusy,
)
from ethang_nb.providers.protocol import Provider
from ethang_nb.providers.registry import provider
from ethang_nb.providers.unasked import Unasked
from ethang_nb.providers.windows import window_of
from ethang_nb.store.database import home
from ethang_nb.store.record import Event
from ethang_nb.tokens.registry import counter

__all__ = ["BUILT_IN", "OPEN", "Session"]

BUILT_IN = ("read_file", "list_files", "read_spill", "find_in_record", "release_context")
"""The tools every session has unless some of them are named."""

NOTE_PROMPT = "compaction@v2"
SYSTEM_PROMPT = "system@v1"
SEARCH = "find_in_record"
DEAR_PER_MILLE = 600  # fixed parts above this share of usable are said at the start (DESIGN 6)
GRACE = 5.0  # ► seconds a stopped run gets to reach its end before the cell is let go
_CAME = {"tool start": INTERRUPTED, "tool end": FINISHED_UNREAD}
"""The last that the record says of a call, and what its result says then."""

OPEN: dict[tuple[Path, str], Session] = {}
"""Sessions that are open for writing in this process, by project folder and name."""


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
        window: int | str | Window | None = None,
        policy: str | Policy = "ethang",
        system: str | None = None,
        project: str | None = None,
        params: Mapping[str, Any] | None = None,
        tools: Sequence[Tool | Callable[..., Any] | str] = (),
        root: str | Path | None = None,
        limits: Limits | None = None,
        store: str | Path | None = None,
        clock: Clock | None = None,
        look: bool = False,
    ) -> None:
        if model is None:
            raise Misuse("model=None names no model; give one such as 'reader'")
        check_kinds(
            model=model, name=name, system=system, project=project, limits=limits, tools=tools, params=params
        )
        self.model = model
        self.name = chosen_name(name)
        self.provider: Provider = Unasked(model) if look else provider(model)
        self.counter = counter(model)
        self.limits = limits or Limits()
        self.params: Mapping[str, Any] = dict(params or {})
        self.lock = threading.RLock()
        self.turning = asyncio.Lock()
        """Held in the worker from a request point until its note is written."""
        self.main = MainThread()
        self.last_sent: tuple[Message, ...] = ()
        self.note_prompt = prompt(NOTE_PROMPT)
        self.closed = False
        jail = Jail(Path.cwd() if root is None else root)
        self.root = jail.root
        self._folder = self.root if store is None else chosen_folder(store)
        self._watchers: list[Callable[[Progress], None]] = []
        self._runner = Runner(f"ethang-{self.name}")
        self._run: Run | None = None
        self._working: asyncio.Task[None] | None = None
        self._to_stop: Run | None = None
        self._begun = False
        self._said: list[str] = []
        """Notices of the session itself: what could not be shown, what its fixed parts cost."""
        built_in = (
            *file_tools(jail, self.counter, lambda: self.live.state.entry_tokens),
            *recall_tools(lambda: self.archive, lambda: self.live, self.lock),
        )
        self.toolbox = Toolbox(chosen_tools(tools, built_in), self.limits, self._write)
        self.live = LiveContext(
            window=window_of(window, model=model),
            policy=find_policy(policy),
            counter=self.counter,
            system=prompt(SYSTEM_PROMPT).text if system is None else system,
            project=project or "",
            tools=self.toolbox.specs,
            spill=self._spill,
            searchable=SEARCH in self.toolbox.names,
        )
        wanted = self.live.state
        # Before the record is opened, so that a session that cannot be leaves nothing in it.
        check_room(wanted)
        self._key = (home(self._folder).resolve(), self.name)
        if not look:
            self._take_over()
        self.archive = Archive(self._folder, self.name, jail, clock or SystemClock(), write=not look)
        try:
            self.live.journal = self.archive
            self.chronicle = Chronicle(self.live)
            entries = self.archive.entries()
            self.drift = replay_into(self.live, entries, look=look)
            kinds = [entry.kind for entry in entries if entry.kind in ("work", "message")]
            self._begun = kinds[-1:] == ["work"]  # begun by name, and its run has not come yet
            if not look:
                self._settle(wanted)
                self._settle_open_calls()
        except BaseException:
            self.archive.close()
            raise
        self._say_fixed_cost()
        if not look:
            OPEN[self._key] = self

    # ---- runs

    def run(self, task: str) -> Run:
        """Runs a piece of work and waits. ■ asks it to stop and waits up to 5 s; a second ■ lets go at once."""
        main = MainThread()
        main.waiting = _on_main_thread()
        return self.wait(self._start(task, main))

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
        return self._start(task, MainThread())

    def wait(self, run: Run, *, grace: float = GRACE) -> Run:
        """Waits for a run of this session on this thread, which meanwhile serves tools defined in the notebook.

        Raises what broke the run where that was a fault of the record, or a bug.
        """
        self.main.waiting = _on_main_thread()
        asked = False
        try:
            while not self._served(run, grace if asked else None):
                if asked:
                    break
                asked = True
                self.stop()
        finally:
            self.main.waiting = False
        return run.faultless()

    def _served(self, run: Run, timeout: float | None) -> bool:
        """Serves the worker until the run has ended; False where ■ or `timeout` (seconds) came first."""
        try:
            return run.done or self.main.serve(timeout)
        except KeyboardInterrupt:
            return False

    def _start(self, task: str, main: MainThread) -> Run:
        text = task_text(task)
        with self.lock:
            self.refuse_busy()
            run = Run(self.name, text, self.provider.label)
            message = user(text)
            self.live.check(message)  # what is refused leaves nothing in the record
            if not self._begun:
                self.live.begin()
            self._begun = False
            self.live.append(message)
            self.archive.write("run", {"task": text})
            self.main = main
            self._run = run
            self._runner.submit(self._work(run))
        return run

    def begin(self, name: str = "") -> None:
        """Begins a piece of work; the next run's task is its task. Every other run begins one by itself."""
        with self.lock:
            self.refuse_busy()
            self.live.begin(name)
            self._begun = True

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
        main, first = self.main, len(self.chronicle.steps)
        self._working = asyncio.ensure_future(Loop(self, run).work())
        if self._to_stop is run:  # asked for before the work began
            self._working.cancel()
        try:
            await self._working
        except asyncio.CancelledError:
            if run.ending == "running":
                run.finish("interrupted", "stopped")
        except Exception as error:
            run.break_off(error)
        finally:
            self._working = None
            try:
                self._end(run, first)
            finally:  # whatever happens, whoever waits is woken
                run.release()
                main.post(None)

    def _end(self, run: Run, first: int) -> None:
        """`first`: how many steps the session had before the run."""
        with self.lock:
            try:
                self.archive.write(
                    "run end", {"ending": run.ending, "error": run.error, "answer": run.answer}
                )
            except EthangError as error:  # the end cannot be recorded: a full disk, a record that was closed
                run.break_off(error)
            try:
                steps = {row.step for row in self.chronicle.steps[first:]}
                run.diffs = tuple(diff for diff in self.chronicle.diffs if diff.step in steps)
                run.snapshot = self._snapshot(run.ending)
            except Exception as error:  # a bug of ours: the caller is told, the record is whole
                run.break_off(error)
        if self.chronicle.steps:
            self.tell(Progress(row=self.chronicle.steps[-1], ending=run.ending))

    # ---- acts

    def compact(self) -> Plan:
        """A cleanup now, or at the next step boundary where a run is going on; returns its plan."""
        with self.lock:
            self.live.ask_cleanup()
            if self.running or self._runner.inside:
                return next_cleanup(self.live)
        holder: list[Plan] = []

        async def turn() -> None:
            holder.append(await Loop(self, Run(self.name, "", self.provider.label)).turn_over())

        self._runner.submit(turn()).result()
        return holder[0]

    def change(self, *, window: int | str | Window | None = None, policy: str | Policy | None = None) -> None:
        """Goes on with another window or policy. Raises SessionBusy, BadWindow, Unknown, and then changes nothing."""
        with self.lock:
            self.refuse_busy()
            state = self.live.state
            wanted = replace(
                state,
                window=state.window if window is None else window_of(window, model=self.model),
                policy=state.policy if policy is None else find_policy(policy),
            )
            if wanted.usable < state.usable or wanted.note_tokens > state.note_tokens:
                check_room(wanted)
            self._settle(wanted)

    def pin(self, text: str, kind: str = "constraint") -> Pin:
        """Keeps a constraint or decision verbatim from the next request on."""
        with self.lock:
            return self.live.pin(" ".join(text.split()) if isinstance(text, str) else text, kind)

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
                with suppress(ValueError):  # it has taken itself away
                    self._watchers.remove(callback)
                # Not into the record: looking must not move its numbers, which are addresses.
                self._said.append(f"a view failed and is no longer told: {type(error).__name__}: {error}")

    def close(self) -> None:
        """Stops what runs, and gives the session free for others. The record stays."""
        run = self._run
        if run is not None and not run.done:
            self.stop()
            if not self._runner.inside:
                run.wait(GRACE)
        self.closed = True
        self._runner.close()
        self.archive.close()
        if OPEN.get(self._key) is self:
            del OPEN[self._key]

    def _write(self, kind: str, data: dict[str, Any]) -> int:
        return self.archive.write(kind, data)

    def _spill(self, tool: str, text: str) -> str:
        return self.archive.spill(tool, text)

    def __enter__(self) -> Self:
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
            return foretold(self.live, asked=cleanup)

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
            name=self.name, model=self.model, model_label=self.provider.label, state=state,
            notices=(*self._said, *self.drift),
        )  # fmt: skip

    def _take_over(self) -> None:
        """A session of this name that is open here gives way, so that a cell that makes one can be run again."""
        found = OPEN.get(self._key)
        if found is not None:
            found.refuse_busy()
            found.close()

    def _say_fixed_cost(self) -> None:
        """Fixed parts that leave little room are said once, part by part."""
        state = self.live.state
        parts = {"system": state.system, "tools": state.tools, "project": state.project, "core": state.core}
        parts["a handoff note"] = state.note_tokens
        if sum(parts.values()) * 1000 > state.usable * DEAR_PER_MILLE:
            listed = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
            self._said.append(
                f"fixed parts take {sum(parts.values()):,} of {state.usable:,} usable tokens on every request: {listed}"
            )

    def refuse_busy(self) -> None:
        """Raises SessionBusy while a run is going on."""
        if self.running:
            raise SessionBusy(
                f"session {self.name} is at step {self.live.step} of another run; wait for it, or stop it first"
            )

    def _settle_open_calls(self) -> None:
        """After a crash inside a tool turn: each open call gets the result that says how far it came."""
        for row in self.live.state.rows:
            if not row.open:
                continue
            entry = self.live.entries[row.id]
            asked = int(entry.addresses[0].removeprefix("log://"))
            events = self.archive.record.events(after=asked, kinds=("tool start", "tool end"))
            came = {event.data["id"]: _CAME[event.kind] for event in events}
            answered = {result.call_id for message in entry.messages for result in message.results}
            for call in entry.messages[0].calls:
                if call.id not in answered:
                    self.live.append(tool(refusal(call, came.get(call.id, NEVER_STARTED))))

    def _settle(self, wanted: State) -> None:
        """Goes on under the settings of `wanted`; where they are new they are recorded first.

        So a replay meets every request under the settings it was made under.
        """
        parts: dict[str, Any] = {
            "system": wanted.system,
            "project": wanted.project,
            "tools": wanted.tools,
            "searchable": SEARCH in self.toolbox.names,
        }
        settings = {
            "model": self.model,
            "policy": wanted.policy.knobs(),
            "window": asdict(wanted.window),
            "system": clean(self.live.system),
            "project": clean(self.live.project),
            "params": dict(self.params),
            "tools": list(self.toolbox.names),
            "parts": parts,
            "prompts": [self.note_prompt.reference],
        }
        known = self.archive.record.events(kinds=("settings",))
        if not known or known[-1].data != json.loads(json.dumps(settings)):
            self.archive.write("settings", settings)
        self.live.settle(window=wanted.window, policy=wanted.policy, **parts)

    def __repr__(self) -> str:
        return f"Session({self.name}: {self.model}, policy {self.policy.name}, window {self.window.total:,})"


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
