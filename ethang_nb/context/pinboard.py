"""PinBoard: the pins of one context in the order in which they were made, and those that wait to enter."""

from __future__ import annotations

from dataclasses import replace

from ethang_nb.context.messages import clean
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.wording import pin_text
from ethang_nb.errors import Misuse, Unknown

__all__ = ["PinBoard"]


class PinBoard:
    """Pins by number, from 1. A lifted pin keeps its number and the reason why it no longer holds."""

    def __init__(self) -> None:
        self.pins: list[Pin] = []
        self._waiting: list[int] = []

    def copy(self) -> PinBoard:
        twin = PinBoard()
        twin.pins, twin._waiting = list(self.pins), list(self._waiting)
        return twin

    def new(self, kind: str, text: str, rule: str, row: int) -> Pin:
        """The next pin; `row` is the segment of its message, -1 where it still has to enter.

        Raises Unknown for another kind than these two, Misuse for a text without a letter or digit.
        """
        if not isinstance(kind, str):
            raise Misuse(f"kind {kind!r} is no kind of pin; give constraint or decision")
        if kind not in ("constraint", "decision"):
            raise Unknown("kind of pin", kind, ("constraint", "decision"))
        if not isinstance(text, str) or not any(letter.isalnum() for letter in text):
            raise Misuse(f"nothing to pin in {str(text)[:60]!r}; give the sentence to keep")
        return Pin(
            id=len(self.pins) + 1,
            kind="decision" if kind == "decision" else "constraint",
            text=clean(text),
            rule=rule,
            segment=str(row) if row >= 0 else "",
        )

    def add(self, pin: Pin) -> None:
        self.pins.append(pin)
        if not pin.segment:
            self._waiting.append(pin.id)

    @property
    def entering(self) -> list[Pin]:
        """Pins that enter at the next request."""
        return [pin for pin in (self.pins[number - 1] for number in self._waiting) if not pin.lifted]

    def same(self, text: str, kind: str) -> Pin | None:
        """The pin of this kind that holds this sentence already, however it is spaced."""
        wanted = " ".join(text.split())
        same = (pin for pin in self.holding if pin.kind == kind and " ".join(pin.text.split()) == wanted)
        return next(same, None)

    def enters_with(self, text: str) -> Pin | None:
        """The waiting pin that enters with this message text."""
        return next((pin for pin in self.entering if pin_text(pin.kind, pin.text) == text), None)

    def wait(self, pin: Pin) -> None:
        """Its text stands in what is sent no longer: it enters again, as at first, when a request is made here."""
        self.pins[pin.id - 1] = replace(pin, segment="", core=False)
        self._waiting.append(pin.id)

    def bind(self, pin: Pin, row: int) -> None:
        """Its message is that of `row`; -1: it has none and stands in the core."""
        self.pins[pin.id - 1] = replace(pin, segment=str(row) if row >= 0 else "", core=row < 0)
        self._waiting = [number for number in self._waiting if number != pin.id]

    def find(self, number: int) -> Pin:
        """A pin that holds. Raises Misuse with the numbers of those that do."""
        for pin in self.pins:
            if pin.id == number and not pin.lifted:
                return pin
        known = ", ".join(str(pin.id) for pin in self.holding) or "none"
        raise Misuse(f"no pin {number}; pins now: {known}")

    def lift(self, number: int, reason: str) -> Pin:
        self.pins[number - 1] = replace(self.find(number), lifted=reason)
        return self.pins[number - 1]

    def move_to_core(self, numbers: set[int]) -> None:
        self.pins = [replace(pin, core=True, segment="") if pin.id in numbers else pin for pin in self.pins]

    @property
    def holding(self) -> list[Pin]:
        return [pin for pin in self.pins if not pin.lifted]
