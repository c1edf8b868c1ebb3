"""A stop at any moment of a run with tools, an overflow, its cleanup and its note: legal, named, and gone on from."""

import asyncio
import json

import ethang_nb as eth
from ethang_nb.context.messages import ToolCall, assistant
from ethang_nb.context.pairing import violations
from ethang_nb.errors import Overflow
from tests.agent.stage import TASK, Answers, documents, kinds, reads
from tests.agent.test_reopen import reopened

PATIENCE = 5  # seconds that a run gets that was told to stop


class Moments:
    """Counts the moments at which a run waits, and stops it at one of them."""

    def __init__(self, at):
        self.at, self.count, self.session = at, 0, None

    async def wait(self):
        self.count += 1
        if self.count == self.at:
            self.session.stop()
        for _ in range(3):  # until the stop is there
            await asyncio.sleep(0)


class Slow(Answers):
    """Waits before, while and after it answers, and says so."""

    def __init__(self, moments, *answers):
        super().__init__(*answers)
        self._moments = moments

    async def send(self, body, *, on_text=None, on_note=None):
        await self._moments.wait()
        on_note("tried again in 2 s")
        await self._moments.wait()
        if on_text is not None:
            on_text("It ")
        await self._moments.wait()
        return await super().send(body, on_text=on_text, on_note=on_note)


def stopped_at(at, folder, opened):
    """A session, its run that is stopped at moment `at` (0: never), the moments it had, and its tools."""
    moments = Moments(at)

    @eth.tool
    async def hold(number: int) -> str:
        """Hold on."""
        await moments.wait()
        return f"held {number}"

    holds = [ToolCall(id="", name="hold", arguments=json.dumps({"number": n})) for n in (1, 2)]
    session = opened(window=8_000, name=f"t{at}", tools=[hold, "read_file"], policy="pressure")
    moments.session = session
    fault = Overflow("too long", tokens=2_800, limit=2_200)
    session.provider = Slow(moments, assistant("", holds), *reads(1, 2, 3, 4, 5, 6), fault, *reads(7), "done")
    return session, session.start(TASK).wait(PATIENCE), moments, [hold, "read_file"]


def test_a_stop_at_every_moment(tmp_path, opened):
    documents(tmp_path, 8)
    whole, run, moments, _ = stopped_at(0, tmp_path, opened)
    assert run.ok, run.error
    assert {"overflow", "asked", "note request", "waited", "tool start"} <= set(kinds(whole))
    for at in range(1, moments.count + 1):
        session, run, _, tools = stopped_at(at, tmp_path, opened)
        assert ("interrupted", "stopped") == (run.ending, run.error), at
        assert () == violations(session.live.assemble())
        assert session.live.pending is None, "the note that the plan counts on is there"
        assert "run end" == kinds(session)[-1]
        assert ("", "") == (session.saying, session.waiting)
        assert kinds(session).count("tool start") == kinds(session).count("tool end")
        again = reopened(session, tmp_path, tools=tools)
        again.provider = Answers("went on")
        assert again.run("Go on.").answer == "went on"
        again.close()
