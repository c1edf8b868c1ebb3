"""What endpoints say of their models themselves, as observed servers say it, over a real connection."""

import socket
from functools import partial

import pytest

from ethang_nb.errors import BadWindow
from ethang_nb.providers.models import live as live_facts
from ethang_nb.providers.models.facts import Prices
from ethang_nb.providers.models.silence import Silence
from ethang_nb.providers.registry import facts
from ethang_nb.providers.windows import window_of
from tests.providers.json_server import json_servers
from tests.providers.local_model import CTX, model_file, model_id

LLAMA_PROPS = {
    "default_generation_settings": {"n_ctx": 512, "params": {}},
    "total_slots": 4,
    "model_path": "m.gguf",
}
LLAMA_MODELS = {"object": "list", "data": [{"id": "m", "meta": {"n_ctx_train": 8192, "n_ctx": 1024}}]}
VLLM = {
    "object": "list",
    "data": [{"id": "qwen", "owned_by": "vllm", "max_model_len": 32768}, {"id": "other"}],
}
OPENROUTER = {
    "data": [
        {
            "id": "acme/model",
            "context_length": 200_000,
            "top_provider": {"context_length": 131_072, "max_completion_tokens": 16_384},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
        }
    ]
}


@pytest.fixture
def serve():
    live_facts.forget()
    with json_servers() as start:
        yield start
    live_facts.forget()


@pytest.mark.parametrize(
    ("provider", "model", "answers", "total"),
    [
        ("vllm", "qwen", {"/v1/models": VLLM}, 32_768),
        ("llama-server", "m", {"/props?model=m&autoload=false": LLAMA_PROPS}, 512),
        ("llama-server", "any", {"/props?model=any&autoload=false": LLAMA_PROPS}, 512),
        ("llama-server", "m", {"/v1/models": LLAMA_MODELS}, 1_024),
        (
            "ollama",
            "qwen3",
            {"/api/ps": {"models": [{"name": "qwen3:latest", "context_length": 4_096}]}},
            4_096,
        ),
        (
            "ollama",
            "qwen3:8b",
            {"/api/ps": {"models": [{"model": "qwen3:8b", "context_length": 4_096}]}},
            4_096,
        ),
        (
            "lmstudio",
            "a/b",
            {
                "/api/v0/models/a%2Fb": {
                    "id": "a/b",
                    "loaded_context_length": 4_096,
                    "max_context_length": 131_072,
                }
            },
            4_096,
        ),
        (
            "lmstudio",
            "b",
            {
                "/api/v0/models": {
                    "data": [{"id": "b", "loaded_context_length": 8_192, "max_context_length": 131_072}]
                }
            },
            8_192,
        ),
        ("openai", "qwen", {"/v1/models": VLLM}, 32_768),
        ("openai", "m", {"/v1/models": LLAMA_MODELS}, 1_024),
        ("openai", "m", {"/v1/models": {"data": [{"id": "m"}]}, "/props": LLAMA_PROPS}, 512),
        ("groq", "g", {"/v1/models": {"data": [{"id": "g", "context_window": 131_072}]}}, 131_072),
        ("mistral", "g", {"/v1/models": {"data": [{"id": "g", "max_context_length": 32_000}]}}, 32_000),
        ("together", "g", {"/v1/models": [{"id": "g", "context_length": 8_000}]}, 8_000),
    ],
)
def test_servers_say_how_large_the_window_is(serve, provider, model, answers, total):
    server = serve(answers)
    found = facts(f"{provider}/{model}?base_url={server.url}/v1")
    assert total == found.total
    assert found.source.startswith("the server's own /")
    assert found.source.endswith(found.as_of)
    assert server.url.rpartition(":")[2] not in found.source


SERVED = {"data": [{"id": name, "max_model_len": 4_096} for name in ("a", "b", "c", "d")]}


