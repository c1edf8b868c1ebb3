"""OpenAI Chat Completions to ours and back."""

import json
from dataclasses import replace
from itertools import pairwise

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
    tool,
    user,
)
from ethang_nb.context.pairing import LOST, mend
from ethang_nb.errors import BadMessage
from ethang_nb.formats import openai
from ethang_nb.formats.parts import FAILED
from tests.formats.histories import HISTORIES, TANGLES, marked
from tests.formats.wire_rules import openai_faults

quick = settings(max_examples=120, deadline=None)


def call(call_id, name="look", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*ids, **fields):
    return {"role": "assistant", "content": None, "tool_calls": [call(call_id) for call_id in ids], **fields}


def answer(call_id, content="r"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_each_role_is_read_with_its_source_and_trust():
    read = openai.read(
        [
            {"role": "system", "content": "s"},
            {"role": "developer", "content": "d"},
            {"role": "user", "content": "t", "name": "alice"},
            asks("a"),
            answer("a"),
        ]
    )

    assert [(message.role, message.source, message.trust) for message in read] == [
        ("system", "system", "owner"),
        ("system", "developer", "owner"),
        ("user", "name:alice", "owner"),
        ("assistant", "model", "agent"),
        ("tool", "look", "outside"),
    ]
    assert read[4].results == (ToolResult(call_id="a", name="look", text="r"),)


@pytest.mark.parametrize("content", [{"content": None}, {"content": ""}, {"content": []}, {}])
def test_no_content_beside_calls_is_no_content_however_it_is_spelled(content):
    """PRV-10: null, missing and "" are equivalent when calls exist, and the call is kept."""
    item = {"role": "assistant", "tool_calls": [call("a")], **content}
    history = [{"role": "user", "content": "t"}, item, answer("a")]

    read = openai.read(history)

    assert read[1] == assistant("", [ToolCall(id="a", name="look")])
    assert openai.to_wire(read) == [history[0], asks("a"), history[2]]


def test_a_refusal_is_kept_as_text_and_goes_out_as_a_refusal():
    """IMP-04."""
    history = [
        {"role": "user", "content": "t"},
        asks("a"),
        answer("a"),
        {"role": "assistant", "refusal": "no", "content": None},
    ]

    read = openai.read(history)

    assert (read[3].text, read[3].source) == ("no", "refusal")
    assert openai.to_wire(read)[3]["content"] == [{"type": "refusal", "refusal": "no"}]
    assert openai.read(openai.to_wire(read)) == read


def test_null_never_becomes_the_word_none():
    """IMP-07: the old function_call pair is one turn with a made-up, stable id."""
    history = [
        {"role": "user", "content": "t"},
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "r"},
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": None},
    ]

    read = openai.read(history)

    assert "None" not in str([message.text for message in read])
    assert [part for message in read for part in message.parts if not isinstance(part, Text)] == [
        ToolCall(id="function_look", name="look"),
        ToolResult(call_id="function_look", name="look", text="r"),
        ToolCall(id="function_look", name="look"),
        ToolResult(call_id="function_look", name="look", text=""),
    ]
    assert mend(read).repairs == ()
    wire = openai.to_wire(read)
    assert [message.get("tool_call_id") for message in wire[2::2]] == ["function_look", "function_look_2"]
    assert "None" not in json.dumps(wire)


def test_the_old_pair_is_paired_even_when_its_messages_are_read_one_by_one():
    one, other = (
        openai.read([item])[0]
        for item in (
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
            {"role": "function", "name": "look", "content": "r"},
        )
    )

    assert one.calls[0].id == other.results[0].call_id


