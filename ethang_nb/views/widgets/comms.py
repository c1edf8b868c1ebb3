"""Comms: the one fix that ours need. Nothing here imports a widget library."""

from __future__ import annotations

from typing import Any

__all__ = ["unpin"]


def unpin(comm: Any) -> None:
    """Lets messages of the front end come in where it sent them: while a cell is busy, too.

    ipykernel 7.4 hands them to the shell that last *sent* on the comm, so a Stop would wait for the cell to end. It
    leans on a private name, whose absence means that there is nothing to fix; the browser test for Stop guards it.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _, default: default  # noqa: SLF001
