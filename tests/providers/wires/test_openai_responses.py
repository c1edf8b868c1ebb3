"""The Responses API: what is asked, byte by byte, and what is made of an answer."""

import asyncio
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
from ethang_nb.providers.http.line import HttpLine
from ethang_nb.providers.models.quirks import PLAIN
from ethang_nb.providers.protocol import Request, Usage
from ethang_nb.providers.remote import Remote
from ethang_nb.providers.wires.openai_responses import ResponsesWire
from tests.formats.histories import HISTORIES, TANGLES
from tests.providers import referee
from tests.providers.responses_events import (
    USAGE,
    as_bytes,
    called,
    heard,
    numbered,
    of_item,
    patched,
    refused,
    reply,
    response,
    said,
    stream,
    thought,
)
from tests.providers.servers import llmock

LOOK = ToolSpec(
    name="look",
    description="Looks.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
OPENAI = replace(PLAIN, encrypted_reasoning=True, developer=True, sampling=False)


def test_a_plain_text_where_a_list_of_parts_should_be_is_kept():
    parser = ResponsesWire().parser()
    parser.whole({"status": "completed", "output": [{"type": "message", "id": "m", "content": "Hello."}]})
    assert "Hello." == parser.reply().message.text


def request(*messages, **fields):
    given = {"model": "openai/gpt-5", "max_output": 500, "messages": messages or (user("t"),)}
    return Request(**(given | fields))


def body_of(asked, quirks=PLAIN):
    body = ResponsesWire(quirks).encode(asked, model="gpt-5")
    return body, json.loads(body.bytes)


# ---- asking


def test_the_head_says_all_that_is_no_message():
    body, data = body_of(
        request(
            system("s"),
            user("t"),
            tools=(LOOK,),
            params={"temperature": 0, "metadata": {"a": "b"}},
            schema={"type": "object", "properties": {}, "additionalProperties": False, "required": []},
        )
    )

    referee.check_responses(body)
    assert body.notices == ()
    assert list(data) == [
        "model", "max_output_tokens", "stream", "store", "metadata", "temperature", "text", "tools", "input",
    ]  # fmt: skip
    assert (data["max_output_tokens"], data["store"], data["stream"]) == (500, False, True)
    assert data["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": {"type": "object", "properties": {}, "additionalProperties": False, "required": []},
        "strict": True,
    }
    assert data["tools"] == [
        {
            "type": "function",
            "name": "look",
            "description": "Looks.",
            "parameters": LOOK.parameters,
            "strict": False,
        }
    ]
    assert [(item["role"], item["content"][0]["text"]) for item in data["input"]] == [
        ("system", "s"),
        ("user", "t"),
    ]


def test_a_schema_that_strict_mode_refuses_is_asked_for_without_it_and_verbosity_stays():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    _, data = body_of(request(schema=schema, params={"text": {"verbosity": "low"}}))

    assert data["text"]["verbosity"] == "low"
    assert (data["text"]["format"]["schema"], data["text"]["format"]["strict"]) == (schema, False)


def test_encrypted_reasoning_is_asked_for_only_where_the_model_has_it():
    """gpt-4o: "Encrypted content is not supported with this model"."""
    assert "include" not in body_of(request())[1]
    assert body_of(request(), OPENAI)[1]["include"] == ["reasoning.encrypted_content"]
    mine = request(params={"include": ["message.output_text.logprobs"]})
    assert body_of(mine, OPENAI)[1]["include"] == [
        "message.output_text.logprobs",
        "reasoning.encrypted_content",
    ]


def test_what_a_model_does_not_take_is_left_out_and_said():
    asked = request(
        system("s"),
        Message(role="user", parts=(Image(media_type="image/png", data="AAAA"), Text(text="see"))),
        params={"temperature": 0, "stream": False, "instructions": "x", "reasoning": {"effort": "low"}},
    )
    body, data = body_of(asked, replace(OPENAI, images=False))

    referee.check_responses(body)
    assert data["reasoning"] == {"effort": "low"}
    assert data["stream"] is True and "temperature" not in data and "instructions" not in data
    assert data["input"][0]["role"] == "developer"
    assert [line.partition(":")[0] for line in body.notices] == [
        "the parameter instructions is not sent",
        "the parameter stream is not sent",
        "the parameter temperature is not sent",
        "images are not sent",
    ]


def test_a_value_that_json_cannot_hold_is_named():
    with pytest.raises(Misuse, match="parameter metadata"):
        body_of(request(params={"metadata": {"a": float("nan")}}))


def test_broken_arguments_go_back_as_an_object():
    """llama.cpp answers 500 for arguments that are no JSON."""
    turn = (
        assistant("", [ToolCall(id="a", name="look", arguments='{"city": "')]),
        tool(ToolResult(call_id="a", name="look", text="broken", error=True)),
    )
    _, data = body_of(request(user("t"), *turn))

    assert json.loads(data["input"][1]["arguments"]) == {"arguments_as_written": '{"city": "'}


def test_reasoning_goes_back_item_by_item_as_it_came():
    items = (
        thought("rs_1", "First.", "Second."),
        said("msg_1", "I look."),
        called("fc_1", "call_1", "look", '{"city": "Oslo"}'),
        thought("rs_2", sealed="b3RoZXI="),
        called("fc_2", "call_2", "look", '{"city": "Rome"}'),
    )
    came = replace(reply(stream(*items)).message, source="openai/gpt-5")
    results = [tool(ToolResult(call_id=f"call_{n}", name="look", text="21C")) for n in (1, 2)]

    body, data = body_of(request(user("t"), came, *results), OPENAI)

    referee.check_responses(body)
    assert body.notices == ()
    assert [item["type"] for item in data["input"][1:6]] == [item["type"] for item in items]
    assert data["input"][1] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "First.\n\nSecond."}],
        "encrypted_content": "c2VhbGVk",
    }
    assert data["input"][4]["encrypted_content"] == "b3RoZXI="


