"""Outline: the segments of a live context as people see them, each with its reason and its next verdict.

Reads only. Verdicts are those of the next cleanup, worked out now.
"""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.decision import Move
from ethang_nb.context.explain import moves_by_row, segment_id, strongest
from ethang_nb.context.ledger import Row
from ethang_nb.context.live import LiveContext
from ethang_nb.context.plan import Act
from ethang_nb.context.planner import cleanup
from ethang_nb.context.segments import Retention, Segment, SegmentKind, Segments
from ethang_nb.context.staying import Staying
from ethang_nb.context.wording import REASONS, preview

__all__ = ["segments"]

SHOWN_ACTS: dict[Act, str] = {
    "stay": "stays",
    "squeeze": "squeezed",
    "collapse": "one line",
    "shrink": "shrunk",
    "evict": "leaves",
    "remove": "taken out",
}

PARTS: tuple[tuple[SegmentKind, Retention], ...] = (
    ("system", Retention.SYSTEM),
    ("tools", Retention.SYSTEM),
    ("project", Retention.PROJECT),
    ("core", Retention.CORE),
)


def segments(context: LiveContext, repairs: Sequence[str] = ()) -> Segments:
    """Every segment in the window, in the order of assembly, with the verdict of the next cleanup."""
    state = context.state
    acts = moves_by_row(cleanup(state, asked=True))
    items = _part_segments(context)
    staying = Staying(state, state.policy.keep)
    rows = list(state.rows)
    if state.head is not None:
        items.append(_row_segment(context, rows.pop(0), acts, staying, len(items)))
    items += _note_segments(context, len(items), acts)
    for row in rows:
        items.append(_row_segment(context, row, acts, staying, len(items)))
    return Segments(tuple(items), tuple(repairs))


def _part_segments(context: LiveContext) -> list[Segment]:
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


def _note_segments(context: LiveContext, position: int, acts: dict[int, list[Move]]) -> list[Segment]:
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
                verdict="rewritten" if kind != "protected" and _evicts(acts) else "stays",
                why=reason,
            )
        )
    return items


def _row_segment(
    context: LiveContext,
    row: Row,
    acts: dict[int, list[Move]],
    staying: Staying,
    position: int,
) -> Segment:
    entry = context.entries[row.id]
    first = entry.messages[0]
    fixed = staying.fixed(row)
    reason = staying.said(fixed or staying.may_leave(row))
    moves = acts.get(row.id, [])
    act = strongest(moves)
    collapsed = bool(row.results) and all(result.form == "stub" for result in row.results)
    outside = any(message.trust == "outside" for message in entry.messages)
    return Segment(
        id=segment_id(row),
        kind="task" if row.task else row.kind,
        title=entry.title,
        messages=entry.forms(row, context.counter),
        tokens=row.tokens,
        retention=_retention(row, staying.rows),
        droppable=not fixed,
        reason=reason,
        source=", ".join(dict.fromkeys(item.source for item in entry.messages[1:] if item.source))
        or first.source,
        trust="outside" if outside else first.trust,
        position=position,
        step=entry.step,
        address=entry.address,
        collapsed=collapsed,
        verdict=SHOWN_ACTS[act],
        why=REASONS[moves[-1].code] if moves else staying.said(staying.why(row)),
    )


def _retention(row: Row, stays: frozenset[int]) -> Retention:
    if row.passing:
        return Retention.NOTICE
    if row.task or row.kind == "pin":
        return Retention.CORE
    if row.kind == "memory":
        return Retention.MEMORY
    if row.id in stays:
        return Retention.RECENT
    return Retention.TOOL_OUTPUT if row.results else Retention.OLDER


def _evicts(acts: dict[int, list[Move]]) -> bool:
    return any(move.act == "evict" for moves in acts.values() for move in moves)
