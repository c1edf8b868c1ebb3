"""Settings: which place wins, and what is said of a value that cannot be right."""

import pytest

from ethang_nb.config import FILE, check_model, checked, joined, provider_tables, settings
from ethang_nb.errors import BadWindow, EthangError, Misuse, Unknown
from ethang_nb.providers.registry import check

PLACES = ("argument", "%config", FILE, "ETHANG_WINDOW", "default")


@pytest.mark.parametrize("place", PLACES)
def test_the_first_place_that_says_something_wins(tmp_path, place):
    """argument > %config > project TOML > environment > default."""
    first = PLACES.index(place)
    (tmp_path / FILE).write_text("[ethang]\nwindow = 3003\n" if first <= 2 else "")
    found = settings(
        {"window": 1001} if first <= 0 else {},
        {"window": 2002} if first <= 1 else {},
        tmp_path,
        {"ETHANG_WINDOW": "4004"} if first <= 3 else {},
    )
    assert (1001, 2002, 3003, 4004, None)[first] == found.window
    assert place == found.sources["window"]


def test_each_value_knows_its_own_place(tmp_path):
    (tmp_path / FILE).write_text('[ethang]\npolicy = "pressure"\n')
    found = settings({"window": "6_000"}, {}, tmp_path, {"ETHANG_MODEL": "reader?follow=no"})
    assert ("reader?follow=no", 6000, "pressure") == (found.model, found.window, found.policy)
    named = {name: place for name, place in found.sources.items() if place != "default"}
    assert {"model": "ETHANG_MODEL", "window": "argument", "policy": FILE} == named


def test_none_and_blank_count_as_not_given(tmp_path):
    found = settings({"model": None}, {"policy": None}, tmp_path, {"ETHANG_MODEL": " ", "ETHANG_HOME": ""})
    assert ("reader", "ethang", None, None) == (found.model, found.policy, found.window, found.home)


def test_the_home_is_the_environments(tmp_path):
    found = settings({}, {}, tmp_path, {"ETHANG_HOME": str(tmp_path / "new")})
    assert tmp_path / "new" == found.home
    assert "ETHANG_HOME" == found.sources["home"]
    assert not found.home.exists()


def test_reading_makes_nothing(tmp_path):
    settings({}, {}, tmp_path, {})
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["6000", " 6000 ", "6,000", "6_000"])
def test_a_window_may_be_grouped(text):
    assert 6000 == checked("window", text, "argument")


@pytest.mark.parametrize(
    "value", ["x", "", "-6000", "6000.5", 6000.0, True, 12, 0, 10**12, "9" * 5000, "６０００", None]
)
def test_a_window_that_is_none_is_named(value):
    with pytest.raises(BadWindow, match=r"a whole number of tokens from 256") as caught:
        checked("window", value, "argument")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("environ", "error", "said"),
    [
        ({"ETHANG_WINDOW": "big"}, BadWindow, "ETHANG_WINDOW is 'big'; give a whole number of tokens"),
        (
            {"ETHANG_POLICY": "presure"},
            Unknown,
            "unknown policy in ETHANG_POLICY 'presure'; did you mean 'pressure'?",
        ),
        ({"ETHANG_HOME": __file__}, Misuse, "ETHANG_HOME is "),
    ],
)
def test_a_wrong_variable_is_named(tmp_path, environ, error, said):
    with pytest.raises(error) as caught:
        settings({}, {}, tmp_path, environ)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("[ethang]\nwindow = 'x'", BadWindow, "window in ethang.toml is 'x'"),
        ("[ethang]\nwindow = true", BadWindow, "window in ethang.toml is True"),
        ("[ethang]\nmodel = 5", Misuse, "model in ethang.toml is 5; give a name in quotes"),
        ("[ethang]\npolicy = 'none'", Unknown, "unknown policy in ethang.toml 'none'"),
        ("[ethang]\nwindws = 1", Unknown, "unknown setting in ethang.toml 'windws'; did you mean 'window'?"),
        ("ethang = 3", Misuse, "ethang.toml: ethang is 3; it must be a table"),
        (
            "window = 5",
            Misuse,
            "ethang.toml: 'window' stands outside of the table [ethang]; put a line [ethang]",
        ),
        ("nope = 5", Misuse, "ethang.toml: 'nope' stands outside of the table [ethang]"),
        ("window = 5\n[ethang]\npolicy = 'ethang'", Misuse, "ethang.toml: 'window' stands outside"),
        ("[ethan]\nwindow = 5000", Misuse, "ethang.toml has a table [ethan] and none called [ethang]"),
        ("[ethang\n", Misuse, "ethang.toml is not TOML: "),
        ("a = " + "1" * 5_000, Misuse, "ethang.toml is not TOML: "),
        ("a = " + "[" * 5_000, Misuse, "ethang.toml is not TOML: "),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, error, said):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(error) as caught:
        settings({}, {}, tmp_path, {})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(Misuse, match=r"ethang\.toml cannot be read: not UTF-8"):
        settings({}, {}, tmp_path, {})


