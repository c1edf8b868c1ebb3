"""Anthropic Messages: what is sent passes the official types, and what real servers answer is read as it was meant."""

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    from_json,
    system,
    tool,
    user,
)
from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.line import Wire
from ethang_nb.providers.models.quirks import PLAIN, Quirks
from ethang_nb.providers.protocol import Request, Usage
from ethang_nb.providers.wires.anthropic import MessagesWire
from tests.formats.histories import HISTORIES
from tests.providers.fed import JSON, call, feed, hear, recorded, reply_of, said, sse, thought
from tests.providers.referee import check_messages, check_messages_answer, check_messages_event

LOOK = ToolSpec(
    name="look", description="Looks.", parameters={"type": "object", "properties": {"x": {"type": "integer"}}}
)
LONG = "word " * 1_500
CACHED = Quirks(cache_control=True)
TASK = (system("You work."), user("task"))
THOUGHT = thought("hm", "c2ln")
CALL = ToolCall(id="a", name="look", arguments='{"x":1}')
TURN = (said(THOUGHT, "so", CALL), tool(ToolResult(call_id="a", name="look", text="seen")))


def request(messages=TASK, **given_):
    asked = {"model": "anthropic/claude-sonnet-4-5", "messages": tuple(messages), "max_output": 99}
    return Request(**asked | given_)


def body(messages=TASK, quirks=PLAIN, **given_):
    return MessagesWire(quirks).encode(request(messages, **given_), model="claude-sonnet-4-5")


def start(usage=None, content=()):
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "content": list(content), "model": "claude",
        "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 1} if usage is None else usage,
    }  # fmt: skip
    return {"type": "message_start", "message": message}


def block(index, **content):
    return {"type": "content_block_start", "index": index, "content_block": content}


def delta(index, kind, value):
    name = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}.get(kind)
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": kind, name or "partial_json": value},
    }


def stopped(index):
    return {"type": "content_block_stop", "index": index}


def end(reason="end_turn", usage=None, **more):
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None, **more},
            "usage": {"output_tokens": 7} if usage is None else usage,
        },
        {"type": "message_stop"},
    ]


def text(index, *pieces):
    pieces = [delta(index, "text_delta", piece) for piece in pieces]
    return [block(index, type="text", text=""), *pieces, stopped(index)]


def used(index, *pieces, id="a", name="look", **more):  # noqa: A002 - as the field is called
    pieces = [delta(index, "input_json_delta", piece) for piece in pieces]
    return [
        block(index, type="tool_use", id=id, name=name, **({"input": {}} | more)),
        *pieces,
        stopped(index),
    ]


def parsed(*events):
    return reply_of(MessagesWire().parser(), events)


def test_the_wire_says_where_it_goes():
    wire: Wire = MessagesWire()

    assert "messages" == wire.path
    assert {"anthropic-version": "2023-06-01"} == dict(wire.headers)


# ---- requests


def test_a_request_has_everything_before_its_messages():
    sent = body((*TASK, *TURN), tools=(LOOK,), params={"service_tier": "auto", "metadata": {"user_id": "u"}})
    found = check_messages(sent)

    assert [
        "model",
        "max_tokens",
        "stream",
        "metadata",
        "service_tier",
        "tools",
        "system",
        "messages",
    ] == list(found)
    assert [{"type": "text", "text": "You work."}] == found["system"]
    assert (2 + 1 + len(TURN), ()) == (len(sent.pieces), sent.notices)


def test_without_a_system_text_the_field_is_left_out():
    assert "system" not in check_messages(body((user("u"),)))


def test_a_history_that_begins_with_the_assistant_gets_a_user_before_it():
    sent = check_messages(body((assistant("a"), user("u"))))["messages"]

    assert ["user", "assistant", "user"] == [one["role"] for one in sent]


def test_neighbours_of_one_role_are_one_message():
    history = (user("a"), user("b"), *TURN, user("c"), assistant("d"), assistant("e"), user("f"))
    sent = check_messages(body(history))["messages"]

    assert ["user", "assistant", "user", "assistant", "user"] == [one["role"] for one in sent]
    assert ["tool_result", "text"] == [one["type"] for one in sent[2]["content"]]
    assert len(history) + 2 == len(body(history).pieces)


