"""Chat Completions: what is sent passes the official types, and what real servers answer is read as it was meant."""

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
from ethang_nb.errors import Misuse, Overflow, ProviderFault
from ethang_nb.formats.details import detail_of, thinking_of
from ethang_nb.providers.line import Wire
from ethang_nb.providers.models.quirks import PLAIN, Quirks
from ethang_nb.providers.protocol import Request, Usage
from ethang_nb.providers.wires.calls import as_arguments
from ethang_nb.providers.wires.openai_chat import ChatWire
from tests.formats.histories import HISTORIES
from tests.providers.fed import JSON, call, feed, hear, recorded, reply_of, said, sse, thought
from tests.providers.referee import check_chat, check_chat_answer, check_chat_event

LOOK = ToolSpec(
    name="look", description="Looks.", parameters={"type": "object", "properties": {"x": {"type": "integer"}}}
)
TASK = (system("You work."), user("task"))
TURN = (
    Message(
        role="assistant",
        parts=(Text(text="so"), ToolCall(id="a", name="look", arguments='{"x":1}')),
        source="model",
        trust="agent",
    ),
    tool(ToolResult(call_id="a", name="look", text="seen")),
)


def request(messages=TASK, **given_):
    return Request(**{"model": "openai/gpt-4o", "messages": tuple(messages), "max_output": 99} | given_)


def body(messages=TASK, quirks=PLAIN, **given_):
    return ChatWire(quirks).encode(request(messages, **given_), model="gpt-4o")


@pytest.mark.parametrize("form", [json.dumps, lambda said: said["message"]])
def test_an_event_called_error_may_tell_an_overflow_in_its_words(form):
    said = {
        "message": "request (3021 tokens) exceeds the available context size (512 tokens), try increasing it"
    }
    with pytest.raises(Overflow) as caught:
        ChatWire().parser().event("error", form(said))
    assert (3021, 512) == (caught.value.tokens, caught.value.limit)


def test_arguments_that_cannot_be_written_are_a_fault():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ProviderFault, match="nest too deep") as caught:
        as_arguments({"x": deep})
    assert caught.value.retryable


def data(*args, **given_):
    return json.loads(body(*args, **given_).bytes)


def chunk(finish=None, usage=None, **delta):
    """A chunk as the format has it."""
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **({"usage": usage} if usage else {}),
    }


def piece(index, arguments=None, name=None, id=None):  # noqa: A002 - as the field is called
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    found = {"index": index, "id": id, "function": function} | ({"type": "function"} if id else {})
    return {key: value for key, value in found.items() if value is not None}


def calls(*pieces):
    return chunk(tool_calls=list(pieces))


def usage_chunk(prompt=40, completion=7):
    total = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return chunk(usage=total) | {"choices": []}


def parsed(*events, quirks=PLAIN):
    return reply_of(ChatWire(quirks).parser(), events)


def test_the_wire_says_where_it_goes():
    wire: Wire = ChatWire()

    assert "chat/completions" == wire.path
    assert {} == dict(wire.headers)


# ---- requests


def test_a_request_has_everything_before_its_messages():
    sent = body((*TASK, *TURN), tools=(LOOK,), params={"top_p": 1, "seed": 7})

    assert list(json.loads(sent.bytes)) == [
        "model", "max_tokens", "stream", "stream_options", "seed", "top_p", "tools", "messages",
    ]  # fmt: skip
    assert check_chat(sent)["stream_options"] == {"include_usage": True}
    assert (len(TASK) + len(TURN) + 2, ()) == (len(sent.pieces), sent.notices)


@pytest.mark.parametrize(
    ("quirks", "found", "absent"),
    [
        (Quirks(output_field="max_completion_tokens"), {"max_completion_tokens": 99}, "max_tokens"),
        (Quirks(stream_usage=False), {"max_tokens": 99}, "stream_options"),
    ],
)
def test_names_of_the_head_follow_the_quirks(quirks, found, absent):
    sent = check_chat(body(quirks=quirks))

    assert found.items() <= sent.items()
    assert absent not in sent


def test_the_system_is_called_developer_only_where_a_model_wants_that():
    history = (system("s"), user("u"), system("d", source="developer"))

    assert ["system", "user", "system"] == [one["role"] for one in check_chat(body(history))["messages"]]
    sent = check_chat(body(history, Quirks(developer=True)))
    assert ["developer", "user", "developer"] == [one["role"] for one in sent["messages"]]


def test_parameters_never_override_what_the_session_sets():
    given_ = {"max_tokens": 7, "model": "other", "stream": False, "tools": [], "n": 2, "temperature": 0}
    sent = body(params=given_)

    assert {"model": "gpt-4o", "max_tokens": 99, "stream": True}.items() <= check_chat(sent).items()
    assert 0 == json.loads(sent.bytes)["temperature"]
    assert list(sent.notices) == [
        f"the parameter {name} is not sent: the session sets that itself"
        for name in ("max_tokens", "model", "n", "stream", "tools")
    ]


