"""Facts of models: the snapshot, its sources, its prices beside somebody else's, and who is believed first."""

import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from importlib import metadata
from importlib.resources import files

import pytest

from ethang_nb.errors import Misuse, Unknown
from ethang_nb.providers.models.facts import ModelFacts, Prices, given, listed, merged, providers_of, recorded
from ethang_nb.providers.protocol import Usage
from ethang_nb.providers.registry import facts
from tests.providers import model_facts

K = 1_000
SNAPSHOT = json.loads(files("ethang_nb.providers.models").joinpath("models.json").read_text(encoding="utf-8"))


def all_of_them():
    for provider, rows in SNAPSHOT["models"].items():
        for name in rows:
            yield provider, name, recorded(provider, name)


# ---- the snapshot


def test_there_are_a_thousand_models_whose_sizes_are_known():
    known = [found for _, _, found in all_of_them() if found.max_output is not None]
    assert len(known) >= 1_400
    priced = [found for found in known if found.prices and found.prices.input is not None]
    assert len(priced) >= 1_200
    assert len([found for found in priced if found.prices.read is not None]) >= 500


def test_it_is_small_and_written_one_model_a_line():
    text = files("ethang_nb.providers.models").joinpath("models.json").read_text(encoding="utf-8")
    assert len(text.encode()) <= 200_000
    assert text.count("\n") >= sum(map(len, SNAPSHOT["models"].values()))
    assert all(list(rows) == sorted(rows) for rows in SNAPSHOT["models"].values())


def test_every_value_has_a_source_and_its_date():
    names = [source["name"] for source in SNAPSHOT["sources"]]
    for _, _, found in all_of_them():
        assert found.source.startswith(tuple(names))
        assert found.source.endswith(found.as_of)
        assert datetime.fromisoformat(found.as_of).year >= 2026


def test_the_licences_of_both_sources_lie_beside_it():
    notice = files("ethang_nb.providers.models").joinpath("models.NOTICE.txt").read_text(encoding="utf-8")
    for source in SNAPSHOT["sources"][:2]:
        assert source["name"] in notice
    assert "Berri AI" in notice
    assert "Pydantic" in notice
    assert notice.count("Permission is hereby granted, free of charge") == 2


def test_all_numbers_hang_together():
    for provider, name, found in all_of_them():
        assert found.total > 0, (provider, name)
        assert found.max_input is None or found.max_input < found.total, (provider, name)
        assert found.max_output is None or found.max_output > 0, (provider, name)
        values = (
            ()
            if found.prices is None
            else (getattr(found.prices, row) for row in ("input", "output", "read", "write"))
        )
        assert all(value is None or value >= 0 for value in values), (provider, name)


@pytest.mark.parametrize(
    ("model", "total", "max_input", "max_output", "prices"),
    [
        # reference/providers.md, section 4; prices in USD per million tokens: in, out, from the cache, to the cache
        ("openai/gpt-5", 400 * K, 272 * K, 128 * K, (1.25, 10, 0.125, None)),
        ("openai/gpt-5.1", 400 * K, 272 * K, 128 * K, (1.25, 10, 0.125, None)),
        ("openai/gpt-5.2", 400 * K, 272 * K, 128 * K, (1.75, 14, 0.175, None)),
        ("openai/gpt-5.4", 1_050 * K, None, 128 * K, (2.5, 15, 0.25, None)),
        ("openai/gpt-5.4-mini", 400 * K, 272 * K, 128 * K, (0.75, 4.5, 0.075, None)),
        ("openai/gpt-6.1-sol", 1_050 * K, 922 * K, 128 * K, (2, 10, 0.1, 2.5)),
        ("openai/gpt-6-luna", 1_050 * K, 922 * K, 128 * K, (0.1, 0.5, 0.01, 0.125)),
        ("openai/gpt-4.1", 1_047_576, None, 32_768, (2, 8, 0.5, None)),
        ("openai/gpt-4o", 128 * K, None, 16_384, (2.5, 10, 1.25, None)),
        ("openai/o3", 200 * K, None, 100 * K, (2, 8, 0.5, None)),
        ("anthropic/claude-haiku-4-5", 200 * K, None, 64 * K, (1, 5, 0.1, 1.25)),
        ("anthropic/claude-sonnet-4-5", 200 * K, None, 64 * K, (3, 15, 0.3, 3.75)),
        ("anthropic/claude-opus-4-6", 1_000 * K, None, 128 * K, (5, 25, 0.5, 6.25)),
        ("anthropic/claude-sonnet-5-5", 1_000 * K, None, 128 * K, (2, 10, 0.1, 2.5)),
        ("anthropic/claude-haiku-5-5", 1_000 * K, None, 128 * K, (0.1, 0.5, 0.01, 0.125)),
        ("gemini/gemini-2.5-pro", 1_048_576, None, 65_536, (1.25, 10, 0.125, None)),
        ("deepseek/deepseek-chat", 131_072, None, 8_192, (0.28, 0.42, 0.028, None)),
        ("mistral/mistral-large-latest", 262_144, None, 262_144, (0.5, 1.5, 0.05, None)),
        ("groq/openai/gpt-oss-120b", 131_072, None, 65_536, (0.15, 0.6, 0.075, None)),
    ],
)
def test_known_models_are_as_the_reference_has_them(model, total, max_input, max_output, prices):
    found = facts(model, live=False)
    assert (total, max_input, max_output) == (found.total, found.max_input, found.max_output)
    read = [getattr(found.prices, row) for row in ("input", "output", "read", "write")]
    assert [None if price is None else round(price * 1_000_000) for price in prices] == read


