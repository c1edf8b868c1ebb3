"""The live view of a cell in a real kernel: there before the run, told while the cell is busy, heard then, too."""

import contextlib
import json
import time
from queue import Empty

import nbformat
import pytest

from ethang_nb.views import stored
from tests.notebook.conftest import Kernel, fill
from tests.views.live.hosts import Host

WIDGET = "application/vnd.jupyter.widget-view+json"
OUTPUTS = ("display_data", "execute_result", "error", "stream")
STEPS = "turns:\n" + "- call: [{name: list_files}]\n  delay: 0.1\n" * 200 + "- say: done\n"
SHORT = "%%ethang --session {name} --model script:say.yaml\nsay"
LONG = "%%ethang --session {name} --model script:steps.yaml\ngo"


class Watched(Kernel):
    """A kernel whose comms are watched; what a view says goes to a subshell, as JupyterLab's does."""

    def __init__(self, folder):
        super().__init__(folder)
        self.views, self.states, self.log = {}, {}, []
        request = self._client.session.msg("create_subshell_request")
        self._client.control_channel.send(request)
        self._subshell = self._client.get_control_msg(timeout=20)["content"]["subshell_id"]

    def start(self, source):
        """Sends a cell and does not wait for it."""
        self.log.clear()
        return self._client.execute(source)

    def until(self, holds, patience=30):
        """Takes what comes until `holds()`."""
        end = time.monotonic() + patience
        while not holds():
            assert time.monotonic() < end, [kind for kind, _ in self.log]
            with contextlib.suppress(Empty):
                self._hear(self._client.get_iopub_msg(timeout=0.05))

    def finish(self, asked):
        """Waits for the end of a cell; returns its outputs, as (type, content)."""
        self.until(lambda: ("idle", asked) in self.log)
        self._answer(asked)
        return [(kind, data) for kind, data in self.log if kind in OUTPUTS]

    def cell(self, source):
        return self.finish(self.start(source))

    def says(self, comm, **message):
        data = {"method": "custom", "content": message}
        said = self._client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        said["header"]["subshell_id"] = self._subshell
        self._client.shell_channel.send(said)

    def hello(self, comm):
        """As a view does once it is drawn; waits for the whole document."""
        self.says(comm, id=1, ask="hello", rev=-1)
        self.until(lambda: self.views[comm].revision is not None)

    def value(self, expression):
        [(_, content)] = self.cell(expression)
        return content["data"]["text/plain"]

    def _hear(self, message):
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            self.log.append(("idle", message["parent_header"].get("msg_id")))
        elif kind == "comm_open" and "first" in content["data"].get("state", {}):
            self.views[content["comm_id"]], self.states[content["comm_id"]] = Host(), content["data"]["state"]
            self.log.append((kind, content["comm_id"]))
        elif kind == "comm_msg" and content["comm_id"] in self.views:
            if content["data"]["method"] == "custom":
                self.views[content["comm_id"]](content["data"]["content"])
        elif kind == "comm_close" and content["comm_id"] in self.views:
            self.log.append((kind, content["comm_id"]))
        elif kind in OUTPUTS:
            self.log.append((kind, content))

    @property
    def opened(self):
        """The comms of live views, in the order in which they were opened since the last cell began."""
        return [comm for kind, comm in self.log if kind == "comm_open"]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = fill(tmp_path_factory.mktemp("live"))
    (folder / "steps.yaml").write_text(STEPS)
    found = Watched(folder)
    assert [] == found.cell("%load_ext ethang_nb\nimport ethang_nb as eth")
    yield found
    found.close()


def test_the_view_stands_there_before_the_run_and_the_run_follows_it(kernel):
    asked = kernel.start(LONG.format(name="before"))
    kernel.until(lambda: any(kind == "display_data" for kind, _ in kernel.log))
    [comm] = kernel.opened
    assert "idle" == json.loads(kernel.states[comm]["first"])["set"]["state"]
    assert 0 == kernel.recorded("before", "reply")
    kernel.hello(comm)
    kernel.until(lambda: kernel.views[comm].document["state"] == "running")
    kernel.says(comm, id=2, ask="stop")
    (first, live), (second, run) = kernel.finish(asked)
    assert ("display_data", "execute_result") == (first, second)
    assert {
        "text/plain": "ContextView(before)",
        stored.MIME: {"version": 1, "live": "before"},
    }.items() <= live["data"].items()
    assert comm == live["data"][WIDGET]["model_id"]
    assert 1 == len(live["data"]["text/html"].splitlines())
    assert {"text/plain", "text/html", stored.MIME} == set(run["data"])


