"""Model facts: what is known of a model before it is asked anything, and where each number comes from.

The snapshot `models.json` is made by `tests/providers/model_facts.py` from other projects' MIT data (see
`models.NOTICE.txt`); it is read when the first fact is asked for. Nothing in it is guessed: a model that is not there
is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ethang_nb.context.pricing import Rates
from ethang_nb.context.window import LARGEST, SMALLEST
from ethang_nb.errors import Misuse, Unknown
from ethang_nb.providers.protocol import Usage

__all__ = ["ModelFacts", "Prices", "given", "listed", "merged", "providers_of", "recorded"]

FILE = "models.json"
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices as integers: 1 is 10⁻⁶ USD per million tokens, so 2.50 USD per million are 2,500,000. None: unknown.

    A person writes USD per million tokens, as in `[models."mine/large"] input = 2.5`. `input` and `output` are for
    fresh tokens, `read` for those that come from the cache, `write` for those put there. They are the standard ones: no
    batch, no priority, and the lowest step where long inputs cost more.
    """

    input: int | None = None
    output: int | None = None
    read: int | None = None
    write: int | None = None

    @property
    def rates(self) -> Rates | None:
        """The same per mille of a fresh input token; None without the two prices that every model has, or a free one.

        Where no price for the cache is known, reading from it and writing to it cost what a fresh token does.
        """
        fresh = self.input
        if not fresh or self.output is None:
            return None

        def per_mille(price: int | None) -> int:
            return 1_000 if price is None else (price * 1_000 + fresh // 2) // fresh

        return Rates(read=per_mille(self.read), write=per_mille(self.write), output=per_mille(self.output))

    def cost(self, usage: Usage) -> int | None:
        """What a call cost, in 10⁻⁶ USD, rounded up; None where a price or a count that it takes is unknown.

        A count of the cache is not taken where the cache has no price of its own: such tokens cost what fresh ones do.
        """
        if usage.input is None or usage.output is None or self.input is None or self.output is None:
            return None
        for price, count in ((self.read, usage.cached), (self.write, usage.written)):
            if count is None and price is not None:
                return None
        read, written = usage.cached or 0, usage.written or 0
        fresh = max(0, usage.input - read - written)
        whole = (
            fresh * self.input
            + read * (self.input if self.read is None else self.read)
            + written * (self.input if self.write is None else self.write)
            + usage.output * self.output
        )
        return -(-whole // MILLION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Sizes in tokens, and where they come from.

    `max_input` is None where only the window limits a request, `max_output` where nobody says what the model can put
    out. `source` says in words where the sizes come from, their date included; `as_of` is that date alone, "" for
    what was given by hand. `flags` are what is known of the model's abilities: true, false, or absent.
    `cached_from`: tokens below which a prefix is not cached.
    """

    total: int
    max_output: int | None
    source: str
    max_input: int | None = None
    as_of: str = ""
    prices: Prices | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)
    cached_from: int | None = None


# ---- the snapshot

FIRST = ("openai", "anthropic", "gemini", "deepseek", "mistral", "xai", "groq")
"""Whose model a name without a provider means, where several have one of that name: those that make it come first."""


@cache
def _snapshot() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return found


def recorded(provider: str, model: str) -> ModelFacts | None:
    """What the snapshot has of a model, by its exact name, or a fine-tuned one's base. None: nothing."""
    rows = _snapshot()["models"].get(provider, {})
    row = rows.get(model)
    if row is None and model.startswith("ft:"):
        row = rows.get(":".join(model.split(":")[:2]))
    return None if row is None else _facts(row)


def providers_of(model: str) -> tuple[str, ...]:
    """The providers in the snapshot that have a model of exactly that name."""
    rows = _snapshot()["models"]
    return tuple(name for name in dict.fromkeys((*FIRST, *rows)) if model in rows.get(name, ()))


def listed(provider: str) -> tuple[str, ...]:
    """The names of a provider's models in the snapshot."""
    return tuple(_snapshot()["models"].get(provider, ()))


def _facts(row: Sequence[Any]) -> ModelFacts:
    whole = _snapshot()
    missing = len(whole["columns"]) - len(row)
    cells: list[Any] = [*row, *[None] * missing]
    total, max_input, most, *prices, letters, cached_from, source = cells
    origin = whole["sources"][source or 0]
    words = whole["flags"]
    return ModelFacts(
        total=total,
        max_input=max_input,
        max_output=most,
        source=f"{origin['name']}, {origin['date']}",
        as_of=origin["date"],
        prices=Prices(**dict(zip(_PRICES, prices, strict=True)))
        if any(price is not None for price in prices)
        else None,
        flags={words[letter.lower()]: letter.islower() for letter in letters or ""},
        cached_from=cached_from,
    )


# ---- what a person says

_PRICES = ("input", "output", "read", "write")
_SIZES = ("total", "max_input", "max_output")


def given(table: Mapping[str, Any], place: str) -> Mapping[str, int]:
    """What a table says of a model: sizes in tokens, and prices in USD per million tokens, as integers.

    Raises Misuse or Unknown, one line that names `place`.
    """
    found: dict[str, int] = {}
    for name, value in table.items():
        if name not in (*_SIZES, *_PRICES):
            raise Unknown(f"field of {place}", str(name)[:60], (*_SIZES, *_PRICES))
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _SIZES:
            least = 1 if name == "max_output" else SMALLEST
            if not isinstance(value, int) or not number or not least <= value <= LARGEST:
                raise Misuse(
                    f"{name} of {place} is {_shown(value)}; give a whole number of tokens from {least:,} to"
                    f" {LARGEST:,}"
                )
            found[name] = value
        else:
            if not number or not 0 <= value <= MILLION:
                raise Misuse(
                    f"{name} of {place} is {_shown(value)}; give USD per million tokens, from 0 to {MILLION:,}, as in"
                    f" {name} = 2.5"
                )
            found[name] = round(value * MILLION)
    return MappingProxyType(found)


def _shown(value: object) -> str:
    from ethang_nb.providers.endpoints.fields import shown  # which checks tables with `given`

    return shown(value)


def merged(said: Mapping[str, int], place: str, known: ModelFacts | None) -> ModelFacts | None:
    """`known` with what a person said put before it; None where neither says how large the window is."""
    prices = {name: said[name] for name in _PRICES if name in said}
    if known is None and "total" not in said:
        return None
    if "total" in said:
        total = said["total"]
        most = (
            known.max_output if known and known.max_output is not None and known.max_output < total else None
        )
        known = replace(
            known or ModelFacts(total=total, max_output=None, source=""),
            total=total,
            max_input=None,
            max_output=most,
            source=place,
            as_of="",
        )
    elif known is not None and said.keys() & set(_SIZES):
        known = replace(known, source=f"{place}; {known.source}")
    assert known is not None  # noqa: S101  the first lines say so; for the type checker
    sizes = {name: said[name] for name in ("max_input", "max_output") if name in said}
    known = replace(known, **sizes)  # type: ignore[arg-type]
    return replace(known, prices=replace(known.prices or Prices(), **prices)) if prices else known