@pytest.mark.parametrize(
    ("source", "quirks", "said"),
    [
        ("anthropic/claude-opus-5", OPENAI, "thinking of anthropic/claude-opus-5 is not sent"),
        ("openai/gpt-5", PLAIN, "thinking is not sent back"),
    ],
)
def test_thinking_that_nobody_there_can_read_is_left_out_and_said(source, quirks, said):
    part = Thinking(text="p", signature="rs_1", redacted="x")
    came = Message(role="assistant", parts=(part, Text(text="x")), source=source, trust="agent")
    body, data = body_of(request(user("t"), came), quirks)

    assert [item["type"] for item in data["input"]] == ["message", "message"]
    assert len(body.notices) == 1 and body.notices[0].startswith(said)


def test_thinking_that_came_without_its_encrypted_form_is_left_out_and_said_once_for_all():
    """The line is the same in every request, however long the history gets."""
    thought = Message(role="assistant", parts=(Thinking(text="p", signature="rs_1"), Text(text="x")))
    lines = [body_of(request(user("t"), *[thought] * times), OPENAI)[0].notices for times in (1, 3)]

    assert lines[0] == lines[1]
    assert len(lines[0]) == 1 and "without the encrypted content" in lines[0][0]


def bodies(history, quirks):
    for upto in range(1, len(history) + 1):
        if upto == len(history) or history[upto].role != "tool":
            yield ResponsesWire(quirks).encode(request(*history[:upto], tools=(LOOK,)), model="gpt-5")


@settings(max_examples=60, deadline=None)
@given(HISTORIES.filter(bool), st.sampled_from([PLAIN, OPENAI, replace(PLAIN, images=False)]))
def test_a_history_that_grows_keeps_the_bytes_it_had(history, quirks):
    """What a provider keeps in its cache is a prefix of bytes; so nothing but the tail may change."""
    before = ()
    for body in bodies(history, quirks):
        *pieces, tail = body.pieces
        assert tuple(pieces[: len(before)]) == before
        assert tail == b"]}"
        before = tuple(pieces)


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(HISTORIES, TANGLES).filter(bool),
    st.sampled_from([PLAIN, OPENAI]),
    st.sampled_from([(), (LOOK,), (LOOK, ToolSpec(name="write"))]),
    st.sampled_from([{}, {"top_p": 0.5}, {"tool_choice": "required", "parallel_tool_calls": False}]),
)
def test_whatever_the_history_the_types_of_the_sdk_take_the_request(history, quirks, tools, params):
    asked = request(*history, tools=tools, params=params)
    body, _ = body_of(asked, quirks)
    again, _ = body_of(asked, quirks)

    referee.check_responses(body)
    assert body == again


