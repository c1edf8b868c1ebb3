"""Pairing: any list becomes a legal history, and what changed is said."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.context.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool,
    user,
)
from ethang_nb.context.pairing import LOST, Mending, mend, violations
from tests.formats.histories import HISTORIES, TANGLES, marked, texts

quick = settings(max_examples=150, deadline=None)


def call(call_id, name="look"):
    return ToolCall(id=call_id, name=name)


def asks(*ids):
    return assistant("", [call(call_id) for call_id in ids])


def answer(call_id, text="ok"):
    return tool(ToolResult(call_id=call_id, name="look", text=text))


def shape(messages):
    """Roles, and ids of calls and results: what pairing is about."""
    return [
        (message.role, *(part.id for part in message.calls), *(part.call_id for part in message.results))
        for message in messages
    ]


def test_a_legal_history_comes_back_as_the_same_objects():
    history = (system("s"), user("t"), asks("a", "b"), answer("a"), answer("b"), assistant("done"))

    mended = mend(history)

    assert (mended.repairs, violations(history)) == ((), ())
    assert all(one is other for one, other in zip(history, mended.messages, strict=True))


def test_an_empty_history_is_legal():
    assert mend([]).messages == violations([]) == ()


def test_a_result_before_any_call_is_removed_and_reported():
    """SEG-01: a cut that fell between a call and its result."""
    mended = mend([answer("c1", "r1"), user("next"), assistant("ok")])

    assert [message.role for message in mended.messages] == ["user", "assistant"]
    assert mended.repairs == (
        "message 0: the result of call 'c1' removed, no call before it asked for it: 'r1'",
    )


def test_results_nobody_asked_for_are_removed_and_the_pair_stays():
    """SEG-03."""
    history = [
        user("t"),
        asks("a"),
        answer("a"),
        answer("zzz", "stray"),
        answer("yyy", "stray2"),
        assistant("done"),
    ]

    mended = mend(history)

    assert mended.messages == (*history[:3], history[5])
    assert [re.search("'(.*?)'", line)[1] for line in mended.repairs] == ["zzz", "yyy"]


def test_missing_results_of_a_turn_are_filled_in_call_order_and_the_real_one_stays():
    """SEG-06: three calls, one result."""
    mended = mend([user("t"), asks("a", "b", "c"), answer("b", "2"), user("go on")])

    results = [part for message in mended.messages for part in message.results]
    assert [(result.call_id, result.text, result.error) for result in results] == [
        ("a", LOST, True),
        ("b", "2", False),
        ("c", LOST, True),
    ]
    assert [result.again for result in results if result.error] == ["lost", "lost"]
    assert mended.repairs == (
        "message 1: call 'a' (look) has no result; an error result says so",
        "message 1: call 'c' (look) has no result; an error result says so",
    )


@pytest.mark.parametrize("between", [(), (user("wait"),), (assistant("hm"), user("wait"))])
def test_results_spread_over_several_messages_are_joined_before_gaps_are_filled(between):
    """SEG-07: the real result stands later, so no placeholder stands beside it."""
    mended = mend([user("t"), asks("a", "b"), answer("a", "1"), *between, answer("b", "2"), assistant("fin")])

    turn = [("assistant", "a", "b"), ("tool", "a"), ("tool", "b")]
    assert shape(mended.messages)[1:4] == turn
    assert [message.text for message in mended.messages[2:4]] == ["1", "2"]
    assert len(mended.messages) == 5 + len(between)
    assert len(mended.repairs) == bool(between)


def test_results_out_of_order_are_put_into_call_order():
    mended = mend([asks("a", "b", "c"), answer("c", "3"), answer("a", "1"), answer("b", "2")])

    assert [message.text for message in mended.messages[1:]] == ["1", "2", "3"]
    assert mended.repairs == (
        "message 2: the result of call 'a' moved into call order",
        "message 3: the result of call 'b' moved into call order",
    )


def test_an_id_used_again_in_a_later_turn_pairs_turn_by_turn():
    """SEG-09: the id is the tool's name in every turn."""
    history = [
        user("t"),
        asks("http"),
        answer("http", "one"),
        asks("http"),
        answer("http", "two"),
        assistant("end"),
    ]

    assert mend(history).messages == tuple(history)
    assert violations(history) == ()


