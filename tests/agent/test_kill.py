"""The process is killed in the middle: what was acknowledged is there, and the session goes on as itself."""

import json
import shutil

import pytest

import ethang_nb as eth
from ethang_nb.agent.toolbox import FINISHED_UNREAD, INTERRUPTED, NEVER_STARTED
from ethang_nb.context.messages import user
from ethang_nb.context.pairing import violations
from tests.agent.stage import WINDOW, call, calls, child, documents, kinds, script, texts
from tests.context.builders import picture

# One process imports, then forks for every point: each fork runs a session and is killed right after the
# record acknowledged the wanted event, before anything else happens.
VICTIMS = """
import json, os, signal, sys
import jsonschema
import ethang_nb as eth
import ethang_nb.providers.offline.reader, ethang_nb.agent.session
from ethang_nb.store.record import Record

def main(folder, model, task, kind, number):
    def look(what: str) -> str:
        return f"{what} was looked at"

    seen = 0
    append = Record.append

    def killing(self, kind_, data, **more):
        nonlocal seen
        event = append(self, kind_, data, **more)
        print(json.dumps([folder, event.seq, event.kind]), flush=True)
        seen += event.kind == kind
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return event

    Record.append = killing
    eth.Session(model, name="t", window=WINDOW, root=folder, tools=[look]).run(task)
    print(json.dumps([folder, -1, "not killed"]), flush=True)

eth.counter("reader").count("warm")
for victim in json.loads(sys.argv[1]):
    pid = os.fork()
    if not pid:
        main(*victim)
        os._exit(0)
    os.waitpid(pid, 0)
""".replace("WINDOW", str(WINDOW))

READING = "Read every file in docs and tell me the cap."
POINTS = {
    "before the first point": ("run", 1),
    "a request that was not answered": ("request", 3),
    "a reply whose message is not recorded": ("reply", 2),
    "between a call and its start": ("message", 4),
    "inside a call": ("tool start", 2),
    "between a call's end and its result": ("tool end", 3),
    "a release": ("release", 1),
    "a cleanup whose note is due": ("note request", 1),
    "a note that is written": ("note", 1),
}
PARALLEL = calls(call("look", what="one"), call("look", what="two"), call("look", what="three"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Every point's folder, and the events that were acknowledged there before the kill."""
    top = tmp_path_factory.mktemp("killed")
    victims = []
    for name, (kind, number) in POINTS.items():
        folder = top / name.replace(" ", "-")
        folder.mkdir()
        documents(folder, 11)
        victims.append((str(folder), "reader", READING, kind, number))
    folder = top / "parallel"
    folder.mkdir()
    victims.append((str(folder), script(folder, PARALLEL, {"say": "done"}), "Look.", "tool start", 2))
    process = child(VICTIMS, json.dumps(victims))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    for name, *_ in victims:
        shutil.copytree(name, f"{name}.copy")
    told = {}
    for line in out.splitlines():
        where, seq, kind = json.loads(line)
        told.setdefault(where, []).append((seq, kind))
    return {folder: told[folder] for folder, *_ in victims}


@pytest.mark.parametrize("point", POINTS)
def test_after_a_kill_the_session_is_whole_and_goes_on(killed, point, no_home):
    folder = next(folder for folder in killed if folder.endswith(point.replace(" ", "-")))
    acknowledged = killed[folder]
    assert acknowledged[-1][1] == POINTS[point][0]
    with eth.Session("reader", name="t", window=WINDOW, root=folder) as session:
        events = [(event.seq, event.kind) for event in session.recorded]
        assert events[: len(acknowledged)] == acknowledged
        assert session.drift == ()
        assert () == violations(session.live.assemble())
        run = session.run(READING)
        assert run.ending == "completed", run.error
        assert "125,000" in run.answer
        assert max(row.fill for row in session.timeline) <= 1000
        state, entries = picture(session.live.state), session.live.assemble()
    with eth.open_session("t", folder) as again:
        assert again.drift == ()
        assert (picture(again.live.state), again.live.assemble()) == (state, entries)


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("between a call and its start", NEVER_STARTED),
        ("inside a call", INTERRUPTED),
        ("between a call's end and its result", FINISHED_UNREAD),
    ],
)
def test_an_open_call_says_how_far_it_came(killed, point, said, no_home):
    """Saved once: opening again changes nothing, and the call is not run again by itself."""
    folder = next(f"{folder}.copy" for folder in killed if folder.endswith(point.replace(" ", "-")))
    with eth.Session("reader", name="t", window=WINDOW, root=folder) as session:
        assert texts(session)[-1] == said
        before = kinds(session)
    with eth.Session("reader", name="t", window=WINDOW, root=folder) as session:
        assert kinds(session) == before
        assert () == violations(session.live.assemble())


def test_of_parallel_calls_each_says_its_own(killed, no_home):
    folder = next(folder for folder in killed if folder.endswith("parallel"))
    with eth.open_session("t", folder) as session:
        assert texts(session) == ["one was looked at", INTERRUPTED, NEVER_STARTED]
        assert [result.call_id for message in session.live.assemble() for result in message.results] == [
            call.id for message in session.live.assemble() for call in message.calls
        ]
        assert () == violations(session.live.assemble())
        assert session.run("Look again.").ok


@pytest.mark.parametrize("notes", ["one", "protected"])
def test_a_note_left_due_is_written_before_the_next_cleanup(tmp_path, opened, notes):
    """A kill between a cleanup and its note leaves room reserved for a text that is not there yet."""
    documents(tmp_path, 6)
    policy = eth.Policy(name="many notes", stages=("intake", "evict"), notes=notes, notes_cap=900, keep=1)
    session = opened("reader?nudge=ignore", policy=policy, window=4_000)
    session.run("Read every file in docs.")
    session.live.ask_cleanup()
    session.live.request()
    for _ in range(3):
        session.live.append(user("word " * 700))
    assert session.live.pending is not None
    assert session.live.state.fill > 800
    session.close()
    again = opened("reader?nudge=ignore", policy=policy, window=4_000)
    assert again.live.pending is not None
    run = again.run("Read every file in docs.")
    assert run.ok, run.error
    assert run.diffs
    assert again.live.pending is None
    assert () == violations(again.sent)
    again.close()
    with eth.open_session("t", tmp_path) as last:
        assert last.drift == ()
