"""Pins: constraints and decisions found in the owner's own words when they first appear.

Cue rules as data; only text of trust *owner* is ever looked at, so a rule planted in a tool result is never
pinned. Seed 003: "a separate slot …, populated when the constraint first appears rather than reconstructed
later from the history".
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ethang_nb.context.messages import Message, Text

__all__ = ["CUES", "Cue", "Found", "find"]


class Cue(NamedTuple):
    """A rule that makes a sentence a pin: its name as it is shown, what it finds, and the pattern."""

    name: str
    kind: Literal["constraint", "decision"]
    pattern: re.Pattern[str]


class Found(NamedTuple):
    kind: Literal["constraint", "decision"]
    text: str
    rule: str


CUES: tuple[Cue, ...] = (
    Cue("marked constraint", "constraint", re.compile(r"^\s*(?:constraint|rule|important)\s*:", re.I)),
    Cue("marked decision", "decision", re.compile(r"^\s*decision\s*:", re.I)),
    Cue("never + verb", "constraint", re.compile(r"\bnever\s+[a-z]+", re.I)),
    Cue(
        "do not + verb", "constraint", re.compile(r"\b(?:do not|don['’]t|must not|mustn['’]t)\s+[a-z]+", re.I)
    ),
    Cue("must or always", "constraint", re.compile(r"\b(?:you must|must always|always)\s+[a-z]+", re.I)),
    Cue("only", "constraint", re.compile(r"^\s*only\s+[a-z]+", re.I)),
    Cue(
        "we decided", "decision", re.compile(r"\b(?:we|i)(?:['’]ve| have)? (?:decided|chose|agreed)\b", re.I)
    ),
    Cue("we will use", "decision", re.compile(r"\bwe(?:['’]re| are) (?:going with|using)\b", re.I)),
    Cue("we will use", "decision", re.compile(r"\bwe(?:['’]ll| will) use\b", re.I)),
)

_NOT_BINDING = re.compile(
    # Questions, reports of the past and polite phrases have the cue but bind nobody.
    r"\?\s*$|\b(?:i|it|he|she|they|that|which|who) (?:never|always)\b"
    r"|\bnever mind\b|\bdon['’]t (?:know|think|mind|worry|see)\b",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"'(])|\n+")
_LONGEST_SENTENCE = 400  # ► characters; a longer one is prose that quotes a rule, not a rule


def find(message: Message) -> tuple[Found, ...]:
    """Sentences of an owner's message that bind later work, in order."""
    if message.trust != "owner" or message.role != "user" or message.kind != "message":
        return ()
    text = "\n".join(part.text for part in message.parts if isinstance(part, Text))
    found: list[Found] = []
    for sentence in _SENTENCE.split(text):
        clean = sentence.strip()
        if not clean or len(clean) > _LONGEST_SENTENCE or _NOT_BINDING.search(clean):
            continue
        for cue in CUES:
            if cue.pattern.search(clean):
                found.append(Found(cue.kind, clean, cue.name))
                break
    return tuple(found)
