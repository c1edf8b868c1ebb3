"""Exchange: one request of a watched client, and the answers to it, as the context is told of them.

A request that its client sends again, because it failed or because the server pointed elsewhere, is the same exchange.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from ethang_nb.errors import ModelFault
from ethang_nb.extras.unpacking import unpacked
from ethang_nb.providers.hearing import MOST, Hearing
from ethang_nb.providers.protocol import Reply

if TYPE_CHECKING:
    from ethang_nb.api import Context, Followed
    from ethang_nb.extras.interfaces import Interface
    from ethang_nb.providers.line import Parser

__all__ = ["Answer", "Exchange"]


class Exchange:
    """`messages`: those of the request, with what it goes on from. `tries`: how often it was sent.

    `moved`: the server pointed elsewhere, so that the client is about to send it again.
    """

    def __init__(
        self, context: Context, interface: Interface, followed: Followed, messages: tuple[Any, ...]
    ) -> None:
        self.context, self.interface, self.followed, self.messages = context, interface, followed, messages
        self.tries = 1
        self.answered = self.moved = False
        self._faults: list[str] = []

    def concluded(self, hearing: Hearing, *, whole: bool) -> Reply | None:
        """Tells the context what came; `whole`: the client read it to its end. The reply, where one came entire."""
        outcome = hearing.outcome
        if isinstance(outcome, Reply):
            usage = outcome.usage
            entire = outcome.stop != "cut"
            self.answered = entire or not whole
            self.context.heard(
                self.followed,
                outcome.message if entire else None,
                usage=None if usage is None else usage.input,
                cached=None if usage is None else usage.cached,
            )
            if entire:
                self._say(
                    f"answered at try {self.tries}; before that: {self._faults[-1]}" if self._faults else ""
                )
                return outcome
            self._fault("the stream ended without its end mark" if whole else "its client read no further")
        elif isinstance(outcome, ModelFault):
            self._fault(" ".join(str(outcome).split()) if whole else "its client read no further")
        return None

    def _fault(self, text: str) -> None:
        self._faults.append(text)
        self._say(f"no whole answer: {text}")

    def _say(self, line: str) -> None:
        said = f"step {self.followed.step}: {line}" if line else ""
        self.context.say(("exchange", self.followed.step), said)


class Answer:
    """The copy of one answer: an `Ear`. `tell(hearing, whole, id)` once nobody reads on, or nothing more comes."""

    def __init__(
        self,
        parser: Parser,
        status: int,
        headers: Mapping[str, str],
        tell: Callable[[Hearing, bool, str], None],
    ) -> None:
        self._status, self._headers, self._tell = status, headers, tell
        self._parser = _Named(parser)
        self._chunks = bytearray()
        self._whole = self._over = False

    def take(self, chunk: bytes) -> None:
        if len(self._chunks) <= MOST:
            self._chunks += chunk

    def end(self) -> None:
        self._whole = True
        self.close()

    def close(self) -> None:
        if not self._over:
            self._over = True
            self._tell(self._heard(), self._whole, self._parser.id)
            self._chunks.clear()

    def _heard(self) -> Hearing:
        hearing = Hearing(self._parser)
        plain = unpacked(bytes(self._chunks), self._headers.get("content-encoding", ""))
        _through(hearing.listen(self._status, self._headers, _once(plain)))
        return hearing


class _Named:
    """A parser that remembers what the answer is called, because a later request may go on from it by that name."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self.id = ""
        self.reply, self.partial, self.usage = parser.reply, parser.partial, parser.usage

    @property
    def heard(self) -> bool:
        return self._parser.heard

    def event(self, name: str, data: str) -> None:
        if not self.id and '"response"' in data:
            try:
                self.id = str(json.loads(data)["response"]["id"])
            except (KeyError, TypeError, ValueError, RecursionError):
                self.id = ""
        self._parser.event(name, data)

    def whole(self, data: Any) -> None:
        if isinstance(data, Mapping) and isinstance(data.get("id"), str):
            self.id = data["id"]
        self._parser.whole(data)


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _through(work: Coroutine[Any, Any, None]) -> None:
    """Runs what never waits: its only chunk is there. Works inside a running loop, too."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("the copy of an answer waited for something")
