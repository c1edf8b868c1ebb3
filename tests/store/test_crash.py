import random
import shutil
import subprocess
import sys

import pytest

from ethang_nb.store.record import Record

WRITER = """
import sys
from ethang_nb.store.record import Record
record = Record.open(sys.argv[1], "s")
while True:
    text = f"event {record.last + 1} of the record"
    event = record.append("x", {"text": text, "filler": "f" * 500}, text=text)
    print(event.seq, flush=True)
    record.keep([text.encode()])
"""


def test_every_acknowledged_event_survives_a_kill(tmp_path):
    chance = random.Random(7)
    acknowledged = 0
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True)
        for _ in range(chance.randrange(1, 120)):
            acknowledged = int(writer.stdout.readline())
        writer.kill()
        rest, _ = writer.communicate()
        acknowledged = max([acknowledged, *(int(line) for line in rest.split("\n")[:-1])])
        with Record.open(tmp_path, "s") as record:
            events = record.events()
            # One more may have been committed and not yet told.
            assert len(events) in (acknowledged, acknowledged + 1)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert [record.text(event.seq) for event in events] == [event.data["text"] for event in events]
            assert record._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("flip", [False, True])
def test_after_a_power_cut_the_record_is_what_was_committed_before_it(tmp_path, flip):
    """The WAL cut, or one bit of it turned, at any byte: a prefix of the events opens, never a mixture."""
    live = tmp_path / "live" / ".ethang"
    sizes = [0]
    with Record.open(tmp_path / "live", "s") as record:
        record._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        record._connection.execute("PRAGMA wal_autocheckpoint = 0")
        for n in range(20):
            record.append("x", {"n": n}, text=f"number {n}")
            sizes.append((live / "ethang.db-wal").stat().st_size)
        database, wal = (live / "ethang.db").read_bytes(), (live / "ethang.db-wal").read_bytes()
    chance = random.Random(3)
    for cut in [*chance.sample(range(33, sizes[-1]), 12), sizes[-1]]:
        torn = bytearray(wal)
        if flip:
            torn[cut - 1] ^= 0x5A
        else:
            del torn[cut:]
        folder = tmp_path / "copy" / ".ethang"
        folder.mkdir(parents=True)
        (folder / "ethang.db").write_bytes(database)
        (folder / "ethang.db-wal").write_bytes(torn)
        whole = sum(size <= cut - flip for size in sizes[1:])
        with Record.open(tmp_path / "copy", "s", clock=_Later()) as record:
            assert [event.data["n"] for event in record.events()] == list(range(whole))
            assert len(record.find("number", 99)) == whole
            assert record.append("x", {"n": whole}).seq == whole + 1
        shutil.rmtree(tmp_path / "copy")


class _Later:
    """A clock at which the lease in the copy is long stale."""

    def now(self):
        return 4e9

    def monotonic(self):
        return 0.0


def test_kernels_that_start_at_once_all_get_their_session(tmp_path):
    script = (
        "import sys; from ethang_nb.store.record import Record\n"
        "with Record.open(sys.argv[1], sys.argv[2]) as r:\n"
        "    for n in range(20): r.append('x', {'n': n})\n"
    )
    kernels = [
        subprocess.Popen([sys.executable, "-c", script, tmp_path, f"s{i}"], stderr=subprocess.PIPE, text=True)
        for i in range(4)
    ]
    assert [kernel.communicate()[1] for kernel in kernels] == [""] * 4
    for i in range(4):
        with Record.open(tmp_path, f"s{i}", write=False) as view:
            assert [event.data["n"] for event in view.events()] == list(range(20))
