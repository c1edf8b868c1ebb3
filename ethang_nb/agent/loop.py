"""Loop: one piece of work, request by request, until it ends by name.

plan -> note -> assemble -> record the request -> send -> record the reply -> run the tools -> again. Every
way out is an Ending; only bugs and faults of the record raise.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from ethang_nb.agent.compaction import note_request
from ethang_nb.agent.run import Ending, Progress, Run
from ethang_nb.agent.toolbox import INTERRUPTED, NEVER_STARTED, refusal
from ethang_nb.context.fold import PHANTOM
from ethang_nb.context.messages import Message, Part, ToolCall, tool
from ethang_nb.context.notes import NoteTask
from ethang_nb.context.plan import Plan
from ethang_nb.errors import ModelFault, Overflow
from ethang_nb.formats.detect import to_messages
from ethang_nb.providers.protocol import Body, Reply, Request

if TYPE_CHECKING:
    from ethang_nb.agent.session import Session

__all__ = ["Loop"]

CUT_OFF = "[error] your output was cut before this call was whole; it did not run"
SMALLER = "give a smaller window"
MOST_CUTS = 2  # ► replies in a row whose call was cut off; the next one ends the run


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
        plan = await self.turn_over()
        if plan.outcome == "stuck":
            raise Ended("stuck", plan.reason)
        reply = await self._ask()
        message = _with_call_ids(reply.message, self.session.live.step)
        if message.parts:
            self._take(message)
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

    async def turn_over(self) -> Plan:
        """A request point, and the note that its plan asks for."""
        session = self.session
        async with session.turning:
            if session.live.pending is not None:  # of a run that was killed before its note came
                await self._note(session.live.pending)
            with session.lock:
                session.live.request()
                plan, task = session.chronicle.last, session.live.pending
                assert plan is not None  # noqa: S101 - a request point always leaves a plan
            if task is not None:
                await self._note(task)
        session.tell(Progress(row=session.chronicle.steps[-1], ending="running"))
        return plan

    # ---- the model

    async def _ask(self) -> Reply:
        """Sends; after an overflow one forced cleanup and one resend (seed 000: "the safety net")."""
        try:
            return await self._send()
        except Overflow as error:
            self._log("overflow", {"text": str(error)})
        with self.session.lock:
            live = self.session.live
            own, hard = live.state.total, live.state.window.hard
            if own < hard <= PHANTOM * own:
                # The provider counts at least all that can be sent: so much more than we do.
                live.usage(hard, own)
            live.ask_cleanup()
        plan = await self.turn_over()
        if not plan.lands:
            self._fail(
                f"the request does not fit its window, says the provider, and here {plan.reason}; {SMALLER}"
            )
        try:
            return await self._send()
        except Overflow as error:
            self._fail(f"the request does not fit even after a cleanup: {error}; {SMALLER}")

    async def _send(self) -> Reply:
        session, live = self.session, self.session.live
        with session.lock:
            messages, own, fill = live.assemble(), live.state.total, live.state.fill
            body = session.provider.encode(
                Request(
                    model=session.model,
                    messages=messages,
                    tools=session.toolbox.specs,
                    max_output=live.state.window.reserve,
                    params=session.params,
                )
            )
            self._record("request", body, {"step": live.step, "tokens": own, "fill": fill})
            session.last_sent = messages
            self.run.fills.append(fill)
        try:
            reply = await session.provider.send(body, on_text=None)
        except Overflow:
            raise
        except ModelFault as error:
            self._fail(str(error))
        except Exception as error:  # a provider's bug ends the run by name
            self._fail(f"{type(error).__name__}: {error}")
        self._count(reply, own)
        return reply

    def _fail(self, text: str) -> NoReturn:
        self._log("provider error", {"text": text})
        raise Ended("provider error", text)

    def _count(self, reply: Reply, own: int) -> None:
        usage = reply.usage
        data = (
            None if usage is None else {name: getattr(usage, name) for name in ("input", "output", "cached")}
        )
        with self.session.lock:
            self._log("reply", {"stop": reply.stop, "usage": data})
            if usage is not None:
                self.session.live.usage(usage.input, own)
        self._spend(reply, own)
        self.run.calls += len(reply.message.calls)

    def _spend(self, reply: Reply, own: int) -> None:
        """What the provider says it counted; our own count where it says nothing, or something phantom."""
        usage = reply.usage
        told = usage is not None and usage.input <= PHANTOM * own
        self.run.tokens_in += usage.input if usage is not None and told else own
        self.run.tokens_out += self.session.message_tokens(reply.message) if usage is None else usage.output

    # ---- the note

    async def _note(self, task: NoteTask) -> None:
        """Puts the note in place; whatever goes wrong, it is written by rule and the fault is recorded."""
        session = self.session
        text, reference = "", session.note_prompt.reference
        try:
            text = "" if task.rule_only else await self._asked_note(task)
        except Exception as error:
            self._log("note failed", {"text": f"{type(error).__name__}: {error}"})
        finally:
            # Also where the run is stopped meanwhile: the plan already counts on the note.
            with session.lock:
                session.live.write_note(
                    text.strip() or None, reference=reference, author=session.provider.label
                )

    async def _asked_note(self, task: NoteTask) -> str:
        """The model's text for the note, "" where not even the extract fits its window."""
        session = self.session
        asked = note_request(
            task,
            prompt=session.note_prompt,
            model=session.model,
            hard=session.live.state.hard,
            counter=session.counter,
        )
        if asked is None:
            self._log("note by rule", {"text": "the person's own words leave no room to ask a model"})
            return ""
        body = session.provider.encode(asked.request)
        self._record("note request", body, {"tokens": asked.tokens})
        reply = await session.provider.send(body, on_text=None)
        self._spend(reply, asked.tokens)
        return reply.message.text

    # ---- tools

    async def _tools(self, calls: tuple[ToolCall, ...], *, cut: bool) -> None:
        """Runs the calls one after the other, so that results stand in call order; a cut call is not run."""
        for at, call in enumerate(calls):
            if cut and at == len(calls) - 1:
                self._take(tool(refusal(call, CUT_OFF)))
                continue
            try:
                result = await self.session.toolbox.answer(call, self.session.main)
            except asyncio.CancelledError:
                self._take(tool(refusal(call, INTERRUPTED)))
                for rest in calls[at + 1 :]:
                    self._take(tool(refusal(rest, NEVER_STARTED)))
                raise
            self._take(tool(result))

    def _check_cuts(self, *, cut: bool) -> None:
        """A model that keeps running into its output limit inside a call would go on for ever."""
        self._cuts = self._cuts + 1 if cut else 0
        if self._cuts > MOST_CUTS:
            raise Ended(
                "truncated", f"{self._cuts} replies in a row were cut inside a call; raise the output limit"
            )

    # ---- small things

    def _take(self, message: Message) -> None:
        with self.session.lock:
            self.session.live.append(message)

    def _check_limits(self) -> None:
        limits, run = self.session.limits, self.run
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

    def _record(self, kind: str, body: Body, data: dict[str, Any]) -> None:
        """The bytes are in the record before they are sent."""
        keys = self.session.archive.record.keep(body.pieces)
        self._log(kind, data | {"pieces": list(keys)})

    def _log(self, kind: str, data: dict[str, Any]) -> None:
        self.session.archive.write(kind, data)


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
