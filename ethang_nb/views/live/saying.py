"""Saying: the end of what a model has said of the reply that is coming, as a view shows it while it grows."""

from __future__ import annotations

import re
import unicodedata

from ethang_nb.views.plain import visible

__all__ = ["LONGEST", "ending"]

LONGEST = 400
"""► Characters of it that are shown."""
MOVES = 100
"""► Characters by which the beginning of what is shown moves: lines broken anew with every word cannot be read."""

_BLANK = re.compile(r"\s*\n\s*\n")
_JOINED = "\u200c\u200d"  # what stands behind one of these belongs to what stands before it


def ending(text: str) -> str:
    """At most LONGEST characters, "…" before a cut; it begins with a line or a word where one begins near.

    Control and bidi characters stand as escapes, blank lines are left out. The cut stays where it is until the text
    has grown by MOVES.
    """
    shown = text
    if len(text) > LONGEST:
        shown = "…" + text[_begin(text, -(-(len(text) - LONGEST + 1) // MOVES) * MOVES) :]
    said = visible(_BLANK.sub("\n", shown.replace("\r\n", "\n")).rstrip())
    return said if len(said) <= LONGEST else "…" + said[1 - LONGEST :]


def _begin(text: str, start: int) -> int:
    """Where a line begins within MOVES of `start`, else a word, else a character with all that belongs to it."""
    near = text[start : start + MOVES]
    for end in ("\n", " "):
        at = near.find(end)
        if 0 <= at < len(near) - 1:
            return start + at + 1
    while start < len(text) and (text[start - 1] in _JOINED or _continues(text[start])):
        start += 1
    return start


def _continues(char: str) -> bool:
    return char in _JOINED or unicodedata.category(char).startswith("M")
