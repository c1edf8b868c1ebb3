"""The kernel's side of the panel, in a real kernel and as a front end sees it: comms in, parts of messages out."""

import json
import threading
import time
import uuid
from queue import Empty

import pytest

import ethang_nb as eth
from ethang_nb.agent.watchers import Register
from ethang_nb.notebook.panel import ANNOUNCE, PANEL, Panels, _Once, wanted
from ethang_nb.views.live.hub import Hub, Listed
from tests.notebook.conftest import Kernel, fill
from tests.views.live.hosts import Host

SLOW = "%%ethang --session {} --model script:slow.yaml --window 6000\ngo"
BRIEF = "turns:\n- say: said\n  delay: 0.3\n  repeat: 50\n"  # so long that its run is seen going on
PATIENCE = 60


class Front(Kernel):
    """A front end: what it hears of comms is kept in order."""

    def __init__(self, folder):
        super().__init__(folder)
        self.heard, self.subshell = [], None
        self.idle = set()

    def send(self, kind, content, *, subshell=None):
        message = self._client.session.msg(kind, content)
        if subshell:
            message["header"]["subshell_id"] = subshell
        self._client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def open(self, target=PANEL):
        """Opens a comm as JupyterLab does: in a subshell of its own."""
        if self.subshell is None:
            self._client.control_channel.send(self._client.session.msg("create_subshell_request", {}))
            self.subshell = self._client.control_channel.get_msg(timeout=PATIENCE)["content"]["subshell_id"]
        comm = uuid.uuid4().hex
        self.send("comm_open", {"comm_id": comm, "target_name": target, "data": {}}, subshell=self.subshell)
        return comm

    def ask(self, comm, what, **more):
        number = len(self.heard) + 1_000
        data = {"id": number, "ask": what, **more}
        self.send("comm_msg", {"comm_id": comm, "data": data}, subshell=self.subshell)
        return self.until(comm, lambda message: message.get("id") == number)

    def whole(self, comm, name):
        """The first whole document of this session; a view says hello once it is listed as shown."""
        self.until(comm, lambda message: message.get("shown") == f"session:{name}")
        data = {"id": 0, "ask": "hello", "rev": -1}
        self.send("comm_msg", {"comm_id": comm, "data": data}, subshell=self.subshell)
        return self.until(
            comm, lambda message: message.get("base", 0) is None and name == message["set"]["name"]
        )

    def start(self, source):
        """Runs a cell without waiting for it."""
        return self._client.execute(source)

    def do(self, source):
        """Runs a cell to its end and keeps what comms said meanwhile."""
        asked = self.start(source)
        self.pump(lambda: asked in self.idle)
        return asked

    def until(self, comm, found):
        """The first message on a comm, of those heard and to come, that is what was looked for."""
        self.pump(lambda: any(found(message) for message in self.messages(comm)))
        return next(message for message in self.messages(comm) if found(message))

    def messages(self, comm):
        """Whole messages on a comm; each part is small enough."""
        joined, found = {}, []
        for kind, content in self.heard:
            if kind != "comm_msg" or content["comm_id"] != comm:
                continue
            part = content["data"]
            assert len(json.dumps(part).encode()) <= 64_000
            joined[part["m"]] = joined.get(part["m"], "") + part["s"]
            if part["i"] == part["n"] - 1:
                found.append(json.loads(joined[part["m"]]))
        return found

    def kinds(self, kind, comm):
        return [content for found, content in self.heard if found == kind and content["comm_id"] == comm]

    def opened(self, target):
        """The ids of the comms that the kernel opened for a target."""
        return [
            content["comm_id"]
            for kind, content in self.heard
            if kind == "comm_open" and content["target_name"] == target
        ]

    def pump(self, done):
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end, "the kernel did not say it"
            try:
                message = self._client.get_iopub_msg(timeout=0.2)
            except Empty:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                self.idle.add(message["parent_header"].get("msg_id"))
            if message["msg_type"].startswith("comm_"):
                self.heard.append((message["msg_type"], message["content"]))


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    folder = fill(tmp_path_factory.mktemp("panel"))
    (folder / "brief.yaml").write_text(BRIEF)
    found = Front(folder)
    found.do("%load_ext ethang_nb")
    yield found
    found.close()


