"""Worker: does the runs of one desk, one at a time, on the session's thread, and puts their ends on record.

Whatever happens in a run, its end is recorded where that can be done at all, and whoever waits is woken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from ethang_nb.agent.asking import turn_over
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.given import task_text
from ethang_nb.agent.loop import Loop
from ethang_nb.agent.masking import mask
from ethang_nb.agent.reseeding import ReseedPlan, foretold_reseed, reseed_plan
from ethang_nb.agent.run import Ending, Progress, Run
from ethang_nb.agent.runner import CLOSING, MainThread, Runner
from ethang_nb.agent.withdrawal import withdraw, withdraws
from ethang_nb.context import kinds
from ethang_nb.context.explain import next_cleanup
from ethang_nb.context.messages import Message, user
from ethang_nb.context.plan import Plan
from ethang_nb.context.snapshot import Snapshot
from ethang_nb.errors import EthangError, SessionBusy
from ethang_nb.providers.protocol import Provider

__all__ = ["Worker"]


class Worker:
    """The worker of a desk. `begun`: a piece of work is begun by name, and its run has not come yet.

    `snapshot(ending)` gives what a run that has ended shows of the context.
    """

    def __init__(self, desk: Desk, *, begun: bool, snapshot: Callable[[Ending], Snapshot]) -> None:
        self._desk, self._snapshot = desk, snapshot
        self._begun = begun
        self._reseed: ReseedPlan | None = None
        """How the next run's piece of work started from the core, where it did."""
        self.notices: list[str] = []
        """What a person should know of starts from the core: that nothing stood in it."""
        self._runner = Runner(f"ethang-{desk.name}")
        self.run: Run | None = None
        """The run that is going on, or the last one."""
        self._working: asyncio.Task[None] | None = None
        self._to_stop: Run | None = None
        self._ended = False

    @property
    def running(self) -> bool:
        return self.run is not None and not self.run.done

    @property
    def working(self) -> bool:
        """Whether a run is going on whose work has not come to its end."""
        return self.run is not None and self.run.ending == "running"

    @property
    def begun(self) -> bool:
        """Whether a piece of work is begun by name and waits for its run."""
        return self._begun

    @property
    def inside(self) -> bool:
        """Whether the caller is the worker's own thread."""
        return self._runner.inside

    def refuse_busy(self) -> None:
        """Raises SessionBusy while a run is going on."""
        if self.running:
            raise SessionBusy(
                f"session {self._desk.name} is at step {self._desk.live.step} of another run; wait for it, or stop it "
                "first"
            )

    # ---- a run, from its start to its end

    def begin(self, name: str) -> None:
        """Begins a piece of work; the next run's task is its task."""
        with self._desk.lock:
            self.refuse_busy()
            withdraw(self._desk)
            self._open(mask(name))
            self._begun = True
        self._desk.changes.tell("begin")

    def _open(self, name: str = "") -> None:
        """A piece of work begins, from the core where the policy says so, or `cool` was asked for."""
        live = self._desk.live
        decision = live.begin(name)
        if decision is not None and decision.lands:
            self._started(reseed_plan(live, decision))

    def _started(self, plan: ReseedPlan) -> None:
        self._reseed = plan
        if plan.not_held.warning:
            self.notices.append(f"step {self._desk.live.step + 1}: {plan.not_held.warning}")

    def start(self, task: str, main: MainThread) -> Run:
        """Starts a run and returns at once; `main` is whoever waits for it. Raises EmptyTask, SessionBusy, Misuse."""
        desk, text = self._desk, mask(task_text(task))
        with desk.lock:
            self.refuse_busy()
            run = Run(desk.name, text, desk.provider.label)
            run.before = len(desk.chronicle.steps)
            message = user(text)
            self._check(message)  # before anything is done: what is refused leaves no trace
            withdraw(desk, run)
            if not self._begun:
                self._open()
            self._begun = False
            run.reseed, self._reseed = self._reseed, None
            desk.live.append(message)
            desk.log(kinds.RUN, {"task": text})
            desk.main = main
            self.run = run
            self._runner.submit(self._work(run))
        desk.changes.tell("run started")
        return run

    def _check(self, message: Message) -> None:
        """Raises Misuse for a message that has no room in the window as it will stand when the message enters.

        What is withdrawn before it no longer refuses it, and the core that its piece of work starts from takes room.
        """
        live = self._desk.live
        withdrawing = withdraws(self._desk)
        if withdrawing or not self._begun:
            live = live.copy()
            if withdrawing:
                live.withdraw()
            if not self._begun:
                live.begin()
        live.check(message)

    def stop(self) -> None:
        """Asks the run that is going on to end; nothing without one."""
        if self.running:
            self._to_stop = self.run
            self._runner.call(self._cancel)

    def _cancel(self) -> None:
        if self._working is not None:
            self._working.cancel()

    async def _work(self, run: Run) -> None:
        main, first = self._desk.main, len(self._desk.chronicle.steps)
        self._working = asyncio.ensure_future(Loop(self._desk, run).work())
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
        desk, chronicle = self._desk, self._desk.chronicle
        with desk.lock:
            try:
                desk.coming.begin()
                desk.log(kinds.RUN_END, {"ending": run.ending, "error": run.error, "answer": run.answer})
            except EthangError as error:  # the end cannot be recorded: a full disk, a record that was closed
                run.break_off(error)
            try:
                steps = {row.step for row in chronicle.steps[first:]}
                run.diffs = tuple(diff for diff in chronicle.diffs if diff.step in steps)
                run.snapshot = self._snapshot(run.ending)
            except Exception as error:  # a bug of ours: the caller is told, the record is whole
                run.break_off(error)
        desk.changes.tell("run ended")
        if chronicle.steps:
            desk.watchers.tell(Progress(row=chronicle.steps[-1], ending=run.ending))

    # ---- between runs

    def compact(self) -> Plan:
        """A cleanup now, or at the next step boundary where a run is going on; returns its plan."""
        with self._desk.lock:
            self._desk.live.ask_cleanup()
            if self.running or self.inside:
                return next_cleanup(self._desk.live)
        plan: Plan = self._runner.submit(turn_over(self._desk)).result()
        return plan

    def reseed(self) -> ReseedPlan:
        """Starts from the core now; returns its plan, whose outcome says where that could not be done."""
        desk, live = self._desk, self._desk.live
        with desk.lock:
            if self.running:
                raise SessionBusy(
                    f"session {desk.name} is at step {live.step} of a run, and a start from the core comes between "
                    f"pieces of work; wait for its end, or cool() it: the next piece of work then starts from the core"
                )
            plan = foretold_reseed(live)
            if not plan.lands:
                return plan
            decision = live.reseed()
            assert decision is not None  # noqa: S101 - it was foretold
            plan = reseed_plan(live, decision)
            self._started(plan)
            return plan

    def cool(self) -> None:
        """The next piece of work starts from the core; one that is begun and waits for its run does so now."""
        with self._desk.lock:
            if self._begun and not self.running:
                self.reseed()
            else:
                self._desk.live.cool()

    def let_go(self, provider: Provider) -> None:
        """Closes a provider that is asked no more, in the loop that asked it."""
        closing = self._runner.submit(provider.close())
        if not self.inside:
            with suppress(Exception):  # whatever keeps it open keeps nobody from going on with another
                closing.result(CLOSING)

    def close(self) -> None:
        """Closes the providers, and ends the thread."""
        ended, self._ended = self._ended, True
        self._runner.close(None if ended else self._desk.let_go)
