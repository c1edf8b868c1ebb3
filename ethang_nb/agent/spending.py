"""Spending: what requests took, in tokens and in money, as the provider says it and never more than it says.

A number that nobody reported is None, not 0. Only for the two sums every run has, tokens in and out, our own count
stands in, and how much of them it is, is said. Of our offline models it is the only count there is.
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.context.counting import TokenCounter, message_tokens
from ethang_nb.context.fold import PHANTOM
from ethang_nb.providers.models.facts import Prices
from ethang_nb.providers.protocol import Reply, Usage
from ethang_nb.tokens.registry import family_of

__all__ = ["Spending", "Spent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What `requests` requests took that were answered, at least in part; of `unanswered` others nothing came.

    Tokens; `cost` in 10⁻⁶ USD. Of `input` and `output`, `own_input` and `own_output` are our own count, since nobody
    reported them; both are None where nothing came of any request.

    `cached`, `written` and `reasoning` are sums over the requests that reported them, None where none did. `predicted`
    is what those that reported `cached` were expected to read from the cache. `cost` is None where a price or a count
    is unknown, and `unpriced` says which; of `priced` requests the price is known.
    """

    requests: int = 0
    unanswered: int = 0
    input: int | None = 0
    output: int | None = 0
    own_input: int = 0
    own_output: int = 0
    cached: int | None = None
    written: int | None = None
    reasoning: int | None = None
    predicted: int | None = None
    cost: int | None = None
    unpriced: str = ""
    priced: int = 0


class Spending:
    """Adds up what one reply after the other took."""

    def __init__(self) -> None:
        self._requests = self._unanswered = self._priced = 0
        self._input = self._output = self._own_input = self._own_output = 0
        self._cached: int | None = None
        self._written: int | None = None
        self._reasoning: int | None = None
        self._predicted: int | None = None
        self._cost = 0
        self._unpriced = ""

    def add(
        self,
        reply: Reply,
        own: int,
        counter: TokenCounter,
        *,
        model: str,
        prices: Prices | None,
        predicted: int | None = None,
    ) -> None:
        """One more reply, or what had come of one, to a request of `own` tokens by our own count.

        `predicted`: tokens of that request, by our own count, that should have been in the provider's cache.
        """
        usage = believable(reply.usage, own)
        self._requests += 1
        own_input = own if usage.input is None else 0
        said = bool(reply.message.parts)
        own_output = message_tokens(reply.message, counter) if usage.output is None and said else 0
        self._input += own_input if usage.input is None else usage.input
        self._output += own_output if usage.output is None else usage.output
        if family_of(model).name != "offline":  # those read what we count
            self._own_input += own_input
            self._own_output += own_output
        self._cached = _plus(self._cached, usage.cached)
        self._written = _plus(self._written, usage.written)
        self._reasoning = _plus(self._reasoning, usage.reasoning)
        if predicted is not None and usage.cached is not None:
            scaled = predicted if not usage.input or own < 1 else predicted * usage.input // own
            self._predicted = _plus(self._predicted, scaled)
        why = _unpriced(usage, model, prices)
        cost = None if why or prices is None else prices.cost(usage)
        self._cost += cost or 0
        self._priced += prices is not None and prices.input is not None and prices.output is not None
        self._unpriced = self._unpriced or why

    def miss(self) -> None:
        """One more request of which nothing came: nobody knows whether it took anything."""
        self._unanswered += 1

    @property
    def spent(self) -> Spent:
        unknown = self._unanswered > 0 and not self._requests
        return Spent(
            requests=self._requests,
            unanswered=self._unanswered,
            input=None if unknown else self._input,
            output=None if unknown else self._output,
            own_input=self._own_input,
            own_output=self._own_output,
            cached=self._cached,
            written=self._written,
            reasoning=self._reasoning,
            predicted=self._predicted,
            cost=self._cost if self._requests and not self._unpriced else None,
            unpriced=self._unpriced,
            priced=self._priced,
        )


def believable(usage: Usage | None, own: int) -> Usage:
    """The report without the input side of one that is phantom: over four times our own count (`own`)."""
    if usage is None:
        return Usage()
    if usage.input is not None and usage.input > PHANTOM * own:
        return Usage(output=usage.output, reasoning=usage.reasoning)
    return usage


def _plus(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _unpriced(usage: Usage, model: str, prices: Prices | None) -> str:
    """Which price or count it lacks; "": none."""
    name = model.partition("?")[0]
    if prices is None or (prices.input is None and prices.output is None):
        return f"no price of {name} is known"
    if prices.input is None or prices.output is None:
        return f"no price of the tokens {'in' if prices.input is None else 'out'} of {name} is known"
    lacking = [
        (usage.input is None, "tokens in"),
        (usage.output is None, "tokens out"),
        # What has no price of its own costs what a fresh token does, whatever its count.
        (usage.cached is None and prices.read is not None, "cached tokens"),
        (usage.written is None and prices.write is not None, "tokens written to the cache"),
    ]
    missing = next((what for lacks, what in lacking if lacks), "")
    return f"{name} did not report {missing} of every request" if missing else ""
