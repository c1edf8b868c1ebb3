"""Evict: what is old leaves whole, and a note stands for it.

By exchange (seed 000: "old exchanges are removed whole"): the oldest exchanges after the protected head, then, if
that is not enough, segments of the newest one, oldest first. By segment (seed 002): from the start. By rank (seed
003): first the ranks that leave first. What stays is excepted always. A step that does not pay for its note is
skipped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from ethang_nb.context.draft import Draft, Span
from ethang_nb.context.ledger import KINDS
from ethang_nb.context.state import NoteRow

__all__ = ["evict"]

_LEAVES_FIRST = {KINDS.index("turn"): 0, KINDS.index("assistant"): 1, KINDS.index("user"): 1}
"""Ranks of rows: tool output, older turns; then recalled memory and pins (DESIGN 2, retention)."""


def evict(draft: Draft) -> None:
    """Until the policy's level is reached, the new note counted at its reserved size."""
    settings = draft.settings
    due = draft.before >= settings.evict_at or draft.before > settings.hard or draft.asked
    goal = settings.evict_to
    if not due or draft.total <= goal:
        return
    notes = _notes_after(draft)
    base = draft.total - sum([note.tokens for note in draft.notes]) + sum([note.tokens for note in notes])
    sought, loose = base - goal, draft.loose()
    gone: list[Span] = []
    freed = 0
    for units in _blocks(draft):
        if units.size:
            taken = units.first(_fewest(draft, units, gone, sought - freed, loose=loose))
            gone += taken
            freed = _freed(draft, gone) if loose else freed + _tokens(draft, taken)
            if freed >= sought:
                break
    if not gone or base - freed >= draft.total:
        return
    draft.remove(gone)
    draft.put_notes(notes)


def _freed(draft: Draft, gone: list[Span]) -> int:
    """What the departure of these rows frees, the lines of their pins taken off."""
    return _tokens(draft, gone) - draft.core_growth(gone)


def _tokens(draft: Draft, spans: list[Span]) -> int:
    if len(spans) == 1:
        return draft.span(*spans[0])
    return sum([draft.span(a, b) for a, b in spans])


class _Units(NamedTuple):
    """Things that may leave, in the order of leaving: how many, and the rows of the first so many."""

    size: int
    first: Callable[[int], list[Span]]


_NONE = _Units(0, lambda _count: [])


def _fewest(draft: Draft, units: _Units, gone: list[Span], missing: int, *, loose: bool) -> int:
    """How many units leave, besides what is gone already, until nothing is missing; all where that is not enough."""
    first, size = units.first, units.size
    if loose:
        # The line of a pin may take more than the message that leaves: then the sum does not only grow.
        sought = missing + (_freed(draft, gone) if gone else 0)
        counts = range(1, size + 1)
        return next((count for count in counts if _freed(draft, gone + first(count)) >= sought), size)
    if _tokens(draft, first(size)) < missing:
        return size
    return bisect_left(range(1, size), missing, key=lambda count: _tokens(draft, first(count))) + 1


def _blocks(draft: Draft) -> Iterator[_Units]:
    """The blocks of what may leave, in the order of leaving."""
    policy, ledger, end = draft.settings.policy, draft.ledger, draft.state.n
    stays, edge = draft.kept(), draft.edge()
    if policy.order == "rank":
        rows = [row for a, b in draft.movable(0, edge, stays) for row in range(a, b)]
        for rank in (0, 1, 2):
            yield _singles([row for row in rows if _LEAVES_FIRST.get(ledger.kind[row], 2) == rank])
    elif policy.unit == "segment":
        yield _front(draft.movable(0, edge, stays))
    else:
        newest = draft.state.exchange
        tasks = (draft.state.first_task, draft.state.task)
        held = {ledger.exchange[row] for row in stays if row not in tasks}
        first_held = min(held, default=newest)
        yield _exchanges(draft, draft.movable(0, _start(draft, first_held), stays))
        for exchange in range(first_held + 1, newest):  # seldom: a call in an older exchange still waits
            if exchange not in held:
                whole = draft.movable(_start(draft, exchange), _start(draft, exchange + 1), stays)
                yield _Units(1, partial(_whole, whole)) if whole else _NONE
        singles = draft.movable(_start(draft, newest), end, stays)
        # A user message of the newest exchange is its question: it stays as long as its answer is worked on.
        yield _front([(a + draft.is_user(a), b) for a, b in singles if a + draft.is_user(a) < b])


def _whole(spans: list[Span], count: int) -> list[Span]:
    return spans if count else []


def _start(draft: Draft, exchange: int) -> int:
    starts = draft.ledger.starts
    return starts[exchange] if exchange <= draft.state.exchange and exchange < len(starts) else draft.state.n


def _exchanges(draft: Draft, spans: list[Span]) -> _Units:
    """Whole exchanges."""
    if not spans:
        return _NONE
    ledger, (start, border) = draft.ledger, (spans[0][0], spans[-1][1])
    first, last = ledger.exchange[start], ledger.exchange[border - 1]
    starts, plain = ledger.starts, len(spans) == 1

    def leaving(count: int) -> list[Span]:
        stop = starts[first + count] if first + count <= last else border
        return [(start, stop)] if plain else [(a, min(b, stop)) for a, b in spans if a < stop]

    return _Units(last - first + 1, leaving)


def _front(spans: list[Span]) -> _Units:
    """Single rows, from the front of these ranges."""
    if not spans:
        return _NONE
    start, plain = spans[0][0], len(spans) == 1

    def leaving(count: int) -> list[Span]:
        if plain:
            return [(start, start + count)]
        taken: list[Span] = []
        for a, b in spans:
            if count <= 0:
                break
            taken.append((a, min(b, a + count)))
            count -= b - a
        return taken

    return _Units(sum([b - a for a, b in spans]), leaving)


def _singles(rows: list[int]) -> _Units:
    return _Units(len(rows), lambda count: [(row, row + 1) for row in rows[:count]])


def _notes_after(draft: Draft) -> list[NoteRow]:
    """The notes as they would stand, the new one last and at its reserved size."""
    state, policy = draft.state, draft.settings.policy
    if policy.notes == "none":
        return []
    generation = 1 + max((note.generation for note in draft.notes), default=0)
    new = NoteRow(state.next_note, draft.note_tokens, generation)
    if policy.notes != "protected":
        return [new]
    notes = [*draft.notes, new]
    cap = state.usable * policy.notes_cap // 1000
    while len(notes) > 1 and sum([note.tokens for note in notes]) > cap:
        notes.pop(0)
    return notes