def test_abilities_are_kept_as_data():
    flags = recorded("anthropic", "claude-sonnet-5-5").flags
    assert (False, False, False) == (flags["prefill"], flags["sampling"], flags["forced_tools"])
    assert flags["functions"] and flags["images"] and flags["schema"]
    assert "prefill" not in recorded("openai", "gpt-4o").flags
    assert 512 == recorded("anthropic", "claude-sonnet-5-5").cached_from


def test_a_name_is_looked_up_as_it_is_and_never_guessed():
    assert recorded("openai", "gpt-4o-2024-08-06") is not None
    assert recorded("openai", "gpt-4o-2099-01-01") is None
    assert recorded("openai", "GPT-4o") is None
    assert recorded("anthropic", "claude-sonnet-4-5-20990101") is None
    assert recorded("nobody", "gpt-4o") is None


def test_a_fine_tuned_model_is_its_base():
    tuned = recorded("openai", "ft:gpt-4o-2024-08-06:acme:mine:abc123")
    assert recorded("openai", "ft:gpt-4o-2024-08-06") == tuned
    assert 128 * K == tuned.total
    assert recorded("openai", "ft:nobody-knows:acme::x") is None


def test_a_bare_name_is_its_makers():
    assert ("openai", "azure") == providers_of("gpt-4o")
    found = facts("gpt-4o")
    assert (128 * K, "as openai/gpt-4o") == (found.total, found.source.rpartition(", ")[2])
    assert facts("claude-sonnet-4-5").total == 200 * K
    with pytest.raises(Unknown, match="unknown model 'gpt-9'"):
        facts("gpt-9")


def test_a_provider_without_an_endpoint_still_has_facts():
    assert facts("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0").total == 200 * K
    with pytest.raises(Unknown):
        facts("bedrock/nothing-of-the-kind")


