"""Options of a model id, as in `reader?follow=no&nudge=ignore`."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from ethang_nb.errors import Misuse, Unknown

__all__ = ["options", "pairs"]


def options(model: str, known: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The value of each known option, the first where the id names none.

    Raises Unknown for an option nobody knows, Misuse for a value that is not one of those allowed.
    """
    chosen = {name: values[0] for name, values in known.items()}
    base, _, query = model.partition("?")
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        if name not in known:
            raise Unknown(f"option of {base}", name, known)
        if value not in known[name]:
            raise Misuse(f"option {name}={value!r} of {base}: allowed are {', '.join(known[name])}")
        chosen[name] = value
    return chosen


def pairs(model: str) -> dict[str, str]:
    """The options of an id as they stand there, `%26` and the like decoded; the last of one name counts."""
    _, _, query = model.partition("?")
    found = (pair.partition("=") for pair in query.split("&") if pair)
    return {unquote(name): unquote(value) for name, _, value in found}
