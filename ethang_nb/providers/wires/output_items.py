"""Output items: what one Responses answer is made of, as the pieces of it come.

By the format each event says by `item_id` and `output_index` which item it means. Servers differ: llama.cpp gives the
id alone, others an id that no other event has, one index for all items, or neither. So an item is found by its id, else
by its index, else it is the last of its kind. Whole texts come again when a part, an item and the answer are done:
where they have more than the pieces brought they hold, where they have less the pieces do; arguments hold as they come
last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ethang_nb.providers.wires.calls import as_arguments
from ethang_nb.providers.wires.words import Words

__all__ = ["KEPT", "Item", "Items"]

KEPT = ("message", "reasoning", "function_call", "custom_tool_call")
"""The types of items that are a model's own; others are of tools that run at the provider."""

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_PARTS = {
    "output_text": "text",
    "text": "text",
    "refusal": "refusal",
    "summary_text": "text",
    "reasoning_text": "text",
}
"""Kinds of parts that hold words, and the field they are in."""
_LISTS = {"message": ("content",), "reasoning": ("summary", "content")}


@dataclass(slots=True, eq=False)
class Item:
    """One item. `parts`: its words, by the list they stand in, their place in it and their kind.

    `whole`: how many parts of a list are whole, for servers that never say which one they mean.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    parts: dict[tuple[str, int, str], Words] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    done: bool = False

    @property
    def says(self) -> bool:
        """Whether there is anything of a reply in it."""
        if self.kind not in KEPT:
            return False
        return any(self.parts.values()) or bool(
            self.fields.get("name") or self.fields.get("encrypted_content")
        )

    def made(self) -> dict[str, Any]:
        """The item as it stands."""
        if self.kind in _CALLS:
            name = _CALLS[self.kind]
            words = self.parts.get((name, 0, name))
            return {**self.fields, "type": self.kind, name: words.text if words else ""}
        made: dict[str, Any] = {**self.fields, "type": self.kind}
        for name in _LISTS.get(self.kind, ()):
            found = sorted((place, kind) for where, place, kind in self.parts if where == name)
            texts = [(kind, self.parts[name, place, kind].text) for place, kind in found]
            made[name] = [{"type": kind, _PARTS[kind]: text} for kind, text in texts if text]
        return made | {"role": "assistant"} if self.kind == "message" else made


class Items:
    """Collects them; `heard` gets the words of the answer itself as they come."""

    def __init__(self, heard: Callable[[str], None] | None = None) -> None:
        self._items: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self._heard = heard

    def __bool__(self) -> bool:
        """Whether anything of the reply has come."""
        return any(item.says for item in self._items)

    def made(self) -> list[dict[str, Any]]:
        """All of them as they stand, in their order."""
        return [item.made() for item in self._items]

    def add(self, event: Mapping[str, Any], kind: str, place: str, part: str) -> None:
        """A piece of the words: in which list (or field) of an item of this `kind`, and what part they are of."""
        item = self._meant(event, kind)
        self._words(item, place, _place(event, item, place), part).add(event.get("delta"))

    def settle(self, event: Mapping[str, Any], kind: str, place: str, part: str, whole: object) -> None:
        """The same words, whole."""
        item = self._meant(event, kind)
        self._settle(item, place, _place(event, item, place), part, whole)
        item.whole[place] = item.whole.get(place, 0) + (kind not in _CALLS)

    def begun(self, event: Mapping[str, Any]) -> None:
        """An item begins: `response.output_item.added`."""
        given = _typed(event.get("item"))
        if given is None:
            return
        kind = given["type"]
        item = self._by_id.get(_text(given.get("id")))
        if item is None or item.kind != kind or item.done:
            item = self._new(kind, given.get("id"), event.get("output_index"))
        self._name(item, given)  # its words are still to come

    def ended(self, event: Mapping[str, Any]) -> None:
        """An item is whole: `response.output_item.done`."""
        given = _typed(event.get("item"))
        if given is None:
            return
        named = {"item_id": given.get("id"), **event}
        item = self._meant(named, given["type"], call_id=_text(given.get("call_id")))
        self._take(item, given)
        item.done = True

    def all_ended(self, output: object) -> None:
        """The whole answer: the `output` of `response.completed`, or of an answer that was no stream.

        Its order holds; what it lacks of what has come stays, behind it.
        """
        all_given = [
            one for one in map(_typed, output if isinstance(output, list) else ()) if one is not None
        ]
        named = [self._by_id.get(_text(given.get("id"))) for given in all_given]
        waiting, ordered = list(self._items), []
        for given, known in zip(all_given, named, strict=True):
            nameless = [item for item in waiting if all(item is not other for other in named)]
            item = _same(given, known, waiting, nameless)
            if item is None:
                item = self._new(given["type"], given.get("id"), None)
            else:
                waiting.remove(item)
            self._take(item, given)
            ordered.append(item)
        self._items = ordered + waiting

    def _meant(self, event: Mapping[str, Any], kind: str, *, call_id: str = "") -> Item:
        """The item that an event is about; one that nobody announced begins here."""
        item_id, index = _text(event.get("item_id")), event.get("output_index")
        of_kind = [item for item in self._items if item.kind == kind]
        found = [self._by_id.get(item_id)]
        found += [item for item in of_kind if call_id and item.fields.get("call_id") == call_id]
        if isinstance(index, int):
            found.append(self._by_index.get(index))
        elif not item_id:
            found += [item for item in reversed(of_kind) if not item.done]
        known = next((item for item in found if item is not None and item.kind == kind), None)
        return known or self._new(kind, item_id, index)

    def _new(self, kind: str, item_id: object, index: object) -> Item:
        item = Item(kind)
        self._items.append(item)
        if _text(item_id):
            self._by_id[_text(item_id)] = item
        if isinstance(index, int):
            self._by_index[index] = item
        return item

    def _take(self, item: Item, given: Mapping[str, Any]) -> None:
        """What a whole item says; nothing in it takes back what has come."""
        self._name(item, given)
        if item.kind in _CALLS:
            words = _CALLS[item.kind]
            self._settle(item, words, 0, words, as_arguments(given.get(words)))
        for name in _LISTS.get(item.kind, ()):
            for place, part in enumerate(_parts(given.get(name))):
                kind = _text(part.get("type"))
                if kind in _PARTS:
                    self._settle(item, name, place, kind, part.get(_PARTS[kind]))

    def _name(self, item: Item, given: Mapping[str, Any]) -> None:
        for name in ("id", "call_id", "name", "encrypted_content"):
            if item.kind in KEPT and _text(given.get(name)):
                item.fields[name] = given[name]

    def _settle(self, item: Item, where: str, place: int, part: str, whole: object) -> None:
        if not isinstance(whole, str) or not whole:
            return
        words = self._words(item, where, place, part)
        had = words.text
        if whole.startswith(had):
            words.add(whole[len(had) :])
        elif where in _CALLS.values() or len(whole) > len(had):
            item.parts[where, place, part] = right = Words()
            right.add(whole)

    def _words(self, item: Item, where: str, place: int, part: str) -> Words:
        spoken = item.kind == "message"
        return item.parts.setdefault((where, place, part), Words(self._heard if spoken else None))


def _place(event: Mapping[str, Any], item: Item, where: str) -> int:
    """The place of a part in its list; where the server does not say, behind those that are whole."""
    found = event.get("summary_index", event.get("content_index"))
    return found if isinstance(found, int) else item.whole.get(where, 0)


def _parts(given: object) -> list[Mapping[str, Any]]:
    """The parts of a list; a plain text where a list should be is one."""
    if isinstance(given, str):
        return [{"type": "output_text", "text": given}]
    return [part for part in given if isinstance(part, Mapping)] if isinstance(given, list) else []


def _typed(given: object) -> Mapping[str, Any] | None:
    """An item, or None for what is none."""
    return given if isinstance(given, Mapping) and _text(given.get("type")) else None


def _same(
    given: Mapping[str, Any], known: Item | None, waiting: list[Item], nameless: list[Item]
) -> Item | None:
    """What has come already of an item, among those that still wait to be found in the whole answer.

    `known` has its id; `nameless` are those whose id the answer does not have.
    """
    if any(item is known and item.kind == given["type"] for item in waiting):
        return known
    of_kind = [item for item in nameless if item.kind == given["type"]]
    call_id = given.get("call_id")
    by_call = next((item for item in of_kind if call_id and item.fields.get("call_id") == call_id), None)
    return by_call or next(iter(of_kind), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
