"""Document: the snapshot of one context as it travels to live views, whole once and then only what changed.

`full()` and `update()` give bodies of frames (JSON-ready values). Applied one after the other they are
`Snapshot.to_json()`, but for what is worked out only when somebody asks: digests, and the parts of a diff that are not
its head. Beside it stands what is never stored: the reply as it comes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ethang_nb.context.budget import nearest_rank
from ethang_nb.context.chronicle import Chronicle, with_regrets
from ethang_nb.context.core import core_share
from ethang_nb.context.decision import without
from ethang_nb.context.draft import Span
from ethang_nb.context.entry import Entry
from ethang_nb.context.explain import as_plan
from ethang_nb.context.ledger import Row
from ethang_nb.context.live import LiveContext
from ethang_nb.context.marks import Followed, Mark, Marking, mark, sizes_of
from ethang_nb.context.occupancy import Occupancy
from ethang_nb.context.outline import note_segments, part_segments, row_segment, source, trust
from ethang_nb.context.pairing import LOST
from ethang_nb.context.regret import Regret
from ethang_nb.context.snapshot import (
    VERSION,
    Diff,
    Pin,
    StepRow,
    budget_data,
    carried_pins,
    head_data,
    levels_data,
    line,
    pin_data,
    plan_data,
    regret_data,
    segment_data,
    step_data,
    window_data,
)
from ethang_nb.context.state import State
from ethang_nb.views.live.packing import packed

__all__ = ["About", "Body", "Document"]

FEW = 10
"""► New fills up to which each is put in its place; more are sorted in at once."""
LOOKED_AT = 500
"""► Rows that one update looks at for regret: a tenth of a millisecond each, and a long past has thousands."""

Body = dict[str, Any]
"""What a frame says, `rev` and `base` not among it."""


class About(NamedTuple):
    """What a context does not know of itself.

    Of the reply to come, `saying` is the end of what the model has said, and `waiting` is why nothing comes.
    """

    name: str
    model: str
    model_label: str
    state: str
    repairs: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    saying: str = ""
    waiting: str = ""


class Document:
    """The document of one context, built as the context goes on. Whoever calls holds the context's lock.

    There is one place that was told last. Who serves several views says the `update()` to all of them first, then the
    `full()` to the one that is new, without letting go of the lock in between.
    """

    def __init__(self, live: LiveContext, chronicle: Chronicle, about: Callable[[], About]) -> None:
        self._live, self._about = live, about
        self._top = _Top(live, chronicle)
        self._segments = _Segments(live)
        self._timeline = _Timeline(chronicle)
        self._told = False

    def full(self) -> Body:
        """The whole document as it is now."""
        return self._body(whole=True)

    def update(self) -> Body:
        """What changed since the last call of this or of `full`; {} where nothing did."""
        return self._body(whole=not self._told)

    @property
    def behind(self) -> bool:
        """Whether the next update may say more though nothing happens: regrets of a long past, some rows each time."""
        return self._timeline.behind

    def _body(self, *, whole: bool) -> Body:
        self._told = True
        followed, segments = self._segments.told(whole=whole)
        timeline = self._timeline.told(whole=whole)
        top = self._top.told(self._about(), followed, self._timeline.p95, whole=whole)
        body = {**top, "segments": segments, **timeline}
        return {key: value for key, value in body.items() if value}


class _Top:
    """Every key of the document that is small enough to be said anew when it changes."""

    def __init__(self, live: LiveContext, chronicle: Chronicle) -> None:
        self._live, self._chronicle = live, chronicle
        self._occupancy = Occupancy(live)
        self._said: dict[str, Any] = {}
        self._share: tuple[tuple[Pin, ...], int, str | None] | None = None

    def told(self, about: About, followed: Followed, p95: int | None, *, whole: bool) -> Body:
        """`set` has new values, `merge` what is new within them."""
        now = self._now(about, followed, p95)
        before, self._said = self._said, now
        for key, said in (("saying", about.saying), ("waiting", about.waiting)):
            if said or before.get(key):  # a document that is stored has neither
                now[key] = said
        if whole:
            return {"set": now}
        changed = [key for key, value in now.items() if before.get(key) != value]
        return {
            "set": {key: now[key] for key in changed if key not in _MERGED},
            "merge": {key: _changes(before[key], now[key]) for key in changed if key in _MERGED},
        }

    def _now(self, about: About, followed: Followed, p95: int | None) -> dict[str, Any]:
        live, state = self._live, self._live.state
        pins = tuple(live.pins)
        share = self._core_share(pins, state.usable)
        budget = self._occupancy.budget(p95)
        return {
            "version": VERSION,
            "name": about.name,
            "model": about.model,
            "model_label": about.model_label,
            "policy": state.policy.name,
            "state": about.state,
            "step": live.step,
            "window": window_data(budget),
            "levels": levels_data(budget.levels),
            "budget": budget_data(budget),
            "plan": plan_data(as_plan(live, followed.decision), ""),
            "pins": [pin_data(pin) for pin in pins],
            "notices": [*self._chronicle.notices, *([] if share is None else [share]), *about.notices],
            "repairs": list(about.repairs),
        }

    def _core_share(self, pins: tuple[Pin, ...], usable: int) -> str | None:
        """Counting every pin anew would be most of an update."""
        if self._share is None or self._share[:2] != (pins, usable):
            self._share = (pins, usable, core_share(pins, usable, self._live.counter))
        return self._share[2]


_MERGED = ("window", "levels", "budget", "plan")
"""Of these only what changed within them is said: most numbers of a budget stay as they are."""


def _changes(old: Any, new: Any) -> Any:
    """What to merge into the old value to have the new one: objects by key, lists of one length by index."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: _changes(old[key], value) for key, value in new.items() if old[key] != value}
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        pairs = enumerate(zip(old, new, strict=True))
        return {str(at): _changes(one, other) for at, (one, other) in pairs if one != other}
    return new


