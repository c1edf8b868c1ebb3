"""Recall tools: the model's way back to what left the window, and its way to offer what may leave."""

from __future__ import annotations

from collections.abc import Callable

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.tool import Answer, Tool, tool
from ethang_nb.context.live import LiveContext
from ethang_nb.errors import Misuse, ToolFault

__all__ = ["recall_tools"]

MOST_LINES = 20  # ► lines find_in_record shows at the most


def recall_tools(archive: Archive, context: Callable[[], LiveContext]) -> tuple[Tool, ...]:
    """The tools over a session's archive and its live context."""

    @tool
    def read_spill(ref: str, start: int = 1, end: int = 0) -> Answer:
        """Read again what left the window, at its address.

        Args:
            ref: the address, e.g. spill://…, log://12 or file:a.txt#L1-9
            start: first line, from 1
            end: last line; 0 for a page
        """
        try:
            text, address = archive.read(ref, start, end)
        except Misuse as error:
            raise ToolFault(str(error)) from None
        return Answer(text=text, address=address, again="read", paged=True)

    @tool
    def find_in_record(query: str, limit: int = 5) -> Answer:
        """Search everything this session has seen, also what left the window.

        Args:
            query: words to look for
            limit: most lines to show
        """
        live = context()
        hidden = frozenset(
            int(address.removeprefix("log://"))
            for row in live.state.rows
            if row.kind == "user"
            for address in live.entries[row.id].addresses
        )
        found = archive.find(query, max(1, min(limit, MOST_LINES)), hidden)
        if not found:
            return Answer(text=f"[no line of the record matches: {query}]", again="run", paged=True)
        lines = [f"{line.address} | {line.text}" for line in found]
        head = f"[{len(found)} lines of the record match: {query}]"
        return Answer(text="\n".join([head, *lines]), again="run", paged=True)

    @tool
    def release_context(addresses: list[str] | None = None) -> Answer:
        """Offer tool results you no longer need; each becomes one line with its address. Without addresses: ask for a cleanup.

        Args:
            addresses: addresses of the results
        """
        live = context()
        if not addresses:
            live.ask_cleanup()
            return Answer(
                text="[a cleanup was asked for; it runs before the next request]", again="run", paged=True
            )
        return Answer(text=_release(live, addresses), again="run", paged=True)

    return read_spill, find_in_record, release_context


def _release(live: LiveContext, addresses: list[str]) -> str:
    offered: list[tuple[int, int]] = []
    refused: list[str] = []
    where = {
        address: (row.id, index)
        for row in live.state.rows
        for index, address in enumerate(live.entries[row.id].addresses[1:])
    }
    for address in dict.fromkeys(addresses):
        if address in where:
            offered.append(where[address])
        else:
            refused.append(f"{address}: no result in the window has this address")
    before = live.state.total
    decision = live.release(offered)
    moved = {(move.row, move.index) for move in decision.moves}
    names = {place: address for address, place in where.items()}
    refused += [f"{names[place]}: {_why_kept(live, place)}" for place in offered if place not in moved]
    said = [f"[released {len(moved)} results, {before - live.state.total:,} tokens freed]"]
    return "\n".join([*said, *(f"kept {line}" for line in refused)])


def _why_kept(live: LiveContext, place: tuple[int, int]) -> str:
    row = next(row for row in live.state.rows if row.id == place[0])
    result = row.results[place[1]]
    if result.form == "stub":
        return "it is one line already"
    if result.tokens <= result.stub:
        return "its line would not be shorter"
    return "the newest segment stays"
