"""Decision: what the policy does to a state: the state before and after it, and why.

The moves between the two are worked out when somebody asks for them; planning itself pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import chain, islice
from typing import Any, Literal

from ethang_nb.context.draft import Draft, Span
from ethang_nb.context.ledger import CLASSES
from ethang_nb.context.messages import AGAINS
from ethang_nb.context.plan import Act, Outcome
from ethang_nb.context.state import NoteRow, State

__all__ = ["WITHDRAWN", "Code", "Decision", "Move", "recalled", "told", "without"]

Code = Literal[
    "nudge", "read", "run", "lost", "exchange", "turn", "segment", "oversized", "last-resort", "passing", "note",
    "joint", "offered", "squeezed", "reseed", "withdrawn",
]  # fmt: skip

WITHDRAWN = "withdrawn"
"""The cause of a cleanup that takes out a task which was refused as too large."""


@dataclass(frozen=True, slots=True)
class Move:
    """One change: row `row` (result `index`, -1 for the whole row), what is done, tokens before and after."""

    row: int
    index: int
    act: Act
    before: int
    after: int
    code: Code


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """`before` and `after` are the states on its two sides; where nothing changes they are the same."""

    outcome: Outcome
    before: State
    after: State
    forced: bool = False
    asked: bool = False
    early: bool = False
    """Whether a stage acted below the cleanup level, as its policy lets it."""
    keep: int = 0
    writes_note: bool = False
    last_resort: bool = False
    """Whether nothing else fitted; then the note is written by rule: there is no room to ask a model."""
    note_tokens: int = 0
    lacks: int = 0
    """How many tokens more would have to be freed for the minimum."""
    cause: str = ""
    """What a decision is about, where that is not a cleanup as the policy has it."""
    followed: bool = False
    """Whether somebody else did this: the request is theirs, and the policy had no say in it."""

    @staticmethod
    def of(
        draft: Draft, outcome: Outcome, *, forced: bool = False, asked: bool = False, early: bool = False
    ) -> Decision:
        return Decision(
            outcome=outcome,
            before=draft.state,
            after=draft.after(),
            forced=forced,
            asked=asked,
            early=early,
            keep=draft.keep,
            writes_note=draft.writes_note,
            last_resort=draft.last_resort,
            note_tokens=draft.note_tokens if draft.writes_note else 0,
        )

    @property
    def lands(self) -> bool:
        return self.outcome in ("cleanup", "reseed")

    @property
    def gain(self) -> int:
        return self.before.total - self.after.total

    @property
    def rule_note(self) -> bool:
        return self.last_resort or self.after.policy.notes in ("line", "none")

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """What changed, in fixed order: what passes, results by class and age, then whole rows by age."""
        if self.after is self.before:
            return ()
        return (*self.passed, *self._results(), *self._rows())

    @property
    def passed(self) -> list[Move]:
        """The nudges and notices that are taken out."""
        left = [item for item in self.before.passing if item not in self.after.passing]
        return [Move(item.id, -1, "remove", item.tokens, 0, "passing") for item in left]

    def _results(self) -> list[Move]:
        return [move for again in CLASSES for move in self._moves_of(again)]

    def _moves_of(self, again: int) -> Iterator[Move]:
        """Of the results of one class in rows that stay, oldest first."""
        before, after = self.before, self.after
        low, high = before.collapsed[again], after.collapsed[again]
        odd = {at for kind, at in (*before.changed, *after.changed) if kind == again}
        row, upto, end = after.ledger.results[again].row, after.ledger.upto[again], after.n
        fronts = [
            range(max(low, upto[min(start, end)]), min(high, upto[min(stop, end)]))
            for start, stop in after.live
        ]
        others = [at for at in odd if not low <= at < high and after.is_live(row[at])]
        for at in merge(chain.from_iterable(fronts), sorted(others)):
            if move := self._moved(again, at):
                yield move

    def _moved(self, again: int, at: int) -> Move | None:
        """The move of one result of a row that is live on both sides."""
        old, new = self.before.result(again, at), self.after.result(again, at)
        if (old.tokens, old.form) == (new.tokens, new.form):
            return None
        act, code = self._change(again, new.form)
        column = self.after.ledger.results[again]
        return Move(column.row[at], column.index[at], act, old.tokens, new.tokens, code)

    def _change(self, again: int, form: str) -> tuple[Act, Code]:
        if form == "shrunk":
            return "shrink", "last-resort" if self.last_resort else "oversized"
        if form == "squeezed":
            return "squeeze", "squeezed"
        special: dict[str, Code] = {"intake": "joint", "release": "offered"}
        return "collapse", special.get(self.outcome, AGAINS[again])

    def _rows(self) -> list[Move]:
        return [self._eviction(number) for start, stop in self.evicted for number in range(start, stop)]

    def _eviction(self, number: int) -> Move:
        code = self._leaves(self.before.ledger.exchange[number])
        return Move(number, -1, "evict", self._draft.row_tokens(number), 0, code)

    @cached_property
    def evicted(self) -> tuple[Span, ...]:
        """The rows that leave, as ranges."""
        return without(self.before.live, self.after.live)

    @property
    def first(self) -> tuple[int, int] | None:
        """The first row that changes, and which of its results, -1 for the whole row; None where none does."""
        first = [(start, -1) for start, _ in self.evicted[:1]]
        for again in CLASSES:
            first += [(move.row, move.index) for move in islice(self._moves_of(again), 1)]
        return min(first, default=None)

    @cached_property
    def _draft(self) -> Draft:
        """For the sums of rows as they stand before."""
        return Draft(self.before)

    def of_row(self, number: int) -> list[Move]:
        """The moves of one live row, as `moves` has them, without working out those of all others."""
        if self.after is self.before:
            return []
        if any(start <= number < stop for start, stop in self.evicted):
            return [self._eviction(number)]
        return [move for place in sorted(self.before.places(number)) if (move := self._moved(*place))]

    def _leaves(self, exchange: int) -> Code:
        if self.cause == WITHDRAWN:
            return "withdrawn"
        if self.outcome == "reseed":
            return "reseed"
        if self.before.policy.unit == "segment":
            return "segment"
        return "turn" if exchange == self.before.exchange else "exchange"


def without(spans: Iterable[Span], gone: Sequence[Span]) -> tuple[Span, ...]:
    """The first ranges without the second ones; both in order."""
    left: list[Span] = []
    for start, stop in spans:
        low = start
        for a, b in gone:
            if b <= low:
                continue
            if a >= stop:
                break
            if low < a:
                left.append((low, a))
            low = b
        if low < stop:
            left.append((low, stop))
    return tuple(left)


def told(decision: Decision) -> dict[str, Any]:
    """A decision as plain JSON data, for the record: what was decided, and what of the state came of it."""
    data: dict[str, Any] = {"outcome": decision.outcome}
    before, after = decision.before, decision.after
    if decision.outcome == "nothing":
        return data
    data |= {"before": before.total, "after": after.total, "forced": decision.forced, "asked": decision.asked}
    if decision.cause:
        data |= {"cause": decision.cause, "lacks": decision.lacks}
    if after is before:
        return data
    column = after.ledger.results
    data |= {
        "keep": decision.keep,
        "early": decision.early,
        "last_resort": decision.last_resort,
        "live": [list(span) for span in after.live[:-1]] + [after.live[-1][0]],
        "collapsed": list(after.collapsed),
        "changed": [
            [again, at, tokens, form, column[again].row[at], column[again].index[at]]
            for (again, at), (tokens, form) in sorted(after.changed.items())
        ],
        "core": [after.core, after.pointers, [pin.id for pin in after.pins if pin.core]],
        "notes": [list(note) for note in after.notes],
        "occupied": after.occupied,
    }
    if decision.writes_note:
        data["note_tokens"] = decision.note_tokens
    return data


def recalled(state: State, data: dict[str, Any]) -> Decision:
    """The decision that `told` wrote down, on the state it was made from; no rule is asked again."""
    state = state.closed()
    flags = {name: data.get(name, False) for name in ("forced", "asked", "early", "last_resort")}
    after = state
    if "live" in data:
        core, pointers, cored = data["core"]
        *spans, last = data["live"]
        first, second, third = data["collapsed"]
        after = state._replace(
            live=(*[(start, stop) for start, stop in spans], (last, state.live[-1][1])),
            collapsed=(first, second, third),
            changed={(again, at): (tokens, form) for again, at, tokens, form, *_ in data["changed"]},
            passing=() if data["outcome"] in ("cleanup", "reseed") else state.passing,
            core=core,
            pointers=pointers,
            pins=tuple(pin._replace(core=pin.id in cored) for pin in state.pins),
            notes=tuple(NoteRow(*note) for note in data["notes"]),
            occupied=data["occupied"],
        )
        # A call that left with a reseed waits no longer.
        after = after._replace(opened=tuple([item for item in state.opened if after.is_live(item[0])]))
    return Decision(
        outcome=data["outcome"],
        before=state,
        after=after,
        keep=data.get("keep", 0),
        writes_note="note_tokens" in data,
        note_tokens=data.get("note_tokens", 0),
        cause=data.get("cause", ""),
        lacks=data.get("lacks", 0),
        **flags,
    )