def test_a_result_goes_to_the_nearest_open_call_with_its_id():
    mended = mend([asks("x"), user("again"), asks("x"), answer("x", "two")])

    assert [message.text for message in mended.messages] == ["", LOST, "again", "", "two"]


def test_an_id_that_comes_twice_in_one_turn_gets_a_name_of_its_own_there():
    mended = mend(
        [
            asks("a", "a", "a_2"),
            answer("a", "1"),
            answer("a", "2"),
            answer("a_2", "3"),
            asks("a"),
            answer("a"),
        ]
    )

    assert shape(mended.messages) == [
        ("assistant", "a", "a_3", "a_2"),
        ("tool", "a"),
        ("tool", "a_3"),
        ("tool", "a_2"),
        ("assistant", "a"),
        ("tool", "a"),
    ]
    assert [message.text for message in mended.messages[1:4]] == ["1", "2", "3"]
    assert mended.repairs == (
        "message 0: call 'a' (look) renamed to 'a_3': no two calls of a turn share an id",
    )


def test_a_name_that_was_given_to_a_call_is_no_other_calls():
    """Else a late result of the second call would go to the third one."""
    mended = mend([asks("a", "a"), asks("a_2"), answer("a", "1"), answer("a", "2"), answer("a_2", "3")])

    assert shape(mended.messages) == [
        ("assistant", "a", "a_2"),
        ("tool", "a"),
        ("tool", "a_2"),
        ("assistant", "a_2_2"),
        ("tool", "a_2_2"),
    ]
    assert [message.text for message in mended.messages if message.results] == ["1", "2", "3"]


def test_a_call_without_an_id_gets_one_and_keeps_its_result():
    mended = mend([asks("", ""), answer("", "1"), answer("", "2")])

    assert shape(mended.messages) == [("assistant", "call", "call_2"), ("tool", "call"), ("tool", "call_2")]


def test_a_second_result_for_a_call_is_removed_and_reported():
    mended = mend([asks("a"), answer("a", "1"), answer("a", "x" * 50)])

    assert [message.text for message in mended.messages] == ["", "1"]
    assert mended.repairs == (
        f"message 2: the result of call 'a' removed, its call has a result already: '{'x' * 40}…'",
    )


def test_an_empty_text_beside_a_call_is_left_out():
    """SEG-10."""
    mended = mend([user("t"), Message(role="assistant", parts=(Text(text=""), call("a"))), answer("a")])

    assert mended.messages[1].parts == (call("a"),)
    assert mended.repairs == ("message 1: an empty text of the assistant message left out",)


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
@pytest.mark.parametrize("parts", [(), (Text(text=""),)])
def test_a_message_with_nothing_in_it_is_removed_and_reported(role, parts):
    mended = mend([user("t"), Message(role=role, parts=parts)])

    assert mended.messages == (user("t"),)
    assert mended.repairs[-1] == f"message 1: the {role} message removed: nothing is in it"


def test_no_turn_is_left_holding_only_thinking():
    """SEG-12: the call was cut out of a turn and its signed thinking stayed."""
    thought = Thinking(text="p", signature="c2ln")
    mended = mend(
        [user("t"), Message(role="assistant", parts=(thought,)), answer("a"), assistant("done"), user("more")]
    )

    assert [message.role for message in mended.messages] == ["user", "assistant", "user"]
    assert mended.repairs == (
        "message 1: the assistant message removed: it held thinking alone: 'p'",
        "message 2: the result of call 'a' removed, no call before it asked for it: 'ok'",
    )