def test_parameters_never_override_what_the_session_sets():
    given_ = {
        "max_tokens": 7, "messages": [], "model": "x", "stream": False, "system": "s", "tools": [],
        "cache_control": {"type": "ephemeral"}, "stop_sequences": ["x"],
    }  # fmt: skip
    sent = body(params=given_)
    found = check_messages(sent)

    assert ("claude-sonnet-4-5", 99, True, ["x"]) == (
        found["model"], found["max_tokens"], found["stream"], found["stop_sequences"],
    )  # fmt: skip
    assert "cache_control" not in found
    assert list(sent.notices) == [
        f"the parameter {name} is not sent: the session sets that itself"
        for name in ("cache_control", "max_tokens", "messages", "model", "stream", "system", "tools")
    ]


def test_a_parameter_that_the_sdk_no_longer_knows_goes_through():
    """Models before the newest take a temperature; the quirks say which do not."""
    assert 0 == json.loads(body(params={"temperature": 0}).bytes)["temperature"]


def test_what_a_model_does_not_take_is_left_out_with_a_notice():
    quirks = Quirks(sampling=False, forced_tools=False)
    params = {"temperature": 1, "top_k": 3, "tool_choice": {"type": "any"}, "stop_sequences": ["x"]}
    sent = body(quirks=quirks, params=params, tools=(LOOK,))

    assert not {"temperature", "top_k", "tool_choice"} & check_messages(sent).keys()
    assert {"temperature", "top_k", "tool_choice"} == {line.split()[2] for line in sent.notices}
    kept = body(quirks=quirks, params={"tool_choice": {"type": "auto"}}, tools=(LOOK,))
    assert ({"type": "auto"}, ()) == (check_messages(kept)["tool_choice"], kept.notices)


def test_tools_get_schemas_that_the_api_takes():
    odd = ToolSpec(name="odd", parameters={"oneOf": [{"properties": {"a": {}}}]})
    sent = body(tools=(odd, ToolSpec(name="bare", parameters={})))

    assert [{"a": {}}, {}] == [one["input_schema"]["properties"] for one in check_messages(sent)["tools"]]
    assert "oneOf of its schema not sent" in sent.notices[0]


def test_a_history_with_calls_has_its_tools_named_even_where_none_are_offered():
    sent = body((*TASK, *TURN))
    found = check_messages(sent)

    assert (["look"], {"type": "none"}) == ([one["name"] for one in found["tools"]], found["tool_choice"])
    assert "none can be called" in sent.notices[0]
    assert "tools" not in check_messages(body())
    assert "tools" not in check_messages(body((*TASK, *TURN), Quirks(tools=False), tools=(LOOK,)))


def test_a_schema_goes_into_output_config_and_is_closed():
    inner = {"type": "object", "properties": {"b": {"enum": [{"type": "object"}]}}}
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}}
    found = check_messages(body(schema=schema, params={"output_config": {"effort": "high"}}))["output_config"]

    assert ("high", "json_schema") == (found["effort"], found["format"]["type"])
    closed = found["format"]["schema"]
    assert (
        closed["additionalProperties"] is closed["properties"]["a"]["items"]["additionalProperties"] is False
    )
    assert {"b": {"enum": [{"type": "object"}]}} == closed["properties"]["a"]["items"]["properties"]
    assert "additionalProperties" not in schema
    left = body(schema=schema, quirks=Quirks(schema=False))
    assert "output_config" not in check_messages(left)
    assert "cannot be held to one" in left.notices[0]


def test_images_go_to_models_that_take_them_and_leave_a_line_elsewhere():
    image = Image(media_type="image/png", data="AAAA")
    history = (
        Message(role="user", parts=(Text(text="see"), image)),
        said(CALL),
        tool(ToolResult(call_id="a", name="look", images=(image,))),
    )

    sent = body(history)
    check_messages(sent)
    assert 2 == sent.bytes.count(b'"data":"AAAA"')
    blind = body(history, Quirks(images=False))
    assert b"AAAA" not in blind.bytes
    assert "image left out" in check_messages(blind)["messages"][2]["content"][0]["content"]


