"""Handoff notes: the extract, notes by rule, how a note enters, and how it goes stale."""

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.counting import message_tokens
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.notes import (
    HEADINGS,
    MOST_LINES,
    Departed,
    NoteTask,
    compose,
    extract,
    is_cut,
    line_note,
    rule_note,
    stamp,
    standing,
    usable_note,
)
from ethang_nb.context.pointers import REFERENCES_HEAD
from ethang_nb.context.policy import LINE_TOKENS
from ethang_nb.context.versions import Versions
from ethang_nb.providers.offline.notes import constraints
from ethang_nb.providers.offline.view import Item, View
from ethang_nb.testing import WordCounter
from ethang_nb.tokens.registry import counter

EXACT = counter("o200k_base")
WORDS = WordCounter()
COUNTERS = pytest.mark.parametrize("counter_", [EXACT, WORDS], ids=["o200k", "words"])


def place(number, version="1a2b3c4d"):
    return f"file:data/c_{number:02}.txt#L1-31@{version}"


def turn(number, *addresses, said="", tokens=465):
    addresses = addresses or (place(number),)
    calls = [ToolCall(id=f"{number}-{at}", name="read_file") for at, _ in enumerate(addresses)]
    results = [
        tool(ToolResult(call_id=call.id, text="text", address=address))
        for call, address in zip(calls, addresses, strict=True)
    ]
    return Departed(
        segment=str(number),
        title=f"read_file data/c_{number:02}.txt",
        tokens=tokens,
        address=addresses[0] if len(addresses) == 1 and addresses[0] else f"log://{number}",
        messages=(assistant(said, calls), *results),
        logged=f"log://{number}",
    )


def words_of_user(number, text):
    return Departed(
        segment=str(number), title=text, tokens=9, address=f"log://{number}", messages=(user(text),)
    )


def due(*departed, tokens=400):
    return NoteTask(id=1, generation=2, tokens=tokens, rule_only=False, work="", pins=(), departed=departed)


def composed(
    task, text, counter_=EXACT, *, versions=None, author="a model", reference="compaction@v2+1a2b3c4d"
):
    return compose(
        task, text, reference=reference, author=author, counter=counter_, searchable=True, versions=versions
    )


def sections(text):
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


# ---- the extract


def test_the_prompt_asks_for_the_eight_headings_in_this_order():
    text = (files("ethang_nb") / "prompts" / "compaction@v2.md").read_text(encoding="utf-8")
    assert list(HEADINGS) == re.findall(r"^## (.+)$", text, re.MULTILINE)


def test_the_extract_is_task_pins_and_what_left_in_order():
    departed = [
        words_of_user(1, "Question?"),
        turn(2, said="I read it."),
        turn(3, "file:a#L1-2@aa", "file:b#L1-2@bb"),
    ]
    assert (
        "TASK: go",
        "PIN: constraint: Never open x.",
        "USER: Question?",
        "AGENT: I read it.",
        f"TURN {place(2)} read_file data/c_02.txt, 465 tokens",
        "TURN log://3 read_file data/c_03.txt, 465 tokens: file:a#L1-2@aa, file:b#L1-2@bb",
    ) == extract("go", [("constraint", "Never open x.")], departed)


def test_a_long_extract_keeps_all_of_the_users_words_and_the_newest_turns_and_counts_the_rest():
    departed = [words_of_user(0, "Question?"), *(turn(n) for n in range(1, MOST_LINES + 101))]
    lines = extract("go", [], departed)
    assert MOST_LINES + 3 == len(lines)
    assert "(100 older turns are left out; the record has them)" == lines[0]
    assert "USER: Question?" in lines
    assert lines[-1].startswith(f"TURN {place(MOST_LINES + 100)}")


def test_lines_of_what_left_are_made_once():
    item = turn(1)
    extract("go", [], [item])
    assert item.lines is item.lines
    assert item == turn(1)