# ---- hearing


def test_an_answer_of_every_kind_is_read_in_its_order():
    items = (
        thought("rs_1", "Thinking ", "twice."),
        said("msg_1", "I look."),
        called("fc_1", "call_1", "look", '{"city": "Oslo"}'),
        called("fc_2", "call_2", "look", '{"city": "Rome"}'),
    )
    events = stream(*items, cut=lambda text: [text[:3], text[3:]])
    for event in events:
        referee.check_responses_event(event)
    spoken = []

    found = reply(events, on_text=spoken.append)

    assert found.message == Message(
        role="assistant",
        parts=(
            Thinking(text="Thinking \n\ntwice.", signature="rs_1", redacted="c2VhbGVk"),
            Text(text="I look."),
            ToolCall(id="call_1", name="look", arguments='{"city": "Oslo"}'),
            ToolCall(id="call_2", name="look", arguments='{"city": "Rome"}'),
        ),
        source="model",
        trust="agent",
    )
    assert (found.stop, found.notices) == ("calls", ())
    assert found.usage == Usage(input=1_200, output=40, cached=1_024, written=100, reasoning=25)
    assert spoken == ["I l", "ook."]


def test_calls_whose_pieces_come_in_turns_are_told_apart():
    first, second = (
        list(of_item(at, called(f"fc_{at}", f"call_{at}", "look", words), list))
        for at, words in enumerate(('{"a":1}', '{"b":2}'))
    )
    mixed = [event for pair in zip(first, second, strict=True) for event in pair]

    found = reply(numbered([*mixed, {"type": "response.completed", "response": response()}]))

    assert [call.arguments for call in found.message.calls] == ['{"a":1}', '{"b":2}']


LLAMA_ITEM = {"id": "fc_t", "type": "function_call", "call_id": "call_t", "name": "get_weather"}
LLAMA_CALL = [
    {"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress"}},
    {"type": "response.output_item.added", "item": {**LLAMA_ITEM, "arguments": "", "status": "in_progress"}},
    {"type": "response.function_call_arguments.delta", "delta": "{", "item_id": "fc_t"},
    {"type": "response.function_call_arguments.delta", "delta": '"city": "Paris"}', "item_id": "fc_t"},
    {"type": "response.output_item.done", "item": {**LLAMA_ITEM, "arguments": '{"city": "Paris"}'}},
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "status": "completed",
            "output": [{**LLAMA_ITEM, "arguments": '{"city": "Paris"}'}],
            "usage": {
                "input_tokens": 449,
                "output_tokens": 31,
                "total_tokens": 480,
                "input_tokens_details": {"cached_tokens": 448},
            },
        },
        "timings": {"cache_n": 448, "prompt_n": 1},
    },
]


def test_the_few_fields_of_llama_cpp_are_enough():
    """Recorded from it: no sequence_number, output_index or content_index, no `…arguments.done`."""
    found = reply(LLAMA_CALL)

    assert found.message.calls == (ToolCall(id="call_t", name="get_weather", arguments='{"city": "Paris"}'),)
    assert (found.stop, found.usage) == ("calls", Usage(input=449, output=31, cached=448))


def test_incomplete_is_not_read_as_finished():
    """SSE-10."""
    events = [
        {"type": "response.output_text.delta", "delta": "abc"},
        {
            "type": "response.incomplete",
            "response": {
                "incomplete_details": {"reason": "max_output_tokens"},
                "usage": {"input_tokens": 5, "output_tokens": 3},
            },
        },
    ]

    found = reply(events)

    assert (found.message.text, found.stop, found.usage) == ("abc", "length", Usage(input=5, output=3))


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_output_tokens", "length"), ("content_filter", "refused"), ("steered", "length"), (None, "length")],
)
def test_why_an_answer_is_incomplete_says_how_it_ended(reason, stop):
    details = {"reason": reason} if reason else None
    events = stream(said("msg_1", "abc"), end="incomplete", incomplete_details=details)
    for event in events:
        referee.check_responses_event(event)

    assert reply(events).stop == stop
    assert reply(events).usage.input == USAGE["input_tokens"]


