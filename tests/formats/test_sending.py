"""What is sent in a caller's shape, and what is said of it."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.messages import Message, Text, Thinking, ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.pairing import violations
from ethang_nb.formats.sending import Sender, write
from tests.formats.histories import HISTORIES, TANGLES
from tests.formats.wire_rules import anthropic_faults, openai_faults

THOUGHT = Thinking(text="p", signature="c2ln")
ALONE = Message(role="assistant", parts=(THOUGHT,))
WAITING = assistant("", [ToolCall(id="a", name="look")])


@pytest.mark.parametrize("shape", ["ethang", "openai", "anthropic"])
def test_a_history_need_not_be_legal_and_every_change_is_said(shape):
    sending = write([user("t"), ALONE, user("go on"), WAITING], shape, None)

    faults = {
        "ethang": violations,
        "openai": openai_faults,
        "anthropic": lambda wire: anthropic_faults([], wire),
    }
    assert list(faults[shape](sending)) == []
    assert sending.repairs == (
        "message 1: the assistant message removed: it held thinking alone: 'p'",
        "message 3: call 'a' (look) has no result; an error result says so",
    )


@pytest.mark.parametrize(("shape", "said"), [("ethang", 0), ("openai", 1), ("anthropic", 0)])
def test_what_a_shape_has_no_place_for_is_said(shape, said):
    sending = write([user("t"), Message(role="assistant", parts=(THOUGHT, Text(text="x")))], shape, None)

    assert len(sending.repairs) == said


@pytest.mark.parametrize("shape", ["ethang", "openai", "anthropic"])
def test_what_is_sent_as_it_is_says_nothing(shape):
    assert write([user("t"), assistant("x")], shape, None).repairs == ()


# ---- Sender

SHAPES = st.sampled_from(["ethang", "openai", "anthropic", "responses"])


def segments_of(messages, source):
    """The messages as segments: a turn with its results mostly, and now and then parted anywhere."""
    found = []
    for message in messages:
        if found and (message.role == "tool" if source.random() < 0.9 else source.random() < 0.5):
            found[-1] += (message,)
        else:
            found.append((message,))
    return found


def alike(sending, other):
    return (list(sending), sending.system, sending.repairs) == (list(other), other.system, other.repairs)


@given(
    messages=st.one_of(TANGLES, HISTORIES),
    source=st.randoms(use_true_random=False),
    shape=SHAPES,
    others=st.lists(SHAPES, max_size=2),
)
def test_a_request_written_segment_by_segment_is_the_one_written_whole(messages, source, shape, others):
    sender, segments = Sender(), segments_of(messages, source)
    for upto, chosen in (
        (len(segments) // 2, shape),
        *((len(segments), other) for other in (*others, shape)),
    ):
        sent = sender.send(segments[:upto], chosen, None)
        flat = [message for segment in segments[:upto] for message in segment]
        assert alike(sent, write(flat, chosen, None))


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses"])
def test_what_a_caller_changes_in_a_request_is_not_in_the_next(shape):
    call = ToolCall(id="a", name="look", arguments='{"where": {"path": ["x"]}}')
    segments = [
        (user("t"),),
        (assistant("I look.", [call]), tool(ToolResult(call_id="a", name="look", text="seen"))),
    ]
    sender = Sender()
    first = sender.send(segments, shape, None)
    kept = copy.deepcopy(list(first))

    def spoil(value):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, dict | list):
                spoil(inner)
        value.clear()

    for item in first:
        spoil(item)
    assert list(sender.send(segments, shape, None)) == kept


def test_calls_of_two_turns_that_came_with_one_id_are_named_apart_each_time():
    turns = [
        (assistant("", [ToolCall(id="call_0", name="look")]), tool(ToolResult(call_id="call_0", text=text)))
        for text in ("one", "two")
    ]
    sender = Sender()
    for _ in range(2):
        sent = sender.send(turns, "openai", None)
        assert [item["tool_call_id"] for item in sent if item["role"] == "tool"] == ["call_0", "call_0_2"]


def test_answers_with_the_same_words_are_items_with_ids_of_their_own():
    segments = [(user("t"),), (assistant("ok"),), (user("t"),), (assistant("ok"),)]
    sent = Sender().send(segments, "responses", None)
    assert len({item["id"] for item in sent if "id" in item}) == 2
    assert list(sent) == list(write([message for (message,) in segments], "responses", None))


def test_arguments_nested_as_deep_as_json_allows_are_sent():
    deep = '{"a":' * 600 + "{}" + "}" * 600
    turn = (
        assistant("", [ToolCall(id="a", name="look", arguments=deep)]),
        tool(ToolResult(call_id="a", text="x")),
    )
    sent = Sender().send([turn], "anthropic", None)
    assert list(sent) == list(write(turn, "anthropic", None))