def test_calls_and_results_without_ids_are_paired_in_order():
    calls = [
        {"type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("look", "write")
    ]
    results = [{"role": "tool", "content": "1"}, {"role": "tool", "content": "2", "tool_call_id": None}]

    read = openai.read([{"role": "assistant", "tool_calls": calls}, *results])

    assert [message.results[0].name for message in read[1:]] == ["look", "write"]
    assert mend(read).repairs == ()


def test_parallel_results_stay_in_call_order_right_behind_their_call():
    """SEG-07 and its kind: spread and out of order on the way in."""
    history = openai.read(
        [asks("a", "b"), answer("b", "2"), {"role": "user", "content": "x"}, answer("a", "1")]
    )

    wire = openai.to_wire(history)

    assert [message.get("content") for message in wire] == [None, "1", "2", "x"]
    assert openai_faults(wire) == []


def test_an_id_used_again_is_renamed_in_its_own_turn_only():
    """SEG-09."""
    turn = [asks("http"), answer("http", "one")]
    read = openai.read([{"role": "user", "content": "t"}, *turn, asks("http"), answer("http", "two")])

    wire = openai.to_wire(read)

    assert [message["tool_calls"][0]["id"] for message in wire if "tool_calls" in message] == [
        "http",
        "http_2",
    ]
    assert [(m["tool_call_id"], m["content"]) for m in wire if m["role"] == "tool"] == [
        ("http", "one"),
        ("http_2", "two"),
    ]
    assert [message.results[0].call_id for message in read if message.results] == ["http", "http"]


def test_ids_the_api_calls_too_long_are_cut_and_stay_unique():
    long, other = "x" * 60 + "a", "x" * 60 + "b"
    wire = openai.to_wire(openai.read([asks(long, other), answer(long, "1"), answer(other, "2")]))

    ids = [one["id"] for one in wire[0]["tool_calls"]]
    assert ids == ["x" * 40, "x" * 38 + "_2"]
    assert [(message["tool_call_id"], message["content"]) for message in wire[1:]] == list(
        zip(ids, "12", strict=True)
    )


def test_a_history_that_grows_keeps_the_messages_it_had():
    """Renaming looks back only, so the cached prefix of a request survives."""
    items = [
        asks("a"),
        answer("a"),
        asks("a"),
        answer("a"),
        asks("a_2"),
        answer("a_2"),
        asks("a"),
        answer("a"),
    ]

    whole = openai.to_wire(openai.read(items))

    for end in range(0, len(items), 2):
        assert openai.to_wire(openai.read(items[:end])) == whole[:end]


def test_calls_without_a_result_are_sent_with_one_that_says_so():
    """SEG-06."""
    wire = openai.to_wire(
        openai.read([asks("a", "b"), answer("b", "2"), {"role": "user", "content": "go on"}])
    )

    assert [message.get("content") for message in wire] == [None, LOST, "2", "go on"]


def test_arguments_are_sent_to_the_letter():
    broken = '{"a":  1, "b": '
    read = openai.read([{"role": "assistant", "tool_calls": [call("a", arguments=broken)]}])

    assert openai.to_wire(read)[0]["tool_calls"][0]["function"]["arguments"] == broken


@pytest.mark.parametrize(
    ("given", "kept"),
    [("", ""), (" ", " "), ("null", "null"), (None, "{}"), ({"a": "ü"}, '{"a":"ü"}'), ("[]", "[]")],
)
def test_arguments_are_read_as_they_are_and_objects_as_json(given, kept):
    """PRV-07's inputs: whether they mean anything is for whoever runs the tool."""
    read = openai.read([{"role": "assistant", "tool_calls": [call("a", arguments=given)]}])

    assert read[0].calls[0].arguments == kept


def test_a_custom_call_keeps_its_input():
    custom = {"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}

    assert openai.read([{"role": "assistant", "tool_calls": [custom]}])[0].calls == (
        ToolCall(id="a", name="shell", arguments="ls -l"),
    )


def test_text_and_images_of_a_user_message_keep_their_order():
    content = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        "and",
    ]

    read = openai.read([{"role": "user", "content": content}])

    assert read[0].parts == (
        Text(text="see"),
        Image(media_type="image/png", data="AAAA"),
        Image(url="https://example.org/a.png"),
        Text(text="and"),
    )
    assert openai.read(openai.to_wire(read)) == read


def test_a_part_type_nobody_knows_is_kept_as_text_that_says_so():
    audio = {"type": "input_audio", "input_audio": {"data": "A" * 5000, "format": "wav"}}
    file = {"type": "image", "source": {"type": "file", "file_id": "f1"}}

    texts = [part.text for part in openai.read([{"role": "user", "content": [audio, file]}])[0].parts]

    assert [text.partition(" {")[0] for text in texts] == [
        "[part of type 'input_audio', kept as JSON]",
        "[part of type 'image', kept as JSON]",
    ]
    assert '"data":"(5000 characters of base64 left out)","format":"wav"' in texts[0]
    assert '"file_id":"f1"' in texts[1]


def test_what_an_assistant_said_aloud_is_kept_as_text_that_says_so():
    said = openai.read([{"role": "assistant", "content": None, "audio": {"id": "x", "transcript": "hello"}}])

    assert "'audio'" in said[0].text
    assert "hello" in said[0].text


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "p"},
        {"reasoning": "p"},
        {"thinking": "p"},
        {"thinking_blocks": [{"type": "thinking", "thinking": "p", "signature": ""}]},
    ],
)
def test_reasoning_beside_the_content_is_read_as_thinking(fields):
    read = openai.read([{"role": "assistant", "content": "yes", **fields}])

    assert read[0].parts == (Thinking(text="p"), Text(text="yes"))
    assert openai.to_wire(read) == [{"role": "assistant", "content": "yes"}]
    assert openai.to_wire(read, reasoning_field="reasoning_content")[0]["reasoning_content"] == "p"


