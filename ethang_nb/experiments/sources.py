"""What is the source's own in the reading experiment: how it counts, rounds, words a spill and summarises. Data.

Seed 002 ("Harness") publishes three rows. They come out to the token only with these, so they are passed in where
this project has a seam: a counter, a wording, a note's text, knobs of its policies. Nothing else is the source's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.messages import Message
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.window import Levels, Window

__all__ = [
    "COMPACT",
    "HEAD_CHARS",
    "SPILL_CHARS",
    "TRIM",
    "WINDOW",
    "SourceCounter",
    "Summary",
    "notice",
    "p95",
    "summarise",
]

WINDOW = Window.of(6_000, reserve=600)
SPILL_CHARS, HEAD_CHARS = 800, 600
SEGMENT_OVERHEAD = 3  # tokens, charged once per segment: an overcount of the source
MESSAGE_OVERHEAD = 4  # tokens, and those of the role's name
MOST_FACTS = 40
PROMPT_TOKENS = 330  # of what its summariser is told beside the text
PROMPT = "compaction@v2+e50f0b6a"  # stands in the summary, so its tokens are part of the published total

TRIM = replace(
    POLICIES["trim"], name="source trim", notes="none", entry_chars=SPILL_CHARS, head_chars=HEAD_CHARS
)
"""Its `ContextManager`: what does not fit leaves, and nothing says so."""
COMPACT = replace(
    POLICIES["compact"],
    name="source compact",
    # "trigger .70, keep_recent 3" in its experiment, other than the defaults of its class
    levels=Levels(nudge=700, cleanup=700, landing=400),
    keep=3,
    entry_chars=SPILL_CHARS,
    head_chars=HEAD_CHARS,
)
"""Its `Compactor`: all but the last three segments become one summary."""


class SourceCounter:
    """Counts as the source does. A call is its text: the call's own name and arguments are not counted."""

    name = "o200k_base, with the source's overheads"
    how: Literal["exact", "estimated"] = "exact"

    def __init__(self, texts: TokenCounter) -> None:
        self._texts = texts
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._texts.count(text)
        return known

    def over(self, text: str, limit: int) -> bool:
        return self._texts.over(text, limit)

    def whole(self, message: Message) -> int:
        """Tokens of a message with its overheads; every message but a result begins a segment."""
        return self.alone(message) + (SEGMENT_OVERHEAD if message.role != "tool" else 0)

    def alone(self, message: Message) -> int:
        """The same without its share of the segment, which stands in no message and so in no cache."""
        return MESSAGE_OVERHEAD + self.count(message.role) + self.count(message.text)


def p95(fills: Sequence[float]) -> int:
    """Its percentile of fills, per mille: the one at round(.95 n), rounded to three decimals."""
    ordered = sorted(fills)
    place = max(1, round(0.95 * len(ordered)))
    return round(1000 * ordered[place - 1])


def notice(tool: str, text: str, head: int, address: str, _reader: str) -> str:
    """What enters instead of a spilled result."""
    shown = text[:head].rstrip()
    lines = text.count("\n") + 1
    return (
        f"[{tool} returned {len(text)} characters over {lines} lines; the full output is stored at {address}]\n\n"
        f"First {len(shown)} characters:\n{shown}\n\n"
        f"[use read_spill with ref={address} and a line range to read any part of the full output]"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary as it enters, and the tokens its model was given and wrote."""

    text: str
    read: int
    written: int


_FACT = re.compile(
    r"spill://[0-9a-f]+"
    r"|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b(?:[A-Z]{2,}-\d+|[a-z]{2,}-\d{2,})\b"
    r"|\b\d[\d,]*(?:\.\d+)?(?:%|\b)"
)
_SECTIONS = (
    ("Decisions", "- continued the task"),
    ("Constraints", "- none"),
    ("Facts and figures", ""),
    ("Open questions", "- none"),
    ("Tried and rejected", "- none"),
)


def summarise(segments: Sequence[Sequence[Message]], counter: TokenCounter) -> Summary:
    """Its stand-in for a model: five headings, and the first 40 facts of what leaves."""
    given = "\n\n".join(
        f"[{_kind(messages)}] " + "\n".join(message.text for message in messages) for messages in segments
    )
    facts = list(dict.fromkeys(_FACT.findall(given)))[:MOST_FACTS]
    listed = "\n".join(f"- {fact}" for fact in facts) or "- none"
    body = "\n\n".join(f"## {heading}\n{line or listed}" for heading, line in _SECTIONS)
    return Summary(
        text=f"[earlier turns, compacted]\n{body}\n[compacted by {PROMPT}]",
        read=counter.count(given) + PROMPT_TOKENS,
        written=counter.count(body),
    )


def _kind(messages: Sequence[Message]) -> str:
    first = messages[0]
    if first.kind == "note":
        return "compacted"
    return "user" if first.role == "user" else "tool_turn"
