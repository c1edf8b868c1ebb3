"""Pins: constraints and decisions found in the owner's own words when they first appear, and lifted by them.

Only text of trust *owner* is ever looked at, so a rule planted in a tool result is never pinned and lifts
nothing. Seed 003: "a separate slot …, populated when the constraint first appears rather than reconstructed later
from the history". The rules are data (`cues`, `hearing`, `lifting`) and English: what is said in another language is
not pinned, and is pinned by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ethang_nb.context.hearing import cue_in
from ethang_nb.context.lifting import taken_back
from ethang_nb.context.messages import Message, Text
from ethang_nb.context.replacing import replaced
from ethang_nb.context.sentences import Sentence, sentences
from ethang_nb.context.snapshot import Pin

__all__ = ["Found", "Lift", "find", "lifted"]

_LONGEST_REASON = 120  # ► characters


class Found(NamedTuple):
    """A sentence to pin, word for word, and the name of the rule that found it."""

    kind: Literal["constraint", "decision"]
    text: str
    rule: str


class Lift(NamedTuple):
    """The number of a pin that no longer holds, and why: "lifted by …" or "replaced by …", then the sentence."""

    pin: int
    reason: str


def find(message: Message) -> tuple[Found, ...]:
    """Sentences of an owner's message that bind later work, in order."""
    found = (_found(sentence) for sentence in _own(message))
    return tuple(one for one in found if one is not None)


def lifted(message: Message, holding: Sequence[Pin]) -> tuple[Lift, ...]:
    """The pins that an owner's message lifts or replaces, each once, in the order of its sentences.

    A sentence that replaces a pin is itself among what `find` finds: lift first, then pin.
    """
    left = [pin for pin in holding if not pin.lifted]
    lifts: list[Lift] = []
    for sentence in _own(message) if left else ():
        gone, how = taken_back(sentence, left), "lifted"
        if not gone and (found := _found(sentence)):
            gone, how = replaced(sentence, found.kind, left), "replaced"
        lifts += [Lift(pin.id, _reason(how, sentence.text)) for pin in gone]
        left = [pin for pin in left if pin not in gone]
    return tuple(lifts)


def _own(message: Message) -> Iterator[Sentence]:
    if message.trust == "owner" and message.role == "user" and message.kind == "message":
        for part in message.parts:
            if isinstance(part, Text):
                yield from sentences(part.text)


def _found(sentence: Sentence) -> Found | None:
    if sentence.marked and not sentence.heard.endswith("?"):
        return Found(sentence.marked, sentence.text, f"marked {sentence.marked}")
    cue = cue_in(sentence.heard)
    return None if cue is None else Found(cue.kind, sentence.text, cue.name)


def _reason(how: str, text: str) -> str:
    said = " ".join(text.split())
    room = _LONGEST_REASON - len(f'{how} by ""')
    return f'{how} by "{said if len(said) <= room else said[: room - 1] + "…"}"'