def test_text_is_cleaned_on_entry():
    read = openai.read(
        [{"role": "user", "content": "a\x00b\ud83d"}, asks("i\ud800d"), answer("i\ud800d", "\udfff")]
    )

    assert [message.text for message in read] == ["a\u2400b\ufffd", "", "\ufffd"]
    assert mend(read).repairs == ()
    json.dumps(openai.to_wire(read), ensure_ascii=False).encode()


def test_images_in_a_tool_result_follow_the_results_of_the_turn():
    picture = Image(media_type="image/png", data="AAAA")
    results = [
        tool(ToolResult(call_id="a", name="shot", images=(picture,))),
        tool(ToolResult(call_id="b", text="2")),
    ]
    calls = [ToolCall(id="a", name="shot"), ToolCall(id="b", name="look")]

    wire = openai.to_wire([user("t"), assistant("", calls), *results, assistant("done")])

    assert [message["role"] for message in wire] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert wire[4]["content"] == [
        {"type": "text", "text": "[images in the result of shot]"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert wire[2]["content"]


def test_images_where_the_api_allows_none_leave_a_line_of_text():
    message = Message(role="assistant", parts=(Image(media_type="image/png", data="AAAA"),))
    wire = openai.write([message])

    assert wire.messages[0]["content"].startswith("[image left out: image/png")
    assert wire.repairs == ("message 0: 1 of its images replaced by a line of text",)


def test_thinking_that_is_not_sent_is_said_once_for_all():
    thinking = [
        Message(role="assistant", parts=(Thinking(text="p", signature="c2ln"), Text(text=str(n))))
        for n in range(3)
    ]
    history = [user("t"), *thinking]

    assert openai.write(history).repairs == (
        "message 1: its thinking is not sent, nor that of 2 more: Chat Completions has no place for it",
    )
    assert openai.write(history[:2]).repairs == (
        "message 1: its thinking is not sent: Chat Completions has no place for it",
    )
    assert openai.write(history, reasoning_field="reasoning_content").repairs == ()


def test_an_error_without_a_text_is_sent_with_words():
    """The format has no error mark, so an empty one would say that all went well."""
    history = [assistant("", [ToolCall(id="a", name="look")]), tool(ToolResult(call_id="a", error=True))]

    assert openai.to_wire(history)[1]["content"] == FAILED


def test_calls_beside_the_words_of_a_person_are_kept_for_whoever_mends():
    read = openai.read([{"role": "user", "content": "t", "tool_calls": [call("a")]}])

    assert read[0].calls == (ToolCall(id="a", name="look"),)
    assert mend(read).repairs == (
        "message 0: call 'a' (look) removed: a message of role user cannot hold it: '{}'",
    )


def test_reasoning_details_keep_signature_and_what_only_the_provider_reads():
    details = [
        {"type": "reasoning.text", "text": " p\n", "signature": "c2ln", "format": "anthropic-claude-v1"},
        {"type": "reasoning.summary", "summary": "s"},
        {"type": "reasoning.encrypted", "data": "b3Bh"},
    ]
    read = openai.read(
        [{"role": "assistant", "content": "yes", "reasoning": " p\n", "reasoning_details": details}]
    )

    assert read[0].parts == (
        Thinking(text=" p\n", signature="c2ln"),
        Thinking(text="s"),
        Thinking(redacted="b3Bh"),
        Text(text="yes"),
    )


def test_neighbours_of_one_role_are_sent_unchanged():
    """SEG-13, without the option."""
    items = [{"role": role, "content": text} for role, text in zip("suuaau", "sabcde", strict=True)]
    names = {"s": "system", "u": "user", "a": "assistant"}
    items = [{**item, "role": names[item["role"]]} for item in items]

    assert openai.to_wire(openai.read(items)) == items


def test_strict_alternation_joins_neighbours_by_a_blank_line():
    """SEG-13: what is stored is not touched."""
    history = (system("s"), user("first"), user("second"), assistant("a"), assistant("b"), user("q"))

    wire = openai.to_wire(history, strict_alternation=True)

    assert [message["content"] for message in wire] == ["s", "first\n\nsecond", "a\n\nb", "q"]
    assert [message.text for message in history] == ["s", "first", "second", "a", "b", "q"]


def test_strict_alternation_keeps_calls_and_images():
    calls = [ToolCall(id="a", name="look")]
    picture = Message(role="user", parts=(Image(url="u"),))
    history = [
        user("x"),
        picture,
        assistant("I look"),
        assistant("", calls),
        tool(ToolResult(call_id="a", text="r")),
    ]

    wire = openai.to_wire(history, strict_alternation=True)

    assert [message["role"] for message in wire] == ["user", "assistant", "tool"]
    assert (wire[1]["content"], wire[1]["tool_calls"]) == ("I look", [call("a")])
    assert [part["type"] for part in wire[0]["content"]] == ["text", "image_url"]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (5, "message 1: 5 is not a message, a dict with a 'role'"),
        ({}, "message 1: role: None is not one of system, developer, user, assistant, tool, function"),
        ({"role": "robot"}, "message 1: role: 'robot' is not one of"),
        ({"role": "user", "content": 5}, "message 1: content: 5 is not a string or a list of parts"),
        ({"role": "user", "content": [5]}, "message 1: part 0: 5 is not a content part"),
        (
            {"role": "user", "content": [{"text": "a"}]},
            "message 1: part 0: type: None is not the name of a part type",
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": 5}]},
            "message 1: part 0: text: 5 is not a string",
        ),
        ({"role": "tool", "content": {"a": 1}}, "message 1: content: {'a': 1} is not a string or a list"),
        ({"role": "tool", "tool_call_id": 7}, "message 1: tool_call_id: 7 is not a string"),
        (
            {"role": "assistant", "reasoning_details": "x"},
            "message 1: reasoning_details: 'x' is not a list of reasoning details",
        ),
        ({"role": "assistant", "tool_calls": "x"}, "message 1: tool_calls: 'x' is not a list of calls"),
        (
            {"role": "assistant", "tool_calls": [{"id": "a"}]},
            "message 1: tool call 0: function: None is not a dict",
        ),
        (
            {"role": "assistant", "tool_calls": [call("a", arguments=7)]},
            "message 1: tool call 0: arguments: 7 is not",
        ),
        ({"role": "robot\n" * 90}, "message 1: role: 'robot\\nrobot"),
    ],
)
def test_an_unknown_shape_is_named_in_one_line_with_position_value_and_expectation(item, said):
    with pytest.raises(BadMessage) as caught:
        openai.read([{"role": "user", "content": "t"}, item])

    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {"a": {}}},
    },
}
SPEC = ToolSpec(name="look", description="Looks.", parameters={"type": "object", "properties": {"a": {}}})


