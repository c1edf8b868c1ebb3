"""Fresh: a record of its own for a lesson, so that its cells print the same however often they are run."""

from __future__ import annotations

import os
import tempfile

from ethang_nb.agent.opening import find_open, sessions

__all__ = ["fresh_record"]


def fresh_record() -> None:
    """From here on this kernel records in an empty folder, which goes when the kernel ends.

    Sessions that are open here are closed; what they recorded stays where it is.
    """
    for row in sessions():
        session = find_open(row.name)
        if session is not None:
            session.close()
    folder = tempfile.TemporaryDirectory(prefix="ethang-lesson-", ignore_cleanup_errors=True)
    _KEPT[:] = [folder]  # the folder before this one goes now
    os.environ["ETHANG_HOME"] = folder.name


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
