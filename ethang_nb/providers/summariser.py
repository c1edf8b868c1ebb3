"""Summariser: which model writes a handoff note. A rule over what is known of models; nothing is asked here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ethang_nb.providers.models import ModelFacts

__all__ = ["Choice", "choose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The model that is asked, and why it and no other."""

    model: str
    why: str


def choose(
    pinned: str | None,
    configured: Iterable[tuple[str, ModelFacts | None]],
    own: str,
    *,
    tokens_in: int,
    tokens_out: int,
) -> Choice:
    """Pinned by the user, else the cheapest configured model that can hold the text, else the session's own.

    `tokens_in` of text and `tokens_out` of prose are priced and must both have room. A model whose window or price is
    unknown is not eligible; of two that cost the same the first is taken.
    """
    if pinned:
        return Choice(model=pinned, why="pinned by the user")
    costs = [
        (cost, model)
        for model, facts in configured
        if facts is not None and (cost := _cost(facts, tokens_in, tokens_out)) is not None
    ]
    if not costs:
        return Choice(model=own, why="the session's own model")
    _, model = min(costs, key=lambda item: item[0])
    return Choice(model=model, why="the cheapest configured model that can hold the text")


def _cost(facts: ModelFacts, tokens_in: int, tokens_out: int) -> int | None:
    """What the note would cost there, for comparison; None where it cannot be had, or nobody knows the price."""
    prices = facts.prices
    if prices is None or prices.input is None or prices.output is None:
        return None
    most = facts.total - tokens_out
    holds = tokens_in <= (most if facts.max_input is None else min(most, facts.max_input))
    if not holds or (facts.max_output is not None and tokens_out > facts.max_output):
        return None
    return tokens_in * prices.input + tokens_out * prices.output
