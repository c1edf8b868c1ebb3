"""OpenAI Responses items to ours and back."""

from dataclasses import replace
from itertools import groupby

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
from ethang_nb.context.pairing import mend
from ethang_nb.errors import BadMessage
from ethang_nb.formats import responses
from ethang_nb.formats.detect import reading, to_messages, to_tools
from ethang_nb.formats.parts import FAILED
from ethang_nb.formats.sending import shape_of
from tests.formats.histories import HISTORIES, TANGLES, marked
from tests.formats.wire_rules import responses_faults

quick = settings(max_examples=120, deadline=None)


def said(role, words, **fields):
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": words}], **fields}


def call(call_id, name="look", arguments="{}"):
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def answer(call_id, output="r"):
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def reasoning(name, *summaries, content="sealed"):
    summary = [{"type": "summary_text", "text": words} for words in summaries]
    return {"type": "reasoning", "id": name, "summary": summary, "encrypted_content": content}


# ---- reading


def test_each_item_is_read_with_its_source_and_trust():
    read = responses.read(
        [
            said("system", "s"),
            said("developer", "d"),
            said("user", "t"),
            call("a"),
            answer("a"),
            {"role": "user", "content": "plain"},
            {"type": "message", "role": "assistant", "content": "plain too"},
        ],
        instructions="first of all",
    )

    assert [(message.role, message.source, message.trust, message.text) for message in read] == [
        ("system", "system", "owner", "first of all"),
        ("system", "system", "owner", "s"),
        ("system", "developer", "owner", "d"),
        ("user", "person", "owner", "t"),
        ("assistant", "model", "agent", ""),
        ("tool", "look", "outside", "r"),
        ("user", "person", "owner", "plain"),
        ("assistant", "model", "agent", "plain too"),
    ]
    assert read[4].calls == (ToolCall(id="a", name="look"),)
    assert read[5].results == (ToolResult(call_id="a", name="look", text="r"),)


def test_the_items_of_one_answer_are_one_message_in_their_order():
    """Two calls at once stay one turn, and each piece of reasoning stays before what it led to."""
    items = [
        said("user", "t"),
        reasoning("rs_1", "First.", "Second."),
        said("assistant", "I look."),
        call("a"),
        reasoning("rs_2", content="sealed too"),
        call("b"),
        answer("a", "1"),
        answer("b", "2"),
    ]

    read = responses.read(items)

    assert read[1].parts == (
        Thinking(text="First.\n\nSecond.", signature="rs_1", redacted="sealed"),
        Text(text="I look."),
        ToolCall(id="a", name="look"),
        Thinking(signature="rs_2", redacted="sealed too"),
        ToolCall(id="b", name="look"),
    )
    assert [message.role for message in read] == ["user", "assistant", "tool", "tool"]
    assert mend(read).repairs == ()
    assert responses.read(responses.to_wire(read).items) == read


def test_reasoning_without_summaries_is_read_from_its_content():
    """llama.cpp and vLLM show the reasoning itself."""
    item = {
        "type": "reasoning",
        "id": "rs",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }

    assert responses.read([item])[0].parts == (Thinking(text="hm", signature="rs"),)


def test_a_refusal_is_kept_as_text_and_goes_out_as_a_refusal():
    item = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}

    read = responses.read([said("user", "t"), item])

    assert (read[1].text, read[1].source) == ("no", "refusal")
    assert responses.to_wire(read).items[1]["content"] == [{"type": "refusal", "refusal": "no"}]


def test_custom_calls_keep_their_input():
    items = [
        {"type": "custom_tool_call", "id": "ctc", "call_id": "a", "name": "patch", "input": "*** Begin"},
        {
            "type": "custom_tool_call_output",
            "call_id": "a",
            "output": [{"type": "input_text", "text": "done"}],
        },
    ]

    read = responses.read(items)

    assert read[0].calls == (ToolCall(id="a", name="patch", arguments="*** Begin"),)
    assert read[1].results[0].text == "done"


