"""Planner: from a state to a decision. Pure, total, integers only; the stages do the work, this file the order.

It decides how many of the newest segments stay, whether a cleanup frees enough to be worth it, and when to
say that nothing helps. Source of the rules: DESIGN 5; of the minimum and the stuck error: seed 000.
"""

from __future__ import annotations

from collections.abc import Iterable

from ethang_nb.context.decision import Decision
from ethang_nb.context.draft import Draft, kept_rows
from ethang_nb.context.stages.intake import oversized
from ethang_nb.context.stages.registry import AT_CLEANUP, AT_ENTRY, AT_REQUEST, AT_WORK, EARLY
from ethang_nb.context.state import State

__all__ = ["cleanup", "decide", "enter", "new_work", "release", "reseeded", "uncertain"]

LAST_NOTE_TOKENS = 200  # ► the rule-written note of a plan that otherwise would not fit hard
UNKNOWN_RATIO = 1_300  # ► how much more a tokenizer that is not ours may count


def decide(state: State) -> Decision:
    """The decision at a request point."""
    state = state.closed()
    settings, total = state.settings, state.total
    if total < settings.due_at and total <= settings.hard and not state.asked:
        return Decision(outcome="nothing", before=state, after=state)
    if state.asked or total >= settings.cleanup_at or total > settings.hard:
        return cleanup(state, asked=state.asked)
    lacks = 0
    if total >= settings.act_at:
        draft = Draft(state)
        draft.render_core()
        draft.drop_passing()
        for name in settings.policy.stages:
            if name in EARLY:
                EARLY[name](draft)
        lacks = settings.early_minimum - (total - draft.total)
        if lacks <= 0 and draft.total < total:
            return Decision.of(draft, "cleanup", early=True)
    draft = Draft(state)
    for name in settings.policy.stages:
        if name in AT_REQUEST:
            AT_REQUEST[name](draft)
    if draft.nudges:
        return Decision(outcome="nudge", before=state, after=state)
    return Decision(outcome="nothing", before=state, after=state, lacks=max(0, lacks))


def cleanup(state: State, *, asked: bool = False) -> Decision:
    """The decision of a cleanup now, whatever the fill."""
    state = state.closed()
    settings = state.settings
    best = _attempt(state, settings.policy.keep, asked=asked)
    before, after = best.before, best.total
    for keep in range(settings.policy.keep - 1, 0, -1):
        if after <= settings.slack_at:
            break
        other = _attempt(state, keep, asked=asked)
        if other.total < after:
            best, after = other, other.total
    if after > settings.hard:
        note = min(settings.note_tokens, LAST_NOTE_TOKENS)
        last = _attempt(state, 1, note_tokens=note, last_resort=True, asked=asked)
        if last.total < after:
            best, after = last, last.total
    gain, forced = before - after, before > settings.hard
    if after > settings.hard:
        return Decision(outcome="stuck", before=state, after=state, forced=forced, asked=asked)
    if gain > 0 and (gain >= settings.minimum or forced or asked):
        return Decision.of(best, "cleanup", forced=forced, asked=asked)
    if not asked and before <= settings.evict_to:  # at its level, and that is where the policy wants it
        return Decision(outcome="nothing", before=state, after=state)
    return Decision(
        outcome="idle", before=state, after=state, asked=asked, lacks=max(1, settings.minimum - gain)
    )


def enter(state: State) -> Decision | None:
    """What becomes of the newest row as it enters; None where it stays as it came."""
    state = state.closed()
    draft = Draft(state)
    for name in state.settings.policy.stages:
        if name in AT_ENTRY:
            AT_ENTRY[name](draft)
    return Decision.of(draft, "intake") if draft.changed != state.changed else None


def new_work(state: State) -> Decision | None:
    """Whether the piece of work that begins starts from the core; None where the policy has no such rule."""
    state = state.closed()
    due = state.settings.reseed_at is not None and (
        state.total >= state.settings.reseed_at or uncertain(state)
    )
    if state.opened or (not state.cooled and not due):
        return None  # never inside a tool turn: a call that waits must meet its result
    return reseeded(state, asked=state.cooled)


def reseeded(state: State, *, asked: bool = True) -> Decision | None:
    """The decision to start from the core now; None where there is nothing to leave behind."""
    state = state.closed()
    draft = Draft(state)
    AT_WORK["reseed"](draft)
    gain = state.total - draft.total
    if gain <= 0 and not asked:
        return None
    if draft.total > state.settings.hard or (gain < state.settings.minimum and not asked):
        if state.declined:
            return None
        lacks = max(0, state.settings.minimum - gain)  # 0: what would start does not fit hard
        return Decision(outcome="idle", before=state, after=state, cause="reseed", lacks=lacks)
    return Decision.of(draft, "reseed", asked=asked)


def uncertain(state: State) -> bool:
    """Whether the fill is not to be trusted (seed 004: "any uncertainty should tip toward rebuilding")."""
    reports, level = state.reports, state.settings.reseed_at
    if level is None:
        return False
    only_phantoms = reports.phantom > 0 and not reports.good
    missing = reports.ever and reports.sent and not reports.good and not reports.phantom
    straddles = (
        not state.exact
        and not reports.ever
        and state.total * max(UNKNOWN_RATIO, state.ratio) // state.ratio >= level
    )
    return only_phantoms or missing or straddles


def release(state: State, offered: Iterable[tuple[int, int]]) -> Decision:
    """Collapses the offered results that may leave. No landing: free of the minimum, the nudge stays as it is."""
    state = state.closed()
    draft = Draft(state)
    newest = kept_rows(state, 1)[0]
    for row, index in sorted(set(offered)):
        if row == newest or not 0 <= row < state.n or not state.is_live(row):
            continue
        for large in draft.places_of(row):
            stub = draft.stub(large.place)
            if large.nth == index and large.tokens > stub:
                draft.set_result(large.place, stub, "stub")
    if draft.occupied == state.occupied:
        return Decision(outcome="nothing", before=state, after=state)
    return Decision.of(draft, "release")


def _attempt(
    state: State, keep: int, *, asked: bool, note_tokens: int | None = None, last_resort: bool = False
) -> Draft:
    draft = Draft(state, keep=keep, note_tokens=note_tokens, last_resort=last_resort, asked=asked)
    draft.render_core()
    draft.drop_passing()
    if state.refused:
        oversized(draft)
    for name in state.settings.policy.stages:
        if name in AT_CLEANUP:
            AT_CLEANUP[name](draft)
    if last_resort and "shrink" not in state.settings.policy.stages:
        AT_CLEANUP["shrink"](draft)  # whatever the policy: before it is stuck
    return draft
