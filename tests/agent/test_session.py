"""A session from first to last event: what it records, in which order, and that looking changes nothing."""

import asyncio
import threading

import pytest

import ethang_nb as eth
from ethang_nb.context.messages import Message, Thinking
from ethang_nb.context.pairing import violations
from ethang_nb.errors import Misuse, NoSuchAddress, SessionBusy
from ethang_nb.store.record import Record
from tests.agent.stage import TASK, WINDOW, Watched, call, calls, documents, kinds, script
from tests.context.builders import picture


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """One run of the reader over real files, for the tests that only look at it."""
    folder = documents(tmp_path_factory.mktemp("told"), 11)
    with eth.Session("reader", name="t", window=WINDOW, root=folder, store=folder) as session:
        session.provider = Watched(session.provider)
        seen = []
        session.watch(seen.append)
        run = session.run(TASK)
        yield session, run, seen


def test_the_reader_answers_from_the_files_and_names_the_line(told):
    _, run, _ = told
    assert run.ending == "completed", run.error
    assert run.ok
    assert "ORD-88421 and its cap is 125,000 EUR" in run.answer
    assert "file:docs/c_03.txt#L14" in run.answer
    assert "c_05.txt" not in "".join(row.what for row in run.snapshot.timeline)


def test_the_window_never_overflows_and_a_nudge_and_a_cleanup_happened(told):
    session, run, _ = told
    assert max(row.fill for row in session.timeline) <= 1000
    outcomes = [event.data["outcome"] for event in session.recorded if event.kind == "point"]
    assert "nudge" in outcomes
    assert "cleanup" in outcomes
    assert len(run.diffs) == outcomes.count("cleanup")


def test_every_request_is_legal_and_its_bytes_are_those_the_provider_saw(told):
    session, _, _ = told
    requests = [event for event in session.recorded if event.kind in ("request", "note request")]
    kept = [session.archive.record.body(event.data["pieces"]) for event in requests]
    assert session.provider.bodies == kept
    asked = [event for event in requests if event.kind == "request"]
    assert [session.request(event.data["step"]) for event in asked] == [
        body for event, body in zip(requests, kept, strict=True) if event.kind == "request"
    ]
    assert () == violations(session.sent)


def test_a_request_that_was_never_made_is_named_with_those_that_were(told):
    session, run, _ = told
    with pytest.raises(NoSuchAddress, match=rf"no request of step 99 .* steps 1 to {run.steps}"):
        session.request(99)


def test_events_stand_in_the_order_in_which_things_happened(told):
    """A point before its request, a request before its reply, a call's start before its end before its result."""
    session, _, _ = told
    last = {"point": 0, "request": 0}
    started, ended = set(), set()
    for event in session.recorded:
        match event.kind:
            case "point":
                last["point"] = event.data["step"]
            case "request":
                assert event.data["step"] == last["point"]
                last["request"] = event.seq
            case "reply":
                assert last["request"], "a reply without a request"
                last["request"] = 0
            case "tool start":
                started.add(event.data["id"])
            case "tool end":
                assert event.data["id"] in started
                ended.add(event.data["id"])
            case "message" if "row" in event.data:
                assert event.data["message"]["parts"][0]["call_id"] in ended
    assert started == ended
    assert kinds(session)[0] == "settings"
    assert kinds(session)[-1] == "run end"


def test_a_watcher_is_told_of_every_request_point_and_of_the_end(told):
    session, run, seen = told
    assert [progress.row.step for progress in seen] == [*range(1, run.steps + 1), run.steps]
    assert {progress.ending for progress in seen[:-1]} == {"running"}
    assert seen[-1].ending == "completed"
    assert [progress.row for progress in seen[:-1]] == list(session.timeline)


