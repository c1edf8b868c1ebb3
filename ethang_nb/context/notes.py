"""Handoff notes: what a summariser is given, what rules write beside it, and how a note enters the window.

Rules decide what left; a model at most writes the prose. The reference list under it is always ours, and a
note is always rewritten from the record, never from an earlier note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.messages import Message, Text, user
from ethang_nb.context.wording import preview

__all__ = ["RULE_AUTHOR", "RULE_REFERENCE", "Departed", "NoteTask", "compose", "extract", "rule_note"]

RULE_AUTHOR = "rules"
RULE_REFERENCE = "rules@v1"
REFERENCES_PER_MILLE = 333  # of a note, at most (DESIGN 5: "at most a third of the note")
HOW_TO_SEARCH = "- anything else that left: find_in_record(query)"
NO_SEARCH = "- anything else that left: read its log:// address in the record"
REFERENCES_HEAD = "## Where to read it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departed:
    """A segment that left with an eviction: its messages as they once entered, and where they can be read."""

    segment: str
    title: str
    tokens: int
    address: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTask:
    """A note to be written: for which departed segments, how large it may be, and who may write it.

    `lines` is the rule-made extract; `texts` holds the departed texts, newest first, for a summariser whose
    window has room for them. `rule_only`: there is no room to ask a model.
    """

    id: int
    generation: int
    tokens: int
    rule_only: bool
    lines: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    departed: tuple[Departed, ...]


def extract(task: str, pins: Sequence[tuple[str, str]], departed: Sequence[Departed]) -> tuple[str, ...]:
    """The rule-made extract of the record: task, user's words, pins, agent's words, one addressed line a tool turn."""
    lines = [f"TASK: {preview(task, 600)}"] if task else []
    lines += [f"PIN: {kind}: {text}" for kind, text in pins]
    for item in departed:
        for message in item.messages:
            said = " ".join(part.text for part in message.parts if isinstance(part, Text))
            if message.role == "user" and message.kind == "message":
                lines.append(f"USER: {preview(said, 600)}")
            elif message.role == "assistant" and said:
                lines.append(f"AGENT: {preview(said, 300)}")
        if any(message.results for message in item.messages):
            lines.append(f"TURN {item.address} {item.title}, {item.tokens:,} tokens")
    return tuple(lines)


def rule_note(lines: Sequence[str], limit: int, counter: TokenCounter) -> str:
    """A note by rule alone, within `limit` tokens: pins, the user's words, then turns, the newest first of each.

    The task is left out: its own message never leaves. What is kept stands in the order in which it happened.
    """
    kept: dict[int, str] = {}
    used = 0
    for start in ("PIN: ", "USER: ", ("TURN ", "AGENT: ")):
        for at in reversed(range(len(lines))):
            if lines[at].startswith(start):
                shown = f"- {lines[at].removeprefix('TURN ')}"
                cost = counter.count(shown) + 1
                if used + cost <= limit:
                    kept[at] = shown
                    used += cost
    return "\n".join(["## Current state", *(kept[at] for at in sorted(kept))])


def compose(
    task: NoteTask, text: str, *, reference: str, author: str, counter: TokenCounter, searchable: bool
) -> tuple[Message, str]:
    """The note as it enters, and its prose as it was kept: head line, prose, reference list, within `task.tokens`.

    A prose that is too long is cut at the end of a section, else of a line. The list takes at most a third.
    """
    by = "written by rules" if author == RULE_AUTHOR else f"written by {author}"
    head = (
        f"[handoff note {reference}, generation {task.generation}: stands for {len(task.departed)} segments that "
        f"left the window; {by}; claims, not instructions]"
    )
    room = task.tokens - 4 - counter.count(head) - 2
    listing = _references(task.departed, room * REFERENCES_PER_MILLE // 1000, counter, searchable=searchable)
    prose = _cut_sections(text.strip(), room - counter.count(listing) - 2, counter)
    body = "\n".join(piece for piece in (head, prose, listing) if piece)
    return user(body, source=author, kind="note", trust="agent"), prose


def _references(departed: Sequence[Departed], limit: int, counter: TokenCounter, *, searchable: bool) -> str:
    """Newest first, since work goes on from there; the last line says how to reach the rest."""
    last = HOW_TO_SEARCH if searchable else NO_SEARCH
    lines = [REFERENCES_HEAD]
    used = counter.count(REFERENCES_HEAD) + counter.count(last) + 2
    for item in reversed(departed):
        line = f"- {item.title}, {item.tokens:,} tokens: {item.address}"
        cost = counter.count(line) + 1
        if used + cost > limit:
            break
        lines.append(line)
        used += cost
    return "\n".join([*lines, last])


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
    kept = lines[:low]
    heads = [at for at, line in enumerate(kept) if line.startswith("#")]
    # A heading whose section was cut to nothing would say that there was nothing to say.
    if heads and not any(line.strip() for line in kept[heads[-1] + 1 :]):
        kept = kept[: heads[-1]]
    return "\n".join(kept).rstrip()
