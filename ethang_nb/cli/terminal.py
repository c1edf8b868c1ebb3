"""Terminal: lines printed as they come, in colour where a person watches, in ASCII where nothing else can be printed.

Colour is never the only sign: every coloured word says what it means.
"""

from __future__ import annotations

import os
import sys
from typing import Literal, TextIO

from ethang_nb.views.plain import WIDTH, indented

__all__ = ["WIDTH", "Terminal", "Tone"]

Tone = Literal["plain", "strong", "dim", "good", "warn", "cut", "stop"]

_CODES: dict[Tone, str] = {
    "strong": "1",
    "dim": "2",
    "good": "32",
    "warn": "33",
    "cut": "36",
    "stop": "31",
}
_PROBE = "█▏·→…"
_ASCII = str.maketrans(
    {"█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": ".", "▎": ".", "▏": ".", "▶": ">"}
    | {"·": ".", "→": "->", "…": "...", "–": "-", "×": "x", "░": ":"}
)


class Terminal:
    """Where a command prints. `colour` None: as the stream and the environment (NO_COLOR, TERM) say."""

    def __init__(self, stream: TextIO | None = None, *, colour: bool | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._colour = _coloured(self._stream) if colour is None else colour
        self._plain = not _prints(self._stream, _PROBE)

    def say(self, text: str = "", tone: Tone = "plain") -> None:
        """Prints `text`, at once: a line may be all that is seen for a while."""
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        shown = text.translate(_ASCII) if self._plain else text
        shown = shown.encode(encoding, "backslashreplace").decode(encoding)
        print(self._painted(shown, tone), file=self._stream, flush=True)

    def paragraph(self, text: str, indent: str = "", tone: Tone = "plain") -> None:
        """`text` wrapped to the width, every line behind `indent`."""
        for line in indented(text, indent):
            self.say(line, tone)

    def named(self, name: str, text: str, width: int = 9) -> None:
        """A name, and its text wrapped beside it."""
        first, *rest = indented(text, " " * (width + 2))
        self.say(f"  {name:<{width}}{first[width + 2 :]}")
        for line in rest:
            self.say(line)

    def _painted(self, text: str, tone: Tone) -> str:
        code = _CODES.get(tone)
        return f"\x1b[{code}m{text}\x1b[0m" if code and self._colour and text else text


def _coloured(stream: TextIO) -> bool:
    """NO_COLOR counts when it is set and not empty (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _prints(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeError:
        return False
    return True
