"""%ethang: what each subcommand shows or does."""

import json
import re
import subprocess
import sys

import pytest

import ethang_nb
from ethang_nb.agent.opening import find_open
from ethang_nb.agent.session import BUILT_IN
from ethang_nb.context.plan import Plan
from ethang_nb.notebook.commands import COMMANDS

TASK = "%%ethang --window 6000\nRead every file in contracts and tell me which order is affected."
LOOKS = [
    "status",
    "context",
    "segments",
    "plan",
    "request",
    "request --raw",
    "sessions",
    "policies",
    "models",
    "help",
]


@pytest.fixture
def used(notebook):
    notebook.run(TASK)
    return notebook


@pytest.mark.parametrize("name", LOOKS)
def test_each_look_has_text_and_html(used, name):
    value = used.run(f"%ethang {name}").value
    data, _ = used.shell.display_formatter.format(value)
    assert {"text/plain", "text/html"} == set(data)
    assert str(value) == data["text/plain"]
    assert "object at 0x" not in data["text/plain"]
    assert sum(map(len, data.values())) < 50_000
    assert str(used.folder) not in data["text/plain"] + data["text/html"]


@pytest.mark.parametrize("name", ["status", "context", "segments", "plan", "request"])
def test_without_a_session_a_look_says_how_to_start_one(notebook, name):
    said = str(notebook.run(f"%ethang {name}").value)
    assert 1 == len(said.splitlines())
    assert "start one with a cell: %%ethang --window 6000" in said


@pytest.mark.parametrize("line", ["compact", "pin keep it", "unpin 1"])
def test_without_a_session_an_act_is_an_error_of_one_line(notebook, line):
    assert (
        "Misuse: no session in this notebook yet; start one with" in notebook.fails(f"%ethang {line}").line()
    )


def test_context_and_segments_are_those_of_python(used):
    session = find_open("audit")
    found = used.run("%ethang context").value
    assert session.snapshot.to_json() == found.to_json()
    assert str(session.snapshot).splitlines()[:9] == str(found).splitlines()[:9]
    assert str(session.segments) == str(used.run("%ethang segments").value)


def test_plan_shows_the_next_request_and_a_cleanup(used):
    session = find_open("audit")
    said = str(used.run("%ethang plan").value)
    assert str(session.plan()) in said
    assert str(session.plan(cleanup=True)) in said


def test_compact_is_a_cleanup_now(used):
    found = used.run("%ethang compact").value
    assert isinstance(found, Plan)
    assert found.asked


def test_status_says_all_of_it(used):
    said = " ".join(str(used.run("%ethang status").value).split())
    for part in (
        "Session audit",
        "reader (rules, not a language model) (from default)",
        "ethang (from default)",
        "6,000 tokens, 4,800 of them usable (from argument)",
        "p95 ",
        "for one more result of ",
        "the last run ended completed",
        "ethang.db, ",
        "journal WAL: on a local file system",
    ):
        assert part in said


def test_pins_come_and_go(used):
    session = find_open("audit")
    used.run('%ethang pin Don\'t open {c5} or "c6", $HOME;')
    used.run("%ethang pin --decision 'Use the first cap.'")
    assert ['Don\'t open {c5} or "c6", $HOME', "Use the first cap."] == [pin.text for pin in session.pins]
    assert ["constraint", "decision"] == [pin.kind for pin in session.pins]
    assert "lifted" in str(used.run("%ethang unpin 1").value)
    assert session.pins[0].lifted


def test_the_number_that_unpin_takes_is_shown_in_both_forms(used):
    shown = used.run("%ethang pin Answer in French.").value
    assert "1  constraint: Answer in French." in shown.text()
    assert "<td>1</td><td>constraint</td>" in shown.html()


def test_request_leaves_nothing_out(used):
    session = find_open("audit")
    body = session.request(3)
    shown = used.run("%ethang request 3").value
    assert body == shown.body
    text = str(shown)
    for message in json.loads(body)["messages"]:
        assert message["role"] in text
        assert (message["content"] or "") in text
        for call in message.get("tool_calls", ()):
            assert call["id"] in text
            assert json.dumps(call["function"]["arguments"])[1:-1] in text
    assert body.decode() == str(used.run("%ethang request 3 --raw").value)


