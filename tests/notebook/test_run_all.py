"""The README's recipe in real kernels: recorded once, then Run All in new ones, with the folder untouched."""

import subprocess
import sys

import pytest

from ethang_nb.testing import serve
from tests.notebook.conftest import Kernel, fill

CELLS = (
    "%load_ext ethang_nb",
    "%%ethang --model mine/m --cassette demo\nRead contracts/c4.txt and tell me which order is affected.",
    "%%ethang\nTell me what binds party 34.",
)
TABLES = """
[providers.mine]
base_url = "{}"
key = "MINE_API_KEY"

[models."mine/m"]
total = 16000
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINE_API_KEY", "no-secret-" * 3)
    return fill(tmp_path)


def run_all(folder):
    """What the cells show in a new kernel, and what was sent."""
    kernel = Kernel(folder)
    try:
        shown = [(reply.outputs, reply.html[1:]) for reply in map(kernel.run, CELLS)]
        sent = kernel.run(
            "from ethang_nb import open_session\n"
            "s = open_session('audit')\n"
            "print([s.request(row.step) for row in s.timeline], [event.seq for event in s.recorded])"
        ).text
        return shown, sent
    finally:
        kernel.close()


def test_run_all_in_new_kernels_asks_once_and_shows_the_same_ever_after(folder, monkeypatch):
    tape = folder / "demo.cassette.jsonl"
    with serve("reader", root=folder) as server:
        (folder / "ethang.toml").write_text(TABLES.format(server.base_url))
        first = run_all(folder)
        recorded = tape.read_bytes()
    assert "ORD-47" in str(first[0][1])
    assert "Completed: " in str(first[0][2])
    # From here on nobody answers at that address, and a key is not set either.
    monkeypatch.delenv("MINE_API_KEY")
    assert first == run_all(folder)
    assert first == run_all(folder)
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    assert first == run_all(folder)
    assert recorded == tape.read_bytes()


SCRIPT = """
import ethang_nb as eth
session = eth.Session("mine/m", cassette="demo")
print(session.run("Read contracts/c4.txt and tell me which order is affected."))
print(session.run("Tell me what binds party 34."))
"""


def test_a_script_prints_the_same_when_it_is_run_again(folder, monkeypatch):
    (folder / "audit.py").write_text(SCRIPT)

    def run():
        return subprocess.run(
            [sys.executable, "audit.py"], cwd=folder, capture_output=True, text=True, check=True
        ).stdout

    with serve("reader", root=folder) as server:
        (folder / "ethang.toml").write_text(TABLES.format(server.base_url))
        first = run()
    assert "ORD-47" in first
    monkeypatch.delenv("MINE_API_KEY")
    assert first == run()
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    assert first == run()
