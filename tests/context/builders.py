"""Small builders shared by the tests of the pure room."""

from __future__ import annotations

from typing import Any

from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.journal import MemoryJournal
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool
from ethang_nb.context.policies import policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.state import State
from ethang_nb.context.window import Window
from ethang_nb.testing import WordCounter

WORDS = WordCounter()


class ListJournal:
    """Keeps entries in a list, numbered from 1, as a record does."""

    records = True

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []

    @property
    def next(self) -> int:
        return len(self.entries) + 1

    def write(self, kind: str, data: dict[str, Any]) -> int:
        self.entries.append(JournalEntry(self.next, kind, data))
        return len(self.entries)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def live(
    total: int = 6_000,
    *,
    rules: str | Policy = "ethang",
    journal: ListJournal | MemoryJournal | None = None,
    system: str = "you are an agent",
    **options: Any,
) -> LiveContext:
    return LiveContext(
        window=Window.of(total),
        policy=policy(rules),
        counter=WORDS,
        system=system,
        journal=journal or ListJournal(),
        **options,
    )


def watched(total: int = 6_000, **options: Any) -> tuple[LiveContext, Chronicle]:
    context = live(total, **options)
    return context, Chronicle(context)


def picture(state: State) -> dict[str, Any]:
    """All that a state says, to compare two of them: its ledger compares by identity, not by what it holds."""
    plain = {name: value for name, value in state._asdict().items() if name not in _SPELT}
    plain |= {"rows": state.rows, "live": state.numbers, "total": state.total, "fill": state.fill}
    # Whether the newest row is in the ledger already is nothing that anybody sees.
    return plain | {"opened": [(row.id, row.open) for row in state.rows if row.open]}


_SPELT = ("ledger", "n", "tail", "live", "opened")
"""Fields that say, with the ledger, what stands in the window and how; the rows say it as well."""


def turn(
    context: LiveContext, number: int, size: int, *, text: str | None = None, address: str = "", say: str = ""
) -> int:
    """One tool turn whose result has `size` words; returns its segment."""
    call = ToolCall(id=f"c{number}", name="read_file", arguments=f'{{"path": "f{number}.txt"}}')
    context.append(assistant(say, [call]))
    result = ToolResult(
        call_id=call.id,
        name="read_file",
        text=text if text is not None else words(size, f"w{number}"),
        address=address,
        again="read" if address else "lost",
    )
    return context.append(tool(result))


def fill_up(context: LiveContext, size: int, steps: int, *, address: bool = True) -> None:
    """`steps` requests, each followed by a tool turn of `size` words."""
    first = context.state.next_row
    for number in range(first, first + steps):
        context.request()
        context.assemble()
        turn(context, number, size, address=f"file:f{number}.txt#L1-9@0a1b2c3d" if address else "")
