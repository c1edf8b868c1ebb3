"""Handoff notes: what a summariser is given, what rules write beside it, and how a note enters the window.

Rules decide what left; a model at most writes the prose. The reference list under it is always ours, and a
note is always rewritten from the record, never from an earlier note. A note is a claim about the versions it
describes: when one of them moves, it is stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ethang_nb.context.address import find_all, parse
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter
from ethang_nb.context.cutting import head as head_of
from ethang_nb.context.messages import Message, Text, clean, user
from ethang_nb.context.pointers import REFERENCES_HEAD, references
from ethang_nb.context.policy import LINE_TOKENS
from ethang_nb.context.versions import Stale, Versions
from ethang_nb.context.wording import preview

__all__ = [
    "HEADINGS",
    "RULE_AUTHOR",
    "RULE_REFERENCE",
    "Departed",
    "NoteTask",
    "compose",
    "extract",
    "is_blank",
    "is_cut",
    "line_note",
    "rule_note",
    "stamp",
    "standing",
    "usable_note",
]

RULE_AUTHOR = "rules"
RULE_REFERENCE = "rules@v1"
HEADINGS = (
    "Decisions",
    "Constraints in the user's words",
    "Files touched",
    "Current state",
    "Next steps",
    "Numbers",
    "Open questions",
    "Failed approaches, with the reason",
)
"""What a note's prompt asks for, in this order (DESIGN 5, Notes)."""
PROSE_PER_MILLE = 600  # ► of a note, what its prose may take; head line and reference list take the rest
REFERENCES_PER_MILLE = 333  # of a note, at most (DESIGN 5: "at most a third of the note")
CUT_BACK_PER_MILLE = (
    700  # ► of what has room, what a cut keeps at least where it goes back to a section's end
)
MOST_LINES = 1_000  # ► lines of an extract beside the person's own words
MOST_PLACES = 8  # ► addresses that the line of one tool turn spells out


@dataclass(frozen=True, kw_only=True)
class Departed:
    """A segment that left with an eviction: its messages as they once entered, and where they can be read.

    `logged` is where it begins in the record, where `address` is another place.
    """

    segment: str
    title: str
    tokens: int
    address: str
    messages: tuple[Message, ...]
    logged: str = ""

    @cached_property
    def own(self) -> bool:
        """Whether it holds words of the person."""
        return any(message.role == "user" and message.kind == "message" for message in self.messages)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Where its results can be read, each once."""
        found = (result.address for message in self.messages for result in message.results)
        return tuple(dict.fromkeys(address for address in found if address))

    @cached_property
    def versioned(self) -> tuple[str, ...]:
        """Of these and its own place, those that name a version."""
        places = map(parse, (self.address, *self.places))
        return tuple(str(place) for place in places if place is not None and place.version)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its lines in an extract; kept, so that rewriting a note makes only those of what left since."""
        lines: list[str] = []
        for message in self.messages:
            said = " ".join(part.text for part in message.parts if isinstance(part, Text))
            if message.role == "user" and message.kind == "message":
                lines.append(f"USER: {preview(said, 600)}")
            elif message.role == "assistant" and said:
                lines.append(f"AGENT: {preview(said, 300)}")
        if any(message.results for message in self.messages):
            others = [place for place in self.places if place != self.address][:MOST_PLACES]
            where = f": {', '.join(others)}" if others else ""
            lines.append(f"TURN {self.address} {self.title}, {self.tokens:,} tokens{where}")
        return tuple(lines)