def test_a_run_counts_its_steps_tokens_and_fills(told):
    session, run, _ = told
    sent = [event.data for event in session.recorded if event.kind == "request"]
    assert run.steps == len(sent)
    assert run.fills == [data["fill"] for data in sent]
    notes = sum(event.data["tokens"] for event in session.recorded if event.kind == "note request")
    assert run.tokens_in == sum(data["tokens"] for data in sent) + notes
    assert run.tokens_out > 0
    assert run.p95 == sorted(run.fills)[-1 - len(run.fills) // 20]


def test_the_record_grows_while_the_run_goes_on(tmp_path, opened):
    """Every event is on the disk before the next thing starts: another connection reads it at once."""
    documents(tmp_path, 2)
    session = opened()
    lengths = []

    def look(body):
        with Record.open(tmp_path, "t", write=False) as record:
            events = record.events()
            assert events[-1].kind in ("request", "note request")
            assert record.body(events[-1].data["pieces"]) == body.bytes
            lengths.append(len(events))

    session.provider = Watched(session.provider, look)
    session.run("Read every file in docs.")
    assert len(lengths) >= 4
    assert lengths == sorted(set(lengths))


def test_twice_in_two_folders_is_the_same_also_when_somebody_looks(tmp_path):
    """Same request bytes, digests and answer, whatever was printed before, between and within the steps."""

    def look(session):
        for value in (session.segments, session.budget, session.snapshot, session.plan(), session.timeline):
            assert str(value)
        for value in (session.snapshot, session.budget, session.segments, session.plan(cleanup=True)):
            assert value._repr_html_()
        assert (session.pins, session.sent, session.recorded, repr(session)) != ()
        for step in range(1, session.live.step):
            session.request(step)

    outcomes = []
    for looking in (False, True):
        folder = tmp_path / str(looking)
        folder.mkdir()
        documents(folder, 9)
        with eth.Session("reader", name="t", window=WINDOW, root=folder) as session:
            session.provider = Watched(
                session.provider, (lambda _, it=session: look(it)) if looking else None
            )
            if looking:
                look(session)
                session.watch(lambda _, it=session: look(it))
            run = session.run(TASK)
            if looking:
                look(session)
                assert str(run)
                assert run._repr_html_()
            again = session.run("Tell me the cap once more.")
            digests = [event.data.get("digest") for event in session.recorded if event.kind == "point"]
            outcomes.append((session.provider.bodies, digests, run.answer, again.answer, kinds(session)))
    assert outcomes[0] == outcomes[1]
    assert any(outcomes[0][1])


def test_a_second_piece_of_work_goes_on_in_the_same_context(tmp_path, opened, play):
    session = play({"say": "one"}, {"say": "two"})
    first, second = session.run("First."), session.run("Second.")
    assert (first.answer, second.answer) == ("one", "two")
    assert [message.text for message in session.sent[1:]] == ["First.", "one", "Second."]
    assert second.steps == 1


def test_a_second_run_while_one_goes_on_is_refused_by_name(play):
    session = play({"say": "slow", "delay": 0.4}, {"say": "next"})
    run = session.start("One.")
    before = len(session.recorded)
    with pytest.raises(SessionBusy, match=r"session t is at step \d of another run; wait for it, or stop it"):
        session.run("Two.")
    assert not [event for event in session.recorded[before:] if event.kind in ("work", "run")]
    assert run.wait(5).answer == "slow"
    assert session.run("Two.").answer == "next"


def test_a_session_made_again_here_takes_the_place_of_the_idle_one(opened, play, tmp_path):
    """A cell that makes a session can be run again."""
    first = play({"say": "done"})
    first.run("Go.")
    second = opened(first.model)
    assert first.closed
    assert second.drift == ()
    assert picture(second.live.state) == picture(first.live.state)
    assert eth.open_session("t", tmp_path) is second


def test_a_session_that_is_running_does_not_give_way(play, opened):
    session = play({"delay": 5, "say": "slow"})
    run = session.start("Go.")
    with pytest.raises(SessionBusy):
        opened(session.model)
    session.stop()
    assert run.wait(5).ending == "interrupted"


def test_a_session_can_be_looked_at_while_it_is_written_and_nothing_is_recorded(play, tmp_path):
    session = play({"say": "done"})
    session.run("Go.")
    before = session.recorded
    with Record.open(tmp_path, "t", write=False):
        session.close()
    holder = Record.open(tmp_path, "t")
    try:
        looked = eth.open_session("t", tmp_path, look=True)
        assert picture(looked.live.state) == picture(session.live.state)
        assert looked.timeline == session.timeline
        assert str(looked.snapshot)
        for act in (lambda: looked.run("More."), lambda: looked.pin("Keep it."), looked.compact):
            with pytest.raises(Misuse, match="only to be looked at"):
                act()
        assert looked.recorded == before
        looked.close()
    finally:
        holder.close()


def test_a_piece_of_work_that_was_begun_by_name_is_the_next_runs(play):
    session = play({"say": "one"}, {"say": "two"})
    session.begin("first document")
    session.run("Go.")
    session.run("On.")
    names = [event.data["name"] for event in session.recorded if event.kind == "work"]
    assert names == ["first document", ""]


def test_a_refused_task_leaves_nothing_in_the_record(play):
    session = play({"say": "done"})
    before = session.recorded
    with pytest.raises(Misuse, match="Shorten it"):
        session.run("word " * 50_000)
    assert session.recorded == before


def test_an_end_that_cannot_be_shown_is_told_to_the_caller_and_the_record_is_whole(play, monkeypatch):
    session = play({"say": "done"})

    def broken(state):
        raise ZeroDivisionError("of the snapshot")

    monkeypatch.setattr(session, "_snapshot", broken)
    with pytest.raises(ZeroDivisionError):
        session.run("Go.")
    assert kinds(session)[-1] == "run end"


def test_dear_fixed_parts_are_said_once_part_by_part(opened):
    session = opened(window=1_500)
    (said,) = [text for text in session.snapshot.notices if "fixed parts" in text]
    assert "system 1" in said
    assert "tools 4" in said
    assert "a handoff note 2" in said


def test_a_closed_session_says_so_and_stays_readable_in_the_record(play, tmp_path):
    session = play({"say": "done"})
    session.run("Go.")
    session.close()
    with pytest.raises(eth.EthangError, match="closed"):
        session.run("Again.")
    for value in (session.snapshot, session.budget, session.segments, session.plan()):
        assert str(value)
    (row,) = eth.sessions(tmp_path)
    assert (row.name, row.running) == ("t", False)


def test_a_raising_watcher_is_dropped_and_the_run_goes_on(play):
    session = play(calls(call("list_files")), {"say": "done"})
    seen = []

    def broken(_):
        raise ZeroDivisionError("of the watcher")

    session.watch(broken)
    session.watch(seen.append)
    assert session.run("Go.").ok
    assert "watcher failed" not in kinds(session)
    assert [text for text in session.snapshot.notices if "ZeroDivisionError: of the watcher" in text]
    assert len(seen) == 3


def test_a_watcher_may_stop_watching_from_within(play):
    session = play(calls(call("list_files")), {"say": "done"})
    seen = []

    def once(progress):
        seen.append(progress)
        leave()
        raise RuntimeError("after it has left")

    leave = session.watch(once)
    assert session.run("Go.").ok
    leave()
    assert len(seen) == 1


def test_a_watcher_may_act_without_locking_itself_out(play):
    """It is told from the worker thread, which must not wait for itself."""
    session = play(calls(call("list_files")), {"say": "done"})
    plans = []
    session.watch(lambda progress: plans.append(session.compact()) if progress.row.step == 1 else None)
    assert session.run("Go.").ok
    session.compact()
    assert plans
    session.watch(lambda _: session.close())
    session.compact()
    assert session.closed


def test_watchers_are_told_of_the_end_before_the_caller_goes_on(play):
    session = play({"say": "done"})
    endings = []
    session.watch(lambda progress: endings.append(progress.ending))
    session.run("Go.")
    assert endings == ["running", "completed"]


def test_start_returns_at_once_and_wait_gives_the_run(play):
    session = play({"say": "done", "delay": 0.2})
    run = session.start("Go.")
    assert not run.done
    assert run.wait(0.01) is run
    assert run.ending == "running"
    assert run.wait().ending == "completed"
    assert session.wait(run) is run


def test_arun_works_in_a_running_loop_and_leaves_it_free(play):
    session = play({"say": "done", "delay": 0.15})
    ticks = []

    async def ticking():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.02)

    async def main():
        other = asyncio.ensure_future(ticking())
        run = await session.arun("Go.")
        other.cancel()
        return run

    assert asyncio.run(main()).answer == "done"
    assert len(ticks) > 3


