"""Pinning: what a context does with pins: found by rule, set by hand, entering, lifted.

Each act is written to the journal before the state changes. Which pins there are is the board's to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ethang_nb.context import kinds
from ethang_nb.context.core import line_tokens
from ethang_nb.context.events import CoreRendered, Pinned, Unpinned
from ethang_nb.context.messages import Message, user
from ethang_nb.context.pinboard import PinBoard
from ethang_nb.context.pins import find, lifted
from ethang_nb.context.snapshot import BY_HAND, Pin
from ethang_nb.context.wording import pin_text
from ethang_nb.errors import Misuse

if TYPE_CHECKING:
    from ethang_nb.context.live import LiveContext

__all__ = ["Pinning"]


class Pinning:
    """The pins of one context."""

    def __init__(self, context: LiveContext) -> None:
        self._context = context
        self.board = PinBoard()

    def find(self, row: int, message: Message) -> None:
        """Lifts and pins what the cue rules find in an owner's message, where it is not done yet."""
        for lift in lifted(message, self.board.holding):
            self.unpin(lift.pin, lift.reason)
        for found in find(message):
            if self.board.same(found.text, found.kind) is None:
                self.put(found.kind, found.text, found.rule, row)

    def pin(self, text: str, kind: str) -> Pin:
        """Pins a text by hand: its own message holds it where it stands there word for word.

        Else it enters at the next request as an owner message. A sentence that is pinned already is that pin.
        Raises Misuse where it would leave no room to work.
        """
        context = self._context
        new = self.board.new(kind, text, BY_HAND, -1)
        same = self.board.same(new.text, new.kind)
        if same is not None:
            return same
        self._refuse_large(new)
        for number in context.state.numbers:
            held = context.state.kind(number) in ("user", "pin")
            if held and text in context.entries[number].messages[0].text:
                return self.put(kind, text, BY_HAND, number)
        return self.put(kind, text, BY_HAND, -1)

    def _refuse_large(self, pin: Pin) -> None:
        """Pins are never cut, so one that leaves no room beside what must stay is refused."""
        state = self._context.state
        line = self._line(pin)
        held = sum(item.line for item in state.pins if not item.core)
        held += sum(self._line(item) for item in self.board.entering)
        tasks = sum(state.row(number).tokens for number in {state.first_task, state.task} - {-1})
        rest = state.fixed + state.core + held + tasks + state.note_tokens
        if rest + line >= state.usable:
            raise Misuse(
                f"this pin takes {line:,} tokens; with {rest:,} for what stays it leaves nothing of the "
                f"{state.usable:,} usable. Pin a shorter sentence, or unpin another"
            )

    def unpin(self, number: int, reason: str = "lifted by hand") -> Pin:
        """Lifts a pin: its message may leave at once, the core loses the line at its next rendering."""
        self.board.find(number)
        self._context.journal.write(kinds.UNPIN, {"id": number, "reason": reason})
        self._context.feed(Unpinned(id=number))
        return self.board.lift(number, reason)

    def put(self, kind: str, text: str, rule: str, row: int) -> Pin:
        """A new pin, held by the message of row `row`; -1: it still has to enter."""
        pin = self.board.new(kind, text, rule, row)
        data = {"kind": pin.kind, "text": pin.text, "rule": rule, "row": row}
        self._context.journal.write(kinds.PIN, data)
        self.board.add(pin)
        if row >= 0:
            self.hold(pin, row)
        return self.board.pins[pin.id - 1]

    def hold(self, pin: Pin, row: int) -> None:
        """The message of row `row` holds the pin from now on; -1: the core does."""
        self.board.bind(pin, row)
        self._context.feed(Pinned(id=pin.id, row=row, line=self._line(pin)))

    def enter(self) -> None:
        """Pins by hand whose text stands nowhere yet enter: into the core at session start, else as messages."""
        context, waiting = self._context, self.board.entering
        if waiting and not context.step:
            context.journal.write(kinds.CORE, {"pins": [pin.id for pin in waiting]})
            self.start_core(waiting)
            return
        for pin in waiting:
            row = context.enter(user(pin_text(pin.kind, pin.text), kind="pin"), own=True)
            self.hold(pin, row)

    def start_core(self, pins: Sequence[Pin]) -> None:
        """The first rendering of the core, before anything was sent."""
        for pin in pins:
            self.hold(pin, -1)
        self._context.feed(CoreRendered(pins=tuple(pin.id for pin in pins)))
        self._context.render_core()

    def _line(self, pin: Pin) -> int:
        return line_tokens(pin.kind, pin.text, self._context.counter)