class _Segments:
    """The segments: parts, notes and what passes as they are, ledger rows by what is new of them."""

    def __init__(self, live: LiveContext) -> None:
        self._live = live
        self._marking = Marking()
        self._table = 0
        """How many marks were told."""
        self._state: State | None = None
        self._may_join: dict[int, Entry] = {}
        """Rows that results may still join, as they were told."""
        self._lost: set[int] = set()
        """Rows told as incomplete: making the line of a lost result short completes them."""
        self._said: dict[str, Any] = {}

    def told(self, *, whole: bool) -> tuple[Followed, dict[str, Any]]:
        live, marking = self._live, self._marking
        followed = marking.follow(live.state)
        now = followed.decision.before
        before = None if whole else self._state
        numbers = now.numbers if before is None else self._new(before, now, followed)
        body: dict[str, Any] = {}
        if before is not None and before.live != now.live:
            body["drop"] = _gone(before, now)
        body["rows"] = [self._row(now, number) for number in numbers]
        marked = now.numbers if before is None else followed.rows
        body["marks"] = packed(marked, marking.codes)
        first, self._table = 0 if before is None else self._table, len(marking.table)
        body["table"] = {str(first + at): _mark_data(made) for at, made in enumerate(marking.table[first:])}
        sizes = marking.sizes if before is None else followed.sizes
        body["sizes"] = [list(item) for item in sizes]
        body |= self._changed(self._small(followed, now), whole=before is None)
        self._state = now
        self._may_join = {number: live.entries[number] for number in _open(now)}
        if before is None:
            return followed, body
        return followed, {key: value for key, value in body.items() if value or key in _MAY_BE_EMPTY}

    def _new(self, before: State, now: State, followed: Followed) -> list[int]:
        """Rows that came, and rows whose own line is another."""
        came = [
            number for start, stop in now.live for number in range(max(start, before.n), min(stop, now.n))
        ]
        entries = self._live.entries
        joined = [
            number
            for number, entry in self._may_join.items()
            if entries[number] is not entry and now.is_live(number)
        ]
        completed = [
            number
            for number in self._lost.intersection(followed.looked)
            if not _incomplete(entries[number], now)
        ]
        return sorted({*came, *joined, *completed})

    def _row(self, now: State, number: int) -> list[Any]:
        entry, sizes = self._live.entries[number], sizes_of(now.ledger, number)
        incomplete = _incomplete(entry, now)
        if incomplete:
            self._lost.add(number)
        else:
            self._lost.discard(number)
        said = [number, now.kind(number), line(entry.title), line(source(entry)), trust(entry), entry.step]
        return [*said, entry.address, sizes.whole, sizes.short, incomplete]

    def _small(self, followed: Followed, now: State) -> dict[str, Any]:
        """What is said as a whole when it changes."""
        live = self._live
        passing = [Row(item.id, item.kind, item.tokens, now.exchange) for item in now.passing]
        marks = [mark(row, followed.staying, followed.passed(row.id)) for row in passing]
        carried = carried_pins(live.pins)
        return {
            "parts": [segment_data(item, None) for item in part_segments(live)],
            "notes": [segment_data(item, None) for item in note_segments(live, followed.decision)],
            "passing": [
                [item.after, segment_data(row_segment(live, row, said), None)]
                for item, row, said in zip(now.passing, passing, marks, strict=True)
            ],
            "head": now.head,
            "pins": [[int(segment), pin] for segment, pin in carried.items()],
        }

    def _changed(self, now: dict[str, Any], *, whole: bool) -> dict[str, Any]:
        before, self._said = self._said, now
        return now if whole else {key: value for key, value in now.items() if before[key] != value}


