"""The IPython extension: registers the magics, the settings and the matcher, and takes all of it away again.

Loading opens no file and starts no thread; the first magic that is used does. Loading twice changes nothing. In a
kernel it opens one comm, by which a side panel finds us.
"""

from __future__ import annotations

import atexit
from dataclasses import dataclass
from typing import Any

from ethang_nb.notebook.completion import Matcher, matcher
from ethang_nb.notebook.configurable import Ethang
from ethang_nb.notebook.magics import NAME, magic
from ethang_nb.notebook.naming import notebook_name
from ethang_nb.notebook.panel import Panels
from ethang_nb.notebook.sessions import NotebookSessions

__all__ = ["load", "unload"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Loaded:
    """What loading put into a shell."""

    shell: Any
    sessions: NotebookSessions
    settings: Ethang
    matcher: Matcher
    panels: Panels | None


_LOADED: list[_Loaded] = []


def load(shell: Any) -> None:
    """Registers `%ethang`, `%%ethang`, `%config Ethang` and what Tab offers. Nothing where they are registered."""
    if _of(shell) is not None:
        return
    settings = Ethang.of(shell)
    sessions = NotebookSessions(
        notebook_name(shell), configured=lambda: settings.given, namespace=shell.user_ns
    )
    found = _Loaded(
        shell=shell,
        sessions=sessions,
        settings=settings,
        matcher=matcher(sessions, shell.user_ns),
        panels=Panels.of(shell, lambda: sessions.current),
    )
    shell.register_magic_function(magic(shell, sessions), magic_kind="line_cell", magic_name=NAME)
    shell.configurables.append(settings)
    shell.Completer.custom_matchers.append(found.matcher)
    _transformers(shell).append(_with_body)
    atexit.register(sessions.close)
    _LOADED.append(found)


def unload(shell: Any) -> None:
    """Takes away what `load` registered and closes the sessions that the magics opened."""
    found = _of(shell)
    if found is None:
        return
    _LOADED.remove(found)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(NAME, None)
    vars(shell.magics_manager.user_magics).pop(NAME, None)
    _take(shell.configurables, found.settings)
    _take(shell.Completer.custom_matchers, found.matcher)
    _take(_transformers(shell), _with_body)
    atexit.unregister(found.sessions.close)
    if found.panels is not None:
        found.panels.close()
    found.sessions.close()


def _with_body(lines: list[str]) -> list[str]:
    """Gives a lone `%%ethang` line an empty body, so that we answer it: IPython would name a fault of its own."""
    alone = len(lines) == 1 and lines[0].split(maxsplit=1)[:1] == [f"%%{NAME}"]
    return [lines[0].rstrip("\n") + "\n", "\n"] if alone else lines


def _transformers(shell: Any) -> list[Any]:
    found: list[Any] = shell.input_transformers_cleanup
    return found


def _of(shell: Any) -> _Loaded | None:
    return next((found for found in _LOADED if found.shell is shell), None)


def _take(items: list[Any], item: object) -> None:
    """Removes that very item; one that somebody else took away already is no fault."""
    items[:] = [other for other in items if other is not item]
