"""Providers by model id, and what is known of a model before it is asked anything.

A provider is one line here or one row of `endpoints`; its module is loaded when a model of it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ethang_nb.errors import Misuse
from ethang_nb.providers.models.facts import ModelFacts
from ethang_nb.providers.protocol import Provider

if TYPE_CHECKING:
    from ethang_nb.providers.endpoints.model_ids import Named
    from ethang_nb.providers.endpoints.table import Tables
    from ethang_nb.providers.line import Line

__all__ = ["Around", "check", "facts", "models", "preflight", "provider"]

Around = Callable[[Callable[[], "Line"]], "Line"]
"""Puts something, such as a cassette, around the line to a provider; it is handed what makes that line."""

_NO_TABLES: Tables = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """How ids of a provider look, how one is made, and its facts where they are the same for all its models.

    `mark` stands in an id between the provider's name and what follows it.
    """

    form: str
    mark: str = ":"
    make: Callable[[str, Around | None], Provider]
    check: Callable[[str], None]
    facts: Callable[[str, bool], ModelFacts | None]


_STAND_IN = ModelFacts(total=8_000, max_output=4_000, source="stand-in default")  # ► no window of their own


def _stand_in(_: str, __: bool) -> ModelFacts:
    return _STAND_IN


def _check_reader(model: str) -> None:
    from ethang_nb.providers.offline.reader import Reader

    if model.partition("?")[0] != "reader":
        raise Misuse(f"model {model!r}: the reader takes no name after ':'; its options stand after '?'")
    Reader(model)


def _reader(model: str, _: Around | None) -> Provider:
    from ethang_nb.providers.offline.reader import Reader

    _check_reader(model)
    return Reader(model)


def _check_script(model: str) -> None:
    if not model.partition(":")[2]:
        raise Misuse(f"model {model!r} names no file; give its path, as in script:turns.yaml")


def _script(model: str, _: Around | None) -> Provider:
    from ethang_nb.providers.offline.script import Script

    _check_script(model)
    return Script.load(model.partition(":")[2])


def _check_llamacpp(model: str) -> None:
    from ethang_nb.providers.llamacpp.options import wanted

    wanted(model)


def _llamacpp(model: str, around: Around | None) -> Provider:
    from ethang_nb.providers.llamacpp.provider import LlamaCpp

    return LlamaCpp(model, around=around)


def _llamacpp_facts(model: str, live: bool) -> ModelFacts | None:
    if not live:
        return None
    from ethang_nb.providers.llamacpp import provider as llamacpp

    return llamacpp.facts(model)


_PROVIDERS: Mapping[str, _Entry] = MappingProxyType(
    {
        "reader": _Entry(form="reader", make=_reader, check=_check_reader, facts=_stand_in),
        "script": _Entry(form="script:PATH.yaml", make=_script, check=_check_script, facts=_stand_in),
        "llamacpp": _Entry(
            form="llamacpp/PATH.gguf", mark="/", make=_llamacpp, check=_check_llamacpp, facts=_llamacpp_facts
        ),
    }
)


def provider(model: str, *, tables: Tables = _NO_TABLES, around: Around | None = None) -> Provider:
    """The provider of a model id such as `reader?follow=no`, `script:turns.yaml` or `openai/gpt-5`.

    Raises Unknown for an id of no provider (naming the nearest word) and for an option nobody knows, Misuse
    for a bad value or a bad script, PathRefused for a script that cannot be read. Opens no connection and reads no key.
    """
    entry = _entry(model)
    if entry is not None:
        return entry.make(model, around)
    return _remote(model, _named(model, tables), around)


def check(model: str, *, tables: Tables = _NO_TABLES) -> None:
    """Raises Unknown or Misuse for an id, or tables, that no provider can be made of.

    Touches no network and reads no key.
    """
    entry = _entry(model)
    if entry is not None:
        entry.check(model)
        if tables:
            from ethang_nb.providers.endpoints.model_ids import check_tables

            check_tables(tables)
    else:
        _named(model, tables)


def preflight(model: str, *, tables: Tables = _NO_TABLES) -> None:
    """Raises KeyMissing where a model needs a variable that is not set. Raises as `check` does."""
    from ethang_nb.providers.endpoints import credentials

    if _entry(model) is None:
        credentials.require(_named(model, tables).endpoint)


def facts(model: str, *, tables: Tables = _NO_TABLES, live: bool = True) -> ModelFacts | None:
    """What is known of a model: what the tables say, else its endpoint (asked only if `live`), else the snapshot.

    None: nothing, so the window must be given. A name without its provider is looked up in the snapshot. Raises Unknown
    and Misuse as `provider` does, and BadWindow with the cause where an endpoint was asked and only it could have said.
    """
    entry = _entry(model)
    if entry is not None:
        if model not in _PROVIDERS:  # a bare name has nothing to check, nor is what it names worth loading
            entry.check(model)
        return entry.facts(model, live)
    from ethang_nb.providers.models import lookup

    return lookup.facts(model, tables, models(), live=live)


def models() -> tuple[str, ...]:
    """How the known model ids look, for help and completion."""
    from ethang_nb.providers.endpoints.table import ENDPOINTS

    return (*(entry.form for entry in _PROVIDERS.values()), *(f"{name}/MODEL" for name in ENDPOINTS))


def _entry(model: str) -> _Entry | None:
    """The provider that is no endpoint; None where the id does not begin with the name of one."""
    head = model.partition("?")[0]
    return next((entry for name, entry in _PROVIDERS.items() if name == head.partition(entry.mark)[0]), None)


def _named(model: str, tables: Tables) -> Named:
    from ethang_nb.providers.endpoints.model_ids import named

    found = named(model, tables)
    if found is None:
        from ethang_nb.providers.models.lookup import unknown

        raise unknown(model, tables, models())
    return found


def _remote(model: str, named: Named, around: Around | None) -> Provider:
    from ethang_nb.providers.endpoints import credentials
    from ethang_nb.providers.models.quirks import quirks_of, wire_of
    from ethang_nb.providers.remote import Remote
    from ethang_nb.providers.wires.by_name import wire

    endpoint = named.endpoint
    credentials.watch(endpoint)

    def line() -> Line:
        from ethang_nb.providers.http.line import HttpLine

        return HttpLine(
            lambda: credentials.address(endpoint),
            headers=lambda: credentials.headers(endpoint),
            query=endpoint.query,
        )

    return Remote(
        model=model,
        source=named.id,
        name=named.model,
        label=f"{named.id} at {endpoint.base_url}" if endpoint.moved else named.id,
        wire=wire(wire_of(endpoint, named.model), quirks_of(endpoint, named.model)),
        line=around(line) if around else line(),
        key=endpoint.key,
        keyless="" if endpoint.key else credentials.about_key(endpoint),
    )
