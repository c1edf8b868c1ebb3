"""Following: a context that shows requests which somebody else makes, each exactly as it is sent.

Whoever sends brings the whole history each time. What stands in the window already is known by its content; what is no
longer sent leaves with its address, what is new enters as it came. The policy decides nothing: what it would do at a
request is foretold beside it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from ethang_nb.context import kinds
from ethang_nb.context.catalogue import ToolSpec, catalogue_tokens
from ethang_nb.context.counting import MESSAGE_OVERHEAD, message_tokens
from ethang_nb.context.decision import Decision
from ethang_nb.context.draft import Draft
from ethang_nb.context.entry import Turning
from ethang_nb.context.events import Followed, MessageAdded, ResultAdded, Unpinned
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, Part, Text, ToolCall, ToolResult
from ethang_nb.context.planner import decide

__all__ = ["Following", "same"]

_SHOWN = 3  # ► addresses named where more left

_Content = tuple[tuple[object, ...], ...]

Unit = tuple[Message, ...]
"""A message, or a tool turn: an assistant message with the results of its calls."""


_Kind = Literal["row", "note", "passing"]


class _Stood(NamedTuple):
    """Something that stands in the window: a row, a note or what passes, with its number and its messages as sent."""

    kind: _Kind
    number: int
    unit: Unit


class _Aligned(NamedTuple):
    """What of the window is sent again, in its order; what leaves; and what is to enter, in the order of sending."""

    stays: list[tuple[_Stood, Unit]]
    leaves: list[_Stood]
    enters: list[Unit]


class Following:
    """Makes one live context follow requests. Whoever calls holds the lock of the context."""

    def __init__(self, context: LiveContext) -> None:
        self._context = context
        self._heard = -1
        """The row of a reply that was heard and has not been sent back yet; -1: none."""

    def follow(self, messages: Sequence[Message], *, system: str, tools: Sequence[ToolSpec]) -> Turning:
        """A request of these messages, which are legal and hold no system text, is sent right now."""
        context, state, kept = self._context, self._context.state, system == self._head
        aligned = _align(self._stood(), list(_units(messages)))
        left = {item.number for item in aligned.leaves if item.kind == "row"}
        said = self._parts_said(system, tools)
        otherwise = self._otherwise(aligned)
        again = self._before(aligned.enters, left - otherwise)
        taken = otherwise | {row for row in again if row in left}
        if left and not aligned.stays and not taken:
            context.begun("", None)
            said.append("nothing of the request before is in it: a new piece of work")
        self._loosen_pins(left, core=not kept)
        context.tools = tuple(tools)
        if not kept:
            self._put_system(system)
        context.feed(
            Followed(
                system=None if kept else self._tokens(system),
                tools=catalogue_tokens(context.tools, context.counter),
                taken=tuple(sorted(taken)),
                task=state.task in left or not state.is_live(state.task),
                first=state.first_task in left,
            )
        )
        self._take_in(aligned, again)
        self._hold_pins(left)
        leaves = [item for item in aligned.leaves if item.kind != "row" or item.number not in taken]
        turning = context.turn(self._decision(leaves))
        said += self._left_said(leaves)
        turning = replace(turning, foretold=decide(context.state), said=tuple(said))
        context.tell(turning)
        return turning

    def hear(self, reply: Message) -> None:
        """The answer to the request that was followed last. If the next request brings it otherwise, that one holds."""
        self._heard = self._context.enter(reply, tokens=message_tokens(reply, self._context.counter))

    # ---- what stands, and what of it is sent again

    def _stood(self) -> list[_Stood]:
        context, state = self._context, self._context.state
        numbers = state.numbers
        found: list[tuple[_Kind, int]] = [("row", number) for number in numbers]
        for item in reversed(state.passing):
            found.insert(bisect_left(numbers, item.after), ("passing", item.id))
        head = [found.pop(0)] if state.head is not None else []
        notes: list[tuple[_Kind, int]] = [("note", note.id) for note in state.notes]
        parts = context.parts()
        if parts and parts[0][0].role == "system":
            parts = parts[1:]
        return [
            _Stood(kind, number, unit)
            for (kind, number), unit in zip([*head, *notes, *found], parts, strict=True)
        ]

    @property
    def _head(self) -> str:
        """The system text as it stands in the window."""
        context = self._context
        return "\n\n".join(part for part in (context.system, context.project, context.core) if part)

    def _otherwise(self, aligned: _Aligned) -> set[int]:
        """The reply that was heard last, where it comes back otherwise, such as without its thinking: that holds."""
        heard, self._heard = self._heard, -1
        if not aligned.leaves or not aligned.enters or aligned.leaves[-1].number != heard or heard < 0:
            return set()
        # Only if all that stood before it is sent: else this is no answer to what was asked.
        if any(item.kind == "row" and item.number != heard for item in aligned.leaves[-2:]):
            return set()
        if aligned.enters[0][0].role != "assistant":
            return set()
        entries = self._context.entries
        entries[heard] = replace(entries[heard].copy(), again=True)
        return {heard}

    def _before(self, enters: Sequence[Unit], left: set[int]) -> list[int | None]:
        """For each of these the row that held the very same before, rather one that leaves now; None: it is new."""
        if not enters:
            return []
        state, places = self._context.state, dict[_Content, list[int]]()
        for number, entry in self._context.entries.items():
            if number in left or (number >= 0 and not entry.again and not state.is_live(number)):
                places.setdefault(_content(entry.messages), []).append(number)
        found: list[int | None] = []
        for unit in enters:
            rows = places.get(_content(unit), [])
            row = next((row for row in rows if row in left), rows[0] if rows else None)
            if row is not None:
                rows.remove(row)
            found.append(row)
        return found

    # ---- what changes

    def _loosen_pins(self, left: set[int], *, core: bool) -> None:
        """Pins whose sentence is not sent any more enter again once the context makes a request itself."""
        context = self._context
        for pin in context.board.holding:
            if (pin.core and core) or (pin.segment and int(pin.segment) in left):
                context.feed(Unpinned(id=pin.id))
                context.board.wait(pin)

    def _put_system(self, system: str) -> None:
        context = self._context
        if system:
            context.journal.write(kinds.SYSTEM, {"text": system})
        context.system, context.project, context.block.text = system, "", ""

    def _tokens(self, text: str) -> int:
        return MESSAGE_OVERHEAD + self._context.counter.count(text) if text else 0

    def _take_in(self, aligned: _Aligned, again: Sequence[int | None]) -> None:
        for item, unit in aligned.stays:
            self._join(item, unit)
        for unit, old in zip(aligned.enters, again, strict=True):
            if old is None:
                self._enter(unit)
            else:
                self._enter_again(unit, old)

    def _enter(self, unit: Unit) -> None:
        context, first = self._context, unit[0]
        row = context.enter(first, tokens=message_tokens(first, context.counter))
        context.pinning.find(row, first)
        for message in unit[1:]:
            context.stand(message)

    def _enter_again(self, unit: Unit, old: int) -> None:
        """As it entered before, with the address that it has had since."""
        context = self._context
        ledger = context.state.closed().ledger
        known, row = ledger.entered(old), context.state.next_row
        context.entries[row] = replace(context.entries[old].copy(), row=row, step=context.step, again=True)
        context.feed(MessageAdded(kind=known.kind, tokens=known.base, calls=len(unit[0].calls)))
        for at, result in enumerate(known.results):
            context.feed(ResultAdded(result=result, row=row, at=at, judged=True))

    def _join(self, item: _Stood, unit: Unit) -> None:
        """Results that a turn was still waiting for."""
        if len(unit) == len(item.unit):
            return
        answered = {message.results[0].call_id for message in item.unit[1:]}
        for message in unit[1:]:
            if message.results[0].call_id not in answered:
                self._context.stand(message)

    def _hold_pins(self, left: set[int]) -> None:
        """A pin whose sentence stands in a person's message that is sent needs no message of its own."""
        context = self._context
        for pin in context.board.entering:
            for number in context.state.numbers:
                held = number not in left and context.state.kind(number) in ("user", "pin")
                if held and pin.text in context.entries[number].messages[0].text:
                    context.pinning.hold(pin, number)
                    break

    def _decision(self, leaves: Sequence[_Stood]) -> Decision:
        before = self._context.state.closed()
        if not leaves:
            return Decision(outcome="nothing", before=before, after=before, followed=True)
        gone = {
            kind: {item.number for item in leaves if item.kind == kind} for kind in ("row", "note", "passing")
        }
        draft = Draft(before)
        draft.remove([(row, row + 1) for row in sorted(gone["row"])])
        after = draft.after()
        passed = [item for item in before.passing if item.id in gone["passing"]]
        after = after._replace(
            notes=tuple([note for note in before.notes if note.id not in gone["note"]]),
            passing=tuple([item for item in before.passing if item not in passed]),
            occupied=after.occupied - sum([item.tokens for item in passed]),
        )
        return Decision(outcome="cleanup", before=before, after=after, followed=True)

    # ---- what is said

    def _parts_said(self, system: str, tools: Sequence[ToolSpec]) -> list[str]:
        context, said = self._context, list[str]()
        if not context.step:
            return said
        if system != self._head:
            said.append("another system text" if system else "no system text any more")
        if tuple(tools) != context.tools:
            said.append(f"another catalogue: {len(tools)} tools, {len(context.tools)} before")
        return said

    def _left_said(self, leaves: Sequence[_Stood]) -> list[str]:
        if not leaves:
            return []
        entries = self._context.entries
        places = [entries[item.number].address for item in leaves if item.kind == "row"]
        places = [address for address in places if address]
        named = ", ".join(places[:_SHOWN]) + (", …" if len(places) > _SHOWN else "")
        segments = "segment" if len(leaves) == 1 else "segments"
        return [f"{len(leaves)} {segments} not sent any more{f' ({named})' if named else ''}"]


