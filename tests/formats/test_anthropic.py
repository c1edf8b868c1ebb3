"""Anthropic Messages to ours and back."""

import json
from dataclasses import replace

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
from ethang_nb.formats import anthropic, openai
from ethang_nb.formats.parts import FAILED
from tests.formats.histories import HISTORIES, TANGLES, marked
from tests.formats.wire_rules import anthropic_faults

quick = settings(max_examples=120, deadline=None)


def use(call_id, **given):
    return {"type": "tool_use", "id": call_id, "name": "look", "input": given}


def result(call_id, content="ok", **fields):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def says(role, *blocks):
    return {"role": role, "content": list(blocks)}


def text(words):
    return {"type": "text", "text": words}


def faults(wire):
    return anthropic_faults(wire.system, wire.messages)


def test_results_in_a_user_message_become_tool_messages_and_its_text_stays_the_users():
    read = anthropic.read(
        [
            {"role": "user", "content": "t"},
            says("assistant", use("a", x=1), use("b")),
            says("user", result("a", "1"), result("b", "2", is_error=True), text("go on")),
        ],
        system="s",
    )

    assert read == (
        system("s"),
        user("t"),
        assistant("", [ToolCall(id="a", name="look", arguments='{"x":1}'), ToolCall(id="b", name="look")]),
        tool(ToolResult(call_id="a", name="look", text="1")),
        tool(ToolResult(call_id="b", name="look", text="2", error=True)),
        user("go on"),
    )


def test_parallel_results_go_out_in_one_user_message_before_any_text():
    """SEG-04: two results that came as two messages, in call order."""
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in "ab"]
    history = openai.read(
        [
            {"role": "user", "content": "t"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "user", "content": "go on"},
        ]
    )

    wire = anthropic.to_wire(history)

    assert wire.messages == [
        says("user", text("t")),
        says("assistant", use("a"), use("b")),
        says("user", result("a", "1"), result("b", "2"), text("go on")),
    ]


def test_stray_results_are_not_sent_and_the_pair_stays():
    """SEG-03."""
    history = [
        {"role": "user", "content": "t"},
        says("assistant", use("a")),
        says("user", result("a"), result("zzz", "stray")),
        says("user", result("yyy", "stray2")),
        says("assistant", text("done")),
    ]

    read = anthropic.read(history)

    assert anthropic.to_wire(read).messages == [
        says("user", text("t")),
        says("assistant", use("a")),
        says("user", result("a")),
        says("assistant", text("done")),
    ]
    assert len(mend(read).repairs) == 2


def test_an_empty_text_block_is_kept_in_what_is_read_and_left_out_of_what_is_sent():
    """SEG-10."""
    history = [
        {"role": "user", "content": "t"},
        says("assistant", text(""), use("a")),
        says("user", result("a")),
    ]

    read = anthropic.read(history)

    assert read[1].parts[0] == Text(text="")
    assert anthropic.to_wire(read).messages[1] == says("assistant", use("a"))


def test_a_text_of_white_space_alone_is_not_sent():
    wire = anthropic.to_wire([user("t"), user(" \n"), assistant(" "), user("more")])

    assert wire.messages == [says("user", text("t"), text("more"))]
    assert wire.repairs == (
        "message 1: a text of white space alone not sent",
        "message 1: the user message not sent: nothing of it is left",
        "message 2: a text of white space alone not sent",
        "message 2: the assistant message not sent: nothing of it is left",
    )


def test_an_image_of_the_assistant_leaves_a_line_of_text_and_is_said():
    message = Message(role="assistant", parts=(Image(url="u"), Text(text="see")))
    wire = anthropic.to_wire([user("t"), message])

    assert [block["type"] for block in wire.messages[1]["content"]] == ["text", "text"]
    assert wire.repairs == ("message 1: 1 of its images replaced by a line of text",)


def test_what_was_mended_is_said_before_what_is_not_sent():
    thought = Thinking(text="q")
    wire = anthropic.to_wire(
        [
            tool(ToolResult(call_id="x", text="r")),
            user("t"),
            replace(assistant("a"), parts=(thought, Text(text="a"))),
        ]
    )

    assert [line[:10] for line in wire.repairs] == ["message 0:", "message 2:"]


