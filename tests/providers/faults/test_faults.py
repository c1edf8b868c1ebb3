"""Error answers as faults: whether the same request may go again, and one honest line."""

import asyncio
import json

import pytest

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.events import event_of
from ethang_nb.providers.faults.faults import fault_in, fault_of, without_step
from tests.providers.servers import ask, peer, says

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
    told, _, _ = str(fault_of(404, {}, json.dumps(body))).partition("; ")
    assert "the server refused (HTTP 404): no [model_not_found]" == told


@pytest.mark.parametrize(
    ("status", "error", "what", "step"),
    [
        (400, {}, "the server refused (HTTP 400)", "change what it names"),
        (422, {}, "the server refused (HTTP 422)", "change what it names"),
        (402, {}, "the account has nothing left at this server (HTTP 402)", "the balance"),
        (404, {}, "the server refused (HTTP 404)", "`%ethang models`"),
        (400, {"code": "model_not_found"}, "the server refused (HTTP 400)", "`%ethang models`"),
        (408, {}, "the server refused (HTTP 408)", "ask again later"),
        (429, {}, "the server's rate limit is reached (HTTP 429)", "wait"),
        (429, {"code": "insufficient_quota"}, "the account has nothing left at this server (HTTP 429)", "no waiting"),
        (403, {"code": "insufficient_quota"}, "the account has nothing left at this server (HTTP 403)", "no waiting"),
        (400, {"type": "ThrottlingException"}, "the server's rate limit is reached (HTTP 400)", "wait"),
        (500, {}, "the server failed (HTTP 500)", "ask again later"),
        (501, {}, "the server failed (HTTP 501)", "base_url and wire"),
        (529, {"type": "overloaded_error"}, "the server failed (HTTP 529)", "ask again later"),
        (500, {"message": "failed to parse tool call arguments as JSON"}, "the server failed (HTTP 500)", "change"),
        (400, {"message": "max_tokens is too large"}, "the server refused (HTTP 400)", "max_output"),
    ],
)  # fmt: skip
def test_a_fault_says_what_to_do_next(status, error, what, step):
    text = str(fault_of(status, {}, json.dumps({"error": {"message": "no", **error}})))
    assert text.startswith(f"{what}: ")
    assert step in text.rpartition("; ")[2]
    assert len(text.splitlines()) == 1


def test_a_better_step_may_stand_where_ours_stood():
    body = json.dumps({"error": {"message": "slow; wait", "code": "a_code"}})
    assert without_step(str(fault_of(429, {}, body))).endswith("reached (HTTP 429): slow; wait [a_code]")
    assert "a text; of somebody" == without_step("a text; of somebody")


def test_a_wait_that_is_too_long_is_the_only_step_that_is_named():
    async def main():
        async with peer(says({"error": {"message": "slow"}}, 429, retry_after=300)) as it:
            return await ask(it.url)

    text = str(asyncio.run(main()).outcome)
    assert text.startswith(
        "the server's rate limit is reached (HTTP 429): slow; it asks to be left alone for 5 min"
    )
    assert text.endswith("ask again then")


def test_the_next_step_stands_behind_the_longest_words():
    text = str(fault_of(429, {}, json.dumps({"error": {"message": "slow " * 500, "code": "a_code"}})))
    assert len(text) <= 600
    assert text.endswith("… [a_code]; wait before you ask again, or send less")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        ({"message": "nope", "code": 429}, "the server's rate limit is reached: nope"),
        ({"message": "nope", "code": "429"}, "the server's rate limit is reached: nope"),
        ({"message": "nope", "status": 429}, "the server's rate limit is reached: nope"),
        ({"message": "slow", "code": "rate_limit_exceeded"}, "the server's rate limit is reached: slow"),
        ({"message": "slow", "type": "rate_limit_error"}, "the server's rate limit is reached: slow"),
        ({"message": "x", "status": "RESOURCE_EXHAUSTED"}, "the server's rate limit is reached: x"),
        ({"message": "too many requests, slow down"}, "the server's rate limit is reached: too many"),
        ({"message": "x", "code": "throttlingException"}, "the server's rate limit is reached: x"),
        ({"message": "x", "code": "insufficient_quota"}, "the account has nothing left at this server: x"),
        ({"message": "x", "code": 402}, "the account has nothing left at this server: x"),
        ({"message": "x", "code": 400}, "the server refused: x"),
        ({"message": "x", "code": 500}, "the server failed: x"),
        ({"message": "x"}, "the server failed: x"),
    ],
)
def test_a_complaint_inside_a_200_is_called_what_it_is(error, what):
    rate = "rate limit" in what
    flat = {"type": "error", **error}
    bodies = [{"error": error}, {"type": "response.failed", "response": {"status": "failed", "error": error}}]
    for body in bodies if "type" in error else [*bodies, flat]:
        fault = fault_in(body)
        assert isinstance(fault, ProviderFault)
        assert str(fault).startswith(what)
        assert fault.retryable is (rate or error.get("code") == 500)


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
    assert str(fault).startswith("the ")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ('{"code": "rate_limit_exceeded", "message": "slow"}', "the server's rate limit is reached: slow"),
        ('{"message": "slow", "code": 429}', "the server's rate limit is reached: slow"),
        ("too many requests", "the server's rate limit is reached: too many requests"),
        ("boom", "the server failed: boom"),
    ],
)
def test_an_event_called_error_is_called_what_it_is_and_may_go_again(data, what):
    with pytest.raises(ProviderFault) as caught:
        event_of("error", data)
    assert str(caught.value).startswith(what)
    assert caught.value.retryable


def test_an_overflow_says_so_in_its_first_words():
    body = {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}
    fault = fault_of(400, {}, json.dumps(body))
    assert isinstance(fault, Overflow)
    assert "the request does not fit (HTTP 400): prompt is too long: 9 tokens > 8 maximum" == str(fault)