def test_a_removed_result_says_how_many_images_go_with_it():
    lost = ToolResult(call_id="a", text="see", images=(Image(url="u"), Image(url="v")))

    assert mend([tool(lost)]).repairs == (
        "message 0: the result of call 'a' removed, no call before it asked for it: 'see' and 2 images",
    )


def test_an_image_of_a_system_message_leaves_a_line_of_text_and_is_said():
    mended = mend([Message(role="system", parts=(Text(text="s"), Image(url="u")))])

    assert mended.messages[0].text == "s\n[image left out: a system message holds text alone]"
    assert mended.repairs == ("message 0: an image of the system message left out: it holds text alone",)


def test_repairs_name_the_positions_that_were_given():
    """Of a format that puts several results into one message."""
    mended = mend([asks("a"), answer("a"), answer("b"), answer("c")], positions=[0, 1, 1, 2])

    assert [line.partition(":")[0] for line in mended.repairs] == ["message 1", "message 2"]
    assert mended.positions == (0, 1)


def test_thinking_stays_byte_for_byte_with_its_turn():
    thought = Thinking(text=" p\n", signature="c2ln")
    asked = Message(role="assistant", parts=(thought, Text(text=""), Thinking(redacted="cg=="), call("a")))

    assert mend([asked]).messages[0].parts == (thought, Thinking(redacted="cg=="), call("a"))


def test_neighbours_of_one_role_are_left_alone():
    """SEG-13: joining them is a provider's option, not a repair."""
    history = (user("first"), user("second"), assistant("a"), assistant("b"), user("q"))

    assert mend(history).messages == history


def test_calls_at_the_very_end_may_stay_open():
    history = [user("t"), asks("a", "b", "c"), answer("b")]

    assert shape(mend(history, still_open=True).messages)[1:] == [("assistant", "a", "b", "c"), ("tool", "b")]
    assert violations(history, still_open=True) == ()
    assert len(mend(history).messages) == 5
    assert violations(history) == (
        "message 2: the result of call 'a' (look) should stand before it",
        "end: the result of call 'c' (look) is missing",
    )


def test_calls_that_something_follows_are_never_open():
    history = [asks("a"), user("go on")]

    assert mend(history, still_open=True).messages[1].text == LOST
    assert violations(history, still_open=True) == (
        "message 1: the result of call 'a' (look) should stand before it",
    )


def test_a_gap_in_an_earlier_turn_is_illegal_whatever_may_stay_open():
    history = [asks("a", "b"), answer("b"), user("go on"), asks("c")]

    said = ("message 1: the result of call 'a' (look) should stand before it",)
    assert violations(history, still_open=True) == said


def test_results_inside_a_user_message_are_set_apart_and_its_words_stay():
    """The Anthropic way, built by hand: one user message with results and text."""
    mixed = Message(role="user", parts=(Text(text="see"), ToolResult(call_id="a", text="1")), step=3)
    mended = mend([asks("a"), mixed])

    assert [(message.role, message.text, message.trust) for message in mended.messages[1:]] == [
        ("tool", "1", "outside"),
        ("user", "see", "owner"),
    ]
    assert mended.messages[1].step == 3


def test_several_results_in_one_tool_message_become_one_message_each():
    both = Message(role="tool", parts=(ToolResult(call_id="a", text="1"), ToolResult(call_id="b", text="2")))

    assert shape(mend([asks("a", "b"), both]).messages)[1:] == [("tool", "a"), ("tool", "b")]
    assert violations([asks("a", "b"), both]) == ("message 1: 2 results in one message",)


def test_a_result_beside_its_own_call_is_set_behind_it():
    mended = mend([Message(role="assistant", parts=(call("a"), ToolResult(call_id="a", text="1")))])

    assert shape(mended.messages) == [("assistant", "a"), ("tool", "a")]
    assert mended.messages[1].text == "1"