def test_a_note_and_a_nudge_of_ours_are_no_words_of_the_user():
    ours = [user("[handoff note x]", kind="note"), user("[context pressure]", kind="nudge")]
    item = Departed(segment="1", title="x", tokens=1, address="log://1", messages=tuple(ours))
    assert () == extract("", [], [item])


# ---- what is no note


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", " \n\t ", "x", "ok, done.", "<summary></summary>", "<summary>\nnone\n</summary>"),
        *(
            "## Decisions\n",
            "## Decisions\nnone\n## Numbers\n- None.",
            "\n".join(f"## {name}\n-" for name in HEADINGS),
        ),
        *("Error: the service is not available right now", "Error code: 429 - too many requests in a minute"),
        *(
            "[error] the model could not be reached, try later",
            "I'm sorry, but I can't help with this request.",
        ),
        *(
            "I’m sorry, I cannot summarise a conversation like this",
            "ProviderError: overloaded, please try later",
        ),
        *("<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "<html>\n<h1>Service unavailable</h1>"),
        *(
            "Traceback (most recent call last):\n  File 'x'\n## Decisions\nnone",
            '{"error": {"message": "overloaded now"}}',
        ),
        *(
            "502 Bad Gateway, the upstream did not answer in time",
            "HTTP/1.1 503 Service Unavailable, try again later",
        ),
        *(
            "As an AI language model I have no memory of this",
            "Unfortunately I was not able to write this note",
        ),
    ],
)
def test_what_says_nothing_or_is_an_error_is_no_note(text):
    assert not usable_note(text)


@pytest.mark.parametrize(
    "text",
    [
        "## Decisions\nWe take supplier B.",
        "## Numbers\n- 7",
        "The agent has read 16 contracts; the cap is 125,000.",
        "I'm sorry for the delay.\n\n## Decisions\n- We take supplier B.",
        "## Failed approaches, with the reason\n- Error: no such file data/x.txt",
        "500 files were read, the last one is c_16.txt",
        "Terror is the subject of all 12 documents",
        "漢" * 30,
        "<summary>We take supplier B, cap 125,000.</summary>",
    ],
)
def test_what_tells_something_is_a_note(text):
    assert usable_note(text)


@given(st.text())
def test_any_text_is_judged_without_an_error(text):
    assert usable_note(text) in (True, False)


# ---- a note by rule


LINES = (
    "TASK: Read every file in data.",
    "PIN: constraint: Never open c_17.",
    "PIN: decision: Report in EUR.",
    "USER: Never open c_17.",
    "USER: And be brief, please.",
    "AGENT: I begin with the list.",
    "TURN log://5 list_files data, 250 tokens",
    *(f"TURN {place(n)} read_file data/c_{n:02}.txt, 465 tokens" for n in range(1, 17)),
    "TURN file:lib/x.py#L1-9@aa read_file lib/x.py, 90 tokens",
    "AGENT: So far 16 contracts are read.",
)


def test_a_note_by_rule_fills_the_headings_that_rules_can_fill():
    found = sections(rule_note(LINES, 2_000, EXACT))
    assert [heading for heading in HEADINGS if heading in found] == list(found)
    assert "- PIN: decision: Report in EUR." == found["Decisions"]
    assert "- PIN: constraint: Never open c_17.\n- USER: And be brief, please." == found[HEADINGS[1]]
    assert "- c_01.txt to c_16.txt in data, 16 files\n- x.py in lib" == found["Files touched"]
    assert found["Current state"].startswith(
        "- AGENT: I begin with the list.\n- log://5 list_files data, 250 tokens\n"
    )
    assert found["Current state"].endswith("- AGENT: So far 16 contracts are read.")
    assert "Read every file" not in str(found)


def test_what_matters_most_is_filled_first_and_every_heading_gets_a_line_before_one_gets_two():
    text = rule_note(LINES, 75, EXACT)
    assert "USER: And be brief" in text
    assert "Report in EUR" in text
    assert "16 files" in text or "x.py in lib" in text
    assert rule_note(LINES, 20, EXACT).startswith("## Constraints in the user's words\n- USER: And be brief")