def test_an_item_of_a_type_nobody_knows_becomes_a_text_that_says_so():
    searched = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "rain"}}
    shot = {
        "type": "computer_call_output",
        "call_id": "c",
        "output": {"image_url": "data:image/png;base64," + "A" * 900},
    }

    made, came = responses.read([searched, shot])

    assert made.role == "assistant" and "'web_search_call'" in made.text and "rain" in made.text
    assert (came.role, came.trust) == ("user", "outside") and "base64 left out" in came.text


def test_images_of_results_stay_in_them():
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    read = responses.read([call("a"), answer("a", [{"type": "input_text", "text": "see"}, picture])])

    assert read[1].results[0].images == (Image(media_type="image/png", data="AAAA"),)
    assert responses.to_wire(read).items[1]["output"] == [
        {"type": "input_text", "text": "see"},
        {**picture, "detail": "auto"},
    ]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("hello", "item 1: 'hello' is not an item, a dict with a 'type'"),
        ({"type": 7}, "item 1: type: 7 is not the name of an item type"),
        ({"content": "x"}, "item 1: type: None is not the name of an item type"),
        ({"type": "message", "role": "robot"}, "item 1: role: 'robot' is not one of system, developer, user"),
        ({"type": "reasoning", "summary": "x"}, "item 1: summary: 'x' is not a list of parts"),
        ({"type": "reasoning", "summary": [7]}, "item 1: summary: 7 is not a part with a text"),
        ({"type": "function_call", "arguments": 7}, "item 1: arguments: 7 is not the arguments of a call"),
        (
            {"type": "function_call_output", "output": 7},
            "item 1: output: content: 7 is not a string or a list",
        ),
    ],
)
def test_what_is_no_item_is_named_in_one_line(item, message):
    with pytest.raises(BadMessage) as caught:
        responses.read([said("user", "t"), item])

    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_instructions_that_are_neither_text_nor_items_are_named():
    with pytest.raises(BadMessage, match=r"^instructions: 7 is not a text or a list of items"):
        responses.read([], instructions=7)


# ---- writing


def test_every_item_has_a_type_and_what_the_types_ask_for():
    """llama.cpp cannot tell an item without a type; the SDK's types want an id of an assistant's message."""
    history = [
        system("s"),
        system("d", source="developer"),
        user("t"),
        Message(
            role="assistant",
            parts=(
                Thinking(text="First.", signature="rs_1", redacted="sealed"),
                Text(text="I look."),
                ToolCall(id="a", name="look", arguments='{"x": 1}'),
            ),
        ),
        tool(ToolResult(call_id="a", text="seen")),
    ]

    wire = responses.to_wire(history)

    assert wire.repairs == ()
    assert [len(items) for items in wire.messages] == [1, 1, 1, 3, 1]
    assert wire.items[3:5] == [
        reasoning("rs_1", "First."),
        {
            "type": "message",
            "id": wire.items[4]["id"],
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
    ]
    assert wire.items[5:] == [
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": '{"x": 1}'},
        answer("a", "seen"),
    ]
    assert [item["role"] for item in wire.items[:3]] == ["system", "developer", "user"]
    assert [item["role"] for item in responses.to_wire(history, developer=True).items[:3]] == [
        "developer",
        "developer",
        "user",
    ]


def test_two_answers_with_the_same_words_have_ids_of_their_own():
    """The API: "Duplicate item found with id msg_…"."""
    items = responses.to_wire([user("t"), assistant("ok"), user("t"), assistant("ok")]).items

    assert items[1]["id"].startswith("msg_")
    assert items[3]["id"] == items[1]["id"] + "_2"


def test_an_item_keeps_its_bytes_when_the_history_grows():
    history = [user("t"), assistant("ok"), user("t"), assistant("ok"), user("again")]

    whole = responses.to_wire(history).messages
    assert all(responses.to_wire(history[:at]).messages == whole[:at] for at in range(len(history)))


THOUGHT = Thinking(text="p", signature="rs_1", redacted="sealed")


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (
            (Thinking(text="p"), Text(text="x")),
            "its thinking is not sent: it came without encrypted_content, which include= asks for",
        ),
        ((Thinking(text="p", signature="rs_1"), Text(text="x")), "its thinking is not sent: it came without"),
        ((Thinking(redacted="b3Bh"), Text(text="x")), "its thinking is not sent: it came without"),
        ((Text(text="x"), THOUGHT), "thinking not sent: nothing follows it in its message: 'p'"),
        ((THOUGHT, THOUGHT, Text(text="x")), "thinking not sent: another one has its id 'rs_1': 'p'"),
    ],
)
def test_thinking_that_the_api_would_refuse_is_left_out_and_that_is_said(parts, line):
    """The API: "Item with id 'rs_…' not found", "…without its required following item", "Duplicate item found"."""
    wire = responses.to_wire([user("t"), Message(role="assistant", parts=parts)])

    assert responses_faults(wire.items) == []
    assert len(wire.repairs) == 1 and wire.repairs[0].startswith(f"message 1: {line}")
    assert wire.items[-1]["content"][0]["text"] == "x"


