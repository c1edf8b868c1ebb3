"""Snapshot: everything a view draws, computed once, immutable and versioned. Views only draw it.

Any number on screen is a field here, so Python can print it. `to_json` is the form that travels to the
browser and into files; it holds no clock and no path of the machine.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ethang_nb._show import Shown
from ethang_nb.context.budget import Budget
from ethang_nb.context.plan import Plan, Price
from ethang_nb.context.segments import Segments

__all__ = ["BY_HAND", "VERSION", "Diff", "Fact", "Left", "Pin", "Snapshot", "StepRow"]

VERSION = 1
BY_HAND = "by hand"
"""The rule of a pin that no rule found: a person set it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A constraint or decision kept verbatim. `rule` is the cue that found it, `BY_HAND` where a person pinned it.

    `segment` is the message it came from while that is in the window; `core` says whether the sentence stands
    in the core. `lifted` is why it no longer holds, "" while it does.
    """

    id: int
    kind: Literal["constraint", "decision"]
    text: str
    rule: str
    segment: str
    core: bool = False
    lifted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One request: its number, what it took, and what happened before it was sent. Fill in per mille.

    `events` say that in words, `kinds` name each kind of them once: an outcome of a plan, `shrink`, `regret`.
    `before` is the fill the cleanup started from, None where there was none. `fixed`, `task`, `history`,
    `output`, `headroom` are the five numbers of seed 003's log line, in tokens.
    """

    step: int
    fill: int
    tokens: int
    events: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    before: int | None = None
    what: str = ""
    fixed: int = 0
    task: int = 0
    history: int = 0
    output: int = 0
    headroom: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that left the window in a cleanup: what, its tokens, how it left, where it can be read again."""

    title: str
    tokens: int
    how: Literal["squeeze", "collapse", "shrink", "evict", "remove"]
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A string worth keeping (identifier, number, date, path, command, error) and what became of it.

    `where` says what holds it now when kept (`note`, `core`, `window`), and is its address when lost.
    """

    text: str
    kind: str
    fate: Literal["kept", "lost", "invented"]
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(Shown):
    """One cleanup: what left, what stands for it, and which facts survived, were lost or were invented."""

    _view = "ethang_nb.views.diff"

    step: int
    outcome: str
    forced: bool
    before: int
    after: int
    fill_before: int
    fill_after: int
    left: tuple[Left, ...]
    note: str = ""
    note_tokens: int = 0
    note_reference: str = ""
    note_author: str = ""
    generation: int = 0
    facts: tuple[Fact, ...] = ()
    price: Price | None = None
    digest: str = ""
    reason: str = ""

    def of(self, fate: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.fate == fate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Shown):
    """One state of one context, as it is shown."""

    _view = "ethang_nb.views.context"

    name: str
    model: str
    model_label: str
    policy: str
    state: str
    step: int
    budget: Budget
    segments: Segments
    plan: Plan
    timeline: tuple[StepRow, ...] = ()
    diffs: tuple[Diff, ...] = ()
    pins: tuple[Pin, ...] = ()
    notices: tuple[str, ...] = ()
    version: int = field(default=VERSION)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data without message texts beyond titles. Field order is fixed."""
        plan = self.plan
        window = self.budget.window
        return {
            "version": self.version,
            "name": self.name,
            "model": self.model,
            "model_label": self.model_label,
            "policy": self.policy,
            "state": self.state,
            "step": self.step,
            "window": {
                "total": window.total,
                "reserve": window.reserve,
                "hard": self.budget.hard,
                "usable": self.budget.usable,
                "effective": window.effective,
                "max_input": window.max_input,
                "source": window.source,
            },
            "levels": asdict(self.budget.levels),
            "budget": {
                "used": self.budget.used,
                "fill": self.budget.fill,
                "free": self.budget.free,
                "beyond": self.budget.beyond,
                "over": self.budget.over,
                "room": self.budget.room,
                "p95": self.budget.p95,
                "how": self.budget.how,
                "unattributed": self.budget.unattributed,
                "slices": [asdict(item) for item in self.budget.slices],
            },
            "segments": [
                {
                    "id": item.id,
                    "kind": item.kind,
                    "title": item.title,
                    "tokens": item.tokens,
                    "retention": item.retention.label,
                    "droppable": item.droppable,
                    "reason": item.reason,
                    "source": item.source,
                    "trust": item.trust,
                    "position": item.position,
                    "step": item.step,
                    "address": item.address,
                    "collapsed": item.collapsed,
                    "verdict": item.verdict,
                    "why": item.why,
                }
                for item in self.segments
            ],
            "plan": {
                "outcome": plan.outcome,
                "before": plan.before,
                "after": plan.after,
                "fill_before": plan.fill_before,
                "fill_after": plan.fill_after,
                "forced": plan.forced,
                "reason": plan.reason,
                "digest": plan.digest,
            },
            "timeline": [asdict(row) for row in self.timeline],
            "diffs": [asdict(diff) for diff in self.diffs],
            "pins": [asdict(pin) for pin in self.pins],
            "notices": list(self.notices),
        }