_MAY_BE_EMPTY = ("parts", "notes", "passing", "head", "pins")
"""Said only when they change, and then also when nothing is left of them."""


def _gone(before: State, now: State) -> list[list[int]]:
    """The rows that left, as ranges; what came and left in between was never told."""
    known: list[Span] = [(start, min(stop, before.n)) for start, stop in before.live if start < before.n]
    return [list(span) for span in without(known, now.live)]


def _open(state: State) -> list[int]:
    """Rows that results may still join; the newest may be opened again."""
    newest = [state.n - 1] if state.n and state.is_live(state.n - 1) else []
    return sorted({*newest, *(number for number, _ in state.opened)})


def _incomplete(entry: Entry, state: State) -> bool:
    """As `Segment.incomplete`, without writing the messages as they stand."""
    calls = entry.messages[0].calls
    if not calls:
        return False
    results = [result for message in entry.messages[1:] for result in message.results]
    answered = {result.call_id for result in results}
    lost = [at for at, result in enumerate(results) if result.error and result.text == LOST]
    if lost:
        row = state.row(entry.row)
        answered -= {results[at].call_id for at in lost if row.results[at].form in ("full", "spilled")}
    return any(call.id not in answered for call in calls)


def _mark_data(made: Mark) -> list[Any]:
    return [
        made.kind,
        made.retention.label,
        made.droppable,
        made.reason,
        made.verdict,
        made.why,
        made.collapsed,
    ]


class _Timeline:
    """Steps, cleanups and regrets: lists that grow at their end. A regret joins the row of an older step."""

    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle = chronicle
        self._rows: list[StepRow] = []
        """As they were told, without their regrets."""
        self._places: dict[int, list[int]] = {}
        """Step -> its rows."""
        self._regrets: dict[int, list[Regret]] = {}
        """Step -> the regrets told of it."""
        self._regretted = 0
        self._heads: list[Diff] = []
        self._fills: list[int] = []
        """In order of size."""
        self.behind = False
        """Whether rows are left to be looked at for regret."""

    @property
    def p95(self) -> int | None:
        return nearest_rank(self._fills)

    def told(self, *, whole: bool) -> Body:
        chronicle = self._chronicle
        unseen = chronicle.unseen
        regrets = chronicle.regrets_from(self._regretted, most=LOOKED_AT)
        self.behind = unseen - chronicle.unseen == LOOKED_AT
        for one in regrets:
            self._regrets.setdefault(one.step, []).append(one)
        first = self._follow(chronicle.steps)
        body: Body = {}
        if whole:
            body["timeline"] = {"at": 0, "rows": [self._row(at) for at in range(len(self._rows))]}
            every = chronicle.regrets_from(0, most=0)
            body["regrets"] = {"at": 0, "rows": [regret_data(one) for one in every]}
        else:
            older = sorted({at for one in regrets for at in self._places.get(one.step, ()) if at < first})
            timeline: Body = {}
            if first < len(self._rows):
                timeline = {"at": first, "rows": [self._row(at) for at in range(first, len(self._rows))]}
            if older:
                timeline["patch"] = [[at, self._row(at)] for at in older]
            body["timeline"] = timeline
            if regrets:
                body["regrets"] = {"at": self._regretted, "rows": [regret_data(one) for one in regrets]}
        self._regretted += len(regrets)
        body["diffs"] = self._diffs(whole=whole)
        return body

    def _follow(self, steps: list[StepRow]) -> int:
        """Takes in the steps that came; the newest one told may be another since. Returns the first that is new."""
        first = max(0, len(self._rows) - 1)
        if self._rows and steps[first] is self._rows[first]:
            first += 1
        for row in self._rows[first:]:
            self._fills.pop(bisect_left(self._fills, row.fill))
            self._places[row.step].remove(first)
        del self._rows[first:]
        self._sort_in([row.fill for row in steps[first:]])
        for at, row in enumerate(steps[first:], first):
            self._places.setdefault(row.step, []).append(at)
            self._rows.append(row)
        return first

    def _sort_in(self, fills: list[int]) -> None:
        if len(fills) > FEW:
            self._fills = sorted(self._fills + fills)
            return
        for fill in fills:
            insort(self._fills, fill)

    def _row(self, at: int) -> list[Any]:
        """A step's values in the order of its fields, whose names would be most of it."""
        row = self._rows[at]
        return list(step_data(with_regrets(row, self._regrets.get(row.step, ()))).values())

    def _diffs(self, *, whole: bool) -> Body:
        before, self._heads = self._heads, self._chronicle.heads
        same = 0 if whole else _same(before, self._heads)
        if same == len(self._heads) and not whole:
            return {}
        return {"at": same, "rows": [head_data(head) for head in self._heads[same:]]}


def _same(one: Iterable[Diff], other: Iterable[Diff]) -> int:
    """How many of the first are the very same."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a is not b:
            break
        count += 1
    return count
