"""Models: what %ethang models says: where models are reached, whether a key is there, and what is known of one.

A key is never shown, only whether its variable is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from ethang_nb.config import Tables
from ethang_nb.errors import BadWindow
from ethang_nb.notebook.outputs import Rows
from ethang_nb.providers.endpoints.credentials import missing, present, readable, withheld
from ethang_nb.providers.endpoints.model_ids import Named, named, own_row
from ethang_nb.providers.endpoints.table import ENDPOINTS, Endpoint, WireName
from ethang_nb.providers.models.facts import ModelFacts, Prices, providers_of
from ethang_nb.providers.models.live import forget
from ethang_nb.providers.models.lookup import near_names
from ethang_nb.providers.models.quirks import PLAIN, Quirks, quirks_of, wire_of
from ethang_nb.providers.registry import facts, models

__all__ = ["known", "listed"]

APIS: Mapping[WireName, str] = {
    "chat": "Chat Completions, as OpenAI's",
    "responses": "Responses, as OpenAI's",
    "anthropic": "Messages, as Anthropic's",
}
LOCAL = "llamacpp"


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
        found = facts(model, tables=tables)
        sizes = [*_sizes(found), *_name(model, place, known=found is not None)]
    except BadWindow as unknown:  # the cause is what is asked for here
        sizes = [("window", str(unknown))]
    rows = [*sizes, *(_endpoint(place) if place else ())]
    return Rows(title=f"Model {model.partition('?')[0]}", rows=rows)


def _stand_in(form: str) -> str:
    if form.startswith(LOCAL):
        there = find_spec("xllamacpp") is not None
        state = "is installed" if there else "is not installed: pip install 'ethang_nb[local]'"
        return f"runs on this machine, in the notebook's kernel · llama.cpp {state}"
    found = facts(form, live=False)
    assert found is not None  # noqa: S101  stand-ins have a window without asking anybody
    return f"{found.total:,} tokens unless --window says otherwise ({found.source})"


def _name(model: str, place: Named | None, *, known: bool) -> Iterator[tuple[str, str]]:
    """What to write instead, where a cell could not take the id as it stands, or where it may have a slip."""
    head = model.partition("?")[0]
    provider, stroke, name = head.partition("/")
    if place is not None:
        near = () if known else near_names(provider, place.model)
        if near:
            yield "did you mean", ", ".join(f"{provider}/{each}" for each in near)
    elif known and not stroke and (makers := providers_of(head)):
        reached = [f"--model {each}/{head}" for each in makers if each in ENDPOINTS]
        yield "in a cell", " or ".join(reached) or _unreached(makers[0])
    elif known and name and provider != LOCAL:
        yield "in a cell", _unreached(provider)


def _unreached(provider: str) -> str:
    return f"only where ethang.toml says where {provider} is reached: [providers.{provider}] base_url = …"


def _reached(row: Endpoint) -> str:
    key = _key(row)
    return f"{readable(row)} · {f'key: {key}' if row.key else key}"


def _key(row: Endpoint) -> str:
    if not row.key:
        name = missing(row)
        return f"needs {name}, which is not set" if name else withheld(row) or "no key"
    state = "is set" if present(row.key) else "is not set" if row.key_needed else "is not set, nor needed"
    return f"{row.key} {state}"


def _endpoint(found: Named) -> Iterator[tuple[str, str]]:
    row = found.endpoint
    yield "address", readable(row)
    yield "key", _key(row)
    yield "API", APIS[wire_of(row, found.model)]
    if row.quirks:
        yield "your settings", ", ".join(f"{name} = {_word(value)}" for name, value in row.quirks.items())
    quirks = quirks_of(row, found.model)
    if refused := _refused(quirks):
        yield "does not take", ", ".join(refused)
    if quirks.cached_from != PLAIN.cached_from:
        yield "cache", f"holds beginnings of requests from {quirks.cached_from:,} tokens on"


def _word(value: bool | str) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"


def _sizes(found: ModelFacts | None) -> Iterator[tuple[str, str]]:
    if found is None:
        yield "window", "unknown: it is in no list here; give its size with --window"
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


def _refused(quirks: Quirks) -> list[str]:
    takes = {
        "temperature, top_p, top_k": quirks.sampling,
        "a tool call that is forced": quirks.forced_tools,
        "an answer that is begun for it": quirks.prefill,
        "tools": quirks.tools,
        "images": quirks.images,
        "a JSON schema for its answer": quirks.schema,
    }
    return [words for words, taken in takes.items() if not taken]