def listed(*states, shown=None):
    def found(message):
        same = message["t"] == "list" and [one["state"] for one in message["sources"]] == list(states)
        return same and shown in (None, message["shown"])

    return found


def test_loading_opens_the_announcing_comm_and_says_nothing_more(front):
    assert ["comm_open"] == [kind for kind, _ in front.heard]
    [(_, content)] = front.heard
    assert (ANNOUNCE, {"t": "announce", "v": 1}) == (content["target_name"], content["data"])


def test_before_the_first_session_there_is_an_empty_list_and_one_line_of_error(front):
    comm = front.open()
    assert {"t": "list", "sources": [], "shown": None} == front.until(comm, listed())
    reply = front.ask(comm, "compact")
    assert not reply["ok"]
    assert "%%ethang" in reply["error"]
    assert "unknown source" in front.ask(comm, "show", source="session:nobody")["error"]


def test_a_session_is_shown_as_soon_as_it_is_there(front):
    comm = front.open()
    front.do("%%ethang --session first --model script:brief.yaml --window 6000\ngo")
    front.until(comm, listed("running", shown="session:first"))
    whole = front.whole(comm, "first")
    assert 1 == whole["set"]["step"]
    front.do("%%ethang --session first\nand on")
    front.until(comm, lambda message: message.get("base") == whole["rev"])


def test_stop_is_done_while_the_cell_is_busy(front):
    comm = front.open()
    cell = front.start(SLOW.format("slow"))
    front.until(comm, listed("idle", "running", shown="session:slow"))
    reply = front.ask(comm, "stop")
    assert reply["ok"]
    assert cell not in front.idle
    front.pump(lambda: cell in front.idle)
    front.until(comm, listed("idle", "idle", shown="session:slow"))
    assert 1 == front.recorded("slow", "run end")


def test_a_run_that_starts_is_announced_again(front):
    [comm] = front.opened(ANNOUNCE)
    before = len(front.kinds("comm_msg", comm))
    front.do("%%ethang --session first\ngo on")
    front.pump(lambda: len(front.kinds("comm_msg", comm)) > before)
    assert {"t": "announce", "v": 1} == front.kinds("comm_msg", comm)[-1]["data"]


def test_what_was_picked_stays_whoever_runs(front):
    comm = front.open()
    front.until(comm, lambda message: message["t"] == "list")
    assert {"shown": "session:slow"} == front.ask(comm, "show", source="session:slow")["data"]
    front.until(comm, listed("idle", "idle", shown="session:slow"))
    front.whole(comm, "slow")
    front.do("%%ethang --session first\nand on")
    front.until(comm, listed("running", "idle", shown="session:slow"))


def test_a_front_end_that_closes_at_once_harms_nothing(front):
    comm = front.open()
    front.send("comm_close", {"comm_id": comm, "data": {}}, subshell=front.subshell)
    [here] = front.opened(ANNOUNCE)
    front.send("comm_close", {"comm_id": here, "data": {}})
    front.do("%%ethang --session first\nanother")
    front.pump(lambda: len(front.opened(ANNOUNCE)) == 2)
    front.whole(front.open(), "first")


def test_nonsense_is_answered_and_ends_nothing(front):
    comm = front.open()
    front.until(comm, lambda message: message["t"] == "list")
    for data in (None, 7, [], {"ask": 3}, {"ask": "show", "source": {}}, {"id": {}, "ask": "fly"}):
        front.send("comm_msg", {"comm_id": comm, "data": data}, subshell=front.subshell)
    assert front.ask(comm, "policies")["ok"]


def test_unloading_closes_every_comm_and_loading_announces_anew(front):
    comm = front.open()
    front.until(comm, lambda message: message["t"] == "list")
    front.do("%unload_ext ethang_nb")
    for gone in (comm, front.opened(ANNOUNCE)[-1]):
        front.pump(lambda gone=gone: front.kinds("comm_close", gone))
    count = len(front.opened(ANNOUNCE))
    front.do("%load_ext ethang_nb")
    front.pump(lambda: len(front.opened(ANNOUNCE)) == count + 1)


def test_a_terminal_has_no_panels(shell):
    assert Panels.of(shell, str) is None


