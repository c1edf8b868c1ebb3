"""File tools: read_file and list_files, jailed to the root; each pages its own output."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ethang_nb.agent.jail import Jail, quoted
from ethang_nb.agent.textfile import TextFile
from ethang_nb.agent.tool import Answer, Tool, tool
from ethang_nb.context.address import Address
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter
from ethang_nb.errors import ToolFault

__all__ = ["file_tools"]

CASSETTE = ".cassette.jsonl"  # as providers.cassette has it, which would load what speaks HTTP
MOST_NAMES = 500  # ► names one page shows
LIST_SPARE_TOKENS = 24  # ► for the line that says where a list goes on
SPARE_TOKENS = 8  # ► for numbers in a header or a mark that are longer than in the one that was counted


def file_tools(jail: Jail, counter: TokenCounter, page_tokens: Callable[[], int]) -> tuple[Tool, ...]:
    """The tools over `jail`. A page holds at most `page_tokens()` tokens as a message, its header included."""

    @tool
    def read_file(path: str, start: int = 1, end: int | None = None) -> Answer:
        """Read a text file, or a range of its lines; a long file comes in pages.

        Args:
            path: path inside the root
            start: first line, from 1
            end: last line
        """
        real = jail.file(path)
        file = TextFile.read(real, jail.name(real))
        total = len(file.lines)
        last = total if end is None else min(end, total)
        if not 1 <= start <= max(1, total):
            raise ToolFault(f"start {start} is outside {file.name}, which has {total:,} lines")
        if end is not None and end < start:
            raise ToolFault(f"end {end} lies before start {start}; leave end out to read on to the end")
        head = _header(file, start, total, last, total)
        room = page_tokens() - MESSAGE_OVERHEAD - counter.count(head) - SPARE_TOKENS
        shown = _page(file, start, last, room, counter)
        until = start + len(shown) - 1
        return Answer(
            text="\n".join([_header(file, start, until, last, total), *shown]),
            address=file.address(start, until),
            again="read",
            paged=True,
        )

    @tool
    def list_files(folder: str = ".", start: int = 1) -> Answer:
        """List the files and folders in a folder; a long list comes in pages.

        Args:
            folder: path inside the root
            start: first name, from 1
        """
        real = jail.folder(folder)
        found = sorted(real.iterdir(), key=lambda item: quoted(item.name))
        names = [quoted(item.name) + "/" * item.is_dir() for item in found if _shown(item.name)]
        if not 1 <= start <= max(1, len(names)):
            raise ToolFault(f"start {start} is outside the list, which has {len(names):,} names")
        head = f"[{sum(not name.endswith('/') for name in names)} files in {jail.name(real)}]"
        room = page_tokens() - MESSAGE_OVERHEAD - counter.count(head) - LIST_SPARE_TOKENS
        shown = _names(names[start - 1 : start - 1 + MOST_NAMES], room, counter)
        until = start - 1 + len(shown)
        more = [f"[more names: list_files with start={until + 1}]"] if until < len(names) else []
        return Answer(text="\n".join([head, *shown, *more]), again="run")

    return read_file, list_files


def _shown(name: str) -> bool:
    """Neither a dot-file nor a cassette: what grows while it records would change the requests that it records."""
    return not name.startswith(".") and not name.endswith(CASSETTE)


def _names(names: Sequence[str], room: int, counter: TokenCounter) -> Sequence[str]:
    """The names that fit; at least one, so that every page goes on."""
    for at, name in enumerate(names):
        room -= counter.count(name) + 1
        if room < 0:
            return names[: max(1, at)]
    return names


def _header(file: TextFile, first: int, until: int, last: int, total: int) -> str:
    more = f"; read on with start={until + 1}" if until < last else ""
    return f"[{file.address(first, until)} of {total:,} lines{more}]"


def _page(file: TextFile, first: int, last: int, room: int, counter: TokenCounter) -> Sequence[str]:
    """The lines from `first` on that fit; a single line that does not is cut, and says where it goes on."""
    lines = file.lines[first - 1 : last]
    for at, line in enumerate(lines):
        if counter.over(line, room - 1):
            return lines[:at] or [_cut_line(file, first, line, room, counter)]
        room -= counter.count(line) + 1
    return lines


def _cut_line(file: TextFile, number: int, line: str, room: int, counter: TokenCounter) -> str:
    kept = line[: max(0, room) * 4]
    while counter.over(_marked(file, number, line, kept), room - SPARE_TOKENS) and kept:
        kept = kept[: len(kept) * 3 // 4]
    return _marked(file, number, line, kept)


def _marked(file: TextFile, number: int, line: str, kept: str) -> str:
    ref = Address(scheme="file", place=file.name, first=number, character=len(kept) + 1)
    return f"{kept} [… {len(kept):,} of this line's {len(line):,} characters; it goes on at {ref}, for read_spill]"