def test_thinking_goes_back_verbatim_to_its_own_provider_only():
    history = (*TASK, replace(TURN[0], source="anthropic/claude-opus-5"), TURN[1])

    ours = body(history, tools=(LOOK,))
    assert ["thinking", "text", "tool_use"] == [
        one["type"] for one in check_messages(ours)["messages"][1]["content"]
    ]
    assert {"type": "thinking", "thinking": "hm", "signature": "c2ln"} in json.loads(ours.bytes)["messages"][
        1
    ]["content"]
    assert () == ours.notices
    theirs = body(history, tools=(LOOK,), model="llama-server/some")
    assert ["text", "tool_use"] == [one["type"] for one in check_messages(theirs)["messages"][1]["content"]]
    assert (
        "thinking of anthropic/claude-opus-5 is not sent: only its own provider can read it",
    ) == theirs.notices


MARK = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("history", "tools", "head", "whole"),
    [
        ((system(LONG), user("u")), (LOOK,), "system", True),
        ((user("u"),), (replace(LOOK, description=LONG),), "tools", True),
        ((system("s"), user(LONG)), (LOOK,), "", True),
        ((system("s"), user("u"), *TURN), (LOOK,), "", False),
    ],
)
def test_the_cache_is_marked_where_a_prefix_is_long_enough(history, tools, head, whole):
    found = check_messages(body(history, CACHED, tools=tools))
    marked = [
        name for name in ("system", "tools") if any("cache_control" in one for one in found.get(name, ()))
    ]

    assert ([head] if head else []) == marked
    assert whole is (MARK == found.get("cache_control"))
    assert "cache_control" not in json.dumps(found["messages"])
    assert b"cache_control" not in body(history, tools=tools).bytes


def test_how_long_the_cache_keeps_a_prefix_may_be_chosen():
    hour = {"type": "ephemeral", "ttl": "1h"}
    found = check_messages(body((system(LONG), user("u")), CACHED, params={"cache_control": hour}))

    assert hour == found["cache_control"] == found["system"][-1]["cache_control"]


def test_the_mark_changes_no_piece_but_head_and_tail():
    history = (system("s"), user("u"))
    small, large = body(history, CACHED), body((*history, assistant("a"), user(LONG)), CACHED)

    assert b"cache_control" not in small.bytes and b"cache_control" in large.pieces[-1]
    assert small.pieces[:-1] == large.pieces[: len(small.pieces) - 1]


@pytest.mark.parametrize(
    ("last", "quirks", "params", "told"),
    [
        ("half", PLAIN, {}, False),
        ("half ", PLAIN, {}, True),
        ("half", Quirks(prefill=False), {}, True),
        ("half", PLAIN, {"thinking": {"type": "enabled", "budget_tokens": 1024}}, True),
        ("half", PLAIN, {"thinking": {"type": "disabled"}}, False),
    ],
)
def test_a_model_that_does_not_continue_its_own_words_is_told_to_go_on(last, quirks, params, told):
    sent = body((*TASK, assistant(last)), quirks, params=params)

    assert ("user" if told else "assistant") == check_messages(sent)["messages"][-1]["role"]
    assert told is any("told to go on" in line for line in sent.notices)


QUIRKS = st.builds(
    Quirks, images=st.booleans(), prefill=st.booleans(), cache_control=st.booleans(), cached_from=st.just(40)
)


@settings(max_examples=150, deadline=None)
@given(history=HISTORIES, quirks=QUIRKS, tools=st.sampled_from(((), (LOOK,))))
def test_whatever_the_history_the_request_is_legal(history, quirks, tools):
    check_messages(body((user("u"), *history), quirks, tools=tools))


@settings(max_examples=60, deadline=None)
@given(history=HISTORIES, quirks=QUIRKS.map(lambda one: replace(one, cached_from=10**6)))
def test_a_history_that_grows_keeps_its_bytes(history, quirks):
    history = [one for one in history if one.role != "system"]
    whole = body(history, quirks, tools=(LOOK,)).pieces
    for stop in range(len(history)):
        if history[stop].role == "tool":
            continue  # in the middle of a turn nothing is sent
        part = body(history[:stop], quirks, tools=(LOOK,)).pieces[:-1]
        assert part == whole[: len(part)]


# ---- answers


