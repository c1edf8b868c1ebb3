"""Credentials: read from the environment at the moment of sending, written nowhere, masked where a text may hold one.

Nothing else in this package reads a key. Settings and model ids carry names of variables, never what is in them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus, urlsplit

from ethang_nb.errors import KeyMissing, Misuse
from ethang_nb.providers.endpoints.fields import check_url
from ethang_nb.providers.endpoints.table import ENDPOINTS, Endpoint

__all__ = [
    "about_key",
    "address",
    "headers",
    "hide",
    "mask",
    "missing",
    "present",
    "readable",
    "require",
    "watch",
    "withheld",
]

SHORTEST = 8  # ► characters; what a local server takes for a key ("ollama") is a word, and words stay
WORDS = ("lm-studio", "no-key-required", "not-needed", "sk-no-key-required")
"""► Such words that are longer: guides to local servers give them for a key, and they stand in many a text."""

_REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_BY_HEADER = {"authorization", "x-api-key", "api-key"}
"""One of these that somebody named themselves stands in for the provider's key, as a token of a login does."""

_watched: set[str] = set()
_hidden: dict[str, str] = {}
"""What stands for secrets that were made here, or sent and then taken out of the environment; in memory only."""


def headers(endpoint: Endpoint) -> dict[str, str]:
    """The headers that an endpoint asks for, keys among them, as the environment has them now. Raises KeyMissing."""
    watch(endpoint)
    found = {name: _filled(value, endpoint) for name, value in endpoint.headers.items()}
    if _BY_HEADER & found.keys():
        return found
    if endpoint.key and (value := _value(endpoint.key)):
        found[endpoint.key_header] = endpoint.key_form.format(_sendable(value, endpoint.key))
    elif endpoint.key and endpoint.key_needed:
        raise KeyMissing(_how_to_set(endpoint, endpoint.key))
    return found


def address(endpoint: Endpoint) -> str:
    """The base URL, without a stroke at its end.

    Raises KeyMissing where a variable has to name it and is not set, Misuse for one whose value is no base URL.
    """
    filled = _filled(endpoint.base_url, endpoint)
    return filled if filled == endpoint.base_url else check_url(filled, f"the address of {endpoint.provider}")


def readable(endpoint: Endpoint) -> str:
    """The address for people: as it is now, and which variable names it or could name another one."""
    found = _REFERENCE.search(endpoint.base_url)
    if found is None:
        return mask(endpoint.base_url)
    name, otherwise = found[1], found[2]
    if _value(name):
        try:
            return f"{mask(address(endpoint))} (from ${name})"
        except Misuse as error:
            return str(error)
    if not otherwise:
        return f"{name}, the address of your resource, is not set"
    usual, other = (_REFERENCE.sub(text, endpoint.base_url) for text in (otherwise, f"${name}"))
    return f"{usual} (or {other})"


def missing(endpoint: Endpoint) -> str:
    """The first variable that a request to the endpoint needs and that is not set; "": none is missing."""
    own = _BY_HEADER & endpoint.headers.keys()
    needed = [endpoint.key] if endpoint.key and endpoint.key_needed and not own else []
    for text in (endpoint.base_url, *endpoint.headers.values()):
        needed += [name for name, default in _REFERENCE.findall(text) if not default]
    return next((name for name in needed if not _value(name)), "")


def present(name: str) -> bool:
    """Whether a variable is set."""
    return bool(_value(name))


def require(endpoint: Endpoint) -> None:
    """Raises KeyMissing where a request to the endpoint needs a variable that is not set."""
    if name := missing(endpoint):
        raise KeyMissing(_how_to_set(endpoint, name))


def withheld(endpoint: Endpoint) -> str:
    """That a key is not sent to the address its provider was moved to; "": none is kept back."""
    if not endpoint.withheld or _BY_HEADER & endpoint.headers.keys():
        return ""
    host = urlsplit(endpoint.base_url).netloc
    return f"{endpoint.withheld} is not sent to {host}: add key={endpoint.withheld} if it should be"


def about_key(endpoint: Endpoint) -> str:
    """What may be wrong where a server refuses for want of a key."""
    if said := withheld(endpoint):
        return said
    if own := _BY_HEADER & endpoint.headers.keys():
        return f"is what the header {min(own)} holds a key of this server?"
    if not endpoint.key:
        return "no variable is named for its key: add key=NAME_OF_A_VARIABLE"
    if not present(endpoint.key):
        return f"{endpoint.key} is not set: set it if the server wants a key"
    return f"is what {endpoint.key} holds a key of this server?"


def watch(endpoint: Endpoint) -> None:
    """From now on `mask` looks for what is in this endpoint's variables, too."""
    _watched.update(filter(None, (endpoint.key,)))
    for value in endpoint.headers.values():
        _watched.update(name for name, _ in _REFERENCE.findall(value))


def hide(label: str, value: str) -> None:
    """From now on `mask` writes `[label]` for a secret that was made here and is in no environment."""
    _hidden.setdefault(value, label)  # the name that it had first is the one that people know


def mask(text: str) -> str:
    """`text` with every credential that is in the environment now written as `[ITS_VARIABLE]`."""
    for label, value in sorted(_secrets(), key=lambda item: -len(item[1])):
        if value in text:
            text = text.replace(value, f"[{label}]")
    return text


def _secrets() -> Iterator[tuple[str, str]]:
    """Each secret, as it stands and as it would stand in JSON and in a URL."""
    names = _watched.union(row.key for row in ENDPOINTS.values() if row.key)
    known = [(name, value) for name in sorted(names) if (value := _value(name))]
    for label, value in dict.fromkeys([*known, *((label, value) for value, label in _hidden.items())]):
        if len(value) < SHORTEST or value in WORDS:
            continue
        as_json = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
        in_url = (quote(value), quote(value, safe=""), quote_plus(value))
        yield from ((label, form) for form in dict.fromkeys((value, *as_json, *in_url)))


def _filled(text: str, endpoint: Endpoint) -> str:
    """`text` with `${NAME}` and `${NAME:-otherwise}` filled in. Raises KeyMissing."""

    def value(found: re.Match[str]) -> str:
        value = _value(found[1]) or found[2]
        if not value:
            raise KeyMissing(_how_to_set(endpoint, found[1]))
        return _sendable(value.rstrip("/") if "://" in value else value, found[1])

    return _REFERENCE.sub(value, text)


def _value(name: str) -> str:
    return os.environ.get(name, "").strip()


def _sendable(value: str, name: str) -> str:
    """A header's value. Raises KeyMissing, without the value, for one that no header can carry."""
    if not value.isascii() or not value.isprintable():
        raise KeyMissing(
            f"{name} holds a line break or a character outside of ASCII, which no header can carry; set it anew"
        )
    if name in _watched:
        hide(name, value)
    return value


def _how_to_set(endpoint: Endpoint, name: str) -> str:
    if f"${{{name}" in endpoint.base_url:  # an address is no secret, and may be seen
        return (
            f"{endpoint.provider} needs {name}, the address of your resource, which is not set; set it before the"
            f" kernel starts, or in a cell: %env {name}=https://NAME.openai.azure.com; a replayed cassette needs none"
        )
    return (
        f"{endpoint.provider} needs {name}, which is not set; set it before the kernel starts, or in a cell:"
        f' import os, getpass; os.environ["{name}"] = getpass.getpass() (%env would keep it in the notebook);'
        " a replayed cassette needs none"
    )