def test_request_shows_the_last_one_by_itself(used):
    session = find_open("audit")
    assert session.request(session.live.step) == used.run("%ethang request").value.body


def test_a_long_request_is_cut_and_says_so(notebook):
    notebook.run("%%ethang --model script:say.yaml --window 200000\n" + "word " * 20_000)
    shown = notebook.run("%ethang request").value
    assert len(str(shown)) < 21_000
    assert "more characters; eth.open_session('audit').request(1) has all" in str(shown)


def test_sessions_are_those_of_python(used):
    assert "audit" in str(used.run("%ethang sessions").value)
    assert ethang_nb.sessions() == used.run("%ethang sessions").value.rows


def test_a_context_names_only_what_can_be_typed_as_it_stands(notebook):
    notebook.run("%%ethang --window 3000\nRead every file in contracts and tell me which order is affected.")
    for _ in range(3):
        notebook.run("%ethang compact")
    found = notebook.run("%ethang context").value
    assert "eth.open_session('audit').snapshot.diffs[-1]" in str(found)
    assert not re.search(r"(?<!\.)snapshot\.", str(found) + found._repr_html_())


def test_sessions_say_where_they_are_open_and_which_is_at_work(used):
    code = "import ethang_nb as eth; eth.Session('reader', name='theirs'); print('open', flush=True); input()"
    command = [sys.executable, "-c", code]
    used.run("%%ethang --session slow --model script:slow.yaml --detach\ngo")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        said = str(used.run("%ethang sessions").value)
        other.communicate("\n")
    find_open("slow").stop()
    assert re.search(r"^ +audit +open here ", said, re.M)
    assert re.search(r"^ +theirs +open elsewhere ", said, re.M)
    assert re.search(r"^ +slow +running ", said, re.M)
    assert re.search(r"^ +theirs +closed ", str(used.run("%ethang sessions").value), re.M)


def test_stop_without_a_run_says_so_and_opens_nothing(used):
    assert "No run is going on" in str(used.run("%ethang stop").value)
    used.restart()
    assert "No run is going on" in str(used.run("%ethang stop --session audit").value)
    assert find_open("audit") is None


def test_stop_ends_a_detached_run_by_name(used):
    run = used.run("%%ethang --session 'a b' --model script:slow.yaml --detach\ngo").value
    used.run("%%ethang\nTell me which order is affected.")
    said = str(used.run("%ethang status --session 'a b'").value)
    assert "%ethang stop --session 'a b' ends the run" in " ".join(said.split())
    used.run("%ethang stop --session 'a b'")
    assert "interrupted" == run.wait(10).ending


def test_policies_and_models_are_named(notebook):
    assert all(name in str(notebook.run("%ethang policies").value) for name in ethang_nb.policies)
    assert "reader" in str(notebook.run("%ethang models").value)


def test_a_policy_shows_itself(notebook):
    data, _ = notebook.shell.display_formatter.format(ethang_nb.policies["pressure"])
    assert data["text/plain"].startswith("Policy pressure")
    assert "<caption>Policy pressure</caption>" in data["text/html"]


def test_a_semicolon_hides_what_a_look_shows(used):
    assert used.run("%ethang status;").value is None


def test_a_value_can_be_bound(used):
    used.run("found = %ethang segments")
    assert find_open("audit").segments == used.shell.user_ns["found"]


def test_another_session_is_looked_at_by_name(used):
    with ethang_nb.Session("reader", name="mine"):
        assert "Session mine" in str(used.run("%ethang status --session mine").value)
        assert "Session audit" in str(used.run("%ethang status").value)


def test_a_recorded_session_is_opened_to_be_looked_at(used):
    used.restart()
    assert "ORD-47" in str(used.run("%ethang context").value)


def test_the_built_in_tools_are_those_that_a_session_has(used):
    assert BUILT_IN == find_open("audit").toolbox.names


def test_every_row_is_named_by_its_key():
    assert all(name == command.name for name, command in COMMANDS.items())
