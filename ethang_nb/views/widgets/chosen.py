"""Chosen: what a view is told to begin with, checked; a bad value is one line that says what is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ethang_nb.config import named_policy
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels, Window
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse, Unknown

__all__ = ["SETTINGS", "band", "known_policy", "number", "one_of", "refuse_others", "text", "tokens"]

SETTINGS = ("counter", "model", "name", "pins", "policy", "project", "spill", "system", "tools")
"""What plain messages may be given beside their window, as an eth.Context."""


def refuse_others(given: Mapping[str, object]) -> None:
    """Raises Misuse for a name that no view and no context knows."""
    for name in given:
        if name not in SETTINGS:
            raise Misuse(
                f"{name} is no setting of this view; messages take window, {', '.join(SETTINGS)}, as eth.Context does"
            )


def number(name: str, value: int | None, *, least: int | None = None, what: str) -> int | None:
    if value is not None and (type(value) is not int or (least is not None and value < least)):
        raise Misuse(
            f"{name}={_short(value)} is not {what}; give one{'' if least is None else f' from {least} on'}"
        )
    return value


def one_of(name: str, value: str | None, known: Sequence[str]) -> str | None:
    if value is not None and value not in known:
        raise Unknown(name, str(value), known)
    return value


def known_policy(name: str, value: str | Policy | None) -> str | None:
    """The name of a policy that is shipped or stands in ethang.toml: what is planned is planned by name."""
    if value is None:
        return None
    said = value.name if isinstance(value, Policy) else value
    if not isinstance(said, str):
        raise Misuse(f"{name}={_short(value)} is not the name of a policy; give one such as 'lean'")
    found = named_policy(said)
    if isinstance(value, Policy) and found != value:
        raise Misuse(
            f"{name}: the policy {said!r} given is not the one of that name; put it into ethang.toml first"
        )
    return found.name


def tokens(name: str, value: int | None) -> int | None:
    """A window's size. Raises BadWindow for one that holds nothing."""
    if number(name, value, what="a number of tokens") is not None:
        Window.of(value)  # type: ignore[arg-type]
    return value


def band(name: str, value: Any) -> list[int] | None:
    """Nudge, cleanup and landing, per mille of usable. Raises BadPolicy where they do not rise."""
    if value is None:
        return None
    given = (value.nudge, value.cleanup, value.landing) if isinstance(value, Levels) else value
    whole = isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 3
    if not whole or any(type(level) is not int for level in given):
        raise Misuse(
            f"{name}={_short(value)} are not nudge, cleanup and landing in per mille; give e.g. (700, 800, 400)"
        )
    POLICIES["ethang"].with_levels(Levels(nudge=given[0], cleanup=given[1], landing=given[2]))
    return list(given)


def text(name: str, value: str, *, example: str) -> str:
    if not isinstance(value, str):
        raise Misuse(f"{name}={_short(value)} is no text; give one, as in {name}={example!r}")
    return value


def _short(value: object) -> str:
    return preview(repr(value), 60)
