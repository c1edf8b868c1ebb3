"""What a task's sources are by the lists in view, which of them the context shows, and which one is next.

The reader has no memory: it goes on after the last source, in list order, that its context shows since the
task. Calls, stubs, notes and reference lines show a source; a list of names, the task itself, and the body of
a tool's text do not.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ethang_nb.providers.offline.names import Source, forbids, normal, quoted, unquoted
from ethang_nb.providers.offline.notes import told
from ethang_nb.providers.offline.pages import lines_of, page
from ethang_nb.providers.offline.view import Item, View

__all__ = ["LIST_ON", "Gap", "Listing", "expand", "list_of", "next_of", "shown"]

LIST_ON = re.compile(r"\[more names: list_files with start=(\d+)\]")
"""The last line of a list that goes on in another page."""

_LIST = re.compile(r"\[(?P<count>\d[\d,]*) files? in (?P<folder>.*?)\]\s*$", re.MULTILINE)
_MORE = re.compile(r"\[([\d,]+) more names?\]")
_ADDRESS = re.compile(r"\bfile:(?:(\"(?:[^\"\\\n]|\\.)+\"|[^\n|:;,\]]+?)#L\d|([^\s#|,;)\]]+))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Names of a list that are not in view: lines `start` to `end` of the text at `ref`.

    Without a `ref` they are a page of the list itself, from name `start` on.
    """

    folder: str
    ref: str
    start: int
    end: int = 0


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
    """The newest list of `folder` in view, all its pages together; None where there is none."""
    pages: dict[int, Item] = {}
    for item in view.results("list_files"):
        call = item.answers
        if call is not None and normal(call.text("folder") or ".") == folder and not item.unanswered:
            pages[max(1, call.number("start", 1))] = item
    if 1 in pages and not _LIST.search(pages[1].text):
        return Listing(folder=folder, failed=" ".join(pages[1].text.split())[:200] or "an empty answer")
    entries: list[str | Gap] = []
    on, missing = 1, 0
    for start, item in sorted(pages.items()):
        if start > on:
            entries.append(Gap(folder=folder, ref="", start=on))
        part, on = _page_of_list(view, folder, start, item.text)
        entries += part.entries
        missing += part.missing
        if not on:
            break
    if on:
        entries.append(Gap(folder=folder, ref="", start=on))
    return Listing(folder=folder, entries=tuple(entries), missing=missing) if pages else None


def expand(sources: Iterable[Source], list_of_folder: Callable[[str], Listing | None]) -> list[str | Gap]:
    """The sources as paths, each once; a folder without a list stands for nothing."""
    paths: dict[str | Gap, None] = {}
    for source in sources:
        if not source.folder:
            paths[source.path] = None
            continue
        listing = list_of_folder(source.path)
        for entry in listing.entries if listing else ():
            if isinstance(entry, Gap) or fnmatch.fnmatchcase(posixpath.basename(entry), source.pattern):
                paths[entry] = None
    return list(paths)


def next_of(
    entries: Sequence[str | Gap], seen: frozenset[str], before: frozenset[str], never: Iterable[str]
) -> str | Gap | None:
    """The first entry after the last one `seen` that was not read `before` the task and that nobody forbade."""
    never = tuple(never)
    for entry in entries[_cursor(entries, seen) :]:
        if isinstance(entry, Gap) or not (entry in before or forbids(never, entry)):
            return entry
    return None


def shown(items: Iterable[Item], paths: Iterable[str]) -> frozenset[str]:
    """The sources that these messages show; `paths` are those whose bare names are looked for in notes."""
    names = tuple(paths)
    return frozenset(path for item in items for path in _shown_by(item, names))


def _shown_by(item: Item, names: tuple[str, ...]) -> Iterator[str]:
    match item.kind:
        case "assistant":
            yield from _addresses(item.text)
        case "tool":
            call = item.answers
            if call is not None and call.name == "read_file" and not item.unanswered:
                yield call.text("path")
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
    return (normal(unquoted(spaced) or plain) for spaced, plain in _ADDRESS.findall(text))


def _names(text: str, path: str) -> bool:
    """Whether a note's text names the file, by its path or its name alone."""
    base = re.escape(quoted(posixpath.basename(path)))
    return bool(re.search(rf"(?<![\w.-]){base}(?![\w-]|\.\w)", text))


def _cursor(entries: Sequence[str | Gap], seen: frozenset[str]) -> int:
    """The position to go on from: after the last entry shown, or at the gap that one shown lies in."""
    after = max((at + 1 for at, entry in enumerate(entries) if entry in seen), default=0)
    known = {entry for entry in entries if isinstance(entry, str)}
    for at in range(len(entries) - 1, after - 1, -1):
        entry = entries[at]
        if not isinstance(entry, Gap):
            continue
        before = next((_listed(name) for name in reversed(entries[:at]) if isinstance(name, str)), "")
        inside = (path for path in seen - known if (posixpath.dirname(path) or ".") == entry.folder)
        if any(_listed(path) > before for path in inside):
            return at
    return after


def _listed(path: str) -> str:
    """A file's name as its folder's list shows it, and is sorted by."""
    return quoted(posixpath.basename(path))


# A list in pages, and one that was cut


def _page_of_list(view: View, folder: str, start: int, text: str) -> tuple[Listing, int]:
    """One page, and the number of the name that the next one begins with; 0 at the end."""
    match = _LIST.search(text)
    if match is None:
        return Listing(folder=folder), 0
    on = [int(more[1]) for line in text.split("\n")[-1:] if (more := LIST_ON.fullmatch(line.strip()))]
    return _listing(view, folder, text[match.start() :]), on[0] if on and on[0] > start else 0


def _listing(view: View, folder: str, text: str) -> Listing:
    """A page's entries, the names that were cut out of it as gaps."""
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
        line = names.get(number, "")
        name = unquoted(line)
        if more := _MORE.fullmatch(line):
            missing = int(more[1].replace(",", ""))
        elif name.strip() and not LIST_ON.fullmatch(line) and not (name.endswith("/") or line.endswith("/")):
            entries.append(posixpath.normpath(posixpath.join(folder, name)))
    return Listing(folder=folder, entries=tuple(entries), missing=missing)
