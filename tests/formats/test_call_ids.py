"""Call ids: filled in on the way in, unique on the way out."""

import re

from hypothesis import given, settings

from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool
from ethang_nb.context.pairing import mend, violations
from ethang_nb.formats.call_ids import filled, sendable
from tests.formats.histories import TANGLES

quick = settings(max_examples=100, deadline=None)


def asks(*ids, name="look"):
    return assistant("", [ToolCall(id=call_id, name=name) for call_id in ids])


def answer(call_id="", name=""):
    return tool(ToolResult(call_id=call_id, name=name))


def answered(messages):
    return [(result.call_id, result.name) for message in messages for result in message.results]


def test_calls_without_ids_are_numbered_within_their_message():
    assert [call.id for call in filled([asks("", "x", "")])[0].calls] == ["call_0", "x", "call_2"]


def test_a_result_without_an_id_answers_the_first_open_call_of_its_name():
    calls = assistant(
        "", [ToolCall(id="a", name="look"), ToolCall(id="b", name="write"), ToolCall(id="c", name="look")]
    )

    read = filled([calls, answer(name="write"), answer(), answer(name="look")])

    assert answered(read) == [("b", "write"), ("a", "look"), ("c", "look")]


def test_a_result_is_named_after_the_nearest_open_call_with_its_id():
    read = filled([asks("x", name="look"), answer("x"), asks("x", name="write"), answer("x"), answer("x")])

    assert answered(read) == [("x", "look"), ("x", "write"), ("x", "")]
    assert [message.source for message in read if message.role == "tool"] == ["look", "write", ""]


def test_messages_that_are_given_stay_and_their_calls_are_known():
    history = [asks("a"), answer("a"), asks("b"), answer("b")]

    read = filled(history, given={0, 1, 2})

    assert all(one is other for one, other in zip(history[:3], read, strict=False))
    assert answered(read)[1] == ("b", "look")


def test_ids_that_are_legal_and_unique_stay_the_same_objects():
    history = [asks("a", "b"), answer("a"), answer("b")]

    assert all(one is other for one, other in zip(history, sendable(history, longest=40), strict=True))


def test_a_name_made_up_for_one_turn_is_not_taken_by_a_real_one():
    history = [asks("a"), answer("a"), asks("a"), answer("a"), asks("a_2"), answer("a_2")]

    assert [call_id for call_id, _ in answered(sendable(history, longest=40))] == ["a", "a_2", "a_2_2"]


def test_many_turns_with_one_id_are_renamed_quickly():
    history = [message for _ in range(5_000) for message in (asks("x"), answer("x"))]

    assert len({call_id for call_id, _ in answered(sendable(history, longest=40))}) == 5_000


@quick
@given(TANGLES)
def test_every_id_that_is_sent_is_legal_unique_and_still_paired(history):
    sent = sendable(mend(history).messages, longest=40, other=re.compile("[^a-z0-9_]"))
    ids = [call.id for message in sent for call in message.calls]

    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z0-9_]{1,40}", call_id) for call_id in ids)
    assert violations(sent) == ()


@quick
@given(TANGLES)
def test_what_was_sent_once_is_sent_with_the_same_ids_when_the_history_grows(history):
    legal = mend(history).messages
    whole = sendable(legal, longest=40)

    for end in range(len(legal)):
        assert sendable(legal[:end], longest=40) == whole[:end]
