"""Stopping: at any moment, within a second, nothing lost, and the next run works."""

import asyncio
import json
import signal
import threading
import time

import pytest

import ethang_nb as eth
from ethang_nb.agent.toolbox import INTERRUPTED, NEVER_STARTED
from ethang_nb.context.pairing import violations
from ethang_nb.store.record import Record
from tests.agent.stage import call, calls, child, kinds, script, texts

PATIENCE = 5  # seconds that a test waits for what should take none


class Gate:
    """A tool that says when it has begun and ends when it is let go."""

    def __init__(self):
        self.begun, self.open = threading.Event(), threading.Event()

    def tool(self):
        def hold() -> str:
            """Hold on."""
            self.begun.set()
            assert self.open.wait(PATIENCE)
            return "the held result"

        return hold


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open.set()


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def stopped(session, run):
    """The run that was stopped, and a history that may go on."""
    assert run.wait(PATIENCE).ending == "interrupted"
    assert run.error == "stopped"
    assert () == violations(session.live.assemble())
    assert kinds(session)[-1] == "run end"
    return session.run("Go on.")


def test_stop_during_a_slow_tool_leaves_it_and_answers_every_call(play, gate):
    session = play(
        calls("list_files", "hold", "list_files"), {"say": "went on", "repeat": 9}, tools=[gate.tool()]
    )
    run = session.start("Go.")
    assert gate.begun.wait(PATIENCE)
    session.stop()
    assert stopped(session, run).answer == "went on"
    first, *rest = texts(session)
    assert first.startswith("[")
    assert rest == [INTERRUPTED, NEVER_STARTED]
    ends = [event.data["how"] for event in session.recorded if event.kind == "tool end"]
    assert ends == ["done", "interrupted"]


def test_a_result_that_comes_after_the_end_is_recorded_as_late_and_never_sent(play, gate):
    session = play(calls("hold"), {"say": "went on", "repeat": 9}, tools=[gate.tool()])
    run = session.start("Go.")
    assert gate.begun.wait(PATIENCE)
    session.stop()
    run.wait(PATIENCE)
    gate.open.set()
    until(lambda: "late" in kinds(session))
    (late,) = [event.data for event in session.recorded if event.kind == "late"]
    assert (late["name"], late["text"]) == ("hold", "the held result")
    assert session.run("Go on.").ok
    assert all(b"the held result" not in session.request(step) for step in (1, 2))


def test_a_late_failure_is_recorded_too(play, gate):
    def hold() -> str:
        gate.begun.set()
        gate.open.wait(PATIENCE)
        raise ValueError("too late")

    session = play(calls("hold"), {"say": "went on"}, tools=[hold])
    run = session.start("Go.")
    assert gate.begun.wait(PATIENCE)
    session.stop()
    run.wait(PATIENCE)
    gate.open.set()
    until(lambda: "late" in kinds(session))
    assert "too late" in session.recorded[-1].data["text"]


def test_a_tool_on_the_main_thread_may_be_late_too(play):
    """The run goes on without it and ends; the cell returns when the tool does."""

    @eth.tool(thread=False)
    def hold() -> str:
        time.sleep(0.15)
        return "the held result"

    session = play(calls("hold"), {"say": "went on"}, tools=[hold], limits=eth.Limits(tool_seconds=0.05))
    assert session.run("Go.").answer == "went on"
    assert texts(session) == ["[error] hold ran longer than 0.05 s and was let go"]
    until(lambda: "late" in kinds(session))
    assert session.recorded[-1].data["text"] == "the held result"


def test_a_tool_that_outlives_its_session_disturbs_nobody(play, gate):
    session = play(calls("hold"), {"say": "went on"}, tools=[gate.tool()])
    run = session.start("Go.")
    assert gate.begun.wait(PATIENCE)
    session.stop()
    run.wait(PATIENCE)
    session.close()
    gate.open.set()
    until(lambda: not [thread for thread in threading.enumerate() if "tool-hold" in thread.name])


