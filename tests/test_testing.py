"""`ethang_nb.testing.serve`: an offline stand-in behind Chat Completions, for clients of one's own."""

import http.client
import json
import threading
import time

import pytest

from ethang_nb.errors import EthangError, Misuse, PathRefused
from ethang_nb.extras import server as module
from ethang_nb.testing import serve

LABEL = "reader (rules, not a language model)"
READ = {"name": "read_file", "description": "Reads.", "parameters": {"type": "object", "properties": {}}}
TASK = {"role": "user", "content": "Read a.txt and tell me what its cap is."}
CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'}}
READ_IT = [
    TASK,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "[a.txt lines 1-1 of 1]\nThe cap of a.txt is 48,250 “euros”.",
    },
]


@pytest.fixture(scope="module")
def server():
    with serve() as served:
        yield served


def ask(server, body, *, path="/v1/chat/completions", method="POST", headers=None):
    """The status and the bytes of an answer. `body` is JSON, or bytes as they are."""
    place = server.base_url.removeprefix("http://").removesuffix("/v1")
    line = http.client.HTTPConnection(place, timeout=10)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    line.request(method, path, raw, {"content-type": "application/json", **(headers or {})})
    answer = line.getresponse()
    found = answer.status, answer.read()
    line.close()
    return found


def answer(server, body, **options):
    status, raw = ask(server, body, **options)
    assert 200 == status, raw
    return json.loads(raw)


def error(server, body, **options):
    status, raw = ask(server, body, **options)
    return status, json.loads(raw)["error"]["message"]


def test_it_calls_the_tools_of_a_request_and_answers_from_their_results(server):
    tools = [{"type": "function", "function": READ}]
    first = answer(server, {"model": "any", "messages": [TASK], "tools": tools})
    [choice] = first["choices"]
    assert "tool_calls" == choice["finish_reason"] and choice["message"]["content"] is None
    [call] = choice["message"]["tool_calls"]
    assert ("read_file", {"path": "a.txt"}) == (
        call["function"]["name"],
        json.loads(call["function"]["arguments"]),
    )
    last = answer(server, {"messages": READ_IT, "tools": tools})
    assert "stop" == last["choices"][0]["finish_reason"]
    assert "48,250 “euros”" in last["choices"][0]["message"]["content"]
    assert last["usage"]["prompt_tokens"] > first["usage"]["prompt_tokens"] > 0
    assert (
        last["usage"]["total_tokens"] == last["usage"]["prompt_tokens"] + last["usage"]["completion_tokens"]
    )


def test_every_answer_says_that_it_is_the_stand_in(server):
    assert LABEL == answer(server, {"model": "gpt-5", "messages": [TASK]})["model"]
    assert LABEL == answer(server, b"", method="GET", path="/v1/models")["data"][0]["owned_by"]
    assert LABEL in repr(server)


@pytest.mark.parametrize("messages", [READ_IT, [TASK]])
def test_a_stream_holds_what_the_whole_answer_does(server, messages):
    body = {"model": "m", "messages": messages, "tools": [{"type": "function", "function": READ}]}
    whole = answer(server, body)
    status, raw = ask(server, {**body, "stream": True, "stream_options": {"include_usage": True}})
    *events, done, rest = raw.decode().split("\n\n")
    assert (200, "data: [DONE]", "") == (status, done, rest)
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert {LABEL} == {chunk["model"] for chunk in chunks}
    assert whole["usage"] == chunks[-1]["usage"] and [] == chunks[-1]["choices"]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    message = whole["choices"][0]["message"]
    assert (message["content"] or "") == "".join(delta.get("content") or "" for delta in deltas)
    calls = [piece for delta in deltas for piece in delta.get("tool_calls", ())]
    expected = message.get("tool_calls", [])
    assert [call["id"] for call in expected] == [piece["id"] for piece in calls if "id" in piece]
    assert [call["function"]["arguments"] for call in expected] == [
        piece["function"]["arguments"] for piece in calls if "id" not in piece
    ]
    assert whole["choices"][0]["finish_reason"] == chunks[-2]["choices"][0]["finish_reason"]


def test_a_stream_says_nothing_of_usage_unless_it_is_asked(server):
    _, raw = ask(server, {"messages": [TASK], "stream": True})
    assert b"usage" not in raw


