"""Evict: whole exchanges leave, oldest first after the protected head, and a handoff note stands for them.

If the landing level is still not reached, segments of the newest exchange go too, oldest first, those that
stay excepted. Seed 000: "old exchanges are removed whole"; seed 002's segment is the unit inside the newest.
A step that does not pay for its note is skipped.
"""

from __future__ import annotations

from ethang_nb.context.draft import Draft
from ethang_nb.context.state import NoteRow, Row

__all__ = ["evict"]


def evict(draft: Draft) -> None:
    """Until the landing level is reached, the new note counted at its reserved size."""
    goal = draft.state.landing_at
    if draft.total <= goal:
        return
    notes = _notes_after(draft)
    base = draft.total - sum(note.tokens for note in draft.notes) + sum(note.tokens for note in notes)
    gone: set[int] = set()
    freed = 0
    for unit in _units(draft):
        if base - freed + draft.core_growth(gone) <= goal:
            break
        gone |= {row.id for row in unit}
        freed += sum(row.tokens for row in unit)
    if not gone or base - freed + draft.core_growth(gone) >= draft.total:
        return
    newest = max(row.exchange for row in draft.rows)
    whole = {row.id for row in draft.rows if row.id in gone and row.exchange != newest}
    draft.remove(whole, "evict", "exchange")
    draft.remove(gone - whole, "evict", "turn")
    draft.put_notes(notes)


def _units(draft: Draft) -> list[list[Row]]:
    """What leaves together, in the order of leaving: old exchanges, then single segments of the newest one."""
    movable = [row for row in draft.rows if not row.passing and row.id not in draft.kept]
    newest = max((row.exchange for row in draft.rows), default=0)
    held = {row.exchange for row in draft.rows if row.id in draft.kept and not row.task}
    old: dict[int, list[Row]] = {}
    for row in movable:
        if row.exchange != newest and row.exchange not in held:
            old.setdefault(row.exchange, []).append(row)
    # A user message of the newest exchange is its question: it stays as long as its answer is worked on.
    single = [[row] for row in movable if row.exchange == newest and row.kind != "user"]
    return list(old.values()) + single


def _notes_after(draft: Draft) -> list[NoteRow]:
    """The notes as they would stand, the new one last and at its reserved size."""
    state = draft.state
    generation = 1 + max((note.generation for note in draft.notes), default=0)
    new = NoteRow(state.next_note, draft.note_tokens, generation)
    if state.policy.notes == "one":
        return [new]
    notes = [*draft.notes, new]
    cap = state.usable * state.policy.notes_cap // 1000
    while len(notes) > 1 and sum(note.tokens for note in notes) > cap:
        notes.pop(0)
    return notes