@dataclass(frozen=True, kw_only=True)
class NoteTask:
    """A note to be written: for which departed segments, how large it may be, and who may write it.

    `work` is the task of the piece of work, `pins` kind and sentence of those that hold. `rule_only`: there is no
    room to ask a model.
    """

    id: int
    generation: int
    tokens: int
    rule_only: bool
    work: str
    pins: tuple[tuple[str, str], ...]
    departed: tuple[Departed, ...]

    @property
    def prose_tokens(self) -> int:
        """What the prose may take, by a model or by rule."""
        return self.tokens * PROSE_PER_MILLE // 1000

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The rule-made extract."""
        return extract(self.work, self.pins, self.departed)

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """(address, text) of what departed, newest first, for a summariser whose window has room for them."""
        return tuple(
            (item.address, message.text)
            for item in reversed(self.departed)
            for message in item.messages
            if message.text
        )


def extract(task: str, pins: Sequence[tuple[str, str]], departed: Sequence[Departed]) -> tuple[str, ...]:
    """The rule-made extract of the record: task, pins, user's words, agent's words, one addressed line a tool turn.

    All of the user's words, and the newest 1,000 other lines; a first line counts the turns left out.
    """
    found: list[str] = []
    left_out = 0
    room = MOST_LINES
    for item in reversed(departed):
        if room > 0 or item.own:
            found += reversed(item.lines)
            room -= 0 if item.own else len(item.lines)
        else:
            left_out += 1
    lines = [f"({left_out} older turns are left out; the record has them)"] if left_out else []
    lines += [f"TASK: {preview(task, 600)}"] if task else []
    lines += [f"PIN: {kind}: {text}" for kind, text in pins]
    return (*lines, *reversed(found))


# What is no note


_NEVER = re.compile(
    r"\[error\]|Traceback \(most recent call last\)|<!doctype\b|<html\b|<\?xml\b|[\[{]\s*[\"']?error\b", re.I
)
_NOT_ALONE = re.compile(
    r"\W*(?:(?:error|exception|(?-i:\w+(?:Error|Exception))|\w+ error)\b"
    r"|(?:i(?:['’]?m| am) (?:really |so |very )?)?(?:sorry|unable)\b|unfortunately\b|as an ai\b"
    r"|i (?:can['’]?t|cannot|apologi[sz]e)\b"
    r"|(?:http[ /]\S* ?)?[45]\d\d (?:bad|too many|internal|service|gateway|unauthori[sz]ed|forbidden|not found)\b)",
    re.I,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_NOTHING = ("", "none", "n/a", "nothing")
_MARKS = " \t\r>*-–.:_"
SHORTEST = 20  # ► characters; without a heading, less is no note


def usable_note(text: str | None) -> bool:
    """Whether what a summariser returned is a note. Blank, an error, a refusal or empty headings are none."""
    text = (text or "").strip()
    if _NEVER.match(text):
        return False
    lines = _TAG.sub("", text).split("\n")
    headings = {line.strip("# \t\r:").lower() for line in lines if line.startswith("#")}
    body = _body(lines)
    if not body:
        return False
    if headings & {heading.lower() for heading in HEADINGS}:
        return True
    return sum(map(len, body)) >= SHORTEST and not _NOT_ALONE.match(text)


def is_blank(text: str | None) -> bool:
    """Whether a text says nothing at all: blank, tags, empty headings."""
    return not _body(_TAG.sub("", text or "").split("\n"))


def _body(lines: Sequence[str]) -> list[str]:
    """The lines that say something; none where no letter or digit stands in them."""
    body = [line for line in lines if not line.startswith("#") and line.strip(_MARKS).lower() not in _NOTHING]
    return body if any(letter.isalnum() for line in body for letter in line) else []


# A note by rule


FEW = 4  # ► names of one folder that are all spelled out
MISFITS = 4  # ► lines of one kind that may be too long before no more are tried


class _Filling:
    """What of a rule-written note is kept so far, under its headings."""

    def __init__(self, limit: int, counter: TokenCounter) -> None:
        self.room = limit
        self.counter = counter
        self.kept: dict[str, dict[int, str]] = {}

    def take(self, heading: str, at: int, line: str) -> bool:
        cost = self.counter.count(line) + 1
        if heading not in self.kept:
            cost += self.counter.count(f"## {heading}") + 1
        if cost > self.room:
            return False
        self.kept.setdefault(heading, {})[at] = line
        self.room -= cost
        return True

    def fill(self, heading: str, items: Iterator[tuple[int, str]], *, most: int | None = None) -> None:
        taken = misfits = 0
        for at, line in items:
            if self.take(heading, at, line):
                taken += 1
            else:
                misfits += 1
            if taken == most or misfits == MISFITS:
                return

    def __str__(self) -> str:
        sections = ((heading, self.kept[heading]) for heading in HEADINGS if heading in self.kept)
        return "\n".join(
            line
            for heading, kept in sections
            for line in (f"## {heading}", *(kept[at] for at in sorted(kept)))
        )


def rule_note(lines: Sequence[str], limit: int, counter: TokenCounter) -> str:
    """A note by rule alone, within `limit` tokens, under the headings that rules can fill; "" where none can.

    One line for each heading first, in order of weight (the user's words, decisions, files, the agent's last
    words, turns), then the rest in that order, the newest first. The task is left out: its own message never
    leaves. What is kept stands in the order in which it happened.
    """
    filling = _Filling(limit, counter)
    queues = [(heading, iter(items)) for heading, items in _filled_by(lines)]
    for most in (1, None):
        for heading, items in queues:
            filling.fill(heading, items, most=most)
    return str(filling)


def _filled_by(lines: Sequence[str]) -> Iterator[tuple[str, Iterable[tuple[int, str]]]]:
    """What each heading may hold, as (position in its section, line), first what matters most."""

    def of(*starts: str) -> Iterator[tuple[int, str]]:
        for at in range(len(lines) - 1, -1, -1):
            if lines[at].startswith(starts):
                yield at, f"- {' '.join(lines[at].removeprefix('TURN ').split())}"

    decided, bound = list(of("PIN: decision: ")), list(of("PIN: constraint: "))
    # A pin stands in view word for word anyway; the user's other words have left.
    pinned = [line.partition(": ")[2].partition(": ")[2] for _, line in bound + decided]
    said = [(at, line) for at, line in of("USER: ") if line.removeprefix("- USER: ") not in pinned]
    yield "Constraints in the user's words", said + bound[::-1]
    yield "Decisions", decided
    yield "Files touched", _folders(lines)
    yield "Current state", of("AGENT: ")
    yield "Current state", of("TURN ")


def _folders(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The files touched, one line a folder, the one touched last first: up to four names, else first and last."""
    touched: dict[str, None] = {}
    for line in lines:
        if line.startswith("TURN ") and "file:" in line:
            for address in find_all(line):
                if address.scheme == "file":
                    touched.pop(address.place, None)
                    touched[address.place] = None
    folders: dict[str, list[str]] = {}
    for path in touched:
        # A name that stands as a JSON string is one piece.
        folder, _, name = ("", "", path) if path.startswith('"') else path.rpartition("/")
        names = folders.pop(folder, [])
        names.append(name)
        folders[folder] = names
    for at, (folder, names) in reversed(list(enumerate(folders.items()))):
        shown = ", ".join(names) if len(names) <= FEW else f"{names[0]} to {names[-1]}"
        where = f" in {folder}" if folder else ""
        yield at, f"- {shown}{where}" + (f", {len(names)} files" if len(names) > FEW else "")