def test_stop_during_a_slow_provider_records_the_request_alone(play):
    session = play({"say": "never heard", "delay": 20}, {"say": "went on", "repeat": 9})
    run = session.start("Go.")
    until(lambda: "request" in kinds(session))
    session.stop()
    assert stopped(session, run).answer == "went on"
    assert kinds(session).count("request") == kinds(session).count("reply") + 1


def test_stop_between_two_steps_takes_effect_before_the_next_request(play):
    session = play(calls("list_files"), {"say": "went on", "repeat": 9})
    session.watch(lambda progress: session.stop() if progress.row.step == 1 else None)
    run = session.start("Go.")
    run.wait(PATIENCE)
    assert run.ending == "interrupted"
    assert run.steps == 1
    assert () == violations(session.live.assemble())


def test_stop_just_after_a_tool_has_ended_keeps_its_result_and_sends_nothing_more(play):
    session = play(calls("list_files"), {"say": "went on", "repeat": 9})
    write = session.archive.write

    def stopping(kind, data):
        if kind == "tool end":
            session.stop()
        return write(kind, data)

    session.archive.write = stopping
    run = session.run("Go.")
    assert (run.ending, run.steps) == ("interrupted", 1)
    assert texts(session)[0].startswith("[1 files in .]")
    assert kinds(session).count("point") == 1


def test_stop_right_after_start_is_not_lost(play):
    session = play({"say": "went on", "delay": 0.05, "repeat": 9})
    run = session.start("Go.")
    session.stop()
    stopped(session, run)


def test_stop_while_the_note_is_written_leaves_one_by_rule(play, opened, tmp_path):
    """The plan reserved room for the note, so there must be one before anything else happens."""
    session = play(
        *({"say": f"answer {n}"} for n in range(6)),
        {"say": "next", "repeat": 9},
        {"note": "## Decisions\nnever read", "delay": 20},
        window=2_600,
        policy="pressure",
    )
    for _ in range(6):
        session.run("word " * 150)
        if session.budget.fill > 700:
            break
    session.live.ask_cleanup()
    run = session.start("word " * 150)
    until(lambda: "note request" in kinds(session))
    session.stop()
    assert run.wait(PATIENCE).ending == "interrupted"
    assert session.live.pending is None
    assert session.chronicle.diffs[-1].note_author == "rules"
    assert session.run("Go on.").ok


