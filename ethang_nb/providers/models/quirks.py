"""Quirks: where a model or a server differs from its wire format, as data.

A wire format asks the quirks, never the model's name. What a request asks for and a model does not take is left out
with a notice, never sent blindly and never dropped without a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from ethang_nb.providers.endpoints.table import Endpoint, WireName
from ethang_nb.providers.models.facts import recorded

__all__ = ["PLAIN", "SAYABLE", "Quirks", "quirks_of", "wire_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """The defaults are what the format says; each field is one way to differ."""

    sampling: bool = True
    """Takes temperature, top_p and top_k."""
    forced_tools: bool = True
    """Takes a tool_choice that forces a call."""
    prefill: bool = True
    """Takes a last message of the assistant's, to be continued."""
    tools: bool = True
    """Takes tool definitions."""
    images: bool = True
    schema: bool = True
    """Can be held to a JSON schema."""
    output_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Chat Completions only: what the limit of the output is called."""
    developer: bool = False
    """Wants the role `developer` instead of `system`."""
    stream_usage: bool = True
    """Chat Completions only: takes `stream_options`, without which a stream carries no usage."""
    reasoning_field: str = ""
    """Chat Completions only: the field in which thinking is sent back; "": it is not. OpenRouter's is a list."""
    strict_alternation: bool = False
    """Refuses neighbours of one role."""
    output_excludes_reasoning: bool = False
    """Its `completion_tokens` lack the reasoning tokens (xAI)."""
    encrypted_reasoning: bool = False
    """Responses only: takes `include: reasoning.encrypted_content`, so that reasoning can be sent back to it."""
    cache_control: bool = False
    """Anthropic only: `cache_control` marks what is kept in the cache."""
    cached_from: int = 1_024
    """Tokens below which a prefix is not cached, so that marking it helps nobody."""


PLAIN = Quirks()
SAYABLE: Mapping[str, tuple[str, ...]] = {
    **{quirk.name: () for quirk in fields(Quirks) if quirk.type == "bool"},
    "output_field": ("max_tokens", "max_completion_tokens"),
    "reasoning_field": ("", "reasoning_content", "reasoning_details"),
}
"""What a person may say of a server of their own, or of a deployment whose name says nothing: () is a truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """What differs for models whose names match, at the providers named, or at each where none is.

    `anywhere`: also where one was moved. `wire`: only where that format was chosen; "": in each.
    """

    providers: tuple[str, ...]
    says: Mapping[str, Any]
    models: re.Pattern[str] = re.compile(r"")
    wire: str = ""
    anywhere: bool = False


REASONING = re.compile(r"(ft:)?(o\d|codex|computer-use|gpt-([5-9]|\d\d)(?!-chat))")
"""OpenAI's models that think before they answer, by name. gpt-5-chat is none: it takes what older models take."""

_RULES = (
    # Its reference calls max_tokens deprecated; the reasoning models answer it with "Unsupported parameter".
    _Rule(providers=("openai",), says={"output_field": "max_completion_tokens"}),
    # o-series and gpt-5: "Only the default (1) value is supported" for temperature; `developer` since o1; litellm's
    # gpt_reasoning_transformation and o_series_transformation do the same. With store=false reasoning only comes back
    # if it is asked for in its encrypted form, which models that do not reason refuse.
    _Rule(
        providers=("openai", "azure"),
        models=REASONING,
        says={
            "output_field": "max_completion_tokens",
            "sampling": False,
            "developer": True,
            "encrypted_reasoning": True,
        },
        anywhere=True,
    ),
    # openai-agents-python#442, tabby#4082: 422 extra_forbidden for stream_options; usage comes without being asked for.
    _Rule(providers=("mistral",), says={"stream_usage": False}),
    # deepseek: 400 "The reasoning_content in the thinking mode must be passed back to the API." (oai-compatible-
    # copilot#215); the models that do not think have none that could go back.
    _Rule(providers=("deepseek",), says={"reasoning_field": "reasoning_content"}),
    # llama.cpp's server hands reasoning_content to the model's chat template.
    _Rule(providers=("llama-server",), says={"reasoning_field": "reasoning_content"}, anywhere=True),
    # Seen on xllamacpp 2026.10: /v1/messages passes over output_config.
    _Rule(providers=("llama-server",), wire="anthropic", says={"schema": False}, anywhere=True),
    # OpenRouter's own shape, which carries signatures of whatever model is behind it.
    _Rule(providers=("openrouter",), says={"reasoning_field": "reasoning_details"}),
    # providers.md, usage fields: completion_tokens lack the reasoning ones in Chat Completions.
    _Rule(providers=("xai",), says={"output_excludes_reasoning": True}),
    _Rule(providers=("xai",), models=re.compile(r"grok-([4-9]|\d\d)"), says={"encrypted_reasoning": True}),
    # Marked explicitly or not at all; what is marked and too short is not cached, without an error.
    _Rule(providers=("anthropic",), says={"cache_control": True}, anywhere=True),
    # A proxy in front of it, under a name of somebody's own.
    _Rule(
        providers=(),
        models=re.compile(r"(.*[/.])?claude-"),
        wire="anthropic",
        says={"cache_control": True},
        anywhere=True,
    ),
)

_FLAGS = ("sampling", "forced_tools", "prefill", "images", "schema")
"""Abilities that the snapshot denies some models. Not `tools`: an agent without its tools is none, so the provider's
own refusal is the better answer."""


def quirks_of(endpoint: Endpoint, model: str) -> Quirks:
    """How the model called `model` at an endpoint differs from the endpoint's wire format."""
    found = PLAIN
    for rule in _RULES:
        here = not rule.providers or endpoint.provider in rule.providers
        here = here and (rule.anywhere or not endpoint.moved)
        if here and rule.wire in {"", endpoint.wire} and rule.models.match(model):
            found = replace(found, **rule.says)
    known = recorded(endpoint.provider, model)
    if known is not None:
        denied: dict[str, Any] = {name: False for name in _FLAGS if known.flags.get(name) is False}
        found = replace(found, **denied, cached_from=known.cached_from or found.cached_from)
    return replace(found, **endpoint.quirks)


def wire_of(endpoint: Endpoint, model: str) -> WireName:
    """The wire format in which a model is asked where nobody chose one.

    OpenAI's reasoning models forget between two tool calls what they thought unless they are asked in Responses, and
    some answer nowhere else. Azure's deployments have names of their own and Responses not in every region, so there
    only the latter are asked in it. Everything else speaks Chat Completions.
    """
    if endpoint.wire:
        return endpoint.wire
    known = recorded(endpoint.provider, model)
    only = known is not None and known.flags.get("responses_only", False)
    thinks = endpoint.provider == "openai" and REASONING.match(model)
    return "responses" if only or thinks else "chat"
