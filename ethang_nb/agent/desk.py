"""Desk: what the runs of a session work on: a model and the way to it, the context, its record, tools and limits.

A session lays it out and answers for it; the worker, the loop and compaction use it and know no session. It
decides nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.byrules import ByRules
from ethang_nb.agent.departures import Departures
from ethang_nb.agent.files import file_tools
from ethang_nb.agent.given import chosen_tools
from ethang_nb.agent.jail import Jail
from ethang_nb.agent.limits import Limits
from ethang_nb.agent.prompt import prompt
from ethang_nb.agent.recall import recall_tools
from ethang_nb.agent.run import Progress
from ethang_nb.agent.runner import MainThread
from ethang_nb.agent.tool import Tool
from ethang_nb.agent.toolbox import Toolbox
from ethang_nb.agent.watchers import Change, Watchers
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.kinds import EventKind
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Window
from ethang_nb.providers.protocol import Body, Provider
from ethang_nb.tokens.registry import family_ratio

__all__ = ["Desk"]

NOTE_PROMPT = "compaction@v2"


class Desk:
    """The things of one session. `archive`, `chronicle` and `departures` are there from `keep_in` on.

    The context, the chronicle and the archive's writing are shared by the worker and whoever asks: `lock` is held
    while they change. `provider`, `limits` and `main` may be others from one run to the next.
    """

    archive: Archive
    chronicle: Chronicle
    departures: Departures

    def __init__(
        self,
        *,
        name: str,
        model: str,
        provider: Provider,
        counter: TokenCounter,
        limits: Limits,
        params: Mapping[str, Any],
        window: Window,
        policy: Policy,
        system: str,
        project: str,
        tools: Sequence[Tool | Callable[..., Any] | str],
        jail: Jail,
    ) -> None:
        self.name, self.model = name, model
        self.provider, self.counter = provider, counter
        self.limits, self.params = limits, params
        self.note_prompt = prompt(NOTE_PROMPT)
        self.watchers: Watchers[Progress] = Watchers()
        self.changes: Watchers[Change] = Watchers()
        self.by_rules = ByRules()
        self.lock = threading.RLock()
        self.turning = asyncio.Lock()
        """Held in the worker from a request point until its note is written."""
        self.main = MainThread()
        """Whoever waits for the run that is going on."""
        self.last_sent: tuple[Message, ...] = ()
        built_in = (
            *file_tools(jail, counter, lambda: self.live.state.entry_tokens),
            *recall_tools(lambda: self.archive, lambda: self.live, self.lock),
        )
        self.toolbox = Toolbox(chosen_tools(tools, built_in), limits, self.log)
        self.live = LiveContext(
            window=window,
            policy=policy,
            counter=counter,
            system=system,
            project=project,
            tools=self.toolbox.specs,
            spill=self._spill,
            searchable=self.toolbox.searchable,
            ratio=family_ratio(model),  # until the provider reports
        )

    def keep_in(self, archive: Archive) -> None:
        """From here on everything is kept in `archive`."""
        self.archive = archive
        self.live.journal = archive
        self.chronicle = Chronicle(self.live)
        self.departures = Departures(self.live)

    def take(self, message: Message) -> None:
        """A message enters the context."""
        with self.lock:
            self.live.append(message)
        self.changes.tell("message")

    def log(self, kind: EventKind, data: dict[str, Any]) -> int:
        """Records an event and returns its number."""
        return self.archive.write(kind, data)

    def log_request(self, kind: EventKind, body: Body, data: dict[str, Any]) -> None:
        """Records a request: its bytes are in the record before they are sent."""
        keys = self.archive.record.keep(body.pieces)
        self.log(kind, data | {"pieces": list(keys)})

    def _spill(self, tool: str, text: str) -> str:
        return self.archive.spill(tool, text)
