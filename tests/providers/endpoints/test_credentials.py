"""Keys: read when something is sent, shown nowhere."""

import json
from functools import partial
from urllib.parse import quote, quote_plus

import pytest

from ethang_nb.errors import KeyMissing, Misuse
from ethang_nb.providers.endpoints import credentials
from ethang_nb.providers.endpoints.model_ids import named
from ethang_nb.providers.registry import check, preflight

PLANTED = "sk-" + "live-" + "0123456789abcdef"


def endpoint(model, tables=None):
    return named(model, tables or {}).endpoint


@pytest.mark.parametrize(
    ("model", "variable", "headers"),
    [
        ("openai/x", "OPENAI_API_KEY", {"authorization": f"Bearer {PLANTED}"}),
        ("anthropic/x", "ANTHROPIC_API_KEY", {"x-api-key": PLANTED}),
        ("azure/x", "AZURE_OPENAI_API_KEY", {"api-key": PLANTED}),
        ("anthropic/x?wire=chat", "ANTHROPIC_API_KEY", {"authorization": f"Bearer {PLANTED}"}),
        ("ollama/x", "OLLAMA_API_KEY", {"authorization": f"Bearer {PLANTED}"}),
    ],
)
def test_a_key_goes_into_the_header_its_provider_reads(monkeypatch, model, variable, headers):
    monkeypatch.setenv(variable, f" {PLANTED}\n")
    assert headers == credentials.headers(endpoint(model))


def test_a_key_is_read_when_it_is_sent_and_not_before(monkeypatch):
    found = endpoint("openai/x")
    check("openai/x")
    monkeypatch.setenv("OPENAI_API_KEY", "first-key")
    assert "Bearer first-key" == credentials.headers(found)["authorization"]
    monkeypatch.setenv("OPENAI_API_KEY", "second-key")
    assert "Bearer second-key" == credentials.headers(found)["authorization"]


def test_a_key_that_is_missing_is_named_with_how_to_set_it():
    with pytest.raises(KeyMissing) as caught:
        credentials.headers(endpoint("groq/x"))
    said = str(caught.value)
    assert said.startswith("groq needs GROQ_API_KEY, which is not set")
    assert 'os.environ["GROQ_API_KEY"] = getpass.getpass()' in said
    assert "a replayed cassette needs none" in said
    assert "\n" not in said
    with pytest.raises(KeyMissing, match="GROQ_API_KEY"):
        preflight("groq/x")


def test_local_servers_are_asked_without_one():
    assert {} == credentials.headers(endpoint("vllm/x"))
    preflight("vllm/x")
    preflight("openai/x?base_url=http://127.0.0.1:1/v1")
    preflight("reader")


def test_headers_may_name_variables(monkeypatch):
    found = endpoint(
        "openai/x?base_url=http://127.0.0.1:1/v1&header.Authorization=Bearer%20${MINE}&header.X=y"
    )
    assert "MINE" == credentials.missing(found)
    with pytest.raises(KeyMissing, match="needs MINE"):
        credentials.headers(found)
    monkeypatch.setenv("MINE", PLANTED)
    assert {"authorization": f"Bearer {PLANTED}", "x": "y"} == credentials.headers(found)
    assert "[MINE]" in credentials.mask(f"sent {PLANTED} there")


def test_a_header_of_ones_own_stands_in_for_the_key(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    monkeypatch.setenv("LOGIN", PLANTED)
    model = "azure/dep?header.Authorization=Bearer%20${LOGIN}"
    preflight(model)
    assert {"authorization": f"Bearer {PLANTED}"} == credentials.headers(endpoint(model))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "another-key")
    assert {"authorization": f"Bearer {PLANTED}"} == credentials.headers(endpoint(model))


@pytest.mark.parametrize("value", ["a\nb" + PLANTED, "kéy" + PLANTED, "a\x7f" + PLANTED])
def test_a_key_that_no_header_can_carry_is_not_repeated(monkeypatch, value):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY holds a line break or a character") as caught:
        credentials.headers(endpoint("openai/x"))
    assert PLANTED not in str(caught.value)


