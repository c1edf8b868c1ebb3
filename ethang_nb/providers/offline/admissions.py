"""Admissions: how an answer of the reader says what it could not do. They tell nothing about any question.

A record keeps them like everything else that was said, so without this the reader would find its own failures
and quote them.
"""

from __future__ import annotations

import re

__all__ = ["ERROR", "admits"]

ERROR = "[error]"
"""How a tool's text begins where the tool could not."""

_ADMISSION = re.compile(
    r"\[error\]"
    r"|Nothing (?:in the context (?:or the record )?answers: |was read\.)"
    r"|(?:Left unread, as told|Could not be read): "
    r"|I have no tool |I see no source |I only understand |The question holds no word |Noted: I will not open "
    r"|Line [\d,]+ of .* was read up to character "
    r"|.* could not be listed: |[\d,]+ names of .* were not in the list\."
)


def admits(line: str) -> bool:
    """Whether a line of an answer says only that something failed, or was not read."""
    return bool(_ADMISSION.match(line.strip()))
