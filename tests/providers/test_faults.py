"""Error answers as faults: whether the same request may go again, and one honest line."""

import json

import pytest

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.faults import fault_in, fault_of

CHUNK = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"}}]}


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        (400, False),
        (401, False),
        (402, False),
        (403, False),
        (404, False),
        (408, True),
        (409, False),
        (422, False),
        (429, True),
        (500, True),
        (501, False),
        (502, True),
        (503, True),
        (504, True),
        (505, False),
        (520, True),
        (524, True),
        (529, True),
    ],
)
def test_the_status_says_whether_to_ask_again(status, retryable):
    fault = fault_of(status, {}, json.dumps({"error": {"message": "no", "code": None}}))
    assert isinstance(fault, ProviderFault)
    assert retryable is fault.retryable
    assert f"HTTP {status}" in str(fault)
    assert fault.after is None


@pytest.mark.parametrize(
    "code",
    [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "exceeded_current_quota_error",
        "insufficient_balance",
    ],
)
def test_no_waiting_helps_over_an_unpaid_bill(code):
    for error in ({"code": code}, {"type": code}):
        assert not fault_of(429, {}, json.dumps({"error": {"message": "no", **error}})).retryable


def test_the_server_s_own_word_on_asking_again_counts():
    body = json.dumps({"error": {"message": "no"}})
    assert fault_of(409, {"x-should-retry": "true"}, body).retryable
    assert not fault_of(500, {"x-should-retry": "false"}, body).retryable
    assert fault_of(500, {"x-should-retry": "perhaps"}, body).retryable


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}},
            "Invalid API Key",
        ),
        ({"error": {"message": "x", "code": None, "type": None}}, ": x"),
        ({"error": "model 'llama9' not found"}, "model 'llama9' not found"),
        ({"error": "Bad Request", "message": "the field n is wrong", "status": 400}, "the field n is wrong"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body", "model"], "msg": "Field required"}]}, "Field required"),
        ({"message": "no such route"}, "no such route"),
        ([{"error": {"message": "first"}}, {"error": {"message": "second"}}], "first"),
        ({"error": json.dumps({"error": {"message": "deep"}})}, "deep"),
        ({"error": {"message": 'upstream: {"error": {"message": "deep"}}'}}, "deep"),
        ({"error": {"message": "", "code": "odd"}}, "it does not say why [odd]"),
        ({"error": {}}, "{"),
        ([], "[]"),
        ("plain words", "plain words"),
        ("", "it does not say why"),
        (" \r\n", "it does not say why"),
        ("<html><head><title>502 Bad\r\nGateway</title></head></html>", ": 502 Bad Gateway"),
        ("<p>Sorry, <b>down</b>", "Sorry, down"),
        ("<title>", "it does not say why"),
        ('{"error": {"message": "cut o', "cut o"),
        ("[" * 5_000, "[[["),
        ('{"error":' * 5_000, "error"),
        ("null", "null"),
    ],
)
def test_the_server_s_words_are_found_in_every_shape(body, words):
    text = body if isinstance(body, str) else json.dumps(body)
    assert words in str(fault_of(500, {}, text))


@pytest.mark.parametrize(
    "words",
    [
        "two\nlines\r\nthree\u2028four\u0085five",
        "\x1b[31mred\x1b[0m \x00nul \u202eright to left",
        "word " * 10_000,
        "w" * 100_000,
        "\ud83d lone",
    ],
    ids=["lines", "control", "words", "one word", "surrogate"],
)
def test_a_fault_is_one_printable_line_of_at_most_600_characters(words):
    bodies = (words, json.dumps({"error": {"message": words, "code": "some_code"}}))
    faults = [fault_of(418, {}, body) for body in bodies] + [fault_in({"error": {"message": words}})]
    for fault in faults:
        assert len(str(fault)) <= 600
        assert str(fault).isprintable()


def test_a_code_that_the_words_lack_is_named():
    body = {"error": {"message": "no", "code": "model_not_found"}}
    assert "the server refused (HTTP 404): no [model_not_found]" == str(fault_of(404, {}, json.dumps(body)))


@pytest.mark.parametrize(
    "data",
    [
        CHUNK,
        CHUNK | {"error": None},
        {"type": "ping"},
        {"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress"}},
        {
            "type": "response.completed",
            "response": {"status": "completed", "error": None, "incomplete_details": None},
        },
        {"type": "response.incomplete", "response": {"status": "incomplete", "error": None}},
        {"id": "m", "type": "message", "role": "assistant", "content": [], "error": None},
        {"choices": [{"index": 0, "message": {"content": '{"error": "a text"}'}}]},
        {"choices": [], "usage": {"prompt_tokens": 3}},
        {"choices": None, "base_resp": {"status_code": 0, "status_msg": ""}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "error"}},
        None,
        [],
        "error",
        7,
        {},
    ],
    ids=str,
)
def test_what_is_no_complaint_is_none(data):
    assert fault_in(data) is None


@pytest.mark.parametrize(
    ("data", "retryable"),
    [
        ({"error": {"message": "overloaded", "code": 503}}, True),
        ({"error": {"message": "overloaded", "code": "503"}}, True),
        ({"error": {"message": "x", "code": 400}}, False),
        ({"error": {"message": "x", "code": 429}}, True),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, True),
        ({"type": "error", "error": {"type": "api_error", "message": "x"}}, True),
        ({"type": "error", "error": {"type": "timeout_error", "message": "x"}}, True),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, True),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}, False),
        ({"type": "error", "error": {"type": "authentication_error", "message": "x"}}, False),
        ({"type": "error", "code": "server_error", "message": "x", "param": None}, True),
        ({"type": "error", "code": "insufficient_quota", "message": "x"}, False),
        ({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "x"}}}, True),
        ({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded"}}}, True),
        ({"type": "response.failed", "response": {"error": None}}, False),
        ({"id": "r", "status": "failed", "error": {"code": "invalid_prompt", "message": "x"}}, False),
        ({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}, True),
        ({"error": "something"}, False),
    ],
    ids=str,
)
def test_a_complaint_in_a_stream_says_by_its_kind_whether_to_ask_again(data, retryable):
    fault = fault_in(data)
    assert isinstance(fault, ProviderFault)
    assert retryable is fault.retryable
    assert str(fault).startswith("the server failed: ")


def test_an_overflow_says_so_in_its_first_words():
    body = {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}
    fault = fault_of(400, {}, json.dumps(body))
    assert isinstance(fault, Overflow)
    assert "the request does not fit (HTTP 400): prompt is too long: 9 tokens > 8 maximum" == str(fault)
