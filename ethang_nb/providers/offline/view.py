"""What a request shows: its messages, tools and texts as an offline provider sees them.

Made from the bytes alone. On the wire a nudge, a note or a pin is a user message like any other, so each is
known by how its text begins. A person may begin a task in the same way: where a text only resembles ours and
asks for something, it is a task. What begins like a pin is one, unless no task is in view.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ethang_nb.providers.offline.admissions import ERROR
from ethang_nb.providers.offline.grammar import parse

__all__ = ["Asked", "Item", "Kind", "View", "view"]

Kind = Literal["system", "task", "nudge", "notice", "note", "pin", "memory", "assistant", "tool"]

# How texts begin that no person typed as a task.
_MARKS: tuple[tuple[str, Kind], ...] = (
    ("[context pressure]", "nudge"),
    ("[context ", "notice"),
    ("[handoff note", "note"),
    ("[pinned", "pin"),
    ("[recalled memory", "memory"),
    ("[images in the result", "notice"),
)
# How ours go on, where nothing else of ours begins so.
_FORMS: Mapping[str, re.Pattern[str]] = {
    "[context pressure]": re.compile(r"\[context pressure\] The window is [\d.,]+ % full\."),
    "[handoff note": re.compile(r"\[handoff note \S+, generation \d+[:\]]"),
}
_STUB = re.compile(r"\s*\[left the window:")
_LEFT = re.compile(r"\[[\d,]+ segments? left the window, ")
"""The one line of a policy without notes."""
_NO_ANSWER = re.compile(
    r"\s*\[?(?:this call )?(?:no result was recorded|never started|(?:was )?interrupted)", re.IGNORECASE
)
_EXTRACT = re.compile(r"^(?:TASK|USER|PIN|AGENT): |^TURN |^=== leaving now", re.MULTILINE)
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A tool call as it stands in the request; `arguments` are empty where they are no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]

    def text(self, name: str) -> str:
        """A text argument, "" where it is missing or of another type."""
        value = self.arguments.get(name, "")
        return value if isinstance(value, str) else ""

    def number(self, name: str, default: int) -> int:
        """A whole number among the arguments, `default` where it is missing or of another type."""
        value = self.arguments.get(name, default)
        return value if isinstance(value, int) else default


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message. A tool's result knows the call it answers."""

    kind: Kind
    text: str
    calls: tuple[Asked, ...] = ()
    answers: Asked | None = None

    @property
    def collapsed(self) -> bool:
        """Whether only its one line is left."""
        return bool(_STUB.match(self.text))

    @property
    def failed(self) -> bool:
        """Whether the tool said that it could not."""
        return self.text.startswith(ERROR)

    @property
    def unanswered(self) -> bool:
        """Whether the call never ran to its end, so that nothing is known of what it asked for."""
        return bool(_NO_ANSWER.match(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A whole request. `max_output` is in tokens."""

    model: str
    items: tuple[Item, ...]
    tools: frozenset[str]
    max_output: int

    def of(self, *kinds: Kind) -> Iterator[Item]:
        return (item for item in self.items if item.kind in kinds)

    def results(self, *names: str) -> Iterator[Item]:
        """Results in full, oldest first, of the tools with these names (of all where none is named)."""
        for item in self.of("tool"):
            named = item.answers is not None and item.answers.name in names
            if (named or not names) and not item.collapsed:
                yield item

    def calls(self, *names: str) -> Iterator[Asked]:
        for item in self.of("assistant"):
            yield from (call for call in item.calls if call.name in names)

    @property
    def system(self) -> str:
        return "\n".join(item.text for item in self.of("system"))

    @property
    def newest(self) -> Item | None:
        """The last message, notices aside."""
        return next((item for item in reversed(self.items) if item.kind != "notice"), None)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings that the system text names, as a note's prompt does."""
        return tuple(_HEADING.findall(self.system))

    @property
    def wants_note(self) -> bool:
        """Whether this asks for a handoff note: no tools, and an extract of a record instead of a task."""
        return not self.tools and any(_EXTRACT.search(item.text) for item in self.of("task"))


def view(data: Mapping[str, Any]) -> View:
    """The view of a decoded body."""
    calls: dict[str, Asked] = {}
    items = _with_task([_item(message, calls) for message in data["messages"]])
    names = (tool.get("function", {}).get("name", "") for tool in data.get("tools", ()))
    return View(
        model=str(data.get("model", "")),
        items=items,
        tools=frozenset(names),
        max_output=int(data.get("max_tokens", 0)),
    )


def _item(message: Mapping[str, Any], calls: dict[str, Asked]) -> Item:
    text = _text(message.get("content"))
    role = message.get("role")
    if role == "tool":
        return Item(kind="tool", text=text, answers=calls.get(message.get("tool_call_id", "")))
    if role == "assistant":
        asked = tuple(_asked(call) for call in message.get("tool_calls") or ())
        calls.update((call.id, call) for call in asked)
        return Item(kind="assistant", text=text, calls=asked)
    if role == "user":
        return Item(kind=_kind(text), text=text)
    return Item(kind="system", text=text)


def _kind(text: str) -> Kind:
    """What a user message is by its beginning."""
    if _LEFT.match(text):
        return "notice"
    mark, kind = next(((mark, kind) for mark, kind in _MARKS if text.startswith(mark)), ("", "task"))
    form = _FORMS.get(mark)
    return "task" if form and not form.match(text) and _asks(text) else kind


def _asks(text: str) -> bool:
    asked = parse(text)
    return bool(asked.sources or asked.question)


def _with_task(items: list[Item]) -> tuple[Item, ...]:
    """Without any task, the newest message that begins like a pin and asks for something is the task."""
    if not any(item.kind == "task" for item in items):
        for at in reversed(range(len(items))):
            if items[at].kind == "pin" and _asks(items[at].text):
                items[at] = replace(items[at], kind="task")
                break
    return tuple(items)


def _asked(call: Mapping[str, Any]) -> Asked:
    function = call.get("function", {})
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return Asked(
        id=call.get("id", ""),
        name=function.get("name", ""),
        arguments=arguments if isinstance(arguments, dict) else {},
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(
        part.get("text", "") for part in parts if isinstance(part, dict) and part.get("type") == "text"
    )
