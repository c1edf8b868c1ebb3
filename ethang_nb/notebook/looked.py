"""Looked at: the snapshot of a session, shown so that what is cut names a Python expression that works as it stands.

A snapshot's own view speaks of `snapshot`, the variable of whoever holds one; a line of `%ethang` binds none.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.views import context

__all__ = ["SessionSnapshot", "html", "looked_at", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshot(Snapshot):
    """A snapshot of the session that it is called after."""

    _view = "ethang_nb.notebook.looked"


def looked_at(snapshot: Snapshot) -> SessionSnapshot:
    return SessionSnapshot(**{item.name: getattr(snapshot, item.name) for item in fields(snapshot)})


def text(snapshot: Snapshot) -> str:
    return context.text(snapshot, where=_where(snapshot))


def html(snapshot: Snapshot) -> str:
    return context.html(snapshot, where=_where(snapshot))


def _where(snapshot: Snapshot) -> str:
    return f"eth.open_session({snapshot.name!r}).snapshot"
