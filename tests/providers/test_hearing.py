"""An answer as it is received: whatever the borders of its pieces, its line ends and its end, it is read one way."""

import asyncio
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers import hearing as module
from ethang_nb.providers.models.quirks import PLAIN
from ethang_nb.providers.protocol import Reply
from ethang_nb.providers.wires.anthropic import MessagesWire
from ethang_nb.providers.wires.openai_chat import ChatWire
from ethang_nb.providers.wires.openai_responses import ResponsesWire
from tests.providers.servers import DONE, SSE, event, heard

TWO = b'data: {"t":"a"}\n\ndata: {"t":"b"}\n\ndata: [DONE]\n\n'


def text(hearing):
    assert isinstance(hearing.outcome, Reply), hearing.outcome
    return hearing.outcome.message.text


def events(hearing):
    return hearing._parser.events


# ---- lines and events (field faults SSE-01, -03, -04, -09)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["whole", "no empty line", "no line end"])
def test_events_end_at_any_of_the_three_line_ends_and_the_last_one_with_the_body(end, last):
    body = TWO.replace(b"\n", end.encode())
    body = body[: len(body) - len(end) * {"whole": 0, "no empty line": 1, "no line end": 2}[last]]
    assert text(heard(body)) == "ab"
    assert heard(body).outcome.stop == "end"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_no_border_between_two_pieces_changes_what_is_read(end):
    body = 'data: {"t":"é\u2028→😀"}\n\n: x\n\ndata: {"t":"b"}\n\ndata: [DONE]\n\n'.replace(
        "\n", end
    ).encode()
    whole = heard(body)
    for at in range(len(body) + 1):
        halves = heard([body[:at], body[at:]])
        assert (halves.outcome, events(halves)) == (whole.outcome, events(whole)), at
    assert events(heard(body, size=1)) == events(whole)
    assert text(whole) == "é\u2028→😀b"


def test_only_cr_and_lf_end_a_line():
    assert (
        text(heard('data: {"t":"a\u2028b\u2029c\u0085d\\fe"}\n\n'.encode() + DONE))
        == "a\u2028b\u2029c\u0085d\fe"
    )
    # Raw control characters are no JSON, but they do not end the line either.
    assert events(heard(b"data: x\x0cy\x0bz\x1c\n\n"))[0] == ("message", "x\x0cy\x0bz\x1c")


def test_data_over_several_lines_is_one_event_with_its_name():
    hearing = heard(b'event: error\ndata: {"error":\ndata: {"message":"busy"}}\n\n')
    assert events(hearing) == [("error", '{"error":\n{"message":"busy"}}')]
    assert isinstance(hearing.outcome, ProviderFault) and "busy" in str(hearing.outcome)


def test_comments_and_heartbeats_are_no_events():
    hearing = heard(b':\n\n: keep-alive\n\n:x\ndata: {"t":"a"}\n\n: ping\n\n' + DONE)
    assert [data for _, data in events(hearing)] == ['{"t":"a"}', "[DONE]"]


def test_an_empty_line_after_an_id_is_no_event():
    hearing = heard(b'id: 7\nretry: 100\nevent: a\ndata: {"t":"a"}\n\n\n\nevent: ping\n\n' + DONE)
    assert events(hearing) == [("a", '{"t":"a"}'), ("message", "[DONE]")]


def test_a_byte_order_mark_is_no_text_even_in_pieces():
    for size in (1, 2, 99):
        assert text(heard(b"\xef\xbb\xbf" + TWO, size=size)) == "ab"
    assert text(heard(b'\xef\xbb\xbf{"t":"a"}', kind="application/json")) == "a"


def test_one_huge_event_in_many_pieces_is_read_once():
    long = "é" * 700_000
    assert text(heard(event(long) + DONE, size=4_096)) == long


def test_bytes_that_are_no_utf8_are_replaced_not_fatal():
    assert text(heard(b'data: {"t":"a\xffb"}\n\n' + DONE)) == "a\ufffdb"


