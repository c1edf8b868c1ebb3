"""Modules: real files to read that nobody here wrote: source of the installed Python's standard library."""

from __future__ import annotations

import importlib.util
from importlib.abc import InspectLoader

from ethang_nb.errors import Missing
from ethang_nb.lessons.lesson import Lesson

__all__ = ["LESSON", "NAMES", "texts"]

NAMES = ("bisect", "colorsys", "fnmatch", "graphlib", "sched", "shlex", "textwrap")
"""Small ones that every Python from 3.11 on has. Some are read before the one that answers, some after it."""


def texts() -> dict[str, str]:
    """The source of each module by file name. Raises Missing where this Python came without its sources."""
    found = {f"{name}.py": text for name in NAMES if (text := _source(name))}
    if len(found) < len(NAMES):
        absent = ", ".join(name for name in NAMES if f"{name}.py" not in found)
        raise Missing(f"this Python came without the source of {absent}; run it with a standard installation")
    return found


LESSON = Lesson(
    folder="lib",
    task="Read every file in lib and tell me which error is raised when there is no closing quotation.",
    texts=texts,
)


def _source(name: str) -> str | None:
    spec = importlib.util.find_spec(name)
    loader = spec.loader if spec else None
    return loader.get_source(name) if isinstance(loader, InspectLoader) else None
