"""Where a model id leads: the table, options, a project's own tables, and what is refused."""

import pytest

from ethang_nb.errors import Misuse, Unknown
from ethang_nb.providers.endpoints.fields import check_url, looks_like_key
from ethang_nb.providers.endpoints.model_ids import check_tables, named
from ethang_nb.providers.endpoints.table import ENDPOINTS, is_local
from ethang_nb.providers.registry import check

PLANTED = "sk-" + "proj-0123456789" + "abcdef"
LOCAL = "http://127.0.0.1:8000/v1"


def refused(call, error=Misuse):
    with pytest.raises(error) as caught:
        call()
    said = str(caught.value)
    assert "\n" not in said
    assert PLANTED not in said
    assert PLANTED[6:] not in said
    return said


@pytest.mark.parametrize("provider", ENDPOINTS)
def test_every_row_can_be_named_and_needs_no_slash_at_its_end(provider):
    found = named(f"{provider}/some/model:tag")
    assert (f"{provider}/some/model:tag", "some/model:tag") == (found.id, found.model)
    assert not found.endpoint.base_url.endswith("/")
    assert found.endpoint.key.endswith("_API_KEY")


@pytest.mark.parametrize("provider", ["vllm", "llama-server", "lmstudio", "ollama"])
def test_local_servers_are_this_machine_and_need_no_key(provider):
    row = ENDPOINTS[provider]
    assert is_local(row.base_url)
    assert not row.key_needed


def test_the_others_are_reached_over_tls():
    for row in ENDPOINTS.values():
        assert is_local(row.base_url) or "https://" in row.base_url or "_ENDPOINT}" in row.base_url


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:1", True),
        ("http://[::1]:1/v1", True),
        ("http://127.9.9.9", True),
        ("http://0.0.0.0:8000/v1", True),
        ("http://[::]:8000/v1", True),
        ("https://localhost.example.com", False),
        ("http://10.0.0.1", False),
        ("", False),
    ],
)
def test_this_machine_is_told_from_others(url, here):
    assert here == is_local(url)


def test_options_change_address_wire_headers_and_query():
    found = named(
        f"openai/gpt-4o?base_url={LOCAL}&wire=responses&header.X-Title=a%20b%26c&query.tier=1"
    ).endpoint
    assert (LOCAL, "responses", True) == (found.base_url, found.wire, found.moved)
    assert ({"x-title": "a b&c"}, {"tier": "1"}) == (dict(found.headers), dict(found.query))


def test_a_provider_that_is_moved_keeps_its_key_to_itself():
    """Whoever clones a folder that moves `openai` must not send their key there."""
    tables = {"openai": {"base_url": "https://elsewhere.example/v1"}}
    for found in (
        named("openai/gpt-4o", tables),
        named("openai/gpt-4o?base_url=https://elsewhere.example/v1"),
    ):
        assert ("", False) == (found.endpoint.key, found.endpoint.key_needed)


def test_a_key_goes_to_another_address_only_if_both_are_named_together():
    tables = {
        "openai": {
            "base_url": "https://a.example/v1",
            "key": "A_KEY",
            "headers": {"X-Org": "${A_ORG}", "X-T": "t"},
        }
    }
    assert ("A_KEY", True) == (
        named("openai/x", tables).endpoint.key,
        named("openai/x", tables).endpoint.key_needed,
    )
    elsewhere = named("openai/x?base_url=https://b.example/v1", tables).endpoint
    assert ("", {"x-t": "t"}) == (elsewhere.key, dict(elsewhere.headers))
    assert "B_KEY" == named("openai/x?base_url=https://b.example/v1&key=B_KEY", tables).endpoint.key


def test_a_provider_of_ones_own_is_a_table():
    tables = {"mine": {"base_url": f"{LOCAL}/", "wire": "anthropic", "key": "MINE_KEY"}}
    found = named("mine/some-model", tables).endpoint
    assert (LOCAL, "anthropic", "MINE_KEY") == (found.base_url, found.wire, found.key)
    assert ("x-api-key", "{}") == (found.key_header, found.key_form)
    assert not found.moved
    assert "authorization" == named("mine/x?wire=chat", tables).endpoint.key_header


