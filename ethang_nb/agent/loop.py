"""Loop: one piece of work, request by request, until it ends by name.

plan -> note -> assemble -> record the request -> send -> record the reply -> run the tools -> again. Every
way out is an Ending; only bugs and faults of the record raise.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ethang_nb.agent.asking import Asking, Ended
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.run import Run
from ethang_nb.agent.toolbox import BROKEN_OFF, CUT_OFF, INTERRUPTED, NEVER_STARTED, REFUSED, refusal
from ethang_nb.context.messages import Message, Part, ToolCall, tool
from ethang_nb.context.withdrawing import withdrawn
from ethang_nb.formats.detect import to_messages
from ethang_nb.providers.protocol import Stop

__all__ = ["Loop"]

MOST_CUTS = 2  # ► replies in a row whose call was cut off; the next one ends the run
UNFINISHED = "the stream ended without its end marker, so nobody knows whether this is all; run it again"
_NOT_RUN: dict[Stop, str] = {"cut": BROKEN_OFF, "refused": REFUSED}
"""What the calls of a reply are told that ended so; none of them is run."""


class Loop:
    """One run, on what a session laid out for it."""

    def __init__(self, desk: Desk, run: Run) -> None:
        self.desk, self.run = desk, run
        self._cuts = 0
        self._asking = Asking(desk, run)

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
        plan = await self._asking.turn_over()
        if plan.outcome == "stuck":
            raise Ended("stuck", plan.reason + self._way_out())
        reply = await self._asking.ask()
        message = _with_call_ids(reply.message, self.desk.live.step)
        self.desk.coming.begin()  # before the message enters: it is not to be seen twice
        if message.parts:
            message = self.desk.take(message)
        if message.calls and reply.stop not in _NOT_RUN:
            await self._tools(message.calls, cut=reply.stop == "length")
            self._check_cuts(cut=reply.stop == "length")
            return
        for call in message.calls:
            self.desk.take(tool(refusal(call, _NOT_RUN[reply.stop])))
        self.run.answer = message.text
        match reply.stop:
            case "length":
                raise Ended("truncated", self._asking.at_its_limit(reply))
            case "cut":
                raise Ended("truncated", reply.why or UNFINISHED)
            case "refused":
                raise Ended("provider error", "the model refused to answer")
        raise Ended("completed")

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

    def _way_out(self) -> str:
        """What else helps: a task that nothing answered yet leaves by itself, the session's first one stays."""
        state = self.desk.live.state
        gone = withdrawn(state)
        if gone is not None and gone.after.total <= state.hard:
            return "; the next run starts without this task, which stays in the record"
        first = state.first_task
        return "; or start without what this session holds: --new" if 0 <= first != state.task else ""

    def _check_limits(self) -> None:
        limits, run = self.desk.limits, self.run
        if limits.steps is not None and run.steps >= limits.steps:
            raise Ended(
                "step limit",
                f"{run.steps} steps taken; the limit is {limits.steps}. Raise it with --steps N, or Limits(steps=N)",
            )
        spent = (run.tokens_in or 0) + (run.tokens_out or 0)
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