def test_thinking_that_cannot_be_sent_is_said_once_for_all_turns():
    turn = Message(role="assistant", parts=(Thinking(text="p"), Text(text="x")))

    repairs = responses.to_wire([turn, user("t"), turn, user("t"), turn]).repairs

    assert len(repairs) == 1
    assert repairs[0].startswith(
        "message 0: its thinking is not sent, nor that of 2 more: it came without encrypted"
    )


def test_long_and_odd_ids_are_made_legal_call_and_result_alike():
    history = [
        assistant("", [ToolCall(id="functions.look:0", name="look"), ToolCall(id="x" * 70, name="look")]),
        tool(ToolResult(call_id="functions.look:0")),
        tool(ToolResult(call_id="x" * 70)),
    ]

    items = responses.to_wire(history).items

    assert responses_faults(items) == []
    assert [item["call_id"] for item in items] == ["functions_look_0", "x" * 64] * 2


def test_an_error_without_a_word_gets_one():
    history = [assistant("", [ToolCall(id="a", name="look")]), tool(ToolResult(call_id="a", error=True))]

    assert responses.to_wire(history).items[1]["output"] == FAILED


def test_images_where_the_api_allows_none_leave_a_line():
    history = [user("t"), Message(role="assistant", parts=(Image(url="u"), Text(text="x")))]

    wire = responses.to_wire(history)

    assert wire.repairs == ("message 1: 1 of its images replaced by a line of text",)
    assert "image left out: u" in wire.items[1]["content"][0]["text"]


def test_an_image_that_is_nowhere_is_not_sent_from_a_result_either():
    history = [
        assistant("", [ToolCall(id="a", name="look")]),
        tool(ToolResult(call_id="a", images=(Image(media_type="image/png"),))),
    ]

    wire = responses.to_wire(history)

    assert wire.repairs == ("message 1: 1 of its images replaced by a line of text",)
    assert responses_faults(wire.items) == []


def test_tools_are_flat_and_never_strict_by_surprise():
    spec = ToolSpec(name="look", description="d", parameters={"type": "object", "properties": {}})
    wire = responses.tools_to_wire([spec])

    assert wire == [
        {
            "type": "function",
            "name": "look",
            "description": "d",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        }
    ]
    assert responses.read_tools(wire) == to_tools(wire) == (spec,)
    wire[0]["parameters"]["properties"]["x"] = 1
    assert spec.parameters == {"type": "object", "properties": {}}


def sealed(history):
    """Thinking with a signature as a provider of this format gives it, so that it can be sent back."""

    def own(part):
        return replace(part, redacted="sealed") if isinstance(part, Thinking) and part.signature else part

    return [replace(one, parts=tuple(map(own, one.parts))) for one in history]


@quick
@given(TANGLES.map(sealed))
def test_whatever_comes_is_sent_legal(history):
    assert responses_faults(responses.to_wire(history).items) == []


