"""The fold: `step(state, event) -> (state, decision or None)`.

Pure and total. Feeding the same events from empty gives the same states, decisions and digests; `Context`
feeds it live, and a recorded session is opened by feeding it again.
"""

from __future__ import annotations

from dataclasses import replace

from ethang_nb.context.draft import Draft
from ethang_nb.context.events import (
    CleanupAsked,
    CoreRendered,
    Event,
    MessageAdded,
    NoteStood,
    NoteWritten,
    PartsChanged,
    Pinned,
    PolicyChanged,
    ReleaseOffered,
    RequestPoint,
    ResultAdded,
    ResultChanged,
    Unpinned,
    UsageReported,
    WindowChanged,
    WorkBegun,
)
from ethang_nb.context.planner import Decision, decide, release
from ethang_nb.context.stages.registry import AT_ENTRY
from ethang_nb.context.state import NoteRow, PinRow, Row, State

__all__ = ["PHANTOM", "step"]

PHANTOM = 4  # a report over 4 times our own count is accounting noise (seed 000: "phantom pressure")
REPORTS = 3  # ► how many reports the calibration looks back


def step(state: State, event: Event) -> tuple[State, Decision | None]:
    """The state after `event`, and the decision where the event was a moment to plan."""
    match event:
        case MessageAdded():
            return _message(state, event), None
        case ResultAdded():
            return _result(state, event)
        case RequestPoint():
            return _request(state, event.decided or decide(state))
        case ReleaseOffered():
            decision = event.decided or release(state, event.results)
            if not decision.moves:
                return state, decision
            return replace(state, rows=decision.rows, occupied=decision.occupied), decision
        case ResultChanged():
            return _changed(state, event), None
        case NoteStood():
            note = NoteRow(state.next_note, event.tokens, state.next_note, event.hash)
            return replace(state, notes=(*state.notes, note), next_note=state.next_note + 1), None
        case NoteWritten():
            newest = replace(state.notes[-1], tokens=event.tokens, hash=event.hash)
            return replace(state, notes=(*state.notes[:-1], newest)), None
        case UsageReported():
            return _usage(state, event), None
        case _:
            return _setting(state, event), None


def _setting(state: State, event: Event) -> State:
    match event:
        case PartsChanged():
            return replace(
                state,
                system=state.system if event.system is None else event.system,
                tools=state.tools if event.tools is None else event.tools,
                project=state.project if event.project is None else event.project,
            )
        case WindowChanged():
            return replace(state, window=event.window, armed=True, said="")
        case PolicyChanged():
            return replace(state, policy=event.policy, armed=True, said="")
        case WorkBegun():
            return replace(state, work=state.work + 1)
        case Pinned():
            return replace(state, pins=(*state.pins, PinRow(event.id, event.row, event.line)))
        case Unpinned():
            return replace(state, pins=tuple(pin for pin in state.pins if pin.id != event.id))
        case CoreRendered():
            return replace(state, core=event.tokens)
        case CleanupAsked():
            return replace(state, asked=True)
        case _:
            raise AssertionError(f"{type(event).__name__} is handled in step")


def _message(state: State, event: MessageAdded) -> State:
    is_user = event.kind == "user"
    exchange = state.exchange + is_user
    # The session's first task stays; so does the task of the current piece of work, and it alone besides.
    is_task = is_user and (
        state.work == 0 or not any(row.task and row.work == state.work for row in state.rows)
    )
    rows = state.rows
    if is_task:
        first = next((row.id for row in rows if row.task), None)
        rows = tuple(replace(row, task=row.id == first) if row.task else row for row in rows)
    work = max(1, state.work)
    row = Row(
        id=state.next_row, kind=event.kind, base=event.tokens, exchange=exchange, work=work,
        open=event.calls, task=is_task, hash=event.hash,
    )  # fmt: skip
    return replace(
        state,
        rows=(*rows, row),
        next_row=state.next_row + 1,
        exchange=exchange,
        work=work,
        occupied=state.occupied + row.tokens,
    )


def _result(state: State, event: ResultAdded) -> tuple[State, Decision | None]:
    at = _turn(state, event.row)
    row = state.rows[at]
    joined = replace(
        row,
        results=(*row.results, event.result),
        open=max(0, row.open - 1),
        hash=f"{row.hash}{event.hash}",
    )
    rows = (*state.rows[:at], joined, *state.rows[at + 1 :])
    state = replace(state, rows=rows, occupied=state.occupied + event.result.tokens)
    # What fits with everything in it fits all the more with old things gone: nothing to judge then.
    if event.judged or state.total <= state.usable:
        return state, None
    draft = Draft(state)
    if at == len(rows) - 1:
        for name in state.policy.stages:
            if name in AT_ENTRY:
                AT_ENTRY[name](draft)
    if not draft.moves:
        return state, None
    decision = Decision(
        outcome="intake",
        before=state.total,
        after=draft.total,
        moves=tuple(draft.moves),
        rows=tuple(draft.rows),
    )
    return replace(state, rows=decision.rows, occupied=draft.occupied), decision


def _turn(state: State, row: int | None) -> int:
    """Position of the turn a result joins."""
    for at in range(len(state.rows) - 1, -1, -1):
        found = state.rows[at]
        if found.id == row or (row is None and found.kind == "turn"):
            return at
    raise ValueError(f"no tool turn for a result (row {row})")


def _changed(state: State, event: ResultChanged) -> State:
    rows = list(state.rows)
    for at, row in enumerate(rows):
        if row.id == event.row:
            old = row.results[event.index]
            new = replace(old, tokens=event.tokens, form=event.form)
            results = (*row.results[: event.index], new, *row.results[event.index + 1 :])
            rows[at] = replace(row, results=results)
            return replace(state, rows=tuple(rows), occupied=state.occupied + new.tokens - old.tokens)
    raise ValueError(f"no row {event.row}")


def _request(state: State, decision: Decision) -> tuple[State, Decision]:
    state = replace(state, asked=False)
    if decision.outcome == "nudge":
        return replace(state, armed=False, nudged=True, said=""), decision
    if not decision.lands:
        return replace(
            state, said=decision.outcome if decision.outcome in ("idle", "stuck") else ""
        ), decision
    landed = replace(
        state,
        rows=decision.rows,
        notes=decision.notes,
        pins=decision.pins,
        core=decision.core,
        occupied=decision.occupied,
        next_note=state.next_note + decision.writes_note,
        said="",
    )
    return replace(landed, armed=landed.fill < landed.levels.nudge), decision


def _usage(state: State, event: UsageReported) -> State:
    if event.own <= 0 or event.reported > PHANTOM * event.own:
        return state
    reports = (*state.reports, -(-event.reported * 1000 // event.own))[-REPORTS:]
    return replace(state, reports=reports, ratio=max(1000, *reports))
