"""Texts: what a segment says, part by part, for a view that opens it. Reads only; whoever calls holds the lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from ethang_nb.errors import NoSuchAddress

__all__ = ["Opened", "Shortened", "TextPart", "opened", "shortened"]

TextPart = dict[str, str]
"""`role` and `text`, and `name` where a tool has one."""


class Opened(NamedTuple):
    """A segment with all its texts."""

    title: str
    address: str
    parts: list[TextPart]


class Shortened(NamedTuple):
    """Texts that fit, and how many characters are left out of them."""

    parts: list[TextPart]
    cut: int


def opened(live: LiveContext, number: str) -> Opened:
    """The segment as it stands in the window, or as it entered where it has left. Raises NoSuchAddress."""
    state = live.state
    if number in (fixed := _fixed(live)):
        return fixed[number]
    for note in state.notes:
        if number == f"note:{note.id}":
            message = live.notes.message(note.id, live.counter)
            return Opened(f"handoff note, generation {note.generation}", "", list(_parts(message)))
    row = next((item.id for item in state.passing if number == f"{item.kind}:{-item.id}"), None)
    if row is None and number.isascii() and number.isdigit():
        row = int(number)
    if row is None or row not in live.entries:
        raise NoSuchAddress(
            f"no segment {number[:40]!r}; there are 0 to {state.next_row - 1} and what stands before them"
        )
    entry = live.entries[row]
    stands = row >= 0 and state.is_live(row)
    messages = entry.forms(state.row(row), live.counter) if stands else entry.messages
    return Opened(entry.title, entry.address, [part for message in messages for part in _parts(message)])


def shortened(parts: Iterable[TextPart], room: int) -> Shortened:
    """The texts in `room` characters: what stands last is cut."""
    found, cut = list[TextPart](), 0
    for part in parts:
        text = part["text"][:room]
        cut += len(part["text"]) - len(text)
        room -= len(text)
        found.append(part | {"text": text})
    return Shortened(found, cut)


def _fixed(live: LiveContext) -> dict[str, Opened]:
    texts = {"system": live.system, "project": live.project, "core": live.core}
    tools: list[TextPart] = [
        {"role": "tool", "name": tool.name, "text": f"{tool.description}\n{dict(tool.parameters)}".strip()}
        for tool in live.tools
    ]
    said = {
        f"fixed:{kind}": Opened(f"{kind} text", "", [{"role": kind, "text": text}])
        for kind, text in texts.items()
    }
    return said | {"fixed:tools": Opened("tool catalogue", "", tools)}


def _parts(message: Message) -> Iterator[TextPart]:
    for part in message.parts:
        match part:
            case Text():
                yield {"role": message.role, "text": part.text}
            case Thinking():
                yield {"role": "thinking", "text": part.text}
            case ToolCall():
                yield {"role": "call", "name": part.name, "text": part.arguments}
            case ToolResult():
                pictures = "".join(f"\n[{_picture(image)}]" for image in part.images)
                yield {"role": "result", "name": part.name, "text": part.text + pictures}
            case Image():
                yield {"role": message.role, "text": f"[{_picture(part)}]"}


def _picture(image: Image) -> str:
    return f"picture {image.media_type}"
