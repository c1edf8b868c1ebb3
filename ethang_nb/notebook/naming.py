"""How a session is called: a notebook's after the notebook, else after its kernel; and what name may be given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath, PureWindowsPath
from typing import Any

from ethang_nb.errors import Misuse

__all__ = ["LONGEST", "check_name", "notebook_name"]

FALLBACK = "session"
LONGEST = 100  # ► characters of a session's name


def notebook_name(shell: Any, environ: Mapping[str, str] | None = None) -> str:
    """The stem of JPY_SESSION_NAME, which Jupyter Server sets; else the kernel's id; else `session`."""
    notebook = (os.environ if environ is None else environ).get("JPY_SESSION_NAME", "")
    found = _stem(notebook) or _kernel_id(shell) or FALLBACK
    return "".join(char if char.isprintable() else "_" for char in found[:LONGEST])


def check_name(name: str) -> None:
    """Refuses a name that cannot be shown on a line. Raises Misuse."""
    if len(name) > LONGEST:
        raise Misuse(f"--session {name[:40] + '…'!r} has {len(name):,} characters; give at most {LONGEST}")
    if not name.isprintable():
        raise Misuse(
            f"--session {name!r} holds a character that cannot be printed; give a name of one line, such as draft-2"
        )


def _stem(path: str) -> str:
    kind = PureWindowsPath if "\\" in path else PurePath
    return kind(path).stem.strip()


def _kernel_id(shell: Any) -> str:
    """Out of the name of the connection file, as in `kernel-1a2b….json`."""
    path = shell.config.get("IPKernelApp", {}).get("connection_file", "")
    return _stem(str(path)).removeprefix("kernel-")
