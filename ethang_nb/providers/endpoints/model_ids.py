"""Model ids: which endpoint a model id means, its options and a project's tables considered, and what is refused.

A key never stands in an id or a table: both are recorded, shown and shared. A provider that is moved to another address
gets no key, and no header that holds a variable, but those named together with that address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit

from ethang_nb.errors import Misuse, Unknown, nearest
from ethang_nb.providers.endpoints.fields import CHECKS, OPTIONS, RESERVED, check_fields, hidden
from ethang_nb.providers.endpoints.table import BEARER, ENDPOINTS, Endpoint, Tables
from ethang_nb.providers.models.quirks import wire_of
from ethang_nb.providers.options import pairs

__all__ = ["Named", "check_tables", "named", "near", "own_row"]

_GROUPS = {"header": "headers", "query": "query", "quirk": "quirks"}
"""What stands before the dot of an option, and the field of a table that it is."""
_NO_TABLES: Tables = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What an id names: `id` is `provider/model` without options, `model` the name that goes over the wire."""

    id: str
    model: str
    endpoint: Endpoint


def named(model: str, tables: Tables = _NO_TABLES) -> Named | None:
    """What a model id means; None for one that names no endpoint's provider.

    Raises Misuse or Unknown for an option, a table or a name that cannot be right. Reads no variable.
    """
    check_tables(tables)
    head, _, _ = model.partition("?")
    provider, slash, name = head.partition("/")
    if not slash or (provider not in ENDPOINTS and provider not in tables) or provider in RESERVED:
        return None
    if not name.strip() or not name.isprintable() or name != name.strip():
        raise Misuse(
            f"model {hidden(head)!r} names no model; give its name behind the stroke, as in {provider}/NAME"
        )
    row = own_row(provider, tables)
    return Named(id=head, model=name, endpoint=_dated(_with_options(row, pairs(model)), name))


def own_row(provider: str, tables: Tables) -> Endpoint:
    """The provider's row as a table of the same name has changed it. Raises Misuse or Unknown."""
    table = tables.get(provider, {})
    place = f"providers.{provider}"
    check_fields(provider, table, place)
    row = ENDPOINTS.get(provider)
    if row is None:
        if "base_url" not in table:
            raise Misuse(
                f'{place} has no base_url; give the address, as in base_url = "http://127.0.0.1:8000/v1"'
            )
        row = Endpoint(provider=provider, base_url="", own=True)
    return _changed(row, table, place)


def check_tables(tables: Tables) -> None:
    """Raises Misuse or Unknown, one line, for a table that no provider can be made of."""
    for provider in tables:
        own_row(provider, tables)


def _with_options(row: Endpoint, given: Mapping[str, str]) -> Endpoint:
    table: dict[str, Any] = {field: {} for field in _GROUPS.values()}
    for name, value in given.items():
        group, dot, rest = name.partition(".")
        if dot and rest and group in _GROUPS:
            table[_GROUPS[group]][rest] = value
        elif name in OPTIONS:
            table[name] = value
        else:
            raise Unknown(f"option of {row.provider}", hidden(name), OPTIONS)
    return _changed(row, table, row.provider)


def _dated(row: Endpoint, model: str) -> Endpoint:
    """Azure's dated versions have an address for each deployment, and know Chat Completions only."""
    if not row.versioned_url or not row.query.get("api-version", "")[:1].isdigit():
        return row
    if wire_of(row, model) != "chat":
        return row
    return replace(row, base_url=row.versioned_url.replace("{model}", quote(model, safe="")))


def _changed(row: Endpoint, table: Mapping[str, Any], place: str) -> Endpoint:
    """`row` with what a table or the options of an id say."""
    said = {name: CHECKS[name](value, place) for name, value in table.items() if name in CHECKS}
    if "base_url" in said:
        row = _moved(row, said["base_url"])
    if "key" in said:
        row = replace(row, key=said["key"], key_needed=True, withheld="")
    row = replace(
        row,
        wire=said.get("wire", row.wire),
        headers=MappingProxyType({**row.headers, **said.get("headers", {})}),
        query=MappingProxyType({**row.query, **said.get("query", {})}),
        quirks=MappingProxyType({**row.quirks, **said.get("quirks", {})}),
    )
    if row.own or (row.moved and row.provider != "azure") or row.provider == "anthropic":
        header, form = ("x-api-key", "{}") if row.wire == "anthropic" else ("authorization", BEARER)
        row = replace(row, key_header=header, key_form=form)
    bare = "${" not in row.base_url and not urlsplit(row.base_url).path.strip("/")
    if row.wire == "anthropic" and bare:  # Anthropic's own clients take the address without /v1
        row = replace(row, base_url=f"{row.base_url.rstrip('/')}/v1")
    return row


def _moved(row: Endpoint, base_url: str) -> Endpoint:
    """`row` at somebody else's host: what was meant for its own stays behind."""
    return replace(
        row,
        base_url=base_url,
        key="",
        key_needed=False,
        withheld=row.key or row.withheld,
        headers={name: value for name, value in row.headers.items() if "${" not in value},
        versioned_url="",
        moved=bool(row.base_url),
        wire=row.wire or "chat",
        live="models" if row.live in {"", "hosted"} else row.live,
    )


def near(head: str, tables: Tables) -> str | None:
    """The id that was meant where only the provider's name, or the mark behind it, has a slip; None: nobody can say."""
    provider, name = next((head.split(mark, 1) for mark in "/:" if mark in head), ("", ""))
    close = nearest(provider, (*ENDPOINTS, *tables)) if name else None
    return f"{close}/{name}" if close else None
