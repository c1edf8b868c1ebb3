"""Occupancy: what is in the window now, as the budget that people read. Reads only."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.budget import Budget, Slice, percentile
from ethang_nb.context.counting import IMAGE_TOKENS
from ethang_nb.context.ledger import CLASSES, Row
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Image, Message, ToolResult
from ethang_nb.context.state import State

__all__ = ["budget", "output_tokens", "task_tokens"]


def task_tokens(state: State) -> int:
    """Tokens of the tasks in the window."""
    tasks = {state.first_task, state.task} - {-1}
    return sum([state.row(number).tokens for number in tasks if state.is_live(number)])


def output_tokens(state: State) -> int:
    """Tokens of all tool results in the window, as they stand there."""
    ledger, end = state.ledger, state.n
    total = 0 if state.tail is None else sum([result.tokens for result in state.tail.results])
    for again in CLASSES:
        column, upto, front = ledger.results[again], ledger.upto[again], state.collapsed[again]
        for start, stop in state.live:
            low, high = upto[min(start, end)], upto[min(stop, end)]
            total += sum(column.tokens[low:high])
            if low < front:
                total -= column.saved[min(front, high)] - column.saved[low]
    for (again, at), (tokens, _) in state.changed.items():
        column = ledger.results[again]
        if state.is_live(column.row[at]):
            folded = at < state.collapsed[again]
            total += tokens - (min(column.tokens[at], column.stub[at]) if folded else column.tokens[at])
    return total


def budget(context: LiveContext, fills: Sequence[int] = ()) -> Budget:
    """The window's slices now. `fills` are the fills of all requests so far, for p95."""
    state = context.state
    how, rows = context.counter.how, state.rows
    tasks = [row for row in rows if row.task]
    memory = [row for row in rows if row.kind == "memory"]
    pictures = {row.id: _standing_images(context, row) for row in rows}
    images = sum(said + read for said, read in pictures.values())

    def text(row: Row) -> int:
        return row.tokens - sum(pictures[row.id]) * IMAGE_TOKENS

    # Images have a slice of their own, so they are taken out of the slice that they stand in.
    output = output_tokens(state) - sum(read for _, read in pictures.values()) * IMAGE_TOKENS
    named = sum(map(text, (*tasks, *memory))) + output + images * IMAGE_TOKENS
    results = sum(len(row.results) for row in rows)
    pins = sum(pin.core for pin in context.pins)
    sizes = {
        "system": (state.system, 1 if state.system else 0),
        "tools": (state.tools, len(context.tools)),
        "project": (state.project, 1 if state.project else 0),
        "core": (state.core, pins),
        "task": (sum(map(text, tasks)), len(tasks)),
        "handoff notes": (sum(note.tokens for note in state.notes), len(state.notes)),
        "recalled memory": (sum(map(text, memory)), len(memory)),
        "history": (state.occupied - named, len(rows) - len(tasks) - len(memory)),
        "tool output": (output, results),
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
        p95=percentile(tuple(fills)),
        ratio=state.ratio,
        cleanup_at=state.cleanup_at,
    )


def _standing_images(context: LiveContext, row: Row) -> tuple[int, int]:
    """How many images stand in the first message of a row, and in its results; one line or a note has none."""
    entry = context.entries[row.id]
    if not _images(entry.messages):
        return 0, 0
    first, *results = entry.forms(row, context.counter)
    return _images([first]), _images(results)


def _images(messages: Sequence[Message]) -> int:
    parts = [part for message in messages for part in message.parts]
    inside = sum(len(part.images) for part in parts if isinstance(part, ToolResult))
    return inside + sum(isinstance(part, Image) for part in parts)
