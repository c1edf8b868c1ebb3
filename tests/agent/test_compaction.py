"""The handoff note: asked of the model under a versioned prompt, written by rule where the model fails."""

import re
from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.agent.compaction import LEAST_ROOM, TEXTS_HEAD, note_request
from ethang_nb.agent.prompt import prompt
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.messages import ToolResult, assistant, tool, user
from ethang_nb.context.notes import Departed, NoteTask
from ethang_nb.context.window import Window
from ethang_nb.errors import Unknown
from ethang_nb.tokens.registry import counter
from tests.agent.stage import documents, kinds

COUNTER = counter("reader")
PROMPT = prompt("compaction@v2")
REFERENCE = re.compile(r"compaction@v2\+[0-9a-f]{8}")


def remembered(play, *notes, policy="ethang"):
    """A session of seven runs, whose first answers have left for a note; none of them starts from the core."""
    turns = [{"say": f"Answer {n} about ORD-1000{n}. " + "word " * 350} for n in range(7)]
    rules = replace(eth.policies[policy], reseed=None)
    session = play(*turns, {"say": "done", "repeat": 9}, *notes, policy=rules, window=3_000)
    for number in range(7):
        run = session.run(f"Question {number}?")
        assert run.ok, run.error
    assert session.chronicle.diffs
    return session


def test_the_readers_note_carries_its_prompts_reference(tmp_path, opened):
    documents(tmp_path, 11)
    session = opened("reader?nudge=ignore")
    session.run("Read every file in docs. Never open docs/c_05.txt.")
    (diff, *_) = session.chronicle.diffs
    assert diff.note_reference == PROMPT.reference
    assert REFERENCE.fullmatch(diff.note_reference)
    assert diff.note.startswith(f"[handoff note {PROMPT.reference}, generation 1: stands for ")
    assert "not a language model" in diff.note_author
    assert "Never open docs/c_05.txt" in diff.note
    for heading in re.findall(r"^## .*", PROMPT.text, re.MULTILINE):
        assert heading in diff.note


def test_there_is_one_note_and_it_is_rewritten_from_the_record(tmp_path, opened):
    documents(tmp_path, 15)
    session = opened("reader?nudge=ignore")
    session.run("Read every file in docs.")
    diffs = session.chronicle.diffs
    assert [diff.generation for diff in diffs] == list(range(1, len(diffs) + 1))
    assert len(diffs) >= 2
    notes = [message for message in session.live.assemble() if message.kind == "note"]
    assert [note.text for note in notes] == [diffs[-1].note]
    asked = [event for event in session.recorded if event.kind == "note request"]
    bodies = [session.archive.record.body(event.data["pieces"]) for event in asked]
    assert all(b"[handoff note" not in body for body in bodies)


def test_the_words_of_the_model_are_the_note(play):
    session = remembered(play, {"note": "## Decisions\nWe take supplier B."})
    note = session.chronicle.diffs[-1]
    assert "We take supplier B." in note.note
    assert note.note_author.startswith("script:")
    assert "## Where to read it again" in note.note


@pytest.mark.parametrize("note", ["", " \n\t "])
@pytest.mark.parametrize("policy", eth.policies)
def test_an_empty_note_is_written_by_rule_and_says_so(play, note, policy):
    session = remembered(play, {"note": note}, policy=policy)
    diff = session.chronicle.diffs[-1]
    assert diff.note_author == "rules"
    assert diff.note_reference == "rules@v1"
    if policy == "trim":  # it writes no note: one line says what left
        assert re.fullmatch(
            r"\[\d+ segments left the window, \d+ tokens, without a note: log://.*\]", diff.note
        )
        return
    assert "written by rules" in diff.note
    assert "USER: Question" in diff.note


def test_a_failing_summariser_leaves_no_trace_of_its_error_in_the_window(play):
    session = remembered(play, {"note": "x", "fail": "SECRET-FAULT 500"})
    diff = session.chronicle.diffs[-1]
    assert diff.note_author == "rules"
    assert "SECRET-FAULT" not in "".join(message.text for message in session.live.assemble())
    assert all(b"SECRET-FAULT" not in session.request(row.step) for row in session.timeline)
    (failed, *_) = [event.data["text"] for event in session.recorded if event.kind == "note failed"]
    assert failed == "ProviderFault: SECRET-FAULT 500"


