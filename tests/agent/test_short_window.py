"""A server whose window is smaller than was said: an answer that ends there tells its size."""

import pytest

from ethang_nb.agent.recovery import SOURCE
from ethang_nb.context.messages import assistant
from ethang_nb.providers.protocol import Reply, Usage
from tests.agent.stage import TASK, Answers, documents, kinds, reads

GIVEN = f"{SOURCE}; 8,000 was given"


@pytest.fixture
def asked(tmp_path, opened):
    """A session over eight documents that was told of 8,000 tokens, whose model gives these answers."""

    def make(*answers):
        documents(tmp_path, 8)
        session = opened(window=8_000)
        session.provider = Answers(*answers)
        return session

    return make


def cut(read, written):
    return Reply(message=assistant("The cap is 125"), stop="length", usage=Usage(input=read, output=written))


def test_the_window_is_corrected_and_said_where_nothing_can_leave(asked):
    session = asked(cut(1_671, 377))
    run = session.run("Go.")
    assert (run.ending, run.answer) == ("truncated", "The cap is 125")
    assert (2_048, GIVEN) == (session.window.total, session.window.source)
    assert "the window of 2,048 tokens ends there" in run.error
    assert "output limit" not in run.error
    (said,) = run.notices
    assert "there the server's window ends, not at 8,000 (given); from now on it is taken for 2,048" in said
    assert 1 == kinds(session).count("request")


def test_it_is_asked_for_again_after_a_cleanup(asked):
    session = asked(*reads(1, 2, 3, 4, 5, 6, 7, 8), cut(3_333, 763), "The cap is 125,000.")
    run = session.run(TASK)
    assert (run.ending, run.answer) == ("completed", "The cap is 125,000.")
    assert 4_096 == session.window.total
    (overflow,) = [event.data for event in session.recorded if event.kind == "overflow"]
    assert overflow["silent"]
    assert session.live.state.total <= session.window.hard


def test_a_limit_of_the_output_changes_no_window(asked):
    """A server that puts out 512 tokens at most (n_predict), whatever is asked for."""
    session = asked(cut(1_536, 512))
    run = session.run("Go.")
    assert ("truncated", 8_000) == (run.ending, session.window.total)
    assert "512 of the 1,600" in run.error
    assert () == run.notices
