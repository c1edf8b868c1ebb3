"""Cells: which views belong to which cell of the notebook, so that running cells again leaves no more of them.

A view belongs to the cell that made it and to those that show it. Running a cell again gives up what it held; a view
that no cell holds any more is closed. One that another cell still shows stays, so no output on screen goes blank.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Cells", "Running", "running"]


class Closes(Protocol):
    """What a cell can hold."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A cell that runs: its id, the number of this run of it, and the ids of cells that were deleted before."""

    cell: str
    run: str
    deleted: tuple[str, ...] = ()


@dataclass(slots=True)
class _Held:
    run: str
    views: list[Closes] = field(default_factory=list)


class Cells:
    """The views that cells hold."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._lock = threading.RLock()

    def hold(self, view: Closes, running: Running | None) -> None:
        """The running cell made or shows `view`. Outside of any cell nothing is kept of it."""
        if running is None:
            return
        with self._lock:
            held = self._held.get(running.cell)
            if held is not None and held.run == running.run:
                if not _among(view, held.views):
                    held.views.append(view)
                return
            given_up = self._take((running.cell, *running.deleted))
            self._held[running.cell] = _Held(running.run, [view])
            shown = [other for kept in self._held.values() for other in kept.views]
        for other in given_up:  # under no lock: closing tells the host, and waits for the source
            if not _among(other, shown):
                other.close()

    def forget(self, view: Closes) -> None:
        """It is closed: no cell holds it."""
        with self._lock:
            for held in self._held.values():
                held.views = [other for other in held.views if other is not view]

    def _take(self, cells: Iterable[str]) -> list[Closes]:
        return [view for cell in cells for view in self._held.pop(cell, _Held("")).views]


def _among(view: Closes, views: Iterable[Closes]) -> bool:
    return any(other is view for other in views)


def running() -> Running | None:
    """The cell that runs now; None outside of a kernel. A front end that names no cell is known by its code."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    message = shell.get_parent() if hasattr(shell, "get_parent") else None
    if not message or message.get("header", {}).get("msg_type") != "execute_request":
        return None
    said = message.get("metadata") or {}
    code = hashlib.sha256(str(message["content"].get("code", "")).encode("utf-8", "replace")).hexdigest()
    return Running(
        cell=str(said.get("cellId") or code),
        run=str(message["header"].get("msg_id", "")),
        deleted=tuple(map(str, said.get("deletedCells") or ())),
    )
