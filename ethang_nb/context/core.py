"""Core: the protected block at the end of the system text. Fixed order, no clock: same record, same bytes.

Pins, then pointers, then state; pins are never cut, the rest is capped. It is rendered only when the prefix
breaks anyway (session start, landing, reseed); until then a new pin is kept by its own message, which does not
leave. Seed 004: "fixed ordering, capped sections and no timestamps".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.messages import PASSING, Message
from ethang_nb.context.pointers import REFERENCES_HEAD, Pointer, how_to_search
from ethang_nb.context.snapshot import Left, Pin
from ethang_nb.context.wording import CORE_HEAD, core_line, percent, pin_text, preview

__all__ = [
    "STATE_TOKENS",
    "NotHeld",
    "Recorded",
    "SegmentLike",
    "core_share",
    "core_text",
    "head_tokens",
    "line_tokens",
    "not_held",
    "pointer_head_tokens",
    "state_lines",
]

STATE_TOKENS = 60  # ► the state with its heading
SHARE_PER_MILLE = 100  # ► of usable; pins over it are asked about
STATE_HEAD = "## State, from the record"
STATE_EMPTY = (
    "the state is empty: no pin holds and nothing was read, so a start from the core knows the task and nothing "
    "else; pin first what must hold"
)


def core_text(
    pins: Iterable[Pin],
    pointers: Sequence[Pointer] = (),
    state: Sequence[str] = (),
    *,
    searchable: bool = False,
) -> str:
    """The block, "" where it holds nothing. Constraints first, then decisions, each in order of pinning.

    `pointers` as `choose` gives them, `state` as `state_lines`; `searchable`: whether a tool searches the record.
    """
    inside = sorted(_inside(pins), key=lambda pin: (pin.kind, pin.id))
    lines = [core_line(pin.kind, pin.text) for pin in inside]
    if pointers:
        lines += [REFERENCES_HEAD, *(pointer.line for pointer in pointers)]
        lines.append(how_to_search(searchable=searchable))
    if state:
        lines += [STATE_HEAD, *state]
    return "\n".join([CORE_HEAD, *lines]) if lines else ""


def _inside(pins: Iterable[Pin]) -> list[Pin]:
    return [pin for pin in pins if pin.core and not pin.lifted]


def head_tokens(counter: TokenCounter) -> int:
    return counter.count(CORE_HEAD) + 2  # the blank line before it


def line_tokens(kind: str, text: str, counter: TokenCounter) -> int:
    return counter.count(core_line(kind, text)) + 1  # the line end


def pointer_head_tokens(counter: TokenCounter) -> int:
    """What pointers take beside their own lines: the heading and the line on how to search, the longer one."""
    last = max(counter.count(how_to_search(searchable=searchable)) for searchable in (True, False))
    return counter.count(REFERENCES_HEAD) + last + 2


# State


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the record alone says of the work.

    `works` is the number of the piece of work that is on, `results` how many results were read, `stale` how many
    readings have moved since (`Versions.moved`), `last` the address of the newest one.
    """

    works: int = 0
    results: int = 0
    stale: int = 0
    last: str = ""


def state_lines(recorded: Recorded, counter: TokenCounter) -> tuple[str, ...]:
    """The state within `STATE_TOKENS`, its heading included; empty where nothing was read.

    Whoever starts from the core has to know that work is in progress, how far reading went, which version was
    read last, and whether something moved. Which pins hold stands above, word for word.
    """
    if not recorded.results:
        return ()
    room = STATE_TOKENS - counter.count(STATE_HEAD) - 1
    lines: list[str] = []
    work = f"- work goes on: piece of work {max(1, recorded.works):,}"
    for choices in ((work,), _read_line(recorded)):
        for line in choices:
            cost = counter.count(line) + 1
            if cost <= room:
                lines.append(line)
                room -= cost
                break
    return tuple(lines)


def _read_line(it: Recorded) -> tuple[str, ...]:
    """The longest form first."""
    read = f"- {it.results:,} result{'s' * (it.results > 1)} read"
    moved = f", {it.stale:,} of them stale by now" if it.stale else ""
    place = " ".join(it.last.split())
    last = f"; the last at {place}" if place else ""
    return read + moved + last, read + moved, read


# What people are told


MOST_LISTED = 12  # ► pins that a notice spells out


def core_share(pins: Iterable[Pin], usable: int, counter: TokenCounter) -> str | None:
    """The notice for pins that take over 10 % of `usable` tokens: each with its tokens, the largest first."""
    holding = [pin for pin in pins if not pin.lifted]
    sizes = sorted((-line_tokens(pin.kind, pin.text, counter), pin.id, pin) for pin in holding)
    total = -sum(size for size, *_ in sizes)
    if total * 1000 <= usable * SHARE_PER_MILLE:
        return None
    listed = [f"{id_} ({-size:,} tokens: {preview(pin.text, 60)})" for size, id_, pin in sizes[:MOST_LISTED]]
    if len(sizes) > MOST_LISTED:
        listed.append(f"{len(sizes) - MOST_LISTED} more")
    return (
        f"pins take {total:,} of {usable:,} usable tokens ({percent(total * 1000 // max(1, usable))}) with every "
        f"request; which of them may be lifted? {', '.join(listed)}"
    )


class SegmentLike(Protocol):
    """A segment as it stands in the window, e.g. one of `outline.segments`."""

    @property
    def kind(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def address(self) -> str: ...
    @property
    def messages(self) -> tuple[Message, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHeld:
    """What a reseed loses from view, in order, and the warning where nothing stands for it ("" else)."""

    items: tuple[Left, ...]
    warning: str

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)


_STAYING = ("system", "tools", "project", "core", "task")


def not_held(live: Iterable[SegmentLike], pins: Iterable[Pin], state: Sequence[str] = ()) -> NotHeld:
    """What a reseed would lose from view; all of it stays in the record, at its address.

    A message is held where a pin's sentence is all it says; where it says more, the rest is not.
    """
    said = {
        " ".join(text.split())
        for pin in pins
        if not pin.lifted
        for text in (pin.text, pin_text(pin.kind, pin.text))
    }
    items = tuple(
        Left(title=item.title, tokens=item.tokens, how="evict", address=item.address)
        for item in live
        if item.kind not in (*_STAYING, *PASSING) and not _is_held(item, said)
    )
    return NotHeld(items=items, warning="" if said or state else STATE_EMPTY)


def _is_held(item: SegmentLike, said: set[str]) -> bool:
    if item.kind not in ("user", "pin"):
        return False
    return " ".join(" ".join(message.text for message in item.messages).split()) in said
