"""Intake: what arrives in one step is judged together before it counts.

A single result over the entry limit is cut as text before it comes here. This stage looks at the sum: where
even the departure of everything but the newest segment and the newest user message would not make the step
fit usable, its results become one line each, largest first (ties in call order), until it does. Seed 003: "the
single jump that skips both thresholds"; the good outcomes are "truncating the output before counting it, or
writing it to a file and returning the path".
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft

__all__ = ["floor", "intake", "oversized"]


def intake(draft: Draft) -> None:
    """Judges the newest row of the draft, the one that is arriving."""
    newest = draft.state.n - 1
    if newest < 0:
        return
    least = floor(draft)
    for large in sorted(draft.places_of(newest), key=lambda item: (-item.tokens, item.nth)):
        if min(least, draft.total) <= draft.settings.usable:
            return
        stub = draft.stub(large.place)
        if large.tokens > stub:
            draft.set_result(large.place, stub, "stub")
            least -= large.tokens - stub


def oversized(draft: Draft) -> None:
    """After an overflow, before anything else leaves: what came in while the window was taken for larger.

    Results over the entry limit of today become what they would have been, had they entered under it (DESIGN 7).
    """
    settings = draft.settings
    if "intake" not in settings.policy.stages or settings.policy.entry_chars:
        return  # the policy has no such limit, or one that no window moves
    for large in draft.results(over=settings.entry_tokens):
        draft.set_result(large.place, settings.entry_tokens, "shrunk")


def floor(draft: Draft) -> int:
    """Tokens of the request if all that may leave had left: what a step must fit with at the least."""
    policy = draft.settings.policy
    stays = draft.kept(1)
    held = sum([draft.row_tokens(row) for row in stays])
    passing = sum([item.tokens for item in draft.passing])
    old = draft.occupied - held - passing
    note = min(old + passing, draft.note_tokens) if "evict" in policy.stages else 0
    protected = sum([item.tokens for item in draft.notes]) if policy.notes == "protected" else 0
    core = draft.core + draft.core_growth(draft.movable(0, draft.state.n, stays))
    return draft.fixed + core + note + protected + held
