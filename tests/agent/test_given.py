"""Bad input to a session: one named error with the value, the limit and the next step; the record stays whole."""

import re

import pytest

import ethang_nb as eth
from ethang_nb.agent.given import default_name
from ethang_nb.errors import BadPolicy, BadWindow, EmptyTask, Misuse, PathRefused, Unknown
from tests.agent.stage import script

STAND_IN = {"window": 6_000}


@pytest.mark.parametrize(
    ("model", "options", "error", "said"),
    [
        ("raeder", STAND_IN, Unknown, "unknown model 'raeder'; did you mean 'reader'?"),
        ("gpt-9", STAND_IN, Unknown, "unknown model 'gpt-9'; known: reader, script:PATH.yaml"),
        ("", STAND_IN, Unknown, "unknown model ''"),
        ("reader?folow=no", STAND_IN, Unknown, "unknown option of reader 'folow'; did you mean 'follow'?"),
        ("reader?follow=maybe", STAND_IN, Misuse, "option follow='maybe' of reader: allowed are yes, no"),
        ("script:", STAND_IN, Misuse, "names no file; give its path, as in script:turns.yaml"),
        ("script:nowhere.yaml", STAND_IN, PathRefused, "cannot be read"),
        ("reader", {"window": 0}, BadWindow, "window 0 is too small; give at least 256 tokens"),
        ("reader", {"window": -5}, BadWindow, "window -5 is too small"),
        ("reader", {"window": 300}, BadWindow, "take a larger window or fewer tools"),
        (
            "reader",
            {"window": "6000"},
            BadWindow,
            "the window of model '6000' is unknown",
        ),
        ("reader", {"window": 6000.5}, BadWindow, "is neither a number of tokens nor a model id"),
        ("reader", {"window": True}, BadWindow, "is neither a number of tokens nor a model id"),
        ("reader", {"policy": "presure"}, Unknown, "unknown policy 'presure'; did you mean 'pressure'?"),
        ("reader", {"policy": "x"}, Unknown, "unknown policy 'x'; known: ethang, lean, pressure"),
        ("reader", {"tools": ["raed_file"]}, Unknown, "unknown tool 'raed_file'; did you mean 'read_file'?"),
        (
            "reader",
            {"root": "nowhere"},
            PathRefused,
            "root 'nowhere' is not a folder; give a folder that exists",
        ),
        ("reader", {"root": "a\x00"}, PathRefused, "cannot be used"),
        ("reader", {"store": "a\x00"}, PathRefused, "cannot be used"),
        ("reader", {"name": " \n"}, Misuse, "a session needs a name"),
        (None, {}, Misuse, "model=None names no model; give one such as 'reader'"),
        (7, {}, Misuse, "model=7 is a int; give a text"),
        ("reader", {"system": 5}, Misuse, "system=5 is a int; give a text"),
        ("reader", {"project": b"x"}, Misuse, "project=b'x' is a bytes; give a text"),
        ("reader", {"name": 5}, Misuse, "name=5 is a int; give a text"),
        ("reader", {"params": "x"}, Misuse, "params='x' is a str; give a dict"),
        ("reader", {"params": {"a": print}}, Misuse, "params cannot be sent as JSON"),
        ("reader", {"params": {"a": float("nan")}}, Misuse, "params cannot be sent as JSON"),
        ("reader", {"limits": 5}, Misuse, "limits=5 is a int; give Limits(steps=…)"),
        ("reader", {"tools": 5}, Misuse, "tools=5 is a int; give a list of functions and names"),
        ("reader", {"tools": "read_file"}, Misuse, "tools='read_file' is a str; give a list of functions"),
        ("reader", {"root": 5}, PathRefused, "root '5' cannot be used"),
        ("reader", {"store": 5}, PathRefused, "store '5' cannot be used"),
        ("reader", {"system": "word " * 9_000}, BadWindow, "the fixed parts take 9,"),
    ],
)
def test_what_a_session_cannot_be_made_of(tmp_path, monkeypatch, model, options, error, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=re.escape(said)) as caught:
        eth.Session(model, **({"name": "t", "window": 6_000} | options))
    assert "\n" not in str(caught.value)
    assert eth.sessions(tmp_path) == ()