def test_the_same_packages_make_the_same_bytes(tmp_path):
    pytest.importorskip("genai_prices", reason="needs the peer for prices: uv sync --group peers")
    wheel = tmp_path / "litellm-9.9.9-py3-none-any.whl"
    rows = {
        "sample_spec": {"max_input_tokens": "a text", "mode": "one of"},
        "gpt-5": {
            "litellm_provider": "openai",
            "mode": "chat",
            "max_input_tokens": 272_000,
            "max_output_tokens": 128_000,
            "input_cost_per_token": 1.25e-06,
            "cache_creation_input_token_cost": 0,
            "supports_vision": True,
            "supports_assistant_prefill": False,
        },
        "groq/picture": {"litellm_provider": "groq", "mode": "image_generation", "max_input_tokens": 5_000},
        "groq/a/model": {"litellm_provider": "groq", "mode": "responses", "max_input_tokens": 5_000.0},
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(model_facts.DATA, json.dumps(rows))
        archive.writestr("litellm-9.9.9.dist-info/licenses/LICENSE", "the licence")
        archive.writestr(
            "litellm-9.9.9.dist-info/sboms/x.cyclonedx.json", '{"metadata":{"timestamp":"2026-01-02T"}}'
        )
    first, second, notice, lock = (tmp_path / name for name in ("first", "second", "notice", "lock"))
    # One of its own: an installation by pip has no uv.lock, and may have another version of the peer.
    peer = metadata.version("genai-prices")
    lock.write_text(
        f'name = "genai-prices"\nversion = "{peer}"\nsdist = {{ upload-time = "2026-01-03T00:00Z" }}\n'
    )
    model_facts.main(wheel, first, notice, lock)
    model_facts.main(wheel, second, notice, lock)
    assert first.read_bytes() == second.read_bytes()
    made = json.loads(first.read_text())
    # The total is the other package's, since it is what both sizes come to; no price is not the same as 0.
    assert [400_000, 272_000, 128_000, 1_250_000, None, None, None, "iP", None, 2] == made["models"][
        "openai"
    ]["gpt-5"]
    assert [5_000, None, None, None, None, None, None, "w"] == made["models"]["groq"]["a/model"]
    assert "picture" not in made["models"]["groq"]
    assert {"name": "litellm 9.9.9", "date": "2026-01-02"} == made["sources"][0]
    assert {"name": f"genai-prices {peer}", "date": "2026-01-03"} == made["sources"][1]
    assert "the licence" in notice.read_text()


def test_nothing_is_read_before_a_fact_is_asked_for():
    code = (
        "import ethang_nb, ethang_nb.providers.registry as r;"
        "from ethang_nb.providers.models.facts import _snapshot as s;"
        "before = s.cache_info().misses; r.facts('openai/gpt-5', live=False); r.facts('gpt-4o');"
        "print(before, s.cache_info().misses)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "0 1" == out.strip()


# ---- prices


def test_prices_become_rates_of_a_fresh_token():
    rates = recorded("anthropic", "claude-sonnet-4-5").prices.rates
    assert (100, 1_250, 5_000) == (rates.read, rates.write, rates.output)
    openai = recorded("openai", "gpt-4o").prices.rates
    assert (500, 1_000, 4_000) == (openai.read, openai.write, openai.output)


@pytest.mark.parametrize("prices", [Prices(), Prices(input=0, output=0), Prices(input=5), Prices(output=5)])
def test_without_prices_there_are_no_rates(prices):
    assert prices.rates is None


def test_the_cost_of_a_call_counts_every_token_once():
    prices = Prices(input=3_000_000, output=15_000_000, read=300_000, write=3_750_000)
    usage = Usage(input=1_000, output=100, cached=600, written=300, reasoning=50)
    assert 100 * 3 + 600 * 0.3 + 300 * 3.75 + 100 * 15 == prices.cost(usage)


def test_a_cost_that_cannot_be_known_is_none():
    prices = Prices(input=1, output=1)
    assert prices.cost(Usage(input=1)) is None
    assert prices.cost(Usage(output=1)) is None
    assert Prices(input=1).cost(Usage(input=1, output=1)) is None
    assert 1 == prices.cost(Usage(input=1, output=0))


@pytest.mark.parametrize(
    ("cache", "counts", "cost"),
    [
        ({}, {}, 6),
        ({"read": 500_000}, {}, None),
        ({"read": 500_000}, {"cached": 2}, 5),
        ({"write": 2_000_000}, {"cached": 2}, None),
        ({"write": 2_000_000}, {"written": 2}, 8),
        ({"read": 500_000, "write": 2_000_000}, {"cached": 2}, None),
        ({"read": 500_000, "write": 2_000_000}, {"cached": 2, "written": 2}, 7),
    ],
)
def test_an_unknown_count_is_never_priced_as_none(cache, counts, cost):
    """What has no price of its own costs what a fresh token does, so that its count is not needed."""
    prices = Prices(input=1_000_000, output=1_000_000, **cache)
    assert cost == prices.cost(Usage(input=4, output=2, **counts))


DIFFER = {
    # Where the two sources are known to say different things: long ago fine-tuned and search models, rounding, one
    # model's output as speech. DeepSeek, Mistral and xAI changed prices between the dates of the two; DeepSeek has a
    # test of its own.
    "openai": {"gpt-4o-search-preview", "gpt-4o-search-preview-2025-03-11"},
    "groq": {"openai/gpt-oss-safeguard-20b"},
    "gemini": {"gemini-2.5-pro-preview-tts"},
}


@pytest.mark.parametrize(
    ("provider", "theirs", "least"),
    [
        ("openai", "openai", 100),
        ("anthropic", "anthropic", 19),
        ("groq", "groq", 5),
        ("gemini", "google", 20),
    ],
)
def test_a_call_costs_what_another_package_says_it_does(provider, theirs, least):
    """genai-prices has prices and arithmetic of its own."""
    peer = pytest.importorskip("genai_prices", reason="needs the peer for prices: uv sync --group peers")
    when = datetime.fromisoformat(f"{SNAPSHOT['sources'][0]['date']}T12:00:00+00:00").astimezone(UTC)
    agreed = 0
    for name in listed(provider):
        found = recorded(provider, name)
        if found.prices is None or found.source.startswith("genai") or name in DIFFER.get(provider, ()):
            continue
        cached = 50_000 if found.prices.read is not None else 0
        written = 10_000 if found.prices.write is not None else 0
        usage = Usage(input=90_000, output=1_000, cached=cached, written=written)
        counts = peer.Usage(
            input_tokens=90_000, output_tokens=1_000, cache_read_tokens=cached, cache_write_tokens=written
        )
        try:
            price = peer.calc_price(counts, name, provider_id=theirs, genai_request_timestamp=when)
        except LookupError:
            continue
        if not name.startswith("ft:"):
            assert abs(found.prices.cost(usage) - price.total_price * 1_000_000) <= 1, name
            agreed += 1
    assert agreed >= least


def test_deepseek_is_priced_as_its_maker_does_and_not_as_the_other_package():
    """The two differ. Ours is what DeepSeek published with V3.2, as the reference has it: one price the whole day.

    The other package still has the prices of V3, which were lower at night: its answer depends on the hour.
    """
    peer = pytest.importorskip("genai_prices", reason="needs the peer for prices: uv sync --group peers")
    ours = {name: recorded("deepseek", name).prices for name in ("deepseek-chat", "deepseek-reasoner")}
    assert {Prices(input=280_000, output=420_000, read=28_000)} == set(ours.values())
    counts = peer.Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    theirs = {
        peer.calc_price(
            counts,
            "deepseek-chat",
            provider_id="deepseek",
            genai_request_timestamp=datetime(2026, 11, 20, hour, tzinfo=UTC),
        ).total_price
        for hour in (12, 20)
    }
    assert len(theirs) == 2
    mine = ours["deepseek-chat"].cost(Usage(input=1_000_000, output=1_000_000, cached=0))
    assert mine not in {price * 1_000_000 for price in theirs}


# ---- what a person says


def test_a_persons_numbers_go_first_and_the_rest_is_filled_in():
    tables = {"openai": {"models": {"gpt-4o": {"total": 64_000, "input": 1, "read": 0.25}}}}
    found = facts("openai/gpt-4o", tables=tables, live=False)
    assert (64_000, 16_384, None) == (found.total, found.max_output, found.max_input)
    assert "your settings (models.openai/gpt-4o)" == found.source
    assert Prices(input=1_000_000, output=10_000_000, read=250_000) == found.prices
    assert facts("openai/gpt-4o", live=False).total == 128_000


def test_a_model_nobody_knows_is_what_a_person_says_it_is():
    tables = {"vllm": {"models": {"qwen": {"total": 32_768, "max_output": 2_000}}}}
    found = facts("vllm/qwen", tables=tables, live=False)
    assert (32_768, 2_000, None, "") == (found.total, found.max_output, found.prices, found.as_of)
    assert facts("vllm/other", tables=tables, live=False) is None
    assert facts("vllm/qwen", tables={"vllm": {"models": {"qwen": {"input": 1}}}}, live=False) is None


def test_part_of_the_sizes_may_be_corrected():
    known = ModelFacts(total=10_000, max_output=5_000, source="elsewhere", max_input=9_000)
    found = merged(given({"max_output": 100}, "it"), "you", known)
    assert (10_000, 9_000, 100, "you; elsewhere") == (
        found.total,
        found.max_input,
        found.max_output,
        found.source,
    )
    smaller = merged(given({"total": 4_000}, "it"), "you", known)
    assert (4_000, None, None) == (smaller.total, smaller.max_input, smaller.max_output)


def test_what_a_provider_of_ones_own_serves_may_be_in_the_snapshot():
    tables = {"fireworks": {"base_url": "https://api.fireworks.ai/inference/v1"}}
    name = listed("fireworks")[0]
    assert facts(f"fireworks/{name}", tables=tables, live=False) == recorded("fireworks", name)


def test_a_known_model_at_another_address_is_known_and_its_source_says_so():
    ours = recorded("openai", "gpt-4o")
    tables = {"openai": {"base_url": "http://127.0.0.1:1/v1"}}
    for model, own in (("openai/gpt-4o?base_url=http://127.0.0.1:1/v1", {}), ("openai/gpt-4o", tables)):
        found = facts(model, tables=own, live=False)
        assert (ours.total, ours.max_output, ours.prices) == (found.total, found.max_output, found.prices)
        assert f"{ours.source}, for openai's own address; another one is asked" == found.source
    said = {"openai": {**tables["openai"], "models": {"gpt-4o": {"total": 8_000}}}}
    assert "your settings (models.openai/gpt-4o)" == facts("openai/gpt-4o", tables=said, live=False).source
    assert facts("openai/nobody-knows", tables=tables, live=False) is None


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ({"total": "8k"}, Misuse, "total of it is '8k'; give a whole number of tokens from 256"),
        ({"total": 5}, Misuse, "from 256 to 100,000,000"),
        ({"total": True}, Misuse, "total of it is True;"),
        ({"total": 1e6}, Misuse, "total of it is 1000000.0;"),
        ({"max_output": 0}, Misuse, "from 1 to"),
        (
            {"input": -1},
            Misuse,
            "input of it is -1; give USD per million tokens, from 0 to 1,000,000, as in input = 2.5",
        ),
        ({"output": "x"}, Misuse, "give USD per million tokens"),
        ({"output": float("nan")}, Misuse, "give USD per million tokens"),
        ({"window": 8_000}, Unknown, "unknown field of it 'window'"),
    ],
)
def test_what_cannot_be_is_named(table, error, said):
    with pytest.raises(error) as caught:
        given(table, "it")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
