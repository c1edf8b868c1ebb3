import os
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from ethang_nb.errors import RecordDamaged, RecordNewer, RecordUnwritable
from ethang_nb.store import database
from ethang_nb.store.record import Record, sessions

posix = pytest.mark.skipif(sys.platform == "win32", reason="rights and limits are others there")


def test_the_record_lies_in_the_project_folder(tmp_path):
    assert database.home(tmp_path) == tmp_path / ".ethang"


def test_without_a_root_it_lies_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert database.home() == tmp_path / ".ethang"


def test_ethang_home_moves_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ETHANG_HOME", str(tmp_path / "elsewhere"))
    with Record.open(tmp_path / "project", "s") as record:
        record.append("begun", {})
    assert (tmp_path / "elsewhere" / "ethang.db").exists()
    assert not (tmp_path / "project").exists()
    assert [row.name for row in sessions(tmp_path / "project")] == ["s"]


def test_looking_makes_nothing(tmp_path):
    assert sessions(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


def test_the_first_write_keeps_the_folder_out_of_git(tmp_path):
    Record.open(tmp_path, "s").close()
    assert (tmp_path / ".ethang" / ".gitignore").read_text() == "*\n"


def test_a_gitignore_of_the_persons_own_stays(tmp_path):
    (tmp_path / ".ethang").mkdir()
    (tmp_path / ".ethang" / ".gitignore").write_text("*.db\n")
    Record.open(tmp_path, "s").close()
    assert (tmp_path / ".ethang" / ".gitignore").read_text() == "*.db\n"


def test_a_commit_is_on_the_disk_and_references_hold(tmp_path):
    connection = database.connect(tmp_path / "a.db")
    assert [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys", "user_version")
    ] == ["wal", 2, 1, len(database.STEPS)]
    connection.close()


OLD = (
    "create table memory (id integer primary key, kind text, text text, source text)",
    *(f"insert into memory (kind, text, source) values ('fact', 'text {i}', 'me')" for i in range(3)),
    "PRAGMA user_version=0",
)
STEPS = (
    ("CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY, kind TEXT, text TEXT, source TEXT)",),
    ("ALTER TABLE memory ADD COLUMN valid_until TEXT", "CREATE INDEX by_kind ON memory (kind)"),
)


def old_database(path):
    connection = sqlite3.connect(path)
    for statement in OLD:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_an_old_schema_is_brought_up_to_date_with_its_rows(tmp_path):
    """Field fault STO-04; opening twice changes nothing more."""
    path = tmp_path / "old.db"
    old_database(path)
    for _ in range(2):
        connection = database.connect(path, steps=STEPS)
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        rows = connection.execute("SELECT text, valid_until FROM memory ORDER BY id").fetchall()
        assert rows == [("text 0", None), ("text 1", None), ("text 2", None)]
        connection.close()


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path):
    path = tmp_path / "old.db"
    old_database(path)
    broken = (*STEPS, ("ALTER TABLE memory ADD COLUMN more TEXT", "CREATE INDEX by_kind ON memory (text)"))
    with pytest.raises(RecordDamaged, match="already exists"):
        database.connect(path, steps=broken)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(memory)")]
    assert columns == ["id", "kind", "text", "source", "valid_until"]
    connection.close()


def test_a_newer_record_is_refused_and_left_alone(tmp_path):
    Record.open(tmp_path, "s").close()
    path = tmp_path / ".ethang" / "ethang.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    for ask in (lambda: Record.open(tmp_path, "s"), lambda: sessions(tmp_path)):
        with pytest.raises(RecordNewer, match=r"ethang\.db .*version is 99.*upgrade ethang_nb"):
            ask()
    assert path.read_bytes() == before


def test_for_reading_only_an_older_schema_is_not_touched(tmp_path):
    path = tmp_path / "old.db"
    old_database(path)
    with pytest.raises(RecordUnwritable, match="older ethang_nb"):
        database.connect(path, write=False, steps=STEPS)


