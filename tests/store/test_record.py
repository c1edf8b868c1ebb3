import gc
import json
import sqlite3
import subprocess
import sys
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ethang_nb.errors import Misuse, NoSuchAddress, RecordDamaged, RecordUnwritable, SessionHeld, Unknown
from ethang_nb.store.record import Event, Record, SessionRow, sessions

# Any JSON, with lone surrogates and NUL in it.
TEXTS = st.text(st.characters() | st.sampled_from("\x00\ud83d\udc00"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
on_one_record = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def other_hand(record):
    """A connection that does what ethang_nb never does."""
    return sqlite3.connect(record.path, isolation_level=None)


def test_events_are_numbered_from_one(record, clock):
    first = record.append("begun", {"name": "a"})
    clock.time += 5
    second = record.append("message", {"text": "b"})
    assert first == Event(seq=1, kind="begun", data={"name": "a"}, at=1_000_000.0)
    assert second == Event(seq=2, kind="message", data={"text": "b"}, at=1_000_005.0)
    assert record.events() == (first, second)
    assert record.last == 2


def test_a_reopened_record_goes_on(tmp_path):
    with Record.open(tmp_path, "s") as record:
        before = record.append("a", {"n": 1})
    with Record.open(tmp_path, "s") as record:
        assert record.append("b", {}).seq == 2
        assert record.events()[0] == before


@on_one_record
@given(data=st.dictionaries(TEXTS, JSON, max_size=4))
def test_whatever_is_json_comes_back_equal(record, data):
    event = record.append("x", data)
    assert event.data == data
    assert record.event(event.seq) == event


@pytest.mark.parametrize("text", ["build ok \ud83d done", "head\x00tail"])
def test_broken_text_is_stored_and_searchable(record, text):
    """Field faults SPL-10 and SPL-12: it neither raises nor cuts the text short."""
    event = record.append("result", {"text": text}, text=text)
    assert record.event(event.seq).data == {"text": text}
    assert record.text(event.seq) == text.replace("\ud83d", "\ufffd").replace("\x00", "\u2400")
    assert [hit.seq for hit in record.find("done tail", 5)] == [event.seq]


def test_events_are_stored_as_canonical_json(record):
    record.append("x", {"b": [1, 2.5, None, True], "a": "漢"})
    (stored,) = other_hand(record).execute("SELECT data FROM event").fetchone()
    assert stored == '{"a":"漢","b":[1,2.5,null,true]}'


def test_an_event_does_not_change_with_the_data_it_was_made_of(record):
    data = {"list": [1]}
    event = record.append("x", data)
    data["list"].append(2)
    assert event.data == record.event(1).data == {"list": [1]}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"bytes"])
def test_what_is_not_json_is_misuse_and_leaves_nothing(record, value):
    with pytest.raises(Misuse, match="event 'x' is not JSON"):
        record.append("x", {"value": value})
    assert record.events() == ()


def test_events_can_be_asked_for_by_number_and_kind(record):
    for n, kind in enumerate("abcab", 1):
        record.append(kind, {"n": n})
    assert [event.seq for event in record.events(after=3)] == [4, 5]
    assert [event.seq for event in record.events(kinds={"a", "c"})] == [1, 3, 4]
    assert [event.seq for event in record.events(after=1, kinds=["a"])] == [4]
    assert record.events(kinds=[]) == ()


@pytest.mark.parametrize("seq", [0, -1, 3])
def test_an_event_that_is_not_there_is_no_address(record, seq):
    record.append("a", {})
    record.append("b", {})
    with pytest.raises(NoSuchAddress, match=rf"log://{seq} .*events 1 to 2"):
        record.event(seq)


def test_sessions_of_one_file_do_not_mix(tmp_path):
    with Record.open(tmp_path, "a") as a, Record.open(tmp_path, "b") as b:
        a.append("x", {"of": "a"}, text="shared words of a")
        b.append("x", {"of": "b"}, text="shared words of b")
        keys = a.keep([b"piece of a"])
        assert [event.data for event in b.events()] == [{"of": "b"}]
        assert [hit.text for hit in b.find("shared words", 5)] == ["shared words of b"]
        with pytest.raises(NoSuchAddress):
            b.body(keys)


