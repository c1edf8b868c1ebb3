"""Asking: a request of the work itself, from the request point to the reply, and what is tried where it does not fit.

What is sent and what comes of it is recorded before anything follows from it. What ends the run is raised as Ended.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

from ethang_nb.agent.compaction import write_note
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.masking import mask
from ethang_nb.agent.recovery import Lesson, advice, fault_data, lesson, silent_lesson, surely_read
from ethang_nb.agent.run import Ending, Progress, Run
from ethang_nb.agent.settlement import take_window
from ethang_nb.context import kinds
from ethang_nb.context.messages import Message, to_json
from ethang_nb.context.plan import Plan
from ethang_nb.errors import CassetteMiss, EthangError, Overflow
from ethang_nb.providers.protocol import Body, Reply, Request
from ethang_nb.providers.shortened import Reading, silent_overflow

__all__ = ["Asking", "Ended", "turn_over"]


class Ended(Exception):
    """Inside a run only: it is over, with this ending."""

    def __init__(self, ending: Ending, reason: str = "") -> None:
        super().__init__(ending)
        self.ending, self.reason = ending, reason


class _Refused(NamedTuple):
    """A request of `own` tokens, by our count, that did not fit.

    `reply`: what came nevertheless, where nothing but the reply itself shows it.
    """

    fault: Overflow
    own: int
    reply: Reply | None = None


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


class Asking:
    """The requests of one run."""

    def __init__(self, desk: Desk, run: Run) -> None:
        self.desk, self.run = desk, run
        self._asked = 0
        """The output, in tokens, that the last request asked for."""
        self._predicted = 0
        """Tokens of the next request, by our count, that should lie in the provider's cache."""

    async def turn_over(self) -> Plan:
        """The request point, and what of the next request should lie in the provider's cache then.

        What only a cassette may answer, and does not, ends the run also where it is a note.
        """
        held = self.desk.live.sent or 0
        try:
            plan = await turn_over(self.desk, self.run)
        except CassetteMiss as miss:
            self._fail(str(miss), detail=miss.diff)
        self._predicted = held if plan.price is None else plan.price.prefix
        return plan

    async def ask(self) -> Reply:
        """Sends; after an overflow what helps is tried once (seed 000: "the safety net"), and sent once more.

        Either the same request asks for less output, where the provider says that it would have fitted then, or there
        is one forced cleanup. A reply to a request that was cut on its way is no answer: it knows half of the task, and
        nobody knows which half. It stays in the record alone.
        """
        first = await self._send()
        if isinstance(first, Reply):
            return first
        learnt = self._learn(first)
        if learnt.room is None:
            plan = await self._clean_up()
            if not plan.lands:
                return self._unhelped(first, f"its window, says the provider, and here {plan.reason}")
        second = await self._send(max_output=learnt.room)
        if isinstance(second, Reply):
            return second
        self._learn(second)
        tried = (
            "after a cleanup" if learnt.room is None else f"with {learnt.room:,} tokens left for the answer"
        )
        return self._unhelped(second, f"even {tried}")

    def _learn(self, refused: _Refused) -> Lesson:
        """Records an overflow, and goes on by what it teaches of the window and of how the provider counts."""
        desk, live, (fault, own, reply) = self.desk, self.desk.live, refused
        with desk.lock:
            window, base = live.state.window, live.state.settings.base
            if reply is None:
                learnt = lesson(fault, base=base, hard=window.hard, own=own, asked=self._asked)
            else:
                learnt = silent_lesson(fault, base=base)
                fault.partial = to_json(reply.message)
            desk.log(
                kinds.OVERFLOW,
                fault_data(fault, own, learnt, base) | ({} if reply is None else {"silent": True}),
            )
            desk.say(learnt.notices, self.run)
            if learnt.window is not None:
                desk.corrections.put(base, learnt.window)
                take_window(desk, learnt.window)
            if learnt.counted is not None:
                live.usage(learnt.counted, own)
        return learnt

    async def _clean_up(self) -> Plan:
        with self.desk.lock:
            self.desk.live.ask_cleanup(refused=True)
        return await self.turn_over()

    def _unhelped(self, refused: _Refused, why: str) -> Reply:
        """What came, where it is an answer that the window's end cut off; else an honest error."""
        fault, _, reply = refused
        if reply is not None and fault.room is not None:
            return replace(reply, stop="length")
        return self._fail(f"the request does not fit {why}: {fault}; {advice(fault)}", fault.partial)

    async def _send(self, *, max_output: int | None = None) -> Reply | _Refused:
        """Sends what stands in the window. With `max_output` it is the last request once more, asking for less."""
        desk, live = self.desk, self.desk.live
        with desk.lock:
            state, messages = live.state, live.assemble()
            own, window, fill = state.total, state.window, state.fill
            self._asked = window.reserve if max_output is None else max_output
            body = self._encode(messages)
            desk.log_request(kinds.REQUEST, body, {"step": live.step, "tokens": own, "fill": fill})
            desk.say(body.notices, self.run)
            desk.last_sent = messages
            self.run.fills.append(fill)
        desk.coming.begin()
        try:
            reply = await desk.provider.send(
                body, on_text=desk.saying, on_note=partial(desk.noted, run=self.run)
            )
        except Overflow as fault:
            return _Refused(fault, own)
        except Exception as error:  # also a bug of a provider ends the run by name
            self._fail(_named(error), getattr(error, "partial", None), getattr(error, "diff", ""))
        surely = surely_read(messages, own, state.tools)
        read = None if reply.usage is None else reply.usage.input
        silent = silent_overflow(reply, own=surely, window=window, before=desk.reading, asked=self._asked)
        # A report of less than was sent is of another request: it says nothing of how the provider counts.
        self._count(reply, own, of_this=silent is None or read is None or read >= surely)
        if silent is not None:
            return _Refused(silent, own, reply)
        if read is not None:
            desk.reading = Reading(own=surely, input=read)
        return reply

    def _encode(self, messages: tuple[Message, ...]) -> Body:
        desk = self.desk
        request = Request(
            model=desk.model,
            messages=messages,
            tools=desk.toolbox.specs,
            max_output=self._asked,
            params=desk.params,
        )
        try:
            return desk.encoded(desk.provider, request)
        except Exception as error:  # what cannot be written in its wire format ends the run by name
            self._fail(_named(error))

    def _fail(self, text: str, partial: dict[str, Any] | None = None, detail: str = "") -> NoReturn:
        """`partial`: what of a reply had come; `detail`: further lines of the error. Both are kept in the record."""
        data: dict[str, Any] = {"text": text}
        data |= {} if partial is None else {"partial": partial}
        data |= {"detail": detail} if detail else {}
        self.desk.log(kinds.PROVIDER_ERROR, data)
        self.run.detail = mask(detail)
        raise Ended("provider error", text)

    def _count(self, reply: Reply, own: int, *, of_this: bool) -> None:
        """Records the reply and what it took. `of_this`: its report is of the request as it was sent."""
        desk, usage = self.desk, reply.usage
        data: dict[str, Any] = {"stop": reply.stop, "usage": None if usage is None else asdict(usage)}
        if reply.notices:
            data["notices"] = list(reply.notices)
        with desk.lock:
            desk.log(kinds.REPLY, data)
            desk.say(reply.notices, self.run)
            if of_this and usage is not None and usage.input is not None:
                desk.live.usage(usage.input, own, usage.cached)
        self.run.spend(
            reply,
            own,
            desk.counter,
            model=desk.model,
            prices=desk.reach.prices(desk.model),
            predicted=self._predicted,
        )
        self.run.calls += len(reply.message.calls)


def _named(error: Exception) -> str:
    """What went wrong: our own errors say all of it, of others the kind is part of it."""
    return str(error) if isinstance(error, EthangError) else f"{type(error).__name__}: {error}"
