"""The fold: `step(state, event) -> (state, decision or None)`.

Pure and total. Feeding the same events from empty gives the same states, decisions and digests; `Context`
feeds it live, and a recorded session is opened by feeding it again.
"""

from __future__ import annotations

from ethang_nb.context.decision import Decision
from ethang_nb.context.draft import Draft
from ethang_nb.context.events import (
    CleanupAsked,
    Cooled,
    CoreRendered,
    Event,
    Followed,
    MessageAdded,
    ModelChanged,
    NoteStood,
    NoteWritten,
    PartsChanged,
    Pinned,
    PolicyChanged,
    ReleaseOffered,
    RequestPoint,
    Reseeded,
    ResultAdded,
    Unpinned,
    UsageReported,
    WindowChanged,
    Withdrawn,
    WorkBegun,
)
from ethang_nb.context.ledger import Ledger, Result, Row
from ethang_nb.context.messages import PASSING
from ethang_nb.context.planner import decide, enter, new_work, release, reseeded
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import NoteRow, Passing, PinRow, Reports, State
from ethang_nb.context.withdrawing import unlearned

__all__ = ["PHANTOM", "landed", "step"]

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
            decision = event.decided or decide(state)
            return landed(decision), decision
        case ReleaseOffered():
            decision = event.decided or release(state, event.results)
            return decision.after, decision
        case WorkBegun():
            begun = event.decided if event.again or event.decided else new_work(state)
            return _begun(state if begun is None else landed(begun)), begun
        case Reseeded():
            again = event.decided or reseeded(state)
            return (state, None) if again is None else (landed(again), again)
        case Withdrawn():
            return _withdrawn(landed(event.decided)), event.decided
        case UsageReported():
            return _usage(state, event), None
        case Followed():
            return _followed(state, event), None
        case _:
            return _setting(state, event), None


def landed(decision: Decision) -> State:
    """The state once a decision of a request point or a reseed is taken."""
    state = decision.after
    reports = state.reports
    if not reports.sent and decision.outcome not in ("reseed", "stuck") and not decision.cause:
        reports = reports._replace(sent=True)
    if decision.followed:  # nothing was decided here, so what was asked for still is
        return state._replace(reports=reports)
    if decision.outcome == "nothing" and not state.asked and not state.said:
        return state if reports is state.reports else state._replace(reports=reports)
    if decision.outcome == "nudge":
        return state._replace(asked=False, refused=False, armed=False, nudged=True, said="", reports=reports)
    if not decision.lands:
        if decision.cause:
            return state._replace(declined=True)
        said = decision.outcome if decision.outcome in ("idle", "stuck") else ""
        return state._replace(asked=False, refused=False, said=said, reports=reports)
    return state._replace(
        asked=False,
        refused=False,
        cooled=state.cooled and decision.outcome != "reseed",
        next_note=state.next_note + decision.writes_note,
        said="",
        declined=False,
        armed=state.total < state.settings.nudge_at,
        reports=reports,
    )


def _followed(state: State, event: Followed) -> State:
    draft = Draft(state.closed())
    draft.remove([(row, row + 1) for row in sorted(event.taken)])
    state = draft.after()
    if event.system is not None:
        state = state._replace(system=event.system, project=0, core=0, pointers=0)
    return state._replace(
        tools=event.tools,
        begun=state.begun or event.task,
        first_task=-1 if event.first else state.first_task,
    )


def _withdrawn(state: State) -> State:
    """The next user message is the session's first task where the one that left was."""
    first, task = [row if row >= 0 and state.is_live(row) else -1 for row in (state.first_task, state.task)]
    return unlearned(state)._replace(first_task=first, task=task, user=-1)


def _begun(state: State) -> State:
    """The state when a piece of work begins. Inside a tool turn it stays cooled, for the next one."""
    inside = bool(state.cooled and state.closed().opened)
    reports = state.reports._replace(sent=False, good=0, phantom=0)
    return state._replace(work=state.work + 1, begun=True, cooled=inside, reports=reports)


def _setting(state: State, event: Event) -> State:
    settings = state.settings
    match event:
        case PartsChanged():
            return state._replace(
                system=state.system if event.system is None else event.system,
                tools=state.tools if event.tools is None else event.tools,
                project=state.project if event.project is None else event.project,
            )
        case WindowChanged():
            new = Settings.of(event.window, settings.policy, settings.ratio)
            return state._replace(settings=new, armed=True, said="")
        case PolicyChanged():
            new = Settings.of(settings.base, event.policy, settings.ratio)
            return state._replace(settings=new, armed=True, said="")
        case Pinned():
            return state._replace(pins=(*state.pins, PinRow(event.id, event.row, event.line)))
        case Unpinned():
            return state._replace(pins=tuple(pin for pin in state.pins if pin.id != event.id))
        case CoreRendered():
            return _rendered(state, event)
        case NoteStood():
            note = NoteRow(state.next_note, event.tokens, state.next_note)
            return state._replace(notes=(*state.notes, note), next_note=state.next_note + 1)
        case NoteWritten():
            number = state.notes[-1].id if event.id is None else event.id
            notes = [
                note._replace(tokens=event.tokens) if note.id == number else note for note in state.notes
            ]
            return state._replace(notes=tuple(notes))
        case ModelChanged():
            new = Settings.of(settings.base, settings.policy, event.ratio)
            return state._replace(settings=new, exact=event.exact, reports=Reports(family=event.ratio))
        case CleanupAsked():
            return state._replace(asked=True, refused=state.refused or event.refused)
        case Cooled():
            return state._replace(cooled=True)
        case _:
            raise AssertionError(f"{type(event).__name__} is handled in step")