LINES = st.lists(
    st.one_of(
        st.builds(
            lambda words: f"data: {json.dumps({'t': words}, ensure_ascii=False)}\n\n", st.text(max_size=8)
        ),
        st.sampled_from(
            [": heartbeat\n\n", "event: ping\ndata: {}\n\n", "id: 1\n\n", "data: {}\ndata:\n\n", "\n"]
        ),
    ),
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(
    LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.lists(st.integers(0, 400), max_size=12)
)
def test_any_cut_of_the_same_bytes_has_the_same_outcome(lines, end, done, cuts):
    body = (
        ("".join(lines) + ("data: [DONE]\n\n" if done else "")).replace("\n", end).encode("utf-8", "replace")
    )
    borders = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    pieces = [body[start:stop] for start, stop in pairwise(borders)]
    whole, parts = heard(body), heard(pieces)
    assert events(parts) == events(whole)
    assert bytes(parts.raw) == body
    assert type(parts.outcome) is type(whole.outcome)
    assert str(parts.outcome) == str(whole.outcome)


# ---- ends (SSE-06, -08)


def test_a_stream_without_its_end_marker_is_cut():
    hearing = heard(b'data: {"t":"The ans"}\n\n')
    assert (text(hearing), hearing.outcome.stop) == ("The ans", "cut")


def test_an_event_torn_by_the_end_of_the_body_is_not_read():
    """A body that ends with its connection ends anywhere; half an event is neither text nor an error."""
    for torn in (b'data: {"t":"b', b"data: [DO", b'data: {"t":"b"}\ndata: ,', b"dat", b"data:"):
        hearing = heard(event("a") + torn)
        assert (text(hearing), hearing.outcome.stop) == ("a", "cut"), torn
    assert heard(event("a") + b"data: [DONE]").outcome.stop == "end"


def test_a_broken_event_in_the_middle_is_a_fault_that_keeps_what_had_come():
    fault = heard(event("a") + b'data: {"t":"b\n\n' + event("c") + DONE).outcome
    assert isinstance(fault, ProviderFault) and fault.partial == {"text": "a"}


def test_an_error_event_in_a_stream_is_the_providers_error():
    busy = b'data: {"error":{"message":"overloaded","code":503}}\n\n'
    fault = heard(busy + DONE).outcome
    assert isinstance(fault, ProviderFault) and fault.retryable and fault.partial is None
    late = heard(event("half") + busy).outcome
    assert late.partial == {"text": "half"}


def test_overflow_in_a_stream_is_overflow():
    body = b'data: {"error":{"code":"context_length_exceeded","message":"too long"}}\n\n'
    assert isinstance(heard(body).outcome, Overflow)


@pytest.mark.parametrize(
    "body", [b"", b"\n\n", b": ping\n\n", b"data: [DONE]\n\n", b"data: {}\n\n", b'data: {"t":']
)
def test_a_stream_without_anything_in_it_is_a_fault_that_may_pass(body):
    fault = heard(body).outcome
    assert isinstance(fault, ProviderFault) and fault.retryable


# ---- what is no stream, or is called something else


def test_json_is_read_as_a_whole():
    assert text(heard(b'{"t":"a"}', kind="application/json")) == "a"
    assert text(heard(b'{"t":"a"}', kind="")) == "a"


def test_json_that_is_called_a_stream_is_read_as_json():
    assert text(heard(b'{"t":"a"}')) == "a"
    assert "no credit" in str(heard(b'{"error":{"message":"no credit"}}').outcome)


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "", "application/octet-stream"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_stream_that_is_called_something_else_is_read_as_a_stream(kind, end):
    hearing = heard((b": hello\n\n" + TWO).replace(b"\n", end.encode()), kind=kind)
    assert (text(hearing), hearing.outcome.stop) == ("ab", "end")


@pytest.mark.parametrize(
    "kind", ["Text/Event-Stream", "text/event-stream;charset=UTF-8", "TEXT/EVENT-STREAM"]
)
def test_a_stream_goes_by_its_name_in_any_case(kind):
    assert text(heard(TWO, kind=kind)) == "ab"


def test_a_page_instead_of_an_answer_is_named():
    fault = heard(b"<html><title>Sign in</title></html>", kind="text/html").outcome
    assert "text/html" in str(fault) and "base_url" in str(fault) and "\n" not in str(fault)
    assert not fault.retryable


def test_an_empty_answer_may_be_asked_for_again():
    fault = heard(b"", kind="application/json").outcome
    assert "empty" in str(fault) and fault.retryable


def test_json_as_deep_as_a_bomb_is_a_fault():
    fault = heard(b"[" * 200_000, kind="application/json").outcome
    assert isinstance(fault, ProviderFault)


def test_a_redirect_is_named_and_not_followed():
    fault = heard(b"", status=307, location="https://other.example/v1/say?key=1").outcome
    assert "https://other.example/v1/say" in str(fault) and "key=1" not in str(fault)
    assert "307" in str(fault) and not fault.retryable


@pytest.mark.parametrize("kind", [SSE, "application/json"])
def test_a_status_that_says_failure_is_read_whole_whatever_it_is_called(kind):
    fault = heard(b'{"error":{"message":"slow down"}}', status=429, kind=kind, size=3).outcome
    assert isinstance(fault, ProviderFault) and fault.retryable and "slow down" in str(fault)


def test_an_answer_that_never_ends_is_left(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1_000)
    fault = heard(event("a") + b": x\n\n" * 400, size=64).outcome
    assert "goes on" in str(fault) and fault.partial == {"text": "a"} and not fault.retryable


# ---- a connection that ends before the body does


def test_what_had_come_stays_with_the_fault():
    hearing = heard(event("a"))
    hearing.break_off(ProviderFault("broken", retryable=True))
    assert hearing.outcome.partial == {"text": "a"} and str(hearing.outcome) == "broken"
    assert hearing.outcome.usage["input"] == 40 and hearing.outcome.usage["output"] is None
    with pytest.raises(ProviderFault, match="broken"):
        hearing.reply()


def test_a_reply_that_was_whole_by_then_is_a_reply():
    hearing = heard(event("a") + DONE)
    hearing.break_off(ProviderFault("broken"))
    assert text(hearing) == "a"


def test_a_hearing_that_heard_nothing_says_so():
    hearing = module.Hearing(object())
    with pytest.raises(ProviderFault, match="not heard to its end"):
        hearing.reply()


# ---- the three wire formats, cut anywhere


def _lines(*events):
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n" for one in events)


def _chat(delta, finish=None, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **more}, ensure_ascii=False)}\n\n"


