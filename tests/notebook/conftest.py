"""A shell in this process and a kernel in another, both in a folder of their own with a few short contracts."""

import os
import sqlite3
import subprocess
import time
from dataclasses import dataclass, field
from queue import Empty

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from jupyter_client.manager import KernelManager
from traitlets.config import Config

import ethang_nb
from ethang_nb.notebook.extension import unload

QUIET = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
SCRIPTS = {
    "slow.yaml": "turns:\n- call: [{name: list_files}]\n- say: done\n  delay: 25\n- say: and on\n",
    "say.yaml": "turns:\n- say: said\n  repeat: 50\n",
    "boom.yaml": "turns:\n- call: [{name: boom, arguments: {text: now}}]\n- say: it went wrong\n",
    "fails.yaml": "turns:\n- fail: the server is down\n",
}


def fill(folder):
    """Six short contracts and the scripts."""
    (folder / "contracts").mkdir()
    for number in range(1, 7):
        lines = [
            f"Clause {line} of contract {number} binds party {line * number} to nothing."
            for line in range(1, 19)
        ]
        lines[7] = (
            f"The affected order is ORD-{number}7 and its cap is {number}00 EUR." if number == 4 else lines[7]
        )
        (folder / "contracts" / f"c{number}.txt").write_text("\n".join(lines))
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text)
    return folder


@dataclass
class Shown:
    """What one cell did in a shell of this process."""

    value: object
    error: BaseException | None
    text: str
    outputs: list = field(default_factory=list)

    def line(self):
        """The one line that was printed, which is all that was."""
        lines = self.text.strip().splitlines()
        assert 1 == len(lines), self.text
        return lines[0]


class Notebook:
    """Cells run one after the other in a real shell."""

    def __init__(self, shell, folder):
        self.shell, self.folder = shell, folder

    def run(self, source, *, fails=False):
        with capture_output() as captured:
            result = self.shell.run_cell(source, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        assert fails == (error is not None), captured.stdout or error
        return Shown(result.result, error, captured.stdout + captured.stderr, captured.outputs)

    def fails(self, source):
        return self.run(source, fails=True)

    def restart(self):
        """What a new kernel knows: nothing but the record. `%reload_ext` reloads only what `%load_ext` loaded."""
        unload(self.shell)
        ethang_nb.load_ipython_extension(self.shell)


@pytest.fixture(scope="session")
def shell():
    found = InteractiveShell.instance(config=QUIET)
    yield found
    InteractiveShell.clear_instance()


@pytest.fixture
def notebook(shell, tmp_path, monkeypatch):
    """A notebook called `audit` with the extension loaded."""
    monkeypatch.chdir(fill(tmp_path))
    monkeypatch.setenv("JPY_SESSION_NAME", "/notebooks/audit.ipynb")
    names = set(shell.user_ns)
    ethang_nb.load_ipython_extension(shell)
    yield Notebook(shell, tmp_path)
    unload(shell)
    shell.config.pop("Ethang", None)  # IPython keeps there what %config sets
    for name in set(shell.user_ns) - names:
        del shell.user_ns[name]


@dataclass
class Reply:
    """What one cell did in a kernel: its outputs as (type, text/plain or text), and seconds after the last ■."""

    outputs: list
    html: list
    after: float | None

    @property
    def text(self):
        return "\n".join(text for _, text in self.outputs)


class Kernel:
    """A kernel in another process."""

    def __init__(self, folder):
        environment = {
            key: value for key, value in os.environ.items() if key not in ("ETHANG_HOME", "JPY_SESSION_NAME")
        }
        self.folder = folder
        self._manager = KernelManager()
        self._manager.start_kernel(
            cwd=str(folder),
            env=environment | {"JPY_SESSION_NAME": str(folder / "audit.ipynb")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._connect()

    def _connect(self):
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def kill(self):
        """Ends the process at once, as a crash does, and starts another in the same folder."""
        self._client.stop_channels()
        self._manager.restart_kernel(now=True)
        self._connect()

    def recorded(self, session, *kinds):
        """How many events of these kinds the record of a session has; read beside the kernel that writes it."""
        with sqlite3.connect(self.folder / ".ethang" / "ethang.db") as found:
            rows = found.execute(
                "SELECT kind FROM event JOIN session ON session.id = event.session WHERE name = ?", (session,)
            )
            return sum(kind in kinds for (kind,) in rows)

    def run(self, source, *, interrupts=()):
        """Runs a cell; `interrupts` are conditions, and ■ is pressed when the next of them holds."""
        started, pressed, pending = time.monotonic(), None, list(interrupts)
        asked = self._client.execute(source)
        reply = Reply([], [], None)
        while True:
            if pending and pending[0]():
                pending.pop(0)
                pressed = time.monotonic()
                self._manager.interrupt_kernel()
            try:
                message = self._client.get_iopub_msg(timeout=0.05)
            except Empty:
                assert time.monotonic() - started < 60, "the cell does not end"
                continue
            if message["parent_header"].get("msg_id") == asked and self._take(message, reply):
                break
        reply.after = None if pressed is None else time.monotonic() - pressed
        self._answer(asked)
        return reply

    def complete(self, source, cursor=None):
        """What Tab offers at the end of `source`, or at `cursor`: the names, and the text they stand for."""
        at = len(source) if cursor is None else cursor
        found = self._answer(self._client.complete(source, at))
        return found["matches"], source[found["cursor_start"] : found["cursor_end"]]

    def _answer(self, asked):
        """The content of the reply to that very request."""
        while True:
            message = self._client.get_shell_msg(timeout=20)
            if message["parent_header"].get("msg_id") == asked:
                return message["content"]

    def close(self):
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    @staticmethod
    def _take(message, reply):
        content = message["content"]
        match message["msg_type"]:
            case "execute_result" | "display_data" as kind:
                reply.outputs.append((kind, content["data"].get("text/plain", "")))
                reply.html.append(content["data"].get("text/html", ""))
            case "stream":
                reply.outputs.append(("stream", content["text"]))
            case "error":
                reply.outputs.append(("error", "\n".join(content["traceback"])))
            case "status":
                return content["execution_state"] == "idle"
        return False


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel with the extension loaded; the tests of a module share it."""
    found = Kernel(fill(tmp_path_factory.mktemp("kernel")))
    assert [] == found.run("%load_ext ethang_nb").outputs
    yield found
    found.close()
