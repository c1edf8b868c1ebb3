"""Tape: a transcript counted once, so that it can be planned again under other levels, policies and windows.

It is the ledger of all rows, with the places of request points: before every assistant message, and one at the end.
What is cut on entry depends on the entry limit, so a tape holds for one limit.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ethang_nb.context.ledger import Ledger
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.pinboard import PinBoard
from ethang_nb.context.state import PinRow, State

__all__ = ["ByHand", "Mark", "Tape"]

ByHand = Callable[[LiveContext], object]
"""What a person did to the context between two messages, such as setting a pin."""


class Mark(NamedTuple):
    """Something that happened other than that a row came: after `rows` rows, before request point `point`.

    `pins` and `board` are the pins from then on, `text` is the system text and `system` its tokens; `work` is the
    piece of work that is on, `begins`: whether it begins there.
    """

    rows: int
    point: int
    pins: tuple[PinRow, ...]
    board: PinBoard
    system: int
    text: str
    work: int
    begins: bool

    def on(self, state: State) -> State:
        """The state with the pins and the system text from then on; what is in the core already stays there."""
        moved = {pin.id for pin in state.pins if pin.core}
        pins = tuple([pin._replace(core=pin.core or pin.id in moved) for pin in self.pins])
        return state._replace(pins=pins, system=self.system)


class Tape:
    """`points[j]` is how many rows precede request point j; `context` holds the texts of all of it."""

    def __init__(
        self,
        context: LiveContext,
        messages: Sequence[Message],
        begins: Sequence[int] = (),
        acts: Mapping[int, Sequence[ByHand]] = MappingProxyType({}),
        before: Callable[[int], object] = lambda _at: None,
    ) -> None:
        """Feeds `context`, which is empty, with all messages; no request is made of it.

        `begins`: positions of the messages before which a piece of work begins; `acts`: what else was done of the
        context before a message, such as a pin by hand; `before(at)` is called just before message `at` enters.
        """
        self.context = context
        self.start, self.system, self.board = context.state, context.system, context.board.copy()
        self.points = array("q")
        self.marks: list[Mark] = []
        self._last = (context.state.pins, context.state.system)
        starts = set(begins)
        for at, message in enumerate(messages):
            if at in starts:
                self._mark(begins=True)
                context.begun("", None)  # whether it starts from the core is for each replay to decide
            for act in acts.get(at, ()):
                act(context)
                self._note()
            if message.role == "assistant":
                self._point()
            before(at)
            context.append(message, judge=False)
            self._note()
        for act in acts.get(len(messages), ()):
            act(context)
            self._note()
        self._point()
        context.state = context.state.closed()
        self.ledger: Ledger = context.state.ledger

    def _point(self) -> None:
        self.points.append(self.context.state.next_row)

    def _note(self) -> None:
        state = self.context.state
        if (state.pins, state.system) != self._last:
            self._mark()

    def _mark(self, *, begins: bool = False) -> None:
        context = self.context
        state = context.state
        self._last = (state.pins, state.system)
        self.marks.append(
            Mark(
                state.next_row,
                len(self.points),
                state.pins,
                context.pinning.board.copy(),
                state.system,
                context.system,
                state.work + begins,
                begins,
            )
        )

    @property
    def first_task(self) -> int:
        return self.context.state.first_task
