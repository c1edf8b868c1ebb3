"""Each provider's own words for "too long", as a table of templates with the numbers in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["QUOTA", "ROWS", "Row"]

_NUMBER = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f ]\d{3}){1,3}(?!\d)|\d{1,12}(?!\d))"
_GAP = ".{0,240}?"  # ► characters between two parts of one sentence


@dataclass(frozen=True, slots=True)
class Row:
    """How one provider says it: `words` in small letters, one space between them.

    {input}, {output}, {tokens} (both together) and {limit} stand for numbers, … for a stretch of anything.
    """

    provider: str
    words: str
    pattern: re.Pattern[str] = field(init=False, compare=False, repr=False)
    order: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        parts = re.split(r"\{(\w+)\}", self.words)
        literals = (re.escape(part).replace("…", _GAP) for part in parts[::2])
        object.__setattr__(self, "order", tuple(parts[1::2]))
        object.__setattr__(self, "pattern", re.compile(_NUMBER.join(literals)))

    def numbers(self, found: re.Match[str]) -> dict[str, int]:
        """The numbers of a match by their names; a 0 says nothing."""
        digits = (int(re.sub(r"\D", "", group)) for group in found.groups())
        return {name: number for name, number in zip(self.order, digits, strict=True) if number}


_IS = "maximum context length is {limit} tokens"

ROWS: tuple[Row, ...] = (
    # Of one provider's rows the one with more numbers stands first.
    Row("Anthropic", "prompt is too long: {input} tokens > {limit} maximum"),
    Row("Anthropic", "prompt is too long"),
    Row("Anthropic", "input length and `max_tokens` exceed context limit: {input} + {output} > {limit}"),
    Row("Anthropic", "request exceeds the maximum size"),
    Row("Bedrock", "input is too long for requested model"),
    Row(
        "OpenAI, Azure",
        _IS + ". however, your messages resulted in {input} tokens",
    ),
    Row(
        "OpenAI, DeepSeek, llama-cpp-python",
        _IS + ". however, you requested {tokens} tokens (…{output} in the completion)",
    ),
    Row(
        "OpenAI, older",
        _IS + ", however you requested {tokens} tokens (…{output} for the completion)",
    ),
    Row(
        "OpenRouter",
        _IS + ". however, you requested about {tokens} tokens (…{output} in the output)",
    ),
    Row(
        "OpenAI, Azure",
        "input tokens exceed the configured limit of {limit} tokens. your messages resulted in {input}",
    ),
    Row("OpenAI, Azure", "input tokens exceed the configured limit of {limit} tokens"),
    Row("OpenAI Responses", "input exceeds the context window of this model"),
    Row(
        "vLLM",
        _IS + ". however, your request has {input} input tokens plus {output} ",
    ),
    Row("vLLM", _IS + ". however, your request has {input} input tokens"),
    Row(
        "vLLM",
        "is too large: {output}. this model's " + _IS + " and your request has {input} input",
    ),
    Row(
        "vLLM",
        _IS + ". however, you requested … output tokens and your prompt contains",
    ),
    Row("vLLM", "decoder prompt (length {input}) is longer than the maximum model length of {limit}"),
    Row("vLLM", "input prompt ({input} tokens) is too long and exceeds limit of {limit}"),
    Row("vLLM", "max_tokens must be at least 1, got -"),
    Row("vLLM", "max_completion_tokens must be at least 1, got -"),
    Row("llama.cpp, Ollama", "request ({input} tokens) exceeds the available context size ({limit} tokens)"),
    Row("llama.cpp, Ollama", "exceeds the available context size"),
    Row("Ollama", "prompt too long; exceeded max context length"),
    Row("Ollama", "prompt too long; exceeded context length"),
    Row(
        "LM Studio",
        "tokens to keep from the initial prompt is greater than the context length (n_keep: {input}>= n_ctx: {limit}",
    ),
    Row("LM Studio", "tokens to keep from the initial prompt is greater than the context length"),
    Row(
        "OpenRouter, Poolside",
        "input length {input} exceeds the maximum allowed input length of {limit} tokens",
    ),
    Row("LiteLLM", "input length ({input}) exceeds model's maximum context length ({limit})"),
    Row(
        "SGLang",
        "exceeds the model's maximum context length of {limit} tokens. you requested a total of {tokens} tokens:"
        "…messages and {output} tokens for the completion",
    ),
    Row("LiteLLM, SGLang", "token count exceeds the model's maximum context length of {limit} tokens"),
    Row("LiteLLM", "contextwindowexceedederror:"),
    Row("Gemini", "the input token count ({input}) exceeds the maximum number of tokens allowed ({limit})"),
    Row("Gemini", "the input token count exceeds the maximum number of tokens allowed {limit}"),
    Row("Gemini", "the input token count exceeds the maximum number of tokens allowed ({limit})"),
    Row("Mistral", "prompt contains {input} tokens…too large for model with {limit} maximum context length"),
    Row("Groq", "please reduce the length of the messages or completion"),
    Row("xAI", "maximum prompt length is {limit} but the request contains {input} tokens"),
    Row(
        "Together, SGLang",
        "the input ({input} tokens) is longer than the model's context length ({limit} tokens)",
    ),
    Row("Kimi", "exceeded model token limit: {limit} (requested: {input})"),
    Row("MiniMax", "context window exceeds limit"),
    Row("Copilot", "prompt token count of {input} exceeds the limit of {limit}"),
    # The tail of many of the above, where a server words the rest in its own way.
    Row("OpenAI-compatible", "model's " + _IS),
    Row("OpenRouter", "endpoint's " + _IS),
    Row("OpenAI-compatible", "please reduce the length of the messages."),
)

QUOTA = Row("Groq, OpenAI", "on tokens per …limit {limit}, requested {input}")
"""A request that is over what a minute or a day allows at all."""