@pytest.mark.parametrize(
    ("task", "error", "said"),
    [
        ("", EmptyTask, "the task is empty; say what should be done"),
        (" \n\t", EmptyTask, "the task is empty"),
        (None, Misuse, "a task is a text, not a NoneType"),
        (b"Go.", Misuse, "a task is a text, not a bytes"),
        (["Go."], Misuse, "a task is a text, not a list"),
    ],
)
def test_a_task_that_is_none_is_refused_and_the_next_one_runs(play, task, error, said):
    session = play({"say": "done"})
    before = session.recorded
    for ask in (session.run, session.start):
        with pytest.raises(error, match=said):
            ask(task)
    assert session.recorded == before
    assert session.run("Go.").ok


@pytest.mark.parametrize(
    "task", ["a\x00b", "build \ud83d done", "x\u202ey", "{braces} {{and}} %s \\n", "🙂" * 50]
)
def test_odd_characters_in_a_task_go_through_record_and_wire(play, task):
    session = play({"say": "done"})
    assert session.run(task).ok
    sent = session.sent[1].text
    assert "\x00" not in sent
    sent.encode()
    assert sent == task.replace("\x00", "\u2400").replace("\ud83d", "\ufffd")
    session.close()
    again = eth.open_session("t", session.root)
    assert again.drift == ()
    assert again.live.assemble()[1].text == sent
    again.close()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("steps", 0, "limit steps is 0; give a whole number above 0, or None for no limit"),
        ("steps", -1, "limit steps is -1"),
        ("steps", 2.5, "limit steps is 2.5; give a whole number"),
        ("steps", True, "limit steps is True"),
        ("tokens", "9", "limit tokens is '9'"),
        ("tool_seconds", 0, "limit tool_seconds is 0; give a number above 0"),
        ("tool_seconds", float("nan"), "limit tool_seconds is nan"),
    ],
)
def test_limits_are_checked(field, value, said):
    with pytest.raises(Misuse, match=re.escape(said)):
        eth.Limits(**{field: value})


def test_none_is_no_limit(play):
    limits = eth.Limits(steps=None, tokens=None, tool_seconds=None)
    assert play({"say": "done"}, limits=limits).run("Go.").ok


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda session: session.pin(" "), "nothing to pin in ''; give the sentence to keep"),
        (lambda session: session.pin("x", "rule"), "unknown kind of pin 'rule'; known: constraint, decision"),
        (lambda session: session.unpin(3), "no pin 3; pins now: none"),
        (lambda session: session.request(1), "no request of step 1 in session t; nothing was sent yet"),
    ],
)
def test_acts_that_cannot_be_are_refused_and_nothing_is_recorded(opened, call, said):
    session = opened()
    before = session.recorded
    with pytest.raises(Misuse, match=said):
        call(session)
    assert session.recorded == before


def test_a_policy_out_of_its_range_is_refused():
    with pytest.raises(BadPolicy, match=r"policy 'mine': keep is 0; it goes from 1 to 50"):
        eth.Policy(name="mine", keep=0)


def test_a_broken_script_names_the_place(tmp_path, opened):
    model = script(tmp_path, {"say": "x", "garbage": True})
    with pytest.raises(Misuse, match=r"turns\[0\].garbage"):
        opened(model)


def test_a_session_is_called_after_its_notebook_or_its_script(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/somewhere/analysis.ipynb")
    assert default_name() == "analysis"
    monkeypatch.delenv("JPY_SESSION_NAME")
    for argument, name in (("/bin/report.py", "report"), ("-c", "session"), ("", "session")):
        monkeypatch.setattr("sys.argv", [argument])
        assert default_name() == name


def test_a_name_is_used_as_it_is_recorded(opened, tmp_path):
    session = opened(name="  odd/../name \x00 ")
    assert session.name == "odd/../name \u2400"
    assert eth.open_session(session.name, tmp_path) is session
    assert not [path for path in tmp_path.parent.iterdir() if path.name == "name"]
