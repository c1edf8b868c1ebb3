"""Digest: one sha256 over everything a decision was made from and what it says. Same input, same digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ethang_nb.context.decision import Decision
from ethang_nb.context.entry import Entry

__all__ = ["digest"]


def digest(decision: Decision, entries: Mapping[int, Entry], notes: Mapping[int, str]) -> str:
    """Over policy, window, and per segment its content hash, tokens, the moves that concern it, and addresses.

    `notes` gives the content hash of each note that was written, by its number.
    """
    state = decision.before
    moves: dict[int, list[list[object]]] = {}
    for move in decision.moves:
        moves.setdefault(move.row, []).append([move.index, move.act, move.before, move.after, move.code])
    window = state.window
    shape = {
        "policy": state.policy.knobs(),
        "window": [window.total, window.reserve, window.max_input, window.effective],
        "ratio": state.ratio,
        "fixed": [state.system, state.tools, state.project, state.core],
        "notes": [[notes.get(note.id, ""), note.tokens, note.generation] for note in state.notes],
        "segments": [
            [
                entries[row.id].hash(row),
                row.kind,
                row.tokens,
                moves.get(row.id, []),
                entries[row.id].addresses[: 1 + len(row.results)],
            ]
            for row in state.rows
        ],
        "outcome": [
            decision.outcome, state.total, decision.after.total, decision.forced, decision.note_tokens,
        ],
    }  # fmt: skip
    packed = json.dumps(shape, separators=(",", ":"), sort_keys=True).encode()
    return hashlib.sha256(packed).hexdigest()