def test_text_in_a_tool_message_stays_as_outside_text():
    stray = Message(
        role="tool", parts=(Text(text="see also"), Image(url="u")), source="look", trust="outside"
    )
    mended = mend([asks("a"), answer("a"), stray])

    assert [(message.role, message.trust) for message in mended.messages] == [
        ("assistant", "agent"),
        ("tool", "outside"),
        ("user", "outside"),
    ]


def test_calls_and_thinking_of_anyone_but_the_model_are_removed_and_reported():
    mended = mend([Message(role="user", parts=(call("a"), Thinking(text="p"), Text(text="t"))), answer("a")])

    assert [message.text for message in mended.messages] == ["t"]
    assert mended.repairs == (
        "message 0: call 'a' (look) removed: a message of role user cannot hold it: '{}'",
        "message 0: thinking removed: a message of role user cannot hold it: 'p'",
        "message 1: the result of call 'a' removed, no call before it asked for it: 'ok'",
    )


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ([answer("a")], "message 0: nobody asked for the result of call 'a' here"),
        ([asks("a"), user("x"), answer("a")], "message 2: nobody asked for the result of call 'a' here"),
        (
            [asks("a", "b"), answer("b"), answer("a")],
            "message 2: nobody asked for the result of call 'a' here",
        ),
        ([asks("a"), answer("a"), answer("a")], "message 2: nobody asked for the result of call 'a' here"),
        (
            [asks("a", "a"), answer("a"), answer("a")],
            "message 0: the call ids ['a', 'a'] are empty or come twice",
        ),
        ([asks("a")], "end: the result of call 'a' (look) is missing"),
        ([Message(role="user", parts=())], "message 0: no part"),
        ([user("")], "message 0: empty text"),
        ([Message(role="assistant", parts=(Thinking(text="p"),))], "message 0: thinking alone"),
        ([Message(role="user", parts=(call("a"),))], "message 0: call in a message of role user"),
        ([Message(role="tool", parts=(Text(text="t"),))], "message 0: text in a message of role tool"),
    ],
)
def test_every_kind_of_violation_is_named_with_its_position(history, said):
    assert said in violations(history)


@quick
@given(TANGLES, st.booleans())
def test_what_is_mended_is_legal(history, still_open):
    assert violations(mend(history, still_open=still_open).messages, still_open=still_open) == ()


@quick
@given(TANGLES, st.booleans())
def test_mending_again_changes_nothing(history, still_open):
    once = mend(history, still_open=still_open)
    twice = mend(once.messages, still_open=still_open)

    assert twice.repairs == ()
    assert all(one is other for one, other in zip(once.messages, twice.messages, strict=True))


@quick
@given(HISTORIES)
def test_a_legal_history_needs_no_repair(history):
    assert violations(history) == ()
    assert mend(history).repairs == ()


@quick
@given(TANGLES)
def test_nothing_is_dropped_in_silence(history):
    """What is missing afterwards is as much as the repairs say, part by part."""
    mended = mend(history)

    def count(messages, kind):
        return sum(isinstance(part, kind) for message in messages for part in message.parts)

    def said(pattern):
        return sum(bool(re.search(pattern, line)) for line in mended.repairs)

    lost = count(history, ToolResult) - (count(mended.messages, ToolResult) - said("has no result; an error"))
    assert lost == said("the result of call .* removed")
    assert count(history, ToolCall) - count(mended.messages, ToolCall) == said(
        r": call .* removed: a message"
    )
    pictures = said("an image of the system message")  # each leaves a line of text
    assert count(history, Text) - count(mended.messages, Text) == said("an empty text") - pictures
    assert count(history, Image) - count(mended.messages, Image) == pictures
    if not said("thinking"):
        assert count(history, Thinking) == count(mended.messages, Thinking)


@quick
@given(TANGLES, st.booleans())
def test_every_text_is_in_the_history_or_named_in_the_repairs_and_never_both(history, still_open):
    history, marks = marked(history)
    mended = mend(history, still_open=still_open)
    kept, said = "".join(texts(mended.messages)), "".join(mended.repairs)

    assert [mark for mark in marks if (mark in kept) == (mark in said)] == []
    assert [mark for mark in marks if kept.count(mark) > 1] == []