def test_a_call_cut_by_the_limit_keeps_what_the_model_wrote():
    call = called("fc_1", "call_1", "look", '{"city": "')
    found = reply(stream(call, end="incomplete", incomplete_details={"reason": "max_output_tokens"}))

    assert (found.stop, found.message.calls[0].arguments) == ("length", '{"city": "')


def test_a_stream_without_its_end_is_cut_and_keeps_what_came():
    found = reply(as_bytes(stream(said("msg_1", "abc"), end=None)) + b"data: [DONE]\n\n")

    assert (found.stop, found.message.text, found.usage) == ("cut", "abc", None)


@pytest.mark.parametrize("events", [b"", b": ping\n\n", b"data: [DONE]\n\n", stream(end=None)])
def test_a_stream_without_a_reply_is_an_error_that_may_be_tried_again(events):
    with pytest.raises(ProviderFault) as caught:
        reply(events)

    assert caught.value.retryable


def test_an_answer_that_ended_without_a_word_is_an_answer():
    """All of the output went into reasoning that nobody sees."""
    found = reply(stream(end="incomplete", incomplete_details={"reason": "max_output_tokens"}))

    assert (found.message.parts, found.stop) == ((), "length")


TOO_LONG = {
    "type": "invalid_request_error",
    "code": "context_length_exceeded",
    "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "param": "input",
}
DOWN = {"code": "server_error", "message": "The server had an error while processing your request."}


@pytest.mark.parametrize("before", [[], stream(said("msg_1", "abc"), end=None)])
@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "error": TOO_LONG}, Overflow),
        ({"type": "error", **{name: TOO_LONG[name] for name in ("code", "message", "param")}}, Overflow),
        ({"type": "response.failed", "response": response(status="failed", error=TOO_LONG)}, Overflow),
        ({"type": "error", "error": DOWN}, ProviderFault),
        ({"type": "error", **DOWN}, ProviderFault),
        ({"type": "response.failed", "response": response(status="failed", error=DOWN)}, ProviderFault),
        ({"error": {"message": "the model crashed"}}, ProviderFault),
        ({"type": "response.failed", "response": {}}, ProviderFault),
    ],
)
def test_an_error_inside_a_stream_is_the_fault_it_tells_of(event, kind, before):
    """The rows of the overflow table for Responses: status 200, and then an event."""
    hearing = heard([*before, event])

    with pytest.raises(kind) as caught:
        hearing.reply()
    assert hearing.heard == bool(before)
    kept = caught.value.partial
    assert (from_json(kept).text if kept else None) == ("abc" if before else None)


def test_a_passing_failure_may_be_tried_again_and_an_overflow_is_told_apart():
    found = heard([{"type": "response.failed", "response": response(status="failed", error=DOWN)}])
    assert found.outcome.retryable
    limited = {
        "code": "rate_limit_exceeded",
        "message": "Rate limit reached for gpt-5 on tokens per min (TPM)",
    }
    limited = heard(
        [{"type": "response.failed", "response": response(status="failed", error=limited)}]
    ).outcome
    assert isinstance(limited, ProviderFault) and limited.retryable


def test_broken_json_in_a_stream_is_a_fault():
    with pytest.raises(ProviderFault, match="no JSON"):
        reply(
            as_bytes(stream(said("msg_1", "abc"), end=None)) + b'data: {"type": "response.out\n\ndata: {}\n\n'
        )


def test_an_answer_that_is_no_stream_is_read_as_a_whole():
    items = (thought("rs_1", "Hm."), said("msg_1", "21C", "."), called("fc_1", "call_1", "look", "{}"))
    whole = response(items, usage=USAGE)
    referee.check_responses_answer(whole)
    spoken = []

    found = reply(json.dumps(whole).encode(), kind="application/json", on_text=spoken.append)

    assert found.message == reply(stream(*items)).message
    assert (found.stop, found.usage.cached, "".join(spoken)) == ("calls", 1_024, "21C.")


@pytest.mark.parametrize(
    ("whole", "stop"),
    [
        (
            response([said("m", "x")], status="incomplete", incomplete_details={"reason": "content_filter"}),
            "refused",
        ),
        (response([said("m", "x")], status="in_progress"), "cut"),
        ({"output": [said("m", "x")]}, "end"),
    ],
)
def test_the_state_of_a_whole_answer_says_how_it_ended(whole, stop):
    assert reply(json.dumps(whole).encode(), kind="application/json").stop == stop