def test_other_tables_are_no_matter(tmp_path):
    (tmp_path / FILE).write_text("[tool]\nwindow = 'x'\n[ethang]\n")
    assert "default" == settings({}, {}, tmp_path, {}).sources["window"]


def test_a_wrong_value_below_a_good_one_is_not_looked_at(tmp_path):
    assert 6000 == settings({"window": 6000}, {}, tmp_path, {"ETHANG_WINDOW": "big"}).window


def test_all_of_it_is_one_kind_of_error():
    with pytest.raises(EthangError):
        checked("model", " ", "argument")


# ---- providers, and what is said of models

LOCAL = "http://127.0.0.1:8000/v1"
TABLES = f"""
[ethang]
summariser = "openai/gpt-5-mini"
models = ["openai/gpt-5-mini", "groq/openai/gpt-oss-20b"]
cassette = "demo"

[providers.mine]
base_url = "{LOCAL}"
key = "MINE_KEY"

[models."mine/large"]
total = 32768

[models."vllm/a/b"]
total = 4096
"""


def test_the_models_beside_the_sessions_own_are_settings(tmp_path):
    (tmp_path / FILE).write_text(TABLES)
    found = settings({}, {}, tmp_path, {})
    assert ("openai/gpt-5-mini", "demo") == (found.summariser, found.cassette)
    assert ("openai/gpt-5-mini", "groq/openai/gpt-oss-20b") == found.models
    assert {FILE} == {found.sources[name] for name in ("summariser", "models", "cassette", "providers")}
    nothing = settings({}, {}, tmp_path / "elsewhere", {})
    assert (None, (), None, {}) == (
        nothing.summariser,
        nothing.models,
        nothing.cassette,
        dict(nothing.providers),
    )


@pytest.mark.parametrize("place", ["argument", "%config", FILE, "ETHANG_SUMMARISER", "default"])
def test_a_summariser_comes_from_the_first_place_that_names_one(tmp_path, place):
    first = ("argument", "%config", FILE, "ETHANG_SUMMARISER", "default").index(place)
    (tmp_path / FILE).write_text('[ethang]\nsummariser = "c"\n' if first <= 2 else "")
    found = settings(
        {"summariser": "a"} if first <= 0 else {},
        {"summariser": "b"} if first <= 1 else {},
        tmp_path,
        {"ETHANG_SUMMARISER": "d"} if first <= 3 else {},
    )
    assert ("a", "b", "c", "d", None)[first] == found.summariser
    assert place == found.sources["summariser"]


def test_which_cassette_is_no_variable(tmp_path):
    """ETHANG_CASSETTE says how cassettes are used."""
    assert settings({}, {}, tmp_path, {"ETHANG_CASSETTE": "replay"}).cassette is None


@pytest.mark.parametrize("given", ["a/b, c/d", ["a/b", " c/d "], ("a/b", "c/d", "a/b")])
def test_models_are_a_list_or_a_text_with_commas(given):
    assert ("a/b", "c/d") == checked("models", given, "argument")


def test_no_models_are_none():
    assert () == checked("models", [], "%config")


@pytest.mark.parametrize("given", [5, [""], "a/b,,c", [1], {"a": 1}])
def test_models_that_are_none_are_named(given):
    with pytest.raises(Misuse, match=r"models in %config is .*; give model ids in a list"):
        checked("models", given, "%config")


def test_tables_of_models_lie_with_their_provider(tmp_path):
    (tmp_path / FILE).write_text(TABLES)
    found = provider_tables(tmp_path)
    assert {"large": {"total": 32768}} == found["mine"]["models"]
    assert {"models": {"a/b": {"total": 4096}}} == found["vllm"]
    assert {} == dict(provider_tables(tmp_path / "elsewhere"))


def test_a_providers_table_is_of_one_place_so_that_a_key_meets_no_other_address():
    ours = {"openai": {"base_url": "https://ours.example/v1", "models": {"a": {"total": 1}}}}
    theirs = {
        "openai": {"key": "OPENAI_API_KEY", "models": {"a": {"total": 2}, "b": {"total": 3}}},
        "other": {"key": "K"},
    }
    found = joined(ours, theirs)
    assert "key" not in found["openai"]
    assert {"a": {"total": 1}, "b": {"total": 3}} == found["openai"]["models"]
    assert {"key": "K"} == found["other"]
    assert (
        theirs["openai"] | {"models": {"a": {"total": 2}, "b": {"total": 3}}} == joined({}, theirs)["openai"]
    )


