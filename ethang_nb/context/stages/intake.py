"""Intake: what arrives in one step is judged together before it counts.

A single result over the entry limit is cut as text before it comes here. This stage looks at the sum: where
even the departure of everything but the newest segment and the newest user message would not make the step
fit usable, its results become one line each, largest first (ties in call order), until it does. Seed 003: "the
single jump that skips both thresholds"; the good outcomes are "truncating the output before counting it, or
writing it to a file and returning the path".
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft

__all__ = ["floor", "intake"]


def intake(draft: Draft) -> None:
    """Judges the newest row of the draft, the one that is arriving."""
    if not draft.rows:
        return
    at = len(draft.rows) - 1
    order = sorted(enumerate(draft.rows[at].results), key=lambda item: (-item[1].tokens, item[0]))
    for index, result in order:
        if floor(draft) <= draft.state.usable:
            return
        if result.tokens > result.stub:
            draft.set_result(at, index, result.stub, "stub", "collapse", "joint")


def floor(draft: Draft) -> int:
    """Tokens of the request if all that may leave had left: what a step must fit with at the least."""
    state = draft.state
    newest = draft.rows[-1].id
    stays = {newest} | {row.id for row in draft.rows if row.task or row.open}
    stays |= {row.id for row in [row for row in draft.rows if row.kind == "user"][-1:]}
    leaving = [row for row in draft.rows if row.id not in stays]
    old = sum(row.tokens for row in leaving)
    note = min(old, draft.note_tokens) if "evict" in state.policy.stages else 0
    protected = sum(item.tokens for item in draft.notes) if state.policy.notes == "protected" else 0
    core = draft.core + draft.core_growth({row.id for row in leaving})
    held = sum(row.tokens for row in draft.rows if row.id in stays)
    return state.fixed + core + note + protected + held
