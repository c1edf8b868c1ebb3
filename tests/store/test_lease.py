import os
import sqlite3
import subprocess
import sys
import time

import pytest

from ethang_nb.clock import SystemClock
from ethang_nb.errors import SessionHeld
from ethang_nb.store import record as record_module
from ethang_nb.store.record import Record, sessions
from ethang_nb.testing import ManualClock

HOLDER = """
import sys, time
from ethang_nb.store.record import Record
record = Record.open(sys.argv[1], "s")
record.append("mine", {})
print("held", flush=True)
sys.stdin.readline()
record.close()
print("closed", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that writes session `s`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_is_told_who_writes_and_may_read(tmp_path, other):
    with pytest.raises(
        SessionHeld, match=f"session 's' is being written by process {other.pid} on this machine"
    ):
        Record.open(tmp_path, "s")
    with Record.open(tmp_path, "s", write=False) as view:
        assert [event.kind for event in view.events()] == ["mine"]
    assert sessions(tmp_path)[0].running
    with Record.open(tmp_path, "another") as record:
        assert record.append("x", {}).seq == 1


def test_events_that_are_dated_by_a_clock_that_stands_still_do_not_make_a_writer_look_dead(tmp_path):
    still = ManualClock(1_000.0)
    with Record.open(tmp_path, "s", clock=still, beats=SystemClock()) as record:
        assert 1_000.0 == record.append("x", {}).at
        assert sessions(tmp_path)[0].running
        # Another process takes over only what no living process holds, or what has no heartbeat any more.
        assert abs(time.time() - _heartbeat(tmp_path)) < 60


def _heartbeat(folder):
    with sqlite3.connect(folder / ".ethang" / "ethang.db") as found:
        return found.execute("SELECT heartbeat FROM lease").fetchone()[0]


def test_closing_gives_the_session_free(tmp_path, other):
    other.stdin.write("\n")
    other.stdin.flush()
    assert other.stdout.readline() == "closed\n"
    assert not sessions(tmp_path)[0].running
    with Record.open(tmp_path, "s") as record:
        assert record.append("now mine", {}).seq == 2


def test_a_process_that_was_killed_holds_nothing(tmp_path, other):
    other.kill()
    other.wait()
    assert not sessions(tmp_path)[0].running
    with Record.open(tmp_path, "s") as record:
        assert record.append("now mine", {}).seq == 2


def test_one_process_holds_a_session_once(tmp_path, record, clock):
    with pytest.raises(SessionHeld, match="being written by this very process"):
        Record.open(tmp_path, "analysis", clock=clock)
    record.close()
    Record.open(tmp_path, "analysis").close()


def move_lease(record, **columns):
    """Makes the lease another machine's."""
    other = sqlite3.connect(record.path, isolation_level=None)
    for name, value in columns.items():
        other.execute(f"UPDATE lease SET {name} = ?", (value,))
    other.close()


def test_a_lease_of_another_machine_is_stale_after_thirty_seconds(tmp_path, record, clock):
    move_lease(record, host="elsewhere", pid=2**22 + 1)
    clock.time += 30
    with pytest.raises(SessionHeld, match=r"on elsewhere \(heartbeat 30 s ago\)"):
        Record.open(tmp_path, "analysis", clock=clock)
    clock.time += 1
    Record.open(tmp_path, "analysis", clock=clock).close()


def test_of_another_boot_a_missing_process_proves_nothing(tmp_path, record, clock):
    """Two containers share a host name, and neither sees the other's processes."""
    move_lease(record, boot="another", pid=2**22 + 1)
    with pytest.raises(SessionHeld):
        Record.open(tmp_path, "analysis", clock=clock)


def test_a_writer_that_was_taken_over_cannot_write(tmp_path, record, clock):
    record.append("first", {})
    clock.time += 31
    with Record.open(tmp_path, "analysis", clock=clock) as second:
        second.append("second", {})
        for write in (
            lambda: record.append("late", {}),
            lambda: record.keep([b"late"]),
            lambda: record.index(1, "late"),
        ):
            with pytest.raises(SessionHeld, match="taken over by"):
                write()
        record.beat()
        record.close()
        second.append("third", {})
        assert [event.kind for event in second.events()] == ["first", "second", "third"]


def test_writing_is_a_heartbeat(tmp_path, record, clock):
    for _ in range(5):
        clock.time += 12
        record.append("x", {})
    with pytest.raises(SessionHeld, match="heartbeat 0 s ago"):
        Record.open(tmp_path, "analysis", clock=clock)


def test_an_idle_session_beats_by_itself(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(record_module, "BEAT", 0.01)
    with Record.open(tmp_path, "idle", clock=clock) as record:
        clock.time += 100
        look = sqlite3.connect(record.path)
        for _ in range(500):
            if look.execute("SELECT heartbeat FROM lease").fetchone() == (clock.time,):
                break
            time.sleep(0.01)
        else:
            pytest.fail("no heartbeat in 5 s")
        with pytest.raises(SessionHeld):
            Record.open(tmp_path, "idle", clock=clock)


def test_a_refused_writer_leaves_no_session_behind(tmp_path, record, clock):
    with pytest.raises(SessionHeld):
        Record.open(tmp_path, "analysis", clock=clock)
    assert [row.name for row in sessions(tmp_path)] == ["analysis"]
    assert os.getpid() == record._lease.pid