def test_text_comes_piece_by_piece():
    heard = []
    parser = MessagesWire().parser(heard.append)

    feed(parser, [start(), {"type": "ping"}, block(0, type="text", text="")])
    assert (parser.heard, parser.partial()) == (False, None)
    feed(parser, [delta(0, "text_delta", "He"), delta(0, "text_delta", "llo")])
    assert parser.heard is True
    assert said("Hello") == from_json(parser.partial())
    assert Usage(input=40) == parser.usage(), "of the output only its beginning is reported yet"
    reply = reply_of(parser, [stopped(0), *end()])
    assert (["He", "llo"], said("Hello"), "end") == (heard, reply.message, reply.stop)
    assert (Usage(input=40, output=7), ()) == (reply.usage, reply.notices)


def test_our_fixtures_are_what_the_format_has():
    thinking = [
        block(0, type="thinking", thinking="", signature=""), delta(0, "thinking_delta", "x"),
        delta(0, "signature_delta", "s"), block(1, type="redacted_thinking", data="d"),
        block(2, type="server_tool_use", id="s", name="web_search", input={}),
    ]  # fmt: skip
    for event in [start(), *text(3, "x"), *used(4, "{}"), *thinking, *end("tool_use")]:
        check_messages_event(event)
    check_messages_answer(whole_answer())


@pytest.mark.parametrize(
    ("reason", "with_call", "stop"),
    [
        ("end_turn", False, "end"), ("end_turn", True, "calls"), ("stop_sequence", False, "end"),
        ("tool_use", True, "calls"), ("tool_use", False, "end"), ("max_tokens", False, "length"),
        ("max_tokens", True, "length"), ("refusal", False, "refused"), ("pause_turn", False, "cut"),
        ("quite_new", False, "end"), (None, False, "end"),
    ],
)  # fmt: skip
def test_why_a_reply_ended(reason, with_call, stop):
    events = used(0, '{"body": "abc') if with_call else text(0, "x")
    reply = parsed(start(), *events, *end(reason))

    assert stop == reply.stop
    assert [call("look", '{"body": "abc')] * with_call == list(reply.message.calls)
    assert (reason in ("quite_new", None)) is bool(reply.notices)
    assert (reason == "pause_turn") is bool(reply.why)


def test_a_text_that_is_none_is_named():
    reply = parsed(start(), block(0, type="text", text=""), delta(0, "text_delta", 42), *end())
    assert ("text of type int in the answer cannot be kept: it is no text",) == reply.notices


def test_a_paused_turn_says_that_it_was_paused_and_one_that_broke_off_does_not():
    whole = [start(), *text(0, "x"), *end("pause_turn")]
    paused, broken = parsed(*whole), parsed(*whole[:-1])

    assert ("cut", "cut") == (paused.stop, broken.stop)
    assert "paused a long turn (pause_turn)" in paused.why
    assert "" == broken.why


def test_a_window_that_is_full_is_an_overflow_that_keeps_what_came():
    hearing = hear(
        MessagesWire().parser(),
        sse([start(), *text(0, "half"), *end("model_context_window_exceeded")], named=True),
    )

    assert isinstance(hearing.outcome, Overflow)
    assert said("half") == from_json(hearing.outcome.partial)


def test_why_a_provider_refused_is_said():
    details = {"type": "refusal", "category": None, "explanation": "not\nthis"}
    reply = parsed(start(), *end("refusal", stop_details=details))

    assert ("refused", ("the provider says why it refused: not this",)) == (reply.stop, reply.notices)


@pytest.mark.parametrize("missing", [1, 2])
def test_a_stream_without_its_end_is_cut(missing):
    reply = parsed(start(), *text(0, "The ans"), *end()[:-missing])

    assert ("cut", said("The ans")) == (reply.stop, reply.message)
    cut = parsed(start(), *used(0, '{"x":')[:-1])
    assert ("cut", (call("look", '{"x":'),)) == (cut.stop, cut.message.calls)


@pytest.mark.parametrize("events", [[], [start()], [{"type": "ping"}], [start(), {"type": "message_stop"}]])
def test_a_stream_in_which_nothing_is_said_is_a_fault(events):
    with pytest.raises(ProviderFault, match="empty stream") as caught:
        parsed(*events)
    assert caught.value.retryable is True


OVERLOADED = {"type": "overloaded_error", "message": "x"}


