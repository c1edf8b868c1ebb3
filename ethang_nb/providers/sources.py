"""What a task's sources are by the lists in view, which of them the context shows, and which one is next.

The reader has no memory: it goes on after the last source, in list order, that its context shows. Calls,
stubs, notes and reference lines show a source; a list of names, the task itself, and the body of a tool's
text do not.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ethang_nb.providers.names import Source, forbids, normal
from ethang_nb.providers.notes import told
from ethang_nb.providers.pages import lines_of, page
from ethang_nb.providers.view import Item, View

__all__ = ["Gap", "Listing", "expand", "list_of", "next_of", "shown"]

_LIST = re.compile(r"\[(?P<count>\d[\d,]*) files? in (?P<folder>.*?)\]\s*$", re.MULTILINE)
_MORE = re.compile(r"\[([\d,]+) more names?\]")
_ADDRESS = re.compile(r"\bfile:(?:([^\n|:;,\]]+?)#L\d|([^\s#|,;)\]]+))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Names of a list that are not in view; they are lines `start` to `end` of the text at `ref`."""

    folder: str
    ref: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A folder's names in order, gaps where the list was cut.

    `failed` holds what the tool said instead, `missing` how many names it kept to itself.
    """

    folder: str
    entries: tuple[str | Gap, ...] = ()
    failed: str = ""
    missing: int = 0


def list_of(view: View, folder: str) -> Listing | None:
    """The newest list of `folder` in view, with the pages of it that were read since; None where there is none."""
    for item in reversed(list(view.results("list_files"))):
        call = item.answers
        if call is None or normal(call.text("folder") or ".") != folder or item.unanswered:
            continue
        match = _LIST.search(item.text)
        if match is None:
            return Listing(folder=folder, failed=" ".join(item.text.split())[:200] or "an empty answer")
        return _listing(view, folder, item.text[match.start() :])
    return None


def expand(view: View, sources: Iterable[Source]) -> list[str | Gap]:
    """The sources as paths, each once; a folder without a list in view stands for nothing."""
    paths: dict[str | Gap, None] = {}
    for source in sources:
        if not source.folder:
            paths[source.path] = None
            continue
        listing = list_of(view, source.path)
        for entry in listing.entries if listing else ():
            if isinstance(entry, Gap) or fnmatch.fnmatchcase(posixpath.basename(entry), source.pattern):
                paths[entry] = None
    return list(paths)


def next_of(entries: Sequence[str | Gap], seen: frozenset[str], never: Iterable[str]) -> str | Gap | None:
    """The first entry after the last one shown that nobody forbade to open; None where all are read."""
    never = tuple(never)
    for entry in entries[_cursor(entries, seen) :]:
        if isinstance(entry, Gap) or not forbids(never, entry):
            return entry
    return None


def shown(view: View, paths: Iterable[str]) -> frozenset[str]:
    """The sources that the context shows; `paths` are those whose bare names are looked for in notes."""
    names = tuple(paths)
    return frozenset(path for item in view.items for path in _shown_by(item, names))


def _shown_by(item: Item, names: tuple[str, ...]) -> Iterator[str]:
    match item.kind:
        case "assistant":
            yield from _addresses(item.text)
        case "tool":
            call = item.answers
            if call is not None and call.name == "read_file" and not item.unanswered:
                yield normal(call.text("path"))
            if call is not None and call.name == "read_spill":
                yield from _addresses(call.text("ref"))
            if item.collapsed:
                yield from _addresses(item.text)
        case "note":
            for _, text in told(item.text):
                yield from _addresses(text)
                yield from (name for name in names if _names(text, name))
        case "system" | "notice" | "nudge":
            yield from _addresses(item.text)
        case _:
            return


def _addresses(text: str) -> Iterator[str]:
    return (normal(spaced or plain) for spaced, plain in _ADDRESS.findall(text))


def _names(text: str, path: str) -> bool:
    """Whether a note's text names the file, by its path or its name alone."""
    base = re.escape(posixpath.basename(path))
    return bool(re.search(rf"(?<![\w.-]){base}(?![\w-]|\.\w)", text))


def _cursor(entries: Sequence[str | Gap], seen: frozenset[str]) -> int:
    """The position to go on from: after the last entry shown, or at the gap that one shown lies in."""
    after = max((at + 1 for at, entry in enumerate(entries) if entry in seen), default=0)
    known = {entry for entry in entries if isinstance(entry, str)}
    for at in range(len(entries) - 1, after - 1, -1):
        entry = entries[at]
        if not isinstance(entry, Gap):
            continue
        before = next((name for name in reversed(entries[:at]) if isinstance(name, str)), "")
        inside = (path for path in seen - known if (posixpath.dirname(path) or ".") == entry.folder)
        if any(path > before for path in inside):
            return at
    return after


# A list that was cut


def _listing(view: View, folder: str, text: str) -> Listing:
    known = lines_of(text)
    names = dict(known.lines)
    for item in view.results("read_spill"):
        part = page(item.text)
        if part is not None and known.ref and part.address == known.ref:
            body = item.text.split("\n")[part.head :]
            names |= dict(enumerate(body[: part.end - part.start + 1], part.start))
    entries: list[str | Gap] = []
    gap = missing = 0
    for number in range(2, known.total + 2):  # line 1 is the header, one past the end closes a last gap
        if number not in names and number <= known.total:
            gap = gap or number
            continue
        if gap and known.ref:
            entries.append(Gap(folder=folder, ref=known.ref, start=gap, end=number - 1))
        gap = 0
        name = names.get(number, "").strip()
        if more := _MORE.fullmatch(name):
            missing = int(more[1].replace(",", ""))
        elif name and not name.endswith("/"):
            entries.append(normal(posixpath.join(folder, name)))
    return Listing(folder=folder, entries=tuple(entries), missing=missing)
