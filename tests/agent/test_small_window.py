"""A small window: a message that can be sent is sent, and one that is refused leaves nothing behind."""

import pytest

from ethang_nb.errors import BadWindow, Misuse, Overflow
from tests.agent.stage import Answers, kinds

WORDS = "Once there was a teacher who had thirty students and no key. "


@pytest.fixture
def small(opened):
    """A session of 512 tokens without tools whose model gives this answer."""

    def make(answer):
        session = opened(window=512, tools=["none"], system="Be brief.")
        session.provider = Answers(
            note=answer
        )  # without tools the stand-in takes each request for one of a note
        return session

    return make


def stands(session):
    """All that an act could change: the record, the state, what a person is told."""
    live = session.live
    return (
        [(event.seq, event.kind) for event in session.recorded],
        live.state,
        live.assemble(),
        session.snapshot.notices,
        session.snapshot.pins,
    )


def test_short_messages_go_on_and_on(small):
    """Nine answers of a fifth of the window each: none is refused because a note would take 200 tokens."""
    session = small(WORDS * 6)
    for _ in range(9):
        run = session.run("Go on.")
        assert run.ok, run.error


def test_what_can_be_sent_is_not_refused_for_the_room_of_a_note(small):
    session = small("Yes.")
    state = session.live.state
    message = "word " * (state.hard - state.fixed - 20)
    assert state.fixed + state.note_tokens + len(message.split()) > state.hard
    run = session.run(message)
    assert run.ok, run.error
    assert session.run("Go on.").ok
    stuck = session.run("Go on.")  # the session's first task never leaves, and now nothing fits beside it
    assert "stuck" == stuck.ending
    assert stuck.error.endswith("or start without what this session holds: --new")


def test_a_window_without_room_for_a_note_is_taken_and_said(opened):
    session = opened(window=512, tools=["none"], system="word " * 300)
    state = session.live.state
    assert state.fixed < state.usable < state.fixed + state.note_tokens
    assert any("a handoff note 200" in notice for notice in session.snapshot.notices)
    session.provider = Answers(note="Yes.")
    assert session.run("Go.").ok
    with pytest.raises(BadWindow):
        session.change(window=370)


@pytest.mark.parametrize("before", ["answered", "refused", "begun", "cooled"])
def test_a_message_that_is_refused_leaves_nothing_behind(small, before):
    """No start from the core, no withdrawal and no piece of work comes before the refusal."""
    refusal = Overflow("it is too long", tokens=400, limit=350)
    session = small(refusal if before == "refused" else WORDS * 12)
    run = session.run("Tell me all of it. " + (WORDS * 10 if before == "refused" else ""))
    assert run.ok == (before != "refused"), run.error
    if before == "begun":
        session.begin("next")
    if before == "cooled":
        session.cool()
    stood = stands(session)
    with pytest.raises(Misuse, match="this message takes"):
        session.run("word " * 2_000)
    assert stood == stands(session)
    session.provider = Answers(note="Yes.")
    assert session.run("Go on.").ok
    assert ("withdrawn" in kinds(session)) == (before == "refused")


def test_a_message_is_judged_by_the_core_as_it_will_stand(small):
    """What is pinned moves into the core when the next piece of work starts from it, and takes its room there."""
    session = small(WORDS * 8)
    assert session.run("Never write to the production database. Tell me.").ok
    session.cool()
    live = session.live
    twin = live.copy()
    twin.begin()
    assert twin.state.core > live.state.core
    room = twin.state.hard - twin.state.fixed - twin.state.core
    stood = stands(session)
    with pytest.raises(Misuse, match="this message takes"):
        session.run("word " * room)
    assert stood == stands(session)
