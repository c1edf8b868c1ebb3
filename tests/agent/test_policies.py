"""Sessions under every policy: all seven, a change between them, one of one's own from ethang.toml or from Python."""

import json
from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.config import FILE
from ethang_nb.context.pairing import violations
from ethang_nb.errors import BadPolicy, Unknown
from ethang_nb.providers.offline.view import view
from tests.agent.stage import TASK, documents

MINE = '[policies.mine]\nbase = "lean"\nlevels = [500, 600, 300]\nkeep = 2\n'


@pytest.fixture
def project(tmp_path):
    (tmp_path / FILE).write_text(MINE)
    return documents(tmp_path, 11)


@pytest.mark.parametrize("policy", eth.policies)
def test_every_policy_completes_the_task(project, opened, policy):
    session = opened(policy=policy)
    run = session.run(TASK)
    assert run.ok, run.error
    assert "125,000" in run.answer
    assert max(row.fill for row in session.timeline) <= 1000
    assert () == violations(session.live.assemble())


@pytest.mark.parametrize("policy", eth.policies)
def test_a_session_changes_to_every_policy_and_comes_back_under_it(project, opened, policy):
    session = opened(policy="trim" if policy != "trim" else "ethang")
    assert session.run("Read docs/c_01.txt and tell me its first line.").ok
    session.change(policy=policy)
    assert eth.policies[policy] == session.policy
    assert session.run(TASK).ok
    session.close()
    with eth.open_session("t", project) as again:
        assert eth.policies[policy] == again.policy
        assert () == again.drift


def test_a_policy_of_the_project_is_found_by_name(project, opened):
    session = opened(policy="mine")
    assert ("mine", 2, 600) == (session.policy.name, session.policy.keep, session.live.state.levels.cleanup)
    assert session.run(TASK).ok
    assert "mine" == session.snapshot.policy
    session.change(policy="ethang")
    session.change(policy="mine")
    assert "mine" == session.replay(policy="mine").settings.policy.name


def test_a_recorded_session_keeps_its_policy_when_the_file_has_it_no_more(project, opened):
    session = opened(policy="mine")
    session.run(TASK)
    known = session.policy
    session.close()
    (project / FILE).unlink()
    with eth.open_session("t", project) as again:
        assert known.knobs() == again.policy.knobs()
        assert () == again.drift
        with pytest.raises(Unknown, match="unknown policy 'mine'"):
            again.change(policy="mine")


def test_a_policy_made_in_python_works_as_well(project, opened):
    session = opened(policy=replace(eth.policies["ethang"], name="here", keep=1))
    assert session.run(TASK).ok
    assert "here" == session.policy.name


def test_a_bad_one_leaves_nothing_in_the_record(project, opened):
    (project / FILE).write_text("[policies.mine]\nreseed = 900\n")
    with pytest.raises(BadPolicy, match=r"^ethang\.toml: policy 'mine': reseed 900 is above the nudge level"):
        opened(policy="mine")
    assert not (project / ".ethang").exists()


def test_the_line_that_says_what_left_is_no_task_to_the_reader(project, opened):
    """Under `trim`: the model is asked by the person's words alone."""
    session = opened(policy="trim")
    assert session.run(TASK).ok
    requests = [view(json.loads(session.request(row.step))) for row in session.timeline]
    told = [
        item
        for request in requests
        for item in request.of("notice")
        if " segments left the window, " in item.text
    ]
    assert told
    assert all(TASK == item.text for request in requests for item in request.of("task"))


def test_under_trim_the_line_in_the_place_of_a_note_is_shown_as_such(play):
    session = play({"say": "word " * 350, "repeat": 9}, policy="trim", window=3_000)
    for number in range(7):
        session.run(f"Question {number}?")
    assert any(item.kind == "note" for item in session.segments)
    assert "line that says what left" in str(session.segments)
    assert "handoff note, generation" not in str(session.segments)