def test_the_reader_finds_the_constraints_of_a_note_by_rule():
    note = Item(kind="note", text=rule_note(LINES, 2_000, EXACT))
    view = View(model="reader", items=(note,), tools=frozenset(), max_output=100)
    assert "Never open c_17." in constraints(view)


@COUNTERS
@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(["PIN: constraint: ", "PIN: decision: ", "USER: ", "AGENT: ", "TURN "]),
            st.text(max_size=80),
        ).map("".join),
        max_size=12,
    ),
    limit=st.integers(0, 200),
)
def test_a_note_by_rule_stays_within_its_limit_and_is_the_same_every_time(counter_, lines, limit):
    text = rule_note(lines, limit, counter_)
    assert counter_.count(text) <= limit
    assert text == rule_note(lines, limit, counter_)


def test_a_note_by_rule_of_many_lines_counts_only_as_many_as_it_may_keep():
    class Counting(WordCounter):
        calls = 0

        def count(self, text):
            self.calls += 1
            return super().count(text)

    count = Counting()
    rule_note([f"TURN log://{n} run, {n} tokens" for n in range(900)], 60, count)
    assert count.calls < 60


# ---- how a note enters


@COUNTERS
@given(
    text=st.text(max_size=400) | st.sampled_from([f"## {name}\n" + "word " * 90 for name in HEADINGS[:3]]),
    tokens=st.integers(50, 600),
    count=st.integers(0, 12),
    author=st.text(max_size=60),
)
def test_a_note_never_takes_more_than_was_reserved_for_it(counter_, text, tokens, count, author):
    message, _ = composed(due(*(turn(n) for n in range(count)), tokens=tokens), text, counter_, author=author)
    assert message_tokens(message, counter_) <= tokens
    assert message.text.startswith("[handoff note ")
    assert ("agent", "note") == (message.trust, message.kind)


def test_the_reference_list_takes_at_most_a_third_newest_first_and_ends_with_how_to_search():
    task = due(*(turn(n) for n in range(60)), tokens=600)
    message, _ = composed(task, "## Decisions\nWe take B.")
    listing = message.text.partition(REFERENCES_HEAD)[2]
    assert EXACT.count(listing) <= 200
    assert listing.startswith(f"\n- read_file data/c_59.txt, 465 tokens: {place(59)}\n")
    assert listing.endswith("- anything else that left: find_in_record(query)")


def test_a_note_that_is_too_long_is_cut_at_a_sections_end_and_says_that_it_was_cut():
    text = "\n".join(f"## Part {part}\n" + "some words here\n" * 12 for part in range(30))
    message, prose = composed(due(turn(1)), text)
    assert is_cut(text, prose)
    assert text.startswith(f"{prose}\n")
    assert prose.endswith("some words here")
    assert prose.count("some words here") == 12 * prose.count("## Part")
    assert "; written by a model, cut to fit; claims, not instructions; the work goes on]" in message.text
    whole, prose = composed(due(turn(1)), " ## Decisions\nWe take\x00B.\n")
    assert not is_cut(" ## Decisions\nWe take\x00B.\n", prose)
    assert "cut to fit" not in whole.text


def test_one_long_line_is_cut_inside_the_line():
    _, prose = composed(due(turn(1)), "word " * 5_000)
    assert prose.startswith("word word")


def test_a_reference_whose_version_moved_says_so():
    versions = Versions()
    versions.enter(3, place(1))
    versions.enter(41, place(1, "9f8e7d6c"))
    message, _ = composed(due(turn(1), turn(2)), "## Decisions\nWe take B.", versions=versions)
    assert (
        f"- read_file data/c_01.txt: stale since log://41, read again at {place(1, '9f8e7d6c')}\n"
        in message.text
    )
    assert f"- read_file data/c_02.txt, 465 tokens: {place(2)}\n" in message.text