def test_a_parameter_that_is_no_json_is_named():
    with pytest.raises(Misuse, match="the parameter seed cannot be sent as JSON"):
        body(params={"seed": float("nan")})


@pytest.mark.parametrize(
    ("quirks", "params", "left_out"),
    [
        (Quirks(sampling=False), {"temperature": 0, "top_p": 1, "seed": 1}, ["temperature", "top_p"]),
        (Quirks(forced_tools=False), {"tool_choice": "required"}, ["tool_choice"]),
        (
            Quirks(forced_tools=False),
            {"tool_choice": {"type": "function", "function": {"name": "look"}}},
            ["tool_choice"],
        ),
        (Quirks(forced_tools=False), {"tool_choice": "auto"}, []),
        (
            Quirks(forced_tools=False),
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}},
            [],
        ),
        (PLAIN, {"tool_choice": "required", "parallel_tool_calls": False}, []),
    ],
)
def test_what_a_model_does_not_take_is_left_out_with_a_notice(quirks, params, left_out):
    sent = body(quirks=quirks, params=params, tools=(LOOK,))

    assert sorted(params.keys() - check_chat(sent).keys()) == left_out
    assert [line.split()[2] for line in sent.notices] == left_out


def test_without_tools_nothing_is_said_about_tools():
    """OpenAI refuses a tool_choice where no tools are specified."""
    for given_ in ({}, {"tools": (LOOK,), "quirks": Quirks(tools=False)}):
        sent = body(params={"tool_choice": "auto", "parallel_tool_calls": True}, **given_)
        assert not {"tools", "tool_choice", "parallel_tool_calls"} & check_chat(sent).keys()
        assert "the parameter tool_choice is not sent: no tools are sent" in sent.notices
    assert "1 tools are not sent: this model takes none" in sent.notices


def test_tools_keep_their_order_and_get_schemas_that_apis_take():
    odd = ToolSpec(
        name="odd",
        parameters={"anyOf": [{"type": "object", "properties": {"a": {}}}, {"properties": {"b": {}}}]},
    )
    sent = body(tools=(odd, LOOK, ToolSpec(name="bare", parameters={})))
    functions = [one["function"] for one in check_chat(sent)["tools"]]

    assert ["odd", "look", "bare"] == [one["name"] for one in functions]
    assert {"type": "object", "properties": {"a": {}, "b": {}}} == functions[0]["parameters"]
    assert {"type": "object", "properties": {}} == functions[2]["parameters"]
    assert ("tool odd: anyOf of its schema not sent: APIs refuse it at the top",) == sent.notices


CLOSED = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


def test_a_schema_is_strict_where_strict_mode_would_take_it():
    strict = check_chat(body(schema=CLOSED))["response_format"]["json_schema"]
    loose = check_chat(body(schema={"type": "object", "properties": {"a": CLOSED}}))["response_format"]

    assert {"name": "answer", "schema": CLOSED, "strict": True} == strict
    assert loose["json_schema"]["strict"] is False


def test_a_schema_that_a_model_cannot_be_held_to_is_left_out_with_a_notice():
    sent = body(quirks=Quirks(schema=False), schema=CLOSED)

    assert "response_format" not in check_chat(sent)
    assert ("the schema of the answer is not sent: this model cannot be held to one",) == sent.notices


def test_images_go_to_models_that_take_them_and_leave_a_line_elsewhere():
    image = Image(media_type="image/png", data="AAAA")
    history = (
        Message(role="user", parts=(Text(text="see"), image)),
        *TURN[:1],
        tool(ToolResult(call_id="a", name="look", text="seen", images=(image,))),
    )

    sent = check_chat(body(history))["messages"]
    assert "data:image/png;base64,AAAA" == sent[0]["content"][1]["image_url"]["url"]
    assert ["user", "assistant", "tool", "user"] == [one["role"] for one in sent]
    blind = body(history, Quirks(images=False))
    assert b"AAAA" not in blind.bytes
    assert check_chat(blind)["messages"][2]["content"] == (
        "seen\n[image left out: image/png; this model takes no images]"
    )
    assert ("images are not sent: this model takes none; a line of text stands for each",) == blind.notices


def thinking_turn(source="model", **thinking):
    parts = (thought(**thinking), *TURN[0].parts)
    return (*TASK, replace(TURN[0], parts=parts, source=source), TURN[1])


def test_thinking_goes_back_in_the_field_that_a_server_has_for_it():
    quirks = Quirks(reasoning_field="reasoning_content")
    sent = body(thinking_turn(text=" so\n"), quirks)

    assert " so\n" == check_chat(sent, also=("reasoning_content",))["messages"][2]["reasoning_content"]
    assert () == sent.notices
    without = body(thinking_turn(text="so"))
    assert "reasoning_content" not in check_chat(without)["messages"][2]
    assert (
        "thinking is not sent back: there is no place for it in this model's requests",
    ) == without.notices