def test_a_view_sees_each_event_as_it_is_committed(tmp_path, record):
    record.append("a", {})
    with Record.open(tmp_path, "analysis", write=False) as view:
        assert view.last == 1
        record.append("b", {}, text="the cap is four orders")
        assert [event.kind for event in view.events(after=1)] == ["b"]
        assert view.find("cap", 1)[0].address == "log://2#L1"


def test_a_view_writes_nothing(tmp_path, record):
    record.append("a", {})
    with Record.open(tmp_path, "analysis", write=False) as view:
        for write in (
            lambda: view.append("b", {}),
            lambda: view.keep([b"x"]),
            lambda: view.index(1, "text"),
        ):
            with pytest.raises(RecordUnwritable, match="reading only"):
                write()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            view._connection.execute("DELETE FROM event")


def test_a_view_of_an_unknown_session_names_the_nearest(tmp_path, record):
    with pytest.raises(Unknown, match="did you mean 'analysis'"):
        Record.open(tmp_path, "analisys", write=False)
    with pytest.raises(Unknown, match="none yet"):
        Record.open(tmp_path / "empty", "s", write=False)


def test_a_session_needs_a_name(tmp_path):
    with pytest.raises(Misuse, match="name"):
        Record.open(tmp_path, " \n")


@pytest.mark.parametrize(
    "name", ["a/b", "../up", "Übung 1", "x" * 500, "a'; DROP TABLE event; --", "n\x00ul", "\ud83d"]
)
def test_any_name_will_do(tmp_path, name):
    with Record.open(tmp_path, name) as record:
        record.append("x", {})
    with Record.open(tmp_path, name, write=False) as view:
        assert view.last == 1
    assert [path.name for path in tmp_path.iterdir()] == [".ethang"]


@on_one_record
@given(pieces=st.lists(st.binary(max_size=40) | st.binary(min_size=300, max_size=900), max_size=8))
def test_a_request_comes_back_byte_for_byte(record, pieces):
    keys = record.keep(pieces)
    assert record.body(keys) == b"".join(pieces)
    assert record.keep(pieces) == keys


def stored(record):
    return other_hand(record).execute("SELECT count(*), coalesce(sum(length(data)), 0) FROM piece").fetchone()


def test_repeated_pieces_cost_nothing(record):
    history = [b'{"role":"user","content":"message %d"}' % n for n in range(50)]
    record.keep(history)
    before = stored(record)
    record.keep(history)
    record.keep([*history, *history])
    assert stored(record) == before
    record.keep([*history, b"one more"])
    assert stored(record)[0] == before[0] + 1


def test_keys_stay_the_same_after_reopening(tmp_path):
    with Record.open(tmp_path, "s") as record:
        keys = record.keep([b"a", b"b", b"a"])
    assert keys[0] == keys[2]
    with Record.open(tmp_path, "s") as record:
        assert record.keep([b"a", b"b", b"a"]) == keys
        assert stored(record)[0] == 2


def test_pieces_are_compressed_where_it_pays(record):
    record.keep([b"the same words " * 1000])
    assert stored(record)[1] < 500


def test_two_pieces_whose_keys_begin_alike_stay_apart(record):
    """A model's or a tool's output may be made to collide; a request must still be what was sent."""
    (key,) = record.keep([b"true"])
    other = other_hand(record)
    other.execute("DELETE FROM piece")
    other.execute("INSERT INTO piece VALUES (1, ?, x'00', 0, x'00')", (key,))
    record._pieces.forget()
    (longer,) = record.keep([b"true"])
    assert longer.startswith(key)
    assert longer != key
    assert record.body([longer]) == b"true"


def test_an_unknown_piece_is_no_address(record):
    with pytest.raises(NoSuchAddress, match="no piece 'beef'"):
        record.body(["beef"])


@pytest.mark.parametrize("piece", [b"small", b"large " * 100])
def test_a_piece_whose_bytes_changed_is_named(record, piece):
    (key,) = record.keep([piece])
    other_hand(record).execute("UPDATE piece SET data = x'0102'")
    with pytest.raises(RecordDamaged, match=f"piece {key}"):
        record.body([key])


def test_the_text_of_an_event_comes_back(record):
    record.append("result", {})
    record.append("usage", {})
    record.index(1, "first\nsecond", "file:a.txt#L1-2@1a2b3c4d")
    assert record.text(1) == "first\nsecond"
    with pytest.raises(NoSuchAddress, match="log://2 is an event without a text"):
        record.text(2)
    with pytest.raises(NoSuchAddress, match="events 1 to 2"):
        record.text(3)