def test_run_works_inside_a_running_loop_too(play):
    """MAG-04: a cell's loop runs already; nothing here asks for another one."""
    session = play({"say": "done"})

    async def main():
        return session.run("Go.")

    assert asyncio.run(main()).answer == "done"


def test_run_works_from_another_thread(play):
    session = play(calls("list_files"), {"say": "done"})
    found = []
    thread = threading.Thread(target=lambda: found.append(session.run("Go.").answer))
    thread.start()
    thread.join(5)
    assert found == ["done"]


def test_compact_between_runs_cleans_up_now_and_the_next_request_shows_it(tmp_path, opened):
    documents(tmp_path, 4)
    session = opened()
    session.run("Read every file in docs.")
    before = session.budget.used
    plan = session.compact()
    assert plan.outcome == "cleanup"
    assert plan.asked
    assert session.budget.used < before
    assert session.chronicle.diffs[-1].digest == plan.digest
    assert session.run("Find the cap.").ending == "completed"


def test_compact_of_an_empty_session_does_nothing_and_says_so(opened):
    session = opened()
    assert session.compact().outcome in ("nothing", "idle")
    assert session.sent == ()


def test_plan_foretells_the_next_request_point(tmp_path, opened):
    documents(tmp_path, 4)
    session = opened()
    session.run("Read every file in docs.")
    session.live.ask_cleanup()
    foretold = session.plan()
    assert session.compact().digest == foretold.digest


