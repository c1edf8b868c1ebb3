"""Occupancy: what is in the window now, as the budget that people read. Reads only."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.budget import Budget, Slice, percentile
from ethang_nb.context.counting import IMAGE_TOKENS
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Image, Message, ToolResult

__all__ = ["budget"]


def budget(context: LiveContext, fills: Sequence[int] = ()) -> Budget:
    """The window's slices now. `fills` are the fills of all requests so far, for p95."""
    state = context.state
    how = context.counter.how
    tasks = [row for row in state.rows if row.task]
    memory = [row for row in state.rows if row.kind == "memory"]
    images = sum(_images(context.entries[row.id].messages) for row in state.rows)
    output = sum(result.tokens for row in state.rows for result in row.results)
    named = sum(row.tokens for row in (*tasks, *memory)) + output + images * IMAGE_TOKENS
    results = sum(len(row.results) for row in state.rows)
    pins = sum(pin.core for pin in context.pins)
    sizes = {
        "system": (state.system, 1 if state.system else 0),
        "tools": (state.tools, len(context.tools)),
        "project": (state.project, 1 if state.project else 0),
        "core": (state.core, pins),
        "task": (sum(row.tokens for row in tasks), len(tasks)),
        "handoff notes": (sum(note.tokens for note in state.notes), len(state.notes)),
        "recalled memory": (sum(row.tokens for row in memory), len(memory)),
        "history": (state.occupied - named, len(state.rows) - len(tasks) - len(memory)),
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


def _images(messages: Sequence[Message]) -> int:
    parts = [part for message in messages for part in message.parts]
    inside = sum(len(part.images) for part in parts if isinstance(part, ToolResult))
    return inside + sum(isinstance(part, Image) for part in parts)
