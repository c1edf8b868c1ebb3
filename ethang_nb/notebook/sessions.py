"""The sessions of one notebook: which one is current, what a cell asks of it, and where its settings came from.

Only sessions that cells opened are closed from here; one that was made in Python stays its maker's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ethang_nb.agent.session import Session, open_session, sessions, settings_of
from ethang_nb.agent.tool import Tool
from ethang_nb.config import DEFAULTS, Settings, settings
from ethang_nb.errors import Misuse, SessionBusy, Unknown
from ethang_nb.providers.registry import facts

__all__ = ["BUILT_IN", "HOW_TO_START", "Choice", "NotebookSessions", "notebook_name"]

HOW_TO_START = (
    "no session in this notebook yet; start one with a cell that begins with %%ethang --window 6000 and has the"
    " task in the lines below"
)
BUILT_IN = ("read_file", "list_files", "read_spill", "find_in_record", "release_context")
"""The tools every session has, as `--tools` names them."""

Namespace = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a cell's flags ask of its session; None and () where they say nothing. `system` and `project` are texts."""

    session: str | None = None
    new: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    project: str | None = None
    tools: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Open:
    """A session that is open here; `configured` is what %config said when a cell last used it."""

    session: Session
    ours: bool
    sources: dict[str, str]
    configured: dict[str, Any] = field(default_factory=dict)
    tools: tuple[Any, ...] = ()


class NotebookSessions:
    """The sessions of a notebook called `name`. `configured` gives what %config says, `namespace` the user's names."""

    def __init__(self, name: str, *, configured: Callable[[], dict[str, Any]], namespace: Namespace) -> None:
        self.name = name
        self.current = name
        self._configured, self._namespace = configured, namespace
        self._open: dict[str, _Open] = {}

    # ---- for the line magic

    def shown(self, name: str | None = None) -> Session | None:
        """The session of that name, else the notebook's current one; None where the notebook has none yet.

        Opens one that is only in the record. Raises Unknown for a name nobody knows.
        """
        wanted = name or self.current
        found = self._found(wanted)
        if found is None and name is not None:
            raise Unknown("session", name, self.names())
        return found.session if found else None

    def acted_on(self, name: str | None = None) -> Session:
        """The same where there must be one. Raises Misuse that says how to start one."""
        session = self.shown(name)
        if session is None:
            raise Misuse(HOW_TO_START)
        return session

    def sources(self, session: Session) -> Mapping[str, str]:
        """Where the model, window and policy of an open session came from."""
        found = self._open.get(session.name)
        return dict(found.sources) if found else {}

    def names(self) -> tuple[str, ...]:
        """The sessions that are open here or recorded in the project folder."""
        recorded = [row.name for row in sessions()]
        return (*recorded, *(name for name in self._open if name not in recorded))

    # ---- for the cell magic

    def for_cell(self, choice: Choice) -> Session:
        """The session that a cell's flags name, with the settings they ask for; it is the current one from now on.

        Settings that the flags do not name stay as the session has them; a new session takes %config, the
        project's file, the environment and the defaults for them.
        """
        configured = self._configured()
        found = settings(choice.settings, configured)
        _check_model(found)
        name = self._chosen_name(choice)
        known = None if choice.new else self._found(name, choice)
        if known is None:
            known = self._start(name, choice, found)
        else:
            known = self._go_on(known, choice, found)
        known.configured = dict(configured)
        self.current = name
        return known.session

    def close(self) -> None:
        """Closes what cells opened. What is recorded stays."""
        while self._open:
            _, found = self._open.popitem()
            if found.ours:
                found.session.close()

    # ---- inside

    def _chosen_name(self, choice: Choice) -> str:
        if choice.session is not None:
            if not choice.session.strip():
                raise Misuse("--session needs a name that is not blank")
            return choice.session.strip()
        return self._free_name() if choice.new else self.current

    def _free_name(self) -> str:
        """The notebook's name, or the first of `name-2`, `name-3`, … that no session has."""
        taken = set(self.names())
        number, name = 1, self.name
        while name in taken:
            number += 1
            name = f"{self.name}-{number}"
        return name

    def _found(self, name: str, choice: Choice | None = None) -> _Open | None:
        """The session if it is open here, in Python or in the record; opened from the record if need be."""
        found = self._open.get(name)
        if found is not None and not found.session.closed:
            return found
        self._open.pop(name, None)
        if name not in {row.name for row in sessions()}:
            return None
        recorded = settings_of(name)
        ours = recorded is not None
        session = open_session(name) if ours else None
        return None
