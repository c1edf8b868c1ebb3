"""A miss: in what a request differs from the recorded one that is most like it.

The first segment that differs is named by its place, role and source, and shown as a short diff.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethang_nb.errors import CassetteMiss
from ethang_nb.providers.cassettes.file import Tape
from ethang_nb.providers.cassettes.lines import Asked, common

__all__ = ["difference", "miss"]

LINES = 12  # ► of a diff
WIDTH = 75  # ► characters of a line in it, which stands indented in 80
AROUND = 40  # ► characters shown before the first that differs
COMPARED = 200  # ► lines from the first that differs on; comparing takes the square of them
SHORT = 60  # ► characters up to which two values stand in the sentence itself
_LISTS = ("messages", "input")
_FIELD = "its "
_SYSTEM = ("system", "instructions")
_HOW = "record it anew with ETHANG_CASSETTE=record, or let it be asked with ETHANG_CASSETTE=auto"
_USER = "(user)"
_STOPPED = ": what was stopped or failed while it was recorded has no answer there"
_ENDS = "the recorded one ends before it"
_AFRESH = "; a session that was to begin afresh does so in a new kernel, or with --new"


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a request: how it is called, and its text in lines."""

    name: str
    text: str


def miss(asked: Asked, tape: Tape) -> CassetteMiss:
    """What to say of a request that is not on the tape."""
    said, diff = difference(asked, tape)
    torn = "; its last line is not whole" if tape.torn else ""
    how = _HOW + (_AFRESH if said.endswith(_ENDS) else "")
    return CassetteMiss(f"cassette {tape.name} has no answer to this request: {said}{torn}; {how}", diff=diff)


def difference(asked: Asked, tape: Tape) -> tuple[str, str]:
    """In what a request differs from the recorded one that is most like it, and the diff of that part."""
    origins = sorted({origin for origin, _ in tape.places.values()})
    if asked.origin not in origins:
        held = f"it holds answers of {', '.join(origins)[:200]}" if origins else "it holds no answer at all"
        return f"nothing of {asked.origin[:80]} is on it, {held}", ""
    found = _nearest(asked, tape)
    if found is None:
        return "lines of the recorded requests are missing", ""
    if found.path != asked.path:
        return f"it goes to {asked.path[:80]!r}, the recorded ones went to {found.path[:80]!r}", ""
    return _first_difference(_parts(asked.pieces), _parts(found.pieces))


def _nearest(asked: Asked, tape: Tape) -> Asked | None:
    """The recorded request to the same model that has the longest beginning in common with this one."""

    def likeness(other: Asked) -> tuple[bool, int, int, int]:
        alike = sum(one == two for one, two in zip(asked.pieces, other.pieces, strict=False))
        # The head is one piece, and one number in it makes it another.
        began = common(asked.pieces[1:], other.pieces[1:]) if alike else 0
        return other.path == asked.path, began, alike, -abs(len(asked.pieces) - len(other.pieces))

    keys = [key for key, (origin, _) in tape.places.items() if origin == asked.origin]
    known = [found for key in keys if (found := tape.request(key)) is not None]
    return max(known, key=likeness, default=None)


def _first_difference(here: Sequence[_Part], there: Sequence[_Part]) -> tuple[str, str]:
    at = common(here, there)
    if at == len(here) and at == len(there):
        return "it differs in how its bytes are written", ""
    if at == len(here):
        goes_on = f"it ends before {there[at].name}, with which the recorded one goes on"
        return f"{goes_on}{_STOPPED if _USER in there[at].name else ''}", _diff(there[at].text, "")
    if at == len(there):
        return f"{here[at].name} is new, {_ENDS}", _diff("", here[at].text)
    new, old = here[at], there[at]
    if new.name != old.name:
        if new.name in {part.name for part in there[at:]}:
            if old.name.startswith(_FIELD):
                return f"{old.name} is missing, the recorded one has it", _diff(old.text, "")
            return f"{old.name} of the recorded one is missing in it", _diff(old.text, "")
        if old.name in {part.name for part in here[at:]}:
            return f"{new.name} is new, the recorded one has none", _diff("", new.text)
        return f"{new.name} stands where the recorded one has {old.name}", _diff(old.text, new.text)
    short = max(len(new.text), len(old.text)) <= SHORT and "\n" not in new.text + old.text
    if short and new.name.startswith(_FIELD):
        return f"{new.name} is {_visible(new.text)}, recorded was {_visible(old.text)}", ""
    return f"{new.name} differs from the recorded one", _diff(old.text, new.text)