@pytest.mark.parametrize(
    "shape", [TOOL, {"type": "function", **TOOL["function"], "strict": True}, TOOL["function"]]
)
def test_nested_flat_and_bare_tools_read_alike(shape):
    assert openai.read_tools([shape]) == (SPEC,)


def test_tools_come_back_as_they_went():
    assert openai.tools_to_wire([SPEC]) == [TOOL]
    assert openai.read_tools(openai.tools_to_wire([ToolSpec(name="bare")])) == (ToolSpec(name="bare"),)


def test_a_tool_that_changes_later_does_not_change_what_was_read():
    shape = json.loads(json.dumps(TOOL))
    spec = openai.read_tool(shape)
    shape["function"]["parameters"]["properties"]["b"] = {}

    assert spec == SPEC


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"type": "web_search"}, "tool 0: type: 'web_search' is not 'function'"),
        ({"type": "function", "function": {}}, "tool 0: a name is missing"),
        ({"name": "look", "parameters": 5}, "tool 0: parameters: 5 is not a JSON schema"),
    ],
)
def test_a_tool_in_no_known_shape_is_named(shape, said):
    with pytest.raises(BadMessage, match="^" + said):
        openai.read_tools([shape])


def as_held(history):
    """The documented losses, applied to a history whose ids are left out."""
    held = []
    pictures = []
    for message in history:
        if message.role != "tool" and pictures:
            held.append(replace(user(""), parts=tuple(pictures)))
            pictures = []
        held.append(_held(message))
        for result in message.results:
            if result.images:
                pictures += [Text(text=f"[images in the result of {result.name}]"), *result.images]
    return [*held, replace(user(""), parts=tuple(pictures))] if pictures else held


