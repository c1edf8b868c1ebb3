"""Run: one piece of work as a record: how it ended, what it answered, what it took."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

from ethang_nb._show import Shown
from ethang_nb.agent.masking import mask
from ethang_nb.agent.notices import Notices
from ethang_nb.agent.reseeding import ReseedPlan
from ethang_nb.agent.spending import Spending, Spent
from ethang_nb.context.budget import percentile
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.snapshot import Diff, Snapshot, StepRow
from ethang_nb.context.wording import printable
from ethang_nb.errors import RunEnded
from ethang_nb.providers.models.facts import Prices
from ethang_nb.providers.protocol import Reply

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
        """The model, as its provider names it."""
        self.ending: Ending = "running"
        self.answer = ""
        self.partial = False
        """Whether `answer` is only what had come of a reply when it broke off. Then it is not in the context."""
        self.error = ""
        self.detail = ""
        """Further lines of the error, such as how a request differs from the recorded one."""
        self.before = 0
        """How many steps its session had before it."""
        self.calls = 0
        self.fills: list[int] = []
        self.snapshot: Snapshot | None = None
        self.diffs: tuple[Diff, ...] = ()
        self.reseed: ReseedPlan | None = None
        """How its piece of work started from the core; None where it went on from what stood there."""
        self.said = Notices()
        """What a person should know of its requests, replies and notes."""
        self._all, self._notes = Spending(), Spending()
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
        """What a person should know of this run: what went otherwise than asked for, and notes written by rules."""
        return self.said.lines

    # ---- what it took; handoff notes are in all of these, and counted by themselves besides

    @property
    def usage(self) -> Spent:
        """What all its requests took."""
        return self._all.spent

    @property
    def notes_usage(self) -> Spent:
        """What the requests for handoff notes took of it."""
        return self._notes.spent

    @property
    def tokens_in(self) -> int | None:
        """None: nothing came of any request. `usage.own_input` of it is our own count."""
        return self._all.spent.input

    @property
    def tokens_out(self) -> int | None:
        """None: nothing came of any request. `usage.own_output` of it is our own count."""
        return self._all.spent.output

    @property
    def cached(self) -> int | None:
        """Of the tokens in, those read from the provider's cache; None: it does not say."""
        return self._all.spent.cached

    @property
    def written(self) -> int | None:
        """Of the tokens in, those put into the provider's cache; None: it does not say."""
        return self._all.spent.written

    @property
    def reasoning(self) -> int | None:
        """Of the tokens out, those that nobody sees; None: the provider does not say."""
        return self._all.spent.reasoning

    @property
    def cost(self) -> int | None:
        """In millionths of a US dollar (10⁻⁶ USD): 956 is $0.000956. As text it is given in dollars, rounded up.

        None where a price or a count is unknown, and `usage.unpriced` says which.
        """
        return self._all.spent.cost

    @property
    def note_tokens(self) -> int:
        """Tokens in and out of the requests for handoff notes."""
        return (self._notes.spent.input or 0) + (self._notes.spent.output or 0)

    @property
    def note_cost(self) -> int | None:
        """What the handoff notes cost, in millionths of a US dollar; None where a price or a count is unknown."""
        return self._notes.spent.cost

    @property
    def done(self) -> bool:
        return self._done.is_set()

    @property
    def ok(self) -> bool:
        return self.ending == "completed"

    def spend(
        self,
        reply: Reply,
        own: int,
        counter: TokenCounter,
        *,
        model: str = "",
        prices: Prices | None = None,
        predicted: int | None = None,
        note: bool = False,
    ) -> None:
        """Adds what the provider says it counted; our own count where it says nothing, or something phantom.

        `own`: tokens of the request by our own count; `predicted` of them should have been in the provider's cache.
        """
        for spending in (self._all, self._notes) if note else (self._all,):
            spending.add(reply, own, counter, model=model, prices=prices, predicted=predicted)

    def miss(self, *, note: bool = False) -> None:
        """Nothing came of a request."""
        for spending in (self._all, self._notes) if note else (self._all,):
            spending.miss()

    def broke_off(self, text: str) -> None:
        """`text` had come of a reply that will not come to its end."""
        if text:
            self.answer, self.partial = mask(text), True

    def finish(self, ending: Ending, error: str = "") -> None:
        self.ending, self.error = ending, mask(error)

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