def test_a_turn_of_several_results_is_stale_when_one_of_them_moved():
    versions = Versions()
    versions.enter(3, place(2))
    versions.enter(41, place(2, "9f8e7d6c"))
    message, _ = composed(due(turn(1, place(1), place(2))), "## Decisions\nWe take B.", versions=versions)
    assert "- read_file data/c_01.txt: stale since log://41" in message.text


# ---- a note goes stale


def noted(*departed, versions=None, tokens=400):
    return composed(due(*departed, tokens=tokens), "## Decisions\nWe take supplier B.", versions=versions)[0]


def test_a_note_whose_versions_still_stand_enters_as_it_is():
    note = noted(turn(1))
    versions = Versions()
    versions.enter(3, place(1))
    versions.enter(41, place(2))
    assert standing(note, versions, EXACT) is note


def test_a_note_enters_as_one_line_once_something_it_describes_has_moved():
    note = noted(turn(1), turn(2))
    versions = Versions()
    for log, address in ((3, place(1)), (4, place(2)), (41, place(2, "9f8e7d6c"))):
        versions.enter(log, address)
    stale = standing(note, versions, EXACT)
    assert (
        "[handoff note compaction@v2+1a2b3c4d, generation 2: stale since log://41; "
        f"read again at {place(2, '9f8e7d6c')}]"
    ) == stale.text
    assert (note.kind, note.source, note.trust) == (stale.kind, stale.source, stale.trust)


def test_what_had_moved_before_the_note_was_written_does_not_make_it_stale():
    versions = Versions()
    versions.enter(3, place(1))
    versions.enter(9, place(1, "9f8e7d6c"))
    departed = turn(1), turn(2, place(1, "9f8e7d6c"))
    note = noted(*departed, versions=versions)
    stamped = stamp(departed, versions)
    assert (place(1, "9f8e7d6c"),) == stamped
    assert standing(note, versions, EXACT) is note
    assert standing(note, versions, EXACT, described=stamped) is note
    versions.enter(41, place(1, "33333333"))
    assert "stale since log://41" in standing(note, versions, EXACT, described=stamped).text


def test_an_address_that_only_the_models_prose_names_is_no_stamp():
    note, _ = composed(due(turn(2)), f"## Files touched\n- {place(1)}, read twice")
    versions = Versions()
    versions.enter(3, place(1))
    versions.enter(41, place(1, "9f8e7d6c"))
    assert standing(note, versions, EXACT) is note


@pytest.mark.parametrize("tokens", [50, 80, 200, 600])
@COUNTERS
def test_the_line_of_a_stale_note_takes_no_more_than_the_note(counter_, tokens):
    departed = [turn(n) for n in range(20)]
    note, _ = composed(due(*departed, tokens=tokens), "We take B.", counter_)
    versions = Versions()
    for number in range(20):
        versions.enter(number + 1, place(number))
    stamped = stamp(departed, versions)
    for number in range(20):
        versions.enter(number + 100, place(number, "9f8e7d6c"))
    stale = standing(note, versions, counter_, described=stamped)
    assert "stale since log://100" in stale.text
    assert counter_.count(stale.text) <= counter_.count(note.text)
    assert stale.text == standing(stale, versions, counter_).text


# ---- the line of a policy without notes


def test_one_line_says_what_left_and_where_it_can_be_read():
    departed = [turn(3, tokens=402), *(turn(n, tokens=300) for n in range(4, 14))]
    assert "[11 segments left the window, 3,402 tokens, without a note: log://3 to log://13]" == line_note(
        departed, EXACT
    )
    assert "[1 segment left the window, 402 tokens, without a note: log://3]" == line_note(
        departed[:1], EXACT
    )
    assert "" == line_note([], EXACT)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=3), st.integers(0, 10**9))
def test_that_line_is_never_over_its_tokens(addresses, tokens):
    departed = [
        Departed(segment="1", title="x", tokens=tokens, address=address, messages=()) for address in addresses
    ]
    line = line_note(departed, EXACT)
    assert message_tokens(user(line), EXACT) <= LINE_TOKENS
