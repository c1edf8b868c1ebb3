"""How models differ, as data: by rule, and by what the snapshot denies them."""

import json

import pytest

from ethang_nb.context.messages import user
from ethang_nb.providers.endpoints.model_ids import named
from ethang_nb.providers.models.facts import listed, recorded
from ethang_nb.providers.models.quirks import PLAIN, quirks_of, wire_of
from ethang_nb.providers.protocol import Request
from ethang_nb.providers.registry import provider


def quirks(model, tables=None):
    found = named(model, tables or {})
    return quirks_of(found.endpoint, found.model)


def wire(model):
    found = named(model)
    return wire_of(found.endpoint, found.model)


@pytest.mark.parametrize(
    "model", ["openai/o3", "openai/o4-mini", "openai/gpt-5", "openai/gpt-6.2-sol", "azure/gpt-5"]
)
def test_reasoning_models_take_no_sampling_and_a_limit_of_another_name(model):
    found = quirks(model)
    assert ("max_completion_tokens", False, True, True) == (
        found.output_field,
        found.sampling,
        found.developer,
        found.encrypted_reasoning,
    )


@pytest.mark.parametrize(
    "model", ["openai/gpt-4o", "openai/gpt-4.1-mini", "openai/gpt-5-chat-latest", "openai/chatgpt-4o-latest"]
)
def test_the_others_of_openai_take_what_they_always_took(model):
    found = quirks(model)
    assert ("max_completion_tokens", True, False, False) == (
        found.output_field,
        found.sampling,
        found.developer,
        found.encrypted_reasoning,
    )


@pytest.mark.parametrize(
    ("model", "chosen"),
    [
        ("openai/gpt-5", "responses"),
        ("openai/o3", "responses"),
        ("openai/gpt-5-codex", "responses"),
        ("openai/gpt-4o", "chat"),
        ("openai/nobody-knows", "chat"),
        ("openai/gpt-5?wire=chat", "chat"),
        ("openai/gpt-4o?wire=responses", "responses"),
        ("openai/gpt-5?base_url=http://127.0.0.1:1/v1", "chat"),
        ("azure/gpt-5", "chat"),
        ("azure/gpt-5-codex", "responses"),
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("openrouter/openai/gpt-5", "chat"),
        ("vllm/x", "chat"),
    ],
)
def test_the_wire_is_the_one_that_keeps_what_a_model_thought(model, chosen):
    assert chosen == wire(model)


def test_newer_claude_models_take_less():
    assert (True, True, True) == tuple(
        getattr(quirks("anthropic/claude-sonnet-4-5"), name)
        for name in ("sampling", "prefill", "forced_tools")
    )
    newest = quirks("anthropic/claude-sonnet-5-5")
    assert (False, False, False) == (newest.sampling, newest.prefill, newest.forced_tools)
    assert newest.cache_control
    assert (1_024, 512) == (quirks("anthropic/claude-sonnet-4-5").cached_from, newest.cached_from)
    assert not quirks("anthropic/claude-opus-4-6").prefill


def test_the_cache_is_marked_for_anthropic_and_nobody_else():
    assert not quirks("openrouter/anthropic/claude-sonnet-4.5").cache_control
    assert not quirks("openai/gpt-4o").cache_control


def test_the_cache_is_marked_for_claude_behind_a_name_of_ones_own_in_its_own_format_alone():
    tables = {"ant": {"base_url": "http://127.0.0.1:9/v1", "wire": "anthropic"}}
    for model in (
        "ant/claude-sonnet-4-5",
        "ant/anthropic/claude-sonnet-4-5",
        "ant/us.anthropic.claude-sonnet-4-5",
    ):
        assert quirks(model, tables).cache_control
    assert not quirks("ant/claude-sonnet-4-5?quirk.cache_control=no", tables).cache_control
    assert not quirks("ant/claude-sonnet-4-5?wire=chat", tables).cache_control
    assert not quirks("ant/qwen3", tables).cache_control


