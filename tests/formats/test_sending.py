"""What is sent in a caller's shape, and what is said of it."""

import pytest

from ethang_nb.context.messages import Message, Text, Thinking, ToolCall, assistant, user
from ethang_nb.context.pairing import violations
from ethang_nb.formats.sending import write
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