def test_thinking_keeps_text_and_signature_to_the_byte():
    """SEG-12: as long as the turn stays, it stays whole."""
    blocks = [
        {"type": "thinking", "thinking": " p\n\u2028", "signature": "c2ln+/=="},
        {"type": "redacted_thinking", "data": "b3Bh"},
        use("a"),
    ]
    history = [says("user", text("t")), says("assistant", *blocks), says("user", result("a"))]

    assert anthropic.to_wire(anthropic.read(history)).messages == history


def test_a_turn_whose_call_was_dropped_leaves_no_thinking_behind():
    """SEG-12: call and result are gone, the signed thinking is not sent alone."""
    thought = {"type": "thinking", "thinking": "p", "signature": "c2ln"}
    history = [says("user", text("t")), says("assistant", thought), says("assistant", text("done"))]

    assert anthropic.to_wire(anthropic.read(history)).messages == [history[0], history[2]]


def test_thinking_without_a_signature_or_at_the_end_of_a_message_is_not_sent():
    signed = Thinking(text="p", signature="c2ln")
    message = Message(role="assistant", parts=(Thinking(text="q"), signed, Text(text="yes"), signed))

    wire = anthropic.to_wire([user("t"), message])

    assert wire.messages[1]["content"] == [
        {"type": "thinking", "thinking": "p", "signature": "c2ln"},
        text("yes"),
    ]
    assert wire.repairs == (
        "message 1: thinking without a signature not sent: 'q'",
        "message 1: thinking not sent: it may not stand at the end of a message: 'p'",
    )


def test_neighbours_of_one_role_are_one_message_with_their_blocks_apart():
    wire = anthropic.to_wire([user("first"), user("second"), assistant("a"), assistant("b"), user("q")])

    assert wire.messages == [
        says("user", text("first"), text("second")),
        says("assistant", text("a"), text("b")),
        says("user", text("q")),
    ]


def test_system_texts_stand_apart_in_order():
    wire = anthropic.to_wire([system("s"), system("project"), user("t"), system("later")])

    assert wire.system == [text("s"), text("project"), text("later")]
    assert wire.messages == [says("user", text("t"))]


@pytest.mark.parametrize("given", ["s", [{**text("s"), "cache_control": {"type": "ephemeral"}}]])
def test_the_system_text_is_read_from_a_string_or_blocks(given):
    assert anthropic.read([], system=given) == (system("s"),)


@pytest.mark.parametrize("given", [None, "", []])
def test_no_system_text_is_no_message(given):
    assert anthropic.read([], system=given) == ()


def test_a_conversation_that_the_assistant_begins_gets_a_user_message_before_it():
    assert [message["role"] for message in anthropic.to_wire([assistant("hello")]).messages] == [
        "user",
        "assistant",
    ]


def test_an_id_used_again_is_renamed_in_its_own_turn_only():
    """SEG-09: the API refuses an id that comes twice."""
    turn = [says("assistant", use("http")), says("user", result("http", "one"))]
    wire = anthropic.to_wire(anthropic.read([says("user", text("t")), *turn, *turn]))

    assert [message["content"][0].get("id") for message in wire.messages[1::2]] == ["http", "http_2"]
    assert [message["content"][0].get("tool_use_id") for message in wire.messages[2::2]] == ["http", "http_2"]


def test_ids_of_other_providers_are_made_legal_and_stay_unique():
    ids = ["functions.look:0", "functions_look_0", "é" * 80]
    calls = [ToolCall(id=call_id, name="look") for call_id in ids]
    results = [tool(ToolResult(call_id=call_id, text=call_id)) for call_id in ids]

    wire = anthropic.to_wire([user("t"), assistant("", calls), *results])

    assert [block["id"] for block in wire.messages[1]["content"]] == [
        "functions_look_0",
        "functions_look_0_2",
        "_" * 64,
    ]
    assert [block["content"] for block in wire.messages[2]["content"]] == ids
    assert faults(wire) == []