@pytest.mark.parametrize(
    ("source", "kept"),
    [("openai/gpt-5", True), ("model", True), ("", True), ("anthropic/claude-opus-5", False)],
)
def test_thinking_goes_back_to_its_own_provider_only(source, kept):
    sent = body(
        thinking_turn(source, text="so"), Quirks(reasoning_field="reasoning"), model="openai/o3?seed=1"
    )

    assert kept is ("reasoning" in check_chat(sent, also=("reasoning",))["messages"][2])
    assert kept is not any("only its own provider can read it" in line for line in sent.notices)


DETAILS = [
    {
        "type": "reasoning.text",
        "text": " p\n",
        "signature": "c2ln",
        "format": "anthropic-claude-v1",
        "index": 0,
    },
    {"type": "reasoning.text", "text": "q", "format": "unknown", "id": "t1", "index": 1},
    {"type": "reasoning.summary", "summary": "s", "format": "openai-responses-v1", "index": 2},
    {"type": "reasoning.encrypted", "data": "b3Bh", "index": 3},
    {
        "type": "reasoning.encrypted",
        "data": "b3Bi",
        "format": "openai-responses-v1",
        "id": "rs_1",
        "index": 4,
    },
]


def test_reasoning_details_of_openrouter_come_and_go_back_as_they_were():
    quirks = Quirks(reasoning_field="reasoning_details")
    reply = parsed(
        chunk(reasoning=" ", reasoning_details=[DETAILS[0] | {"text": " ", "signature": None}]),
        chunk(reasoning="p\n", reasoning_details=[DETAILS[0] | {"text": "p\n", "signature": None}]),
        chunk(reasoning_details=[{"type": "reasoning.text", "signature": "c2ln", "index": 0}]),
        chunk(reasoning_details=DETAILS[1:3]),
        chunk(reasoning_details=DETAILS[3:]),
        calls(piece(0, "{}", "look", "a")),
        chunk("tool_calls"),
    )

    assert [" p\n", "q", "s", "", ""] == [part.text for part in reply.message.parts[:5]]
    assert thought(text=" p\n", signature="c2ln") == reply.message.parts[0]
    assert thought(redacted="b3Bh") == reply.message.parts[3]
    sent = check_chat(body((*TASK, reply.message, TURN[1]), quirks), also=("reasoning_details",))
    bare = [{key: value for key, value in one.items() if key != "index"} for one in DETAILS]
    del bare[0]["format"]  # the one that is meant where none is named
    assert bare == sent["messages"][2]["reasoning_details"]


@pytest.mark.parametrize(
    "odd", [{}, {"type": 7, "text": "x"}, {"type": "reasoning.new", "more": [1], "text": "x"}]
)
def test_odd_reasoning_details_are_kept_as_far_as_they_can_be(odd):
    detail = detail_of(thinking_of(odd))

    assert odd.get("text", "") == detail["text"]
    assert odd.get("more") == detail.get("more")