A, B, C = (Listed(f"session:{name}", name, "session", "idle") for name in "abc")
RUNS = B._replace(state="running")


@pytest.mark.parametrize(
    ("sources", "picked", "shown", "current", "expected"),
    [
        ((), "", "", "a", ""),
        ((), A.id, A.id, "a", ""),
        ((A, B, C), "", "", "a", A.id),  # the current one
        ((A, B, C), "", "", "elsewhere", C.id),  # the last
        ((A, B, C), "", B.id, "a", B.id),  # what is shown stays
        ((A, RUNS, C), "", A.id, "a", B.id),  # until another is at work
        ((A, RUNS, C._replace(state="running")), "", B.id, "a", B.id),
        ((A, RUNS, C), C.id, A.id, "a", C.id),  # but what was picked stays
        ((A, RUNS), C.id, C.id, "a", B.id),  # as long as it is there
    ],
)
def test_which_source_is_shown(sources, picked, shown, current, expected):
    assert expected == wanted(sources, picked=picked, shown=shown, current=current)


class Manager:
    """A comm manager of a kernel that nobody is connected to."""

    def __init__(self):
        self.targets = {}

    def register_target(self, name, function):
        self.targets[name] = function

    def unregister_target(self, name, _):
        del self.targets[name]


class Comm:
    """One that a front end opened: what is sent on it is kept."""

    def __init__(self):
        self.view = Host()

    def on_msg(self, heard):
        self.says = lambda **asked: heard({"content": {"data": asked}})

    def on_close(self, closed):
        self.close = lambda: closed({})

    def send(self, part):
        self.view(part)

    def has(self, kind, **said):
        return [one for one in self.view.messages if one["t"] == kind and said.items() <= one.items()]


def come(found):
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_until_another_is_shown_the_one_before_answers_also_late_and_in_parts_but_sends_no_frame(monkeypatch):
    hub, manager, comm = Hub(Register()), Manager(), Comm()
    first, second = eth.Context(900_000, name="first"), eth.Context(3_000, name="second")
    first.append({"role": "user", "content": "word " * 30_000})
    feeds = [hub.feed_of(first), hub.feed_of(second)]
    panels = Panels(manager, str, hub)
    manager.targets[PANEL](comm, {})
    comm.says(id=1, ask="show", source="context:1")
    come(lambda: comm.has("list", shown="context:1"))
    begun, go_on, segment = threading.Event(), threading.Event(), feeds[0].source.segment

    def late(number):
        begun.set()
        assert go_on.wait(PATIENCE)
        return segment(number)

    monkeypatch.setattr(feeds[0].source, "segment", late)
    threading.Thread(target=lambda: comm.says(id=2, ask="segment", segment="0"), daemon=True).start()
    assert begun.wait(PATIENCE)
    comm.says(id=3, ask="show", source="context:2")
    come(lambda: comm.has("list", shown="context:2"))
    go_on.set()
    come(lambda: comm.has("reply", id=2))
    assert "word " * 30_000 == comm.has("reply", id=2)[0]["data"]["parts"][0]["text"]
    first.append({"role": "user", "content": "one more"})
    assert [] == comm.has("frame")
    assert 0 == feeds[0].subscribers
    assert 1 == feeds[1].subscribers
    comm.close()
    assert 0 == feeds[1].subscribers
    panels.close()


def test_a_look_that_fails_is_said_and_the_next_one_comes(monkeypatch):
    said, looked = threading.Event(), threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: said.set())

    def look():
        if not said.is_set():
            raise ConnectionError("the kernel goes down")
        looked.set()

    once = _Once(look)
    once.call()
    assert said.wait(PATIENCE)
    once.call()
    assert looked.wait(PATIENCE)


def test_closing_leaves_nothing_behind():
    opened, manager = Register(), Manager()
    hub = Hub(opened)
    panels = Panels(manager, str, hub)
    assert [PANEL] == list(manager.targets)
    panels.close()
    assert {} == manager.targets
    assert not hub._watchers


def test_a_target_that_somebody_else_took_is_left_to_him():
    manager = Manager()
    panels = Panels(manager, str, Hub(Register()))
    manager.register_target(PANEL, print)
    panels.close()
    assert {PANEL: print} == manager.targets
