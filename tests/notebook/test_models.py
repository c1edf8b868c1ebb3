"""%ethang models, %config Ethang.providers, and what Tab offers for a model."""

import pytest

from ethang_nb.notebook import models as told_of
from ethang_nb.notebook.extension import load, unload
from ethang_nb.providers.models.facts import listed
from tests.notebook.test_completion import offered
from tests.providers.json_server import json_servers

PLANTED = "sk-" + "in-a-notebook-" + "9876543210"
LOCAL = "http://127.0.0.1:8000/v1"


def told(notebook, line="%ethang models"):
    shown = notebook.run(line)
    data, _ = notebook.shell.display_formatter.format(shown.value)
    assert PLANTED not in "".join(map(str, data.values())) + shown.text
    return data["text/plain"]


def row(text, name):
    """The words of a row, whatever lines they were broken into."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip().startswith(name + " "):
            words = [line]
            for more in lines:
                if not more.startswith(" " * 10):
                    break
                words.append(more)
            return " ".join(" ".join(words).split())
    raise AssertionError(text)


def test_endpoints_say_whether_a_key_is_there_and_never_which(notebook, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    said = told(notebook)
    assert row(said, "openai/MODEL").endswith("key: OPENAI_API_KEY is set")
    assert row(said, "groq/MODEL").endswith("key: GROQ_API_KEY is not set")
    assert row(said, "ollama/MODEL").endswith("OLLAMA_API_KEY is not set, nor needed")
    assert "8,000 tokens unless --window says otherwise (stand-in default)" in row(said, "reader")


def test_what_is_known_of_a_model_is_told_with_its_source(notebook, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", PLANTED)
    said = told(notebook, "%ethang models anthropic/claude-sonnet-5-5")
    assert "1,000,000 tokens" in row(said, "window")
    assert "input 2, output 10, read from the cache 0.1, written to the cache 2.5" in row(said, "prices")
    assert "litellm 1.110.2, 2026-11-20" in row(said, "source")
    assert "temperature, top_p, top_k" in row(said, "does not take")
    assert row(said, "cache").endswith("from 512 tokens on")
    assert row(said, "key").endswith("ANTHROPIC_API_KEY is set")
    assert "key ANTHROPIC_API_KEY is set" == row(said, "key")
    assert "Responses" in row(told(notebook, "%ethang models openai/gpt-5"), "API")


def test_a_name_alone_is_told_with_what_a_cell_needs(notebook):
    said = told(notebook, "%ethang models gpt-5")
    assert "272,000 tokens" in row(said, "max input")
    assert "--model openai/gpt-5" in row(said, "in a cell")
    assert "in a cell" not in told(notebook, "%ethang models openai/gpt-5")
    (of_others,) = listed("moonshot")[:1]
    said = told(notebook, f"%ethang models moonshot/{of_others}")
    assert "[providers.moonshot] base_url = …" in row(said, "in a cell")


def test_addresses_are_told_as_they_are_now(notebook, monkeypatch):
    said = told(notebook)
    assert "$" not in said.replace("$OPENAI_BASE_URL", "").replace("$ANTHROPIC_BASE_URL", "")
    assert "https://api.openai.com/v1 (or $OPENAI_BASE_URL)" in row(said, "openai/MODEL")
    assert "AZURE_OPENAI_ENDPOINT, the address of your resource, is not set" in row(said, "azure/MODEL")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.corp/v1/")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://ours.openai.azure.com")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://me:{PLANTED}@proxy.corp")
    said = told(notebook)
    assert "https://proxy.corp/v1 (from $OPENAI_BASE_URL)" in row(said, "openai/MODEL")
    assert "https://ours.openai.azure.com/openai/v1 (from $AZURE_OPENAI_ENDPOINT)" in row(said, "azure/MODEL")
    assert "carries a user name or password" in row(said, "anthropic/MODEL")
    said = told(notebook, "%ethang models openai/gpt-5")
    assert "address https://proxy.corp/v1 (from $OPENAI_BASE_URL)" == row(said, "address")


@pytest.mark.parametrize("there", [True, False])
def test_whether_llama_cpp_is_installed_is_told(notebook, monkeypatch, there):
    monkeypatch.setattr(told_of, "find_spec", lambda name: object() if there else None)
    said = row(told(notebook), "llamacpp/PATH.gguf")
    assert said.endswith("llama.cpp is installed" if there else "pip install 'ethang_nb[local]'")


def test_a_server_that_was_started_anew_is_asked_anew(notebook):
    with json_servers() as start:
        server = start({"/v1/models": {"data": [{"id": "qwen", "max_model_len": 4_096}]}})
        line = f"%ethang models vllm/qwen?base_url={server.url}/v1"
        assert "4,096 tokens" in row(told(notebook, line), "window")
        server.answers["/v1/models"]["data"][0]["max_model_len"] = 8_192
        assert "8,192 tokens" in row(told(notebook, line), "window")


def test_a_model_nobody_knows_is_named(notebook):
    assert "did you mean 'openai/gpt-5'?" in notebook.fails("%ethang models openia/gpt-5").line()
    said = told(notebook, "%ethang models azure/mine")
    assert "give its size with --window" in row(said, "window")
    assert "did you mean" not in said


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("openai/gpt-5-foo", "openai/gpt-5, "),
        ("openai/gpt5", "openai/gpt-5"),
        ("anthropic/claude-sonet-5-5", "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-haiku", "anthropic/claude-haiku-"),
    ],
)
def test_a_slip_behind_a_known_provider_gets_near_names(notebook, monkeypatch, slip, meant):
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    monkeypatch.setenv("ANTHROPIC_API_KEY", PLANTED)
    assert row(told(notebook, f"%ethang models {slip}"), "did you mean").startswith(f"did you mean {meant}")
    said = notebook.fails(f"%%ethang --model {slip}\nhello").line()
    assert said.startswith("BadWindow")
    assert f"did you mean {meant}" in said


def test_why_a_window_is_unknown_is_told_and_that_a_key_stays_behind(notebook, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    said = told(notebook, "%ethang models openai/mine?base_url=http://127.0.0.1:9/v1")
    assert "nothing answers at 127.0.0.1:9 (connection refused)" in row(said, "window")
    assert "OPENAI_API_KEY is not sent to 127.0.0.1:9: add key=OPENAI_API_KEY if it should be" in row(
        said, "key"
    )


def test_providers_of_ones_own_are_told(notebook):
    notebook.run(f"%config Ethang.providers = {{'mine': {{'base_url': '{LOCAL}', 'key': 'MINE_KEY'}}}}")
    (notebook.folder / "ethang.toml").write_text('[providers.other]\nbase_url = "http://127.0.0.1:9/v1"\n')
    said = told(notebook)
    assert row(said, "mine/MODEL").endswith(f"{LOCAL} · key: MINE_KEY is not set")
    assert row(said, "other/MODEL").endswith("http://127.0.0.1:9/v1 · no key")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            f"providers = {{'mine': {{'base_url': '{LOCAL}', 'api_key': '{PLANTED}'}}}}",
            "providers.mine has a field",
        ),
        (
            f"providers = {{'mine': {{'base_url': '{LOCAL}', 'key': '{PLANTED}'}}}}",
            "key of providers.mine is 'sk-…'",
        ),
        ("providers = {'mine': 5}", "providers.mine is 5; it must be a table"),
        (
            "summariser = 'openia/gpt-5'",
            "unknown summariser in %config 'openia/gpt-5'; did you mean 'openai/gpt-5'?",
        ),
        (
            "models = ['reader', 'gpt-4o']",
            "unknown models in %config 'gpt-4o'; did you mean 'openai/gpt-4o'?",
        ),
        ("models = 5", "models in %config is 5; give model ids in a list"),
        ("cassette = ' '", "cassette in %config is ' '; give a name in quotes, as in 'demo'"),
    ],
)
def test_config_refuses_what_cannot_be(notebook, caplog, line, said):
    notebook.run(f"%config Ethang.{line}")
    assert [said] == [record.getMessage()[: len(said)] for record in caplog.records]
    assert PLANTED not in caplog.text


def test_config_takes_models_of_providers_it_was_told_of(notebook, caplog):
    notebook.run("%config Ethang.model = 'mine/large'")
    assert "unknown model in %config 'mine/large'" in caplog.text
    caplog.clear()
    notebook.run(f"%config Ethang.providers = {{'mine': {{'base_url': '{LOCAL}'}}}}")
    notebook.run("%config Ethang.model = 'mine/large'")
    notebook.run("%config Ethang.models = ['mine/large', 'openai/gpt-5-mini']")
    assert not caplog.records
    assert "mine/large" == notebook.run("%config Ethang.model").value
    # Loaded again, the tables come first, whatever order they were set in.
    unload(notebook.shell)
    load(notebook.shell)
    assert "mine/large" == notebook.run("%config Ethang.model").value


def test_config_counts_before_the_projects_file(notebook):
    (notebook.folder / "ethang.toml").write_text(
        f'[providers.mine]\nbase_url = "{LOCAL}"\nkey = "MINE_KEY"\n'
    )
    notebook.run("%config Ethang.providers = {'mine': {'base_url': 'http://127.0.0.1:1/v1'}}")
    assert row(told(notebook), "mine/MODEL").endswith("http://127.0.0.1:1/v1 · no key")


def test_tab_offers_providers_and_then_their_models(notebook):
    assert (["openai/", "openrouter/"], {"open"}) == offered(notebook, "%%ethang --model open")
    names, _ = offered(notebook, "%%ethang --model anthropic/claude-sonnet-5")
    assert ["anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5-5"] == names
    names, _ = offered(notebook, "%ethang models groq/")
    assert [f"groq/{name}" for name in listed("groq")] == names


def test_tab_offers_providers_and_models_of_ones_own(notebook):
    (notebook.folder / "ethang.toml").write_text(
        f'[providers.mine]\nbase_url = "{LOCAL}"\n[models."mine/large"]\ntotal = 5000\n'
    )
    assert ["mistral/", "mine/"] == offered(notebook, "%%ethang --model mi")[0]
    assert ["mine/large"] == offered(notebook, "%%ethang --model mine/")[0]
    (notebook.folder / "ethang.toml").write_text("[ethang\n")
    assert ["mistral/"] == offered(notebook, "%%ethang --model mi")[0]
