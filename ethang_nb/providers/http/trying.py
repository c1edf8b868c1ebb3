"""Trying: the same request again, with stamina, while nothing of a reply has been heard and the fault may pass.

Waits are the server's where it names one, else stamina's, which double. What was tried is told: before each wait, in
the notices of a reply, in the text of the last fault.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import stamina

from ethang_nb.clock import Clock
from ethang_nb.errors import ProviderFault
from ethang_nb.providers.faults.faults import without_step
from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.http.logs import AskAgain
from ethang_nb.providers.http.waiting import Waits, lasting, retry_after
from ethang_nb.providers.protocol import Reply

__all__ = ["insist"]

_REASON = 80  # ► characters of a fault that a notice repeats
_chance = random.Random()  # noqa: S311 - no secret; not the one whose seed the user has set


async def insist(
    once: Callable[[], Awaitable[Hearing]],
    *,
    waits: Waits,
    clock: Clock,
    on_note: Callable[[str], None] | None = None,
) -> Hearing:
    """The hearing that counts: of the first try that needs no other, else of the last one.

    Who has switched stamina off or to testing in this process has done so for these retries, too: there may be fewer
    of them, without waits, and never more than `waits` says.
    """
    tries = _Tries(waits, clock, on_note)
    retries = stamina.retry_context(
        on=tries.again,
        attempts=waits.tries,
        timeout=None,
        wait_initial=waits.first,
        wait_max=waits.most,
    )
    heard: Hearing | None = None
    try:
        async for attempt in retries:
            with attempt:
                tries.begin()
                heard = await once()
                tries.judge(heard, attempt)
    except AskAgain:
        tries.give_up()
    assert heard is not None  # noqa: S101 - stamina begins at least one try
    return heard


class _Tries:
    """The tries of one request, and what came of them."""

    def __init__(self, waits: Waits, clock: Clock, on_note: Callable[[str], None] | None) -> None:
        self._waits, self._clock, self._on_note = waits, clock, on_note
        self._begun = clock.monotonic()
        self._number, self._next_wait = 0, 0.0
        self._faults: list[ProviderFault] = []
        self._told = False

    def begin(self) -> None:
        """What was told of the wait is over."""
        if self._told and self._on_note is not None:
            self._on_note("")
        self._told = False

    def judge(self, heard: Hearing, attempt: stamina.Attempt) -> None:
        """Lets an outcome stand. Raises AskAgain for one after which the request may go again."""
        self._number, self._next_wait = attempt.num, attempt.next_wait
        fault = heard.outcome
        if isinstance(fault, ProviderFault) and fault.retryable and not heard.heard:
            if fault.after is None:
                fault.after = retry_after(heard.headers, self._clock.now())
            self._faults.append(fault)
            raise AskAgain(f"HTTP {heard.status}" if heard.status else "no answer")
        if isinstance(fault, Reply) and self._faults:
            before = ", ".join(_reason(fault) for fault in self._faults)
            notice = f"answered at try {self._number}; before that: {before}"
            heard.outcome = replace(fault, notices=(*fault.notices, notice))

    def again(self, error: Exception) -> bool | float:
        """What stamina asks: False to leave it at that, else after how many seconds to go on."""
        if not isinstance(error, AskAgain):
            return False
        waits, fault = self._waits, self._faults[-1]
        wait = self._next_wait if fault.after is None else fault.after
        late = self._passed() + wait > waits.patience
        if self._number >= waits.tries or wait > waits.longest or late:
            return False
        if self._on_note is not None and not stamina.is_testing():
            told = str(fault).partition("; ")[0]  # what to do about it is being done
            self._told = True
            self._on_note(f"{told}; try {self._number + 1} of {waits.tries} in {lasting(wait)}")
        # Never less than was asked for. stamina's own jitter would come out of the user's `random`.
        return wait + _chance.uniform(0, waits.jitter)

    def give_up(self) -> None:
        """The last fault's text tells what was tried, and how long the server asks to be left alone."""
        fault = self._faults[-1]
        text = str(fault)
        if len(self._faults) > 1:
            text = f"no answer after {len(self._faults)} tries in {lasting(self._passed())}; the last: {text}"
        if fault.after is not None and fault.after > self._waits.longest:
            text = without_step(text) + (
                f"; it asks to be left alone for {lasting(fault.after)}, and more than {self._waits.longest:.0f} s "
                "is not waited for: ask again then"
            )
        fault.args = (text,)

    def _passed(self) -> float:
        return self._clock.monotonic() - self._begun


def _reason(fault: ProviderFault) -> str:
    """The beginning of a fault's text: what happened, without the server's own words and what to do about it."""
    return str(fault).partition("; ")[0].partition(": ")[0][:_REASON]
