import asyncio
import json
import subprocess
import sys

import pytest

from ethang_nb.context.messages import user
from ethang_nb.errors import KeyMissing, Misuse, PathRefused, ProviderFault, Unknown
from ethang_nb.providers.protocol import Request
from ethang_nb.providers.registry import check, facts, models, preflight, provider
from tests.providers.json_server import json_servers


def test_a_model_id_names_its_provider_and_options():
    assert provider("reader").name == "reader"
    assert provider("reader?follow=no&nudge=ignore").name == "reader?follow=no&nudge=ignore"


def test_a_script_is_named_with_its_file(tmp_path):
    file = tmp_path / "turns.yaml"
    file.write_text("turns:\n  - say: hi\n")
    assert provider(f"script:{file}").name == f"script:{file}"


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        ("reder", Unknown, "unknown model 'reder'; did you mean 'reader'?"),
        ("readr?follow=no", Unknown, "did you mean 'reader'"),
        ("gpt-9", Unknown, "known: reader, script:PATH.yaml"),
        ("", Unknown, "known: reader"),
        ("reader:x", Misuse, "options stand after"),
        ("reader?follow=maybe", Misuse, "allowed are yes, no"),
        ("reader?speed=9", Unknown, "unknown option of reader 'speed'; known: follow, nudge, usage"),
        ("script", Misuse, "names no file"),
        ("script:", Misuse, "names no file"),
        ("script:nowhere.yaml", PathRefused, "nowhere.yaml cannot be read"),
    ],
)
def test_a_bad_id_is_one_line_that_says_what_would_do(model, error, words):
    with pytest.raises(error) as caught:
        provider(model)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_stand_ins_have_a_stated_default_window():
    for model in ("reader?follow=no", "script:x.yaml"):
        known = facts(model)
        assert (known.total, known.max_output, known.source) == (8_000, 4_000, "stand-in default")
    with pytest.raises(Unknown):
        facts("gpt-9")


def test_every_model_form_is_listed():
    first, second, third, *others = models()
    assert ("reader", "script:PATH.yaml", "llamacpp/PATH.gguf") == (first, second, third)
    assert {"openai/MODEL", "anthropic/MODEL", "ollama/MODEL"} < set(others)


def test_naming_a_model_loads_no_other_provider():
    code = (
        "import sys; from ethang_nb.providers.registry import facts; facts('reader'); "
        "print(sorted(m for m in sys.modules if m.startswith(('ethang_nb.providers.', 'yaml', 'jsonschema', 'httpx'))))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = ["models", "models.facts", "protocol", "registry"]
    assert out.strip() == str([f"ethang_nb.providers.{name}" for name in loaded])


# ---- models behind HTTP

PLANTED = "sk-" + "planted-" + "0123456789"
ANSWER = {
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2},
}


@pytest.mark.parametrize(
    ("model", "wire", "path"),
    [
        ("openai/gpt-4o", "ChatWire", "chat/completions"),
        ("openai/gpt-5", "ResponsesWire", "responses"),
        ("anthropic/claude-sonnet-4-5", "MessagesWire", "messages"),
        ("groq/openai/gpt-oss-120b", "ChatWire", "chat/completions"),
        ("llama-server/x?wire=anthropic", "MessagesWire", "messages"),
    ],
)
def test_an_endpoints_model_speaks_its_wire_format(model, wire, path):
    """Made without a key, without an address that answers, without a connection."""
    found = provider(model)
    assert (model.partition("?")[0], wire, path) == (
        found.label,
        type(found.wire).__name__,
        found.wire.path.strip("/"),
    )
    request = Request(model=model, messages=(user("Hello"),), max_output=100)
    body = json.loads(found.encode(request).bytes)
    assert model.partition("?")[0].partition("/")[2] == body["model"]
    assert found.encode(request) == found.encode(request)


def test_a_provider_that_was_moved_says_where_it_is():
    assert "openai/x at http://127.0.0.1:1/v1" == provider("openai/x?base_url=http://127.0.0.1:1/v1").label


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("reader?folow=no", "did you mean 'follow'?"),
        ("llamacpp/m.gguf?ctxx=512", "did you mean 'ctx'?"),
        ("OPENAI/gpt-5", "did you mean 'openai/gpt-5'?"),
        ("openai:gpt-5", "did you mean 'openai/gpt-5'?"),
        ("olama:qwen3:8b", "did you mean 'ollama/qwen3:8b'?"),
        ("/gpt-5", "known: reader, "),
        ("GPT-55", "known: reader, "),
        ("GPT-5", "did you mean 'openai/gpt-5'?"),
    ],
)
def test_an_id_that_no_provider_can_be_made_of_is_refused_where_it_is_checked(model, said):
    for ask in (check, provider, facts):
        with pytest.raises(Unknown) as caught:
            ask(model)
        assert said in str(caught.value)