@pytest.mark.parametrize(
    "whole", [[], {}, {"choices": [{"message": {"content": "x"}}]}, response(status="failed", error=DOWN)]
)
def test_json_that_is_no_answer_is_an_error(whole):
    with pytest.raises(ProviderFault):
        reply(json.dumps(whole).encode(), kind="application/json")


def test_a_refusal_is_text_and_the_answer_refused():
    events = stream(refused("msg_1", "I cannot."))
    for event in events:
        referee.check_responses_event(event)
    spoken = []

    found = reply(events, on_text=spoken.append)

    assert (found.message.text, found.message.source, found.stop) == ("I cannot.", "refusal", "refused")
    assert spoken == ["I cannot."]


def test_custom_calls_are_calls():
    events = stream(patched("ctc_1", "call_1", "patch", "*** Begin"), cut=list)
    for event in events:
        referee.check_responses_event(event)

    assert reply(events).message.calls == (ToolCall(id="call_1", name="patch", arguments="*** Begin"),)


def test_reasoning_that_is_shown_itself_is_thinking():
    """Servers of open weights give the reasoning, and nothing encrypted."""
    events = [
        {"type": "response.output_item.added", "item": {"type": "reasoning", "id": "rs", "summary": []}},
        {"type": "response.reasoning_text.delta", "item_id": "rs", "delta": "h"},
        {"type": "response.reasoning_text.delta", "item_id": "rs", "delta": "m"},
        {"type": "response.output_text.delta", "item_id": "msg", "delta": "x"},
        {"type": "response.completed", "response": {}},
    ]

    assert reply(events).message.parts == (Thinking(text="hm", signature="rs"), Text(text="x"))


def test_what_the_provider_does_by_itself_is_passed_over_and_said():
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": searched},
        {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
        {"type": "response.output_text.annotation.added", "annotation": {}},
        {"type": "response.brand_new"},
        *of_item(1, said("msg_1", "Rain.")),
        {"type": "response.completed", "response": response([searched, said("msg_1", "Rain.")])},
    ]

    found = reply(events)

    assert found.message == assistant("Rain.")
    assert found.notices == (
        "an item of type 'web_search_call' in the answer is not kept: it is the provider's own",
    )


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None}, {"total_tokens": 5}, NotImplemented])
def test_usage_that_nobody_reports_is_unknown(usage):
    events = stream(said("msg_1", "x"), usage=usage if usage is not NotImplemented else None)
    if usage is NotImplemented:
        del events[-1]["response"]["usage"]

    assert reply(events).usage is None


def test_usage_without_details_leaves_them_unknown_and_nought_is_nought():
    bare = {"input_tokens": 5, "output_tokens": 3}
    assert reply(stream(said("m", "x"), usage=bare)).usage == Usage(input=5, output=3)
    none_cached = {**bare, "input_tokens_details": {"cached_tokens": 0}}
    assert reply(stream(said("m", "x"), usage=none_cached)).usage == Usage(input=5, output=3, cached=0)


# ---- servers that differ


def without(events, *names):
    return [{name: value for name, value in event.items() if name not in names} for event in events]


def changing_ids(events):
    """As a proxy that encrypts ids: each event has another one for the same item."""
    changed = json.loads(json.dumps(events))
    for at, event in enumerate(changed):
        if "item_id" in event:
            event["item_id"] += f"-{at}"
        for item in [event.get("item"), *event.get("response", {}).get("output", ())]:
            if item:
                item["id"] += f"-{at}"
    return changed


def one_index(events):
    return [event | ({"output_index": 0} if "output_index" in event else {}) for event in events]


def only_pieces(events):
    return [
        event | ({"response": {**event["response"], "output": []}} if "response" in event else {})
        for event in events
        if event["type"] != "response.output_item.done"
        and not event["type"].endswith((".done", "part.added"))
    ]


def only_items(events):
    """No pieces at all, and nothing in the end."""
    kept = [one for one in events if one["type"] in ("response.output_item.done", "response.completed")]
    return only_pieces(kept)[-1:] and [
        *[one for one in kept if one["type"] == "response.output_item.done"],
        *only_pieces(kept),
    ]


def only_the_end(events):
    return events[-1:]


