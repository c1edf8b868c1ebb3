"""Provider fields: what a table or an option may say of a provider, and what is refused.

What looks like a key where a name belongs is refused, and the refusal does not repeat it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from ethang_nb.errors import Misuse, Unknown
from ethang_nb.providers.endpoints import WIRES
from ethang_nb.providers.models import given

__all__ = ["CHECKS", "OPTIONS", "RESERVED", "check_fields", "check_url", "hidden", "looks_like_key"]

RESERVED = ("reader", "script", "llamacpp")
"""Providers that are no endpoints; a table cannot take their names."""

FIELDS = ("base_url", "wire", "key", "headers", "query", "models")
OPTIONS = ("base_url", "wire", "key", "header.NAME", "query.NAME")
KEY_LIKE = 20  # ► characters from which a word of letters and digits without a gap is taken for a key

_PROVIDER = re.compile(r"[a-z][a-z0-9_.-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_CREDENTIAL = re.compile(r"auth|cookie|key|secret|token|passw|credential", re.I)
_STARTS = re.compile(r"(sk|csk|xai|pplx|nvapi|glpat)-|(sk|gsk|hf|tgp|ghp)_|AIza|eyJ|Bearer ")
"""How keys of providers begin."""


def check_fields(provider: str, table: object, place: str) -> None:
    if provider in RESERVED or not _PROVIDER.fullmatch(provider):
        raise Misuse(
            f"providers.{hidden(provider)} cannot be the name of a provider; take small letters, digits, - and _,"
            f" and none of {', '.join(RESERVED)}"
        )
    if not isinstance(table, Mapping):
        raise Misuse(f'{place} is {type(table).__name__}; it must be a table, as in [{place}] base_url = "…"')
    for name in table:
        if name in FIELDS:
            continue
        if _CREDENTIAL.search(str(name)):
            raise Misuse(
                f"{place} has a field {hidden(str(name))!r}; no key may stand there: name the variable that holds it,"
                ' as in key = "MY_KEY"'
            )
        raise Unknown(f"field of {place}", hidden(str(name)), FIELDS)


def _url(value: object, place: str) -> str:
    return check_url(value, f"base_url of {place}")


def check_url(value: object, what: str) -> str:
    """A base URL without a stroke at its end. Raises Misuse, without the URL where it might hold a secret."""
    text = value.strip() if isinstance(value, str) else ""
    wanted = "give one such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise Misuse(f"{what} is no URL; {wanted}") from None
    if "@" in parts.netloc:
        raise Misuse(f"{what} carries a user name or password; leave it out, and name a variable with key=")
    if parts.query or parts.fragment:
        raise Misuse(f"{what} has something behind ? or #; leave it out, and give query.NAME=VALUE")
    plain = text.isprintable() and " " not in text
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or not plain:
        raise Misuse(f"{what} is {_cut(hidden(str(value)))!r}, no http or https address; {wanted}")
    if "${" in text or any(_STARTS.match(part) for part in parts.path.split("/")):
        raise Misuse(f"{what} seems to hold a key; leave it out, and name its variable with key=")
    return text.rstrip("/")


def _wire(value: object, place: str) -> str:
    if value not in WIRES:
        raise Misuse(f"wire of {place} is {_cut(hidden(str(value)))!r}; allowed are {', '.join(WIRES)}")
    return str(value)


def _key(value: object, place: str) -> str:
    text = value if isinstance(value, str) else ""
    if not _VARIABLE.fullmatch(text) or looks_like_key(text):
        raise Misuse(
            f"key of {place} is {hidden(str(value))!r}, which is no variable's name; put the key into the environment"
            " and give the variable's name, as in key=MY_KEY"
        )
    return text


def _headers(value: object, place: str) -> dict[str, str]:
    found = _texts(value, f"headers of {place}")
    for header, text in found.items():
        name = _cut(hidden(header))
        if not _HEADER.fullmatch(header) or header.lower() in _OURS:
            raise Misuse(
                f"headers of {place}: {name!r} is no header's name, or one that nobody but us can set"
            )
        if not text.isascii() or not text.isprintable():
            raise Misuse(f"header {name} of {place} holds a character that no header can carry; take ASCII")
        bare = _REFERENCE.sub("", text)
        if "${" in bare:
            raise Misuse(f"header {name} of {place} has a ${{ that names no variable; write ${{NAME}}")
        secret = _CREDENTIAL.search(header) and bare.strip().lower() not in {"", "bearer", "basic"}
        if secret or looks_like_key(bare):
            raise Misuse(
                f"header {name} of {place} holds a credential; put it into the environment and write"
                f" header.{name}=${{NAME}}"
            )
    return {header.lower(): text for header, text in found.items()}


def _query(value: object, place: str) -> dict[str, str]:
    found = _texts(value, f"query of {place}")
    for name, text in found.items():
        if _CREDENTIAL.search(name) or looks_like_key(text):
            raise Misuse(
                f"query {_cut(hidden(name))} of {place} seems to hold a credential; send it as a header"
            )
        if "${" in text:
            raise Misuse(
                f"query {_cut(hidden(name))} of {place} names a variable, which is read in headers only; write the value"
            )
    return found


def _models(value: object, place: str) -> dict[str, Mapping[str, int]]:
    found: dict[str, Mapping[str, int]] = {}
    for name, table in value.items() if isinstance(value, Mapping) else [("", value)]:
        if not isinstance(table, Mapping):
            raise Misuse(f'models of {place} must be a table of tables, as in {{"qwen": {{"total": 32768}}}}')
        found[str(name)] = given(table, f"models.{place.removeprefix('providers.')}/{name}")
    return found


def _texts(value: object, what: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in (*value, *value.values())):
        raise Misuse(f'{what} must be a table of texts, as in {{X-Title = "demo"}}')
    return dict(value)


CHECKS: Mapping[str, Callable[[object, str], Any]] = MappingProxyType(
    {"base_url": _url, "wire": _wire, "key": _key, "headers": _headers, "query": _query, "models": _models}
)


def looks_like_key(text: str) -> bool:
    """Whether somebody may have put a key where a name belongs: a known start, or letters and digits without a gap."""
    if _STARTS.match(text) and len(text) >= KEY_LIKE // 2:
        return True
    if len(text) < KEY_LIKE or " " in text or text.isupper():
        return False
    return bool(re.search(r"[A-Za-z]", text) and re.search(r"\d", text) and not re.search(r"[./:,-]", text))


def hidden(text: str) -> str:
    """What a message may repeat of a text that may be a key, or be in the environment as one."""
    from ethang_nb.providers.credentials import mask  # which checks addresses here

    text = mask(text)
    return f"{text[:3]}…" if looks_like_key(text) or len(text) > KEY_LIKE * 3 else text


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
