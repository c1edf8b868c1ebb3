"""A note that no model wrote is said: in the session's notices and in its run, once for each reason."""

from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.agent.notices import WHY, Notices, by_rules

SAID = "the note was written by rules: "


def worked(play, *notes, policy="pressure", name="t"):
    """A session of twelve runs with cleanups that ask for notes, each of which plays one of `notes`."""
    turns = [{"say": f"Answer {n}. " + "word " * 350} for n in range(12)]
    rules = replace(eth.policies[policy], reseed=None)
    session = play(*turns, {"say": "done", "repeat": 9}, *notes, policy=rules, window=3_000, name=name)
    runs = [session.run(f"Question {number}?") for number in range(12)]
    assert session.chronicle.diffs
    return session, runs


def told(session):
    return [notice for notice in session.snapshot.notices if SAID in notice]


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ({"note": "x", "fail": "boom"}, "ProviderFault: boom"),
        ({"note": ""}, "the model wrote nothing"),
        ({"note": " \n"}, "the model wrote nothing"),
    ],
)
def test_a_failing_or_empty_summariser_is_said_once_in_session_and_run(play, note, why):
    session, runs = worked(play, note)
    first = session.chronicle.diffs[0].step
    assert told(session) == [f"step {first}: {SAID}{why}"]
    assert len([diff for diff in session.chronicle.diffs if diff.note_author == "rules"]) > 1
    said = [run for run in runs if run.notices]
    assert said[0].notices == (f"step {first}: {SAID}{why}",)
    assert f"notice: step {first}: {SAID}{why}" in " ".join(str(said[0]).split())
    assert why in said[0]._repr_html_()


def test_each_run_says_it_of_itself_and_a_run_without_a_cleanup_says_nothing(play):
    _, runs = worked(play, {"note": ""})
    for run in runs:
        assert bool(run.notices) == bool(run.diffs)


def test_a_note_that_a_model_wrote_is_not_said(play):
    session, runs = worked(play, {"note": "## Decisions\nWe take supplier B."})
    assert told(session) == []
    assert not any(run.notices for run in runs)


def test_a_policy_that_asks_no_model_for_a_note_says_nothing(play):
    session, _ = worked(play, {"note": ""}, policy="trim")
    assert told(session) == []


def test_it_is_still_said_when_the_session_is_opened_again(play, tmp_path):
    session, _ = worked(play, {"note": "x", "fail": "boom"})
    before = told(session)
    session.close()
    with eth.open_session("t", tmp_path) as again:
        assert told(again) == before


def test_a_reason_is_said_at_its_first_step_on_one_line_and_not_at_length():
    found = Notices()
    for step in (3, 5, 8):
        found.say(step, by_rules("a\nb " + "x" * 900))
    found.say(9, by_rules("other"))
    first, second = found.lines
    assert first.startswith(f"step 3: {SAID}a b x")
    assert len(first) <= WHY + 60
    assert second == f"step 9: {SAID}other"
