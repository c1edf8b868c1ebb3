from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    clean,
    from_json,
    to_json,
    tool,
    user,
)

texts = st.text(max_size=30)
parts = st.one_of(
    st.builds(Text, text=texts),
    st.builds(Image, media_type=texts, data=texts, url=texts),
    st.builds(Thinking, text=texts, signature=texts, redacted=texts),
    st.builds(ToolCall, id=texts, name=texts, arguments=texts),
    st.builds(
        ToolResult, call_id=texts, name=texts, text=texts, error=st.booleans(), address=texts,
        again=st.sampled_from(["read", "run", "lost"]), paged=st.booleans(),
        images=st.lists(st.builds(Image, url=texts), max_size=2).map(tuple),
    ),
)  # fmt: skip
messages = st.builds(
    Message, role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=3).map(tuple), source=texts,
    trust=st.sampled_from(["owner", "agent", "outside"]), step=st.none() | st.integers(0, 9),
    kind=st.sampled_from(["message", "nudge", "note", "pin"]),
)  # fmt: skip


@given(messages)
def test_a_message_survives_json_exactly(message):
    assert message == from_json(json.loads(json.dumps(to_json(message))))


def test_text_is_cleaned_of_lone_surrogates_and_nul():
    assert "a\ufffdb\u2400c\U0001f600" == clean("a\ud83db\x00c\U0001f600")


def test_the_hash_leaves_call_ids_out_and_nothing_else():
    first = assistant("look", [ToolCall(id="1", name="read", arguments="{}")])
    assert first.hash == assistant("look", [ToolCall(id="other", name="read", arguments="{}")]).hash
    assert first.hash != assistant("look", [ToolCall(id="1", name="read", arguments='{"a":1}')]).hash
    assert user("a").hash != user("b").hash
    assert (
        tool(ToolResult(call_id="1", text="x")).hash
        != tool(ToolResult(call_id="1", text="x", error=True)).hash
    )


def test_a_message_of_a_lone_surrogate_can_be_hashed():
    assert 16 == len(Message(role="user", parts=(Text(text="\ud800"),)).hash)