def test_a_call_without_a_result_is_sent_with_one_that_says_so():
    """SEG-06."""
    wire = anthropic.to_wire(anthropic.read([says("user", text("t")), says("assistant", use("a"), use("b"))]))

    assert wire.messages[2]["content"] == [result("a", LOST, is_error=True), result("b", LOST, is_error=True)]


@pytest.mark.parametrize("arguments", ["", " ", "null", "{}"])
def test_no_arguments_are_the_empty_object(arguments):
    """PRV-07."""
    wire = anthropic.to_wire([assistant("", [ToolCall(id="a", name="look", arguments=arguments)])])

    assert wire.messages[1]["content"][0]["input"] == {}


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city":',
        "[]",
        '"{}"',
        "5",
        '{"n": NaN}',
        '{"n": 1e999}',
        '{"half":"\\ud83d"}',
        '{"arguments_as_written":"x"}',
        '{"arguments_as_written":{"a":1}}',
        "[" * 5000,
        '{"n":' + "9" * 5000 + "}",
    ],
)
def test_arguments_that_are_no_json_object_come_back_as_they_were(arguments):
    call = ToolCall(id="a", name="look", arguments=arguments)
    wire = anthropic.to_wire([user("t"), assistant("", [call])])

    json.dumps(wire.messages, ensure_ascii=False, allow_nan=False).encode()
    assert anthropic.read(wire.messages)[1].calls == (call,)


def test_a_result_may_hold_text_and_images():
    png = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    url = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    history = [
        says("user", text("t"), png),
        says("assistant", use("a"), use("b")),
        says("user", result("a", [text("see"), png, url]), result("b", [png])),
    ]

    read = anthropic.read(history)

    assert read[2].results[0] == ToolResult(
        call_id="a",
        name="look",
        text="see",
        images=(Image(media_type="image/png", data="AAAA"), Image(url="https://example.org/a.png")),
    )
    assert anthropic.to_wire(read).messages == history


def test_an_empty_result_is_sent_without_content_and_an_empty_error_with_words():
    calls = [ToolCall(id="a", name="look"), ToolCall(id="b", name="look")]
    results = [tool(ToolResult(call_id="a")), tool(ToolResult(call_id="b", error=True))]

    blocks = anthropic.to_wire([user("t"), assistant("", calls), *results]).messages[2]["content"]

    assert blocks[0] == {"type": "tool_result", "tool_use_id": "a"}
    assert blocks[1]["content"]


def test_texts_of_one_result_are_joined_by_line_ends():
    read = anthropic.read([says("assistant", use("a")), says("user", result("a", [text("1"), text("2")]))])

    assert read[1].text == "1\n2"


def test_a_block_type_nobody_knows_is_kept_as_text_that_says_so():
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    inside = result("a", [{"type": "search_result", "title": "found"}])
    read = anthropic.read([says("assistant", search, use("a")), says("user", inside)])

    assert read[0].text.startswith("[part of type 'server_tool_use', kept as JSON]")
    assert '"query":"x"' in read[0].text
    assert (
        read[1].text
        == '[part of type \'search_result\', kept as JSON] {"type":"search_result","title":"found"}'
    )


def test_a_call_whose_input_is_missing_has_no_arguments():
    """llama.cpp starts a streamed tool_use block without `input`."""
    read = anthropic.read([says("assistant", {"type": "tool_use", "id": "a", "name": "look"})])

    assert read[0].calls == (ToolCall(id="a", name="look", arguments="{}"),)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"role": "tool", "content": "r"}, "message 1: role: 'tool' is not one of user, assistant, system"),
        (says("user", {"type": "text", "text": 5}), "message 1: part 0: text: 5 is not a string"),
        (
            says("user", {"type": ["text"]}),
            "message 1: part 0: type: ['text'] is not the name of a part type",
        ),
        (says("user", result("a", 5)), "message 1: part 0: content: 5 is not a string or a list of parts"),
        (says("user", result("a", [use("b")])), "message 1: part 0: content: ToolCall"),
        (
            says("assistant", {**use("a"), "input": 5}),
            "message 1: part 0: input: 5 is not the arguments of a call",
        ),
    ],
)
def test_an_unknown_shape_is_named_with_position_value_and_expectation(item, said):
    with pytest.raises(BadMessage) as caught:
        anthropic.read([{"role": "user", "content": "t"}, item])

    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_tools_come_back_as_they_went():
    shape = {
        "name": "look",
        "description": "Looks.",
        "input_schema": {"type": "object", "properties": {"a": {}}},
    }

    specs = anthropic.read_tools([{**shape, "type": "custom", "cache_control": {"type": "ephemeral"}}])

    assert specs == (ToolSpec(name="look", description="Looks.", parameters=shape["input_schema"]),)
    assert anthropic.tools_to_wire(specs) == [shape]


