"""Reasoning details and extras: what only its own server can read comes back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.messages import Thinking, ToolCall, assistant, clean
from ethang_nb.formats import details, extras, openai

_WORDS = st.text(max_size=6).map(clean)
_MORE = st.fixed_dictionaries(
    {}, optional={"id": _WORDS.filter(bool), "format": st.sampled_from(("unknown", "openai-responses-v1"))}
)
_ITEMS = st.one_of(
    st.builds(lambda text: {"type": "reasoning.text", "text": text}, _WORDS),
    st.builds(
        lambda text: {"type": "reasoning.text", "text": text, "signature": "c2ln"},
        _WORDS,
    ),
    st.builds(lambda text: {"type": "reasoning.summary", "summary": text}, _WORDS.filter(bool)),
    st.builds(lambda data: {"type": "reasoning.encrypted", "data": data}, _WORDS.filter(bool)),
)


@given(item=_ITEMS, more=_MORE)
def test_an_item_goes_back_as_it_came(item, more):
    assert {**item, **more} == details.detail_of(details.thinking_of(item | more))


def test_what_needs_no_more_than_text_and_signature_is_kept_as_that():
    usual = {
        "type": "reasoning.text",
        "text": "a",
        "signature": "s",
        "format": "anthropic-claude-v1",
        "index": 3,
    }

    assert Thinking(text="a", signature="s") == details.thinking_of(usual | {"id": None})
    assert Thinking(redacted="d") == details.thinking_of({"type": "reasoning.encrypted", "data": "d"})


def test_thinking_from_elsewhere_becomes_an_item():
    assert {"type": "reasoning.text", "text": "a"} == details.detail_of(Thinking(text="a"))
    assert {"type": "reasoning.encrypted", "data": "{d"} == details.detail_of(Thinking(redacted="{d"))


@pytest.mark.parametrize("field", [None, "reasoning_content", "reasoning_details"])
def test_an_extra_goes_with_the_call_behind_it_and_is_no_thinking(field):
    extra = extras.thinking_with({"google": {"thought_signature": "c2ln"}})
    made = (ToolCall(id="a", name="look"), extra, ToolCall(id="b", name="look"))
    wire = openai.write([assistant(calls=made)], reasoning_field=field)

    assert [False, True] == ["extra_content" in call for call in wire.messages[0]["tool_calls"]]
    assert not wire.messages[0].get(field or "")
    assert not any("thinking" in line for line in wire.repairs)