def test_what_is_said_of_models_alone_leaves_the_providers_table_to_the_next_place():
    found = joined({"vllm": {"models": {"a": {"total": 1}}}}, {"vllm": {"base_url": LOCAL, "key": "K"}})
    assert {"base_url": LOCAL, "key": "K", "models": {"a": {"total": 1}}} == found["vllm"]


def test_providers_of_all_places_are_put_together(tmp_path):
    (tmp_path / FILE).write_text(TABLES)
    found = settings({}, {"providers": {"mine": {"base_url": "http://127.0.0.1:1/v1"}}}, tmp_path, {})
    assert {"base_url": "http://127.0.0.1:1/v1", "models": {"large": {"total": 32768}}} == found.providers[
        "mine"
    ]
    assert f"%config, {FILE}" == found.sources["providers"]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (
            "[ethang]\nsummariser = 5",
            Misuse,
            "summariser in ethang.toml is 5; give a name in quotes, as in 'openai/",
        ),
        ("[ethang]\nmodels = 'a,,b'", Misuse, "models in ethang.toml is 'a,,b'; give model ids in a list"),
        ("[ethang]\ncassette = true", Misuse, "cassette in ethang.toml is True; give a name in quotes"),
        (
            "[ethang]\nsumariser = 'x'",
            Unknown,
            "unknown setting in ethang.toml 'sumariser'; did you mean 'summariser'",
        ),
        (
            "[provider.x]\nkey = 'K'",
            Misuse,
            "ethang.toml has a table [provider]; where models are reached stands in a",
        ),
        (
            "[model.x]\ntotal = 5",
            Misuse,
            "ethang.toml has a table [model]; what is known of a model stands in a table",
        ),
        (
            "providers = 5",
            Misuse,
            "ethang.toml: [providers] holds one table for each, as in [providers.mine]",
        ),
        ("[providers]\nmine = 5", Misuse, "ethang.toml: [providers] holds one table for each"),
        (
            "[models.gpt-4o]\ntotal = 5",
            Misuse,
            "ethang.toml: [models.'gpt-4o'] has no provider; name the model as in",
        ),
    ],
)
def test_wrong_tables_are_named(tmp_path, text, error, said):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(error) as caught:
        settings({}, {}, tmp_path, {})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"mine": None},
            'providers.mine is None; give a table, as in {"base_url": "http://127.0.0.1:8000/v1"}',
        ),
        ({"mine": LOCAL}, "providers.mine is of type str; give a table"),
        (
            {"mine": {"models": 5}},
            'models of providers.mine is of type int; give a table, as in {"qwen": {"total"',
        ),
        ({3: []}, "providers.3 is of type list; give a table"),
    ],
)
def test_what_is_no_table_is_named(tables, said):
    for first, second in ((tables, {}), ({}, tables), (tables, tables)):
        with pytest.raises(Misuse) as caught:
            joined(first, second)
        assert str(caught.value).startswith(said)
        assert LOCAL.removesuffix("/v1") not in str(caught.value).partition(";")[0]


def test_providers_by_argument_must_be_tables(tmp_path):
    with pytest.raises(Misuse, match="providers in %config is list; give tables by name"):
        settings({}, {"providers": [1]}, tmp_path, {})


@pytest.mark.parametrize(
    ("model", "source", "said"),
    [
        ("reader?folow=no", "argument", "unknown option of reader 'folow'; did you mean 'follow'?"),
        (
            "reader?folow=no",
            "%config",
            "unknown option of reader, model in %config, 'folow'; did you mean 'follow'?",
        ),
        ("openai/x?wires=chat", "argument", "unknown option of openai 'wires'; did you mean 'wire'?"),
        (
            "openai:gpt-4o?wire=chat",
            FILE,
            "unknown model in ethang.toml 'openai:gpt-4o'; did you mean 'openai/gpt-4o'?",
        ),
        ("reder?follow=no", "argument", "unknown model 'reder'; did you mean 'reader'?"),
    ],
)
def test_what_of_a_model_nobody_knows_is_named(model, source, said):
    with pytest.raises(Unknown) as caught:
        check_model(model, check, source)
    assert said == str(caught.value)


def test_a_model_nobody_knows_is_named_with_its_place():
    with pytest.raises(Unknown) as caught:
        check_model("openia/gpt-5", check, FILE, "summariser")
    assert "unknown summariser in ethang.toml 'openia/gpt-5'; did you mean 'openai/gpt-5'?" == str(
        caught.value
    )