def test_what_a_server_wants_back_with_a_call_goes_back_with_it():
    """Gemini 3 refuses a call without the signature of its thoughts."""
    signed = piece(0, '{"x":1}', "look", "a") | {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    reply = parsed(calls(signed), calls(piece(1, "{}", "look", "b")), chunk("tool_calls"))
    history = (user("t"), replace(reply.message, source="gemini/gemini-3-pro"), *RESULTS)

    ours = body(history, model="gemini/gemini-3-flash")
    first, second = json.loads(ours.bytes)["messages"][1]["tool_calls"]
    assert {"google": {"thought_signature": "c2ln"}} == first["extra_content"]
    assert {"id", "type", "function"} == second.keys()
    assert () == ours.notices
    theirs = body(
        history, Quirks(reasoning_field="reasoning_details"), model="openrouter/google/gemini-3-pro"
    )
    assert b"thought_signature" not in theirs.bytes
    check_chat(theirs)


RESULTS = (
    tool(ToolResult(call_id="a", name="look", text="seen")),
    tool(ToolResult(call_id="b", name="look", text="seen")),
)


def test_arguments_that_are_no_object_go_back_inside_one():
    """PRV-06, PRV-07: nothing is guessed, and a server that reads arguments as JSON (llama.cpp) takes them."""
    broken = '{"path": readme"}'
    for written, sent in (
        (broken, {"arguments_as_written": broken}),
        ("", {}), (" ", {}), ("null", {}), ("{}", {}), ("[]", {"arguments_as_written": "[]"}),
        ('"{}"', {"arguments_as_written": '"{}"'}), ('{"a":1}', {"a": 1}),
    ):  # fmt: skip
        history = (*TASK, assistant(calls=[ToolCall(id="a", name="look", arguments=written)]), TURN[1])
        found = check_chat(body(history))["messages"][2]["tool_calls"][0]["function"]["arguments"]
        assert sent == json.loads(found), written
        if written.startswith("{") and written != broken:
            assert written == found  # as the model wrote it, to the byte


def test_a_call_of_a_name_that_apis_refuse_is_sent_under_another():
    history = (*TASK, assistant(calls=[ToolCall(id="a", name="functions.look é")]), TURN[1])
    sent = body(history)

    assert "functions_look__" == check_chat(sent)["messages"][2]["tool_calls"][0]["function"]["name"]
    assert "APIs refuse the name" in sent.notices[0]


def test_strict_templates_get_no_neighbours_of_one_role_and_no_late_system():
    history = (system("s"), system("t"), user("a"), user("b"), system("late"), *TURN)
    sent = body(history, Quirks(strict_alternation=True))

    assert ["system", "user", "assistant", "tool"] == [one["role"] for one in check_chat(sent)["messages"]]
    assert "a\n\nb\n\nlate" == json.loads(sent.bytes)["messages"][1]["content"]
    assert 1 == sum("a system message behind others" in line for line in sent.notices)


def test_a_model_that_does_not_continue_its_own_words_is_told_to_go_on():
    history = (*TASK, assistant("half"))

    assert "assistant" == check_chat(body(history))["messages"][-1]["role"]
    sent = body(history, Quirks(prefill=False))
    assert {"role": "user", "content": "Go on."} == check_chat(sent)["messages"][-1]
    assert "told to go on" in sent.notices[0]
    assert sent.pieces[:-1] == body(history).pieces[:-1]


def test_a_call_with_no_content_beside_it_is_kept():
    """PRV-10."""
    history = (user("t"), assistant(calls=[ToolCall(id="a", name="look")]), TURN[1])

    sent = check_chat(body(history))["messages"]
    assert ["user", "assistant", "tool"] == [one["role"] for one in sent]
    assert "look" == sent[1]["tool_calls"][0]["function"]["name"]


QUIRKS = st.builds(
    Quirks,
    images=st.booleans(),
    developer=st.booleans(),
    prefill=st.booleans(),
    strict_alternation=st.booleans(),
    output_field=st.sampled_from(("max_tokens", "max_completion_tokens")),
    reasoning_field=st.sampled_from(("", "reasoning_content", "reasoning_details")),
)


@settings(max_examples=150, deadline=None)
@given(history=HISTORIES, quirks=QUIRKS)
def test_whatever_the_history_the_request_is_legal(history, quirks):
    check_chat(body(history, quirks, tools=(LOOK,)), also=("reasoning_content", "reasoning_details"))


@settings(max_examples=60, deadline=None)
@given(history=HISTORIES, quirks=QUIRKS.map(lambda one: replace(one, strict_alternation=False)))
def test_a_history_that_grows_keeps_its_bytes(history, quirks):
    whole = body(history, quirks).pieces
    for end in range(len(history)):
        if end and history[end].role == "tool":
            continue  # in the middle of a turn nothing is sent
        part = body(history[:end], quirks).pieces[:-1]
        assert part == whole[: len(part)]


def test_the_same_request_has_the_same_bytes_whatever_the_order_of_its_parameters():
    assert body(params={"a": 1, "b": 2}).bytes == body(params={"b": 2, "a": 1}).bytes


# ---- answers


def test_text_comes_piece_by_piece():
    heard = []
    parser = ChatWire().parser(heard.append)

    assert parser.heard is False and parser.partial() is None
    feed(parser, [chunk(role="assistant", content=""), chunk(content=None)])
    assert parser.heard is False
    feed(parser, [chunk(content="He"), chunk(content="llo")])
    assert parser.heard is True
    assert said("Hello") == from_json(parser.partial())
    reply = reply_of(parser, [chunk("stop"), usage_chunk(), "[DONE]"])
    assert (["He", "llo"], said("Hello"), "end") == (heard, reply.message, reply.stop)
    assert (Usage(input=40, output=7), ()) == (reply.usage, reply.notices)


def test_our_fixtures_are_what_the_format_has():
    events = [
        chunk(role="assistant", content=""), calls(piece(0, "", "look", "a")), calls(piece(0, "{}")),
        chunk("tool_calls"), usage_chunk(),
    ]  # fmt: skip
    for event in events:
        check_chat_event(event)
    check_chat_event(chunk(reasoning_content="x"), also=("reasoning_content",))
    check_chat_answer(whole_answer())


@pytest.mark.parametrize(
    ("finish", "with_call", "stop"),
    [
        ("stop", False, "end"), ("stop", True, "calls"), ("tool_calls", True, "calls"),
        ("tool_calls", False, "end"), ("function_call", True, "calls"), ("length", False, "length"),
        ("length", True, "length"), ("content_filter", False, "refused"), ("eos", False, "end"),
        ("MAX_TOKENS", False, "length"), ("abort", False, "cut"), ("quite_new", True, "calls"),
    ],
)  # fmt: skip
def test_why_a_reply_ended(finish, with_call, stop):
    """PRV-04: a call that the limit of the output cut stands there as it came, and `length` says not to run it."""
    events = [calls(piece(0, '{"body": "abc', "look", "a"))] if with_call else [chunk(content="x")]
    reply = parsed(*events, chunk(finish), "[DONE]")

    assert stop == reply.stop
    assert [call("look", '{"body": "abc')] * with_call == list(reply.message.calls)
    assert (finish == "quite_new") is bool(reply.notices)
    assert ("broke off its answer (abort)" in reply.why) is (finish == "abort")


@pytest.mark.parametrize("content", [42, True, {"text": "x"}])
def test_a_content_that_is_no_text_is_named(content):
    reply = parsed(chunk(content=content), chunk("stop"), "[DONE]")
    assert "" == reply.message.text
    assert (
        f"content of type {type(content).__name__} in the answer cannot be kept: it is no text",
    ) == reply.notices
    assert () == parsed(chunk(content=None), chunk(content="x"), chunk("stop"), "[DONE]").notices


def test_a_window_that_is_full_is_an_overflow_that_keeps_what_came():
    hearing = hear(
        ChatWire().parser(),
        sse([chunk(content="half"), chunk("model_context_window_exceeded"), "[DONE]"]),
    )

    assert isinstance(hearing.outcome, Overflow)
    assert said("half") == from_json(hearing.outcome.partial)


def test_the_end_of_a_stream_is_a_finish_reason_or_the_done_mark():
    """SSE-06."""
    assert "cut" == parsed(chunk(content="The ans")).stop
    assert "end" == parsed(chunk(content="The ans"), chunk("stop")).stop
    reply = parsed(chunk(content="The ans"), "[DONE]")
    assert ("end", True) == (reply.stop, "no finish_reason" in reply.notices[0])
    cut = parsed(calls(piece(0, '{"x":', "look", "a")))
    assert ("cut", (call("look", '{"x":'),)) == (cut.stop, cut.message.calls)


@pytest.mark.parametrize("events", [[], ["[DONE]"], [chunk(role="assistant", content="")], [usage_chunk()]])
def test_a_stream_in_which_nothing_is_said_is_a_fault(events):
    with pytest.raises(ProviderFault, match="empty stream") as caught:
        parsed(*events)
    assert caught.value.retryable is True


def test_an_answer_without_a_word_is_one_where_the_model_says_it_ended():
    reply = parsed(chunk("stop"), usage_chunk())

    assert ((), "end", 7) == (reply.message.parts, reply.stop, reply.usage.output)


@pytest.mark.parametrize(
    ("event", "kind", "retryable"),
    [
        ({"error": {"message": "overloaded", "code": 503}}, ProviderFault, True),
        ({"error": {"message": "bad key", "code": 401}}, ProviderFault, False),
        (
            {
                "error": {
                    "message": "too long",
                    "code": "context_length_exceeded",
                    "type": "invalid_request_error",
                }
            },
            Overflow,
            None,
        ),
        (chunk("error") | {"error": {"message": "gone", "code": 502}}, ProviderFault, True),
        (chunk("error", content="x"), ProviderFault, True),
    ],
)
def test_an_error_inside_a_stream_is_raised_and_keeps_what_came(event, kind, retryable):
    """SSE-08."""
    hearing = hear(ChatWire().parser(), sse([chunk(content="half "), event, "[DONE]"]))

    assert type(hearing.outcome) is kind
    assert from_json(hearing.outcome.partial).text.startswith("half ")
    assert retryable == getattr(hearing.outcome, "retryable", None)
    assert "\n" not in str(hearing.outcome)


def test_an_event_called_error_is_one_whatever_it_carries():
    for raw in (b'event: error\ndata: {"oops":1}\n\n', b"event: error\ndata: it broke\n\n"):
        hearing = hear(ChatWire().parser(), raw)
        assert isinstance(hearing.outcome, ProviderFault)
        assert "the server failed" in str(hearing.outcome)


def test_a_broken_line_is_a_fault_and_not_passed_over():
    hearing = hear(
        ChatWire().parser(), sse([chunk(content="a"), '{"choices": [{"del', chunk("stop"), "[DONE]"])
    )

    assert isinstance(hearing.outcome, ProviderFault)
    assert hearing.outcome.retryable is True
    assert "is no JSON" in str(hearing.outcome)
    assert said("a") == from_json(hearing.outcome.partial)


def test_usage_is_taken_from_wherever_it_stands():
    """PRV-09, and usage on every chunk, beside the finish, at Groq, in llama.cpp's timings, never."""
    usage = {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47}
    early = usage | {"completion_tokens": 1}
    expected = Usage(input=40, output=7)
    last = [{"choices": [], "usage": usage}]

    for events in (
        [chunk("stop", content="ok"), *last, "[DONE]"],
        [chunk(content="o", usage=early), chunk("stop", usage=usage, content="k"), "[DONE]"],
        [chunk(content="ok", usage=early), chunk("stop") | {"usage": None}, *last],
        [chunk(content="ok"), chunk("stop") | {"x_groq": {"id": "1", "usage": usage}}],
        [{"choices": []}, chunk("stop", content="ok"), *last],
    ):
        reply = parsed(*events)
        assert ("ok", expected) == (reply.message.text, reply.usage)
    timings = {"cache_n": 30, "prompt_n": 10, "predicted_n": 7}
    assert (
        Usage(input=40, output=7, cached=30)
        == parsed(chunk("stop", content="ok") | {"timings": timings}).usage
    )
    assert parsed(chunk("stop", content="ok")).usage is None


def test_parallel_calls_in_interleaved_pieces():
    """SSE-11."""
    reply = parsed(
        calls(piece(0, "", "ta", "A")), calls(piece(1, "", "tb", "B")), calls(piece(0, '{"x":')),
        calls(piece(1, '{"y":'), piece(0, "1}")), calls(piece(1, "2}")), chunk("tool_calls"),
    )  # fmt: skip

    assert (call("ta", '{"x":1}', "A"), call("tb", '{"y":2}', "B")) == reply.message.calls


WEATHER = (call("ta", '{"x":1}', "A"), call("tb", '{"y":2}', "B"))


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([[piece(None, '{"x":1}', "ta", "A"), piece(None, '{"y":2}', "tb", "B")]], id="no-index"),
        pytest.param([[piece(None, '{"x":1}', "ta", "A")], [piece(None, '{"y":2}', "tb", "B")]], id="one-each"),
        pytest.param([[piece(0, '{"x":1}', "ta", "A")], [piece(0, '{"y":2}', "tb", "B")]], id="one-index"),
        pytest.param(
            [[piece(0, "", "ta", "A")], [piece(0, "", "tb", "B")], [piece(0, '{"x":1}', id="A")],
             [piece(0, '{"y":2}', id="B")]],
            id="one-index-interleaved",
        ),
        pytest.param(
            [[piece(0, "", "ta", "A")], [piece(0, '{"x"', "ta", "A")], [piece(0, ":1}", "ta", "A")],
             [piece(1, '{"y":2}', "tb", "B")]],
            id="all-again",
        ),
        pytest.param(
            [[piece(None, "", "ta", "A")], [piece(None, '{"x":1}')], [piece(None, '{"y":', "tb", "B")],
             [piece(None, "2}", id="B")]],
            id="no-index-in-pieces",
        ),
        pytest.param(
            [[piece(0, "", "t", "A")], [piece(0, None, "a")], [piece(0, '{"x":1}')], [piece(1, "", "tb", "B")],
             [piece(1, '{"y":2}', "tb")]],
            id="name-in-pieces",
        ),
        pytest.param([[piece(0, {"x": 1}, "ta", "A")], [piece(1, {"y": 2}, "tb", "B")]], id="as-objects"),
        pytest.param(
            [[piece(0, None, "ta", "A"), None, {}], [piece(0, '{"x":1}', None, "")], [piece(1, '{"y":2}', "tb", "B")]],
            id="with-nothing-between",
        ),
        pytest.param(
            [[piece(0, '{"x":1}', "ta", "A")], [piece(1, '{"y":2}', "tb", "B")], [piece(1, "")]], id="empty-last"
        ),
    ],
)  # fmt: skip
def test_calls_in_the_spellings_of_real_servers(deltas):
    reply = parsed(*(calls(*pieces) for pieces in deltas), chunk("tool_calls"))

    assert WEATHER == reply.message.calls