@pytest.mark.parametrize(
    ("provider", "answers", "why"),
    [
        # what a model was trained for is not what it is served with
        ("llama-server", {"/v1/models": {"data": [{"id": "m", "meta": {"n_ctx_train": 8_192}}]}}, ""),
        (
            "lmstudio",
            {"/api/v0/models/m": {"id": "m", "max_context_length": 131_072, "state": "not-loaded"}},
            "LM Studio says it of models that are loaded: load it there",
        ),
        ("ollama", {"/api/ps": {"models": []}}, "Ollama says it of models that run: start it there"),
        (
            "vllm",
            {"/v1/models": {"data": [{"id": "another", "max_model_len": 9}]}},
            "serves another, and no 'm'",
        ),
        ("vllm", {"/v1/models": SERVED}, "serves a, b, c and 1 more, and no 'm'"),
        ("vllm", {"/v1/models": {"data": [{"id": "m", "max_model_len": 0}]}}, ""),
        ("vllm", {"/v1/models": {"data": [{"id": "m", "max_model_len": True}]}}, ""),
        ("vllm", {"/v1/models": {"data": [{"id": "m", "max_model_len": "4096"}]}}, ""),
        ("vllm", {"/v1/models": {"data": "x"}, "/props": []}, ""),
        ("vllm", {"/v1/models": b"<html>"}, "answered HTTP 200 without JSON"),
        ("vllm", {"/v1/models": [None, 5, {}], "/props": {"default_generation_settings": 5}}, ""),
        ("vllm", {}, ""),
    ],
)
def test_what_answers_and_does_not_say_it_is_told_from_what_is_not_there(serve, provider, answers, why):
    server = serve(answers)
    said = unknown(f"{provider}/m?base_url={server.url}/v1")
    assert said.startswith(f"the window of model '{provider}/m' is unknown: {server.url[7:]} ")
    assert (why or "answers, but does not say it") in said
    assert "running" not in said
    assert server.asked


def unknown(model, tables=None):
    """Why the window of a model is unknown, as whoever wants to begin with it is told."""
    with pytest.raises(BadWindow) as caught:
        facts(model, tables=tables or {})
    said = str(caught.value)
    assert "\n" not in said
    with pytest.raises(BadWindow) as again:
        window_of(None, model=model, find=partial(facts, tables=tables or {}))
    assert said == str(again.value)
    return said


CLOSED = "127.0.0.1:9"
"""The discard port, where nobody listens."""


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("vllm/x", "vLLM"),
        ("ollama/x", "Ollama"),
        ("lmstudio/x", "LM Studio"),
        ("llama-server/x", "llama-server"),
        ("openai/nobody-knows", "the server"),
    ],
)
def test_a_server_that_is_not_running_is_the_cause(model, name):
    said = unknown(f"{model}?base_url=http://{CLOSED}/v1")
    wanted = f"nothing answers at {CLOSED} (connection refused): is {name} running there? start it; or give a number"
    assert wanted in said
    assert said.endswith(f'or in ethang.toml [models."{model}"] total = 32768')


def test_a_provider_of_ones_own_that_is_not_running_is_the_cause():
    tables = {"mine": {"base_url": f"http://{CLOSED}/v1", "models": {"m": {"input": 1}}}}
    assert f"nothing answers at {CLOSED} (connection refused): is the server running there?" in unknown(
        "mine/m", tables
    )
    tables["mine"]["models"]["m"]["total"] = 5_000
    assert 5_000 == facts("mine/m", tables=tables).total


