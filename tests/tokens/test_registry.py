"""Exact is said only where the tokenizer is known to be the model's own."""

import subprocess
import sys

import pytest

from ethang_nb.tokens.registry import FAMILIES, counter, family_ratio


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-5", "o200k_base"),
        ("gpt-5-mini-2025-08-07", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("gpt-oss:20b", "o200k_base"),
        ("gpt-4-0613", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("ft:gpt-3.5-turbo-0125:org::id", "cl100k_base"),
        ("ft:gpt-4.1-2025-04-14:org::id", "o200k_base"),
        ("cl100k_base", "cl100k_base"),
        ("o200k_base", "o200k_base"),
        ("o200k_harmony", "o200k_base"),
        ("reader", "o200k_base"),
        ("reader?window=6000", "o200k_base"),
        ("script?file=a.yaml", "o200k_base"),
        ("script:turns.yaml", "o200k_base"),
        ("openai/gpt-5?wire=responses&header.X-Title=demo", "o200k_base"),
        ("openai/gpt-4o?base_url=http://127.0.0.1:8000/v1", "o200k_base"),
        ("openai/ft:gpt-4o-mini:org::id?wire=chat", "o200k_base"),
        ("gpt-4?wire=chat", "cl100k_base"),
        ("azure/gpt-4o", "o200k_base"),
        ("azure/gpt-4?query.api-version=2024-10-21", "cl100k_base"),
        ("openrouter/openai/gpt-4o", "o200k_base"),
        ("openrouter/openai/gpt-4o:nitro?wire=chat", "o200k_base"),
        ("groq/openai/gpt-oss-120b", "o200k_base"),
        ("together/openai/gpt-oss-20b", "o200k_base"),
        ("ollama/gpt-oss:20b", "o200k_base"),
        ("openai/gpt-oss-20b", "o200k_base"),
        ("llamacpp/models/gpt-oss-20b-MXFP4.gguf?ctx=8192", "o200k_base"),
        ("vllm/GPT-OSS-20b", "o200k_base"),
    ],
)
def test_known_names_count_exactly(name, encoding):
    assert ("exact", encoding) == (counter(name).how, counter(name).name)


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "claude-opus-4-5",
        "llama3.1:8b",
        "p50k_base",
        "readers",
        "anthropic/claude-opus-5-5",
        "gemini/gemini-3.8-flash",
        "openrouter/anthropic/claude-sonnet-5",
        "openrouter/google/gpt-4o",
        "llamacpp/x.gguf?ctx=1024",
        "llamacpp/gpt-4o.gguf",
        "vllm/gpt-4o",
        "mine/gpt-4o?base_url=http://127.0.0.1:8000/v1",
        "azure/our-deployment",
        "openai/gpt-99",
        "openai/",
        "?wire=chat",
    ],
)
def test_everything_else_is_an_estimate(name):
    """Also where no model is named: nobody said whose tokens are meant."""
    assert ("estimated", "o200k_base") == (counter(name).how, counter(name).name)


def test_an_estimate_is_the_plain_count():
    """No ratio is applied to a count; calibration divides limits instead."""
    text = "The quick brown fox. " * 2_000
    assert counter("gpt-5").count(text) == counter("claude-sonnet-4-5").count(text)
    assert counter("claude-sonnet-4-5").over(text, 9_000)
    assert not counter("claude-sonnet-4-5").over(text, 100_000)


def test_one_counter_a_name():
    assert counter("gpt-5") is counter("gpt-5")
    assert counter("openai/gpt-5?wire=chat") is counter("gpt-5")


def test_ranks_load_at_the_first_count():
    """Naming a counter must stay cheap: the ranks take half a second and 80 MB."""
    code = (
        "from ethang_nb.tokens.registry import counter\n"
        "from ethang_nb.tokens.ranks import load\n"
        "c = counter('reader'); before = load.cache_info().currsize\n"
        "c.count('x'); print(before, load.cache_info().currsize)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "0 1" == found.stdout.strip()


@pytest.mark.parametrize(
    ("model", "ratio"),
    [
        (None, 1_000),
        ("", 1_000),
        ("gpt-5", 1_000),
        ("gpt-4-0613", 1_000),
        ("openai/gpt-4o", 1_000),
        ("gpt-oss:20b", 1_000),
        ("o200k_base", 1_000),
        ("reader?window=6000", 1_000),
        ("script:turns.yaml", 1_000),
        ("claude-opus-4-5", 1_300),
        ("llama3.1:8b", 1_300),
        ("mistral-large", 1_300),
        ("openai/gpt-5?wire=responses", 1_000),
        ("groq/openai/gpt-oss-120b", 1_000),
        ("groq/llama-3.3-70b", 1_300),
        ("gemini/gemini-3.8-flash?wire=chat", 1_300),
        ("readers", 1_300),
    ],
)
def test_how_much_more_a_model_may_count(model, ratio):
    assert ratio == family_ratio(model)


@pytest.mark.parametrize("model", ["gpt-5", "reader", "gpt-4", "cl100k_base"])
def test_an_exact_counter_needs_no_room_above_it(model):
    assert ("exact", 1_000) == (counter(model).how, family_ratio(model))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_ratio_has_its_reason(family):
    assert family.reason and family.ratio >= 1_000


def test_a_ratio_never_touches_a_count():
    assert counter("o200k_base").count("a few words") == counter("claude-opus-4-5").count("a few words")