STREAMS = {
    "chat": (
        _chat({"role": "assistant", "content": ""})
        + ": keep-alive\n\n"
        + _chat({"content": "Ça\u2028"})
        + _chat({"content": "va 😀"})
        + _chat({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": ""}}]})
        + _chat({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "see", "arguments": ""}}]})
        + _chat({"tool_calls": [{"index": 0, "function": {"arguments": '{"x":'}}]})
        + _chat({"tool_calls": [{"index": 1, "function": {"arguments": '{"y":"é'}}]})
        + _chat({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]})
        + _chat({"tool_calls": [{"index": 1, "function": {"arguments": '"}'}}]})
        + _chat({}, "tool_calls")
        + f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 40, 'completion_tokens': 7}})}\n\n"
        + "data: [DONE]\n\n"
    ),
    "anthropic": _lines(
        {
            "type": "message_start",
            "message": {
                "role": "assistant",
                "content": [],
                "usage": {"input_tokens": 40, "output_tokens": 1},
            },
        },
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Ça\u2028"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "va 😀"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "a", "name": "look", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"x":'},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "1}"},
        },
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ),
    "responses": _lines(
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"id": "m", "type": "message", "role": "assistant", "content": []},
        },
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "Ça\u2028"},
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "va 😀"},
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Ça\u2028va 😀"}],
            },
        },
        {
            "type": "response.completed",
            "response": {
                "id": "r",
                "status": "completed",
                "output": [
                    {
                        "id": "m",
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "Ça\u2028va 😀"}],
                    }
                ],
                "usage": {"input_tokens": 40, "output_tokens": 7},
            },
        },
    ),
}
WIRES = {"chat": ChatWire, "anthropic": MessagesWire, "responses": ResponsesWire}


def read(wire, pieces):
    """The outcome of an answer in a wire format, and the text that was told on the way."""
    told = []

    async def chunks():
        for piece in pieces:
            yield piece

    hearing = module.Hearing(WIRES[wire](PLAIN).parser(told.append))
    asyncio.run(hearing.listen(200, {"content-type": SSE}, chunks()))
    outcome = hearing.outcome
    return (outcome if isinstance(outcome, Reply) else str(outcome)), "".join(told)


@pytest.mark.parametrize("wire", WIRES)
def test_each_wire_format_is_read_whole(wire):
    reply, told = read(wire, [STREAMS[wire].encode()])
    assert (reply.message.text, told) == ("Ça\u2028va 😀", "Ça\u2028va 😀")
    assert (reply.usage.input, reply.usage.output) == (40, 7)
    calls = [(call.name, json.loads(call.arguments)) for call in reply.message.calls]
    assert (
        calls
        == {
            "chat": [("look", {"x": 1}), ("see", {"y": "é"})],
            "anthropic": [("look", {"x": 1})],
            "responses": [],
        }[wire]
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("wire", WIRES)
def test_each_wire_format_is_read_the_same_in_any_pieces(wire, end):
    body = STREAMS[wire].replace("\n", end).encode()
    whole = read(wire, [body])
    for size in (1, 2, 3, 7, 64):
        assert read(wire, [body[at : at + size] for at in range(0, len(body), size)]) == whole


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(WIRES)), st.lists(st.integers(0, 10_000), max_size=9), st.booleans())
def test_any_cut_of_a_wire_format_has_the_same_outcome(wire, cuts, crlf):
    body = STREAMS[wire].replace("\n", "\r\n" if crlf else "\n").encode()
    borders = sorted({0, len(body), *(cut % len(body) for cut in cuts)})
    assert read(wire, [body[start:stop] for start, stop in pairwise(borders)]) == read(wire, [body])


@pytest.mark.parametrize("wire", WIRES)
def test_a_part_of_an_answer_is_never_taken_for_the_whole(wire):
    body = STREAMS[wire].encode()
    whole = read(wire, [body])[0]
    for at in range(0, len(body), 5):
        part, told = read(wire, [body[:at]])
        if isinstance(part, str):  # nothing had come
            assert told == "" and "\n" not in part
        elif part.stop != "cut":  # all but the usage or the last line had come
            assert part.message == whole.message and part.stop == whole.stop
        assert whole.message.text.startswith(told)