def test_a_schema_without_a_type_is_sent_as_one_of_type_object():
    assert anthropic.tools_to_wire([ToolSpec(name="look", parameters={})])[0]["input_schema"] == {
        "type": "object"
    }


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"name": "look"}, "tool 0: input_schema: None is not a JSON schema"),
        ({"input_schema": {}}, "tool 0: a name is missing"),
        ("look", "tool 0: 'look' is not a tool"),
    ],
)
def test_a_tool_in_no_known_shape_is_named(shape, said):
    with pytest.raises(BadMessage, match="^" + said):
        anthropic.read_tools([shape])


def as_held(history):
    """The documented losses, applied to a history whose ids are left out."""
    systems = [message for message in history if message.role == "system"]
    held = []
    for message in [*systems, *(message for message in history if message.role != "system")]:
        parts = tuple(_held_parts(message))
        while parts and isinstance(parts[-1], Thinking):
            parts = parts[:-1]
        if message.role == "tool":
            held.append(tool(parts[0]))
        elif parts and held and held[-1].role == message.role:
            held[-1] = replace(held[-1], parts=held[-1].parts + parts)
        elif parts:
            held.append(replace(message, parts=parts))
    sources = {"system": "system", "user": "person", "assistant": "model"}
    held = [replace(message, source=sources.get(message.role, message.source)) for message in held]
    first = next((at for at, message in enumerate(held) if message.role != "system"), len(held))
    if first < len(held) and held[first].role == "assistant":
        held.insert(first, user("[the conversation begins with the assistant]"))
    return held


def _held_parts(message):
    for part in message.parts:
        match part:
            case Text() if not part.text.strip():
                continue
            case Thinking() if not (part.redacted or part.signature):
                continue
            case ToolCall():
                yield replace(part, id="", arguments=json.dumps(anthropic._input(part.arguments)))
            case ToolResult():
                words = part.text if part.text.strip() or not part.images else ""
                failed = part.error and not words and not part.images
                yield replace(part, call_id="", text=FAILED if failed else words)
            case _:
                yield part


def with_bare_calls(message):
    parts = [
        replace(part, id="", arguments=json.dumps(anthropic._input(part.arguments)))
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
    wire = anthropic.to_wire(history)

    assert [with_bare_calls(message) for message in anthropic.read(wire.messages, wire.system)] == as_held(
        history
    )
    assert anthropic.to_wire(anthropic.read(wire.messages, wire.system)) == wire


@quick
@given(TANGLES)
def test_whatever_comes_in_what_goes_out_is_legal(history):
    assert faults(anthropic.to_wire(history)) == []


@quick
@given(TANGLES)
def test_every_text_is_sent_or_named_in_the_repairs(history):
    history, marks = marked(history)
    wire = anthropic.to_wire(history)
    sent = json.dumps([wire.system, wire.messages], ensure_ascii=False)

    assert [mark for mark in marks if (mark in sent) == (mark in "".join(wire.repairs))] == []


@quick
@given(HISTORIES)
def test_a_history_that_is_sent_whole_has_no_repairs(history):
    wire = anthropic.to_wire(history)
    blocks = [*wire.system, *(block for message in wire.messages for block in message["content"])]
    parts = sum(len(message.parts) for message in history)
    opening = wire.messages[:1] == [says("user", text("[the conversation begins with the assistant]"))]
    pictures = any(
        message.role == "assistant" and any(isinstance(part, Image) for part in message.parts)
        for message in history
    )

    assert (len(blocks) - opening == parts and not pictures) == (wire.repairs == ())
