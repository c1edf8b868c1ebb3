"""What a caller gave a session, checked: each wrong thing is one error that names value, limit and next step."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ethang_nb.agent.limits import Limits
from ethang_nb.agent.masking import mask
from ethang_nb.agent.prompt import prompt
from ethang_nb.agent.tool import Tool, as_tool
from ethang_nb.context.messages import clean
from ethang_nb.context.state import State
from ethang_nb.errors import BadWindow, EmptyTask, Misuse, PathRefused, Unknown

__all__ = [
    "NO_TOOLS",
    "check_kinds",
    "check_room",
    "chosen_folder",
    "chosen_name",
    "chosen_system",
    "chosen_tools",
    "default_name",
    "task_text",
]

NO_TOOLS = "none"
"""The word that stands among tools for none at all. No tool can be called so."""
READ_BACK = "read_spill"
SYSTEM, TOOLLESS = "system@v1", "toolless@v1"
"""The system texts of a session that was given none: with tools, and without."""
LONGEST_SHOWN = 80  # ► characters of a wrong value that an error repeats
OURS = 1000  # per mille: the provider counts as we do


def check_kinds(*, limits: object, tools: object, params: object, **texts: object) -> None:
    """Each thing is of the kind that its name says; None stands for what was not given."""
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise Misuse(f"{name}={_shown(text)} is a {type(text).__name__}; give a text")
    if limits is not None and not isinstance(limits, Limits):
        raise Misuse(f"limits={_shown(limits)} is a {type(limits).__name__}; give Limits(steps=…)")
    if isinstance(tools, str) or not isinstance(tools, Sequence):
        raise Misuse(f"tools={_shown(tools)} is a {type(tools).__name__}; give a list of functions and names")
    if params is not None and not isinstance(params, Mapping):
        raise Misuse(f"params={_shown(params)} is a {type(params).__name__}; give a dict")
    try:
        json.dumps(params and dict(params), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Misuse(f"params cannot be sent as JSON: {error}") from None


def default_name() -> str:
    """The notebook's stem, else the script's, else `session`."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    stem = Path(notebook).stem or Path(sys.argv[0] if sys.argv else "").stem
    return stem if stem and not stem.startswith("-") else "session"


def chosen_name(name: str | None) -> str:
    return clean(name).strip() if name else default_name()


def chosen_folder(folder: str | Path) -> Path:
    try:
        return Path(folder).resolve()
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise PathRefused(f"store {str(folder)[:120]!r} cannot be used: {error}") from None


def chosen_system(given: str | None, tools: Sequence[Tool | Callable[..., Any] | str]) -> str:
    """The system text that was given, else ours. One of ours that is recorded gives way where tools came or went."""
    ours = {name: prompt(name).text for name in (SYSTEM, TOOLLESS)}
    if given is not None and given not in ours.values():
        return given
    return ours[TOOLLESS if _none(tools) else SYSTEM]


def chosen_tools(given: Sequence[Tool | Callable[..., Any] | str], built_in: Sequence[Tool]) -> list[Tool]:
    """Built-in tools, all of them unless some are named, then the user's own; for the word none alone there are none.

    read_spill is always among them: what is cut from a result names it.
    """
    if _none(given):
        if len(given) > 1:
            raise Misuse(f"tools {NO_TOOLS} stands for no tool at all; give it alone, or leave it out")
        return []
    by_name = {item.name: item for item in built_in}
    named = [item for item in given if isinstance(item, str)]
    for name in named:
        if name not in by_name:
            raise Unknown("tool", name, by_name)
    own = [as_tool(item) for item in given if not isinstance(item, str)]
    if any(item.name == NO_TOOLS for item in own):
        raise Misuse(f"no tool can be called {NO_TOOLS}, the word for no tools; rename it with @tool(name=…)")
    if not named:
        return [*built_in, *own]
    return [*(by_name[name] for name in dict.fromkeys([*named, READ_BACK])), *own]


def check_room(state: State) -> None:
    """A window that cannot even hold the fixed parts is refused before the first request.

    Where only a note has no room beside them, there are requests that can be sent; that is said, not refused.
    """
    if state.fixed >= state.usable:
        billed = ""
        if state.ratio > OURS:
            how = (
                "counts" if state.reports.last else "is taken to count"
            )  # before the first reply nobody knows
            billed = f" (its provider {how} {state.ratio / 10:.0f} % of what we do)"
        raise BadWindow(
            f"window {state.window.total:,} leaves {state.usable:,} usable tokens{billed}, and the fixed parts take "
            f"{state.fixed:,} (system {state.system:,}, tools {state.tools:,}, project {state.project:,}); take a "
            f"larger window or {_smaller(state)}"
        )


def _none(given: Sequence[object]) -> bool:
    return any(isinstance(item, str) and item == NO_TOOLS for item in given)


def _smaller(state: State) -> str:
    """What to make smaller where the fixed parts have no room."""
    if not state.tools:
        return "a shorter system text"
    return (
        f'fewer tools: tools=["read_file"] or --tools read_file, and tools=["{NO_TOOLS}"] or --tools {NO_TOOLS} for no '
        "tool at all"
    )


def _shown(value: object) -> str:
    return mask(clean(repr(value)))[:LONGEST_SHOWN]


def task_text(task: str) -> str:
    if not isinstance(task, str):
        raise Misuse(f"a task is a text, not a {type(task).__name__}")
    if not task.strip():
        raise EmptyTask("the task is empty; say what should be done")
    return task.strip()
