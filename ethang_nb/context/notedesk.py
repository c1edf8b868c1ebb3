"""NoteDesk: the handoff notes of one context: which stand, what each covers, and the one that is due."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.decision import Decision
from ethang_nb.context.messages import Message, user
from ethang_nb.context.notes import (
    RULE_AUTHOR,
    RULE_REFERENCE,
    Departed,
    NoteTask,
    compose,
    is_blank,
    is_cut,
    line_note,
    rule_note,
    stamp,
    standing,
)
from ethang_nb.context.policy import LINE_TOKENS
from ethang_nb.context.state import NoteRow
from ethang_nb.context.versions import Versions
from ethang_nb.errors import Misuse

__all__ = ["NoteDesk", "Written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A note as it is put in place: `text` as it was given, `prose` what of it had room, and the whole message."""

    task: NoteTask
    message: Message
    text: str
    prose: str
    reference: str
    author: str

    @property
    def cut(self) -> bool:
        """Whether the text had to be cut to what was reserved for it."""
        return is_cut(self.text, self.prose)


class NoteDesk:
    """Notes by number. `pending` is the task of a note that a cleanup reserved room for and nobody wrote yet."""

    def __init__(self, *, searchable: bool, versions: Versions) -> None:
        self._versions = versions
        self.messages: dict[int, Message] = {}
        self.pending: NoteTask | None = None
        self._covered: dict[int, tuple[Departed, ...]] = {}
        self.last: NoteTask | None = None
        self.searchable = searchable
        self.hashes: dict[int, str] = {}
        """Content hashes of the notes that somebody wrote; one that only stands in has none."""
        self._tasks: dict[int, NoteTask] = {}
        """Of the notes that nobody wrote yet."""
        self._standing_in: dict[int, Message] = {}
        self._stamps: dict[int, tuple[str, ...]] = {}
        """Which versions each note describes."""

    def copy(self, versions: Versions) -> NoteDesk:
        twin = NoteDesk(searchable=self.searchable, versions=versions)
        twin.messages, twin.pending = dict(self.messages), self.pending
        twin._covered, twin.last = dict(self._covered), self.last
        twin.hashes, twin._standing_in = dict(self.hashes), dict(self._standing_in)
        twin._tasks, twin._stamps = dict(self._tasks), dict(self._stamps)
        return twin

    def clear(self) -> None:
        """No note stands any more: what they stood for is reached from the core."""
        for known in self._by_number:
            known.clear()
        self.pending = self.last = None

    @property
    def _by_number(self) -> tuple[dict[int, Any], ...]:
        return self.messages, self._covered, self.hashes, self._tasks, self._standing_in, self._stamps

    def check(self, notes: Iterable[NoteRow], counter: TokenCounter) -> None:
        """At a landing: a note that describes what has moved since stands as one line from then on.

        That takes no more tokens than before, so what was planned holds.
        """
        for note in notes:
            known = self.messages.get(note.id)
            if known is not None:
                line = standing(known, self._versions, counter, described=self._stamps.get(note.id))
                if line is not known:
                    self.messages[note.id], self.hashes[note.id] = line, line.hash

    def message(self, number: int, counter: TokenCounter) -> Message:
        """Note `number` as it is sent: as it was written, else by rule, within what is reserved for it."""
        found = self.messages.get(number) or self._standing_in.get(number)
        if found is None:
            found = self._standing_in[number] = self.by_rule(self._tasks[number], counter).message
        return found

    def stand(self, number: int, message: Message) -> None:
        """A note that was written elsewhere; what it covers is not known here."""
        self.messages[number], self._covered[number] = message, ()
        self.hashes[number] = message.hash

    def hand_out(
        self, decision: Decision, departed: Sequence[Departed], task: str, pins: Sequence[tuple[str, str]]
    ) -> None:
        """The decision writes a note: it stands for what departs now and for all that dropped notes stood for."""
        notes = decision.after.notes
        standing = {note.id for note in notes}
        dropped = [note for note in self._covered if note not in standing]
        covers = (*(item for note in dropped for item in self._covered[note]), *departed)
        for note in dropped:
            for known in self._by_number:
                known.pop(note, None)
        new = notes[-1]
        self._covered[new.id] = covers
        self.pending = self._tasks[new.id] = NoteTask(
            id=new.id,
            generation=new.generation,
            tokens=new.tokens,
            rule_only=decision.rule_note,
            work=task,
            pins=tuple(pins),
            departed=covers,
        )
        self._stamps[new.id] = stamp(covers, self._versions)

    def settle(self, text: str | None, reference: str, author: str, counter: TokenCounter) -> Written:
        """The note that is due with this text (None or blank: by rule), or the newest one with another text."""
        task = self.pending or (self.last if text else None)
        if task is None or task.id not in self._covered:
            raise Misuse("no handoff note is due; one is written after a cleanup that evicts")
        if text is None or is_blank(text):
            return self.by_rule(task, counter)
        return self._composed(task, text, reference, author, counter)

    def by_rule(self, task: NoteTask, counter: TokenCounter) -> Written:
        """The note of `task` as rules write it; where no more has room, one line that says what left."""
        if task.tokens <= LINE_TOKENS:
            line = line_note(task.departed, counter)
            message = user(line, source=RULE_AUTHOR, kind="note", trust="agent")
            # The line tells of no text that left, so no fact is looked for in it.
            return Written(
                task=task, message=message, text=line, prose="", reference=RULE_REFERENCE, author=RULE_AUTHOR
            )
        text = rule_note(task.lines, task.prose_tokens, counter)
        return self._composed(task, text, RULE_REFERENCE, RULE_AUTHOR, counter)

    def _composed(
        self, task: NoteTask, text: str, reference: str, author: str, counter: TokenCounter
    ) -> Written:
        message, prose = compose(
            task, text, reference=reference, author=author, counter=counter, searchable=self.searchable,
            versions=self._versions,
        )  # fmt: skip
        return Written(task=task, message=message, text=text, prose=prose, reference=reference, author=author)

    def put(self, written: Written) -> None:
        self.messages[written.task.id] = written.message
        self.hashes[written.task.id] = written.message.hash
        self._tasks.pop(written.task.id, None)
        self.pending, self.last = None, written.task