def test_params_travel_with_every_request(play):
    session = play({"say": "done"}, params={"temperature": 0})
    session.run("Go.")
    assert b'"temperature":0' in session.request(1)


def test_script_and_reader_names_show_that_they_are_stand_ins(opened, tmp_path):
    assert "not a language model" in opened().snapshot.model_label
    model = script(tmp_path, {"say": "done"})
    assert "not a language model" in opened(model, name="s").snapshot.model_label


def test_a_session_whose_script_is_gone_can_still_be_looked_at(play, tmp_path):
    session = play({"say": "done"})
    session.run("Go.")
    session.close()
    for file in tmp_path.glob("*.yaml"):
        file.unlink()
    looked = eth.open_session("t", tmp_path, look=True)
    assert looked.timeline == session.timeline
    assert "script:" in looked.snapshot.model_label
    looked.close()


def test_what_no_request_can_hold_is_named_as_long_as_it_is_in_the_window(play):
    session = play({"say": "done", "repeat": 9})
    assert session.segments.repairs == ()
    session.run("Go.")
    session.live.append(Message(role="assistant", parts=(Thinking(text="half a thought"),), trust="agent"))
    for segments in (session.segments, session.snapshot.segments):
        (line,) = segments.repairs
        assert line.startswith("in the request, message 3: the assistant message removed")
        assert "'half a thought'" in line
        assert "half a thought" in str(segments)


def test_a_step_at_which_only_a_cleanup_was_asked_for_says_that_nothing_was_sent(opened):
    session = opened()
    session.run("Read it.")
    session.compact()
    with pytest.raises(
        NoSuchAddress, match=f"nothing was sent at step {session.live.step} .* a cleanup was asked for"
    ):
        session.request(session.live.step)
    with pytest.raises(NoSuchAddress, match="no request of step 99"):
        session.request(99)
    assert ["unsent" in row.kinds for row in session.timeline][-2:] == [False, True]
    session.run("And again.")
    assert "unsent" not in session.timeline[-1].kinds
    told = session.timeline
    session.close()
    assert told == opened().timeline  # also where the record is read again