def _rendered(state: State, event: CoreRendered) -> State:
    pins = tuple(pin._replace(core=pin.core or pin.id in event.pins) for pin in state.pins)
    lines = sum([pin.line for pin in pins if pin.core]) + state.pointers
    return state._replace(pins=pins, core=lines + state.core_head if lines else 0)


def _message(state: State, event: MessageAdded) -> State:
    if event.kind in PASSING:
        item = Passing(state.next_passing, event.kind, event.tokens, state.next_row)
        return state._replace(
            passing=(*state.passing, item),
            next_passing=state.next_passing - 1,
            occupied=state.occupied + event.tokens,
        )
    state = state.closed()
    number = state.n
    if event.kind != "user":
        row = Row(number, event.kind, event.tokens, state.exchange, (), event.calls)
        return state._replace(tail=row, occupied=state.occupied + event.tokens, work=max(1, state.work))
    # The session's first task stays; so does the task of the current piece of work, and it alone besides.
    is_task = state.begun
    row = Row(number, "user", event.tokens, state.exchange + 1, (), 0, is_task)
    return state._replace(
        tail=row,
        occupied=state.occupied + event.tokens,
        exchange=state.exchange + 1,
        user=number,
        first_task=number if state.first_task < 0 else state.first_task,
        task=number if is_task else state.task,
        begun=False,
        work=max(1, state.work),
    )


def _result(state: State, event: ResultAdded) -> tuple[State, Decision | None]:
    tail = state.tail
    if tail is None or tail.kind != "turn" or event.row not in (None, tail.id):
        state = _reopened(state, event.row)
        tail = state.tail
    joins = tail is not None and tail.kind == "turn" and event.row in (None, tail.id)
    if tail is not None and joins:
        joined = tail._replace(results=_joined(tail, event), open=max(0, tail.open - 1))
        state = state._replace(tail=joined, occupied=state.occupied + event.result.tokens)
    else:
        state = _late(state, event)
    decision = None
    # What fits with everything in it fits all the more with old things gone: nothing to judge then.
    # A late result of an older turn stands alone in its step: only the newest row is judged.
    if not event.judged and state.tail is not None and joins and state.total > state.settings.usable:
        decision = enter(state)
    return (state if decision is None else decision.after), decision


def _joined(row: Row, event: ResultAdded) -> tuple[Result, ...]:
    """The row's results with the one that comes, in the order of their calls."""
    at = len(row.results) if event.at is None else event.at
    return (*row.results[:at], event.result, *row.results[at:])


def _reopened(state: State, row: int | None) -> State:
    """The state with its newest row out of the ledger again where a result still joins that one."""
    last = state.n - 1
    wanted = last if row is None else row
    newest_turn = last >= 0 and state.kind(last) == "turn" and state.is_live(last)
    if state.tail is not None or wanted != last or not newest_turn:
        return state
    newest = state.row(last)
    changed = {
        place: value
        for place, value in state.changed.items()
        if state.ledger.results[place[0]].row[place[1]] != last
    }
    return state._replace(
        n=last, tail=newest, changed=changed, opened=tuple(item for item in state.opened if item[0] != last)
    )


def _late(state: State, event: ResultAdded) -> State:
    """A result of a turn that others have followed: its row is written anew, in a ledger of its own."""
    wanted = event.row
    if wanted is None:
        turns = [number for number in state.numbers if state.kind(number) == "turn"]
        wanted = turns[-1] if turns else -1
    if not 0 <= wanted < state.n or state.kind(wanted) != "turn" or not state.is_live(wanted):
        raise ValueError(f"no tool turn for a result (row {event.row})")
    ledger = _with_result(state, wanted, event)
    again, result = event.result.again, event.result
    nth = len(ledger.entered(wanted).results) - 1 if event.at is None else event.at
    places = range(ledger.upto[again][wanted], ledger.upto[again][wanted + 1])
    at = next(place for place in places if ledger.results[again].index[place] == nth)
    changed = {
        (kind, place + (kind == again and place >= at)): value
        for (kind, place), value in state.changed.items()
    }
    fronts = list(state.collapsed)
    if at < fronts[again]:
        fronts[again] += 1
        changed[again, at] = (result.tokens, result.form)
    opened = tuple((row, count - (row == wanted)) for row, count in state.opened)
    return state._replace(
        ledger=ledger,
        collapsed=(fronts[0], fronts[1], fronts[2]),
        changed=changed,
        opened=tuple(item for item in opened if item[1] > 0),
        occupied=state.occupied + result.tokens,
    )


def _with_result(state: State, wanted: int, event: ResultAdded) -> Ledger:
    old = state.ledger
    ledger = old.until(wanted)
    for number in range(wanted, state.n):
        row = old.entered(number)
        if number == wanted:
            row = row._replace(results=_joined(row, event))
        ledger = ledger.push(number, row, user=old.user[number], task=old.task[number])
    return ledger


def _usage(state: State, event: UsageReported) -> State:
    reports = state.reports
    if event.own <= 0 or event.reported > PHANTOM * event.own:
        return state._replace(reports=reports._replace(phantom=reports.phantom + 1, ever=True))
    last = (*reports.last, -(-event.reported * 1000 // event.own))[-REPORTS:]
    ratio = max(1000, *last)
    state = state._replace(reports=reports._replace(last=last, ever=True, good=reports.good + 1))
    if ratio == state.settings.ratio:
        return state
    return state._replace(settings=Settings.of(state.settings.base, state.settings.policy, ratio))