def test_messages_are_behind_v1_where_an_address_is_a_host_alone():
    """As ANTHROPIC_BASE_URL, and the official client, have it."""
    tables = {
        "ant": {"base_url": "http://host:9", "wire": "anthropic"},
        "chat": {"base_url": "http://host:9"},
    }
    assert "http://host:9/v1" == named("ant/m", tables).endpoint.base_url
    assert "http://host:9/v1" == named("anthropic/m?base_url=http://host:9/").endpoint.base_url
    assert "http://host:9/v1" == named("chat/m?wire=anthropic", tables).endpoint.base_url
    assert "http://host:9/proxy" == named("ant/m?base_url=http://host:9/proxy", tables).endpoint.base_url
    assert "http://host:9" == named("chat/m", tables).endpoint.base_url
    assert ENDPOINTS["anthropic"].base_url == named("anthropic/m").endpoint.base_url


def test_azure_names_its_deployment_in_the_address_where_a_version_is_asked_for():
    assert named("azure/mine").endpoint.base_url.endswith("/openai/v1")
    dated = named("azure/my dep?query.api-version=2024-10-21").endpoint
    assert dated.base_url.endswith("/openai/deployments/my%20dep")
    assert {"api-version": "2024-10-21"} == dict(dated.query)
    for model in (
        "x?query.api-version=preview",
        "x?query.api-version=2025-04-01&wire=responses",
        "gpt-5-codex",
    ):
        assert named(f"azure/{model}").endpoint.base_url.endswith("/openai/v1")


def test_where_an_endpoint_is_reads_no_variable(monkeypatch):
    before = named("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    assert before == named("openai/gpt-4o")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (f"key={PLANTED}", "key of openai is 'sk-…', which is no variable's name"),
        ("key=abcdef0123456789abcdef01", "key of openai is 'abc…'"),
        ("key=a key", "which is no variable's name"),
        (f"header.Authorization=Bearer%20{PLANTED}", "header Authorization of openai holds a credential"),
        (f"header.x-api-key={PLANTED}", "write header.x-api-key=${NAME}"),
        ("header.Cookie=a=b", "header Cookie of openai holds a credential"),
        (f"header.X-Title={PLANTED}", "header X-Title of openai holds a credential"),
        ("header.X-Title=a%0d%0ab", "holds a character that no header can carry"),
        ("header.X Title=a", "is no header's name"),
        ("header.X-A=${", "names no variable"),
        ("header.Host=elsewhere.example", "that nobody but us can set"),
        (f"query.api-key={PLANTED}", "seems to hold a credential"),
        ("query.tenant=${TENANT}", "query tenant of openai names a variable, as only headers may"),
        (f"base_url=https://u:{PLANTED}@host/v1", "carries a user name or password"),
        (f"base_url=https://host/v1?key={PLANTED}", "has something behind ? or #"),
        (f"base_url=https://host/{PLANTED}/v1", "seems to hold a key"),
        ("base_url=https://host/v%201", "no http or https address"),
        ("base_url=https://host/${OPENAI_API_KEY}", "seems to hold a key"),
        ("base_url=ftp://host", "no http or https address"),
        ("base_url=host:8000", "no http or https address"),
        ("base_url=http://", "no http or https address"),
        (
            "base_url=http://h:x/",
            "base_url of openai is 'http://h:x', whose port is no number from 1 to 65,535; give",
        ),
        (f"base_url=http://u:{PLANTED}@h:99999/{PLANTED}", "is 'http://h:99999', whose port is no number"),
        (f"base_url=http://[{PLANTED}/", "which is no URL; give one such as http"),
        ("quirk.sampling=perhaps", "quirk sampling of openai is 'perhaps'; allowed are true and false"),
        ("quirk.output_field=tokens", "allowed are max_tokens, max_completion_tokens"),
        (f"quirk.sampling={PLANTED}", "quirk sampling of openai is 'sk-…'"),
        ("wire=grpc", "allowed are chat, responses, anthropic"),
    ],
)
def test_what_cannot_be_is_one_line_that_repeats_no_secret(query, said):
    assert said in refused(lambda: named(f"openai/gpt-4o?{query}"))


