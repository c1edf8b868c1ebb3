"""Run: one piece of work as a record: how it ended, what it answered, what it took."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

from ethang_nb._show import Shown
from ethang_nb.agent.byrules import ByRules
from ethang_nb.agent.reseeding import ReseedPlan
from ethang_nb.context.budget import percentile
from ethang_nb.context.counting import TokenCounter, message_tokens
from ethang_nb.context.fold import PHANTOM
from ethang_nb.context.snapshot import Diff, Snapshot, StepRow
from ethang_nb.context.wording import printable
from ethang_nb.errors import RunEnded
from ethang_nb.providers.protocol import Reply, Usage

__all__ = ["Ending", "Progress", "Run"]

Ending = Literal[
    "running", "completed", "interrupted", "provider error", "invalid result", "budget exhausted", "step limit",
    "truncated", "stuck", "hung",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a watcher is told after each request point: the step's row, and the run's ending once it has one."""

    row: StepRow
    ending: Ending


class Run(Shown):
    """A run that is going on or has ended. Endings are records, not exceptions; `check()` raises if asked."""

    _view = "ethang_nb.views.run"

    def __init__(self, session: str, task: str, label: str) -> None:
        self.session = session
        self.task = task
        self.label = label
        self.ending: Ending = "running"
        self.answer = ""
        self.error = ""
        self.tokens_in = 0
        self.tokens_out = 0
        self.calls = 0
        self.fills: list[int] = []
        self.snapshot: Snapshot | None = None
        self.diffs: tuple[Diff, ...] = ()
        self.reseed: ReseedPlan | None = None
        """How its piece of work started from the core; None where it went on from what stood there."""
        self.by_rules = ByRules()
        """The notes that rules wrote because no model did."""
        self._done = threading.Event()
        self._fault: Exception | None = None

    @property
    def steps(self) -> int:
        """Requests made to the model for the work itself; those for handoff notes are not among them."""
        return len(self.fills)

    @property
    def p95(self) -> int | None:
        """95th percentile of fill over the requests of this run, per mille."""
        return percentile(tuple(self.fills))

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of this run: that a note was written by rules, and why."""
        return self.by_rules.notices

    @property
    def done(self) -> bool:
        return self._done.is_set()

    @property
    def ok(self) -> bool:
        return self.ending == "completed"

    def spend(self, reply: Reply, own: int, counter: TokenCounter) -> None:
        """Adds what the provider says it counted; our own count where it says nothing, or something phantom.

        `own`: tokens of the request by our own count.
        """
        usage = reply.usage or Usage()
        told = usage.input is not None and usage.input <= PHANTOM * own
        self.tokens_in += usage.input if usage.input is not None and told else own
        self.tokens_out += message_tokens(reply.message, counter) if usage.output is None else usage.output

    def finish(self, ending: Ending, error: str = "") -> None:
        self.ending, self.error = ending, error

    def break_off(self, fault: Exception) -> None:
        """Not an end of the work but of the machinery under it: the record cannot be written, or a bug of ours."""
        self._fault = self._fault or fault
        self.finish("interrupted", f"{type(fault).__name__}: {fault}")

    def faultless(self) -> Run:
        """The run itself, unless a fault broke it off; then that is raised."""
        if self._fault is not None:
            raise self._fault
        return self

    def release(self) -> None:
        """Wakes whoever waits; after everything of the run is in place."""
        self._done.set()

    def wait(self, timeout: float | None = None) -> Run:
        """Waits until the run has ended, at most `timeout` seconds; returns the run either way."""
        self._done.wait(timeout)
        return self

    def check(self) -> Run:
        """The run itself if it completed, else RunEnded with its ending and reason."""
        if self.done and not self.ok:
            raise RunEnded(f"{self.ending}: {self.error or 'no reason recorded'}")
        return self

    def __repr__(self) -> str:
        return f"Run({printable(self.session)}: {self.ending}, {self.steps} steps)"
