"""Outline: the segments of a live context as people see them, each with its reason and its next verdict.

Reads only. Verdicts are those of the next cleanup, worked out now.
"""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.decision import Decision
from ethang_nb.context.entry import Entry
from ethang_nb.context.explain import moves_by_row, segment_id
from ethang_nb.context.ledger import Row
from ethang_nb.context.live import LiveContext
from ethang_nb.context.marks import Mark, mark
from ethang_nb.context.messages import Trust
from ethang_nb.context.planner import cleanup
from ethang_nb.context.segments import Retention, Segment, SegmentKind, Segments
from ethang_nb.context.staying import Staying
from ethang_nb.context.wording import REASONS, preview

__all__ = ["note_segments", "part_segments", "row_segment", "segments", "source", "trust"]

PARTS: tuple[tuple[SegmentKind, Retention], ...] = (
    ("system", Retention.SYSTEM),
    ("tools", Retention.SYSTEM),
    ("project", Retention.PROJECT),
    ("core", Retention.CORE),
)


def segments(context: LiveContext, repairs: Sequence[str] = ()) -> Segments:
    """Every segment in the window, in the order of assembly, with the verdict of the next cleanup."""
    decision = cleanup(context.state, asked=True)
    state, acts = decision.before, moves_by_row(decision)
    staying = Staying(state, state.policy.keep)
    rows = list(state.rows)
    items = part_segments(context)
    if state.head is not None:
        row = rows.pop(0)
        items.append(row_segment(context, row, mark(row, staying, acts.get(row.id, [])), len(items)))
    items += note_segments(context, decision, len(items))
    for row in rows:
        items.append(row_segment(context, row, mark(row, staying, acts.get(row.id, [])), len(items)))
    return Segments(tuple(items), tuple(repairs))


def part_segments(context: LiveContext) -> list[Segment]:
    """What stands before the conversation: system, tools, project, core."""
    state = context.state
    texts = {"system": context.system, "tools": "", "project": context.project, "core": context.core}
    tokens = {"system": state.system, "tools": state.tools, "project": state.project, "core": state.core}
    items: list[Segment] = []
    for kind, retention in PARTS:
        if tokens[kind]:
            named = f"{len(context.tools)} tools: {', '.join(tool.name for tool in context.tools)}"
            items.append(
                Segment(
                    id=f"fixed:{kind}",
                    kind=kind,
                    title=named if kind == "tools" else preview(texts[kind]),
                    messages=(),
                    tokens=tokens[kind],
                    retention=retention,
                    droppable=False,
                    reason=REASONS[kind],
                    source="owner" if kind != "core" else "pins",
                    trust="owner",
                    position=len(items),
                    why=REASONS[kind],
                )
            )
    return items


def note_segments(context: LiveContext, decision: Decision, position: int = 0) -> list[Segment]:
    """The handoff notes; `decision` is the next cleanup."""
    kind = context.state.policy.notes
    one, goes = kind == "one", kind in ("droppable", "line")
    items = []
    for at, note in enumerate(context.state.notes):
        message = context.notes.message(note.id, context.counter)
        reason = REASONS["note" if one else "note-droppable" if goes else "note-protected"]
        items.append(
            Segment(
                id=f"note:{note.id}",
                kind="note",
                title=f"handoff note, generation {note.generation}",
                messages=(message,),
                tokens=note.tokens,
                retention=Retention.NOTE,
                droppable=goes,
                reason=reason,
                source=message.source,
                trust="agent",
                position=position + at,
                verdict="rewritten" if kind != "protected" and decision.evicted else "stays",
                why=reason,
            )
        )
    return items


def row_segment(context: LiveContext, row: Row, said: Mark, position: int = 0) -> Segment:
    """A row of the conversation, or what passes."""
    entry = context.entries[row.id]
    return Segment(
        id=segment_id(row),
        kind=said.kind or row.kind,
        title=entry.title,
        messages=entry.forms(row, context.counter),
        tokens=row.tokens,
        retention=said.retention,
        droppable=said.droppable,
        reason=said.reason,
        source=source(entry),
        trust=trust(entry),
        position=position,
        step=entry.step,
        address=entry.address,
        collapsed=said.collapsed,
        verdict=said.verdict,
        why=said.why,
    )


def source(entry: Entry) -> str:
    """Where its results come from; where none says so, who spoke."""
    named = ", ".join(dict.fromkeys(item.source for item in entry.messages[1:] if item.source))
    return named or entry.messages[0].source


def trust(entry: Entry) -> Trust:
    outside = any(message.trust == "outside" for message in entry.messages)
    return "outside" if outside else entry.messages[0].trust