SERVERS = {
    "OpenAI": lambda events: events,
    "llama.cpp": lambda events: without(events, "sequence_number", "output_index", "content_index"),
    "a proxy whose ids change": changing_ids,
    "a bridge with one index": one_index,
    "no whole texts": only_pieces,
    "no pieces": only_items,
    "nothing but the end": only_the_end,
    "events without a name": lambda events: "".join(
        f"data: {json.dumps(one)}\n\n" for one in events
    ).encode(),
}

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
ANSWERED = st.one_of(
    st.lists(WORDS, min_size=1, max_size=2).map(lambda texts: ("message", texts)),
    st.lists(WORDS, max_size=2).map(lambda texts: ("reasoning", texts)),
    st.sampled_from(("{}", '{"city": "Oslo"}', '{"a": [1, 2]}', '{"broken": ')).map(
        lambda text: ("call", text)
    ),
)


def items_of(answer):
    for at, (kind, words) in enumerate(answer):
        if kind == "message":
            yield said(f"msg_{at}", *words)
        elif kind == "reasoning":
            yield thought(f"rs_{at}", *words)
        else:
            yield called(f"fc_{at}", f"call_{at}", "look", words)


def expected(answer):
    for at, (kind, words) in enumerate(answer):
        if kind == "message":
            yield from (Text(text=text) for text in words)
        elif kind == "reasoning":
            yield Thinking(text="\n\n".join(words), signature=f"rs_{at}", redacted="c2VhbGVk")
        else:
            yield ToolCall(id=f"call_{at}", name="look", arguments=words)


@st.composite
def cuts(draw):
    size = draw(st.integers(1, 5))
    return lambda text: [text[at : at + size] for at in range(0, len(text), size)]


@settings(max_examples=150, deadline=None)
@given(st.lists(ANSWERED, min_size=1, max_size=4), st.sampled_from(sorted(SERVERS)), cuts())
def test_the_same_answer_is_the_same_reply_whoever_sends_it(answer, server, cut):
    """However it is cut, and whatever of the format a server leaves out."""
    items = tuple(items_of(answer))
    spoken = []

    found = reply(SERVERS[server](stream(*items, cut=cut)), on_text=spoken.append)

    whole = list(expected(answer))
    if server == "no whole texts":  # encrypted content comes with the whole item alone
        whole = [replace(part, redacted="") if isinstance(part, Thinking) else part for part in whole]
        whole = [part for part in whole if not isinstance(part, Thinking) or part.text]
    if server == "a proxy whose ids change":
        assert [bare(part) for part in found.message.parts] == [bare(part) for part in whole]
    else:
        assert list(found.message.parts) == whole
    assert "".join(spoken) == "".join(part.text for part in whole if isinstance(part, Text))
    assert found.stop == ("calls" if found.message.calls else "end")


def bare(part):
    return replace(part, signature="") if isinstance(part, Thinking) else part


def test_what_the_end_says_where_it_says_more_holds():
    """The pieces lacked the last words; the arguments that were streamed were not those that count."""
    events = [
        {"type": "response.output_text.delta", "item_id": "m", "delta": "It is "},
        {"type": "response.function_call_arguments.delta", "item_id": "f", "delta": '{"city": "Oslo'},
        {
            "type": "response.completed",
            "response": response([said("m", "It is 21C."), called("f", "call_1", "look", '{"town": 1}')]),
        },
    ]
    spoken = []

    found = reply(events, on_text=spoken.append)

    assert found.message.text == "It is 21C."
    assert spoken == ["It is ", "21C."]
    assert found.message.calls == (ToolCall(id="call_1", name="look", arguments='{"town": 1}'),)


def test_an_item_that_only_the_end_has_takes_no_place_of_another():
    events = [*of_item(0, said("m2", "The second, and a longer one.")), {"type": "response.completed"}]
    events[-1]["response"] = response([said("m1", "The first."), said("m2", "The second, and a longer one.")])

    assert [part.text for part in reply(events).message.parts] == [
        "The first.",
        "The second, and a longer one.",
    ]


def test_an_item_that_is_announced_late_or_twice_is_one():
    events = list(of_item(0, said("m", "x")))
    late = [events[2], events[0], *events[3:]]
    twice = [events[0], *events]

    for one in (late, twice):
        assert reply([*one, {"type": "response.completed"}]).message == assistant("x")