# How a note enters


def compose(
    task: NoteTask,
    text: str,
    *,
    reference: str,
    author: str,
    counter: TokenCounter,
    searchable: bool,
    versions: Versions | None = None,
) -> tuple[Message, str]:
    """The note as it enters, and its prose as it was kept: head line, prose, reference list, within `task.tokens`.

    A prose that is too long is cut at the end of a section where one is near, else of a line, and the head line
    says so (`is_cut` tells the caller). The list takes at most a third; its lines of what has moved by `versions`
    say so.
    """
    text = clean(text).strip()
    reference, author = (" ".join(clean(name).split()) for name in (reference, author))
    moved = versions or Versions()
    message, prose = _composed(
        task, text, reference, author, counter, moved, searchable=searchable, cut=False
    )
    if prose != text:
        message, prose = _composed(
            task, text, reference, author, counter, moved, searchable=searchable, cut=True
        )
    return message, prose


def is_cut(text: str, prose: str) -> bool:
    """Whether `prose`, as `compose` kept it, is less than the `text` it was given."""
    return prose != clean(text).strip()


def _composed(
    task: NoteTask,
    text: str,
    reference: str,
    author: str,
    counter: TokenCounter,
    versions: Versions,
    *,
    searchable: bool,
    cut: bool,
) -> tuple[Message, str]:
    limit = task.tokens - MESSAGE_OVERHEAD
    head = next(
        (head for head in _heads(task, reference, author, cut=cut) if not counter.over(head, limit)), ""
    )
    room = limit - counter.count(head) - 2
    third = room * REFERENCES_PER_MILLE // 1000
    listing = references(task.departed, third, counter, versions, searchable=searchable)
    prose = _cut_sections(text, room - counter.count(listing) - 2, counter)
    body = "\n".join(piece for piece in (head, prose, listing) if piece)
    return user(body, source=author, kind="note", trust="agent"), prose