@pytest.mark.parametrize(
    ("event", "kind", "retryable"),
    [
        ({"type": "error", "error": OVERLOADED}, ProviderFault, True),
        ({"error": OVERLOADED}, ProviderFault, True),
        (
            {"error": {"code": 400, "message": "request (3021 tokens) exceeds the available context size (512 tokens)",
                       "type": "exceed_context_size_error", "n_prompt_tokens": 3021, "n_ctx": 512}},
            Overflow, None,
        ),
    ],
)  # fmt: skip
def test_an_error_inside_a_stream_is_raised_and_keeps_what_came(event, kind, retryable):
    """SSE-08, in both forms of the wrapper."""
    raw = sse([start(), *text(0, "half")], named=True)
    raw += f"event: error\ndata: {json.dumps(event)}\n\n".encode()
    hearing = hear(MessagesWire().parser(), raw)

    assert type(hearing.outcome) is kind
    assert said("half") == from_json(hearing.outcome.partial)
    assert retryable == getattr(hearing.outcome, "retryable", None)


def test_a_broken_line_is_a_fault_and_not_passed_over():
    hearing = hear(
        MessagesWire().parser(), sse([start(), *text(0, "a")], named=True) + b'data: {"type": "con\n\n'
    )

    assert isinstance(hearing.outcome, ProviderFault)
    assert said("a") == from_json(hearing.outcome.partial)


def test_unknown_events_and_deltas_are_passed_over():
    reply = parsed(
        start(), {"type": "brand_new", "x": 1}, {"no": "type"}, *text(0, "a")[:-1],
        delta(0, "citations_delta", "c"), {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta"}},
        {"type": "content_block_delta", "index": 0, "delta": None}, delta(0, "text_delta", "b"), *end(),
    )  # fmt: skip

    assert (said("ab"), ()) == (reply.message, reply.notices)


def test_the_name_of_an_event_counts_where_its_data_has_no_type():
    parser = MessagesWire().parser()
    for event in [start(), *text(0, "a"), *end()]:
        parser.event(event["type"], json.dumps({key: value for key, value in event.items() if key != "type"}))

    assert said("a") == parser.reply().message


def test_thinking_keeps_its_order_and_every_byte():
    reply = parsed(
        start(), block(0, type="thinking", thinking="", signature=""), delta(0, "thinking_delta", " a"),
        delta(0, "thinking_delta", "b\n"), delta(0, "signature_delta", "c2"), delta(0, "signature_delta", "ln"),
        stopped(0), *text(1, "so"), block(2, type="redacted_thinking", data="b3Bh"), stopped(2),
        block(3, type="thinking", thinking="", signature=""), delta(3, "signature_delta", "bm8="), stopped(3),
        *used(4, '{"x":', "1}"), *end("tool_use"),
    )  # fmt: skip

    expected = (
        thought(" ab\n", "c2ln"), Text(text="so"), thought(redacted="b3Bh"), thought("", "bm8="), CALL,
    )  # fmt: skip
    assert expected == reply.message.parts
    sent = check_messages(body((*TASK, reply.message, TURN[1]), tools=(LOOK,)))["messages"][1]["content"]
    assert ["thinking", "text", "redacted_thinking", "thinking", "tool_use"] == [one["type"] for one in sent]


@pytest.mark.parametrize(
    ("events", "arguments"),
    [
        (used(0), "{}"),
        (used(0, ""), "{}"),
        (used(0, "", '{"x":', "1}"), '{"x":1}'),
        (
            [one for one in used(0, "{", "}") if one.get("content_block", {}).pop("input", 1) is not None],
            "{}",
        ),
        (used(0, input={"x": 1}), '{"x":1}'),
        (used(0, '{"x":2}', input={"x": 1}), '{"x":2}'),
        (used(0, input='{"x": 1}'), '{"x": 1}'),
        (used(0, input=None), "{}"),
    ],
)
def test_the_input_of_a_call_comes_in_pieces_or_at_once_or_not_at_all(events, arguments):
    reply = parsed(start(), *events, *end("tool_use"))

    assert (call("look", arguments),) == reply.message.calls


def test_calls_without_an_id_or_with_the_same_get_different_ones():
    reply = parsed(start(), *used(0, id=""), *used(1, id="x"), *used(2, id="x"), *end("tool_use"))

    assert ["call_0", "x", "x_2"] == [one.id for one in reply.message.calls]


def test_blocks_that_all_have_one_index_or_none_are_told_apart():
    for number in (0, None):
        reply = parsed(start(), *text(number, "a", "b"), *used(number, "{}"), *text(number, "c"), *end())
        assert said("ab", call("look"), "c") == reply.message


def test_blocks_of_other_types_become_texts_that_say_so():
    reply = parsed(
        start(), block(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", '{"query": "cats"}'), stopped(0),
        block(1, type="web_search_tool_result", tool_use_id="s", content=[{"type": "web_search_result", "url": "u"}]),
        *text(2, "Cats."), *end(),
    )  # fmt: skip

    first, second, third = (part.text for part in reply.message.parts)
    assert "server_tool_use" in first and "cats" in first
    assert "web_search_tool_result" in second
    assert ("Cats.", "end", ()) == (third, reply.stop, reply.message.calls)


def test_usage_is_brought_up_to_date_by_what_comes_later():
    begun = {
        "input_tokens": 10,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 5,
        "output_tokens": 1,
    }
    later = {
        "output_tokens": 9,
        "input_tokens": 10,
        "cache_read_input_tokens": 31,
        "cache_creation_input_tokens": 5,
    }

    expected = Usage(input=45, output=7, cached=30, written=5)
    assert expected == parsed(start(begun), *text(0, "x"), *end()).usage
    assert (
        Usage(input=46, output=9, cached=31, written=5)
        == parsed(start(begun), *text(0, "x"), *end(usage=later)).usage
    )
    # Proxies that count only at the end, and such that repeat a 0 for what they said before.
    late = parsed(start({"input_tokens": 0, "output_tokens": 0}), *text(0, "x"), *end(usage=later)).usage
    assert Usage(input=46, output=9, cached=31, written=5) == late
    assert (
        expected
        == parsed(start(begun), *text(0, "x"), *end(usage={"output_tokens": 7, "input_tokens": 0})).usage
    )
    assert parsed(start({}), *text(0, "x"), *end(usage={})).usage is None


def whole_answer(**more):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "so", "citations": None},
            {"type": "tool_use", "id": "a", "name": "look", "input": {"x": 1}},
        ],
        "model": "claude",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 7},
    } | more


