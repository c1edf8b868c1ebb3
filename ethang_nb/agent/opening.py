"""Opening: the sessions of a project folder: which there are, which are open here, and opening one again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ethang_nb.agent.given import NO_TOOLS
from ethang_nb.agent.session import BUILT_IN, OPEN, Session
from ethang_nb.context import kinds
from ethang_nb.context.policies import from_knobs
from ethang_nb.context.window import Window
from ethang_nb.errors import Misuse, Unknown
from ethang_nb.store.database import home
from ethang_nb.store.record import Record, SessionRow
from ethang_nb.store.record import sessions as recorded_sessions

__all__ = ["find_open", "open_session", "sessions", "settings_of"]


def sessions(root: str | Path | None = None) -> tuple[SessionRow, ...]:
    """The sessions recorded in the project folder, the one used last first."""
    return recorded_sessions(root)


def find_open(name: str, root: str | Path | None = None) -> Session | None:
    """The session of that name in the project folder, if it is open in this process."""
    return OPEN.get((home(root).resolve(), name))


def settings_of(name: str, root: str | Path | None = None) -> dict[str, Any]:
    """What Session takes to go on with a recorded session as it last was: `model`, `window`, `policy` and so on.

    `tools` are names; how it reaches models is among it where that was given. Raises Unknown.
    """
    known = {row.name for row in recorded_sessions(root)}
    if name not in known:
        raise Unknown("session", name, sorted(known))
    with Record.open(root, name, write=False) as record:
        found = record.events(kinds=(kinds.SETTINGS,))
    if not found:
        raise Unknown("session", name, sorted(known - {name}))
    data = found[-1].data
    same = {key: data[key] for key in ("model", "system", "project", "params", "tools")}
    same["tools"] = same["tools"] or [NO_TOOLS]
    same |= data.get("given", {})
    return same | {"window": Window(**data["window"]), "policy": from_knobs(data["policy"])}


def open_session(name: str, root: str | Path | None = None, *, look: bool = False, **changes: Any) -> Session:
    """The session of that name: as it is where it is open here, else opened with its recorded settings.

    It goes on with its record, also where it has a cassette. `look`: only to be looked at, also while another
    process writes it; nothing is recorded and no act is taken.

    `changes` are arguments of Session that take the place of recorded ones. Functions are not recorded: give
    those of `tools` again, or the session goes on without them. Raises Unknown, SessionHeld, and as Session does.
    """
    found = find_open(name, root)
    if found is not None:
        if changes:
            raise Misuse(f"session {name} is open here; close it to open it with other settings")
        return found
    recorded = settings_of(name, root)
    recorded["tools"] = [tool for tool in recorded["tools"] if tool in (*BUILT_IN, NO_TOOLS)]
    return Session(**({"fresh": False} | recorded | changes), name=name, root=root, look=look)
