"""Schemas: JSON schemas brought into the shape that providers take.

Nothing is made stricter for a tool's arguments: whoever runs the tool checks them against the whole schema.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["PlainObject", "closed", "is_strict", "plain_object"]

_MANY = ("allOf", "anyOf", "oneOf")
_REFUSED = (*_MANY, "enum", "not")  # at the top of a tool's schema, with 400
_DEEPEST = 60  # ► levels that are looked at


class PlainObject(NamedTuple):
    """A tool's schema as the APIs take it, and the keywords that had to go from its top."""

    schema: dict[str, Any]
    dropped: tuple[str, ...]


def plain_object(parameters: Mapping[str, Any]) -> PlainObject:
    """A schema of type object with properties. Those of the alternatives that cannot stand at the top are kept."""
    schema: dict[str, Any] = copy.deepcopy(dict(parameters))
    dropped = tuple(name for name in _REFUSED if name in schema)
    found: dict[str, Any] = {}
    for name in _MANY:
        for variant in schema.get(name) or ():
            if isinstance(variant, Mapping) and isinstance(variant.get("properties"), Mapping):
                found |= variant["properties"]
    own = schema.get("properties")
    properties = found | (own if isinstance(own, dict) else {})
    rest = {name: value for name, value in schema.items() if name not in _REFUSED}
    return PlainObject(rest | {"type": "object", "properties": properties}, dropped)


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which no object takes a property that it does not name, which Anthropic demands of an answer's."""
    found: dict[str, Any] = _closed(copy.deepcopy(dict(schema)), _DEEPEST)
    return found


def _closed(value: Any, depth: int) -> Any:
    if depth == 0:
        return value
    if isinstance(value, list):
        return [_closed(item, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    done = {key: value[key] if key in ("enum", "const") else _closed(value[key], depth - 1) for key in value}
    if _is_object(value):
        done["additionalProperties"] = False
    return done


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode takes it: each object is closed and requires all of its properties."""
    return _is_object(schema) and _strict(schema, _DEEPEST)


def _strict(value: Any, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, list):
        return all(_strict(item, depth - 1) for item in value)
    if not isinstance(value, Mapping):
        return True
    if _is_object(value):
        properties = value.get("properties")
        names = set(properties) if isinstance(properties, Mapping) else set()
        required = value.get("required")
        if value.get("additionalProperties") is not False or set(required or ()) != names:
            return False
    return all(_strict(inner, depth - 1) for key, inner in value.items() if key not in ("enum", "const"))


def _is_object(value: Mapping[str, Any]) -> bool:
    """Whether a schema is one of an object; a property that is called `type` makes none."""
    kind = value.get("type")
    return "object" in kind if isinstance(kind, list) else kind == "object"
