"""Options of a model id, as in `reader?follow=no&nudge=ignore`."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from ethang_nb.errors import Misuse, Unknown

__all__ = ["options", "pairs"]


def options(model: str, known: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The value of each known option, the first where the id names none.

    Raises Unknown for an option nobody knows, Misuse for a value that is not one of those allowed, and for an option
    that stands there twice.
    """
    chosen = {name: values[0] for name, values in known.items()}
    base = model.partition("?")[0]
    for name, value in pairs(model).items():
        if name not in known:
            raise Unknown(f"option of {base}", name, known)
        if value not in known[name]:
            raise Misuse(f"option {name}={value!r} of {base}: allowed are {', '.join(known[name])}")
        chosen[name] = value
    return chosen


def pairs(model: str) -> dict[str, str]:
    """The options of an id as they stand there, `%26` and the like decoded. Raises Misuse for one that stands twice."""
    base, _, query = model.partition("?")
    found: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        name = unquote(name)
        if _key(name) in map(_key, found):
            from ethang_nb.providers.endpoints.fields import hidden  # for this line only

            provider = base.partition("/")[0]
            raise Misuse(f"option {hidden(name)!r} of {hidden(provider)} stands there twice; name it once")
        found[name] = unquote(value)
    return found


def _key(name: str) -> str:
    """What makes two names one: the case of a header's name says nothing."""
    return name.lower() if name.startswith("header.") else name
