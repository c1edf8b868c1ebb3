"""Trace: where did this text go? In the window, in the record, when and how it left, where to read it again."""

import pytest

import ethang_nb as eth
from ethang_nb.errors import Misuse
from tests.agent.stage import TASK, call, calls, documents
from tests.context.builders import picture

ORDER = "ORD-88421"


@pytest.fixture
def worked(tmp_path, opened):
    documents(tmp_path)
    session = opened(policy="compact")
    assert session.run(TASK).ok
    return session


def read(session, address):
    return session.archive.read(address, characters=9_000, fits=lambda _: True).text


def test_every_occurrence_is_found_and_can_be_read_again(worked):
    """As many segments as there are recorded messages that hold it; each address gives the text back."""
    found = worked.trace(ORDER)
    held = [event.seq for event in worked.recorded if event.kind == "message" and ORDER in str(event.data)]
    segments = [place for place in found.places if place.where == "segment"]
    assert [f"log://{seq}" for seq in held] == [place.logged for place in segments]
    assert len(held) >= 3
    for place in segments:
        assert ORDER in read(worked, place.address)
        assert ORDER in read(worked, place.logged)
        assert ORDER in place.excerpt


def test_what_is_in_the_window_is_what_the_next_request_carries(worked):
    texts = [message.text for message in worked.live.assemble()]
    for wanted in (ORDER, "CONTRACT 01", "CONTRACT 08", "Never open", "docs/c_01.txt"):
        carried = any(wanted.casefold() in " ".join(text.split()).casefold() for text in texts)
        asked = any(wanted in call.arguments for message in worked.live.assemble() for call in message.calls)
        assert (carried or asked) == bool(worked.trace(wanted).in_window), wanted


def test_it_says_at_which_step_it_left_and_how(worked):
    rows = {row.step for row in worked.timeline if any("cleanup" in event for event in row.events)}
    (place,) = [place for place in worked.trace("CONTRACT 01").out if place.where == "segment"]
    (left,) = place.left
    assert ("evict", "cleanup") == (left.how, left.by)
    assert left.step in rows
    assert "file:docs/c_01.txt#L1-13@" in place.address


def test_a_note_that_holds_it_is_a_place(worked):
    notes = [place for place in worked.trace(ORDER).places if place.where == "note"]
    assert [True] == [place.in_window for place in notes if place.in_window]
    assert all(place.title.startswith("handoff note compaction@v2+") for place in notes)
    assert all(ORDER in read(worked, place.address) for place in notes)


def test_a_note_that_nobody_wrote_is_a_place_too(play):
    turns = [{"say": f"Answer {n}. " + "word " * 350} for n in range(7)]
    session = play(*turns, {"say": "done", "repeat": 9}, {"note": ""}, policy="compact", window=3_000)
    for number in range(7):
        assert session.run(f"Question {number}, about the colour mauve?").ok
    (place,) = [
        place for place in session.trace("Question 1").places if place.where == "note" and place.in_window
    ]
    assert "rules@v1" in place.title


def test_the_core_and_the_fixed_parts_are_places(tmp_path, play):
    session = play({"say": "done"}, system="Speak of herons.", project="Herons are birds.")
    session.pin("Herons are never fed.")
    session.run("Go.")
    places = session.trace("HERONS").places
    assert ["system text", "project text", "core"] == [place.title for place in places]
    assert all(place.in_window for place in places)
    assert ["tool catalogue"] == [
        place.title for place in session.trace("call for a page").places
    ] or session.trace("find_in_record").places[0].title == "tool catalogue"


def test_a_released_result_left_by_release(tmp_path, opened):
    documents(tmp_path)
    session = opened(policy="pressure")
    session.run(TASK)
    (place,) = [place for place in session.trace("CONTRACT 01").places if place.where == "segment"]
    assert ("stub", "collapse", "release") == (place.form, place.left[0].how, place.left[0].by)
    assert not place.in_window


def test_what_was_cut_on_entry_is_found_in_the_spilled_text(tmp_path, play):
    def long_text() -> str:
        """Much."""
        return "\n".join(f"line {n} of the long text" for n in range(2_000)) + "\nthe needle stands here\nend"

    session = play(calls("long_text"), {"say": "done"}, tools=[long_text], window=8_000)
    session.run("Go.")
    near, far = session.trace("line 3 of the long text"), session.trace("line 1000 of")
    assert [True] == [place.in_window for place in near.places]
    (place,) = far.places
    assert ("cut", "intake") == (place.left[0].how, place.left[0].by)
    assert place.form == "spilled"
    assert place.address.startswith("spill://")
    assert not place.in_window


def test_a_shrunk_result_tells_what_of_it_still_stands(tmp_path, opened):
    documents(tmp_path)
    policy = eth.Policy(name="shrinks", stages=("shrink",))
    session = opened("reader?nudge=ignore", policy=policy, window=2_700)
    session.run(TASK)
    shrunk = [
        place
        for place in session.trace("The supplier ships").places
        if any(left.how == "shrink" for left in place.left)
    ]
    assert shrunk
    assert {"shrunk"} == {place.form for place in shrunk}


def test_spacing_and_case_do_not_matter(worked):
    assert worked.trace("the AFFECTED\n order   is").places == worked.trace("The affected order is").places


def test_calls_are_searched_too(play):
    session = play(calls(call("list_files", folder="nowhere-land")), {"say": "done"})
    session.run("Go.")
    assert any("list_files nowhere-land" in place.title for place in session.trace("nowhere-land").in_window)


def test_a_text_that_is_nowhere_has_no_place(worked):
    found = worked.trace("no such text at all")
    assert () == found.places == found.in_window == found.out
    assert worked.archive.record.last == found.events


@pytest.mark.parametrize("text", ["", "  \n", None, 5])
def test_a_blank_text_is_refused(worked, text):
    with pytest.raises(Misuse, match="nothing to look for"):
        worked.trace(text)


def test_tracing_changes_nothing_and_the_value_is_frozen(worked):
    before = worked.archive.record.last, picture(worked.live.state)
    found = worked.trace(ORDER)
    str(found), repr(found), found._repr_html_()
    assert before == (worked.archive.record.last, picture(worked.live.state))
    with pytest.raises(AttributeError):
        found.places = ()


def test_a_session_opened_again_knows_the_same(worked, tmp_path):
    before = worked.trace(ORDER)
    worked.close()
    with eth.open_session("t", tmp_path, look=True) as looked:
        assert before == looked.trace(ORDER)


def test_letters_that_are_longer_in_lower_case_are_found(play):
    session = play({"say": "die STRASSE, die Straße, İstanbul und mehr"})
    session.run("Go.")
    assert session.trace("strasse, die straße").places
    assert "i̇stanbul" in session.trace("İstanbul").places[-1].excerpt.casefold()
