"""Messages and tools in any known shape."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    system,
    to_json,
    tool,
    user,
)
from ethang_nb.context.pairing import mend
from ethang_nb.errors import BadMessage
from ethang_nb.formats import anthropic, openai
from ethang_nb.formats.detect import reading, to_messages, to_tools
from tests.formats.histories import HISTORIES

quick = settings(max_examples=60, deadline=None)


@dataclass
class Sdk:
    """An object as the official SDKs hand them out: fields behind attributes, a dict behind `model_dump`."""

    data: dict

    def __getattr__(self, name):
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(name) from None

    def model_dump(self):
        return self.data


OPENAI_CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "b", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "b", "content": "2"}
SCHEMA = {"type": "object", "properties": {}}


def test_a_mixed_list_is_read_item_by_item():
    read = to_messages(
        [
            system("s"),
            {"role": "user", "content": "t"},
            {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [RESULT, {"type": "text", "text": "go on"}]},
            to_json(assistant("done")),
        ]
    )

    assert read == (
        system("s"),
        user("t"),
        assistant("", [ToolCall(id="a", name="look")]),
        tool(ToolResult(call_id="a", name="look", text="1")),
        assistant("", [ToolCall(id="b", name="look")]),
        tool(ToolResult(call_id="b", name="look", text="2")),
        user("go on"),
        assistant("done"),
    )


@pytest.mark.parametrize(
    "single", [user("t"), {"role": "user", "content": "t"}, Sdk({"role": "user", "content": "t"})]
)
def test_a_single_message_works_too(single):
    assert to_messages(single) == to_messages([single]) == to_messages(iter([single])) == (user("t"),)


def test_no_messages_are_no_messages():
    assert to_messages([]) == ()


def test_a_message_that_mixes_both_shapes_loses_nothing():
    """A proxy's history: Anthropic's signed thinking beside OpenAI's tool_calls."""
    thought = {"type": "thinking", "thinking": "p", "signature": "c2ln"}
    item = {
        "role": "assistant",
        "content": [thought, {"type": "text", "text": "x"}],
        "tool_calls": [OPENAI_CALL],
    }

    assert to_messages(item)[0].parts == (
        Thinking(text="p", signature="c2ln"),
        Text(text="x"),
        ToolCall(id="a", name="look"),
    )


def test_objects_of_the_sdks_are_read_like_their_dicts():
    """`messages.append(response.choices[0].message)` and `{"content": response.content}` are how loops are written."""
    openai_message = Sdk({"role": "assistant", "content": None, "refusal": None, "tool_calls": [OPENAI_CALL]})
    mixed = {"role": "assistant", "content": None, "tool_calls": [Sdk(OPENAI_CALL)]}
    anthropic_message = Sdk(
        {"type": "message", "role": "assistant", "content": [USE], "stop_reason": "tool_use"}
    )
    blocks = {"role": "assistant", "content": [Sdk(USE)]}

    read = to_messages([openai_message, mixed, anthropic_message, blocks])

    assert [message.calls for message in read] == [
        (ToolCall(id="a", name="look"),),
        (ToolCall(id="a", name="look"),),
        (ToolCall(id="b", name="look"),),
        (ToolCall(id="b", name="look"),),
    ]


def test_our_own_messages_come_through_as_the_same_objects():
    nameless = tool(ToolResult(call_id="a", text="1"))
    history = [assistant("", [ToolCall(id="a", name="look")]), nameless]

    assert all(one is other for one, other in zip(history, to_messages(history), strict=True))


def test_our_own_messages_are_cleaned_where_they_enter():
    dirty = Message(role="user", parts=(Text(text="a\ud83d\x00"),))

    assert to_messages(dirty)[0].text == "a\ufffd\u2400"


def test_images_inside_a_result_of_ours_are_cleaned_too():
    dirty = tool(ToolResult(call_id="a", images=(Image(url="u\ud83d"),)))

    assert to_messages(dirty)[0].results[0].images == (Image(url="u\ufffd"),)


