"""Loop: one piece of work, request by request, until it ends by name.

plan -> note -> assemble -> record the request -> send -> record the reply -> run the tools -> again. Every
way out is an Ending; only bugs raise.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ethang_nb.agent.compaction import note_request
from ethang_nb.agent.run import Ending, Progress, Run
from ethang_nb.agent.toolbox import INTERRUPTED, NEVER_STARTED, refusal
from ethang_nb.context.messages import Message, ToolCall, tool
from ethang_nb.context.plan import Plan
from ethang_nb.errors import EthangError, ModelFault, Overflow
from ethang_nb.providers.protocol import Reply, Request

if TYPE_CHECKING:
    from ethang_nb.agent.session import Session

__all__ = ["Loop"]


class Ended(Exception):
    """Inside the loop only: the run is over, with this ending."""

    def __init__(self, ending: Ending, reason: str = "") -> None:
        super().__init__(ending)
        self.ending, self.reason = ending, reason


class Loop:
    """One run of a session."""

    def __init__(self, session: Session, run: Run) -> None:
        self.session = session
        self.run = run

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
        session = self.session
        self._check_limits()
        plan = await self.turn_over()
        reply = await self._ask(plan)
        message = reply.message
        with session.lock:
            session.live.append(message)
        if not message.calls:
            self.run.answer = message.text
            if reply.stop == "length":
                raise Ended("truncated", "the answer reached the output limit; raise it or ask for less")
            if reply.stop == "refused":
                raise Ended("provider error", "the model refused to answer")
            raise Ended("completed")
        await self._tools(message.calls, cut=reply.stop == "length")

    async def turn_over(self) -> Plan:
        """A request point, and the note that its plan asks for."""
        session = self.session
        with session.lock:
            session.live.request()
            plan = session.chronicle.last
            assert plan is not None  # noqa: S101 - a request point always leaves a plan
        if session.live.pending is not None:
            await self._note()
        session.tell(Progress(row=session.chronicle.steps[-1], ending="running"))
        if plan.outcome == "stuck":
            raise Ended("stuck", plan.reason)
        return plan

    async def _ask(self, plan: Plan) -> Reply:
        try:
            return await self._send()
        except Overflow as error:
            self._log("overflow", {"text": str(error)})
        # One forced cleanup and one resend; then the provider's word stands (seed 000: "the safety net").
        with self.session.lock:
            self.session.live.ask_cleanup()
        plan = await self.turn_over()
        if not plan.lands:
            raise Ended("provider error", f"the provider says the request does not fit, and {plan.reason}")
        try:
            return await self._send()
        except Overflow as error:
            raise Ended("provider error", f"does not fit even after a cleanup: {error}") from None

    async def _send(self) -> Reply:
        session = self.session
        with session.lock:
            messages = session.live.assemble()
            own = session.live.state.total
            body = session.provider.encode(
                Request(
                    model=session.model,
                    messages=messages,
                    tools=session.toolbox.specs,
                    max_output=session.live.state.window.reserve,
                    params=session.params,
                )
            )
            keys = session.archive.record.keep(body.pieces)
            step = session.live.step
            self._log(
                "request",
                {"step": step, "tokens": own, "fill": session.live.state.fill, "pieces": list(keys)},
            )
            session.last_sent = messages
            self.run.fills.append(session.live.state.fill)
        try:
            reply = await session.provider.send(body, on_text=None)
        except Overflow:
            raise
        except ModelFault as error:
            self._log("provider error", {"text": str(error)})
            raise Ended("provider error", str(error)) from None
        except EthangError as error:
            raise Ended("provider error", str(error)) from None
        except Exception as error:  # a provider's bug ends the run by name, with its text in the record
            self._log("provider error", {"text": f"{type(error).__name__}: {error}"})
            raise Ended("provider error", f"{type(error).__name__}: {error}") from error
        self._count(reply, own)
        return reply

    def _count(self, reply: Reply, own: int) -> None:
        session = self.session
        usage = reply.usage
        with session.lock:
            self._log(
                "reply",
                {
                    "stop": reply.stop,
                    "usage": None
                    if usage is None
                    else {"input": usage.input, "output": usage.output, "cached": usage.cached},
                },
            )
            if usage is not None:
                session.live.usage(usage.input, own)
        self.run.tokens_in += own if usage is None else usage.input
        self.run.tokens_out += session.message_tokens(reply.message) if usage is None else usage.output
        self.run.calls += len(reply.message.calls)

    async def _note(self) -> None:
        """Asks the summariser; whatever goes wrong, the note is written by rule and the fault is recorded."""
        session = self.session
        task = session.live.pending
        if task is None:
            return
        asked = None
        if not task.rule_only:
            asked = note_request(
                task,
                prompt=session.note_prompt,
                model=session.model,
                window=session.live.state.window,
                counter=session.counter,
            )
        text: str | None = None
        if asked is not None:
            body = session.provider.encode(asked.request)
            keys = session.archive.record.keep(body.pieces)
            self._log("note request", {"tokens": asked.tokens, "pieces": list(keys)})
            try:
                reply = await session.provider.send(body, on_text=None)
                text = reply.message.text
                usage = reply.usage
                self.run.tokens_in += asked.tokens if usage is None else usage.input
                self.run.tokens_out += (
                    session.message_tokens(reply.message) if usage is None else usage.output
                )
            except asyncio.CancelledError:
                with session.lock:
                    session.live.write_note(None)
                raise
            except Exception as error:
                self._log("note failed", {"text": f"{type(error).__name__}: {error}"})
        with session.lock:
            if text and text.strip():
                session.live.write_note(
                    text, reference=session.note_prompt.reference, author=session.provider.label
                )
            else:
                session.live.write_note(None)

    async def _tools(self, calls: tuple[ToolCall, ...], *, cut: bool) -> None:
        """Runs the calls one after the other, so that results stand in call order; a cut call is not run."""
        for at, call in enumerate(calls):
            if cut and at == len(calls) - 1:
                self._take(
                    tool(
                        refusal(
                            call, "[error] your output was cut before this call was whole; it did not run"
                        )
                    )
                )
                continue
            try:
                result = await self.session.toolbox.answer(call, self.session.main)
            except asyncio.CancelledError:
                self._take(tool(refusal(call, INTERRUPTED)))
                for late in calls[at + 1 :]:
                    self._take(tool(refusal(late, NEVER_STARTED)))
                raise
            self._take(tool(result))

    def _take(self, message: Message) -> None:
        with self.session.lock:
            self.session.live.append(message)

    def _check_limits(self) -> None:
        limits, run = self.session.limits, self.run
        if run.steps >= limits.steps:
            raise Ended(
                "step limit", f"{run.steps} steps taken; the limit is {limits.steps}. Raise Limits(steps=…)"
            )
        spent = run.tokens_in + run.tokens_out
        if limits.tokens is not None and spent >= limits.tokens:
            raise Ended("budget exhausted", f"{spent:,} tokens spent; the limit is {limits.tokens:,}")

    def _log(self, kind: str, data: dict[str, Any]) -> None:
        self.session.archive.write(kind, data)
