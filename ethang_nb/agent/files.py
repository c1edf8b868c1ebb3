"""File tools: read_file and list_files, jailed to the root; each pages its own output."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ethang_nb.agent.jail import Jail
from ethang_nb.agent.tool import Answer, Tool, tool
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.messages import clean
from ethang_nb.errors import PathRefused, ToolFault

__all__ = ["file_tools"]

BINARY_PROBE = 8_000  # bytes looked at for NUL before a file is taken for text
MOST_NAMES = 500  # ► names one list shows


def file_tools(jail: Jail, counter: TokenCounter, page_tokens: int) -> tuple[Tool, ...]:
    """The tools over `jail`. A page holds at most `page_tokens` tokens, its header line included."""

    @tool
    def read_file(path: str, start: int = 1, end: int | None = None) -> Answer:
        """Read a text file, or a range of its lines; a long file comes in pages.

        Args:
            path: path inside the root
            start: first line, from 1
            end: last line
        """
        real = jail.file(path)
        lines = _lines(real, path)
        name, total = jail.name(real), len(lines)
        if not 1 <= start <= max(1, total):
            raise ToolFault(f"start {start} is outside {name}, which has {total:,} lines")
        last = total if end is None else min(end, total)
        shown = _page(lines[start - 1 : max(start, last)], page_tokens, counter)
        body = "\n".join(shown)
        until = start + len(shown) - 1
        address = f"file:{name}#L{start}-{until}@{hashlib.sha256(body.encode()).hexdigest()[:8]}"
        more = f"; read on with start={until + 1}" if until < last else ""
        return Answer(
            text=f"[{address} of {total:,} lines{more}]\n{body}", address=address, again="read", paged=True
        )

    @tool
    def list_files(folder: str = ".") -> Answer:
        """List the files and folders in a folder.

        Args:
            folder: path inside the root
        """
        real = jail.folder(folder)
        names = sorted(f"{item.name}/" if item.is_dir() else item.name for item in real.iterdir())
        names = [
            clean(name.encode("utf-8", "replace").decode()) for name in names if not name.startswith(".")
        ]
        files = sum(not name.endswith("/") for name in names)
        shown = names[:MOST_NAMES]
        rest = [f"[{len(names) - len(shown):,} more names]"] if len(names) > len(shown) else []
        head = f"[{files} files in {jail.name(real)}]"
        return Answer(text="\n".join([head, *shown, *rest]), again="run")

    return read_file, list_files


def _lines(real: Path, path: str) -> list[str]:
    try:
        raw = real.read_bytes()
    except OSError as error:
        raise PathRefused(f"{path[:200]!r} cannot be read: {error.strerror}") from None
    if b"\x00" in raw[:BINARY_PROBE]:
        raise PathRefused(f"{path[:200]!r} holds NUL bytes; it is not a text file")
    # Only line feeds end a line, so that line numbers agree with every editor's.
    lines = clean(raw.decode("utf-8", "replace").removeprefix("\ufeff")).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _page(lines: list[str], tokens: int, counter: TokenCounter) -> list[str]:
    """As many of `lines` as fit; a single line that does not fit is cut, and says so."""
    room = tokens - HEADER_TOKENS
    used = 0
    for at, line in enumerate(lines):
        if counter.over(line, room - used - 1):
            if at:
                return lines[:at]
            kept = line[: room * 2]
            while counter.over(kept, room - CUT_TOKENS) and kept:
                kept = kept[: len(kept) * 3 // 4]
            return [f"{kept} [… this line has {len(line):,} characters, {len(kept):,} of them shown]"]
        used += counter.count(line) + 1
    return lines


HEADER_TOKENS = 60  # ► room for the header line of a page
CUT_TOKENS = 30  # ► room for what is said of a line that was cut