def test_addresses_may_come_from_the_environment(monkeypatch):
    assert "https://api.openai.com/v1" == credentials.address(endpoint("openai/x"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    assert "http://127.0.0.1:9/v1" == credentials.address(endpoint("openai/x"))
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://u:{PLANTED}@host/v1")
    with pytest.raises(Misuse, match="the address of openai carries a user name") as caught:
        credentials.address(endpoint("openai/x"))
    assert PLANTED not in str(caught.value)


def test_azure_needs_its_address_named(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", PLANTED)
    with pytest.raises(KeyMissing, match="azure needs AZURE_OPENAI_ENDPOINT"):
        credentials.address(endpoint("azure/dep"))
    with pytest.raises(KeyMissing, match="AZURE_OPENAI_ENDPOINT"):
        preflight("azure/dep")
    with pytest.raises(KeyMissing) as caught:  # an address is no secret: nobody needs getpass for it
        preflight("azure/dep")
    assert "%env AZURE_OPENAI_ENDPOINT=https://NAME.openai.azure.com;" in str(caught.value)
    assert "getpass" not in str(caught.value)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")
    assert "https://mine.openai.azure.com/openai/v1" == credentials.address(endpoint("azure/dep"))


def test_every_key_in_the_environment_is_masked(monkeypatch):
    quoted = 'a"b\\c/' + PLANTED
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    monkeypatch.setenv("MISTRAL_API_KEY", PLANTED + "longer")
    monkeypatch.setenv("XAI_API_KEY", quoted)
    text = f"{PLANTED}, {PLANTED}longer and {json.dumps(quoted)}"
    said = credentials.mask(text)
    assert '[OPENAI_API_KEY], [MISTRAL_API_KEY] and "[XAI_API_KEY]"' == said


def test_a_key_that_was_sent_is_masked_though_another_has_taken_its_place(monkeypatch):
    monkeypatch.setenv("XAI_API_KEY", PLANTED + "-old")
    credentials.headers(endpoint("xai/x"))
    monkeypatch.setenv("XAI_API_KEY", PLANTED + "-new")
    assert "[XAI_API_KEY] [XAI_API_KEY]" == credentials.mask(f"{PLANTED}-old {PLANTED}-new")
    monkeypatch.delenv("XAI_API_KEY")
    assert "[XAI_API_KEY]" == credentials.mask(f"{PLANTED}-old")


def test_short_values_are_words_and_stay(monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", "ollama")
    assert "ask ollama" == credentials.mask("ask ollama")


@pytest.mark.parametrize("value", ["lm-studio", "sk-no-key-required"])
def test_what_guides_give_for_a_key_is_no_secret(monkeypatch, value):
    monkeypatch.setenv("LMSTUDIO_API_KEY", value)
    assert f"start {value}" == credentials.mask(f"start {value}")


@pytest.mark.parametrize("form", [json.dumps, repr, quote, quote_plus, partial(quote, safe="")])
def test_a_key_is_masked_as_it_stands_in_json_and_in_urls(monkeypatch, form):
    value = 'a+b/c= "d"' + PLANTED
    monkeypatch.setenv("XAI_API_KEY", value)
    assert "[XAI_API_KEY]" == credentials.mask(form(value)).strip("\"'")


def test_each_form_of_a_key_is_looked_for_once(monkeypatch):
    """Most keys stand in JSON and in URLs as they are; every message and request body is looked through."""
    monkeypatch.setenv("XAI_API_KEY", PLANTED + "-plain")
    monkeypatch.setenv("MISTRAL_API_KEY", PLANTED + '"+/')
    found = list(credentials._secrets())
    assert len(found) == len(set(found))
    assert 1 == len([form for label, form in found if label == "XAI_API_KEY" and form.endswith("-plain")])
    assert 4 == len([form for label, form in found if label == "MISTRAL_API_KEY"])


def test_a_secret_made_here_is_masked_too():
    credentials.hide("llamacpp key", PLANTED[::-1])
    assert "[llamacpp key]!" == credentials.mask(PLANTED[::-1] + "!")


def test_nothing_that_stands_for_an_endpoint_shows_a_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    found = named("openai/gpt-4o")
    assert PLANTED not in repr(found) + str(found)