def test_frames_come_and_stop_is_heard_while_the_cell_is_busy(kernel):
    asked = kernel.start(LONG.format(name="busy"))
    kernel.until(lambda: kernel.opened)
    [comm] = kernel.opened
    kernel.hello(comm)
    view = kernel.views[comm]
    kernel.until(lambda: view.revision is not None)
    before = view.missed  # told from what came with the model on, which this view did not look at
    kernel.until(lambda: view.document["step"] > 2)
    assert ("idle", asked) not in kernel.log
    kernel.says(comm, id=2, ask="stop")
    kernel.until(view.replies)
    assert kernel.finish(asked)[-1][1]["data"]["text/plain"].startswith("Interrupted: ")
    kernel.until(lambda: view.document["state"] == "idle")
    assert "asked to stop" in view.replies()[0]["data"]["done"]
    assert before == view.missed


def test_a_view_that_is_not_heard_is_told_all_the_same(kernel):
    """As in a host that hands on no message while a cell is busy, to a view that missed what was said before."""
    asked = kernel.start(LONG.format(name="deaf"))
    kernel.until(lambda: kernel.opened)
    [comm] = kernel.opened
    kernel.until(lambda: kernel.views[comm].revision is not None)
    assert ("idle", asked) not in kernel.log
    assert kernel.views[comm].document["step"] > 0
    kernel.says(comm, id=1, ask="stop")
    kernel.finish(asked)


def test_two_views_stay_in_step_and_closing_one_leaves_the_other(kernel):
    kernel.cell(SHORT.format(name="two"))
    kernel.cell("s = eth.open_session('two')\na, b = eth.ContextView(s), eth.BudgetBar(s)\na")
    first, second = kernel.opened
    kernel.hello(first)
    kernel.hello(second)
    kernel.cell("%%ethang --session two\nsay it again")
    kernel.until(lambda: kernel.views[first].revision == kernel.views[second].revision)
    assert kernel.views[first].document == kernel.views[second].document
    kernel.cell("a.close()")
    assert ("comm_close", first) in kernel.log
    seen = len(kernel.views[first].parts)
    kernel.cell("%%ethang --session two\nand again")
    kernel.until(lambda: kernel.views[second].document["step"] == 3)
    assert seen == len(kernel.views[first].parts)


@pytest.mark.parametrize("cell", [SHORT.format(name="often"), "eth.ContextView(eth.open_session('often'))"])
def test_running_a_cell_fifty_times_leaves_one_view(kernel, cell):
    count = "__import__('ipywidgets').widgets.widget._instances.__len__()"
    kernel.cell(SHORT.format(name="often"))
    kernel.cell(cell)
    before = kernel.value(count)
    for _ in range(50):
        assert "error" not in [kind for kind, _ in kernel.cell(cell)]
    assert before == kernel.value(count)


def test_a_silenced_cell_shows_nothing_and_a_refused_one_its_reason(kernel):
    assert [] == kernel.cell(SHORT.format(name="hush") + ";")
    kernel.cell("%%ethang --session long --model script:slow.yaml --detach\ngo")
    [(kind, error)] = kernel.cell("%%ethang --session long\nmore")
    assert ("error", "SessionBusy") == (kind, error["ename"])
    kernel.cell("eth.open_session('long').stop()")


def test_a_detached_run_is_told_after_its_cell(kernel):
    shown = kernel.cell(LONG.format(name="apart").replace("\n", " --detach\n"))
    assert ["display_data", "stream", "execute_result"] == [kind for kind, _ in shown]
    [comm] = kernel.opened
    kernel.hello(comm)
    step = kernel.views[comm].document["step"]
    kernel.until(lambda: kernel.views[comm].document["step"] > step)
    kernel.says(comm, id=2, ask="stop")
    kernel.until(lambda: kernel.views[comm].document["state"] == "idle")


def test_what_a_notebook_stores_is_valid_and_small(kernel):
    shown = kernel.cell("%%ethang --session kept --window 6000\nRead every file in contracts.")
    outputs = [nbformat.v4.new_output(kind, **content) for kind, content in map(plain, shown)]
    cell = nbformat.v4.new_code_cell(outputs=outputs)
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    assert all(len(nbformat.writes(notebook_of(output))) < 50_500 for output in outputs)
    [comm] = kernel.opened
    state = {name: value for name, value in kernel.states[comm].items() if name not in ("_esm", "_css")}
    assert len(json.dumps(state)) < 50_000


def plain(shown):
    kind, content = shown
    return kind, {"data": content["data"], "metadata": content["metadata"]}


def notebook_of(output):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])])
