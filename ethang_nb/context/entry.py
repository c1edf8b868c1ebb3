"""Entry: the texts of one segment, beside the row of integers that the planner knows it by."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ethang_nb.context.messages import Message, ToolResult
from ethang_nb.context.notes import Departed
from ethang_nb.context.planner import Decision
from ethang_nb.context.state import State
from ethang_nb.context.wording import call_title

__all__ = ["Entry", "Turning"]


@dataclass(slots=True)
class Entry:
    """The messages of one row: as they stand in the window, as they entered, and where each can be read again."""

    row: int
    title: str
    messages: list[Message]
    originals: list[Message]
    addresses: list[str]
    step: int

    @property
    def address(self) -> str:
        """Of a turn with one result, that result's own place; else where the segment begins in the record."""
        results = self.addresses[1:]
        return results[0] if len(results) == 1 else self.addresses[0]

    @property
    def in_call_order(self) -> list[Message]:
        """The messages as they are sent: results stand in the order of their calls, however they came."""
        order = {call.id: at for at, call in enumerate(self.messages[0].calls)}
        first, *results = self.messages
        return [first, *sorted(results, key=lambda message: order.get(message.results[0].call_id, 0))]

    def call_title(self, result: ToolResult) -> str:
        """What the call was that `result` answers."""
        for call in self.messages[0].calls:
            if call.id == result.call_id:
                return call_title(call)
        return result.name or "tool"

    def copy(self) -> Entry:
        """The same texts in lists of their own: what a plan was made from, kept while the window changes."""
        return replace(
            self, messages=list(self.messages), originals=list(self.originals), addresses=list(self.addresses)
        )

    def departed(self, tokens: int) -> Departed:
        return Departed(
            segment=str(self.row),
            title=self.title,
            tokens=tokens,
            address=self.address,
            messages=tuple(self.originals),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """A request point: the state and the texts before it, and what was decided."""

    step: int
    before: State
    decision: Decision
    entries: dict[int, Entry]
