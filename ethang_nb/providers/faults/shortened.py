"""Shortened: signs in a reply that the server had no room, although it said nothing.

Ollama cuts a request down to its window and answers what is left; others stop in the middle, or before the first word.
Pure. In doubt there is no sign: a cleanup for nothing costs the person context, a missed one is seen in the usage. So
a whole answer to a request over the window (z.ai takes such) is none: the report alone corrects the next plan.
"""

from __future__ import annotations

from ethang_nb.context.shortening import Reading, fell_short
from ethang_nb.context.window import SMALLEST, Window
from ethang_nb.errors import Overflow
from ethang_nb.providers.protocol import Reply, Usage

__all__ = ["silent_overflow"]

SHORT = 1_000  # ► tokens; a window that was filled to its end is no smaller
FULL = 900  # ► per mille of the window from which a reply without a word is its fault
EARLY = 900  # ► per mille of the output asked for, above which an early end says nothing
SIZES = (256, 1_000)  # ► windows are whole multiples of one of these
CAPS = (16, 50)  # ► limits of the output alone, of a server or a model, are whole multiples of one of these


def silent_overflow(
    reply: Reply,
    *,
    own: int,
    window: Window,
    before: Reading | None = None,
    asked: int | None = None,
) -> Overflow | None:
    """The Overflow that a reply with status 200 really is; None: nothing speaks for one.

    `own`: our count of what the server must have read, by `surely_read`. `window` is the one the request was made for,
    `before` the last request of the same conversation to the same model that showed no sign, None where there is none.
    `asked`: the output that was asked for, None: the window's reserve.
    """
    usage = reply.usage
    if usage is None or usage.input is None or usage.input < (usage.cached or 0):
        return None
    most = window.reserve if asked is None else asked
    return _cut_down(usage.input, own, window, before) or _ended(reply, usage.input, usage, window, most)


def _cut_down(read: int, own: int, window: Window, before: Reading | None) -> Overflow | None:
    """Fewer tokens reported than there were to read."""
    if not fell_short(read, own, before):
        return None
    return Overflow(
        f"the server read {read:,} of about {own:,} tokens and said nothing: it shortened the request, so its window "
        f"is smaller than {window.total:,} ({window.source}); give the real one, or a larger one to the server",
        tokens=own,
        limit=read,
    )


def _ended(reply: Reply, read: int, usage: Usage, window: Window, asked: int) -> Overflow | None:
    """A reply that ended where the window does, or before its first word."""
    written = usage.output
    if written is None:
        return None
    if not written:
        return _wordless(reply, read, window) if not usage.reasoning else None
    total = read + written
    if reply.stop == "length" and _smaller(total, written, window, asked):
        return Overflow(
            f"the answer was cut after {written:,} of the {asked:,} tokens asked for, and with the {read:,} read these "
            f"are {total:,}: there the server's window ends, not at {window.total:,} ({window.source})",
            tokens=read + asked,
            limit=total,
            room=written,
        )
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


def _smaller(total: int, written: int, window: Window, asked: int) -> bool:
    """Whether the server's window is smaller than was assumed, and ended at `total`.

    A server or model that puts out no more than so much ends early, too, and nothing in the reply tells the two apart
    but the numbers: the one stops at a size that windows have, the other at one that limits have.
    """
    if not SMALLEST <= total < window.total or written * 1_000 > asked * EARLY:
        return False
    return _is_whole(total, SIZES) and not _is_whole(written, CAPS)


def _is_whole(number: int, units: tuple[int, ...]) -> bool:
    return any(number % unit == 0 for unit in units)


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