def test_a_server_that_hangs_is_asked_once_and_told_from_one_that_refuses(monkeypatch):
    """Two questions would mean to wait twice."""
    monkeypatch.setattr(live_facts, "SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        said = unknown_once(f"vllm/x?base_url=http://127.0.0.1:{port}/v1")
        listening.setblocking(False)
        listening.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert f"nothing answers at 127.0.0.1:{port} (did not answer in time): is vLLM running there?" in said


def unknown_once(model):
    with pytest.raises(BadWindow) as caught:
        facts(model)
    return str(caught.value)


@pytest.mark.parametrize(
    ("model", "environment", "advice"),
    [
        ("openai/x?", {}, "OPENAI_API_KEY is not sent to {host}: add key=OPENAI_API_KEY if it should be"),
        ("openai/x?key=MINE&", {"MINE": "wrong"}, "is what MINE holds a key of this server?"),
        ("vllm/x?key=MINE&", {"MINE": "wrong"}, "is what MINE holds a key of this server?"),
        (
            "openai/x?header.Authorization=Bearer%20${MINE}&",
            {"MINE": "wrong"},
            "is what the header authorization holds a key of this server?",
        ),
    ],
)
@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_wants_a_key_is_the_cause(serve, monkeypatch, model, environment, advice, status):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    server = serve({}, status=status, missing={"error": {"message": "no, so"}})
    said = unknown(f"{model}base_url={server.url}/v1")
    host = server.url[7:]
    assert (
        f"{host} does not say it, the server refused (HTTP {status}): no, so: {advice.format(host=host)}; or"
        in said
    )


def test_a_local_server_that_wants_a_key_after_all(serve):
    server = serve({}, status=401)
    tables = {"mine": {"base_url": f"{server.url}/v1"}}
    assert "no variable is named for its key: add key=NAME_OF_A_VARIABLE" in unknown("mine/x", tables)


def test_a_server_that_is_still_loading_is_the_cause(serve):
    server = serve({}, status=503, missing={"error": {"message": "Loading model", "code": 503}})
    assert "does not say it, the server failed (HTTP 503): Loading model; or give" in unknown(
        f"llama-server/x?base_url={server.url}/v1"
    )


def test_what_openrouter_says_is_the_smaller_window_with_output_and_prices(serve):
    server = serve({"/api/v1/models": OPENROUTER})
    found = facts(f"openrouter/acme/model?base_url={server.url}/api/v1")
    assert (131_072, 16_384) == (found.total, found.max_output)
    assert Prices(input=3_000_000, output=15_000_000, read=300_000) == found.prices


def test_a_server_is_asked_once_a_process(serve):
    server = serve({"/v1/models": VLLM})
    for _ in range(3):
        facts(f"vllm/qwen?base_url={server.url}/v1")
    assert 1 == len(server.asked)


def test_a_server_that_was_not_there_is_asked_again(serve):
    server = serve({})
    model = f"vllm/qwen?base_url={server.url}/v1"
    unknown(model)
    server.answers["/v1/models"] = VLLM
    assert 32_768 == facts(model).total


def test_nobody_is_asked_where_nothing_live_is_wanted(serve):
    server = serve({"/v1/models": VLLM})
    assert facts(f"vllm/qwen?base_url={server.url}/v1", live=False) is None
    assert not server.asked


def test_a_key_goes_along_where_one_was_named(serve, monkeypatch):
    monkeypatch.setenv("MY_OWN_KEY", "a-key-of-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-you")
    server = serve({"/v1/models": VLLM})
    assert facts(f"openai/qwen?base_url={server.url}/v1&key=MY_OWN_KEY").total == 32_768
    live_facts.forget()
    facts(f"openai/qwen?base_url={server.url}/v1")
    assert ["Bearer a-key-of-mine", None] == [asked.headers.get("Authorization") for asked in server.asked]


def test_without_the_key_that_was_named_nobody_is_asked(serve):
    server = serve({"/v1/models": VLLM})
    said = unknown(f"openai/qwen?base_url={server.url}/v1&key=MY_OWN_KEY")
    assert "unknown: MY_OWN_KEY is not set, and without it openai was not asked: set it" in said
    assert not server.asked


def test_a_person_is_believed_before_a_server(serve):
    server = serve({"/v1/models": VLLM})
    tables = {"mine": {"base_url": f"{server.url}/v1", "models": {"qwen": {"total": 16_000}}}}
    found = facts("mine/qwen", tables=tables)
    assert (16_000, "your settings (models.mine/qwen)") == (found.total, found.source)


def test_a_server_is_believed_before_the_snapshot(serve):
    """A provider of one's own that has the name of a known one keeps its prices, and its own window."""
    from ethang_nb.providers.models.facts import listed, recorded

    name = next(name for name in listed("fireworks") if recorded("fireworks", name).prices is not None)
    server = serve({"/v1/models": {"data": [{"id": name, "max_model_len": 2_048}]}})
    found = facts(f"fireworks/{name}", tables={"fireworks": {"base_url": f"{server.url}/v1"}})
    known = recorded("fireworks", name)
    assert (2_048, None, known.prices) == (found.total, found.max_output, found.prices)


def test_a_host_is_asked_only_for_what_the_snapshot_lacks(serve, monkeypatch):
    """Its list costs a call; what ships with the package answers first."""
    asked = []

    def ask(_, model):
        asked.append(model)
        raise Silence("no word")

    monkeypatch.setattr(live_facts, "ask", ask)
    assert facts("groq/openai/gpt-oss-120b").total == 131_072
    assert not asked
    assert "the window of model 'groq/nobody-knows' is unknown: no word; or give" in unknown_once(
        "groq/nobody-knows"
    )
    assert ["nobody-knows"] == asked


def test_where_it_does_not_answer_the_source_says_so(serve):
    from ethang_nb.providers.models.facts import listed

    server, name = serve({}), listed("fireworks")[0]
    found = facts(f"fireworks/{name}", tables={"fireworks": {"base_url": f"{server.url}/v1"}})
    assert found.source.endswith("; the server itself did not say")


@pytest.mark.parametrize(
    "price", ["1e999999999", "1e900000", "Infinity", "NaN", "sNaN", "-1", "", None, True, {}]
)
def test_a_price_that_is_none_is_left_out_and_the_window_is_not(serve, price):
    row = {"id": "m", "max_model_len": 4_096, "pricing": {"prompt": price, "completion": "0.000002"}}
    server = serve({"/v1/models": {"data": [row]}})
    found = facts(f"vllm/m?base_url={server.url}/v1")
    assert (4_096, Prices(output=2_000_000)) == (found.total, found.prices)


def test_a_known_model_at_an_address_that_says_nothing_is_as_the_snapshot_has_it(serve):
    from ethang_nb.providers.models.facts import recorded

    ours, silent = recorded("openai", "gpt-4o"), serve({})
    for address in (f"{silent.url}/v1", f"http://{CLOSED}/v1"):
        host = address[7:-3]
        for found in (
            facts(f"openai/gpt-4o?base_url={address}"),
            facts("openai/gpt-4o", tables={"openai": {"base_url": address}}),
        ):
            assert (128_000, ours.prices) == (found.total, found.prices)
            assert f"{ours.source}, for openai's own address; {host} itself did not say" == found.source


@pytest.mark.parametrize(("total", "priced"), [(128_000, True), (4_096, False)])
def test_another_address_may_serve_anything_under_the_same_name(serve, total, priced):
    """Of another size, it is another model: neither its output nor its price is that of the one we know."""
    server = serve({"/v1/models": {"data": [{"id": "gpt-4o", "max_model_len": total}]}})
    found = facts(f"openai/gpt-4o?base_url={server.url}/v1")
    assert (total, priced, priced) == (found.total, found.prices is not None, found.max_output is not None)


class Holder:
    """Whoever needs the server."""


def test_a_real_server_says_what_it_was_started_with(monkeypatch):
    """llama.cpp's own: its window is 1,024 tokens, and the model was trained for 8,192."""
    model = model_id()
    from ethang_nb.providers.llamacpp import server as llama_server
    from ethang_nb.providers.llamacpp.options import wanted

    live_facts.forget()
    asked, holder = wanted(model)[0], Holder()
    address = llama_server.hold(asked, holder).address
    try:
        monkeypatch.setenv("LOCAL_KEY", llama_server.key())
        for name in ("llama-server/anything", "mine/anything", f"mine/{model_file().name}"):
            tables = {"mine": {"base_url": f"{address}/v1", "key": "LOCAL_KEY"}}
            moved = f"?base_url={address}/v1&key=LOCAL_KEY" if name.startswith("llama") else ""
            assert CTX == facts(f"{name}{moved}", tables=tables).total
            live_facts.forget()
    finally:
        llama_server.release(asked, holder)
