"""Beginning afresh: the earlier record stays whole under another name, whatever happens on the way."""

import os
import shutil
import subprocess
import sys

import pytest

from ethang_nb.errors import SessionHeld, Unknown
from ethang_nb.store.record import Record, sessions
from ethang_nb.store.spill import SpillStore, spill_folder

LONG = "a line that is kept outside the window\n" * 40

DYING = """
import os, sqlite3, sys
from ethang_nb.store.record import Record

left = int(sys.argv[2])

def one_more():
    global left
    left -= 1
    if left < 0:
        os._exit(9)

class Dying(sqlite3.Connection):
    def execute(self, *args):
        one_more()
        return super().execute(*args)

connect, link = sqlite3.connect, os.link
sqlite3.connect = lambda *args, **more: connect(*args, **more, factory=Dying)
os.link = lambda *args: (one_more(), link(*args))
Record.open(sys.argv[1], "s", fresh=True).close()
"""


def write(root, name="s", *, number=0):
    """A record of three events, a body and two spilled texts."""
    with Record.open(root, name) as record:
        for line in ("one", "two", f"three {number}"):
            record.append("x", {"line": line}, text=f"the text of {line}")
        keys = record.keep([b"head ", b"tail"])
        refs = [SpillStore(spill_folder(root, name)).keep(f"{LONG}{number}{end}") for end in "ab"]
        record.append("request", {"pieces": list(keys), "refs": refs})


def read(root, name, *, number=0):
    """Checks that the record of `write` is whole under this name."""
    with Record.open(root, name, write=False) as record:
        *_, third, request = record.events()
        assert (4, {"line": f"three {number}"}) == (request.seq, third.data)
        assert f"the text of three {number}" == record.text(3)
        assert b"head tail" == record.body(request.data["pieces"])
        assert [f"the text of three {number}"] == [hit.text for hit in record.find("three", 5)]
        for ref in request.data["refs"]:
            assert "kept outside" in SpillStore(spill_folder(root, name)).read(ref)


def names(root):
    return {row.name: row.events for row in sessions(root)}


def test_what_was_is_set_aside_whole_under_the_next_free_name(tmp_path):
    for number in range(3):
        write(tmp_path, number=number)
        with Record.open(tmp_path, "s", fresh=True) as record:
            assert () == record.events()
            assert 1 == record.append("x", {}).seq if number == 2 else True
    assert {"s": 1, "s~1": 4, "s~2": 4, "s~3": 4} == names(tmp_path)
    for number in range(3):
        read(tmp_path, f"s~{number + 1}", number=number)


def test_an_empty_record_is_begun_and_nothing_is_set_aside(tmp_path):
    for _ in range(2):
        Record.open(tmp_path, "s", fresh=True).close()
    assert {"s": 0} == names(tmp_path)


def test_a_record_that_was_set_aside_gets_another_number(tmp_path):
    write(tmp_path)
    Record.open(tmp_path, "s", fresh=True).close()
    Record.open(tmp_path, "s~1", fresh=True).close()
    assert {"s": 0, "s~1": 0, "s~2": 4} == names(tmp_path)
    read(tmp_path, "s~2")


def test_a_name_that_somebody_gave_is_not_taken(tmp_path):
    write(tmp_path, "s~1", number=7)
    write(tmp_path)
    Record.open(tmp_path, "s", fresh=True).close()
    read(tmp_path, "s~1", number=7)
    read(tmp_path, "s~2")


def test_a_record_that_is_held_stays_where_it_is(tmp_path):
    write(tmp_path)
    with Record.open(tmp_path, "s") as held:
        with pytest.raises(SessionHeld, match="session 's' is being written by this very process"):
            Record.open(tmp_path, "s", fresh=True)
        assert 5 == held.append("x", {}).seq
    assert {"s": 5} == names(tmp_path)
    assert not spill_folder(tmp_path, "s~1").exists()


def test_nobody_writes_what_was_set_aside_and_who_reads_it_goes_on(tmp_path):
    write(tmp_path)
    with Record.open(tmp_path, "s", write=False) as reader, Record.open(tmp_path, "s", fresh=True) as writer:
        assert [1, 2, 3, 4] == [event.seq for event in reader.events()]
        assert 1 == writer.append("x", {}).seq
        assert not next(row for row in sessions(tmp_path) if row.name == "s~1").running
        with Record.open(tmp_path, "s~1") as again:
            assert 5 == again.append("x", {}).seq


@pytest.mark.parametrize("links", [True, False])
def test_texts_are_linked_or_where_the_disk_has_no_links_copied(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    write(tmp_path)
    Record.open(tmp_path, "s", fresh=True).close()
    here, there = (sorted(spill_folder(tmp_path, name).iterdir()) for name in ("s", "s~1"))
    assert [path.name for path in here] == [path.name for path in there]
    assert [links, links] == [one.samefile(other) for one, other in zip(here, there, strict=True)]
    shutil.rmtree(spill_folder(tmp_path, "s"))
    read(tmp_path, "s~1")


def refuse(*_):
    raise OSError(95, "no links here")


def test_what_lies_under_the_new_name_is_replaced(tmp_path):
    """Of a record that was deleted, or of a process that ended on the way."""
    write(tmp_path)
    folder = spill_folder(tmp_path, "s~1")
    folder.mkdir()
    for path in spill_folder(tmp_path, "s").iterdir():
        (folder / path.name).write_text("something else")
    Record.open(tmp_path, "s", fresh=True).close()
    read(tmp_path, "s~1")


def test_wherever_the_process_ends_all_of_it_is_under_one_of_the_names(tmp_path):
    write(tmp_path / "whole")
    ends = []
    for left in range(100):
        root = tmp_path / str(left)
        shutil.copytree(tmp_path / "whole", root)
        child = subprocess.run([sys.executable, "-c", DYING, root, str(left)], check=False)
        read(root, "s" if names(root)["s"] else "s~1")
        ends.append("s~1" in names(root))
        Record.open(root, "s", fresh=True).close()
        read(root, "s~1")
        if not child.returncode:
            break
    assert 9 == child.returncode or ends[-1]
    assert ends == sorted(ends)
    assert {True, False} == set(ends)
    assert 10 < len(ends) < 100


def test_to_read_makes_nothing(tmp_path):
    with pytest.raises(Unknown):
        Record.open(tmp_path, "s", write=False, fresh=True)
    assert not (tmp_path / ".ethang").exists()
