"""Snapshot: everything a view draws, computed once, immutable and versioned. Views only draw it.

Any number on screen is a field here, so Python can print it. `to_json` is the form that travels to the
browser and into files; it holds no clock and no path of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from ethang_nb._show import Shown
from ethang_nb.context.budget import Budget
from ethang_nb.context.plan import Plan, Price
from ethang_nb.context.segments import Segment, Segments
from ethang_nb.context.window import Levels

if TYPE_CHECKING:
    from ethang_nb.context.regret import Regret

__all__ = [
    "BY_HAND",
    "LAZY",
    "VERSION",
    "Diff",
    "Fact",
    "Left",
    "Pin",
    "Snapshot",
    "StepRow",
    "budget_data",
    "carried_pins",
    "diff_data",
    "head_data",
    "levels_data",
    "line",
    "pin_data",
    "plan_data",
    "regret_data",
    "segment_data",
    "snapshot_schema",
    "step_data",
    "window_data",
]

VERSION = 1
LONGEST_LINE = 200  # ► characters of a line in the document: a title of forty calls is 3 kB
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

    `events` say that in words, `kinds` name each kind of them once: an outcome of a plan, `shrink`, `regret`;
    `foretold` where the policy would have begun to clean up a request that somebody else made.
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
    regrets: tuple[Regret, ...] = ()
    pins: tuple[Pin, ...] = ()
    notices: tuple[str, ...] = ()
    version: int = field(default=VERSION)

    def to_json(self, *, digest: bool = True) -> dict[str, Any]:
        """The document: plain JSON data without message texts beyond titles. Its fields are in `snapshot_schema()`.

        The digest of its plan reads every segment; without `digest` it is "".
        """
        carried = carried_pins(self.pins)
        return {
            "version": self.version,
            "name": self.name,
            "model": self.model,
            "model_label": self.model_label,
            "policy": self.policy,
            "state": self.state,
            "step": self.step,
            "window": window_data(self.budget),
            "levels": levels_data(self.budget.levels),
            "budget": budget_data(self.budget),
            "segments": [
                {**segment_data(item, carried.get(item.id)), "position": item.position}
                for item in self.segments
            ],
            "plan": plan_data(self.plan, self.plan.digest if digest else ""),
            "timeline": [step_data(row) for row in self.timeline],
            "diffs": [diff_data(diff) for diff in self.diffs],
            "regrets": [regret_data(one) for one in self.regrets],
            "pins": [pin_data(pin) for pin in self.pins],
            "notices": list(self.notices),
            "repairs": list(self.segments.repairs),
        }


def snapshot_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `Snapshot.to_json` returns."""
    text = files("ethang_nb.context").joinpath("snapshot.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


# ---- the parts of the document, as whoever builds it piece by piece needs them


def _plain(item: Any) -> dict[str, Any]:
    """The fields of a flat value; `dataclasses.asdict` would copy each of them deeply."""
    return {name: getattr(item, name) for name in item.__dataclass_fields__}


def pin_data(pin: Pin) -> dict[str, Any]:
    return _plain(pin)


def levels_data(levels: Levels) -> dict[str, Any]:
    return _plain(levels)


def line(text: str) -> str:
    """A line whose words come from outside, as it stands in the document."""
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"


def carried_pins(pins: Iterable[Pin]) -> dict[str, int]:
    """The segments that carry a pin that holds, each with the first such pin."""
    carried: dict[str, int] = {}
    for pin in pins:
        if pin.segment and not pin.lifted:
            carried.setdefault(pin.segment, pin.id)
    return carried


def segment_data(item: Segment, pin: int | None) -> dict[str, Any]:
    """All of a segment but its position, which is its place among the others."""
    return {
        "id": item.id,
        "kind": item.kind,
        "title": line(item.title),
        "tokens": item.tokens,
        "retention": item.retention.label,
        "droppable": item.droppable,
        "reason": item.reason,
        "source": line(item.source),
        "trust": item.trust,
        "step": item.step,
        "address": item.address,
        "collapsed": item.collapsed,
        "incomplete": item.incomplete,
        "pin": pin,
        "verdict": item.verdict,
        "why": item.why,
    }


def window_data(budget: Budget) -> dict[str, Any]:
    window = budget.window
    return {
        "total": window.total,
        "reserve": window.reserve,
        "hard": budget.hard,
        "usable": budget.usable,
        "effective": window.effective,
        "max_input": window.max_input,
        "source": window.source,
    }


def budget_data(budget: Budget) -> dict[str, Any]:
    return {
        "used": budget.used,
        "fill": budget.fill,
        "free": budget.free,
        "beyond": budget.beyond,
        "over": budget.over,
        "room": budget.room,
        "p95": budget.p95,
        "how": budget.how,
        "unattributed": budget.unattributed,
        "fixed": budget.fixed,
        "headroom": budget.headroom,
        "line": budget.line,
        "ratio": budget.ratio,
        "cleanup_at": budget.cleanup_at,
        "followed": budget.followed,
        "unsendable": budget.unsendable,
        "slices": [
            {"name": item.name, "tokens": item.tokens, "how": item.how, "count": item.count}
            for item in budget.slices
        ],
    }


def plan_data(plan: Plan, digest: str) -> dict[str, Any]:
    """`digest`: the plan's own, or "" where nobody asked for it: it reads every segment."""
    return {
        "outcome": plan.outcome,
        "policy": plan.policy,
        "before": plan.before,
        "after": plan.after,
        "fill_before": plan.fill_before,
        "fill_after": plan.fill_after,
        "forced": plan.forced,
        "kept": plan.kept,
        "note_tokens": plan.note_tokens,
        "price": None if plan.price is None else _plain(plan.price),
        "reason": plan.reason,
        "digest": digest,
    }


def step_data(row: StepRow) -> dict[str, Any]:
    return {
        "step": row.step,
        "fill": row.fill,
        "tokens": row.tokens,
        "events": [line(event) for event in row.events],
        "kinds": list(row.kinds),
        "before": row.before,
        "what": line(row.what),
        "fixed": row.fixed,
        "task": row.task,
        "history": row.history,
        "output": row.output,
        "headroom": row.headroom,
    }


LAZY = ("left", "note", "facts", "price")
"""What a diff has that its head has not: worked out when somebody opens it."""


def head_data(diff: Diff) -> dict[str, Any]:
    """A diff without what is worked out when somebody opens it."""
    return {
        "step": diff.step,
        "outcome": diff.outcome,
        "forced": diff.forced,
        "before": diff.before,
        "after": diff.after,
        "fill_before": diff.fill_before,
        "fill_after": diff.fill_after,
        "note_tokens": diff.note_tokens,
        "note_reference": diff.note_reference,
        "note_author": diff.note_author,
        "generation": diff.generation,
        "digest": diff.digest,
        "reason": diff.reason,
    }


def diff_data(diff: Diff) -> dict[str, Any]:
    return {
        **head_data(diff),
        "left": [{**_plain(item), "title": line(item.title)} for item in diff.left],
        "note": diff.note,
        "facts": [_plain(fact) for fact in diff.facts],
        "price": None if diff.price is None else _plain(diff.price),
    }


def regret_data(one: Regret) -> dict[str, Any]:
    return {**_plain(one), "what": line(one.what)}
