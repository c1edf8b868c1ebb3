"""Withdrawing: a task that was refused as too large, and that nothing answered, leaves before the next piece of work.

A message that never fits is refused before it enters. Whether it fits may show only later: when the provider counts
it, or names a smaller window. Then it is in the record already, and stays there; but as a task it would never leave
the window, and refuse every message after it. So it is taken back as if it had been refused at once: it is no task,
and what was learnt from it alone is forgotten.
"""

from __future__ import annotations

from ethang_nb.context.decision import WITHDRAWN, Decision
from ethang_nb.context.draft import Draft
from ethang_nb.context.ledger import KINDS
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State

__all__ = ["unlearned", "withdrawn"]

_PIN, _USER = KINDS.index("pin"), KINDS.index("user")


def withdrawn(state: State) -> Decision | None:
    """The newest user message leaves; None where something answered it, or it has left already.

    Older ones that nothing answered either go with it, newest first, as long as what stays does not fit.
    """
    state = state.closed()
    waiting = _unanswered(state)
    if not waiting or waiting[0] != state.user:
        return None
    hard = unlearned(state).hard
    draft = Draft(state)
    draft.drop_passing()
    for row in waiting:
        if row != waiting[0] and draft.total <= hard:
            break
        draft.remove([(row, row + 1)])
    draft.render_core()
    return Decision(
        outcome="cleanup", before=state, after=draft.after(), cause=WITHDRAWN, keep=draft.keep, asked=True
    )


def _unanswered(state: State) -> list[int]:
    """The user messages in the window that nothing but each other and pins follows, newest first."""
    kinds, found = state.ledger.kind, list[int]()
    for row in range(state.n - 1, -1, -1):
        if kinds[row] not in (_USER, _PIN):
            break
        if kinds[row] == _USER and state.is_live(row):
            found.append(row)
    return found


def unlearned(state: State) -> State:
    """The state without the reports of the piece of work that ends here.

    They tell how the provider counts a text that is gone, one odd text at that where it counts thrice what we do. Kept
    among the last three they would divide the limits for ordinary text too, and where nothing fits then, no reply would
    ever come to correct them. Reports of what was answered before stay.
    """
    reports, settings = state.reports, state.settings
    last = reports.last[: max(0, len(reports.last) - reports.good)]
    ratio = max((1000, *last)) if last else reports.family
    state = state._replace(reports=reports._replace(last=last, good=0))
    if ratio == settings.ratio:
        return state
    return state._replace(settings=Settings.of(settings.base, settings.policy, ratio))
