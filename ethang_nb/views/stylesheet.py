"""The one style sheet: `output.css` for what a notebook stores, and `page.css` on top of it for a report.

Sheets are kept as readable CSS and squeezed here. Light and dark follow the host's own marker where there is
one (JupyterLab, VS Code, Colab), else the person's system.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ethang_nb.views.markup import Child, Markup, el, lines, style_sheet
from ethang_nb.views.palette import custom_properties, slice_classes

__all__ = ["for_output", "for_page", "output"]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BLANK = re.compile(r"\s+")
_AROUND = re.compile(r" ?([{};>]) ?")
_LIST = re.compile(r"([,:]) ")


@cache
def for_output() -> str:
    """The sheet of a stored output."""
    return f".eth-view{{{custom_properties()}}}{slice_classes()}{_squeezed('output.css')}"


@cache
def for_page() -> str:
    """The sheet of a report."""
    return for_output() + _squeezed("page.css")


def output(*children: Child, label: str) -> Markup:
    """A stored output: its sheet and its parts in one labelled box."""
    return el(
        "div",
        lines([style_sheet(for_output()), *children]),
        class_="eth-view",
        role="region",
        aria_label=label,
    )


def _squeezed(name: str) -> str:
    css = (files("ethang_nb.views") / name).read_text(encoding="utf-8")
    css = _BLANK.sub(" ", _COMMENT.sub("", css)).strip()
    return _LIST.sub(r"\1", _AROUND.sub(r"\1", css)).replace(";}", "}")