def test_an_answer_that_is_no_stream_is_read_by_the_same_rules():
    reply = hear(MessagesWire().parser(), json.dumps(whole_answer()).encode(), JSON).outcome

    assert (TURN[0], "calls", Usage(input=40, output=7)) == (reply.message, reply.stop, reply.usage)


@pytest.mark.parametrize(
    "answer", [{}, [], None, {"content": None}, {"type": "error", "error": OVERLOADED}, {"error": OVERLOADED}]
)
def test_a_body_that_is_no_answer_is_a_fault(answer):
    parser = MessagesWire().parser()

    with pytest.raises(ProviderFault):
        parser.whole(answer)


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "content_block_start", "index": [1], "content_block": {"type": ["x"]}},
        {"type": "content_block_start", "index": 9, "content_block": None},
        {"type": "content_block_start", "index": 9, "content_block": {"type": "text", "text": 7}},
        {"type": "message_delta", "delta": 7, "usage": [1]},
        {"type": "message_start", "message": 7},
        {"type": "message_start", "message": {"content": None, "usage": None}},
        {"type": ["x"]},
    ],
)
def test_fields_of_odd_types_end_nothing(odd):
    reply = parsed(start(), *text(0, "a"), odd, *text(1, "b"), *end())

    assert ["a", "b"] == [reply.message.parts[0].text, reply.message.parts[-1].text]
    assert "end" == reply.stop


# ---- recorded answers of real servers


@pytest.mark.parametrize(
    ("name", "parts", "stop", "usage"),
    [
        ("xl_real.messages_tools_stream", ["call"], "calls", Usage(input=449, output=31, cached=448)),
        ("aimock.think.anth.s", ["thought", "42"], "end", None),
        ("aimock.weather.anth.s", ["call"], "calls", None),
    ],
)
def test_recorded_streams(name, parts, stop, usage):
    raw = recorded(name)
    replies = [hear(MessagesWire().parser(), raw, size=size).outcome for size in (1, 64, len(raw))]

    assert replies[0] == replies[1] == replies[2]
    reply = replies[0]
    kinds = {ToolCall: "call", Thinking: "thought"}
    assert parts == [kinds.get(type(part)) or part.text for part in reply.message.parts]
    assert [{"city": "Paris"}] * ("call" in parts) == [
        json.loads(one.arguments) for one in reply.message.calls
    ]
    assert stop == reply.stop
    assert usage is None or usage == reply.usage