def test_what_the_end_says_where_it_says_less_takes_nothing_back():
    events = stream(thought("rs_1", "Hm."), said("msg_1", "It is 21C."))
    events[-1]["response"]["output"] = [said("msg_1", "It")]

    assert [type(part).__name__ for part in reply(events).message.parts] == ["Text", "Thinking"]
    assert reply(events).message.text == "It is 21C."


def test_a_call_without_an_id_or_with_one_twice_gets_its_own():
    """Results are told apart by it."""
    items = [called("f1", "a", "look", "{}"), called("f2", "a", "look", "{}"), called("", "", "look", "")]
    found = reply(json.dumps(response(items)).encode(), kind="application/json")

    assert [call.id for call in found.message.calls] == ["a", "a_2", "call_2"]
    assert found.message.calls[2].arguments == "{}"


@settings(max_examples=60, deadline=None)
@given(st.lists(ANSWERED, min_size=1, max_size=3), st.integers(0, 400), st.data())
def test_wherever_a_stream_ends_what_came_is_kept_and_nothing_made_up(answer, end, data):
    events = stream(*items_of(answer), cut=list)
    events = events[: min(end, len(events) - 1)]
    hearing = heard(events)

    whole = "".join(part.text for part in expected(answer) if isinstance(part, Text))
    if hearing.heard:
        found = hearing.reply()
        assert found.stop == "cut"
        assert whole.startswith("".join(part.text for part in found.message.parts if isinstance(part, Text)))
    else:
        with pytest.raises(ProviderFault):
            hearing.reply()


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-1, 3), st.sampled_from(["", "x", "message", "reasoning"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                ["type", "id", "call_id", "text", "content", "summary", "output", "arguments", "status"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=6,
)
TYPES = st.sampled_from(
    sorted(
        {event["type"] for event in stream(*items_of([("message", "x"), ("reasoning", "y"), ("call", "{}")]))}
    )
)
ODD = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.one_of(TYPES, TYPES, VALUES),
    st.dictionaries(
        st.sampled_from(
            ["item_id", "output_index", "content_index", "delta", "text", "arguments", "item", "response"]
        ),
        VALUES,
    ),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(ODD, min_size=1, max_size=6), VALUES)
def test_whatever_a_server_says_is_a_reply_or_a_named_fault(events, whole):
    for hearing in (heard(events), heard(json.dumps(whole).encode(), kind="application/json")):
        try:
            found = hearing.reply()
        except (Overflow, ProviderFault):
            continue
        assert found.stop in ("end", "calls", "length", "refused", "cut")
        assert all(call.id and call.arguments for call in found.message.calls)


# ---- the chaos peer, over HTTP


def remote(quirks=PLAIN):
    return Remote(
        model="openai/gpt-4o-mini",
        source="openai/gpt-4o-mini",
        name="gpt-4o-mini",
        label="openai/gpt-4o-mini",
        wire=ResponsesWire(quirks),
        line=HttpLine(f"{llmock().url}/v1", headers=lambda: {"authorization": "Bearer x"}),
    )


def answered(asked, quirks=PLAIN):
    async def main():
        it, spoken = remote(quirks), []
        try:
            return await it.send(it.encode(asked), on_text=spoken.append), spoken
        finally:
            await it.close()

    return asyncio.run(main())


def test_a_server_answers_what_we_ask():
    found, spoken = answered(request(system("s"), user("Say hi."), model="openai/gpt-4o-mini"))

    assert found.message.text
    assert "".join(spoken) == found.message.text and len(spoken) > 1
    assert (found.stop, found.message.source) == ("end", "openai/gpt-4o-mini")
    assert found.usage.input > 0 and found.usage.cached == 0 and found.usage.written is None


def test_a_tool_loop_with_a_server():
    asked = request(user("Call look for Oslo."), tools=(LOOK,), params={"tool_choice": "required"})
    first, _ = answered(asked, replace(PLAIN, encrypted_reasoning=True))

    (call,) = first.message.calls
    assert (first.stop, call.name) == ("calls", "look")
    assert "city" in json.loads(call.arguments)

    result = tool(ToolResult(call_id=call.id, name="look", text="It is 21C in Oslo."))
    second, _ = answered(request(*asked.messages, first.message, result, tools=(LOOK,)))
    assert (second.stop, second.message.calls) == ("end", ())
    assert second.message.text
