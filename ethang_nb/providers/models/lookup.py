"""Lookup: the facts of a model behind an endpoint, from whoever is believed first.

A person's own table > the endpoint, where it serves the model itself > the snapshot > a host's own list > nothing. What
one source leaves open is filled from the next, and the source of the sizes says so.

A provider that was moved to another address is known by the snapshot, too: most who move one have a proxy in front of
it. Such an address may serve anything under the same name, so it is asked first, and where it says another size than
the snapshot does it is another model, of which nothing else is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn
from urllib.parse import urlsplit

from ethang_nb.errors import BadWindow, Unknown, nearest_few
from ethang_nb.providers.endpoints.model_ids import Named, named, near
from ethang_nb.providers.endpoints.table import Tables
from ethang_nb.providers.models.facts import ModelFacts, given, listed, merged, providers_of, recorded
from ethang_nb.providers.models.silence import Silence

__all__ = ["advice", "facts", "near_names", "unknown"]

NEAR = 3  # ► names that are offered where one has a slip


def facts(model: str, tables: Tables, forms: tuple[str, ...], *, live: bool) -> ModelFacts | None:
    """What is known of `provider/model`, of a provider we only have facts of, or of a bare name in the snapshot.

    Raises Unknown, which lists `forms`, for an id that names none of them; Misuse for a table that is wrong; BadWindow
    with the cause where only the endpoint could have said how large the window is, was asked, and did not.
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
    meant = _of_somebody(head) or near(head, tables) or _of_somebody(head.lower())
    return Unknown("model", head if "/" in head else head.partition(":")[0], forms, meant=meant)


def _of_somebody(name: str) -> str:
    """The id of the first provider in the snapshot that has a model of that name; "": none has."""
    return next((f"{provider}/{name}" for provider in providers_of(name)), "")


def near_names(provider: str, name: str) -> tuple[str, ...]:
    """A provider's models in the snapshot that may be meant by a name with a slip, the likeliest first.

    Those are the one that the name begins with, those that begin with it, and those that are spelt nearly so.
    """
    names = listed(provider)
    if not name or name in names:
        return ()
    base = max((known for known in names if name.startswith(f"{known}-")), key=len, default=None)
    longer = [known for known in names if known.startswith(f"{name}-")]
    close = nearest_few(name, names, NEAR)
    return tuple(dict.fromkeys([*([base] if base else []), *longer, *close]))[:NEAR]


def advice(model: str) -> str:
    """What to do where a model's window is unknown: the ids that may have been meant, and where a size can stand."""
    head = model.partition("?")[0]
    provider, _, name = head.partition("/")
    *others, last = [f"{provider}/{close}" for close in near_names(provider, name)] or [""]
    meant = f"did you mean {', '.join(others)}{' or ' if others else ''}{last}? else " if last else ""
    return f'{meant}give a number of tokens, or in ethang.toml [models."{head[:80]}"] total = 32768'


def _of_endpoint(found: Named, tables: Tables, *, live: bool) -> ModelFacts | None:
    endpoint, silence = found.endpoint, None
    shipped = recorded(endpoint.provider, found.model)
    if shipped is not None and endpoint.moved:
        shipped = replace(shipped, source=f"{shipped.source}, for {endpoint.provider}'s own address")
    known = shipped
    if live and endpoint.live and (endpoint.live != "hosted" or shipped is None):
        try:
            known = _with(_ask(found), shipped, moved=endpoint.moved)
        except Silence as error:
            silence = error
            known = shipped and replace(shipped, source=f"{shipped.source}; {_unsaid(found)}")
    elif known is not None and endpoint.moved:
        known = replace(known, source=f"{known.source}; another one is asked")
    said = tables.get(endpoint.provider, {}).get("models", {}).get(found.model)
    if said is not None:
        known = merged(given(said, f"models.{found.id}"), f"your settings (models.{found.id})", known)
    if known is None and silence is not None:
        _refuse(found, silence)
    return known


def _unsaid(found: Named) -> str:
    endpoint = found.endpoint
    return f"{urlsplit(endpoint.base_url).netloc if endpoint.moved else 'the server'} itself did not say"


def _refuse(found: Named, silence: Silence) -> NoReturn:
    text = f"the window of model {found.id[:80]!r} is unknown: {silence}; or {advice(found.id)}"
    raise BadWindow(text) from None


def _ask(found: Named) -> ModelFacts:
    from ethang_nb.providers.models.live import ask

    return ask(found.endpoint, found.model)


def _with(live: ModelFacts, shipped: ModelFacts | None, *, moved: bool) -> ModelFacts:
    """What the endpoint says, and from the snapshot what it leaves open."""
    if shipped is None or (moved and live.total not in {shipped.total, shipped.max_input}):
        return live
    most = live.max_output or shipped.max_output
    return replace(
        live,
        max_output=most if most is not None and most < live.total else None,
        prices=live.prices or shipped.prices,
        flags=shipped.flags,
        cached_from=shipped.cached_from,
    )
