"""Models: what %ethang models says: where models are reached, whether a key is there, and what is known of one.

A key is never shown, only whether its variable is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ethang_nb.config import Tables
from ethang_nb.errors import BadWindow
from ethang_nb.notebook.outputs import Rows
from ethang_nb.providers.endpoints.credentials import missing, present, withheld
from ethang_nb.providers.endpoints.model_ids import Named, named, own_row
from ethang_nb.providers.endpoints.table import ENDPOINTS, Endpoint
from ethang_nb.providers.models.facts import ModelFacts, Prices
from ethang_nb.providers.models.live import forget
from ethang_nb.providers.models.quirks import PLAIN, Quirks, quirks_of, wire_of
from ethang_nb.providers.registry import facts, models

__all__ = ["known", "listed"]

WIRES: Mapping[str, str] = {
    "chat": "Chat Completions",
    "responses": "Responses",
    "anthropic": "Messages",
    "": "Responses for models that reason, else Chat Completions",
}


def listed(tables: Tables) -> Rows:
    """Every kind of model id, and what it takes to ask such a model."""
    endpoints = {f"{name}/MODEL": own_row(name, tables) for name in dict.fromkeys((*ENDPOINTS, *tables))}
    own = {form: _stand_in(form) for form in models() if form not in endpoints}
    return Rows(
        title="Models",
        rows=(*own.items(), *((form, _reached(row)) for form, row in endpoints.items())),
        notes=("%ethang models PROVIDER/MODEL says what is known of one model.",),
    )


def known(model: str, tables: Tables) -> Rows:
    """What is known of one model, each size and price with its source; its server is asked anew.

    Raises Unknown, Misuse.
    """
    forget()
    place = named(model, tables)
    try:
        sizes = list(_sizes(facts(model, tables=tables)))
    except BadWindow as unknown:  # the cause is what is asked for here
        sizes = [("window", str(unknown))]
    rows = [*sizes, *(_endpoint(place) if place else ())]
    return Rows(title=f"Model {model.partition('?')[0]}", rows=rows)


def _stand_in(form: str) -> str:
    found = facts(form, live=False)
    if found is None:
        return "answers here, on this machine; its window is the one it is started with"
    return f"{found.total:,} tokens unless --window says otherwise ({found.source})"


def _reached(row: Endpoint) -> str:
    return f"{row.base_url} · {_key(row)}"


def _key(row: Endpoint) -> str:
    if not row.key:
        name = missing(row)
        return f"needs {name}, which is not set" if name else withheld(row) or "no key"
    state = "is set" if present(row.key) else "is not set" if row.key_needed else "is not set, nor needed"
    return f"key: {row.key} {state}"


def _endpoint(found: Named) -> Iterator[tuple[str, str]]:
    row = found.endpoint
    yield "address", row.base_url
    yield "key", _key(row)
    yield "wire format", WIRES[wire_of(row, found.model)]
    if row.quirks:
        yield "said to differ", ", ".join(f"{name} = {_word(value)}" for name, value in row.quirks.items())
    if differs := _differs(quirks_of(row, found.model)):
        yield "differs", ", ".join(differs)


def _word(value: bool | str) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"


def _sizes(found: ModelFacts | None) -> Iterator[tuple[str, str]]:
    if found is None:
        yield "window", "unknown; give --window"
        return
    yield "window", f"{found.total:,} tokens"
    if found.max_input is not None:
        yield "max input", f"{found.max_input:,} tokens"
    yield "max output", "unknown" if found.max_output is None else f"{found.max_output:,} tokens"
    yield "prices", "unknown" if found.prices is None else _prices(found.prices)
    yield "source", found.source


def _prices(prices: Prices) -> str:
    said = {
        "input": prices.input,
        "output": prices.output,
        "read from the cache": prices.read,
        "written to the cache": prices.write,
    }
    return "USD per million tokens: " + ", ".join(
        f"{name} {price / 1_000_000:g}" for name, price in said.items() if price is not None
    )


def _differs(quirks: Quirks) -> list[str]:
    says = {
        "no temperature, top_p or top_k": not quirks.sampling,
        "no forced tool call": not quirks.forced_tools,
        "no answer begun for it": not quirks.prefill,
        "no tools": not quirks.tools,
        "no images": not quirks.images,
        "no JSON schema": not quirks.schema,
        f"a prefix is cached from {quirks.cached_from:,} tokens on": quirks.cached_from != PLAIN.cached_from,
    }
    return [words for words, holds in says.items() if holds]
