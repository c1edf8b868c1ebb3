"""Leaving: what a decision takes out of the window, as cuts that later repetitions are laid to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ethang_nb.context.decision import WITHDRAWN, Decision
from ethang_nb.context.entry import Entry
from ethang_nb.context.regret import Cut

__all__ = ["cuts"]


def cuts(step: int, decision: Decision, entries: Mapping[int, Entry]) -> Iterator[Cut]:
    """One for the words of every row that leaves, one for every result that leaves or is made shorter."""
    if decision.cause == WITHDRAWN:  # to ask once more, for less, is what it is there for
        return
    for move in decision.moves:
        if move.act in ("remove", "squeeze"):
            continue
        entry = entries[move.row]
        if move.index >= 0:
            yield _cut(step, entry, move.index + 1)
            continue
        yield _cut(step, entry, 0)
        # What was one line already had left in an earlier cut.
        results = decision.before.row(move.row).results
        yield from (_cut(step, entry, at) for at, result in enumerate(results, 1) if result.form != "stub")


def _cut(step: int, entry: Entry, at: int) -> Cut:
    first, left = entry.messages[0], entry.messages[at]
    return Cut(
        step=step,
        segment=str(entry.row),
        title=entry.title,
        address=entry.addresses[at],
        # A result is known by its call; the words beside the call stay, or leave in a cut of their own.
        messages=(replace(first, parts=first.calls), left) if at else (left,),
    )