def test_a_value_that_cannot_be_is_refused_where_an_id_is_checked():
    for model in ("reader?follow=perhaps", "llamacpp/m.gguf?ctx=²", "llamacpp/?ctx=512"):
        for ask in (check, provider, facts):
            with pytest.raises(Misuse):
                ask(model)


def test_something_may_be_put_around_the_line():
    made = []

    def around(make):
        made.append(make)
        return "a line"

    assert "a line" == provider("openai/x", around=around).line
    assert 1 == len(made)


def test_checking_a_model_reads_no_key_and_the_look_before_the_first_request_does(monkeypatch):
    check("openai/gpt-5")
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        preflight("openai/gpt-5")
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    preflight("openai/gpt-5")
    for model in ("openia/x", "gpt-4o"):
        with pytest.raises(Unknown):
            preflight(model)
        with pytest.raises(Unknown, match="did you mean 'openai/"):
            check(model)


@pytest.fixture
def json_server():
    with json_servers() as start:
        yield start


def sent(model, tables):
    async def talk():
        found = provider(model, tables=tables)
        body = found.encode(Request(model=model, messages=(user("Hello"),), max_output=100))
        try:
            return await found.send(body)
        finally:
            await found.close()

    return asyncio.run(talk())


def test_a_request_goes_where_the_table_says_with_the_key_it_names(json_server, monkeypatch):
    monkeypatch.setenv("MINE_KEY", PLANTED)
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-you-at-all")
    server = json_server({"/v1/chat/completions?tier=a": ANSWER})
    table = {
        "base_url": f"{server.url}/v1",
        "key": "MINE_KEY",
        "headers": {"X-Title": "demo"},
        "query": {"tier": "a"},
    }
    reply = sent("mine/some/model", {"mine": table})
    assert ("Hello.", "mine/some/model", 9) == (reply.message.text, reply.message.source, reply.usage.input)
    (asked,) = server.asked
    assert ("/v1/chat/completions?tier=a", f"Bearer {PLANTED}", "demo") == (
        asked.path,
        asked.headers["Authorization"],
        asked.headers["X-Title"],
    )
    assert PLANTED not in asked.body
    assert "some/model" == json.loads(asked.body)["model"]


def test_a_server_that_repeats_the_key_is_not_repeated(json_server, monkeypatch):
    monkeypatch.setenv("MINE_KEY", PLANTED)
    server = json_server(
        {}, status=401, missing={"error": {"message": f"Incorrect API key provided: {PLANTED}"}}
    )
    with pytest.raises(ProviderFault) as caught:
        sent("mine/m", {"mine": {"base_url": f"{server.url}/v1", "key": "MINE_KEY"}})
    assert PLANTED not in str(caught.value)
    assert "[MINE_KEY]" in str(caught.value)


def test_openai_moved_elsewhere_is_asked_without_its_key(json_server, monkeypatch):
    """A folder that somebody cloned may move a provider, but not take its key along."""
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    server = json_server({"/v1/chat/completions": ANSWER})
    sent("openai/gpt-4o", {"openai": {"base_url": f"{server.url}/v1"}})
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "vllm/qwen"])
def test_a_key_that_stays_behind_is_named_where_the_server_wants_one(json_server, monkeypatch, model):
    name = model.partition("/")[0].upper() + "_API_KEY"
    monkeypatch.setenv(name, PLANTED)
    server = json_server({}, status=401, missing={"error": {"message": "who are you"}})
    host = server.url.removeprefix("http://")
    with pytest.raises(ProviderFault) as caught:
        sent(f"{model}?base_url={server.url}/v1", {})
    assert str(caught.value).endswith(f"; {name} is not sent to {host}: add key={name} if it should be")
    with pytest.raises(ProviderFault) as caught:
        sent(f"{model}?base_url={server.url}/v1&key={name}", {})
    assert "is not sent" not in str(caught.value)
    assert [None, PLANTED] == [
        (asked.headers["x-api-key"] or asked.headers["Authorization"] or "").removeprefix("Bearer ") or None
        for asked in server.asked
    ]
