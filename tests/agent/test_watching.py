"""What a session tells of: every change, in the thread that made it, under no lock; and which sessions come and go."""

import threading

import pytest

from ethang_nb.agent.session import OPEN
from ethang_nb.agent.watchers import Register, Watchers
from ethang_nb.errors import Misuse, SessionBusy
from tests.agent.stage import TASK, call, calls, documents, kinds


def heard(session):
    told = []
    session.watch_changes(told.append)
    return told


def test_a_run_is_told_from_its_start_to_its_end(play):
    session = play(calls(call("list_files"), call("list_files")), {"say": "done"})
    told = heard(session)
    session.run("Go.")
    # The start is told by the caller's thread, the rest by the worker's.
    told.remove("run started")
    assert told == ["request", "message", "message", "message", "request", "text", "message", "run ended"]


def test_a_cleanup_is_told_before_its_note_and_the_note_when_it_stands(tmp_path, opened):
    documents(tmp_path)
    session = opened("reader?nudge=ignore", policy="compact", window=2_700)
    told, states = [], []

    def watch(change):
        told.append(change)
        if change in ("request", "note"):
            states.append((change, session.live.pending is not None))

    session.watch_changes(watch)
    session.run(TASK)
    at = told.index("note")
    assert "request" == told[at - 1]
    assert ("request", True) in states
    assert ("note", True) not in states
    assert told.count("note") == kinds(session).count("note")
    assert told.count("request") == kinds(session).count("point")


def test_each_act_is_told_once_and_one_that_was_refused_not_at_all(play):
    session = play({"say": "done", "repeat": 3})
    session.run("Never stop. Go.")
    told = heard(session)
    session.pin("Keep it.")
    session.unpin(1)
    session.compact()
    session.change(policy="trim")
    session.begin("more")
    session.cool()
    session.reseed()
    assert told == ["pin", "unpin", "request", "compact", "change", "begin", "cool", "reseed"]
    told.clear()
    for refused in (lambda: session.unpin(99), lambda: session.pin("...")):
        with pytest.raises(Misuse):
            refused()
    assert [] == told


def test_the_end_of_a_session_is_told_once(play):
    session = play({"say": "done"})
    told = heard(session)
    session.close()
    session.close()
    assert ["closed"] == told


def test_whoever_is_told_holds_no_lock_of_the_session_and_the_state_is_that_after_it(play):
    session = play(calls(call("list_files")), {"say": "done"})
    found = []

    def other_thread(change):
        def look():
            if session.lock.acquire(timeout=5):
                found.append((change, session.state))
                session.lock.release()

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    told = heard(session)
    session.watch_changes(other_thread)
    session.run("Go.")
    session.pin("Keep it.")
    session.unpin(1)
    session.close()
    assert len(found) == len(told)
    assert [state for change, state in found if change in ("request", "run ended")] == [
        "running",
        "running",
        "idle",
    ]


def test_a_run_is_running_until_its_end_is_on_record(play):
    session = play({"say": "done"})
    states = []
    session.watch_changes(lambda _: states.append((kinds(session)[-1] == "run end", session.state)))
    assert session.state == "idle"
    session.run("Go.")
    assert (True, "idle") in states
    assert (False, "running") in states
    assert (False, "idle") not in states
    assert (True, "running") not in states


def test_a_watcher_of_changes_that_fails_is_dropped_said_and_breaks_no_run(play):
    session = play(calls(call("list_files")), {"say": "done"})

    def broken(_):
        raise ZeroDivisionError("of the watcher")

    session.watch_changes(broken)
    told = heard(session)
    assert session.run("Go.").ok
    assert told[-1] == "run ended"
    assert [line for line in session.snapshot.notices if "ZeroDivisionError: of the watcher" in line]


def test_a_watcher_may_leave_twice_and_from_within(play):
    session = play({"say": "done"})
    told = []

    def once(change):
        told.append(change)
        leave()
        leave()

    leave = session.watch_changes(once)
    session.run("Go.")
    assert len(told) == 1
    assert not session._desk.changes


def test_a_watcher_may_start_what_is_refused_without_harm(play):
    session = play(calls(call("list_files")), {"say": "done"})
    refused = []

    def again(change):
        if change == "message":
            try:
                session.start("Another.")
            except SessionBusy as error:
                refused.append(str(error))

    session.watch_changes(again)
    assert session.run("Go.").ok
    assert refused


def test_open_sessions_come_and_go_and_whoever_watches_is_told(play):
    told = []
    leave = OPEN.watchers.add(lambda one: told.append((one[0], one[1].name)))
    first = play({"say": "done"}, name="a")
    assert first in OPEN.values()
    second = play({"say": "done"}, name="a")  # takes its place
    second.close()
    assert told == [("opened", "a"), ("closed", "a"), ("opened", "a"), ("closed", "a")]
    assert second not in OPEN.values()
    leave()


def test_a_register_is_a_mapping_and_watchers_that_fail_break_nothing():
    register = Register()

    def broken(_):
        raise ZeroDivisionError("of the watcher")

    register.watchers.add(broken)
    register["a"] = 1
    register["b"] = 2
    del register["a"]
    assert dict(register) == {"b": 2}
    assert register.get("a") is None
    with pytest.raises(KeyError):
        del register["a"]
    assert register.pop("b") == 2
    assert 1 == len(register.watchers.failures)


def test_nobody_watches_is_false():
    watchers = Watchers()
    assert not watchers
    leave = watchers.add(lambda _: None)
    assert watchers
    leave()
    assert not watchers
