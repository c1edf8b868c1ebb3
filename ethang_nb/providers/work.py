"""The piece of work a request asks for: the current task, what is forbidden, and how far its sources are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ethang_nb.providers.grammar import Task, parse, prohibitions
from ethang_nb.providers.names import Source, forbids
from ethang_nb.providers.notes import constraints
from ethang_nb.providers.pages import page
from ethang_nb.providers.sources import Gap, expand, list_of, next_of, shown
from ethang_nb.providers.view import View

__all__ = ["Work", "work"]

_GO_ON = re.compile(r"\s*(?:please\s+)?(?:go on|continue|carry on|proceed|resume)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """`task` is None where no user message is a task. `never` holds every prohibition in view."""

    view: View
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
    def unlisted(self) -> str | None:
        """The first folder whose list is not in view."""
        folders = (source.path for source in self._sources if source.folder)
        return next((path for path in folders if list_of(self.view, path) is None), None)

    @property
    def entries(self) -> list[str | Gap]:
        """The sources as far as lists in view name them."""
        return expand(self.view, self._sources)

    def next(self, *, gaps: bool) -> str | Gap | None:
        """The next thing to read; parts of a cut list only where `gaps`."""
        entries = [entry for entry in self.entries if gaps or isinstance(entry, str)]
        seen = shown(self.view, [entry for entry in entries if isinstance(entry, str)])
        return next_of(entries, seen, self.never)

    @property
    def read_on(self) -> tuple[str, int] | None:
        """(path, line) where the newest page in view of one of the sources says that it goes on."""
        pages = [(item, page(item.text)) for item in self.view.results("read_file")]
        if not pages:
            return None
        item, newest = pages[-1]
        path = item.answers.text("path") if item.answers else ""
        if newest is None or not newest.on or forbids(self.never, path):
            return None
        return (path, newest.on) if path in self.entries or newest.path in self.entries else None

    @property
    def remarks(self) -> Iterator[str]:
        """What an answer must not hide: sources left out, not readable, or not listed."""
        entries = [entry for entry in self.entries if isinstance(entry, str)]
        forbidden = [path for path in entries if forbids(self.never, path)]
        if forbidden:
            yield f"Left unread, as told: {_few(forbidden)}."
        unread = self._failed
        if failed := [path for path in entries if path in unread]:
            yield f"Could not be read: {_few(failed)}."
        for source in self._sources:
            listing = list_of(self.view, source.path) if source.folder else None
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
            item for item in self.view.results("read_file") if page(item.text) is None and not item.unanswered
        )
        return {item.answers.text("path") for item in results if item.answers}

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
    since: list[str] = []
    task: Task | None = None
    for item in reversed(list(view.of("task"))):
        found = parse(item.text)
        if found.empty and (found.prohibitions or _GO_ON.match(item.text)):
            since += found.prohibitions
            continue
        task = found
        break
    never |= dict.fromkeys(task.prohibitions if task else ())
    return Work(view=view, task=task, never=tuple(never), said_since=tuple(since))


def _few(paths: list[str], most: int = 5) -> str:
    rest = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {rest} more" if rest > 0 else "")