def test_indexing_again_changes_nothing_and_never_overwrites(record):
    record.append("result", {}, text="the cap is four", address="spill://0123456789ab")
    record.index(1, "the cap is four", "spill://0123456789ab")
    assert len(record.find("cap", 9)) == 1
    with pytest.raises(Misuse, match="log://1 already holds another text"):
        record.index(1, "the cap is five")
    assert record.text(1) == "the cap is four"
    with pytest.raises(NoSuchAddress):
        record.index(2, "no such event")


def test_threads_may_append_at_once(record):
    def work(name):
        for n in range(25):
            record.append(name, {"n": n})
            record.keep([f"{n}".encode()])

    threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = record.events()
    assert [event.seq for event in events] == list(range(1, 101))
    for i in range(4):
        assert [event.data["n"] for event in events if event.kind == f"t{i}"] == list(range(25))


def test_recorded_events_are_never_updated(record):
    record.append("x", {})
    with pytest.raises(sqlite3.IntegrityError, match="never updated"):
        other_hand(record).execute("UPDATE event SET kind = 'y'")


@pytest.mark.parametrize("write", [True, False])
def test_missing_events_are_named(tmp_path, write):
    with Record.open(tmp_path, "s") as record:
        for _ in range(4):
            record.append("x", {})
        other_hand(record).execute("DELETE FROM event WHERE seq = 2")
    with pytest.raises(RecordDamaged, match=r"ethang\.db: session 's' has 3 events numbered 1 to 4"):
        Record.open(tmp_path, "s", write=write)


def test_an_event_that_is_not_json_is_named(record):
    """Field fault RES-01: damage in the middle never ends the record silently."""
    record.append("x", {})
    other_hand(record).execute("INSERT INTO event VALUES (1, 2, 'x', 0, 5, '{\"n\":')")
    record.append("x", {})
    with pytest.raises(RecordDamaged, match="event 2 of session 'analysis' is not JSON"):
        record.events()


def test_a_closed_record_says_so(tmp_path):
    record = Record.open(tmp_path, "s")
    record.close()
    record.close()
    for ask in (record.events, lambda: record.append("x", {}), lambda: record.find("x", 1)):
        with pytest.raises(Misuse, match="is closed; open it again"):
            ask()
    assert repr(record) == "Record('s', closed)"


def test_a_forgotten_record_gives_its_session_free(tmp_path):
    """A cell that makes a session again must not find it held by the one it forgot."""
    record = Record.open(tmp_path, "s")
    with pytest.raises(SessionHeld):
        Record.open(tmp_path, "s")
    del record
    gc.collect()
    Record.open(tmp_path, "s").close()


FORKED = """
import os, sys
from ethang_nb.errors import Misuse
from ethang_nb.store.record import Record
record = Record.open(sys.argv[1], "s")
record.append("parent", {})
if os.fork() == 0:
    for ask in (lambda: record.append("child", {}), record.events):
        try:
            ask()
        except Misuse as error:
            assert "forked" in str(error)
        else:
            os._exit(3)
    record.close()
    os._exit(0)
assert os.wait()[1] == 0
assert record.append("parent", {}).seq == 2
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_forked_child_may_not_use_the_record_and_does_not_free_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_sessions_are_listed_last_used_first(tmp_path, clock):
    with Record.open(tmp_path, "old", clock=clock) as record:
        clock.time += 10
        record.append("x", {"text": "ab"})
        record.keep([b"12345"])
    clock.time += 10
    with Record.open(tmp_path, "new", clock=clock):
        size = len(json.dumps({"text": "ab"}, separators=(",", ":"))) + 5
        assert sessions(tmp_path, clock=clock) == (
            SessionRow(name="new", events=0, created=1_000_020.0, last=None, running=True, bytes=0),
            SessionRow(
                name="old", events=1, created=1_000_000.0, last=1_000_010.0, running=False, bytes=size
            ),
        )


def test_a_record_whose_file_was_deleted_under_it_says_so_at_the_next_write(tmp_path):
    with Record.open(tmp_path, "a") as record:
        record.append("first", {})
        for file in (tmp_path / ".ethang").glob("ethang.db*"):
            file.unlink()
        with pytest.raises(RecordUnwritable, match="deleted or replaced while session 'a' is open"):
            record.append("second", {})
