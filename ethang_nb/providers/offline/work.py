"""The piece of work a request asks for: the current task, what is forbidden, and how far its sources are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ethang_nb.providers.offline.grammar import Task, parse, prohibitions
from ethang_nb.providers.offline.names import Source, forbids, normal, quoted, unquoted
from ethang_nb.providers.offline.notes import constraints
from ethang_nb.providers.offline.pages import Page, page
from ethang_nb.providers.offline.sources import Gap, Listing, expand, list_of, next_of, shown
from ethang_nb.providers.offline.view import Item, View

__all__ = ["MOST_PARTS", "Onward", "Work", "work"]

MOST_PARTS = 20  # ► parts of one long line that are read on, after the first

_PART = re.compile(r"file:(?P<path>.+)#L(?P<line>\d+)C\d+")
_UNREAD = re.compile(
    r"Line (?P<line>[\d,]+) of (?P<path>[^\n]+) was read up to character [\d,]+ of [\d,]+; the rest is unread\."
)
_GO_ON = re.compile(r"\s*(?:please\s+)?(?:go on|continue|carry on|proceed|resume)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Onward:
    """Where a page of a source goes on: at line `start` of `path`, or inside a line at the address `ref`."""

    path: str
    start: int = 0
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """`task` is None where no user message is a task. `never` holds every prohibition in view.

    `since` is the view from the task on: what failed or was looked for before it says nothing about it.
    """

    view: View
    since: View
    task: Task | None
    never: tuple[str, ...]
    said_since: tuple[str, ...] = ()
    """What the person forbade after the task."""

    @property
    def answered(self) -> bool:
        """Whether the person only forbade something, with no task open."""
        if not self.said_since or self.task is None:
            return bool(self.said_since)
        before = list(self.view.of("assistant", "tool"))
        return bool(before) and before[-1].kind == "assistant" and not before[-1].calls

    @property
    def unlisted(self) -> Gap | None:
        """The first folder whose list is not in view, or the next page of one.

        Once reading began or something left the window, pages are listed only when their turn comes: a window
        too small for them all would never hold the last one together with the first.
        """
        for folder in (source.path for source in self._sources if source.folder):
            listing = self._list(folder)
            if listing is None:
                return Gap(folder=folder, ref="", start=1)
            pages = (entry for entry in listing.entries if isinstance(entry, Gap) and not entry.ref)
            if not self._begun and (gap := next(pages, None)):
                return gap
        return None

    @property
    def entries(self) -> list[str | Gap]:
        """The sources as far as lists in view name them."""
        return expand(self._sources, self._list)

    def next(self, *, gaps: bool) -> str | Gap | None:
        """The next thing to read; what was cut out of a list only where `gaps`."""
        lists = "list_files" in self.view.tools
        entries = [
            entry for entry in self.entries if isinstance(entry, str) or (gaps if entry.ref else lists)
        ]
        names = [entry for entry in entries if isinstance(entry, str)]
        earlier = self.view.items[: len(self.view.items) - len(self.since.items)]
        before = shown((item for item in earlier if not item.failed), names)
        seen = shown(self.since.items, names)
        if any(source.folder for source in self._sources):
            # A long list outlives what was read of it, so the notes are asked how far that went.
            seen |= shown((item for item in earlier if item.kind in ("system", "note")), names)
        return next_of(entries, seen, before, self.never)

    def read_on(self, *, follows: bool) -> Onward | None:
        """Where the newest page in view of one of the sources says that it goes on; into a line if `follows`."""
        pages = [
            (item, page(item.text)) for item in self.view.results("read_file", "read_spill") if _reads(item)
        ]
        item, newest = pages[-1] if pages else (None, None)
        if item is None or newest is None:
            return None
        path = _path(item)
        if forbids(self.never, path) or not {path, normal(path), newest.path} & set(self.entries):
            return None
        if follows and newest.part and newest.part.ref and self._parts(newest) < MOST_PARTS:
            return Onward(path=path, ref=newest.part.ref)
        on = newest.on or (newest.start + 1 if newest.part and newest.start < newest.total else 0)
        return Onward(path=path, start=on) if on else None

    def _parts(self, newest: Page) -> int:
        """How many parts of its line were read before; by their size, where some have left the window."""
        part, line = newest.part, f"#L{newest.start}C"
        if part is None or not newest.address.startswith("file:") or "@" in newest.address:
            return 0
        calls = sum(f"{newest.address}{line}" in call.text("ref") for call in self.since.calls("read_spill"))
        # Parts of one line differ in characters; the largest in view is the nearest to a full one.
        found = (page(item.text) for item in self.view.results("read_spill") if _reads(item))
        parts = [one.part for one in found if one and one.part and one.address == newest.address]
        return max(calls, part.last // max(one.last - one.first + 1 for one in parts))

    @property
    def remarks(self) -> Iterator[str]:
        """What an answer must not hide: sources left out, not readable, not read to the end, or not listed."""
        entries = [entry for entry in self.entries if isinstance(entry, str)]
        forbidden = [path for path in entries if forbids(self.never, path)]
        if forbidden:
            yield f"Left unread, as told: {_few(forbidden)}."
        unread = self._failed
        if failed := [path for path in entries if path in unread]:
            yield f"Could not be read: {_few(failed)}."
        yield from self._unread_lines
        for source in self._sources:
            listing = self._list(source.path) if source.folder else None
            if listing is not None and listing.failed:
                yield f"{source.path} could not be listed: {listing.failed}"
            elif listing is not None and listing.missing:
                yield f"{listing.missing} names of {source.path} were not in the list."

    @property
    def read(self) -> list[str]:
        """The sources that were to be read, without those forbidden."""
        return [entry for entry in self.entries if isinstance(entry, str) and not forbids(self.never, entry)]

    @property
    def _failed(self) -> set[str]:
        results = (
            item
            for item in self.since.results("read_file")
            if page(item.text) is None and not item.unanswered
        )
        return {item.answers.text("path") for item in results if item.answers}

    @property
    def _unread_lines(self) -> Iterator[str]:
        """The long lines of sources whose newest part is not their end."""
        told: dict[tuple[str, str], str] = {}
        for item in self.view.items:
            if item.kind in ("note", "assistant"):  # what was said when the line was left outlives its parts
                told |= {
                    (unquoted(said["path"]), said["line"]): said[0] for said in _UNREAD.finditer(item.text)
                }
            found = page(item.text) if item.kind == "tool" and _reads(item) else None
            if found and found.part:
                told[_path(item), f"{found.start:,}"] = _unread(item, found)
        return (line for (path, _), line in told.items() if line and {path, normal(path)} & set(self.read))

    @property
    def left_line(self) -> str:
        """What is to be said when the newest page is a part of a line that is not read on; "" for any other."""
        newest = [item for item in self.view.results("read_file", "read_spill") if _reads(item)][-1:]
        return "".join(_unread(item, found) for item in newest if (found := page(item.text)))

    def _list(self, folder: str) -> Listing | None:
        """The list of a folder in view; that there was none before the task says nothing about now."""
        found = list_of(self.view, folder)
        return found if found is None or not found.failed else list_of(self.since, folder)

    @property
    def _begun(self) -> bool:
        """Whether a source was read since the task, or a list may have left the window."""
        if any(self.since.calls("read_file")):
            return True
        collapsed = {item.answers.name for item in self.view.of("tool") if item.collapsed and item.answers}
        return "list_files" in collapsed or any(self.view.of("note"))

    @property
    def _sources(self) -> tuple[Source, ...]:
        sources = self.task.sources if self.task else ()
        return tuple(source for source in sources if not (source.folder and forbids(self.never, source.path)))


def work(view: View) -> Work:
    """The newest user message that asks for something, and all that the owner's texts and the notes forbid."""
    never = dict.fromkeys(prohibitions(view.system))
    for item in view.of("task", "pin"):
        never |= dict.fromkeys(prohibitions(item.text))
    never |= dict.fromkeys(prohibitions(constraints(view)))
    said_since: list[str] = []
    task: Task | None = None
    since = view.items
    for at, item in reversed(list(enumerate(view.items))):
        if item.kind != "task":
            continue
        found = parse(item.text)
        if found.empty and (found.prohibitions or _GO_ON.match(item.text)):
            said_since += found.prohibitions
            continue
        task, since = found, view.items[at + 1 :]
        break
    never |= dict.fromkeys(task.prohibitions if task else ())
    return Work(
        view=view,
        since=replace(view, items=since),
        task=task,
        never=tuple(never),
        said_since=tuple(said_since),
    )


def _reads(item: Item) -> bool:
    """Whether a result answers the reading of a source: a page of it, or a part of one of its lines."""
    call = item.answers
    return call is not None and (call.name == "read_file" or bool(_PART.fullmatch(call.text("ref"))))


def _unread(item: Item, found: Page) -> str:
    """What is unread of the line that a page is a part of; "" where it is read to its end."""
    if found.part is None or not found.part.ref:
        return ""
    upto = f"character {found.part.last:,} of {found.part.of:,}"
    return f"Line {found.start:,} of {quoted(_path(item))} was read up to {upto}; the rest is unread."


def _path(item: Item) -> str:
    """The file that the call behind a result names."""
    if item.answers is None:
        return ""
    part = _PART.fullmatch(item.answers.text("ref"))
    return unquoted(part["path"]) if part else item.answers.text("path")


def _few(paths: list[str], most: int = 5) -> str:
    rest = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {rest} more" if rest > 0 else "")