@pytest.mark.parametrize("name", ["xl_real.messages_tools", "xl_smolT.messages_tools"])
def test_recorded_answers_that_are_no_streams(name):
    reply = hear(MessagesWire().parser(), recorded(name), JSON).outcome

    assert reply.message.parts
    assert reply.usage.input > 0


# ---- any reply, cut anywhere

_WORDS = st.text(alphabet="ab\n\u2028é\U0001f600", min_size=1, max_size=8)


@st.composite
def _cut(draw, words):
    places = draw(st.lists(st.integers(0, len(words)), max_size=3).map(sorted))
    return [words[begin:stop] for begin, stop in itertools.pairwise([0, *places, len(words)])]


@st.composite
def _replies(draw):
    """A message, the events it came in, and its stop."""
    parts, events = [], []
    for number in range(draw(st.integers(1, 5))):
        match draw(st.sampled_from(("text", "thinking", "redacted", "call"))):
            case "text":
                words = draw(_WORDS)
                parts.append(words)
                events += text(number, *draw(_cut(words)))
            case "thinking":
                words, signature = draw(_WORDS), draw(st.sampled_from(("", "c2ln")))
                parts.append(thought(words, signature))
                events.append(block(number, type="thinking", thinking="", signature=""))
                events += [delta(number, "thinking_delta", part) for part in draw(_cut(words))]
                events += [delta(number, "signature_delta", part) for part in draw(_cut(signature))]
            case "redacted":
                parts.append(thought(redacted="b3Bh"))
                events.append(block(number, type="redacted_thinking", data="b3Bh"))
            case "call":
                arguments = json.dumps(draw(st.dictionaries(_WORDS, _WORDS, max_size=2)))
                parts.append(call("look", arguments, f"id{number}"))
                events += used(number, *draw(_cut(arguments)), id=f"id{number}")
    reason = draw(st.sampled_from(("end_turn", "tool_use", "max_tokens")))
    message = said(*parts)
    stop = "length" if reason == "max_tokens" else "calls" if message.calls else "end"
    return message, [start(), *events, *end(reason)], stop


@pytest.mark.parametrize("content", [5, True, 1.5, "text", {"type": "text"}, None])
def test_a_message_that_begins_with_content_that_is_none_is_read_on(content):
    begun = start()
    begun["message"]["content"] = content
    events = [begun, block(0, type="text", text=""), delta(0, "text_delta", "Hello."), *end()]
    assert said("Hello.") == reply_of(MessagesWire().parser(), events).message


def test_half_a_character_in_arguments_can_still_be_written():
    events = [
        start(),
        block(0, type="tool_use", id="a", name="look", input={"x": "\ud83d"}),
        *end("tool_use"),
    ]
    (found,) = reply_of(MessagesWire().parser(), events).message.calls
    assert '{"x":"\ufffd"}' == found.arguments


@settings(max_examples=150, deadline=None)
@given(made=_replies(), size=st.integers(1, 400))
def test_any_reply_cut_anywhere_is_the_same_reply(made, size):
    message, events, stop = made
    reply = hear(MessagesWire().parser(), sse(events, named=True), size=size).outcome

    assert (message, stop, Usage(input=40, output=7)) == (reply.message, reply.stop, reply.usage)


@settings(max_examples=60, deadline=None)
@given(made=_replies(), data=st.data())
def test_what_has_come_so_far_is_there_at_every_point(made, data):
    message, events, _ = made
    heard = []
    parser = MessagesWire().parser(heard.append)
    feed(parser, events[: data.draw(st.integers(0, len(events)))])

    assert parser.heard is (parser.partial() is not None)
    if parser.heard:
        partial = from_json(parser.partial())
        assert "".join(heard) == "".join(part.text for part in partial.parts if isinstance(part, Text))
        assert message.text.startswith(partial.text)
        assert len(partial.parts) <= len(message.parts)
