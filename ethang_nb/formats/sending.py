"""Sending: the assembled messages in the shape in which a caller's messages came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

from ethang_nb.context.messages import Message
from ethang_nb.context.pairing import mend
from ethang_nb.context.plan import Plan
from ethang_nb.formats import anthropic, call_ids, openai, responses
from ethang_nb.formats.detect import is_anthropic, is_openai
from ethang_nb.formats.items import item_type

__all__ = ["Sender", "Sending", "Shape", "shape_of", "write"]

_KEPT = 3  # times as many segments as were last sent are kept written

Shape = Literal["ethang", "openai", "anthropic", "responses"]
_LONGEST = {"anthropic": anthropic.LONGEST_ID, "responses": responses.LONGEST_ID}


class Sending(list[Any]):
    """What to send now: a list of messages. `system` is set where the shape keeps it apart (Anthropic)."""

    def __init__(
        self,
        items: Iterable[Any],
        *,
        system: str = "",
        plan: Plan | None = None,
        repairs: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        super().__init__(items)
        self.system = system
        self.plan = plan
        self._repairs = repairs

    @cached_property
    def repairs(self) -> tuple[str, ...]:
        """What of the assembled messages was mended or is not sent, one line each by their position."""
        return self._repairs()


def shape_of(given: Any, before: Shape, *, plain: Shape = "openai") -> Shape:
    """The shape of a message, or of a list of them, after others of the shape `before`.

    A dict that tells nothing, because both have it, leaves it as it was; the first such dict is `plain`.
    """
    shape = before
    for item in given if isinstance(given, list | tuple) else (given,):
        shape = _shape_of_one(item, shape, plain)
    return shape


def _shape_of_one(message: Any, before: Shape, plain: Shape) -> Shape:
    if isinstance(message, Message):
        return before
    data = message if isinstance(message, Mapping) else getattr(message, "model_dump", dict)()
    if is_anthropic(data):
        return "anthropic"
    if is_openai(data):
        return "openai"
    if item_type(data):
        return "responses"
    return plain if before == "ethang" else before


def write(messages: Sequence[Message], shape: Shape, plan: Plan | None) -> Sending:
    """The messages in that shape. They need not be legal: what is sent is, and `repairs` says what was changed."""
    if shape == "ethang":
        mended = mend(messages)
        return Sending(mended.messages, plan=plan, repairs=lambda: mended.repairs)
    if shape == "openai":
        plain = openai.write(messages)
        return Sending(plain.messages, plan=plan, repairs=lambda: plain.repairs)
    if shape == "responses":
        items = responses.to_wire(messages)
        return Sending(items.items, plan=plan, repairs=lambda: items.repairs)
    wire = anthropic.to_wire(messages)
    return Sending(wire.messages, system=_system_text(wire.system), plan=plan, repairs=lambda: wire.repairs)


class _Piece(NamedTuple):
    """A segment as it is sent: each item with how it is copied. `ids`: what its calls are called there.

    `names`: what its other items are called (Responses).
    """

    segment: Sequence[Message]
    ids: tuple[str, ...]
    items: Sequence[tuple[Callable[[Any], Any], Any]]
    system: Sequence[dict[str, Any]] = ()
    names: tuple[str, ...] = ()
    mended: bool = False


class Sender:
    """Writes request after request as `write` does, each segment once: what stands as it did is only copied."""

    def __init__(self) -> None:
        self._shape: Shape = "ethang"
        self._pieces: dict[int, _Piece] = {}
        self._others: dict[tuple[int, tuple[str, ...]], _Piece] = {}
        """Pieces whose calls have the id of an earlier one and are renamed."""

    def send(self, segments: Sequence[Sequence[Message]], shape: Shape, plan: Plan | None) -> Sending:
        """The messages of all segments, in order. A segment is known again by being the same object."""

        def whole() -> Sending:
            return write(list(chain.from_iterable(segments)), shape, plan)

        if shape != self._shape:
            self._shape, self._pieces, self._others = shape, {}, {}
        known = self._pieces
        for segment in segments:
            if id(segment) not in known:
                if not _stands_alone(segment):
                    return whole()
                known[id(segment)] = _piece(segment, shape)
        pieces = [known[id(segment)] for segment in segments]
        if len(known) > _KEPT * len(pieces):
            self._pieces, self._others = {id(piece.segment): piece for piece in pieces}, {}
        names = [name for piece in pieces for name in piece.names]
        if len(set(names)) < len(names):
            return whole()
        ids = [call_id for piece in pieces for call_id in piece.ids]
        mended = len(set(ids)) < len(ids)
        if mended:
            pieces = self._renamed(pieces)
        try:  # as new ones, since whoever is sent them may change them
            items = [copied(item) for piece in pieces for copied, item in piece.items]
        except RecursionError:  # arguments of a call nested as deep as JSON allows
            return whole()
        return Sending(
            anthropic.joined(items) if shape == "anthropic" else items,
            system=_system_text(block for piece in pieces for block in piece.system),
            plan=plan,
            # Each segment stands alone, so where none was mended nothing is to be told of them all.
            repairs=(lambda: whole().repairs) if mended or any(piece.mended for piece in pieces) else tuple,
        )

    def _renamed(self, pieces: Iterable[_Piece]) -> list[_Piece]:
        """The pieces with no id twice, each named as in the whole history."""
        free = call_ids.Free(longest=_LONGEST.get(self._shape, openai.LONGEST_ID))
        found = []
        for piece in pieces:
            names = tuple(free.take(call_id) for call_id in piece.ids)
            key = (id(piece.segment), names)
            if names != piece.ids and key not in self._others:
                came = [call.id for call in piece.segment[0].calls]
                turn = dict(zip(came, names, strict=True))
                segment = [call_ids.renamed(message, turn) for message in piece.segment]
                self._others[key] = _piece(segment, self._shape)._replace(segment=piece.segment)
            found.append(piece if names == piece.ids else self._others[key])
        return found


def _stands_alone(segment: Sequence[Message]) -> bool:
    """Whether it can be written by itself: its results answer its own calls, which have ids of their own."""
    first, *results = segment
    waiting = [call.id for call in first.calls]
    if first.results or (waiting and first.role != "assistant"):
        return False
    if "" in waiting or len(set(waiting)) < len(waiting):
        return False
    for message in results:
        if message.role != "tool" or len(message.parts) != 1 or len(message.results) != 1:
            return False
        if message.results[0].call_id not in waiting:
            return False
        waiting.remove(message.results[0].call_id)
    return True


def _piece(segment: Sequence[Message], shape: Shape) -> _Piece:
    """A segment that stands alone, written."""
    if shape == "ethang":
        mended = mend(segment)
        items = [(_same, message) for message in mended.messages]
        return _Piece(segment, (), items, mended=bool(mended.repairs))
    if shape == "openai":
        plain = openai.write(segment)
        ids = [call["id"] for item in plain.messages for call in item.get("tool_calls", ())]
        written = [(_copy_of(item), item) for item in plain.messages]
        return _Piece(segment, tuple(ids), written, mended=bool(plain.repairs))
    if shape == "responses":
        answer = responses.to_wire(segment)
        ids = [item["call_id"] for item in answer.items if item["type"] == "function_call"]
        names = [item["id"] for item in answer.items if "id" in item]
        written = [(_copy_of(item), item) for item in answer.items]
        return _Piece(segment, tuple(ids), written, names=tuple(names), mended=bool(answer.repairs))
    wire = anthropic.apart(segment)
    blocks = [block for item in wire.messages for block in item["content"]]
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    written = [(_copy_of(item), item) for item in wire.messages]
    return _Piece(segment, tuple(ids), written, wire.system, mended=bool(wire.repairs))


def _same(message: Message) -> Message:
    return message


def _copy_of(item: dict[str, Any]) -> Callable[[Any], Any]:
    """How an item is copied: nearly all hold texts alone, or calls or simple blocks besides."""
    nested = [key for key, value in item.items() if isinstance(value, list | dict)]
    if nested == ["tool_calls"]:
        return _with_calls
    if nested == ["content"] and not any(map(_nests, item["content"])):
        return _with_blocks
    return _fresh if nested else dict.copy


def _nests(block: dict[str, Any]) -> bool:
    return any(isinstance(value, list | dict) for value in block.values())


def _with_calls(item: dict[str, Any]) -> dict[str, Any]:
    copied = item.copy()
    copied["tool_calls"] = [{**call, "function": call["function"].copy()} for call in item["tool_calls"]]
    return copied


def _with_blocks(item: dict[str, Any]) -> dict[str, Any]:
    copied = item.copy()
    copied["content"] = [block.copy() for block in item["content"]]
    return copied


def _fresh(value: Any) -> Any:
    if type(value) is dict:
        return {key: inner if type(inner) is str else _fresh(inner) for key, inner in value.items()}
    return [_fresh(inner) for inner in value] if type(value) is list else value


def _system_text(blocks: Iterable[dict[str, Any]]) -> str:
    return "\n\n".join([block["text"] for block in blocks])
