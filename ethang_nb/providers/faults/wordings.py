"""Each provider's own words for "too long", as a table of templates with the numbers in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["NO_NUMBER", "OUTPUTS", "QUOTA", "ROWS", "Row"]

_NUMBER = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f ]\d{3}){1,3}(?!\d)|\d{1,12}(?!\d))"
_GAP = ".{0,240}?"  # ► characters between two parts of one sentence
_FIELD = r"max[_ ](?:completion_|output_|new_)?tokens|maxoutputtokens|maxtokens"
_MAX = rf"(?:`(?:{_FIELD})`|'(?:{_FIELD})'|\"(?:{_FIELD})\"|(?<![a-z0-9_])(?:{_FIELD})(?![a-z0-9_]))"
"""The field that asks for so much output, as APIs call it; quotation marks around it are its own."""


@dataclass(frozen=True, slots=True)
class Row:
    """How one provider says it: `words` in small letters, one space between them.

    {input}, {output}, {tokens} (both together), {limit} and {beyond} (the first number that is too much) stand for
    numbers, {max} for the name of the field for the output's size, … for a stretch of anything; a ` may be missing.
    """

    provider: str
    words: str
    pattern: re.Pattern[str] = field(init=False, compare=False, repr=False)
    order: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        parts = re.split(r"\{((?!max\b)\w+)\}", self.words)
        literals = (_literal(part) for part in parts[::2])
        object.__setattr__(self, "order", tuple(parts[1::2]))
        object.__setattr__(self, "pattern", re.compile(_NUMBER.join(literals)))

    def numbers(self, found: re.Match[str]) -> dict[str, int]:
        """The numbers of a match by their names; a 0 says nothing."""
        digits = (int(re.sub(r"\D", "", group)) for group in found.groups())
        named = dict(zip(self.order, digits, strict=True))
        if "beyond" in named:
            named["limit"] = max(named.pop("beyond") - 1, 0)
        return {name: number for name, number in named.items() if number}


def _literal(words: str) -> str:
    return _MAX.join(re.escape(part).replace("`", "`?").replace("…", _GAP) for part in words.split("{max}"))


_IS = "maximum context length is {limit} tokens"

ROWS: tuple[Row, ...] = (
    # Of those that a text matches the one with the most numbers counts.
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
    Row("vLLM, older", _IS + ". however, you requested {input} tokens in the messages"),
    Row(
        "vLLM",
        "is too large: {output}. this model's " + _IS + " and your request has {input} input",
    ),
    Row(
        "vLLM",
        _IS + ". however, you requested … output tokens and your prompt contains",
    ),
    Row(
        "vLLM, newer",
        "you passed {input} input tokens and requested {output} output tokens. however, the model's context length is"
        " only {limit} tokens",
    ),
    Row(
        "vLLM, newer, before it has counted",
        "and requested {output} output tokens. however, the model's context length is only {limit} tokens",
    ),
    Row("vLLM", "decoder prompt (length {input}) is longer than the maximum model length of {limit}"),
    Row("vLLM", "input prompt ({input} tokens) is too long and exceeds limit of {limit}"),
    Row("vLLM", "prompt (total length {input}) is too long to fit into the model (context length {limit})"),
    Row("vLLM", "max_tokens must be at least 1, got -"),
    Row("vLLM", "max_completion_tokens must be at least 1, got -"),
    Row("llama.cpp, Ollama", "request ({input} tokens) exceeds the available context size ({limit} tokens)"),
    Row("llama.cpp, Ollama", "exceeds the available context size"),
    Row("llama.cpp, older, LM Studio", "context size has been exceeded"),
    Row("llama-cpp-python", "requested tokens ({input}) exceed context window of {limit}"),
    Row("Ollama", "prompt too long; exceeded max context length"),
    Row("Ollama", "prompt too long; exceeded context length"),
    Row(
        "LM Studio",
        "tokens to keep from the initial prompt is greater than the context length (n_keep: {input}>= n_ctx: {limit}",
    ),
    Row("LM Studio", "tokens to keep from the initial prompt is greater than the context length"),
    Row(
        "LM Studio",
        "trying to keep the first {input} tokens when context …loaded with context length of only {limit} tokens",
    ),
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
    Row("Cerebras", "current length is {input} while limit is {limit}"),
    Row("Groq", "please reduce the length of the messages or completion"),
    Row("xAI", "maximum prompt length is {limit} but the request contains {input} tokens"),
    Row(
        "Together, SGLang",
        "the input ({input} tokens) is longer than the model's context length ({limit} tokens)",
    ),
    Row(
        "Together, TGI",
        "`inputs` tokens + `max_new_tokens` must be <= {limit}. given: {input} `inputs` tokens and {output} ",
    ),
    Row("Together, TGI", "`inputs` tokens + `max_new_tokens` must be <= {limit}"),
    Row("TGI", "`inputs` must have less than {beyond} tokens. given: {input}"),
    Row("TGI", "`inputs` must have less than {beyond} tokens"),
    Row("SGLang", "input length ({input} tokens) exceeds the maximum allowed length ({limit} tokens)"),
    Row("TensorRT-LLM", "prompt length ({input}) exceeds maximum input length ({limit})"),
    Row("TensorRT-LLM", "prompt length ({input}) exceeds maximum sequence length ({limit})"),
    Row(
        "TensorRT-LLM",
        "sum of prompt length ({input}…query length …should not exceed max_num_tokens ({limit})",
    ),
    Row("Databricks", "prompt token count ({input}) cannot exceed {limit}"),
    Row("GitHub Models", "request body too large for …model. max size: {limit} tokens"),
    Row("NIM", "input length {input} exceeds maximum allowed token size {limit}"),
    Row("ctransformers", "number of tokens ({input}) exceeded maximum context length ({limit})"),
    Row("vMLX", "prompt has {input} tokens, max prompt/context tokens is {limit}"),
    Row("Kimi", "exceeded model token limit: {limit} (requested: {input})"),
    Row("Kimi", "exceeded model token limit: {limit}"),
    Row("Kimi", "exceeded model token limit"),
    Row("Kimi", "input token length too long"),
    Row("Fireworks", "the prompt is too long: {input}, model maximum context length: {limit}"),
    Row("Cohere", "total number of tokens in the prompt cannot exceed {limit} - received {input}"),
    Row("Cohere", "total number of tokens in the prompt cannot exceed {limit}"),
    Row("Cohere, older", "total number of tokens (prompt and prediction) cannot exceed {limit}"),
    Row("Qwen", "range of input length should be [1…{limit}]"),
    Row("Volcengine", "total tokens of image and text exceed max message tokens"),
    Row("Z.ai", "prompt exceeds max length"),
    Row("Ollama", "input length exceeds the context length"),
    Row("MiniMax", "context window exceeds limit"),
    Row("Copilot", "prompt token count of {input} exceeds the limit of {limit}"),
    # The tail of many of the above, where a server words the rest in its own way.
    Row("OpenAI-compatible", "model's " + _IS),
    Row("OpenAI-compatible", "model's maximum context length has been exceeded"),
    Row("OpenRouter", "endpoint's " + _IS),
    Row("OpenAI-compatible", "please reduce the length of the messages."),
)

QUOTA = Row("Groq, OpenAI", "on tokens per …limit {limit}, requested {input}")
"""A request that is over what a minute or a day allows at all."""

OUTPUTS: tuple[Row, ...] = (
    Row(
        "OpenAI, SGLang",
        "{max} is too large: {output}. this model supports at most {limit} completion tokens",
    ),
    Row("Anthropic", "{max}: {output} > {limit}, which is the maximum allowed number of output tokens"),
    Row("Groq, Cohere", "{max} must be less than or equal to `{limit}"),
    Row("Groq", "{max} for … must be less than or equal to `{limit}"),
    Row("TGI", "{max} must be <= {limit}"),
    Row("Databricks", "{max} ({output}) cannot exceed {limit}"),
    Row("DeepSeek", "range of {max} is [1…{limit}]"),
    Row("Qwen", "range of {max} should be [1…{limit}]"),
    Row(
        "OpenAI, Volcengine",
        "{max}…integer above maximum value…expected a value <= {limit}, but got {output}",
    ),
    Row(
        "Vertex",
        "{max} value of {output} but the supported range is from 1 (inclusive) to {beyond} (exclusive)",
    ),
    Row("Bedrock", "the maximum tokens you requested exceeds the model limit of {limit}"),
)
"""More output asked for than the model ever gives. Where a row of the window matches, too, the window is meant."""

NO_NUMBER = re.compile(
    _MAX + r"(?: parameter| value| (?:is|are|was|of))*:? ?(?:`?[\d,._]+`? ?)?"
    r"(?:too (?:large|big|high|many|long)|above (?:the )?max|over (?:the )?max|exceed|larger than|out of range"
    r"|limited to|参数非法)"
)
"""The same by somebody who does not say how much it may be."""