@pytest.mark.parametrize(
    ("name", "table", "said"),
    [
        ("mine", {}, "providers.mine has no base_url"),
        (
            "mine",
            3,
            'providers.mine is 3; it must be a table, as in {"base_url": "http://127.0.0.1:8000/v1"}',
        ),
        ("mine", None, "providers.mine is None; it must be a table"),
        ("mine", LOCAL, f"providers.mine is {LOCAL!r}; it must be a table"),
        ("mine", [PLANTED], "providers.mine is of type list; it must be a table"),
        (3, {}, "providers.3 cannot be the name of a provider; take small letters"),
        (None, {}, "providers.None cannot be the name of a provider"),
        ("Mine", {"base_url": LOCAL}, "cannot be the name of a provider"),
        ("reader", {"base_url": LOCAL}, "cannot be the name of a provider"),
        ("mine", {"base_url": LOCAL, "api_key": PLANTED}, "no key may stand there"),
        ("mine", {"base_url": LOCAL, "token": PLANTED}, "no key may stand there"),
        ("mine", {"base_url": LOCAL, "key": PLANTED}, "which is no variable's name"),
        ("mine", {"base_url": 5}, "base_url of providers.mine is 5, no http or https address"),
        ("mine", {"base_url": None}, "base_url of providers.mine is None, no http or https address"),
        ("mine", {"base_url": LOCAL, "wire": None}, "wire of providers.mine is None; allowed are chat"),
        (
            "mine",
            {"base_url": LOCAL, "key": None},
            "key of providers.mine is None, which is no variable's name",
        ),
        (
            "mine",
            {"base_url": LOCAL, "query": [1]},
            "query of providers.mine is of type list; it must be a table",
        ),
        ("mine", {"base_url": LOCAL, "headers": "X"}, "must be a table of texts"),
        ("mine", {"base_url": LOCAL, "headers": {"X": 1}}, "must be a table of texts"),
        ("openai", {"headers": {"api-key": PLANTED}}, "holds a credential"),
        ("openai", {"wire": "x"}, "allowed are chat"),
        ("vllm", {"quirks": ["sampling"]}, "quirks of providers.vllm is of type list; it must be a table"),
        (
            "vllm",
            {"quirks": {"sampling": 0}},
            "quirk sampling of providers.vllm is 0; allowed are true and false",
        ),
        (
            "vllm",
            {"quirks": {"sampling": {}}},
            "quirk sampling of providers.vllm is of type dict; allowed are",
        ),
        ("vllm", {"quirks": {"output_field": []}}, "allowed are max_tokens, max_completion_tokens"),
        ("vllm", {"models": {"qwen": {"total": "many"}}}, "give a whole number of tokens"),
        ("vllm", {"models": {"qwen": 5}}, "must be a table"),
        ("vllm", {"models": 5}, "must be a table"),
    ],
)
def test_a_table_that_cannot_be_is_one_line(name, table, said):
    assert said in refused(lambda: check_tables({name: table}))
    assert said in refused(lambda: check("reader", tables={name: table}))


@pytest.mark.parametrize(
    "query", ["key={}", "base_url=ftp://{}", "wire={}", "{}=1", "header.a {}=1", "query.token{}=1"]
)
def test_what_is_a_key_in_the_environment_is_not_repeated_whatever_it_looks_like(monkeypatch, query):
    value = "my-own-odd-looking-key"
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(Misuse) as caught:
        named(f"openai/gpt-4o?{query.format(value)}")
    assert value not in str(caught.value)
    assert "[OPENAI_API_KEY]" in str(caught.value)


def test_a_field_nobody_knows_is_named_with_the_nearest():
    said = refused(lambda: check_tables({"mine": {"base_ulr": LOCAL, "base_url": LOCAL}}), Unknown)
    assert "unknown field of providers.mine 'base_ulr'; did you mean 'base_url'?" == said
    said = refused(lambda: named("openai/x?wires=chat"), Unknown)
    assert "unknown option of openai 'wires'; did you mean 'wire'?" == said


@pytest.mark.parametrize("model", ["openai/", "openai/ ", "openai/a\nb", "openai/ x"])
def test_a_model_must_have_a_name(model):
    assert "names no model" in refused(lambda: named(model))


@pytest.mark.parametrize(
    "text", [PLANTED, "gsk_" + "a1b2c3d4e5", "AIza" + "SyA1234567", "0123456789abcdef0123", "ghp_" + "x" * 20]
)
def test_keys_are_known_by_their_looks(text):
    assert looks_like_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "demo",
        "key-insights-dashboard",
        "basic-research-app",
        "MY_KEY",
        "OPENAI_API_KEY_2",
        "https://example.com/a1",
        "a sentence with 20 words",
        "2024-10-21",
        "v1beta",
    ],
)
def test_words_are_no_keys(text):
    assert not looks_like_key(text)


def test_a_url_is_kept_without_a_stroke_at_its_end():
    assert "https://host:1/v1" == check_url(" https://host:1/v1/ ", "it")
