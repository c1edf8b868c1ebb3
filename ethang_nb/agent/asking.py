"""Asking: a request of the work itself, from the request point to the reply, and what is tried where it does not fit.

What is sent and what comes of it is recorded before anything follows from it. What ends the run is raised as Ended.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from functools import partial
from textwrap import shorten
from typing import Any, NamedTuple, NoReturn

from ethang_nb.agent.breaking import came_of, came_of_text
from ethang_nb.agent.compaction import write_note
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.masking import mask
from ethang_nb.agent.recovery import Lesson, advice, fault_data, lesson, silent_lesson
from ethang_nb.agent.run import Ending, Progress, Run
from ethang_nb.agent.settlement import take_window
from ethang_nb.context import kinds
from ethang_nb.context.messages import Message, to_json
from ethang_nb.context.plan import Plan
from ethang_nb.context.shortening import Reading, surely_read
from ethang_nb.errors import CassetteMiss, EthangError, Overflow
from ethang_nb.providers.faults.shortened import silent_overflow
from ethang_nb.providers.protocol import Body, Reply, Request

__all__ = ["Asking", "Ended", "turn_over"]

SAID = 200  # ► characters of what the provider said that an error repeats; the record has all of it


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
            self._fail(str(miss), miss)
        self._predicted = held if plan.price is None else plan.price.prefix
        return plan

    async def ask(self) -> Reply:
        """Sends; after an overflow what helps is tried once (seed 000: "the safety net"), and sent once more.

        Either the same request asks for less output, where the provider says that it would have fitted then, or there
        is one forced cleanup. That more output was asked for than the model ever puts out says nothing of the rest, so
        that is put right before all this. A reply to a request that was cut on its way is no answer: it knows half of
        the task, and nobody knows which half. It stays in the record alone.
        """
        first = await self._send()
        if isinstance(first, _Refused) and first.fault.limits == "output":
            learnt = self._learn(first)
            if learnt.room is None:
                return self._unhelped(first, "")
            first = await self._send(max_output=learnt.room)
        if isinstance(first, Reply):
            return first
        learnt = self._learn(first)
        if learnt.room is None:
            plan = await self._clean_up()
            if not plan.lands:
                why = f"its window, says the provider, and here {_no_help(plan)}"
                return self._unhelped(first, why, advised=plan.outcome == "stuck")
        second = await self._send(max_output=learnt.room)
        if isinstance(second, Reply):
            return second
        self._learn(second)
        tried = (
            "after a cleanup" if learnt.room is None else f"with {learnt.room:,} tokens left for the answer"
        )
        return self._unhelped(second, f"even {tried}")

    def at_its_limit(self, reply: Reply) -> str:
        """Why a reply to the last request came to its limit, and what to do about it."""
        usage, total = reply.usage, self.desk.live.state.window.total
        if usage is None or usage.input is None or usage.output is None or usage.output >= self._asked:
            return (
                f"the answer reached the output limit of {self._asked:,} tokens; ask for less, or keep more of the "
                f"window for answers: window=eth.window({total}, reserve=N)"
            )
        both = usage.input + usage.output
        if both == total:
            return (
                f"the answer was cut after {usage.output:,} of the {self._asked:,} tokens that were asked for: the "
                f"window of {total:,} tokens ends there; ask for less, or take a model with a larger one"
            )
        other = f"the server's window ends at {both:,} and not at {total:,}, or " if both < total else ""
        return (
            f"the answer was cut after {usage.output:,} of the {self._asked:,} tokens that were asked for: "
            f"{other}the model puts out no more; ask for less{', or give the real window' if other else ''}"
        )

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
                if fault.limits == "output":
                    desk.corrections.put_output(learnt.window.reserve)
                else:
                    desk.corrections.put(base, learnt.window)
                take_window(desk, learnt.window)
            if learnt.counted is not None:
                live.usage(learnt.counted, own)
        return learnt

    async def _clean_up(self) -> Plan:
        with self.desk.lock:
            self.desk.live.ask_cleanup(refused=True)
        return await self.turn_over()

    def _unhelped(self, refused: _Refused, why: str, *, advised: bool = False) -> Reply:
        """What came, where it is an answer that the window's end cut off; else an honest error.

        `advised`: `why` ends with what can be done, which is not said again.
        """
        fault, _, reply = refused
        if reply is not None and fault.room is not None:
            return replace(reply, stop="length")
        if fault.limits == "output":
            return self._fail(str(fault), fault)
        # What half of the task was answered with is no answer, and not shown as the beginning of one.
        said = shorten(str(fault), SAID, placeholder=" …")
        if advised and fault.limits == "window":
            text = f"the request does not fit {why} (it says: {said})"
        else:
            text = f"the request does not fit {why}: {said}; {advice(fault, tools=bool(self.desk.toolbox.specs))}"
        return self._fail(text, fault, shown=reply is None)

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
        except asyncio.CancelledError:
            said = desk.coming.text
            self._spend(came_of_text(said), own)
            self.run.broke_off(said)
            raise
        except Overflow as fault:
            self._spend(came_of(fault), own)
            return _Refused(fault, own)
        except Exception as error:  # also a bug of a provider ends the run by name
            self._spend(came_of(error), own)
            self._fail(_named(error), error)
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
            self._fail(_named(error), error)

    def _fail(self, text: str, error: Exception, *, shown: bool = True) -> NoReturn:
        """Ends the run with `text`. What of a reply had come is kept in the record, and `shown` as what it is."""
        data: dict[str, Any] = {"text": text}
        for name in ("partial", "usage", "detail"):
            # Of a request that is not on the cassette, how it differs stands in further lines.
            value = getattr(error, "diff" if name == "detail" else name, None)
            data |= {name: value} if value else {}
        self.desk.log(kinds.PROVIDER_ERROR, data)
        self.run.detail = mask(data.get("detail", ""))
        came = came_of(error) if shown else None
        if came is not None:
            self.run.broke_off(came.message.text)
        raise Ended("provider error", text)

    def _count(self, reply: Reply, own: int, *, of_this: bool) -> None:
        """Records the reply and what it took. `of_this`: its report is of the request as it was sent."""
        desk, usage = self.desk, reply.usage
        data: dict[str, Any] = {"stop": reply.stop, "usage": None if usage is None else asdict(usage)}
        notices = (*reply.notices, *_wordless(reply))
        if notices:
            data["notices"] = list(notices)
        with desk.lock:
            desk.log(kinds.REPLY, data)
            desk.say(notices, self.run)
            if of_this and usage is not None and usage.input is not None:
                desk.live.usage(usage.input, own, usage.cached)
        self._spend(reply, own)
        self.run.calls += len(reply.message.calls)

    def _spend(self, reply: Reply | None, own: int) -> None:
        """Counts what a request of `own` tokens took, by the reply or what had come of it; None: nothing had."""
        desk = self.desk
        if reply is None:
            self.run.miss()
            return
        self.run.spend(
            reply,
            own,
            desk.counter,
            model=desk.model,
            prices=desk.reach.prices(desk.model),
            predicted=self._predicted,
        )


def _wordless(reply: Reply) -> tuple[str, ...]:
    """The notice that an answer, though whole, has nothing for a person in it."""
    message = reply.message
    if reply.stop != "end" or message.text.strip() or message.calls:
        return ()
    what = "the model thought and then said nothing" if message.parts else "the model's answer is empty"
    return (f"{what}; ask again, or ask for it in other words",)


def _no_help(plan: Plan) -> str:
    """Why the cleanup that followed a refusal changed nothing."""
    if plan.outcome == "stuck":
        return plan.reason
    return f"a cleanup takes nothing out of the {plan.before:,} tokens that we count"


def _named(error: Exception) -> str:
    """What went wrong: our own errors say all of it, of others the kind is part of it."""
    return str(error) if isinstance(error, EthangError) else f"{type(error).__name__}: {error}"
