"""Desk: what a session tells the planner of its model, and what a person is told of pins and notes."""

import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import ethang_nb as eth
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.jail import Jail
from ethang_nb.agent.limits import Limits
from ethang_nb.context.window import Window
from ethang_nb.providers.registry import provider
from ethang_nb.tokens.registry import counter, family_ratio


def desk(model, folder):
    return Desk(
        name="t",
        model=model,
        provider=provider("reader"),
        counter=counter(model),
        limits=Limits(),
        params={},
        window=Window.of(8_000),
        policy=eth.policies["ethang"],
        system="Be brief.",
        project="",
        tools=(),
        jail=Jail(Path(folder)),
    )


@pytest.mark.parametrize("model", ["reader", "gpt-4o", "claude-sonnet-4", "nobody-knows-it"])
def test_before_any_report_the_familys_ratio_divides_the_limits(tmp_path, model):
    state = desk(model, tmp_path).live.state
    assert family_ratio(model) == state.ratio
    assert 6_400 * 1000 // family_ratio(model) == state.usable
    assert (counter(model).how == "exact") == state.exact


def test_reports_take_its_place(tmp_path):
    live = desk("nobody-knows-it", tmp_path).live
    assert 1_300 == live.state.ratio
    live.usage(1_100, 1_000)
    assert 1_100 == live.state.ratio


def test_a_model_that_takes_over_brings_its_own_ratio(tmp_path, play):
    """Reports of the last model say nothing of the next one."""
    session = play({"say": "one", "phantom_usage": 900}, settings={"usage": "report"})
    session.run("Go.")
    assert session.live.state.ratio > 1000
    session.close()
    with eth.open_session("t", tmp_path, model="reader") as again:
        assert family_ratio("reader") == again.live.state.ratio
        assert () == again.drift
    with eth.open_session("t", tmp_path) as last:
        assert 1000 == last.live.state.ratio
        assert () == last.drift


@pytest.mark.parametrize(
    "note",
    [
        "[error] the model is overloaded, try again in a moment",
        "Error: 500 internal server error while writing the note",
        "I'm sorry, but I can't help with that request at this time.",
        "## Decisions\n\n## Numbers\n",
        "<!doctype html><html><body>Bad gateway</body></html>",
    ],
)
def test_what_is_no_note_is_recorded_as_a_failure_and_one_by_rule_stands(play, note):
    turns = [{"say": f"Answer {n} about ORD-1000{n}. " + "word " * 350} for n in range(7)]
    rules = replace(eth.policies["ethang"], reseed=None)
    session = play(*turns, {"say": "done", "repeat": 9}, {"note": note}, policy=rules, window=3_000)
    for number in range(7):
        assert session.run(f"Question {number}?").ok
    assert {"rules"} == {diff.note_author for diff in session.chronicle.diffs}
    failed = [event.data["text"] for event in session.recorded if event.kind == "note failed"]
    assert len(failed) == len(session.chronicle.diffs)
    assert all(text.startswith("what came back is no note: ") and "\n" not in text for text in failed)
    first = note.split("\n", maxsplit=1)[0]
    assert (
        first not in "\n".join(message.text for message in session.live.assemble()) or first == "## Decisions"
    )


def test_pins_over_a_tenth_of_usable_are_one_notice_as_long_as_they_are(play):
    session = play({"say": "done", "repeat": 9}, window=3_600)
    assert not [notice for notice in session.snapshot.notices if "usable tokens" in notice]
    for number in range(30):
        session.pin(f"Amounts of supplier number {number} are given in euros and never in dollars.")
    session.run("Go.")
    for _ in range(2):
        (notice,) = [notice for notice in session.snapshot.notices if notice.startswith("pins take ")]
        assert re.match(
            r"pins take \d+ of 2,880 usable tokens \(\d+\.\d %\) with every request; which of them", notice
        )
    for number in range(1, 31):
        session.unpin(number)
    assert not [notice for notice in session.snapshot.notices if notice.startswith("pins take ")]


def test_a_report_that_says_nothing_of_the_cache_is_recorded_as_unknown(play):
    session = play({"say": "one"}, settings={"usage": "report"})
    session.run("Go.")
    assert [None] == [event.data["cached"] for event in session.recorded if event.kind == "usage"]


def test_a_desk_has_one_lock_for_all(tmp_path):
    assert isinstance(desk("reader", tmp_path).lock, type(threading.RLock()))