def test_calls_without_ids_get_different_ones():
    """Gemini's compatible endpoint: one index, no ids, each call whole."""
    reply = parsed(
        calls(piece(0, '{"x":1}', "ta", "")), calls(piece(0, '{"y":2}', "ta")),
        calls(piece(None, '{"z":3}', "tb"), piece(None, None, "tc")), chunk("stop"),
    )  # fmt: skip

    assert ["ta", "ta", "tb", "tc"] == [one.name for one in reply.message.calls]
    assert ['{"x":1}', '{"y":2}', '{"z":3}', "{}"] == [one.arguments for one in reply.message.calls]
    assert 4 == len({one.id for one in reply.message.calls})
    assert "calls" == reply.stop


def test_one_id_for_two_calls_becomes_two():
    reply = parsed(calls(piece(0, "{}", "ta", "x"), piece(1, "{}", "tb", "x")), chunk("tool_calls"))

    assert [("x", "ta"), ("x_2", "tb")] == [(one.id, one.name) for one in reply.message.calls]


def test_calls_of_the_old_api():
    reply = parsed(
        chunk(function_call={"name": "look", "arguments": ""}), chunk(function_call={"arguments": '{"x":'}),
        chunk(function_call={"arguments": "1}"}), chunk("function_call"),
    )  # fmt: skip

    assert ((call("look", '{"x":1}', "function_look"),), "calls") == (reply.message.calls, reply.stop)


