"""Occupancy: what is in the window now, as the budget that people read. Reads only."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

from ethang_nb.context.budget import Budget, Slice, percentile
from ethang_nb.context.counting import IMAGE_TOKENS
from ethang_nb.context.entry import Entry
from ethang_nb.context.ledger import CLASSES, KINDS, Row
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Image, Message, ToolResult
from ethang_nb.context.state import State

__all__ = ["Occupancy", "Outputs", "budget", "task_tokens"]

_MEMORY = KINDS.index("memory")


def task_tokens(state: State) -> int:
    """Tokens of the tasks in the window."""
    tasks = {state.first_task, state.task} - {-1}
    return sum([state.row(number).tokens for number in tasks if state.is_live(number)])


class Outputs:
    """Tokens of all tool results in the window of one context, as they stand there.

    Sums over what its ledger held already are kept from one time to the next.
    """

    def __init__(self) -> None:
        self._sums = tuple(array("q", (0,)) for _ in CLASSES)
        """Per class: what its first results took as they entered."""
        self._rows = 0
        """How many rows these are the results of."""
        self._counts: list[int] = []
        """Per class: how many of them the rows before the newest hold."""

    def tokens(self, state: State) -> int:
        self._follow(state)
        ledger, end = state.ledger, state.n
        total = 0 if state.tail is None else sum([result.tokens for result in state.tail.results])
        for again in CLASSES:
            saved, upto, front = ledger.results[again].saved, ledger.upto[again], state.collapsed[again]
            sums = self._sums[again]
            for start, stop in state.live:
                low, high = upto[min(start, end)], upto[min(stop, end)]
                total += sums[high] - sums[low]
                if low < front:
                    total -= saved[min(front, high)] - saved[low]
        for (again, at), (tokens, _) in state.changed.items():
            column = ledger.results[again]
            if state.is_live(column.row[at]):
                folded = at < state.collapsed[again]
                total += tokens - (min(column.tokens[at], column.stub[at]) if folded else column.tokens[at])
        return total

    def _follow(self, state: State) -> None:
        """Takes in what came. Only the newest row of before may be another now, unless a result came late."""
        ledger, known = state.ledger, max(0, min(self._rows - 1, state.n))
        counts = [upto[known] for upto in ledger.upto]
        if self._rows and counts != self._counts:
            known, counts = 0, [0] * len(counts)
        for again in CLASSES:
            sums, tokens = self._sums[again], ledger.results[again].tokens
            del sums[counts[again] + 1 :]
            new = tokens[counts[again] : ledger.upto[again][state.n]]
            sums.extend(accumulate(new, initial=sums.pop()))
        self._rows = state.n
        newest = max(0, state.n - 1)
        self._counts = [upto[newest] for upto in ledger.upto]


def budget(context: LiveContext, fills: Sequence[int] = ()) -> Budget:
    """The window's slices now. `fills` are the fills of all requests so far, for p95."""
    return Occupancy(context).budget(percentile(tuple(fills)))


class Occupancy:
    """The budget of one context, again and again: each time only the segments that came since are looked at.

    Which of them hold images is all that must be looked for; everything else the state's own sums say.
    """

    def __init__(self, context: LiveContext) -> None:
        self._context = context
        self._outputs = Outputs()
        self._looked: dict[int, Entry] = {}
        """The newest rows, as they were looked at: results may still join them."""
        self._next = 0
        self._pictured: set[int] = set()
        """Rows with images in them, in or out of the window."""

    def budget(self, p95: int | None = None) -> Budget:
        context, state = self._context, self._context.state
        how = context.counter.how
        tasks = [
            state.row(number) for number in {state.first_task, state.task} - {-1} if state.is_live(number)
        ]
        memory = [state.row(number) for number in _memories(state)]
        pictures = self._pictures()
        images = sum(said + read for said, read in pictures.values())

        def text(row: Row) -> int:
            return row.tokens - sum(pictures.get(row.id, ())) * IMAGE_TOKENS

        # Images have a slice of their own, so they are taken out of the slice that they stand in.
        output = self._outputs.tokens(state) - sum(read for _, read in pictures.values()) * IMAGE_TOKENS
        named = sum(map(text, (*tasks, *memory))) + output + images * IMAGE_TOKENS
        rows = sum(min(stop, state.next_row) - start for start, stop in state.live if start < state.next_row)
        sizes = {
            "system": (state.system, 1 if state.system else 0),
            "tools": (state.tools, len(context.tools)),
            "project": (state.project, 1 if state.project else 0),
            "core": (state.core, sum(pin.core for pin in context.pins)),
            "task": (sum(map(text, tasks)), len(tasks)),
            "handoff notes": (sum(note.tokens for note in state.notes), len(state.notes)),
            "recalled memory": (sum(map(text, memory)), len(memory)),
            "history": (state.occupied - named, rows + len(state.passing) - len(tasks) - len(memory)),
            "tool output": (output, _count_results(state)),
            "images": (images * IMAGE_TOKENS, images),
        }
        return Budget(
            window=state.window,
            levels=state.levels,
            slices=tuple(
                Slice(name=name, tokens=tokens, how="estimated" if name == "images" else how, count=count)
                for name, (tokens, count) in sizes.items()
            ),
            how=how,
            p95=p95,
            ratio=state.ratio,
            cleanup_at=state.cleanup_at,
            followed=context.followed,
        )

    def _pictures(self) -> dict[int, tuple[int, int]]:
        """How many images stand in the first message of a row, and in its results; one line or a note has none."""
        state, entries = self._context.state, self._context.entries
        again = [number for number, entry in self._looked.items() if entries[number] is not entry]
        for number in (*again, *range(self._next, state.next_row)):
            if _images(entries[number].messages):
                self._pictured.add(number)
        waiting = {number for number, _ in state.opened} | {state.next_row - 1} - {-1}
        self._looked = {number: entries[number] for number in waiting}
        self._next = state.next_row
        passing = [item.id for item in state.passing if _images(entries[item.id].messages)]
        found = {}
        for number in (*passing, *sorted(self._pictured)):
            if state.is_live(number):
                messages = entries[number].messages
                if number >= 0:
                    messages = list(entries[number].forms(state.row(number), self._context.counter))
                found[number] = (_images(messages[:1]), _images(messages[1:]))
        return found


def _memories(state: State) -> list[int]:
    """The live rows of recalled memory."""
    tail = [state.n] if state.tail is not None and state.tail.kind == "memory" else []
    kinds, found = state.ledger.kind, list[int]()
    for start, stop in state.live:
        at = kinds.find(_MEMORY, start, min(stop, state.n))
        while at >= 0:
            found.append(at)
            at = kinds.find(_MEMORY, at + 1, min(stop, state.n))
    return found + tail


def _count_results(state: State) -> int:
    ledger, end = state.ledger, state.n
    count = 0 if state.tail is None else len(state.tail.results)
    for upto in ledger.upto:
        count += sum([upto[min(stop, end)] - upto[min(start, end)] for start, stop in state.live])
    return count


def _images(messages: Sequence[Message]) -> int:
    parts = [part for message in messages for part in message.parts]
    inside = sum(len(part.images) for part in parts if isinstance(part, ToolResult))
    return inside + sum(isinstance(part, Image) for part in parts)
