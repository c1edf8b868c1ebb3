"""Lookup: the facts of a model behind an endpoint, from whoever is believed first.

A person's own table > the endpoint, where it serves the model itself > the snapshot > a host's own list > nothing. What
one source leaves open is filled from the next, and the source of the sizes says so.
"""

from __future__ import annotations

from dataclasses import replace

from ethang_nb.errors import Unknown
from ethang_nb.providers.endpoints import Tables
from ethang_nb.providers.model_ids import Named, named, near
from ethang_nb.providers.models import ModelFacts, given, merged, providers_of, recorded

__all__ = ["facts", "unknown"]


def facts(model: str, tables: Tables, forms: tuple[str, ...], *, live: bool) -> ModelFacts | None:
    """What is known of `provider/model`, of a provider we only have facts of, or of a bare name in the snapshot.

    Raises Unknown, which lists `forms`, for an id that names none of them; Misuse for a table that is wrong.
    """
    found = named(model, tables)
    if found is not None:
        return _of_endpoint(found, tables, live=live)
    head = model.partition("?")[0]
    provider, _, name = head.partition("/")
    known = recorded(provider, name) if name else None
    if known is None and (makers := providers_of(head)):
        known = recorded(makers[0], head)
        known = known and replace(known, source=f"{known.source}, as {makers[0]}/{head}")
    if known is None:
        raise unknown(model, tables, forms)
    return known


def unknown(model: str, tables: Tables, forms: tuple[str, ...]) -> Unknown:
    """The error for an id of no provider: with the id that was meant where that can be said, else with the forms."""
    head = model.partition("?")[0]
    known = (f"{provider}/{name}" for name in (head, head.lower()) for provider in providers_of(name))
    meant = next(known, "") or near(head, tables) or ""
    return Unknown("model", head if "/" in head else head.partition(":")[0], forms, meant=meant)


def _of_endpoint(found: Named, tables: Tables, *, live: bool) -> ModelFacts | None:
    endpoint = found.endpoint
    # Another server than the provider's own may serve anything under the same name.
    shipped = None if endpoint.moved else recorded(endpoint.provider, found.model)
    known = shipped
    if live and endpoint.live and (endpoint.live != "hosted" or shipped is None):
        known = _with(_ask(found), shipped)
    said = tables.get(endpoint.provider, {}).get("models", {}).get(found.model)
    if said is None:
        return known
    return merged(given(said, f"models.{found.id}"), f"your settings (models.{found.id})", known)


def _ask(found: Named) -> ModelFacts | None:
    from ethang_nb.providers.live_facts import ask

    return ask(found.endpoint, found.model)


def _with(live: ModelFacts | None, shipped: ModelFacts | None) -> ModelFacts | None:
    """What the endpoint says, and from the snapshot what it leaves open; the source says where it did not answer."""
    if shipped is None:
        return live
    if live is None:
        return replace(shipped, source=f"{shipped.source}; the server itself did not say")
    most = live.max_output or shipped.max_output
    return replace(
        live,
        max_output=most if most is not None and most < live.total else None,
        prices=live.prices or shipped.prices,
        flags=shipped.flags,
        cached_from=shipped.cached_from,
    )
