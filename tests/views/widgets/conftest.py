"""A host without a kernel: its comms keep what is sent, and hand on what a view says."""

from __future__ import annotations

from typing import Any

import pytest
from comm.base_comm import BaseComm

from ethang_nb.views.widgets import base
from tests.views.live.hosts import Host


class Comm(BaseComm):
    """One that a widget opens. `state` is what its model holds, `view` what stands on the other side."""

    def __init__(self, **given: Any) -> None:
        self.state: dict[str, Any] = {}
        self.view = Host()
        self.refuses = False
        super().__init__(**given)

    def publish_msg(self, msg_type: str, data: Any = None, **_: Any) -> None:
        if self.refuses:
            raise RuntimeError("this thread may not speak")
        data = data or {}
        if data.get("method") == "custom":
            self.view(data["content"])
        elif msg_type in ("comm_open", "comm_msg"):
            self.state.update(data.get("state", {}))

    def says(self, **message: Any) -> None:
        """The view says this, in this thread."""
        self.handle_msg({"content": {"data": {"method": "custom", "content": message}}, "buffers": []})


@pytest.fixture(autouse=True)
def comms(monkeypatch: pytest.MonkeyPatch) -> list[Comm]:
    """Comms of widgets that are made in the test, oldest first; those of layouts are left out."""
    made: list[Comm] = []

    def create(**given: Any) -> Comm:
        comm = Comm(**given)
        if "view" in comm.state:
            made.append(comm)
        return comm

    monkeypatch.setattr("comm.create_comm", create)
    monkeypatch.setattr("ethang_nb.views.live.feed.INTERVAL", 0)  # each change is told at once
    monkeypatch.setattr(base.bundle, "script", lambda: "export default {}")
    monkeypatch.setattr(base.bundle, "module", lambda: "export{a as mount};")
    monkeypatch.setattr(base.bundle, "sheet", lambda: ".eth-live{}")
    return made
