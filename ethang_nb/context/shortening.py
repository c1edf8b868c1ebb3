"""Shortening: the sign that a server read less of a request than it was sent, and what it surely had to read.

One rule for all who see reports: sessions, and contexts whose requests somebody else makes. Pure. In doubt there is no
sign: a cleanup for nothing costs the person context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb.context.counting import IMAGE_TOKENS
from ethang_nb.context.messages import Image, Message, Thinking

__all__ = ["Reading", "fell_short", "surely_read"]

FEWER = 600  # ► per mille of our own count; no tokenizer in use counts so much less of the same text
SHORT = 1_000  # ► tokens; of less than this tokenizers and templates differ too much
PHANTOM = 200  # ► tokens; no server leaves so little of a request, some report so little of any
FALL = 950  # ► per mille of the report before, although there was more to read
REST = (900, 1_300)  # ► per mille of our count of what is new, within which a report is of that alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One request as both sides counted it, in tokens: `own` by `surely_read`, `input` the provider's report."""

    own: int
    input: int


def surely_read(messages: Sequence[Message], own: int, tools: int) -> int:
    """Of a request of `own` tokens, `tools` of them definitions, what every server reads as such.

    Not the definitions (many a template leaves them out or writes them shorter), thinking (dropped from earlier turns
    by some) and images. Thinking is taken off with more than it can have, so that no report is doubted for it.
    """
    parts = [part for message in messages for part in message.parts]
    results = [part for message in messages for part in message.results]
    parts += [image for result in results for image in result.images]
    thought = sum(
        len(part.text) + len(part.signature) + len(part.redacted)
        for part in parts
        if isinstance(part, Thinking)
    )
    images = sum(isinstance(part, Image) for part in parts)
    return max(0, own - tools - thought - images * IMAGE_TOKENS)


def fell_short(read: int, own: int, before: Reading | None = None) -> bool:
    """Whether a report of `read` tokens says that there was less to read than the `own` that surely had to be.

    `before`: the last request of the same conversation to the same model that showed no sign, None where there is none.
    """
    if own < SHORT or read < PHANTOM:
        return False
    usual = min(1_000, before.input * 1_000 // max(1, before.own)) if before else 1_000
    far_fewer = read * 1_000_000 < own * usual * FEWER
    fell = before is not None and own > before.own and read * 1_000 < before.input * FALL
    return (far_fewer or fell) and not (before is not None and _is_the_rest(read, own - before.own, usual))


def _is_the_rest(read: int, new: int, usual: int) -> bool:
    """Whether the report is of what is new alone: some servers leave out what they had in their cache."""
    least, most = REST
    return new * usual * least <= read * 1_000_000 and read * 1_000 <= new * most + PHANTOM * 1_000
