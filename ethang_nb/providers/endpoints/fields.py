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
from ethang_nb.providers.endpoints.table import WIRES
from ethang_nb.providers.models.facts import given

__all__ = ["CHECKS", "OPTIONS", "RESERVED", "check_fields", "check_url", "hidden", "looks_like_key", "shown"]

RESERVED = ("reader", "script", "llamacpp")
"""Providers that are no endpoints; a table cannot take their names."""

FIELDS = ("base_url", "wire", "key", "headers", "query", "quirks", "models")
OPTIONS = ("base_url", "wire", "key", "header.NAME", "query.NAME", "quirk.NAME")
KEY_LIKE = 20  # ► characters from which a word of letters and digits without a gap is taken for a key

_PROVIDER = re.compile(r"[a-z][a-z0-9_.-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_CREDENTIAL = re.compile(r"auth|cookie|key|secret|token|passw|credential", re.I)
_STARTS = re.compile(r"(sk|csk|xai|pplx|nvapi|glpat)-|(sk|gsk|hf|tgp|ghp)_|AIza|eyJ|Bearer ")
"""How keys of providers begin."""


def check_fields(provider: object, table: object, place: str) -> None:
    """Raises Misuse or Unknown for a provider's name, or the name of a field, that cannot be."""
    if provider in RESERVED or not (isinstance(provider, str) and _PROVIDER.fullmatch(provider)):
        raise Misuse(
            f"providers.{hidden(str(provider))} cannot be the name of a provider; take small letters, digits, - and _,"
            f" and none of {', '.join(RESERVED)}"
        )
    if not isinstance(table, Mapping):
        raise Misuse(
            f'{place} is {shown(table)}; it must be a table, as in {{"base_url": "http://127.0.0.1:8000/v1"}}'
        )
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
    except ValueError:
        raise Misuse(f"{what} is {_place(text)!r}, which is no URL; {wanted}") from None
    try:
        port = parts.port
    except ValueError:
        raise Misuse(
            f"{what} is {_place(text)!r}, whose port is no number from 1 to 65,535; {wanted}"
        ) from None
    if "@" in parts.netloc:
        raise Misuse(f"{what} carries a user name or password; leave it out, and name a variable with key=")
    if parts.query or parts.fragment:
        raise Misuse(f"{what} has something behind ? or #; leave it out, and give query.NAME=VALUE")
    plain = text.isprintable() and " " not in text
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or not plain:
        raise Misuse(f"{what} is {shown(value)}, no http or https address; {wanted}")
    if "${" in text or any(_STARTS.match(part) for part in parts.path.split("/")):
        raise Misuse(f"{what} seems to hold a key; leave it out, and name its variable with key=")
    return text.rstrip("/")


def _wire(value: object, place: str) -> str:
    if value not in WIRES:
        raise Misuse(f"wire of {place} is {shown(value)}; allowed are {', '.join(WIRES)}")
    return str(value)


def _key(value: object, place: str) -> str:
    text = value if isinstance(value, str) else ""
    if not _VARIABLE.fullmatch(text) or looks_like_key(text):
        raise Misuse(
            f"key of {place} is {shown(value)}, which is no variable's name; put the key into the environment"
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
                f"query {_cut(hidden(name))} of {place} names a variable, as only headers may; write its value"
            )
    return found


_TRUTHS = {"yes": True, "no": False, "true": True, "false": False}


def _quirks(value: object, place: str) -> dict[str, Any]:
    """How a server or a deployment differs: truths, and two that are words. In an id a truth is yes or no."""
    from ethang_nb.providers.models.quirks import SAYABLE  # which needs the endpoints

    if not isinstance(value, Mapping):
        raise Misuse(f'quirks of {place} is {shown(value)}; it must be a table, as in {{"sampling": false}}')
    found: dict[str, Any] = {}
    for name, said in value.items():
        if name not in SAYABLE:
            raise Unknown(f"quirk of {place}", hidden(str(name)), SAYABLE)
        allowed = SAYABLE[name]
        plain = _TRUTHS.get(said, said) if isinstance(said, str) and not allowed else said
        if not (plain in allowed if allowed else isinstance(plain, bool)):
            raise Misuse(
                f"quirk {name} of {place} is {shown(said)}; allowed are {', '.join(allowed) or 'true and false'}"
            )
        found[name] = plain
    return found


def _models(value: object, place: str) -> dict[str, Mapping[str, int]]:
    found: dict[str, Mapping[str, int]] = {}
    for name, table in value.items() if isinstance(value, Mapping) else [("", value)]:
        if not isinstance(table, Mapping):
            raise Misuse(
                f"models of {place} is {shown(value)}; it must be a table of tables, as in"
                ' {"qwen": {"total": 32768}}'
            )
        found[str(name)] = given(table, f"models.{place.removeprefix('providers.')}/{name}")
    return found


def _texts(value: object, what: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in (*value, *value.values())):
        raise Misuse(f'{what} is {shown(value)}; it must be a table of texts, as in {{"X-Title": "demo"}}')
    return dict(value)


CHECKS: Mapping[str, Callable[[object, str], Any]] = MappingProxyType(
    {
        "base_url": _url,
        "wire": _wire,
        "key": _key,
        "headers": _headers,
        "query": _query,
        "quirks": _quirks,
        "models": _models,
    }
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
    from ethang_nb.providers.endpoints.credentials import mask  # which checks addresses here

    text = mask(text)
    return f"{text[:3]}…" if looks_like_key(text) or len(text) > KEY_LIKE * 3 else text


def shown(value: object) -> str:
    """A wrong value as a message repeats it: a text in quotes, anything else by its kind, too; no key."""
    if isinstance(value, str):
        return repr(_cut(hidden(value)))
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return f"of type {type(value).__name__}"  # its text could hold keys at any depth


def _place(url: str) -> str:
    """Scheme, host and port of what should have been a URL; not what stands before an @, nor any path."""
    scheme, mark, rest = url.partition("://")
    host = re.split(r"[/?#]", rest if mark else scheme, maxsplit=1)[0].rpartition("@")[2]
    host = hidden(host.lstrip("["))
    return _cut(f"{hidden(scheme)}{mark}{host}" if mark else host)


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
