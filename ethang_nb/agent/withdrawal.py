"""Withdrawal: a task that was refused as too large leaves before the next piece of work begins."""

from __future__ import annotations

from ethang_nb.agent.desk import Desk
from ethang_nb.agent.run import Run
from ethang_nb.context import kinds
from ethang_nb.context.withdrawing import withdrawn
from ethang_nb.context.wording import withdrawn_notice

__all__ = ["withdraw", "withdraws"]

_OF_REQUESTS = (kinds.REQUEST, kinds.OVERFLOW, kinds.RUN_END)


def withdraw(desk: Desk, run: Run | None = None) -> None:
    """Takes out the task of the last run, if it was refused and nothing answered it; `run` and session say so."""
    if not withdraws(desk):
        return
    with desk.lock:
        decision = desk.live.withdraw()
        if decision is not None:
            desk.say((withdrawn_notice(desk.live.places(decision)),), run)
    desk.changes.tell("message")


def withdraws(desk: Desk) -> bool:
    """Whether the task of the last run leaves before the next piece of work begins."""
    return withdrawn(desk.live.state) is not None and _refused(desk)


def _refused(desk: Desk) -> bool:
    """Whether the last run ended because what stood in the window did not fit.

    It was stuck, or the provider failed it over the size of its last request. One that was stopped, or that broke, may
    have fitted: its task stays, since the next message may only say to go on.
    """
    record = desk.archive.record
    runs = record.events(kinds=(kinds.RUN,))
    refused, ending = False, ""
    for event in record.events(after=runs[-1].seq, kinds=_OF_REQUESTS) if runs else ():
        if event.kind == kinds.RUN_END:
            ending = event.data["ending"]
        elif event.kind == kinds.REQUEST:
            refused = False
        elif "model" not in event.data:  # else it was the request of a note
            refused = event.data.get("limits") != "output"
    return ending == "stuck" or (ending == "provider error" and refused)
