"""Markup: HTML that is escaped by construction.

An element is built from a tag, attributes and children. A plain string child is always text; only what this
module built is markup. Joining markup with `+` or an f-string gives a plain string again, which the next
element escapes, so a mistake shows up as visible tags and never as live ones.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from ethang_nb.views.limits import ADDRESS
from ethang_nb.views.plain import line, visible

__all__ = ["Child", "Markup", "address", "breakable", "el", "escaped", "join", "lines", "style_sheet"]

_NAME = re.compile(r"[a-z][a-zA-Z0-9-]*")
_SEPARATOR = re.compile(r"(?<=\w)(/(?=\w)|(?=[#@]\w))")
_VOID = frozenset({"br", "meta", "path"})
_CLOSES = re.compile(r"<\s*/", re.ASCII)


class Markup(str):
    """HTML built here. Never make one from data."""

    __slots__ = ()


Child = str | None
"""Text, which is escaped; `Markup`, which is kept; None, which is nothing."""


def el(tag: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element. `class_` and `for_` lose the underscore at the end, others become hyphens (`aria_label`).

    An attribute that is None or False is left out; one that is True stands without a value.
    """
    if not _NAME.fullmatch(tag):
        raise ValueError(f"{tag!r} is no tag name")
    head = tag + "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{head}>") if tag != "path" else Markup(f"<{head}/>")
    return Markup(f"<{head}>{join(*children)}</{tag}>")


def join(*children: Child) -> Markup:
    """Children side by side, each escaped unless it is markup."""
    return Markup("".join(escaped(child) for child in children if child is not None))


def escaped(text: str) -> Markup:
    """`text` as text: markup characters escaped, invisible characters shown."""
    return text if isinstance(text, Markup) else Markup(html.escape(visible(text), quote=False))


def style_sheet(css: str) -> Markup:
    """A `<style>` element. `css` comes from this package; it cannot close the element."""
    if _CLOSES.search(css):
        raise ValueError("a style sheet may not hold a closing tag")
    return Markup(f"<style>{css}</style>")


def breakable(text: str) -> Markup:
    """`text` that may wrap after the separators of paths and addresses."""
    return Markup(_SEPARATOR.sub(r"\1<wbr>", escaped(text)))


def address(where: str) -> Markup | None:
    """An address as code, cut to `ADDRESS` characters; None where there is none."""
    return el("code", breakable(line(where, ADDRESS))) if where else None


def lines(items: Iterable[Child]) -> Markup:
    """Children with a line end between them: keeps the HTML source, and so a notebook's diff, in lines."""
    return Markup("\n".join(escaped(item) for item in items if item))


def _attribute(name: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    spelled = name.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(spelled):
        raise ValueError(f"{name!r} is no attribute name")
    return f" {spelled}" if value is True else f' {spelled}="{html.escape(visible(str(value)))}"'