# ---- the parts of a request


def _parts(pieces: Sequence[str]) -> list[_Part]:
    """The fields of the head, each tool, each message; of what is no JSON the pieces as they are."""
    try:
        data = json.loads("".join(pieces))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return [_Part(f"piece {number}", text) for number, text in enumerate(pieces, 1)]
    return [
        *_head(data),
        *_messages(next((data[name] for name in _LISTS if isinstance(data.get(name), list)), [])),
    ]


def _head(data: Mapping[str, Any]) -> Iterator[_Part]:
    for key in sorted(data, key=lambda name: (name != "model", name in _SYSTEM, name == "tools", name)):
        value = data[key]
        if key in _LISTS and isinstance(value, list):
            continue
        if key == "tools" and isinstance(value, list):
            yield from (_Part(f"tool {_tool_name(tool)}", _text(tool)) for tool in value)
        else:
            name = "the system text" if key in _SYSTEM else _FIELD + _visible(key)
            yield _Part(name, _text(value))


def _tool_name(tool: Any) -> str:
    inner = tool.get("function", tool) if isinstance(tool, dict) else {}
    return _visible(str(inner.get("name", "?") if isinstance(inner, dict) else "?"))[:SHORT]


def _messages(items: Sequence[Any]) -> Iterator[_Part]:
    names = {}
    for item in items:
        for call in _dicts(item):
            key = call.get("call_id") or call.get("id")
            function = call.get("function")
            name = function.get("name") if isinstance(function, dict) else call.get("name")
            if isinstance(key, str) and isinstance(name, str):
                names[key] = name
    for number, item in enumerate(items, 1):
        yield _Part(f"message {number} ({_role(item, names)})", _text(item))


def _role(item: Any, names: Mapping[str, str]) -> str:
    """Whose message it is, and of which tool."""
    if not isinstance(item, dict):
        return "of no known role"
    answered = [
        names.get(str(key), "a tool")
        for part in _dicts(item)
        if (key := part.get("tool_call_id") or part.get("tool_use_id") or _output_of(part))
    ]
    ids = [str(part.get("call_id") or part.get("id")) for part in _dicts(item)]
    called = [names[key] for key in ids if key in names]
    role = str(item.get("role") or str(item.get("type", "")).partition("_")[0] or "of no known role")
    if answered:
        said = f"tool result of {', '.join(dict.fromkeys(answered))}"
    elif called:
        said = f"assistant, call of {', '.join(dict.fromkeys(called))}"
    else:
        said = role
    return _visible(said)[:SHORT]


def _output_of(part: Mapping[str, Any]) -> Any:
    return part.get("call_id") if str(part.get("type", "")).endswith("_output") else None


def _dicts(value: Any, depth: int = 4) -> Iterator[dict[str, Any]]:
    """A value of JSON and those in it that are objects."""
    if isinstance(value, dict):
        yield value
    if depth and isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _dicts(item, depth - 1)


def _text(value: Any) -> str:
    """A value of JSON to be read: texts with their lines, the rest indented."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() == {"role", "content"} and isinstance(value["content"], str):
        return value["content"]
    packed = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    return re.sub(r"(?<!\\)((?:\\\\)*)\\n", r"\1\n", packed)


# ---- the diff


def _diff(old: str, new: str) -> str:
    """What changed from `old` to `new`: at most LINES lines, around the first that differs."""
    before, after = old.splitlines(), new.splitlines()
    start = max(0, common(before, after) - 1)
    before, after = before[start : start + COMPARED], after[start : start + COMPARED]
    _, _, *rows = [*difflib.unified_diff(before, after, n=1, lineterm="")] or ["", ""]
    rows = [row for row in rows if not row.startswith("@@")]
    removed = next((row[1:] for row in rows if row.startswith("-")), "")
    added = next((row[1:] for row in rows if row.startswith("+")), "")
    skip = max(0, common(removed, added) - AROUND) if removed and added else 0
    shown = [_clipped(row, skip if row[1:] in {removed, added} else 0) for row in rows]
    if len(shown) > LINES:
        shown = [*shown[: LINES - 1], f"… {len(shown) - LINES + 1} more lines"]
    return "\n".join(shown)


def _clipped(row: str, skip: int) -> str:
    mark, text = row[0], row[1:]
    if skip:
        text = "…" + text[skip:]
    text = _visible(text[: WIDTH + 1])
    return mark + (text if len(text) <= WIDTH else text[: WIDTH - 1] + "…")


def _visible(text: str) -> str:
    """`text` with what cannot be seen as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
