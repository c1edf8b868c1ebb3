"""Recall tools: the model's way back to what left the window, and its way to offer what may leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ethang_nb.agent.archive import Archive
from ethang_nb.agent.tool import Answer, Tool, tool
from ethang_nb.context.address import event_of, parse
from ethang_nb.context.counting import MESSAGE_OVERHEAD
from ethang_nb.context.live import LiveContext
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse, ToolFault
from ethang_nb.store.texts import Hit

__all__ = ["recall_tools"]

MOST_LINES = 20  # ► lines find_in_record shows at the most
MOST_REFUSED = 10  # ► refusals that release_context spells out
LONGEST_QUERY = 200  # ► characters of a query that the answer repeats
CHARACTERS_PER_TOKEN = 4  # ► of prose; a page of denser text is made smaller until it fits


def recall_tools(
    archive: Callable[[], Archive], context: Callable[[], LiveContext], lock: AbstractContextManager[object]
) -> tuple[Tool, ...]:
    """The tools over a session's archive and its live context, which is touched under `lock` alone."""

    def fits(text: str) -> bool:
        live = context()
        return not live.counter.over(text, live.state.entry_tokens - MESSAGE_OVERHEAD)

    @tool
    def read_spill(ref: str, start: int = 1, end: int = 0) -> Answer:
        """Read again what left the window, at its address.

        Args:
            ref: the address, e.g. spill://…, log://12 or file:a.txt#L1-9
            start: first line, from 1
            end: last line; 0 for a page
        """
        characters = context().state.entry_tokens * CHARACTERS_PER_TOKEN
        try:
            text, address = archive().read(ref, start, end, characters=characters, fits=fits)
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
        with lock:
            hidden = _in_view(context())
        found = archive().find(query, max(1, min(limit, MOST_LINES)), hidden)
        return Answer(text=_hits(query, found, fits), again="run", paged=True)

    @tool
    def release_context(addresses: list[str] | None = None) -> Answer:
        """Offer tool results you no longer need; each becomes one line with its address. Without addresses: a cleanup.

        Args:
            addresses: addresses of the results
        """
        with lock:
            if addresses:
                text = _release(context(), addresses)
            else:
                context().ask_cleanup()
                text = "[a cleanup was asked for; it runs before the next request]"
        return Answer(text=text, again="run", paged=True)

    return read_spill, find_in_record, release_context


def _in_view(live: LiveContext) -> frozenset[int]:
    """The events that hold the person's messages in view: a search must not find the question itself."""
    return frozenset(
        event_of(address)
        for row in live.state.rows
        if row.kind in ("user", "pin")
        for address in live.entries[row.id].addresses
    )


def _hits(query: str, found: Sequence[Hit], fits: Callable[[str], bool]) -> str:
    """As many of the hits as fit one page, at least one."""
    shown = preview(query, LONGEST_QUERY)
    for count in range(len(found), 0, -1):
        lines = [f"{hit.address} | {hit.text}" for hit in found[:count]]
        text = "\n".join([f"[{count} lines of the record match: {shown}]", *lines])
        if fits(text) or count == 1:
            return text
    return f"[no line of the record matches: {shown}]"


def _release(live: LiveContext, addresses: Sequence[str]) -> str:
    # Results by their address, and by that of the whole text, which a model gives as well.
    named: dict[str, list[tuple[int, int]]] = {}
    for row in live.state.rows:
        for index, address in enumerate(live.entries[row.id].addresses[1:]):
            whole = parse(address)
            for name in {address} if whole is None else {address, whole.base}:
                named.setdefault(name, []).append((row.id, index))
    offered: dict[tuple[int, int], str] = {}
    refused: list[str] = []
    for given in dict.fromkeys(addresses):
        places = named.get(given, [])
        offered |= dict.fromkeys(places, given)
        if not places:
            refused.append(f"{given[:120]}: no result in the window has this address")
    before = live.state.total
    decision = live.release(tuple(offered))
    moved = {(move.row, move.index) for move in decision.moves}
    refused += [
        f"{given}: {_why_kept(live, place)}" for place, given in offered.items() if place not in moved
    ]
    said = [f"[released {len(moved)} results, {before - live.state.total:,} tokens freed]"]
    said += [f"kept {line}" for line in refused[:MOST_REFUSED]]
    if len(refused) > MOST_REFUSED:
        said.append(f"kept {len(refused) - MOST_REFUSED} more")
    return "\n".join(said)


def _why_kept(live: LiveContext, place: tuple[int, int]) -> str:
    row = next(row for row in live.state.rows if row.id == place[0])
    result = row.results[place[1]]
    if result.form == "stub":
        return "it is one line already"
    if result.tokens <= result.stub:
        return "its line would not be shorter"
    return "the newest segment stays"
