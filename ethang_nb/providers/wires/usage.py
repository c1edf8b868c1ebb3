"""Usage: what providers report of tokens, brought to one meaning (`protocol.Usage`).

None where a report does not say; a number that cannot be one (negative, broken, a text) is not said either; some
gateways write a whole one as 40.0. A request of no tokens does not exist, so an input of 0 means that nobody counted.
Where two fields may hold a number, the one that the format itself has comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethang_nb.providers.protocol import Usage

__all__ = ["merged", "of_chat", "of_messages", "of_responses", "of_timings", "whole"]

_EXACT = 2**53  # from there on a float is whole whatever was meant


def whole(value: object) -> int | None:
    """A number of tokens, or None for anything that is none."""
    if isinstance(value, float) and value.is_integer() and value < _EXACT:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def of_chat(report: object, *, excludes_reasoning: bool = False) -> Usage | None:
    """The `usage` of a Chat Completions answer. `excludes_reasoning`: its completion_tokens lack the reasoning."""
    if not isinstance(report, Mapping):
        return None
    read, wrote = _inner(report, "prompt_tokens_details"), _inner(report, "completion_tokens_details")
    output = whole(report.get("completion_tokens"))
    reasoning = _first(wrote.get("reasoning_tokens"), report.get("reasoning_tokens"))
    if output is not None and reasoning and (excludes_reasoning or _lacks(report, output, reasoning)):
        output += reasoning
    return _known(
        Usage(
            input=whole(report.get("prompt_tokens")) or None,
            output=output,
            cached=_first(
                read.get("cached_tokens"),
                report.get("cached_tokens"),  # Anthropic's and Moonshot's compatible endpoints
                report.get("prompt_cache_hit_tokens"),  # DeepSeek
                report.get("cached_prompt_text_tokens"),  # xAI
                report.get("cache_read_input_tokens"),  # Databricks, LiteLLM
            ),
            written=_first(read.get("cache_write_tokens"), report.get("cache_creation_input_tokens")),
            reasoning=reasoning,
        )
    )


def of_messages(report: object) -> Usage | None:
    """The `usage` of an Anthropic Messages answer, whose input_tokens lack what the cache had or was given."""
    if not isinstance(report, Mapping):
        return None
    cached = whole(report.get("cache_read_input_tokens"))
    written = _first(report.get("cache_creation_input_tokens"), _both_lifetimes(report))
    fresh = whole(report.get("input_tokens"))
    total = None if fresh is None else fresh + (cached or 0) + (written or 0)
    details = _inner(report, "output_tokens_details")
    return _known(
        Usage(
            input=total or None,
            output=whole(report.get("output_tokens")),
            cached=cached,
            written=written,
            reasoning=whole(details.get("thinking_tokens")),
        )
    )


def of_responses(report: object) -> Usage | None:
    """The `usage` of an OpenAI Responses answer."""
    if not isinstance(report, Mapping):
        return None
    read, wrote = _inner(report, "input_tokens_details"), _inner(report, "output_tokens_details")
    return _known(
        Usage(
            input=whole(report.get("input_tokens")) or None,
            output=whole(report.get("output_tokens")),
            cached=_first(read.get("cached_tokens"), read.get("cache_read_input_tokens")),
            written=whole(read.get("cache_write_tokens")),
            reasoning=whole(wrote.get("reasoning_tokens")),
        )
    )


def of_timings(timings: object) -> Usage | None:
    """What llama.cpp says of its own work, for a stream without a report: prompt_n lacks what the cache had."""
    if not isinstance(timings, Mapping):
        return None
    cached, fresh = whole(timings.get("cache_n")), whole(timings.get("prompt_n"))
    total = None if fresh is None or cached is None else fresh + cached
    return _known(Usage(input=total or None, output=whole(timings.get("predicted_n")), cached=cached))


def merged(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """A running report brought up to date: what is not said again stays, and so does what 0 would take back."""
    news = {name: value for name, value in later.items() if value is not None}
    kept = {name: earlier[name] for name, value in news.items() if value == 0 and whole(earlier.get(name))}
    return {**earlier, **news, **kept}


def _inner(report: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = report.get(name)
    return found if isinstance(found, Mapping) else {}


def _first(*values: object) -> int | None:
    return next((number for number in map(whole, values) if number is not None), None)


def _lacks(report: Mapping[str, Any], output: int, reasoning: int) -> bool:
    """Whether the report's own total shows that its completion_tokens lack the reasoning (Gemini, xAI)."""
    prompt, total = whole(report.get("prompt_tokens")), whole(report.get("total_tokens"))
    return prompt is not None and total == prompt + output + reasoning


def _both_lifetimes(report: Mapping[str, Any]) -> int | None:
    split = _inner(report, "cache_creation")
    parts = [whole(split.get(f"ephemeral_{time}_input_tokens")) for time in ("5m", "1h")]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _known(usage: Usage) -> Usage | None:
    return None if usage == Usage() else usage