@quick
@given(TANGLES)
def test_order_is_kept_and_only_results_move(history):
    history, marks = marked(history)
    mended = mend(history).messages
    rest = [text for text in texts(m for m in mended if m.role != "tool") if text in set(texts(history))]
    numbers = [marks.index(re.search("«\\d+»", text)[0]) for text in rest if "«" in text]

    assert numbers == sorted(numbers)


@quick
@given(TANGLES)
def test_positions_say_which_message_of_the_input_each_came_from(history):
    history, _ = marked(history)
    mended = mend(history)

    for position, message in zip(mended.positions, mended.messages, strict=True):
        here = set(texts([history[position]]))
        assert all(text in here for text in texts([message]) if text.startswith("«"))


@quick
@given(TANGLES, st.lists(st.integers(0, 9), max_size=3))
def test_a_history_fed_piece_by_piece_is_the_history_mended_as_a_whole(history, cuts):
    history, _ = marked(history)
    mending, fed, said = Mending(), [], []
    bounds = sorted({0, len(history), *(cut for cut in cuts if cut < len(history))})
    for start, end in pairwise(bounds):
        mended = mending.take(history[start:end])
        fed += mended.messages
        said += mended.repairs

    whole = mend(history)
    assert mend(fed).messages == whole.messages
    moved = [line for line in whole.repairs if " moved " not in line and "has no result" not in line]
    assert said == moved


def test_a_result_fed_alone_gets_its_calls_id_and_name():
    mending = Mending()
    mending.take([asks("a", "a")])
    first, second = (tool(ToolResult(call_id="a", text=text)) for text in "12")

    assert mending.take([first]).messages == (
        replace(first, source="look", parts=(ToolResult(call_id="a", name="look", text="1"),)),
    )
    assert mending.take([second]).messages[0].results[0].call_id == "a_2"
    assert mending.take([second]).repairs == (
        "message 3: the result of call 'a' removed, its call has a result already: '2'",
    )


@quick
@given(TANGLES)
def test_repairs_are_single_lines_in_order_of_position(history):
    repairs = mend(history).repairs

    assert all(re.fullmatch(r"message \d+: .+", line) for line in repairs)
    positions = [int(line.split()[1][:-1]) for line in repairs]
    assert positions == sorted(positions)


@quick
@given(
    st.lists(
        st.one_of(st.lists(st.sampled_from("ab"), min_size=1, max_size=2), st.sampled_from("ab")), max_size=12
    )
)
def test_pairing_is_that_of_the_plain_rule(steps):
    """Against the rule written out: walk back from a result to the nearest open call with its id."""
    history, open_calls, expected = [], [], {}
    for number, step in enumerate(steps):
        if isinstance(step, list):
            history.append(asks(*step))
            open_calls = [*([(number, index, call_id) for index, call_id in enumerate(step)]), *open_calls]
            continue
        history.append(answer(step, text=f"result {number}"))
        found = next((one for one in open_calls if one[2] == step), None)
        if found:
            open_calls.remove(found)
            expected[found[:2]] = f"result {number}"

    mended = mend(history).messages
    turns = [number for number, step in enumerate(steps) if isinstance(step, list)]
    starts = [at for at, message in enumerate(mended) if message.calls]
    actual = {
        (turn, index): mended[start + 1 + index].text
        for turn, start in zip(turns, starts, strict=True)
        for index in range(len(mended[start].calls))
    }
    assert {key: text for key, text in actual.items() if text != LOST} == expected


@quick
@given(HISTORIES, st.data())
def test_a_history_that_lost_a_message_of_a_turn_is_noticed(history, data):
    turns = [at for at, message in enumerate(history) if message.role == "tool" or message.calls]
    if not turns:
        return
    at = data.draw(st.sampled_from(turns))

    assert violations([*history[:at], *history[at + 1 :]]) != ()