def same(one: Message, other: Message) -> bool:
    """Whether two messages are the same on the wire: arguments by their value, results by their call and text."""
    if one.role != other.role:
        return False
    return one.parts == other.parts or _plain(one.parts) == _plain(other.parts)


def _plain(parts: Iterable[Part]) -> list[object]:
    found: list[object] = []
    for part in parts:
        if isinstance(part, Text):
            if found and isinstance(found[-1], str):
                found[-1] += part.text
            else:
                found.append(part.text)
        elif isinstance(part, ToolCall):
            found.append((part.id, part.name, _value(part.arguments)))
        elif isinstance(part, ToolResult):
            found.append((part.call_id, part.text, part.images))
        else:
            found.append(part)
    return found


def _value(arguments: str) -> object:
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _content(messages: Sequence[Message]) -> _Content:
    return tuple([(message.role, message.parts) for message in messages])


def _units(messages: Iterable[Message]) -> Iterable[Unit]:
    """The messages with each result beside its call. The history is legal, so results stand right behind it."""
    unit: list[Message] = []
    for message in messages:
        if unit and message.role != "tool":
            yield tuple(unit)
            unit = []
        unit.append(message)
    if unit:
        yield tuple(unit)


def _align(stood: Sequence[_Stood], units: Sequence[Unit]) -> _Aligned:
    """What is sent again is found in the order of the window; from the first that is not, everything enters anew."""
    stays: list[tuple[_Stood, Unit]] = []
    leaves: list[_Stood] = []
    at = 0
    for done, unit in enumerate(units):
        place = next((index for index in range(at, len(stood)) if _continues(stood[index].unit, unit)), None)
        if place is None:
            return _Aligned(stays, [*leaves, *stood[at:]], list(units[done:]))
        leaves += stood[at:place]
        stays.append((stood[place], unit))
        at = place + 1
    return _Aligned(stays, [*leaves, *stood[at:]], [])


def _continues(stood: Unit, unit: Unit) -> bool:
    """Whether `unit` is what stands, or that with results of calls that were still open."""
    if len(unit) < len(stood) or not same(stood[0], unit[0]):
        return False
    if len(unit) == len(stood):
        return all(same(one, other) for one, other in zip(stood[1:], unit[1:], strict=True))
    sent = {message.results[0].call_id: message for message in unit[1:]}
    return all(
        message.results and same(message, sent.get(message.results[0].call_id, unit[0]))
        for message in stood[1:]
    )