def whole_database(path, rows=2000):
    connection = database.connect(path)
    connection.execute("INSERT INTO session (name, created) VALUES ('s', 0)")
    connection.executemany(
        "INSERT INTO event (session, seq, kind, at, size, data) VALUES (1, ?, 'x', 0, 2, ?)",
        ((seq, '{"text":"' + "x" * 100 + '"}') for seq in range(1, rows + 1)),
    )
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("damage", ["garbage", "cut", "text"])
def test_a_damaged_file_is_named_and_left_alone(tmp_path, damage, write):
    """Field fault STO-03."""
    folder = tmp_path / ".ethang"
    folder.mkdir()
    path = folder / "ethang.db"
    whole = whole_database(tmp_path / "whole.db") if damage == "cut" else b""
    content = {
        "garbage": b"SQLite format 3\0" + b"\xff" * 200,
        "cut": whole[: len(whole) * 6 // 10],
        "text": b"this is a text file of somebody's\n" * 40,
    }[damage]
    path.write_bytes(content)
    with pytest.raises(RecordDamaged, match="is damaged or not a database") as caught:
        Record.open(tmp_path, "s", write=write)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_file_of_zero_bytes_is_a_database_not_yet_begun(tmp_path):
    """Field fault STO-03; it is what SQLite itself leaves of a first opening that was cut short."""
    (tmp_path / ".ethang").mkdir()
    (tmp_path / ".ethang" / "ethang.db").write_bytes(b"")
    assert sessions(tmp_path) == ()
    with Record.open(tmp_path, "s") as record:
        assert record.append("begun", {}).seq == 1


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    (tmp_path / ".ethang").mkdir()
    path = tmp_path / ".ethang" / "ethang.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE event (what TEXT)")
    connection.close()
    with pytest.raises(RecordDamaged, match="not what this ethang_nb expects"):
        Record.open(tmp_path, "s")
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("event",)]
    connection.close()


def test_a_damaged_file_can_be_set_aside_and_a_new_one_begun(tmp_path):
    (tmp_path / ".ethang").mkdir()
    path = tmp_path / ".ethang" / "ethang.db"
    for number in (1, 2):
        path.write_bytes(b"\xff" * 4096)
        aside = database.set_aside(path)
        assert aside.name == f"ethang.db.damaged-{number}"
        assert aside.read_bytes() == b"\xff" * 4096
    with Record.open(tmp_path, "s") as record:
        assert record.append("begun", {}).seq == 1


def hold(path, seconds, ready):
    """Another program that holds the write lock for a while."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ready.set()
    time.sleep(seconds)
    other.execute("COMMIT")
    other.close()


def test_a_writer_waits_for_another_programs_lock(record):
    """Field fault STO-01."""
    ready = threading.Event()
    other = threading.Thread(target=hold, args=(record.path, 0.5, ready))
    other.start()
    ready.wait()
    assert record.append("waited", {}).seq == 1
    other.join()


def test_a_lock_that_lasts_is_named_and_nothing_is_lost(record):
    record.append("before", {})
    record._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(record.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RecordUnwritable, match=r"ethang\.db is locked by another program"):
        record.append("refused", {})
    with pytest.raises(RecordUnwritable, match="locked"):
        record.keep([b"refused"])
    other.execute("COMMIT")
    other.close()
    assert record.append("after", {}).seq == 2
    assert record.body(record.keep([b"refused"])) == b"refused"
    assert [event.kind for event in record.events()] == ["before", "after"]


def test_a_full_disk_is_named_and_nothing_is_lost(record):
    record.append("before", {})
    pages = record._connection.execute("PRAGMA page_count").fetchone()[0]
    record._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(RecordUnwritable, match="the disk is full"):
        record.append("too much", {"text": "x" * 1_000_000})
    assert record.append("small", {}).seq == 2
    record._connection.execute("PRAGMA max_page_count = 1000000")
    assert record.append("too much", {"text": "x" * 1_000_000}).seq == 3


@posix
def test_a_disk_that_refuses_is_named_and_nothing_is_lost(record):
    record.append("before", {})
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limits[1]))
    try:
        with pytest.raises(RecordUnwritable, match="the disk"):
            record.append("too much", {"text": "x" * 3_000_000})
        assert record.append("small", {}).seq == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert record.append("too much", {"text": "x" * 3_000_000}).seq == 3


@contextmanager
def read_only(folder):
    """What lies in the folder may be read and not written; root has to become somebody else for that."""
    files = [folder, *folder.rglob("*")]
    for path in files:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in files:
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.fixture
def open_folder():
    """A folder whose parents anybody may enter."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@posix
def test_a_read_only_record_can_be_read_and_says_why_not_written(open_folder):
    with Record.open(open_folder, "s") as record:
        record.append("before", {})
    with read_only(open_folder):
        with pytest.raises(RecordUnwritable, match="set ETHANG_HOME"):
            Record.open(open_folder, "s")
        with Record.open(open_folder, "s", write=False) as view:
            assert [event.kind for event in view.events()] == ["before"]
        assert [row.events for row in sessions(open_folder)] == [1]


@posix
def test_a_folder_in_which_none_can_be_made_is_named(open_folder):
    with read_only(open_folder), pytest.raises(RecordUnwritable, match=r"cannot be made .*set ETHANG_HOME"):
        Record.open(open_folder, "s")


def test_a_file_where_the_folder_should_be_is_named(tmp_path):
    (tmp_path / ".ethang").write_text("not a folder")
    with pytest.raises(RecordUnwritable, match=r"\.ethang cannot be made"):
        Record.open(tmp_path, "s")
