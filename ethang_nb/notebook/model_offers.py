"""What a model id that has begun may become: kinds of ids, models, paths of model files, options and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ethang_nb.config import Tables
from ethang_nb.providers.endpoints.fields import OPTIONS
from ethang_nb.providers.endpoints.table import ENDPOINTS, WIRES
from ethang_nb.providers.llamacpp import options as llama_options
from ethang_nb.providers.models.facts import listed
from ethang_nb.providers.offline import reader
from ethang_nb.providers.registry import models

__all__ = ["files", "model_ids"]

_MOST_FILES = 200  # ► names offered for a path
_PATHS = {"llamacpp/": (".gguf",), "script:": (".yaml", ".yml")}
"""Kinds of ids that name a file, and how such files end."""


def model_ids(word: str, tables: Tables) -> Iterable[str]:
    """The ids and beginnings of ids that `word` may become. Nothing is asked and no file is read."""
    base, mark, query = word.partition("?")
    if mark:
        return _options(base, query, tables)
    for kind, suffixes in _PATHS.items():
        if word.startswith(kind):
            return tuple(kind + path for path in files(word.removeprefix(kind), suffixes))
    provider, stroke, _ = word.partition("/")
    if stroke:
        named = (*tables.get(provider, {}).get("models", ()), *listed(provider))
        return tuple(f"{provider}/{name}" for name in dict.fromkeys(named))
    forms = (*models(), *(f"{name}/MODEL" for name in tables))
    return tuple(dict.fromkeys(_begun(form) for form in forms))


def files(word: str, suffixes: Sequence[str] = ()) -> list[str]:
    """The paths that `word` may become: folders, and the files that end as they should; without a word of that all."""
    folder, _, begun = word.rpartition("/")
    start = f"{folder}/" if folder or word.startswith("/") else ""
    try:
        items = sorted(Path(start or ".").expanduser().iterdir())
        found = [(item, item.is_dir()) for item in items if item.name.startswith(begun)]
    except (OSError, RuntimeError):  # no such folder, or a ~ of nobody
        return []
    fitting = [
        f"{start}{item.name}{'/' if folder else ''}"
        for item, folder in found
        if folder or not suffixes or item.name.lower().endswith(tuple(suffixes))
    ]
    return fitting[:_MOST_FILES]


def _begun(form: str) -> str:
    """The part of a form such as `llamacpp/PATH.gguf` that is typed as it stands."""
    return form.removesuffix("MODEL").removesuffix("PATH.gguf").removesuffix("PATH.yaml")


def _options(base: str, query: str, tables: Tables) -> tuple[str, ...]:
    """The options that an id may take and has not yet, or the values of the one that stands last."""
    known = _known(base, tables)
    done, mark, last = query.rpartition("&")
    before = f"{base}?{done}{mark}"
    name, equals, value = last.partition("=")
    if equals:
        values = files(value) if name == "template" else known.get(name, ())
        return tuple(f"{before}{name}={each}" for each in values)
    taken = {pair.partition("=")[0] for pair in done.split("&")}
    return tuple(
        f"{before}{each}" if each.endswith(".") else f"{before}{each}=" for each in known if each not in taken
    )


def _known(base: str, tables: Tables) -> Mapping[str, Sequence[str]]:
    """The options of such an id, those that take a name up to their dot, each with its values where they are few."""
    provider, stroke, _ = base.partition("/")
    if base == "reader":
        return reader.OPTIONS
    if base.startswith("llamacpp/"):
        return dict.fromkeys(llama_options.OPTIONS, ()) | {"wire": WIRES}
    if stroke and (provider in ENDPOINTS or provider in tables):
        return dict.fromkeys((name.removesuffix("NAME") for name in OPTIONS), ()) | {"wire": WIRES}
    return {}
