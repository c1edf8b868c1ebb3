"""Digest: one sha256 over everything a decision was made from and what it says. Same input, same digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ethang_nb.context.entry import Entry
from ethang_nb.context.planner import Decision
from ethang_nb.context.state import State

__all__ = ["digest"]


def digest(state: State, decision: Decision, entries: Mapping[int, Entry]) -> str:
    """Over policy, window, and per segment its content hash, tokens, the moves that concern it, and addresses."""
    moves: dict[int, list[list[object]]] = {}
    for move in decision.moves:
        moves.setdefault(move.row, []).append([move.index, move.act, move.before, move.after, move.code])
    shape = {
        "policy": state.policy.knobs(),
        "window": [state.window.total, state.window.reserve, state.window.max_input, state.window.effective],
        "ratio": state.ratio,
        "fixed": [state.system, state.tools, state.project, state.core],
        "notes": [[note.hash, note.tokens, note.generation] for note in state.notes],
        "segments": [
            [
                row.hash,
                row.kind,
                row.tokens,
                moves.get(row.id, []),
                entries[row.id].addresses[: 1 + len(row.results)],
            ]
            for row in state.rows
        ],
        "outcome": [decision.outcome, decision.before, decision.after, decision.forced, decision.note_tokens],
    }
    packed = json.dumps(shape, separators=(",", ":"), sort_keys=True).encode()
    return hashlib.sha256(packed).hexdigest()
