"""File tools: read_file and list_files, jailed to the root; each pages its own output."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ethang_nb.agent.jail import Jail
from ethang_nb.agent.textfile import TextFile
from ethang_nb.agent.tool import Answer, Tool, tool
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter
from ethang_nb.context.messages import clean
from ethang_nb.errors import ToolFault

__all__ = ["file_tools"]

MOST_NAMES = 500  # ► names one list shows
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
    ref = f"file:{file.name}#L{number}C{len(kept) + 1}"
    return f"{kept} [… {len(kept):,} of this line's {len(line):,} characters; it goes on at {ref}, for read_spill]"
