"""Staying: which segments may leave a state at all, and why one stays, as codes of `wording.REASONS`.

Reads only. What a policy does with those that may leave is the planner's.
"""

from __future__ import annotations

from ethang_nb.context.draft import kept_rows
from ethang_nb.context.ledger import Row
from ethang_nb.context.state import State
from ethang_nb.context.wording import REASONS

__all__ = ["Staying"]


class Staying:
    """The segments of one state; `keep` is how many of the newest stay."""

    def __init__(self, state: State, keep: int) -> None:
        closed = state.closed()
        self._state, self._keep = state, keep
        self.rows = kept_rows(closed, keep)[1]
        self._newest = kept_rows(closed, 1)[0]

    def fixed(self, row: Row) -> str:
        """Why the segment can never leave now, as a code; "" where it may."""
        if row.task:
            return "task"
        if row.passing:
            return ""
        if row.open:
            return "open"
        if row.id == self._state.user:
            return "newest-user"
        if row.id == self._newest:
            return "newest"
        if any(pin.row == row.id and not pin.core for pin in self._state.pins):
            return "pin"
        return ""

    def why(self, row: Row) -> str:
        """Why a segment that a plan leaves as it is stays, as a code."""
        if fixed := self.fixed(row):
            return fixed
        if row.id in self.rows:
            return "recent"
        if row.results and all(result.form == "stub" for result in row.results):
            return "collapsed"
        return "below"

    def may_leave(self, row: Row) -> str:
        """What makes a segment that may leave one that does, as a code."""
        if row.passing:
            return "passing"
        if row.id in self.rows:
            return "recent"
        if row.kind == "turn":
            return "output" if row.results else "turn"
        return row.kind

    def said(self, code: str) -> str:
        """The reason in words."""
        return REASONS[code].format(keep=self._keep)
