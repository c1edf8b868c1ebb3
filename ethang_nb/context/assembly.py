"""Assembly: the messages of a request in their order, segment by segment, kept from one request to the next.

What stands as it did before is the very same tuple of messages, so that whoever sends it need not write it anew. Only
what a decision changed, and what came, is made again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.entry import Entry
from ethang_nb.context.ledger import CLASSES
from ethang_nb.context.messages import Message, Text
from ethang_nb.context.state import State

__all__ = ["Assembly", "Standing"]

Standing = tuple[Message, ...]
"""The messages of one segment as they stand in the window."""


class Assembly:
    """The segments of one context as they were last assembled."""

    def __init__(self) -> None:
        self._rows: dict[int, Standing] = {}
        self._head: dict[str, Standing] = {}
        self._state: State | None = None

    def parts(
        self,
        state: State,
        entries: Mapping[int, Entry],
        counter: TokenCounter,
        *,
        system: str,
        notes: Sequence[Message],
    ) -> list[Standing]:
        """Most stable first: the system text with project and core | task, notes | the rest, oldest first."""
        self._follow(state)
        numbers, rows = state.numbers, self._rows
        found = [rows.get(number) or self._stand(state, number, entries, counter) for number in numbers]
        if len(rows) > 2 * len(numbers):  # most of what is kept has left
            self._rows = dict(zip(numbers, found, strict=True))
        for item in reversed(state.passing):
            found.insert(bisect_left(numbers, item.after), tuple(entries[item.id].messages))
        text = Message(role="system", parts=(Text(text=system),), source="system")
        head = [self._alone("system", text)] if system else []
        if state.head is not None:
            head.append(found.pop(0))
        head += [self._alone(f"note {at}", note) for at, note in enumerate(notes)]
        return head + found

    def forget(self, row: int) -> None:
        """A result joined this row."""
        self._rows.pop(row, None)

    def _stand(
        self, state: State, number: int, entries: Mapping[int, Entry], counter: TokenCounter
    ) -> Standing:
        found = self._rows[number] = entries[number].forms(state.row(number), counter)
        return found

    def _alone(self, name: str, message: Message) -> Standing:
        known = self._head.get(name)
        if known is None or known[0] != message:
            known = self._head[name] = (message,)
        return known

    def _follow(self, state: State) -> None:
        """Forgets the rows whose results stand otherwise than when they were last assembled."""
        before, self._state = self._state, state
        if before is None:
            return
        for again in CLASSES:
            low, high = sorted((before.collapsed[again], state.collapsed[again]))
            if low < high:
                further = state if state.collapsed[again] == high else before
                self._drop(further.ledger.results[again].row[low:high])
        if before.changed != state.changed:
            for one, other in ((before, state), (state, before)):
                self._drop(
                    one.ledger.results[again].row[at]
                    for (again, at), value in one.changed.items()
                    if other.changed.get((again, at)) != value
                )

    def _drop(self, rows: Iterable[int]) -> None:
        for row in rows:
            self._rows.pop(row, None)
