"""Policies as tables: a policy of one's own is one that ships, but for the knobs that a table names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels
from ethang_nb.errors import BadPolicy, Unknown

__all__ = ["BASE", "policy_from_table"]

BASE = "ethang"
"""The policy that one of one's own starts from unless its table names another."""


def policy_from_table(name: str, table: Mapping[str, Any], source: str = "ethang.toml") -> Policy:
    """The policy that a table `[policies.NAME]` says: the knobs of `base` ("ethang") but for those that it names.

    `levels` are [nudge, cleanup, landing] or a table of the three; a knob that a policy need not have, such as reseed,
    is turned off with false. `source` is the file, named in the policy's own line. Raises BadPolicy or
    Unknown with policy and field.
    """
    if name in POLICIES:
        raise BadPolicy(f"policy {name!r} ships with ethang_nb; give yours another name, and base = {name!r}")
    knobs = dict(table)
    base = knobs.pop("base", BASE)
    if base not in POLICIES:
        raise Unknown(f"base of policy {name!r}", str(base), POLICIES)
    for key, value in knobs.items():
        if key not in _KNOBS:
            raise Unknown(f"field of policy {name!r}", key, (*_KNOBS, "base"))
        knobs[key] = None if value is False and key in _OPTIONAL else _knob(name, key, value)
    knobs.setdefault("about", f"{source}: as {base}, with knobs of your own")
    try:
        return replace(POLICIES[base], **knobs, name=name)
    except Unknown as error:
        kind = error.kind if repr(name) in error.kind else f"{error.kind} of policy {name!r}"
        raise Unknown(kind, error.name, error.known) from None


_KNOBS = tuple(field.name for field in fields(Policy) if field.name != "name")
_OPTIONAL = tuple(field.name for field in fields(Policy) if field.default is None)


def _knob(name: str, key: str, value: Any) -> Any:
    """A value as the field of a policy holds it; whether it is in range says the policy."""
    match key:
        case "levels":
            return _levels(name, value)
        case "stages":
            if not isinstance(value, list) or not all(isinstance(stage, str) for stage in value):
                wanted = 'a list of names, as in ["collapse", "evict"]'
                raise BadPolicy(f"policy {name!r}: stages are {_short(value)}; give {wanted}")
            return tuple(value)
        case "about" if not isinstance(value, str):
            raise BadPolicy(f"policy {name!r}: about is {_short(value)}; give a text")
        case "nudge_once" if not isinstance(value, bool):
            raise BadPolicy(f"policy {name!r}: nudge_once is {_short(value)}; give true or false")
    return value


def _levels(name: str, given: Any) -> Levels:
    names = [field.name for field in fields(Levels)]
    if isinstance(given, Mapping):
        for key in given:
            if key not in names:
                raise Unknown(f"level of policy {name!r}", key, names)
        given = [given.get(key) for key in names]
    whole = isinstance(given, list) and all(type(level) is int for level in given)
    if not whole or len(given) != len(names):
        raise BadPolicy(
            f"policy {name!r}: levels are {_short(given)}; give nudge, cleanup and landing in per mille, as in"
            " levels = [700, 800, 400]"
        )
    return Levels(**dict(zip(names, given, strict=True)))


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
