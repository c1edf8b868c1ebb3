"""Outline: what people see of a live context: its segments with reasons, its budget, its plan.

Reads only. Verdicts in the segment list are those of the next cleanup, worked out now.
"""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.budget import Budget, Slice, percentile
from ethang_nb.context.counting import IMAGE_TOKENS
from ethang_nb.context.digest import digest
from ethang_nb.context.draft import Move, kept
from ethang_nb.context.live import Entry, LiveContext
from ethang_nb.context.messages import Image, Message
from ethang_nb.context.plan import Plan, Price, Verdict
from ethang_nb.context.planner import Decision, cleanup
from ethang_nb.context.segments import Retention, Segment, SegmentKind, Segments
from ethang_nb.context.state import Row, State
from ethang_nb.context.wording import REASONS, percent, preview

__all__ = ["as_plan", "budget", "next_cleanup", "price", "segments"]

READ_PER_MILLE = 100  # ► a cached token's price against a fresh one
WRITE_PER_MILLE = 1_250  # ► a fresh token's price where it is written to the cache
SHOWN_ACTS = {
    "stay": "stays",
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


def next_cleanup(context: LiveContext) -> Plan:
    """What the policy would do if a cleanup were asked for now. Changes nothing."""
    return as_plan(context, context.state, cleanup(context.state, asked=True))


def as_plan(
    context: LiveContext, state: State, decision: Decision, entries: dict[int, Entry] | None = None
) -> Plan:
    """A decision as the value people see. `entries` are the texts as they stood when it was made."""
    known = dict(context.entries) if entries is None else entries
    usable = state.usable
    return Plan(
        outcome=decision.outcome,
        policy=state.policy.name,
        window=state.window,
        levels=state.levels,
        before=decision.before,
        after=decision.after,
        fill_before=decision.before * 1000 // usable,
        fill_after=decision.after * 1000 // usable,
        reason=_reason(state, decision, known),
        forced=decision.forced,
        asked=decision.asked,
        kept=decision.keep,
        note_tokens=decision.note_tokens,
        price=price(state, decision) if decision.moves else None,
        _verdicts=lambda: _verdicts(state, decision, known),
        _digest=lambda: digest(state, decision),
    )


def price(state: State, decision: Decision) -> Price:
    """From the first changed position of the cached prefix on, everything is processed again."""
    changed = {move.row for move in decision.moves}
    prefix = state.system + state.tools + state.project
    if decision.core == state.core:
        prefix += state.core
        task = state.rows[0] if state.rows and state.rows[0].task else None
        prefix += task.tokens if task else 0
        if not decision.writes_note:
            prefix += sum(note.tokens for note in state.notes)
            for row in state.rows[1 if task else 0 :]:
                if row.id in changed:
                    break
                prefix += row.tokens
    again, saved = max(0, decision.after - prefix), decision.before - decision.after
    extra = again * (WRITE_PER_MILLE - READ_PER_MILLE)
    return Price(
        prefix=prefix,
        again=again,
        saved=saved,
        pays_after=-(-extra // (saved * READ_PER_MILLE)) if saved > 0 else None,
        read_per_mille=READ_PER_MILLE,
        write_per_mille=WRITE_PER_MILLE,
    )


def segments(context: LiveContext, repairs: Sequence[str] = ()) -> Segments:
    """Every segment in the window, in the order of assembly, with the verdict of the next cleanup."""
    state = context.state
    acts = _acts(cleanup(state, asked=True))
    items = _part_segments(context)
    stays = kept(state.rows, state.policy.keep)
    newest_user = next((row.id for row in reversed(state.rows) if row.kind == "user"), -1)
    newest = next((row.id for row in reversed(state.rows) if not row.passing), -1)
    rows = list(state.rows)
    head = [rows.pop(0)] if rows and rows[0].task else []
    for row in head:
        items.append(_row_segment(context, row, acts, stays, newest, newest_user, len(items)))
    items += _note_segments(context, len(items), acts)
    for row in rows:
        items.append(_row_segment(context, row, acts, stays, newest, newest_user, len(items)))
    return Segments(tuple(items), tuple(repairs))


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
        cleanup_at=state.cleanup_at,
    )


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
    one = context.state.policy.notes == "one"
    items = []
    for at, note in enumerate(context.state.notes):
        message = context.note_messages.get(note.id)
        messages: tuple[Message, ...] = (message,) if message else ()
        reason = REASONS["note" if one else "note-protected"]
        items.append(
            Segment(
                id=f"note:{note.id}",
                kind="note",
                title=f"handoff note, generation {note.generation}",
                messages=messages,
                tokens=note.tokens,
                retention=Retention.NOTE,
                droppable=False,
                reason=reason,
                source=message.source if message else "",
                trust="agent",
                position=position + at,
                verdict="rewritten" if one and _evicts(acts) else "stays",
                why=reason,
            )
        )
    return items


def _row_segment(
    context: LiveContext,
    row: Row,
    acts: dict[int, list[Move]],
    stays: set[int],
    newest: int,
    newest_user: int,
    position: int,
) -> Segment:
    entry = context.entries[row.id]
    first = entry.messages[0]
    droppable, reason = _droppable(context, row, stays, newest, newest_user)
    moves = acts.get(row.id, [])
    act = _strongest(moves)
    collapsed = bool(row.results) and all(result.form == "stub" for result in row.results)
    outside = any(message.trust == "outside" for message in entry.messages)
    return Segment(
        id=str(row.id),
        kind="task" if row.task else row.kind,
        title=entry.title,
        messages=tuple(entry.messages),
        tokens=row.tokens,
        retention=_retention(row, stays),
        droppable=droppable,
        reason=reason,
        source=", ".join(dict.fromkeys(item.source for item in entry.messages[1:] if item.source))
        or first.source,
        trust="outside" if outside else first.trust,
        position=position,
        step=entry.step,
        address=entry.address,
        collapsed=collapsed,
        verdict=SHOWN_ACTS[act],
        why=REASONS[moves[-1].code]
        if moves
        else (reason if not droppable else _why_stays(row, stays, reason)),
    )


def _droppable(
    context: LiveContext, row: Row, stays: set[int], newest: int, newest_user: int
) -> tuple[bool, str]:
    if row.task:
        return False, REASONS["task"]
    if row.passing:
        return True, REASONS["passing"]
    if row.open:
        return False, REASONS["open"]
    if row.id == newest_user:
        return False, REASONS["newest-user"]
    if row.id == newest:
        return False, REASONS["newest"]
    if any(pin.row == row.id and not pin.core for pin in context.state.pins):
        return False, REASONS["pin"]
    if row.id in stays:
        return True, REASONS["recent"].format(keep=context.state.policy.keep)
    if row.kind == "turn":
        return True, REASONS["output" if row.results else "turn"]
    return True, REASONS[row.kind]


def _why_stays(row: Row, stays: set[int], reason: str) -> str:
    if row.id in stays:
        return reason
    if row.results and all(result.form == "stub" for result in row.results):
        return REASONS["collapsed"]
    return REASONS["below"]


def _retention(row: Row, stays: set[int]) -> Retention:
    if row.passing:
        return Retention.NOTICE
    if row.task or row.kind == "pin":
        return Retention.CORE
    if row.kind == "memory":
        return Retention.MEMORY
    if row.id in stays:
        return Retention.RECENT
    return Retention.TOOL_OUTPUT if row.results else Retention.OLDER


def _acts(decision: Decision) -> dict[int, list[Move]]:
    acts: dict[int, list[Move]] = {}
    for move in decision.moves:
        acts.setdefault(move.row, []).append(move)
    return acts


def _strongest(moves: Sequence[Move]) -> str:
    for act in ("evict", "remove", "collapse", "shrink"):
        if any(move.act == act for move in moves):
            return act
    return "stay"


def _evicts(acts: dict[int, list[Move]]) -> bool:
    return any(move.act == "evict" for moves in acts.values() for move in moves)


def _images(messages: Sequence[Message]) -> int:
    return sum(
        isinstance(part, Image) + (len(part.images) if hasattr(part, "images") else 0)
        for message in messages
        for part in message.parts
    )


def _verdicts(state: State, decision: Decision, entries: dict[int, Entry]) -> tuple[Verdict, ...]:
    acts = _acts(decision)
    after = {row.id: row.tokens for row in decision.rows}
    found = []
    for row in state.rows:
        moves = acts.get(row.id, [])
        act = _strongest(moves)
        entry = entries.get(row.id)
        code = moves[-1].code if moves else "below"
        found.append(
            Verdict(
                segment=str(row.id),
                title=entry.title if entry else f"segment {row.id}",
                act=act,  # type: ignore[arg-type]
                before=row.tokens,
                after=after.get(row.id, 0) if decision.rows else row.tokens,
                code=code,
                reason=REASONS[code],
                address=entry.address if entry else "",
            )
        )
    if decision.writes_note:
        had = state.notes[-1].tokens if state.notes and state.policy.notes == "one" else 0
        found.append(
            Verdict(
                segment=f"note:{decision.notes[-1].id}",
                title=f"handoff note, generation {decision.notes[-1].generation}",
                act="rewrite" if had else "write",
                before=had,
                after=decision.note_tokens,
                code="note",
                reason=REASONS["note"],
            )
        )
    return tuple(found)


def _reason(state: State, decision: Decision, entries: dict[int, Entry]) -> str:
    fill, levels = percent(decision.before * 1000 // state.usable), state.levels
    match decision.outcome:
        case "nothing":
            return f"{fill} full, below the levels at which anything is done"
        case "nudge":
            return f"{fill} full, over the nudge level of {percent(levels.nudge)}"
        case "release":
            return "the model offered results; rules let those go that may"
        case "idle":
            least = state.usable * state.policy.minimum // 1000
            return f"a cleanup would free less than the minimum of {least:,} tokens, so nothing is done"
        case "stuck":
            return _stuck(state, entries)
        case _:
            if decision.forced:
                return f"{decision.before:,} tokens do not fit the {state.hard:,} that can be sent"
            if decision.asked:
                return f"asked for; frees {decision.gain:,} tokens"
            return f"{fill} full, over the cleanup level of {percent(levels.cleanup)}"


def _stuck(state: State, entries: dict[int, Entry]) -> str:
    """Names the part that is too big to be sent."""
    parts = [("system text", state.system), ("tool catalogue", state.tools), ("project text", state.project)]
    parts += [("core", state.core)]
    for row in state.rows:
        if row.task or row.id == state.rows[-1].id:
            entry = entries.get(row.id)
            parts.append(
                (f"{'task' if row.task else 'newest segment'} {entry.title if entry else row.id}", row.tokens)
            )
    name, tokens = max(parts, key=lambda item: item[1])
    return (
        f"{state.total:,} tokens do not fit the {state.hard:,} that can be sent and nothing more can leave; the "
        f"largest part that stays is the {name} with {tokens:,}. Make it smaller or take a larger window"
    )
