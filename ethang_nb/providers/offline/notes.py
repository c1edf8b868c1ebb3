"""Handoff notes as the reader takes them: what they tell of the past, apart from plans, questions and constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ethang_nb.providers.offline.admissions import admits
from ethang_nb.providers.offline.passages import Passage, plain
from ethang_nb.providers.offline.view import View

__all__ = ["claims", "constraints", "told"]

_HEADING = re.compile(r"^## +(.*)$", re.MULTILINE)
_REPEATED = re.compile(r"^\s*(?:[-*] )?(?:TASK|USER|PIN)\b.*$", re.MULTILINE)
_AHEAD = ("next", "open question", "constraint")  # headings under which a name says nothing about being read
_NO_CLAIM = (
    "where to read",
    "file",
    "fail",
)  # headings with nothing but names and places, or what went wrong
_SAID = "last said: "


def told(note: str) -> Iterator[tuple[str, str]]:
    """(heading, text) of what a note tells of the past; lines that repeat the person's words are left out."""
    for heading, body in _sections(note):
        if not heading.lower().startswith(_AHEAD):
            yield heading, _REPEATED.sub("", body)


def constraints(view: View) -> str:
    """What the notes in view keep of the user's constraints."""
    sections = (section for item in view.of("note") for section in _sections(item.text))
    return "\n".join(body for heading, body in sections if heading.lower().startswith("constraint"))


def claims(view: View, question: str) -> list[Passage]:
    """The lines of the notes in view that may answer a question, each as the claim of a note that it is."""
    lines = (
        line.strip().removeprefix("- ")
        for item in view.of("note")
        for heading, body in told(item.text)
        if heading and not heading.lower().startswith(_NO_CLAIM)
        for line in body.split("\n")
    )
    asked = plain(question)
    return [
        Passage(text=line, first=1, last=1, base="a claim of the handoff note")
        for line in lines
        if line and not (asked and asked in plain(line)) and not admits(line.removeprefix(_SAID))
    ]


def _sections(note: str) -> Iterator[tuple[str, str]]:
    """(heading, body) of a note; what stands before the first heading has none."""
    starts = list(_HEADING.finditer(note))
    yield "", note[: starts[0].start()] if starts else note
    for at, match in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(note)
        yield match[1], note[match.end() : end]