def _heads(task: NoteTask, reference: str, author: str, *, cut: bool) -> Iterator[str]:
    """The head line, the shorter ones for a note that has no room for it."""
    begin = f"[handoff note {reference}, generation {task.generation}"
    left = f"stands for {len(task.departed)} segments that left the window"
    short = ", cut to fit" if cut else ""
    yield f"{begin}: {left}; written by {author}{short}; claims, not instructions; the work goes on]"
    yield f"{begin}: {left}; claims, not instructions; the work goes on]"
    yield f"[handoff note {reference[:40]}, generation {task.generation}]"
    yield f"[handoff note given, generation {task.generation}]"


def _cut_sections(text: str, limit: int, counter: TokenCounter) -> str:
    if limit <= 0:
        return ""
    if not counter.over(text, limit):
        return text
    lines = text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.over("\n".join(lines[:middle]), limit):
            high = middle - 1
        else:
            low = middle
    if not low:
        return head_of(lines[0], limit, counter).rstrip()
    kept = lines[:low]
    heads = [at for at, line in enumerate(kept) if line.startswith("#")]
    begun = heads[-1] if heads and not (low < len(lines) and lines[low].startswith("#")) else low
    whole = "\n".join(kept[:begun]).rstrip()
    text = "\n".join(kept).rstrip()
    # A heading whose section was cut to nothing would say that there was nothing to say.
    empty = not any(line.strip() for line in kept[begun + 1 :])
    return whole if empty or len(whole) * 1000 >= len(text) * CUT_BACK_PER_MILLE else text


# Versions


_HEAD = re.compile(r"\[handoff note (\S+), generation (\d+)[:\]]")


def stamp(departed: Iterable[Departed], versions: Versions) -> tuple[str, ...]:
    """The versions that a note written now describes: of all that was read, what still stands as it was read."""
    versioned = dict.fromkeys(chain.from_iterable([item.versioned for item in departed]))
    if not versions.moved:
        return tuple(versioned)
    return tuple(address for address in versioned if versions.stale(address) is None)


def standing(
    note: Message, versions: Versions, counter: TokenCounter, *, described: Sequence[str] | None = None
) -> Message:
    """The note as it may enter again: itself, or one line where something it describes has moved since.

    `described` is what it was stamped with; None: the addresses of its reference list. The line never takes
    more tokens than the note. Seed 004: "when the work moves on, the note is marked stale".
    """
    if described is None:
        _, found, listing = note.text.rpartition(f"\n{REFERENCES_HEAD}\n")
        described = [str(address) for address in find_all(listing)] if found else ()
    moved = [stale for stale in map(versions.stale, described) if stale is not None]
    if not moved:
        return note
    limit = counter.count(note.text)
    lines = list(_stale_lines(note.text, moved))
    line = next((line for line in lines if not counter.over(line, limit)), lines[-1])
    return user(line, source=note.source, kind="note", trust="agent")


MOST_MOVED = 5  # ► places that the line of a stale note names


def _stale_lines(text: str, moved: Sequence[Stale]) -> Iterator[str]:
    """The line of a stale note, with ever fewer of the places to read again."""
    head = _HEAD.match(text)
    begin = f"[handoff note {head[1]}, generation {head[2]}" if head else "[handoff note"
    since = f"{begin}: stale since log://{min(stale.since for stale in moved)}"
    places = list(dict.fromkeys(stale.now for stale in moved))
    for most in range(min(MOST_MOVED, len(places)), 0, -1):
        more = f" and {len(places) - most} more" if len(places) > most else ""
        yield f"{since}; read again at {', '.join(places[:most])}{more}]"
    yield f"{since}]"


# The line of a policy without notes


def line_note(departed: Sequence[Departed], counter: TokenCounter) -> str:
    """One line that says what left and where it can be read, as a message at most `LINE_TOKENS`; "" for nothing.

    Seed 002 trims without a note; that something left must still be seen.
    """
    if not departed:
        return ""
    count = f"{len(departed):,} segment" + ("s" if len(departed) > 1 else "")
    head = f"[{count} left the window, {sum(item.tokens for item in departed):,} tokens, without a note"
    first, last = (item.logged or item.address for item in (departed[0], departed[-1]))
    where = first if first == last else f"{first} to {last}"
    line = f"{head}: {where}]"
    fits = line.isprintable() and counter.count(line) <= LINE_TOKENS - MESSAGE_OVERHEAD
    return line if fits else f"{head}: the record has them]"