def test_several_may_wait_for_one_run(play):
    session = play({"say": "done", "delay": 0.1})
    run = session.start("Go.")
    threads = [threading.Thread(target=session.wait, args=[run]) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert session.wait(run).ok
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


def test_stop_without_a_run_is_nothing(play):
    session = play({"say": "done"})
    session.stop()
    run = session.run("Go.")
    session.stop()
    assert run.ok
    assert session.run("Go on.").ok


def test_close_stops_what_runs(play, tmp_path):
    session = play({"say": "never heard", "delay": 20})
    run = session.start("Go.")
    until(lambda: "request" in kinds(session))
    session.close()
    assert run.ending == "interrupted"
    with Record.open(tmp_path, "t", write=False) as record:
        assert record.events()[-1].kind == "run end"


def test_a_cancelled_await_stops_the_run(play):
    session = play({"say": "never heard", "delay": 20}, {"say": "went on", "repeat": 9})

    async def main():
        task = asyncio.ensure_future(session.arun("Go."))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    until(lambda: not session.running)
    assert [event.data["ending"] for event in session.recorded if event.kind == "run end"] == ["interrupted"]
    assert session.run("Go on.").ok


def test_pin_and_compact_during_a_run_are_taken_at_the_next_step(play, gate):
    session = play(calls("hold"), {"say": "done"}, tools=[gate.tool()])
    run = session.start("Go.")
    assert gate.begun.wait(PATIENCE)
    session.pin("Amounts are in EUR.")
    plan = session.compact()
    assert plan.asked
    gate.open.set()
    assert run.wait(PATIENCE).ok
    assert "Amounts are in EUR." in "".join(message.text for message in session.sent)
    asked = next(event.seq for event in session.recorded if event.kind == "asked")
    points = [event.seq for event in session.recorded if event.kind == "point"]
    assert points[0] < asked < points[1]
    assert () == violations(session.sent)


def test_a_record_that_fails_ends_the_run_and_is_raised_to_whoever_waits(play):
    """A full disk, a closed file: no ending of the work, but nobody waits for ever."""
    session = play(calls("list_files"), {"say": "done"})
    session.watch(lambda _: session.archive.record.close())
    with pytest.raises(eth.EthangError, match="closed"):
        session.run("Go.")
    assert not session.running


def test_a_bug_in_a_provider_ends_the_run_by_name(play):
    session = play({"say": "done"})
    send = session.provider.send

    async def broken(body, *, on_text=None, on_note=None):
        if session.live.step == 1:
            raise LookupError("of the provider")
        return await send(body, on_text=on_text, on_note=on_note)

    session.provider.send = broken
    run = session.run("Go.")
    assert (run.ending, run.error) == ("provider error", "LookupError: of the provider")
    assert session.run("Go on.").ok


CELL = """
import json, sys, threading, time
import ethang_nb as eth

folder, turns = sys.argv[1:]
where = []

def hold(seconds: float) -> str:
    "Hold on."
    where.append(threading.current_thread() is threading.main_thread())
    print("held", flush=True)
    time.sleep(seconds)
    return "held long enough"

session = eth.Session(turns, name="t", window=6000, root=folder, tools=[hold])
session.watch(lambda progress: print("step", flush=True))
run = session.run("Go.")
print(json.dumps([run.ending, run.done, where]), flush=True)
if run.done:
    again = session.run("Go on.")
    print(json.dumps([again.ending, again.answer]), flush=True)
"""


STUBBORN = """
async def stubborn(body, *, on_text=None, on_note=None):
    print("held", flush=True)
    time.sleep(4)

session.provider.send = stubborn
stop = session.stop
session.stop = lambda: (stop(), threading.Timer(0.1, print, ["asked"], {"flush": True}).start())
session.watch("""


def cell(tmp_path, *turns):
    return child(CELL, tmp_path, script(tmp_path, *turns))


def line(process, start):
    """The next line that starts so."""
    while not (found := process.stdout.readline()).startswith(start):
        assert found, process.stderr.read()
    return found


def ended(process):
    process.communicate(timeout=PATIENCE)
    return process.returncode


def test_an_interrupt_while_the_provider_is_slow_ends_the_cell_at_once(tmp_path):
    process = cell(tmp_path, {"say": "never heard", "delay": 20}, {"say": "went on", "repeat": 9})
    line(process, "step")
    process.send_signal(signal.SIGINT)
    assert json.loads(line(process, "[")) == ["interrupted", True, []]
    assert json.loads(line(process, "[")) == ["completed", "went on"]
    assert ended(process) == 0


def test_an_interrupt_inside_a_tool_of_the_notebook_ends_it_there(tmp_path):
    """Tools defined in the notebook run on the main thread, so that ■ reaches them."""
    process = cell(tmp_path, calls(call("hold", seconds=20), "list_files"), {"say": "went on", "repeat": 9})
    line(process, "held")
    process.send_signal(signal.SIGINT)
    assert json.loads(line(process, "[")) == ["interrupted", True, [True]]
    assert json.loads(line(process, "[")) == ["completed", "went on"]
    assert ended(process) == 0
    with eth.open_session("t", tmp_path) as session:
        assert texts(session) == [INTERRUPTED, NEVER_STARTED]


def test_a_second_interrupt_lets_go_of_a_run_that_does_not_end(tmp_path):
    """The run's end waits for a provider that ignores being cancelled; the cell need not."""
    process = child(CELL.replace("session.watch(", STUBBORN, 1), tmp_path, script(tmp_path, {"say": "x"}))
    line(process, "held")
    process.send_signal(signal.SIGINT)
    line(process, "asked")
    process.send_signal(signal.SIGINT)
    assert json.loads(line(process, "[")) == ["running", False, []]
    process.kill()
    process.communicate()