def test_each_message_names_the_item_it_was_read_from():
    mixed = {"role": "user", "content": [RESULT, {"type": "text", "text": "go on"}]}
    read = reading([user("t"), {"role": "assistant", "content": [USE]}, mixed, user("x")])

    assert read.positions == (0, 1, 2, 2, 3)
    assert [message.role for message in read.messages] == ["user", "assistant", "tool", "user", "user"]


@pytest.mark.parametrize("name", ["images", "files", "experimental_attachments", "reasoning_text"])
def test_a_field_with_content_that_nobody_knows_is_named(name):
    read = reading([user("t"), {"role": "user", "content": "see", name: ["AAAA"]}])

    assert read.messages == (user("t"), user("see"))
    assert read.unread == ((1, f"its field {name!r} is not read"),)


def test_what_is_said_about_a_message_is_no_content():
    about = {
        "id": "m",
        "usage": {"input_tokens": 9},
        "stop_reason": "end_turn",
        "annotations": [{}],
        "model": "x",
    }
    empty = {"images": [], "files": None, "seen": True, "score": 0.5, "note": ""}

    assert reading({"role": "assistant", "content": "x", **about, **empty}).unread == ()
    assert reading([user("t"), to_json(assistant("x"))]).unread == ()


def test_a_result_read_from_a_dict_is_named_after_a_call_of_ours():
    history = [
        assistant("", [ToolCall(id="a", name="look")]),
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]

    assert to_messages(history)[1].results[0].name == "look"


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ("hello", "input: 'hello' is not a message"),
        (None, "input: None is not a message"),
        (7, "input: 7 is not a message"),
        ([user("t"), "hello"], "message 1: 'hello' is not a message"),
        ([{"choices": []}], "message 0: this is a whole response; pass its .choices[0].message"),
        ([{"messages": []}], "message 0: this is a whole request; pass its 'messages'"),
        (
            [{"role": "user", "parts": [{"text": "hi"}]}],
            "message 0: parts: [{'text': 'hi'}] is not a list of parts",
        ),
        (
            [{"role": "model", "parts": []}],
            "message 0: role: 'model' is not one of system, user, assistant, tool",
        ),
        ([{"type": "text", "text": "x"}], "message 0: role: None is not one of"),
    ],
)
def test_what_is_no_message_is_named_in_one_line(items, said):
    with pytest.raises(BadMessage) as caught:
        to_messages(items)

    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_tools_in_any_shape_read_alike():
    spec = ToolSpec(name="look", description="d", parameters=SCHEMA)
    bare = {"name": "look", "description": "d"}

    assert (
        to_tools(
            [
                spec,
                {"type": "function", "function": {**bare, "parameters": SCHEMA}},
                {"type": "function", **bare, "parameters": SCHEMA},
                {**bare, "parameters": SCHEMA},
                {**bare, "input_schema": SCHEMA},
                Sdk({"type": "custom", **bare, "input_schema": SCHEMA}),
            ]
        )
        == (spec,) * 6
    )
    assert to_tools(spec) == to_tools({**bare, "input_schema": SCHEMA}) == (spec,)


def test_a_tool_in_no_known_shape_is_named():
    with pytest.raises(BadMessage, match=r"^tool 1: type: 'web_search_20250305' is not 'function'"):
        to_tools([ToolSpec(name="look"), {"type": "web_search_20250305", "name": "web_search"}])


@quick
@given(HISTORIES)
def test_what_either_format_writes_is_told_apart(history):
    wire = anthropic.to_wire(history)

    assert to_messages(openai.to_wire(history)) == openai.read(openai.to_wire(history))
    assert to_messages(wire.messages) == anthropic.read(wire.messages)
    assert to_messages(history) == tuple(history)
    assert mend(to_messages([to_json(message) for message in history])).messages == tuple(history)
