"""Entry: the texts of one segment, beside the row of integers that the planner knows it by.

They stay as they entered. How they stand in the window now is worked out from the row: each result in the form it
has there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter
from ethang_nb.context.cutting import cut
from ethang_nb.context.decision import Decision
from ethang_nb.context.ledger import Result, Row
from ethang_nb.context.messages import Message, ToolResult
from ethang_nb.context.notes import Departed
from ethang_nb.context.squeezing import squeeze
from ethang_nb.context.state import State
from ethang_nb.context.wording import call_title, squeezed, stub, title

__all__ = ["Entry", "Turning"]


@dataclass(slots=True)
class Entry:
    """The messages of one row as they entered, the size of each result then, and where each can be read again."""

    row: int
    messages: list[Message]
    addresses: list[str]
    step: int
    sizes: list[int] = field(default_factory=list)
    """Tokens of each result as it entered."""
    reader: str = ""
    """The tool that reads addresses, "" where there is none."""
    again: bool = False
    """Whether the same stands in another entry: it was sent at another place, or otherwise than it was heard."""
    withdrawn: bool = False
    """Whether it was refused as too large and left unanswered; it is not told once more."""
    _hash: tuple[int, str] = (0, "")
    """Of its first messages: how many, and their hash."""
    _title: str = ""

    @property
    def title(self) -> str:
        """Of its first message, which stays the one that it is."""
        if not self._title:
            self._title = title(self.messages[0])
        return self._title

    @property
    def address(self) -> str:
        """Of a turn with one result, that result's own place; else where the segment begins in the record."""
        results = self.addresses[1:]
        return results[0] if len(results) == 1 else self.addresses[0]

    def hash(self, row: Row) -> str:
        """Of the content as it entered, call ids renumbered: what of it `row` knows, not what came later."""
        known = 1 + len(row.results)
        if self._hash[0] != known:
            hashes = [message.hash for message in self.messages[:known]]
            whole = hashes[0] if known == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
            self._hash = (known, whole)
        return self._hash[1]

    def call_title(self, result: ToolResult) -> str:
        """What the call was that `result` answers."""
        for call in self.messages[0].calls:
            if call.id == result.call_id:
                return call_title(call)
        return result.name or "tool"

    def line(self, index: int) -> str:
        """The one line that stands for result `index` once it left."""
        result = self.messages[index + 1].results[0]
        return stub(self.call_title(result), result, self.sizes[index], self.addresses[index + 1])

    def place_of(self, call_id: str) -> int:
        """Which of the results the one of this call is, in the order of their calls, however they come."""
        order = {call.id: at for at, call in enumerate(self.messages[0].calls)}
        own = order.get(call_id, len(order))
        return sum(order.get(message.results[0].call_id, 0) < own for message in self.messages[1:])

    def joined(self, message: Message, address: str, tokens: int) -> Entry:
        """The same with a result more, in the order of the calls."""
        at = self.place_of(message.results[0].call_id)
        entry = self.copy()
        entry.messages.insert(at + 1, message)
        entry.addresses.insert(at + 1, address)
        entry.sizes.insert(at, tokens)
        return entry

    def forms(self, row: Row, counter: TokenCounter) -> tuple[Message, ...]:
        """The messages as they are sent while `row` says how they stand."""
        results = [self._in_form(index, result, counter) for index, result in enumerate(row.results)]
        return (self.messages[0], *results)

    def _in_form(self, index: int, counted: Result, counter: TokenCounter) -> Message:
        message = self.messages[index + 1]
        result, address = message.results[0], self.addresses[index + 1]
        match counted.form:
            case "stub":
                new = replace(result, text=self.line(index), images=(), address=address)
            case "shrunk":
                limit = counted.tokens - MESSAGE_OVERHEAD
                text = cut(result.text, limit, counter, address, reader=self.reader)
                new = replace(result, text=text, address=address)
            case "squeezed":
                new = replace(result, text=squeezed(squeeze(result.text), address), address=address)
            case _:
                return message
        return replace(message, parts=(new,))

    def departed(self, tokens: int) -> Departed:
        return Departed(
            segment=str(self.row),
            title=self.title,
            tokens=tokens,
            address=self.address,
            messages=tuple(self.messages),
            logged=self.addresses[0],
        )

    def copy(self) -> Entry:
        return replace(
            self, messages=list(self.messages), addresses=list(self.addresses), sizes=list(self.sizes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """A moment at which something was decided: the request point (or the one that comes next), and the decision.

    `sends` is False where a cleanup was asked for between two runs: nothing is sent at that step. Of a request that
    was only followed, `foretold` is what the policy would have done, and `said` what else there is to say of it.
    """

    step: int
    decision: Decision
    entries: Mapping[int, Entry]
    sends: bool = True
    foretold: Decision | None = None
    said: tuple[str, ...] = ()

    @property
    def before(self) -> State:
        return self.decision.before