@pytest.mark.parametrize(
    "text", ["word " * 9_000, "x" * 60_000, "## A\n" + "line\n" * 4_000, "漢" * 9_000, "## Only a heading"]
)
def test_a_note_never_takes_more_than_was_reserved_for_it(play, text):
    session = remembered(play, {"note": text})
    reserved = session.live.state.note_tokens
    for event in (event for event in session.recorded if event.kind == "point"):
        assert event.data.get("after", 0) <= session.window.hard
    for note in session.live.state.notes:
        assert note.tokens <= reserved
    (message,) = [message for message in session.live.assemble() if message.kind == "note"]
    assert message_tokens(message, session.counter) == session.live.state.notes[-1].tokens
    assert message.trust == "agent"


def test_a_cut_note_is_recorded_whole(play):
    text = "## Decisions\n" + "We take supplier B.\n" * 900
    session = remembered(play, {"note": text})
    note = [event.data["text"] for event in session.recorded if event.kind == "note"][-1]
    assert note == text.strip()
    assert session.chronicle.diffs[-1].note != text


def test_the_request_for_a_note_has_no_tools_and_the_notes_own_limit(play):
    session = remembered(play, {"note": "## Decisions\nnone"})
    (event, *_) = [event for event in session.recorded if event.kind == "note request"]
    body = session.archive.record.body(event.data["pieces"])
    assert b'"tools"' not in body
    assert b"TASK: Question" in body
    limit = int(re.search(rb'"max_tokens":(\d+)', body)[1])
    assert limit < session.live.state.note_tokens
    assert kinds(session).count("note request") == len(session.chronicle.diffs)


# ---- the request itself


def departed(*messages):
    return tuple(
        Departed(segment=str(at), title=f"turn {at}", tokens=9, address=f"log://{at}", messages=(message,))
        for at, message in enumerate(messages)
    )


def task(*texts, first=()):
    """A note to be written after the departure of `first`, then of the agent's `texts`."""
    return NoteTask(
        id=1,
        generation=1,
        tokens=300,
        rule_only=False,
        work="go",
        pins=(),
        departed=departed(*first, *map(assistant, texts)),
    )


def asked(given, total=4_000):
    return note_request(given, prompt=PROMPT, model="reader", hard=Window.of(total).hard, counter=COUNTER)


def test_the_prompt_comes_first_then_the_extract_then_the_texts_newest_first():
    found = asked(task("first text", "second text"))
    system, extract = found.request.messages
    assert system.text.startswith(PROMPT.text)
    assert re.search(r"Write at most \d+ words\.$", system.text)
    said = "TASK: go\nAGENT: first text\nAGENT: second text"
    assert extract.text == f"{said}\n{TEXTS_HEAD}\n[log://1]\nsecond text\n[log://0]\nfirst text"
    assert found.request.tools == ()


def test_the_request_fits_its_window_and_its_size_is_counted():
    texts = [f"text {n} " + "word " * 200 for n in range(30)]
    for total in (1_500, 2_000, 4_000, 20_000):
        found = asked(task(*texts), total)
        real = sum(message_tokens(message, COUNTER) for message in found.request.messages)
        assert real <= found.tokens <= Window.of(total).hard
    assert found.request.messages[1].text.count("[log://") == 30


def test_a_text_that_would_leave_no_room_is_left_out():
    found = asked(task("word " * 3_000), 2_000)
    assert TEXTS_HEAD not in found.request.messages[1].text
    assert Window.of(2_000).hard - found.tokens > LEAST_ROOM


def test_where_not_even_the_extract_fits_nothing_is_asked():
    assert asked(task(first=[user("word " * 100) for _ in range(40)]), 2_000) is None


def test_on_a_long_run_the_newest_turns_and_all_of_the_persons_words_are_kept_and_the_rest_is_counted():
    turns = [tool(ToolResult(call_id=f"c{number}", text="seen")) for number in range(500)]
    found = asked(task("newest text", first=[*turns, user("Never stop.")]), 6_000)
    extract = found.request.messages[1].text
    assert "TASK: go" in extract
    assert "USER: Never stop." in extract
    assert "TURN log://499 " in extract
    assert "TURN log://0 " not in extract
    assert "newest text" in extract
    left_out = 500 - extract.count("TURN ")
    assert extract.startswith(f"({left_out} older lines are left out")
    assert found.tokens <= Window.of(6_000).hard


# ---- prompts


def test_a_prompts_reference_tells_an_edited_file_apart():
    assert prompt("compaction@v2") == PROMPT
    assert replace(PROMPT, text=PROMPT.text + "!").reference != PROMPT.reference
    assert PROMPT.text == PROMPT.text.strip()
    assert "\r" not in PROMPT.text


def test_an_unknown_prompt_names_the_nearest():
    with pytest.raises(Unknown, match="unknown prompt 'compaction@v3'; did you mean 'compaction@v"):
        prompt("compaction@v3")
