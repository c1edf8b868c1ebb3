"""Bill: what the calls of an experiment take: tokens, fill, what a prompt cache would hold, and the cost of it.

Cost is in input tokens at full price: what a call shares with the one before it, message for message from the start,
is read from the cache at a tenth, the rest is written to it at one and a quarter. A helper, sub-agent or summariser, is
called once for each thing; only its system and tools are in the cache from the second call on. Output of a helper
costs five times its input; that of the thread is the same in every row and left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.messages import Message
from ethang_nb.experiments.sources import SourceCounter

__all__ = ["Bill"]

READ, WRITE, INPUT, OUTPUT = 100, 1_250, 1_000, 5_000  # ► per mille of a fresh input token's price


class Bill:
    """Adds up one thread of calls and those of its helpers. `limit`: tokens that a request may have."""

    def __init__(self, counter: SourceCounter, *, limit: int, fixed: int = 0) -> None:
        self._counter, self._limit, self._fixed = counter, limit, fixed
        self._last: list[tuple[str, str]] | None = None
        self.calls = self.helper_calls = 0
        self.sent = 0
        """Tokens of all calls of the thread."""
        self.cached = 0
        self.helper_read = self.helper_cached = self.helper_written = 0
        self.fills: list[float] = []

    def call(self, messages: Sequence[Message]) -> int:
        """A call of the thread. Returns its tokens."""
        tokens = self._fixed + sum(self._counter.whole(message) for message in messages)
        self.calls += 1
        self.sent += tokens
        self.cached += min(tokens, self._shared(messages))
        self.fills.append(tokens / self._limit)
        return tokens

    def _shared(self, messages: Sequence[Message]) -> int:
        """Tokens of the messages that the call before began with too; system and tools stand before them."""
        now: list[tuple[str, str]] = [(message.role, message.text) for message in messages]
        before, self._last = self._last, now
        if before is None:
            return 0
        shared = self._fixed
        for message, this, last in zip(messages, now, before, strict=False):
            if this != last:
                break
            shared += self._counter.alone(message)
        return shared

    def help(self, read: int, written: int, *, fixed: int = 0) -> None:
        """A helper's call: tokens it was given and wrote; `fixed`: of the former, those of its system and tools."""
        self.helper_cached += fixed if self.helper_calls else 0
        self.helper_calls += 1
        self.helper_read += read
        self.helper_written += written

    @property
    def all_in(self) -> int:
        """Input tokens of everything that was called."""
        return self.sent + self.helper_read

    @property
    def cost(self) -> int:
        cached = self.cached + self.helper_cached
        helped = INPUT * (self.helper_read - self.helper_cached) + OUTPUT * self.helper_written
        return round((READ * cached + WRITE * (self.sent - self.cached) + helped) / 1000)

    @property
    def cached_share(self) -> int:
        """Of the thread's tokens, per mille."""
        return self.cached * 1000 // self.sent if self.sent else 0
