"""Loop: one piece of work, request by request, until it ends by name.

plan -> note -> assemble -> record the request -> send -> record the reply -> run the tools -> again. Every
way out is an Ending; only bugs and faults of the record raise.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import NoReturn

from ethang_nb.agent.compaction import write_note
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.run import Ending, Progress, Run
from ethang_nb.agent.toolbox import INTERRUPTED, NEVER_STARTED, refusal
from ethang_nb.context import kinds
from ethang_nb.context.fold import PHANTOM
from ethang_nb.context.messages import Message, Part, ToolCall, tool
from ethang_nb.context.plan import Plan
from ethang_nb.errors import ModelFault, Overflow
from ethang_nb.formats.detect import to_messages
from ethang_nb.providers.protocol import Reply, Request

__all__ = ["Loop", "turn_over"]

CUT_OFF = "[error] your output was cut before this call was whole; it did not run"
SMALLER = "give a smaller window"
MOST_CUTS = 2  # ► replies in a row whose call was cut off; the next one ends the run


class Ended(Exception):
    """Inside the loop only: the run is over, with this ending."""

    def __init__(self, ending: Ending, reason: str = "") -> None:
        super().__init__(ending)
        self.ending, self.reason = ending, reason


async def turn_over(desk: Desk, run: Run | None = None) -> Plan:
    """A request point, and the note that its plan asks for, which is counted in `run`; without one nothing is sent."""
    live = desk.live
    async with desk.turning:
        if live.pending is not None:  # of a run that was killed before its note came
            await write_note(desk, live.pending, run)
            desk.changes.tell("note")
        with desk.lock:
            live.request(sends=run is not None)
            plan, task = desk.chronicle.last, live.pending
            assert plan is not None  # noqa: S101 - a request point always leaves a plan
        desk.changes.tell("request")
        if task is not None:
            await write_note(desk, task, run)
            desk.changes.tell("note")
    desk.watchers.tell(Progress(row=desk.chronicle.steps[-1], ending="running"))
    return plan


class Loop:
    """One run, on what a session laid out for it."""

    def __init__(self, desk: Desk, run: Run) -> None:
        self.desk, self.run = desk, run
        self._cuts = 0

    async def work(self) -> None:
        """To the end. What was recorded stands, whatever happens here."""
        try:
            while True:
                await self._step()
        except Ended as end:
            self.run.finish(end.ending, end.reason)
        except asyncio.CancelledError:
            self.run.finish("interrupted", "stopped")

    async def _step(self) -> None:
        await asyncio.sleep(0)  # a stop that was asked for between two steps is taken here
        self._check_limits()
        plan = await turn_over(self.desk, self.run)
        if plan.outcome == "stuck":
            raise Ended("stuck", plan.reason)
        reply = await self._ask()
        message = _with_call_ids(reply.message, self.desk.live.step)
        if message.parts:
            self.desk.take(message)
        if message.calls:
            await self._tools(message.calls, cut=reply.stop == "length")
            self._check_cuts(cut=reply.stop == "length")
            return
        self.run.answer = message.text
        if reply.stop == "length":
            raise Ended("truncated", "the answer reached the output limit; raise it or ask for less")
        if reply.stop == "refused":
            raise Ended("provider error", "the model refused to answer")
        raise Ended("completed")

    # ---- the model

    async def _ask(self) -> Reply:
        """Sends; after an overflow one forced cleanup and one resend (seed 000: "the safety net")."""
        try:
            return await self._send()
        except Overflow as error:
            self.desk.log(kinds.OVERFLOW, {"text": str(error)})
        with self.desk.lock:
            live = self.desk.live
            own, hard = live.state.total, live.state.window.hard
            if own < hard <= PHANTOM * own:
                # The provider counts at least all that can be sent: so much more than we do.
                live.usage(hard, own)
            live.ask_cleanup()
        plan = await turn_over(self.desk, self.run)
        if not plan.lands:
            self._fail(
                f"the request does not fit its window, says the provider, and here {plan.reason}; {SMALLER}"
            )
        try:
            return await self._send()
        except Overflow as error:
            self._fail(f"the request does not fit even after a cleanup: {error}; {SMALLER}")

    async def _send(self) -> Reply:
        desk, live = self.desk, self.desk.live
        with desk.lock:
            messages, own, fill = live.assemble(), live.state.total, live.state.fill
            body = desk.provider.encode(
                Request(
                    model=desk.model,
                    messages=messages,
                    tools=desk.toolbox.specs,
                    max_output=live.state.window.reserve,
                    params=desk.params,
                )
            )
            desk.log_request(kinds.REQUEST, body, {"step": live.step, "tokens": own, "fill": fill})
            desk.last_sent = messages
            self.run.fills.append(fill)
        try:
            reply = await desk.provider.send(body, on_text=None)
        except Overflow:
            raise
        except ModelFault as error:
            self._fail(str(error))
        except Exception as error:  # a provider's bug ends the run by name
            self._fail(f"{type(error).__name__}: {error}")
        self._count(reply, own)
        return reply

    def _fail(self, text: str) -> NoReturn:
        self.desk.log(kinds.PROVIDER_ERROR, {"text": text})
        raise Ended("provider error", text)

    def _count(self, reply: Reply, own: int) -> None:
        usage = reply.usage
        data = None if usage is None else asdict(usage)
        with self.desk.lock:
            self.desk.log(kinds.REPLY, {"stop": reply.stop, "usage": data})
            if usage is not None and usage.input is not None:
                self.desk.live.usage(usage.input, own, usage.cached)
        self.run.spend(reply, own, self.desk.counter)
        self.run.calls += len(reply.message.calls)

    # ---- tools

    async def _tools(self, calls: tuple[ToolCall, ...], *, cut: bool) -> None:
        """Runs the calls one after the other, so that results stand in call order; a cut call is not run."""
        for at, call in enumerate(calls):
            if cut and at == len(calls) - 1:
                self.desk.take(tool(refusal(call, CUT_OFF)))
                continue
            try:
                result = await self.desk.toolbox.answer(call, self.desk.main)
            except asyncio.CancelledError:
                self.desk.take(tool(refusal(call, INTERRUPTED)))
                for rest in calls[at + 1 :]:
                    self.desk.take(tool(refusal(rest, NEVER_STARTED)))
                raise
            self.desk.take(tool(result))

    def _check_cuts(self, *, cut: bool) -> None:
        """A model that keeps running into its output limit inside a call would go on for ever."""
        self._cuts = self._cuts + 1 if cut else 0
        if self._cuts > MOST_CUTS:
            raise Ended(
                "truncated", f"{self._cuts} replies in a row were cut inside a call; raise the output limit"
            )

    # ---- small things

    def _check_limits(self) -> None:
        limits, run = self.desk.limits, self.run
        if limits.steps is not None and run.steps >= limits.steps:
            raise Ended(
                "step limit",
                f"{run.steps} steps taken; the limit is {limits.steps}. Raise it with --steps N, or Limits(steps=N)",
            )
        spent = run.tokens_in + run.tokens_out
        if limits.tokens is not None and spent >= limits.tokens:
            raise Ended(
                "budget exhausted",
                f"{spent:,} tokens spent; the limit is {limits.tokens:,}. Raise it with Limits(tokens=N)",
            )


def _with_call_ids(message: Message, step: int) -> Message:
    """The reply with texts as they may be recorded and sent, and call ids that are there and differ."""
    (message,) = to_messages([message])
    ids = [call.id for call in message.calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    numbers = iter(range(len(ids)))
    parts: tuple[Part, ...] = tuple(
        replace(part, id=f"call_{step}_{next(numbers)}") if isinstance(part, ToolCall) else part
        for part in message.parts
    )
    return replace(message, parts=parts)
