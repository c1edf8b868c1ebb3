"""CoreBlock: the core of one context as text. It changes only where the prefix breaks anyway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from ethang_nb.context.core import Recorded, core_text, state_lines
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.entry import Entry
from ethang_nb.context.ledger import CLASSES
from ethang_nb.context.pointers import MOST, Pointer, choose, how_to_search
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.state import State
from ethang_nb.context.versions import Versions

__all__ = ["CoreBlock"]


class CoreBlock:
    """`text` is the block as it was last rendered; pointers and state are those of the last reseed."""

    def __init__(self, counter: TokenCounter) -> None:
        self.text = ""
        self._counter = counter
        self._pointers: tuple[Pointer, ...] = ()
        self._recorded: tuple[str, ...] = ()

    def copy(self) -> CoreBlock:
        twin = CoreBlock(self._counter)
        twin.text, twin._pointers, twin._recorded = self.text, self._pointers, self._recorded
        return twin

    def render(self, pins: Iterable[Pin], *, pointed: bool, searchable: bool) -> None:
        """`pointed`: whether pointers stand in it; `searchable`: whether a tool searches the record."""
        self.text = core_text(
            pins,
            self._pointers if pointed else (),
            self._recorded if pointed else (),
            searchable=searchable,
        )

    def point(
        self, state: State, entries: Mapping[int, Entry], versions: Versions, *, searchable: bool
    ) -> None:
        """Takes up where the newest results can be read again, and what the record says of the work."""
        every = (
            (number, index)
            for number in range(state.n - 1, -1, -1)
            for index in range(len(entries[number].sizes) - 1, -1, -1)
        )
        newest = list(islice(every, MOST))
        places = [
            Pointer.of(
                what=entries[number].call_title(entries[number].messages[index + 1].results[0]),
                stub=entries[number].line(index),
                address=entries[number].addresses[index + 1],
                tokens=state.row(number).results[index].stub,
            )
            for number, index in reversed(newest)
        ]
        room = state.pointers - state.pointers_head
        self._pointers = choose(places, room, self._counter, versions=versions, most=MOST)
        recorded = Recorded(
            works=state.work,
            results=sum(state.ledger.upto[again][state.n] for again in CLASSES),
            stale=versions.moved,
            last=places[-1].address if places else "",
        )
        # What left is said, also where no result of it can be pointed to.
        self._recorded = state_lines(recorded, self._counter) or (how_to_search(searchable=searchable),)
