"""Looking changes nothing: the same requests go out, whatever was shown between them."""

import shutil

import pytest
from IPython.core.completer import provisionalcompleter

import ethang_nb
from ethang_nb.agent.opening import find_open
from ethang_nb.notebook.extension import unload
from ethang_nb.store.record import Record

LOOKS = (
    "status",
    "context",
    "segments",
    "plan",
    "plan --reseed",
    "trace ORD-47",
    "trace no such text",
    "replay",
    "replay --policy trim --window 2000 --levels 500,600,300",
    "request",
    "request 1",
    "sessions",
    "policies",
    "models",
    "help",
    "-h",
)
ACTS = (
    "%%ethang --window 3000\nRead every file in contracts and tell me which order is affected. Never open c6.txt.",
    "%ethang pin Answer in one sentence.",
    "%%ethang\nTell me what its cap is.",
    "%ethang compact",
    "%ethang unpin 1",
    "%ethang cool",
    "%%ethang\nRead contracts/c1.txt and tell me what binds party 17.",
    "%ethang reseed",
    "%%ethang --window 5000 --policy pressure\nRead contracts/c2.txt and tell me what binds party 34.",
)


def look(notebook):
    for name in LOOKS:
        notebook.shell.display_formatter.format(notebook.run(f"%ethang {name}").value)
    notebook.run("%ethang?")
    with provisionalcompleter():
        list(notebook.shell.Completer.completions("%ethang status --session ", 25))
    session = find_open("audit")
    looks = (session.plan(), session.plan(reseed=True), session.replay(policy="lean"), session.trace("cap"))
    for value in (session.snapshot, session.budget, session.segments, session, *looks):
        str(value), repr(value), getattr(value, "_repr_html_", str)()


def requests(notebook, *, looking):
    """The bytes of every request of the same flow, started in an empty record."""
    for act in ACTS:
        notebook.run(act)
        if looking:
            look(notebook)
    session = find_open("audit")
    steps = [event.data["step"] for event in session.archive.record.events(kinds=("request",))]
    digests = [event.data.get("digest") for event in session.recorded if event.kind == "point"]
    return {step: session.request(step) for step in steps}, digests


def test_the_same_bytes_go_out_whatever_was_looked_at(notebook, home, monkeypatch):
    monkeypatch.setattr("IPython.core.page.page", lambda *_, **__: None)
    seen = requests(notebook, looking=True)
    unload(notebook.shell)
    shutil.rmtree(home / "ethang_home")
    ethang_nb.load_ipython_extension(notebook.shell)
    unseen = requests(notebook, looking=False)
    assert len(seen[0]) > 10
    assert any(seen[1])  # a plan did something
    assert seen == unseen


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_writes_nothing_to_the_record(notebook, name):
    notebook.run(ACTS[0])
    session = find_open("audit")
    before = session.archive.record.last, session.live.state
    notebook.run(f"%ethang {name}")
    assert before == (session.archive.record.last, session.live.state)


def test_a_session_that_is_only_in_the_record_is_looked_at_without_a_write(notebook):
    notebook.run("%%ethang --window 3000\nRead contracts/c2.txt and tell me what binds party 34.")
    recorded = find_open("audit").recorded
    notebook.restart()
    for name in (
        "status",
        "context",
        "segments",
        "plan",
        "plan --reseed",
        "request",
        "trace party 34",
        "replay",
    ):
        assert notebook.run(f"%ethang {name}").error is None
    assert find_open("audit") is None
    with Record.open(None, "audit", write=False) as record:
        assert recorded == record.events()
    with Record.open(None, "audit"):  # another kernel writes it now
        assert notebook.run("%ethang context").error is None
