"""Planner: from a state to a decision. Pure, total, integers only; the stages do the work, this file the order.

It decides how many of the newest segments stay, whether a cleanup frees enough to be worth it, and when to
say that nothing helps. Source of the rules: DESIGN 5; of the minimum and the stuck error: seed 000.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from ethang_nb.context.draft import Draft, Move
from ethang_nb.context.plan import Outcome
from ethang_nb.context.stages.registry import AT_CLEANUP, AT_REQUEST
from ethang_nb.context.state import Form, NoteRow, PinRow, Row, State

__all__ = ["Decision", "cleanup", "decide", "recalled", "release", "told"]

LAST_NOTE_TOKENS = 200  # ► the rule-written note of a plan that otherwise would not fit hard


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the policy does to a state: the moves, and the parts of the state as they would stand after them."""

    outcome: Outcome
    before: int
    after: int
    moves: tuple[Move, ...] = ()
    forced: bool = False
    asked: bool = False
    keep: int = 0
    writes_note: bool = False
    rule_note: bool = False
    """Whether the note must be written by rule: there is no room to ask a model."""
    note_tokens: int = 0
    rows: tuple[Row, ...] = ()
    notes: tuple[NoteRow, ...] = ()
    pins: tuple[PinRow, ...] = ()
    core: int = 0
    occupied: int = 0

    @staticmethod
    def none(total: int) -> Decision:
        """The decision to do nothing."""
        return Decision(outcome="nothing", before=total, after=total)

    @property
    def lands(self) -> bool:
        return self.outcome in ("cleanup", "reseed")

    @property
    def gain(self) -> int:
        return self.before - self.after


def decide(state: State) -> Decision:
    """The decision at a request point."""
    if state.asked or state.total >= state.cleanup_at or state.total > state.hard:
        return cleanup(state, asked=state.asked)
    draft = Draft(state)
    for name in state.policy.stages:
        if name in AT_REQUEST:
            AT_REQUEST[name](draft)
    if draft.nudges:
        return _decision(draft, "nudge", state.total)
    return Decision.none(state.total)


def cleanup(state: State, *, asked: bool = False) -> Decision:
    """The decision of a cleanup now, whatever the fill."""
    before = state.total
    best = _attempt(state, state.policy.keep)
    slack_at = state.usable * (state.levels.landing + state.policy.slack) // 1000
    for keep in range(state.policy.keep - 1, 0, -1):
        if best.total <= slack_at:
            break
        best = min(best, _attempt(state, keep), key=lambda draft: draft.total)
    if best.total > state.hard:
        last = _attempt(state, 1, note_tokens=min(state.note_tokens, LAST_NOTE_TOKENS), last_resort=True)
        best = min(best, last, key=lambda draft: draft.total)
    gain, forced = before - best.total, before > state.hard
    if best.total > state.hard:
        return Decision(outcome="stuck", before=before, after=before, forced=forced, asked=asked)
    enough = gain >= state.usable * state.policy.minimum // 1000
    if enough or forced or (asked and gain > 0):
        return _decision(best, "cleanup", before, forced=forced, asked=asked)
    return Decision(outcome="idle", before=before, after=before, asked=asked)


def release(state: State, offered: Iterable[tuple[int, int]]) -> Decision:
    """Collapses the offered results that may leave. No landing: free of the minimum, the nudge stays as it is."""
    draft = Draft(state)
    wanted = set(offered)
    newest = max((row.id for row in state.rows if not row.own), default=-1)
    for at, row in enumerate(state.rows):
        for index, result in enumerate(row.results):
            if (row.id, index) in wanted and row.id != newest and result.tokens > result.stub:
                draft.set_result(at, index, result.stub, "stub", "collapse", "offered")
    return _decision(draft, "release" if draft.moves else "nothing", state.total)


def told(decision: Decision) -> dict[str, Any]:
    """A decision as plain JSON data, for the record: what was decided, not the state that it led to."""
    data: dict[str, Any] = {"outcome": decision.outcome}
    if decision.outcome == "nothing":
        return data
    data |= {"before": decision.before, "after": decision.after, "forced": decision.forced}
    data |= {
        "asked": decision.asked,
        "keep": decision.keep,
        "moves": [list(astuple(move)) for move in decision.moves],
    }
    if decision.writes_note:
        data["notes"] = [[note.id, note.tokens, note.generation, note.hash] for note in decision.notes]
        data |= {"note_tokens": decision.note_tokens, "rule_note": decision.rule_note}
    return data


def recalled(state: State, data: dict[str, Any]) -> Decision:
    """The decision that `told` wrote down, on the state it was made from; no rule is asked again."""
    forced, asked, keep = data.get("forced", False), data.get("asked", False), data.get("keep", 0)
    if data["outcome"] in ("nothing", "idle", "stuck", "nudge"):
        return Decision(
            outcome=data["outcome"],
            before=data.get("before", state.total),
            after=data.get("after", state.total),
            forced=forced,
            asked=asked,
            keep=keep,
        )
    draft = Draft(
        state,
        keep=data["keep"],
        note_tokens=data.get("note_tokens"),
        last_resort=data.get("rule_note", False),
    )
    for move in (Move(*item) for item in data["moves"]):
        if move.index < 0:
            draft.remove([move.row], move.act, move.code)
        else:
            at = next(at for at, row in enumerate(draft.rows) if row.id == move.row)
            form: Form = "stub" if move.act == "collapse" else "shrunk"
            draft.set_result(at, move.index, move.after, form, move.act, move.code)
    if "notes" in data:
        draft.put_notes([NoteRow(*item) for item in data["notes"]])
    return _decision(draft, data["outcome"], data["before"], forced=forced, asked=asked)


def _attempt(state: State, keep: int, *, note_tokens: int | None = None, last_resort: bool = False) -> Draft:
    draft = Draft(state, keep=keep, note_tokens=note_tokens, last_resort=last_resort)
    draft.remove([row.id for row in draft.rows if row.passing], "remove", "passing")
    for name in state.policy.stages:
        if name in AT_CLEANUP:
            AT_CLEANUP[name](draft)
    return draft


def _decision(
    draft: Draft, outcome: Outcome, before: int, *, forced: bool = False, asked: bool = False
) -> Decision:
    return Decision(
        outcome=outcome,
        before=before,
        after=draft.total,
        moves=tuple(draft.moves),
        forced=forced,
        asked=asked,
        keep=draft.keep,
        writes_note=draft.writes_note,
        rule_note=draft.last_resort,
        note_tokens=draft.note_tokens if draft.writes_note else 0,
        rows=tuple(draft.rows),
        notes=tuple(draft.notes),
        pins=tuple(draft.pins),
        core=draft.core,
        occupied=draft.occupied,
    )