def test_thinking_goes_back_in_the_field_that_each_reads():
    assert "reasoning_content" == quirks("deepseek/deepseek-reasoner").reasoning_field
    assert "reasoning_content" == quirks("llama-server/x").reasoning_field
    assert "reasoning_details" == quirks("openrouter/openai/gpt-5").reasoning_field
    assert "" == quirks("openai/gpt-5").reasoning_field == quirks("vllm/x").reasoning_field


def test_mistral_refuses_stream_options_and_xai_counts_reasoning_apart():
    assert not quirks("mistral/mistral-large-latest").stream_usage
    assert "max_tokens" == quirks("mistral/mistral-large-latest").output_field
    assert quirks("xai/grok-4.20-0309-reasoning").output_excludes_reasoning
    assert quirks("groq/openai/gpt-oss-120b").stream_usage


def test_models_that_see_no_images_or_follow_no_schema_are_sent_none():
    blind = next(name for name in listed("openai") if recorded("openai", name).flags.get("images") is False)
    loose = next(name for name in listed("azure") if recorded("azure", name).flags.get("schema") is False)
    assert (False, True) == (quirks(f"openai/{blind}").images, quirks("openai/gpt-4o").images)
    assert (False, True) == (quirks(f"azure/{loose}").schema, quirks("azure/gpt-4o").schema)


def test_a_server_may_differ_in_one_of_its_formats_only():
    assert (True, False) == (quirks("llama-server/x").schema, quirks("llama-server/x?wire=anthropic").schema)
    assert not quirks("llama-server/x?wire=anthropic&base_url=http://127.0.0.1:1/v1").schema


def test_tools_are_never_left_out_by_hearsay():
    """An agent without its tools is none; a model that takes none says so itself."""
    assert quirks("deepseek/deepseek-reasoner").tools


def test_a_provider_of_ones_own_is_as_the_format_says():
    tables = {"mine": {"base_url": "http://127.0.0.1:1/v1"}}
    assert quirks("mine/gpt-5", tables) == PLAIN
    assert quirks("ollama/qwen3:8b") == PLAIN


def test_another_address_keeps_what_lies_in_the_model():
    moved = quirks("openai/gpt-5?base_url=https://proxy.example/v1")
    assert ("max_completion_tokens", False) == (moved.output_field, moved.sampling)
    assert quirks("openai/local?base_url=http://127.0.0.1:1/v1") == PLAIN


def test_a_person_may_say_how_a_deployment_differs_whose_name_says_nothing():
    assert ("max_tokens", True) == (quirks("azure/mine").output_field, quirks("azure/mine").sampling)
    said = quirks("azure/mine?quirk.output_field=max_completion_tokens&quirk.sampling=no&quirk.developer=yes")
    assert ("max_completion_tokens", False, True) == (said.output_field, said.sampling, said.developer)
    tables = {
        "mine": {
            "base_url": "http://127.0.0.1:1/v1",
            "quirks": {"tools": False, "strict_alternation": True, "stream_usage": False},
        }
    }
    said = quirks("mine/x", tables)
    assert (False, True, False) == (said.tools, said.strict_alternation, said.stream_usage)
    assert quirks("mine/x?quirk.tools=yes", tables).tools
    assert quirks("openai/gpt-5?quirk.sampling=yes").sampling, "a person is believed before what ships"


@pytest.mark.parametrize(
    ("option", "field"),
    [("", "max_tokens"), ("?quirk.output_field=max_completion_tokens", "max_completion_tokens")],
)
def test_what_was_said_is_what_is_sent(option, field):
    model = f"azure/mine{option}"
    body = json.loads(
        provider(model).encode(Request(model=model, messages=(user("Hello"),), max_output=100)).bytes
    )
    assert {field} == body.keys() & {"max_tokens", "max_completion_tokens"}
    assert 100 == body[field]