@pytest.mark.parametrize(
    "written", ["", " ", "null", None, "{}", "[]", '"{}"', '{"a":1}', '{"path": readme"}']
)
def test_arguments_stay_as_the_model_wrote_them(written):
    """PRV-06, PRV-07: whoever runs the tool says what is wrong with them; nothing at all is no arguments."""
    (found,) = parsed(calls(piece(0, written, "look", "a")), chunk("tool_calls")).message.calls

    assert (written or "{}") == found.arguments


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_thinking_is_kept_and_not_spoken(name):
    heard = []
    parser = ChatWire().parser(heard.append)
    feed(parser, [chunk(content="", **{name: " a"})])

    assert parser.heard is True
    assert said(thought(" a")) == from_json(parser.partial())
    reply = reply_of(parser, [chunk(**{name: "b\n"}), chunk(content="yes"), chunk("stop")])
    assert (said(thought(" ab\n"), "yes"), ["yes"]) == (reply.message, heard)


def test_two_fields_that_say_the_same_are_read_once():
    assert said(thought("ab"), "x") == parsed(
        chunk(reasoning="a", reasoning_content="a"), chunk(reasoning="b", reasoning_content="b"),
        chunk("stop", content="x"),
    ).message  # fmt: skip


def test_content_in_parts_is_read():
    """Mistral's reasoning models."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = parsed(
        chunk(content=[thinking]), chunk(content=[{"type": "text", "text": "yes"}, {"type": "reference"}]),
        chunk("stop", content=""),
    )  # fmt: skip

    assert said(thought("hm"), "yes") == reply.message
    assert ("a part of type 'reference' in the answer cannot be kept",) == reply.notices


def test_a_refusal_is_kept_as_text_and_said():
    reply = parsed(chunk(refusal="I can"), chunk(refusal="not"), chunk("stop"))

    assert (said("I cannot"), "refused") == (reply.message, reply.stop)


def test_only_the_first_of_several_choices_is_read():
    other = chunk("stop", content="other")
    other["choices"][0]["index"] = 1
    both = chunk(content="mine")
    both["choices"] = [other["choices"][0], both["choices"][0]]
    unnumbered = chunk("stop", content="!")
    del unnumbered["choices"][0]["index"]

    assert "mine!" == parsed(other, both, unnumbered).message.text


def test_what_else_an_answer_has_is_said():
    assert ("the audio in the answer cannot be kept",) == parsed(
        chunk("stop", content="x", audio={"id": "a"})
    ).notices


def test_halves_of_a_character_are_put_together():
    heard = []
    parser = ChatWire().parser(heard.append)
    half = [chunk(content="a\ud83d"), chunk(content="\ude00b"), chunk("stop", content="\ud83d")]
    reply = reply_of(parser, half)

    assert "a\U0001f600b\ufffd" == reply.message.text
    assert ["a", "\U0001f600b"] == heard


def whole_answer(finish="tool_calls", usage=None, **message):
    made = {"role": "assistant", "content": "so", "refusal": None}
    if not message:
        made["tool_calls"] = [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ]
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": made | message, "finish_reason": finish, "logprobs": None}],
        "usage": usage or {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47},
    }


def test_an_answer_that_is_no_stream_is_read_by_the_same_rules():
    hearing = hear(ChatWire().parser(), json.dumps(whole_answer()).encode(), JSON)

    reply = hearing.outcome
    assert (said("so", call("look")), "calls", Usage(input=40, output=7)) == (
        reply.message, reply.stop, reply.usage,
    )  # fmt: skip
    assert "end" == parsed_whole(whole_answer(None, content="x")).stop


def parsed_whole(answer):
    parser = ChatWire().parser()
    parser.whole(answer)
    return parser.reply()


@pytest.mark.parametrize(
    "answer",
    [
        {}, [], "x", None, {"choices": []}, {"choices": None}, {"error": "busy"}, [{"error": {"message": "x"}}],
        {"choices": [{"index": 0, "error": {"code": 502, "message": "gone"}, "message": {"content": ""}}]},
    ],
)  # fmt: skip
def test_a_body_that_is_no_answer_is_a_fault(answer):
    with pytest.raises(ProviderFault):
        parsed_whole(answer)


def test_a_message_where_a_delta_should_be_is_read_once():
    whole = whole_answer(content="Hello", tool_calls=WHOLE_CALL)
    assert said("Hello", call("look")) == parsed(whole, "[DONE]").message
    assert said("Hello", call("look")) == parsed(chunk(content="Hello"), whole, "[DONE]").message


WHOLE_CALL = [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [None, 7]}, {"choices": 7}, {"choices": [{"index": 0}]}, {"usage": []}, {"x_groq": 7},
        {"choices": [{"index": 0, "delta": None, "finish_reason": 7}]}, {"timings": [1]},
        chunk(content=7, tool_calls="x", function_call=7, reasoning_details=[7], reasoning=[1]),
        chunk(tool_calls=[{"index": [1], "id": 7, "function": {"name": [], "arguments": ""}}, {"function": 7}]),
        chunk(content=["x", {"text": 7}]),
    ],
)  # fmt: skip
def test_fields_of_odd_types_are_passed_over(odd):
    reply = parsed(chunk(content="a"), odd, chunk("stop", content="b"))

    assert ("ab", "end", ()) == (reply.message.text, reply.stop, reply.message.calls)


# ---- recorded answers of real servers


@pytest.mark.parametrize(
    ("name", "text", "made", "stop", "usage"),
    [
        ("xl_real.chat_tools_stream", "", [("get_weather", {"city": "Paris"})], "calls", True),
        ("llmock.tools_required_stream", "", [("get_weather", {"city": "mock-city"})], "calls", True),
        ("lcp512.chat_stream", "Smallassy", [], "end", False),
        ("aimock.think.oai.s", "42", [], "end", True),
        ("aimock.weather.oai.s", "", [("get_weather", {"city": "Paris"})], "calls", True),
    ],
)
def test_recorded_streams(name, text, made, stop, usage):
    raw = recorded(name)
    replies = [hear(ChatWire().parser(), raw, size=size).outcome for size in (1, 64, len(raw))]

    assert replies[0] == replies[1] == replies[2]
    reply = replies[0]
    assert text == reply.message.text
    assert made == [(one.name, json.loads(one.arguments)) for one in reply.message.calls]
    assert (stop, usage) == (reply.stop, reply.usage is not None)


@pytest.mark.parametrize("name", ["xl_smol.chat", "xl_real.chat_tools", "llmock.chat", "lcp512.chat"])
def test_recorded_answers_that_are_no_streams(name):
    reply = hear(ChatWire().parser(), recorded(name), JSON).outcome

    assert reply.message.parts
    assert reply.stop in ("end", "calls", "length")
    assert reply.usage.input > 0


# ---- any reply, cut anywhere

_WORDS = st.text(alphabet="ab\n\u2028é\U0001f600", max_size=8)


@st.composite
def _cut(draw, text):
    places = draw(st.lists(st.integers(0, len(text)), max_size=3).map(sorted))
    return [text[start:end] for start, end in itertools.pairwise([0, *places, len(text)])]


@st.composite
def _replies(draw):
    """A message, the events it came in, and its stop."""
    thoughts, text = draw(_WORDS), draw(_WORDS)
    arguments = st.dictionaries(_WORDS, _WORDS, max_size=2).map(json.dumps)
    made = [
        call(draw(st.sampled_from(("look", "write"))), draw(arguments), f"id{number}")
        for number in range(draw(st.integers(0, 3)))
    ]
    spoken = [chunk(reasoning_content=part) for part in draw(_cut(thoughts))]
    spoken += [chunk(content=part) for part in draw(_cut(text))]
    lanes = []
    for number, one in enumerate(made):
        first, *rest = draw(_cut(one.arguments))
        lanes.append(
            [calls(piece(number, first, one.name, one.id)), *(calls(piece(number, part)) for part in rest)]
        )
    events = [*spoken]
    while lanes:
        lane = draw(st.sampled_from(lanes))
        events.append(lane.pop(0))
        lanes = [one for one in lanes if one]
    parts = [*([thought(thoughts)] if thoughts else []), *([text] if text else []), *made]
    # Pieces of different calls may come in any order, calls themselves begin in the order they have.
    order = list(dict.fromkeys(
        one["id"] for event in events for one in event["choices"][0]["delta"].get("tool_calls", ()) if "id" in one
    ))  # fmt: skip
    parts = [*parts[: len(parts) - len(made)], *sorted(made, key=lambda one: order.index(one.id))]
    finish = draw(st.sampled_from(("stop", "length", "tool_calls")))
    stop = "length" if finish == "length" else "calls" if made else "end"
    return (
        said(*parts),
        [chunk(role="assistant", content=""), *events, chunk(finish), usage_chunk(), "[DONE]"],
        stop,
    )


@settings(max_examples=150, deadline=None)
@given(made=_replies(), size=st.integers(1, 400))
def test_any_reply_cut_anywhere_is_the_same_reply(made, size):
    message, events, stop = made
    reply = hear(ChatWire().parser(), sse(events), size=size).outcome

    assert (message, stop, Usage(input=40, output=7)) == (reply.message, reply.stop, reply.usage)


@settings(max_examples=60, deadline=None)
@given(made=_replies(), data_=st.data())
def test_what_has_come_so_far_is_there_at_every_point(made, data_):
    message, events, _ = made
    heard = []
    parser = ChatWire().parser(heard.append)
    feed(parser, events[: data_.draw(st.integers(0, len(events)))])

    assert parser.heard is (parser.partial() is not None)
    if parser.heard:
        partial = from_json(parser.partial())
        assert "".join(heard) == partial.text
        assert message.text.startswith(partial.text)
        assert len(partial.calls) <= len(message.calls)
        assert all(isinstance(part, Text | Thinking | ToolCall) for part in partial.parts)
