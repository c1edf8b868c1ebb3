"""Shortened: signs in a reply that the server had no room, although it said nothing.

Ollama cuts a request down to its window and answers what is left; others stop in the middle, or before the first word.
Pure. In doubt there is no sign: a cleanup for nothing costs the person context, a missed one is seen in the usage. So
a whole answer to a request over the window (z.ai takes such) is none: the report alone corrects the next plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.context.window import Window
from ethang_nb.errors import Overflow
from ethang_nb.providers.protocol import Reply, Usage

__all__ = ["Reading", "silent_overflow"]

FEWER = 600  # ► per mille of our own count; no tokenizer in use counts so much less of the same text
SHORT = 1_000  # ► tokens; of less than this tokenizers and templates differ too much
PHANTOM = 200  # ► tokens; no server leaves so little of a request, some report so little of any
FALL = 950  # ► per mille of the report before, although there was more to read
REST = (900, 1_300)  # ► per mille of our count of what is new, within which a report is of that alone
FULL = 900  # ► per mille of the window from which a reply without a word is its fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One request as both sides counted it, in tokens: `own` as in `silent_overflow`, `input` the provider's report."""

    own: int
    input: int


def silent_overflow(
    reply: Reply,
    *,
    own: int,
    window: Window,
    before: Reading | None = None,
    asked: int | None = None,
) -> Overflow | None:
    """The Overflow that a reply with status 200 really is; None: nothing speaks for one.

    `own`: our count of what the server must have read: the texts, calls and results of the request, without tool
    definitions (many a template leaves them out or writes them shorter), thinking (dropped from earlier turns by some)
    and images. `window` is the one the request was made for, `before` the last request of the same conversation to the
    same model that showed no sign, None where there is none. `asked`: the output that was asked for, None: the
    window's reserve.
    """
    usage = reply.usage
    if usage is None or usage.input is None or usage.input < (usage.cached or 0):
        return None
    most = window.reserve if asked is None else asked
    return _cut_down(usage.input, own, window, before) or _ended(reply, usage.input, usage, window, most)


def _cut_down(read: int, own: int, window: Window, before: Reading | None) -> Overflow | None:
    """Fewer tokens reported than there were to read."""
    if own < SHORT or read < PHANTOM:
        return None
    usual = min(1_000, before.input * 1_000 // max(1, before.own)) if before else 1_000
    far_fewer = read * 1_000_000 < own * usual * FEWER
    fell = before is not None and own > before.own and read * 1_000 < before.input * FALL
    if not (far_fewer or fell) or (before is not None and _is_the_rest(read, own - before.own, usual)):
        return None
    return Overflow(
        f"the server read {read:,} of about {own:,} tokens and said nothing: it shortened the request, so its window "
        f"is smaller than {window.total:,} ({window.source}); give the real one, or a larger one to the server",
        tokens=own,
        limit=read,
    )


def _is_the_rest(read: int, new: int, usual: int) -> bool:
    """Whether the report is of what is new alone: some servers leave out what they had in their cache."""
    least, most = REST
    return new * usual * least <= read * 1_000_000 and read * 1_000 <= new * most + PHANTOM * 1_000


def _ended(reply: Reply, read: int, usage: Usage, window: Window, asked: int) -> Overflow | None:
    """A reply that ended where the window does, or before its first word."""
    written = usage.output
    if written is None:
        return None
    if not written:
        return _wordless(reply, read, window) if not usage.reasoning else None
    total = read + written
    # llama.cpp's Responses route says "completed" even then; only the sum gives it away.
    ends = total == window.total if reply.stop == "end" else reply.stop == "length" and total >= window.total
    if not ends or written >= asked:
        return None
    return Overflow(
        f"the answer ends after {total:,} tokens, where the window of {window.total:,} ({window.source}) ends: only "
        f"{written:,} of the {asked:,} asked for had room",
        tokens=read + asked,
        limit=window.total,
        room=max(0, window.total - read) or None,
    )


def _wordless(reply: Reply, read: int, window: Window) -> Overflow | None:
    """The request fills the window to its end (MiMo cuts it so), and nothing could be written."""
    message = reply.message
    if reply.stop != "length" or message.text or message.calls:
        return None
    full = read * 1_000 >= window.total * FULL
    return Overflow(
        f"the server read {read:,} tokens and had no room for a word; its window is no larger than that, "
        f"{window.total:,} were assumed ({window.source})",
        tokens=read,
        limit=window.total if full else read if read >= SHORT else None,
    )
