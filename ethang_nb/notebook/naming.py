"""How a notebook's session is called: after the notebook, else after its kernel."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath, PureWindowsPath
from typing import Any

__all__ = ["notebook_name"]

FALLBACK = "session"


def notebook_name(shell: Any, environ: Mapping[str, str] | None = None) -> str:
    """The stem of JPY_SESSION_NAME, which Jupyter Server sets; else the kernel's id; else `session`."""
    notebook = (os.environ if environ is None else environ).get("JPY_SESSION_NAME", "")
    return _stem(notebook) or _kernel_id(shell) or FALLBACK


def _stem(path: str) -> str:
    kind = PureWindowsPath if "\\" in path else PurePath
    return kind(path).stem.strip()


def _kernel_id(shell: Any) -> str:
    """Out of the name of the connection file, as in `kernel-1a2b….json`."""
    path = shell.config.get("IPKernelApp", {}).get("connection_file", "")
    return _stem(str(path)).removeprefix("kernel-")
