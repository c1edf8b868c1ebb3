"""Desk: what the runs of a session work on: a model and the way to it, the context, its record, tools and limits.

Nothing gets past it into the context or the record that holds one of our own credentials.

A session lays it out and answers for it; the worker, the loop and compaction use it and know no session. It
decides nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.coming import Coming
from ethang_nb.agent.departures import Departures
from ethang_nb.agent.files import file_tools
from ethang_nb.agent.given import chosen_tools
from ethang_nb.agent.jail import Jail
from ethang_nb.agent.limits import Limits
from ethang_nb.agent.masking import mask, masked, masked_message
from ethang_nb.agent.models import Models
from ethang_nb.agent.notices import Notices
from ethang_nb.agent.prompt import prompt
from ethang_nb.agent.reach import Reach
from ethang_nb.agent.recall import recall_tools
from ethang_nb.agent.recovery import Corrections
from ethang_nb.agent.run import Progress, Run
from ethang_nb.agent.runner import MainThread
from ethang_nb.agent.tool import Tool
from ethang_nb.agent.toolbox import Toolbox
from ethang_nb.agent.watchers import Change, Watchers
from ethang_nb.context import kinds
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.kinds import EventKind
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.policy import Policy
from ethang_nb.context.shortening import Reading
from ethang_nb.context.window import Window
from ethang_nb.errors import Misuse
from ethang_nb.providers.protocol import Body, Provider, Request
from ethang_nb.tokens.registry import family_ratio

__all__ = ["Desk"]

NOTE_PROMPT = "compaction@v2"


class Desk:
    """The things of one session. `archive`, `chronicle` and `departures` are there from `keep_in` on.

    The context, the chronicle and the archive's writing are shared by the worker and whoever asks: `lock` is held
    while they change. `provider`, `limits` and `main` may be others from one run to the next. `given` is what was said
    of models beside the session's own.
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
        reach: Reach | None = None,
        given: Models | None = None,
    ) -> None:
        self.name, self.model = name, model
        self.provider, self.counter = provider, counter
        self.reach = Reach() if reach is None else reach
        self.given = Models() if given is None else given
        self._beside: dict[str, Provider] = {}
        """Providers of other models than the session's own, by model id."""
        self.limits, self.params = limits, params
        self.note_prompt = prompt(NOTE_PROMPT)
        self.watchers: Watchers[Progress] = Watchers()
        self.changes: Watchers[Change] = Watchers()
        self.notices = Notices()
        self.coming = Coming()
        self.lock = threading.RLock()
        self.turning = asyncio.Lock()
        """Held in the worker from a request point until its note is written."""
        self.main = MainThread()
        """Whoever waits for the run that is going on."""
        self.corrections = Corrections()
        self.reading: Reading | None = None
        """The last request that both sides counted, without a sign that it was shortened."""
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
            system=mask(system),
            project=mask(project),
            tools=self.toolbox.specs,
            spill=self._spill,
            searchable=self.toolbox.searchable,
            ratio=family_ratio(model),  # until the provider reports
        )
        self.live.rates = self.reach.rates(model)

    def keep_in(self, archive: Archive) -> None:
        """From here on everything is kept in `archive`."""
        self.archive = archive
        self.live.journal = archive
        self.chronicle = Chronicle(self.live, judged=True)
        self.departures = Departures(self.live)

    def beside(self, model: str) -> Provider:
        """The provider of another model than the session's own; made once."""
        if model not in self._beside:
            self._beside[model] = self.reach.provider(model)
        return self._beside[model]

    async def let_go(self) -> None:
        """Closes all providers. One that cannot be closed keeps nobody from closing the others."""
        opened = (self.provider, *self._beside.values())
        await asyncio.gather(*(provider.close() for provider in opened), return_exceptions=True)

    # ---- what comes

    def take(self, message: Message) -> Message:
        """A message enters the context; returns it as it entered."""
        message = masked_message(message)
        with self.lock:
            self.live.append(message)
        self.changes.tell("message")
        return message

    def saying(self, text: str) -> None:
        """A piece of the reply that is coming; it is shown and not recorded, the whole reply will be."""
        self.coming.say(text)
        self.changes.tell("text")

    def noted(self, text: str, run: Run | None = None) -> None:
        """What whoever waits for a reply should know meanwhile, such as that it is tried again; "": that is over."""
        text = mask(text)
        with self.lock:
            self.coming.wait(text)
            if text:
                self.log(kinds.WAITED, {"text": text})
                self.notices.wait(self.live.step, text)
                if run is not None:
                    run.said.wait(self.live.step, text)
        self.changes.tell("waited")

    def say(self, lines: Sequence[str], run: Run | None = None) -> None:
        """Notices of a request or reply; whoever calls records them with it."""
        lines = [mask(text) for text in lines]
        with self.lock:
            self.notices.say(self.live.step, *lines)
            if run is not None:
                run.said.say(self.live.step, *lines)

    # ---- the record

    def log(self, kind: EventKind, data: dict[str, Any]) -> int:
        """Records an event and returns its number."""
        return self.archive.write(kind, masked(data))

    @staticmethod
    def encoded(provider: Provider, request: Request) -> Body:
        """The bytes of a request for `provider`.

        Raises Misuse for one with a credential of ours in it: tools or parameters have brought it there, or it was not
        known as one when the message with it came.
        """
        body = provider.encode(request)
        text = body.bytes.decode("utf-8", "replace")
        if mask(text) != text:
            raise Misuse(
                "the request holds the value of one of your keys, so nothing was sent; take it out of the tool's "
                "description or params that it is in, or go on with --new where it came before its variable was set"
            )
        return body

    def log_request(self, kind: EventKind, body: Body, data: dict[str, Any]) -> None:
        """Records a request: its bytes are in the record before they are sent."""
        keys = self.archive.record.keep(body.pieces)
        notices = {"notices": list(body.notices)} if body.notices else {}
        self.log(kind, data | notices | {"pieces": list(keys)})

    def _spill(self, tool: str, text: str) -> str:
        return self.archive.spill(tool, text)
