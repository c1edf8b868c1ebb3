"""Collapse: old tool output becomes one line that says what it was, its size, and where to read it again.

In one batch down to the landing level: first what can be read again, then run again, last what cannot be had
again; by age within each; never a segment that stays. Seed 003: "the agent loses the content and keeps the
way back"; "drop with an address over summarising".
"""

from __future__ import annotations

from ethang_nb.context.draft import Code, Draft

__all__ = ["collapse"]

_CODES: tuple[Code, ...] = ("read", "run", "lost")


def collapse(draft: Draft) -> None:
    """Until the landing level is reached or nothing old is left that its line would make shorter."""
    old = [item for item in draft.results(over=0, kept=False) if item[2].tokens > item[2].stub]
    for at, index, result in sorted(old, key=lambda item: (item[2].again, item[0], item[1])):
        if draft.total <= draft.state.landing_at:
            return
        draft.set_result(at, index, result.stub, "stub", "collapse", _CODES[result.again])