def test_the_official_client_takes_its_answers():
    openai = pytest.importorskip("openai", reason="needs the official client: uv sync --group peers")
    with (
        serve("reader") as server,
        openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client,
    ):
        tools = [{"type": "function", "function": READ}]
        whole = client.chat.completions.create(model="m", messages=READ_IT, tools=tools)
        with client.chat.completions.stream(model="m", messages=READ_IT, tools=tools) as stream:
            assert (
                whole.choices[0].message.content == stream.get_final_completion().choices[0].message.content
            )
        assert "reader" == client.models.list().data[0].id
        with pytest.raises(openai.BadRequestError, match="'messages' is required"):
            client.post("/chat/completions", body={}, cast_to=object)


def test_a_script_plays_its_turns_and_its_faults(tmp_path):
    turns = "overflow_at: 500\nturns:\n  - say: one\n  - rate_limit: true\n  - say: two\n"
    (tmp_path / "turns.yaml").write_text(turns, encoding="utf-8")
    with serve("script:turns.yaml", root=tmp_path) as server:
        assert "one" == answer(server, {"messages": [TASK]})["choices"][0]["message"]["content"]
        assert 429 == ask(server, {"messages": [TASK]})[0]
        assert "two" == answer(server, {"messages": [TASK]})["choices"][0]["message"]["content"]
        status, raw = ask(server, {"messages": [{"role": "user", "content": "word " * 600}]})
        assert (400, "context_length_exceeded") == (status, json.loads(raw)["error"]["code"])


def test_what_is_no_stand_in_is_refused_before_anything_is_served(tmp_path):
    with pytest.raises(Misuse, match="is no offline stand-in; serve reader"):
        serve("openai/gpt-5")
    with pytest.raises(EthangError):
        serve("reader?colour=blue")
    with pytest.raises(PathRefused):
        serve("script:missing.yaml", root=tmp_path)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[1]", "'messages' is required"),
        ({"messages": "hello"}, "'messages' is required"),
        ({"messages": [{"role": "nobody"}]}, "role"),
        ({"messages": [7]}, ""),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_request_that_is_none_is_refused_and_the_next_one_answered(server, body, said):
    status, message = error(server, body)
    assert 400 == status and said in message
    answer(server, {"messages": [TASK]})


def test_other_places_and_methods_are_refused(server):
    assert 404 == error(server, {"messages": []}, path="/v1/embeddings")[0]
    assert 404 == error(server, b"", method="GET", path="/v1/chat/completions")[0]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil:1", ""]
)
def test_a_host_that_is_not_this_machine_is_refused(server, host):
    assert 403 == error(server, {"messages": [TASK]}, headers={"host": host})[0]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]", "[::1]:80"])
def test_this_machine_has_several_names(server, host):
    answer(server, {"messages": [TASK]}, headers={"host": host})


def test_a_page_in_a_browser_is_refused(server):
    assert 403 == error(server, {"messages": [TASK]}, headers={"origin": "http://127.0.0.1:8888"})[0]


def test_a_request_that_is_too_large_is_refused_by_its_size(server, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 1_000)
    status, message = error(server, b"x" * 1_001)
    assert (413, "the request has 1,001 bytes; 1,000 are taken at most") == (status, message)


def test_more_at_once_than_there_are_seats_are_told_to_come_back(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1)
    with serve() as server:
        held = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=10)
        held.putrequest("POST", "/v1/chat/completions")
        held.putheader("content-length", "20")
        held.endheaders()  # the body does not come, so the seat stays taken
        until = time.monotonic() + 5
        while (found := ask(server, {"messages": [TASK]})[0]) != 503 and time.monotonic() < until:
            pass
        assert 503 == found
        held.close()


@pytest.mark.parametrize("length", ["\u00b2", "-1", "x", "1" * 400, ""])
def test_a_length_that_is_none_is_refused(server, length):
    assert 400 == error(server, b"", headers={"content-length": length})[0]


def test_it_prints_nothing_and_lets_go_of_port_and_threads(capfd):
    before = set(threading.enumerate())
    server = serve()
    answer(server, {"messages": [TASK]})
    ask(server, b"{")
    server.close()
    server.close()
    assert ("", "") == capfd.readouterr()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "ethang-server"]
    with pytest.raises(OSError):
        ask(server, {"messages": [TASK]})
    assert repr(server).endswith(", closed)")