@quick
@given(TANGLES.map(sealed))
def test_nothing_leaves_unseen(history):
    """Every text of the input is in what is sent, or said to be left out; of thinking, that it is left out."""
    tangled, marks = marked(history)
    wire = responses.to_wire(tangled)
    told, sent = " ".join(wire.repairs), str(wire.items)
    thought = str([part.text for one in tangled for part in one.parts if isinstance(part, Thinking)])

    for mark in marks:
        silent = mark in thought and "its thinking is not sent" in told
        assert mark in sent or mark in told or silent


def as_the_format_holds_it(history):
    """A legal history with what the format loses taken out of it, in the words of the module's head."""
    done = []
    for message, sent in zip(history, responses.to_wire(history).messages, strict=True):
        replayed = {item["id"] for item in sent if item["type"] == "reasoning"}
        parts = []
        for part in message.parts:
            match part:
                case Thinking() if part.signature in replayed and part.redacted:
                    replayed.discard(part.signature)
                    parts.append(part)
                case Thinking():
                    pass
                case ToolCall():
                    parts.append(replace(part, id=""))
                case ToolResult():
                    words = part.text or (FAILED if part.error and not part.images else "")
                    parts.append(ToolResult(call_id="", name=part.name, text=words, images=part.images))
                case _:
                    parts.append(part)
        own = message.source in ("developer", "refusal")
        default = {"system": "system", "user": "person", "assistant": "model"}.get(
            message.role, message.source
        )
        done.append(replace(message, parts=tuple(parts), source=message.source if own else default))
    return [
        message
        for role, group in groupby(done, lambda one: one.role)
        for message in ([_one(list(group))] if role == "assistant" else group)
    ]


def _one(messages):
    whole = messages[0]
    for message in messages[1:]:
        whole = responses.joined(whole, message)
    return whole


def idless(messages):
    def bare(part):
        if isinstance(part, ToolCall):
            return replace(part, id="")
        return replace(part, call_id="") if isinstance(part, ToolResult) else part

    return [replace(one, parts=tuple(map(bare, one.parts))) for one in messages]


@quick
@given(HISTORIES.map(sealed))
def test_what_is_written_is_read_back_but_for_what_the_format_loses(history):
    back = responses.read(responses.to_wire(history).items)
    assert idless(back) == as_the_format_holds_it(history)


# ---- told from other shapes


def test_items_are_told_from_the_messages_of_other_formats():
    items = [
        {"role": "user", "content": "t"},
        reasoning("rs_1"),
        call("a"),
        call("b"),
        answer("a", "1"),
        answer("b", "2"),
        {"role": "assistant", "content": "plain"},
        said("user", "go on"),
    ]

    read = reading(items)

    assert read.messages == responses.read(items)
    assert read.positions == (0, 1, 4, 5, 6, 7)
    assert read.unread == ()
    assert shape_of(items, "ethang") == "responses"
    assert shape_of({"role": "user", "content": "x"}, "responses") == "responses"


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Anthropic's object"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
    ],
)
def test_messages_of_other_formats_are_no_items(other):
    assert shape_of(other, "ethang") != "responses"


@quick
@given(HISTORIES.map(sealed))
def test_what_is_written_is_read_the_same_by_whoever_does_not_know_the_shape(history):
    items = responses.to_wire(history).items
    assert to_messages(items) == responses.read(items)


def test_what_an_item_holds_that_is_not_read_is_said():
    searched = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "rain"}}
    custom = {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x", "namespace": "n"}
    odd = {**said("user", "t"), "attachments": ["AAAA"]}
    file = {"type": "input_file", "file_id": "f"}

    read = reading([searched, custom, answer("a", [file]), odd, said("assistant", "x", phase="final_answer")])

    assert read.unread == (
        (0, "an item of type 'web_search_call' is sent as text"),
        (1, "its call of type 'custom' is sent as a function call"),
        (2, "its part of type 'input_file' is sent as text"),
        (3, "its field 'attachments' is not read"),
    )


def test_a_whole_response_is_told_what_to_pass():
    with pytest.raises(BadMessage, match=r"message 0: this is a whole response; pass its \.output"):
        to_messages({"object": "response", "id": "resp", "output": []})