def _held(message):
    if message.role == "tool":
        result = message.results[0]
        failed = FAILED if result.error else ""
        text = result.text or ("[an image; it follows the results]" if result.images else failed)
        return tool(ToolResult(call_id="", name=result.name, text=text))
    texts = [part for part in message.parts if isinstance(part, Text | Image)]
    return replace(message, parts=(*texts, *(replace(call, id="") for call in message.calls)))


def without_ids(message):
    parts = [
        replace(part, id="")
        if isinstance(part, ToolCall)
        else replace(part, call_id="")
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))


@quick
@given(HISTORIES)
def test_reading_what_was_written_gives_back_the_history(history):
    wire = openai.to_wire(history)

    assert [without_ids(message) for message in openai.read(wire)] == as_held(history)
    assert openai.to_wire(openai.read(wire)) == wire


@quick
@given(TANGLES)
def test_whatever_comes_in_what_goes_out_is_legal(history):
    assert openai_faults(openai.to_wire(history)) == []
    assert openai_faults(openai.to_wire(history, strict_alternation=True)) == []


@quick
@given(HISTORIES)
def test_strict_alternation_never_sends_two_of_one_role(history):
    roles = [message["role"] for message in openai.to_wire(history, strict_alternation=True)]
    roles = ["system" if role == "developer" else role for role in roles]

    assert all(one != other or one == "tool" for one, other in pairwise(roles))


@quick
@given(TANGLES)
def test_every_text_is_sent_or_named_in_the_repairs_thinking_by_its_messages(history):
    history, marks = marked(history)
    wire = openai.write(history, reasoning_field="reasoning_content")
    sent = json.dumps(wire.messages, ensure_ascii=False)

    assert [mark for mark in marks if (mark in sent) == (mark in "".join(wire.repairs))] == []
    silent = openai.write(history)
    thoughts = [
        part for message in mend(history).messages for part in message.parts if isinstance(part, Thinking)
    ]
    assert bool(thoughts) == any("thinking is not sent" in line for line in silent.repairs)
