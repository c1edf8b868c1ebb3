"""What a caller gave a session, checked: each wrong thing is one error that names value, limit and next step."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ethang_nb.agent.tool import Tool, as_tool
from ethang_nb.context.messages import clean
from ethang_nb.context.state import State
from ethang_nb.errors import BadWindow, EmptyTask, Misuse, PathRefused, Unknown

__all__ = [
    "check_room",
    "chosen_folder",
    "chosen_name",
    "chosen_tools",
    "default_name",
    "task_text",
]

READ_BACK = "read_spill"
OURS = 1000  # per mille: the provider counts as we do


def default_name() -> str:
    """The notebook's stem, else the script's, else `session`."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    stem = Path(notebook).stem or Path(sys.argv[0] if sys.argv else "").stem
    return stem if stem and not stem.startswith("-") else "session"


def chosen_name(name: str | None) -> str:
    return clean(str(name)).strip() if name else default_name()


def chosen_folder(folder: str | Path) -> Path:
    try:
        return Path(folder).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise PathRefused(f"store {str(folder)[:120]!r} cannot be used: {error}") from None


def chosen_tools(given: Sequence[Tool | Callable[..., Any] | str], built_in: Sequence[Tool]) -> list[Tool]:
    """Built-in tools, all of them unless some are named, then the user's own.

    read_spill is always among them: what is cut from a result names it.
    """
    if isinstance(given, str):
        raise Misuse(f"tools={given!r} is one text; give a list, as in tools=[{given!r}]")
    by_name = {item.name: item for item in built_in}
    named = [item for item in given if isinstance(item, str)]
    for name in named:
        if name not in by_name:
            raise Unknown("tool", name, by_name)
    own = [as_tool(item) for item in given if not isinstance(item, str)]
    if not named:
        return [*built_in, *own]
    return [*(by_name[name] for name in dict.fromkeys([*named, READ_BACK])), *own]


def check_room(state: State) -> None:
    """A window that cannot even hold the fixed parts is refused before the first request."""
    least = state.fixed + state.note_tokens
    if least >= state.usable:
        billed = (
            f" (its provider counts {state.ratio / 10:.0f} % of what we do)" if state.ratio > OURS else ""
        )
        raise BadWindow(
            f"window {state.window.total:,} leaves {state.usable:,} usable tokens{billed}, and the fixed parts take "
            f"{least:,} (system {state.system:,}, tools {state.tools:,}, project {state.project:,}, a note "
            f"{state.note_tokens:,}); take a larger window or fewer tools"
        )


def task_text(task: str) -> str:
    if not isinstance(task, str):
        raise Misuse(f"a task is a text, not a {type(task).__name__}")
    if not task.strip():
        raise EmptyTask("the task is empty; say what should be done")
    return task.strip()
