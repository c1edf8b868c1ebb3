"""Summariser: which model writes a handoff note. A rule over what is known of models; nothing is asked here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ethang_nb.providers.models.facts import ModelFacts

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
    costs: list[tuple[int, str]] = []
    passed: list[str] = []
    for model, facts in configured:
        cost = _cost(facts, tokens_in, tokens_out)
        if isinstance(cost, int):
            costs.append((cost, model))
        else:
            passed.append(f"{model.partition('?')[0]} was passed over, {cost}")
    if not costs:
        return Choice(model=own, why="; ".join(["the session's own model", *passed]))
    _, model = min(costs, key=lambda item: item[0])
    return Choice(model=model, why="the cheapest configured model that can hold the text")


def _cost(facts: ModelFacts | None, tokens_in: int, tokens_out: int) -> int | str:
    """What the note would cost there, for comparison; a text: why it cannot be had, or nobody knows."""
    if facts is None:
        return "its window is unknown"
    prices = facts.prices
    if prices is None or prices.input is None or prices.output is None:
        return "its price is unknown"
    most = facts.total - tokens_out
    holds = tokens_in <= (most if facts.max_input is None else min(most, facts.max_input))
    if not holds or (facts.max_output is not None and tokens_out > facts.max_output):
        return "it is too small"
    return tokens_in * prices.input + tokens_out * prices.output
