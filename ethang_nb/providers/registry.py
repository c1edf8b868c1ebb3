"""Providers by model id, and what is known of a model before it is asked anything.

A provider is one line here; its module is loaded when a model of it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ethang_nb.errors import Misuse, Unknown
from ethang_nb.providers.protocol import Provider

__all__ = ["ModelFacts", "facts", "models", "provider"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Sizes in tokens, and where they come from; `max_input` is None where only the window limits a request."""

    total: int
    max_output: int
    source: str
    max_input: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """How ids of a provider look, how one is made, and its facts where they are the same for all its models."""

    form: str
    make: Callable[[str], Provider]
    facts: ModelFacts | None = None


_STAND_IN = ModelFacts(total=8_000, max_output=4_000, source="stand-in default")  # ► no window of their own


def _reader(model: str) -> Provider:
    from ethang_nb.providers.reader import Reader

    if model.partition("?")[0] != "reader":
        raise Misuse(f"model {model!r}: the reader takes no name after ':'; its options stand after '?'")
    return Reader(model)


def _script(model: str) -> Provider:
    from ethang_nb.providers.script import Script

    path = model.partition(":")[2]
    if not path:
        raise Misuse(f"model {model!r} names no file; give its path, as in script:turns.yaml")
    return Script.load(path)


_PROVIDERS: Mapping[str, _Entry] = MappingProxyType(
    {
        "reader": _Entry(form="reader", make=_reader, facts=_STAND_IN),
        "script": _Entry(form="script:PATH.yaml", make=_script, facts=_STAND_IN),
    }
)


def provider(model: str) -> Provider:
    """The provider of a model id such as `reader?follow=no` or `script:turns.yaml`.

    Raises Unknown for an id of no provider (naming the nearest word) and for an option nobody knows, Misuse
    for a bad value or a bad script, PathRefused for a script that cannot be read.
    """
    return _entry(model).make(model)


def facts(model: str) -> ModelFacts | None:
    """What is known of the model's window; None: the window must be given. Raises Unknown as `provider` does."""
    return _entry(model).facts


def models() -> tuple[str, ...]:
    """How the known model ids look, for help and completion."""
    return tuple(entry.form for entry in _PROVIDERS.values())


def _entry(model: str) -> _Entry:
    name = model.partition(":")[0].partition("?")[0]
    if name not in _PROVIDERS:
        raise Unknown("model", name, models())
    return _PROVIDERS[name]
