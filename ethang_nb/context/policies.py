"""Policies: those that ship, each with the sentence of the source its knobs come from.

Seed 000 is "When memory fills up", 002 "Harness", 003 "What goes in the context window", 004 "Reseed, don't
compact". Numbers marked ► are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, overload

from ethang_nb._show import Shown
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels
from ethang_nb.errors import BadPolicy, Unknown

__all__ = ["POLICIES", "Policies", "from_knobs", "policy"]


_D = TypeVar("_D")


class Policies(Mapping[str, Policy], Shown):
    """Policies by name; a name nobody knows is answered with the nearest one."""

    _view = "ethang_nb.views.policies"

    def __init__(self, items: Iterable[Policy]) -> None:
        self._items = {item.name: item for item in items}

    def __getitem__(self, name: str) -> Policy:
        if name not in self._items:
            raise Unknown("policy", str(name), self._items)
        return self._items[name]

    @overload
    def get(self, key: str, /) -> Policy | None: ...
    @overload
    def get(self, key: str, default: _D, /) -> Policy | _D: ...
    def get(self, key: str, default: _D | None = None, /) -> Policy | _D | None:
        return self._items.get(key, default)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Policies({', '.join(self._items)})"


_SHIPPED = (
    Policy(
        name="ethang",
        about="all four sources: collapse to an address, evict only what is missing, one note, shrink, reseed",
        # 003: "Prefer dropping with an address over summarising"; so collapse comes before evict
        stages=("intake", "nudge", "collapse", "evict", "shrink", "reseed"),
        # 004: "set well below the point where the automatic summary would kick in" ►
        reseed=200,
    ),
    Policy(
        name="lean",
        about="ours, for long runs in one piece: as ethang, but old tool output collapses early, in batches",
        stages=("intake", "nudge", "collapse", "evict", "shrink", "reseed"),
        # ► early, in batches: each batch breaks the cached prefix once, and frees at least the minimum
        # at 250 the reading experiment costs 14,583 and takes 34,831 tokens, at 200 it is 14,374 and 32,951
        collapse_at=200,
        collapse_to=50,
        # ► a small batch is cheap here: with one segment kept, the cut lies just before the newest result
        collapse_minimum=50,
        # ► a longer tail of full results would be written to the cache again at every batch
        collapse_keep=1,
        reseed=200,
    ),
    Policy(
        name="pressure",
        about="seed 000: band table, protected head and notes, whole exchanges, 15 % or nothing, shrink, stuck",
        # 000: "Old exchanges are removed whole"; nothing is collapsed before
        stages=("intake", "nudge", "evict", "shrink"),
        # 000: "Previous cleanup summaries are protected the same way"
        notes="protected",
        # 000: "It is sent once, never repeated"
        nudge_once=True,
    ),
    Policy(
        name="trim",
        about="seed 002: the oldest droppable segments go until it fits; one line says what left, no note",
        stages=("intake", "evict"),
        # 002: "ContextManager(window=200_000, output_reserve=4_000)"
        reserve=4_000,
        # 002: "the oldest droppable segments go first, the prefix stays, and the most recent turn stays"
        unit="segment",
        keep=1,
        # it acts where the request no longer fits, and stops where it does
        levels=Levels(nudge=1000, cleanup=1000, landing=999),
        evict_to=1000,
        minimum=0,
        # ours: the loss is not silent (003: "The loss is silent")
        notes="line",
    ),
    Policy(
        name="compact",
        about="seed 002: at 75 % all but the last four segments become one droppable note",
        stages=("intake", "evict"),
        reserve=4_000,
        # 002: "trigger_ratio=0.75, keep_recent=4"
        levels=Levels(nudge=750, cleanup=750, landing=400),
        evict_to=0,
        keep=4,
        # 002: "a fill ratio and a minimum amount of history": with four segments or fewer there is nothing to do
        slack=1000,
        unit="segment",
        # 002: "The summary segment is itself droppable"
        notes="droppable",
        # 002: "SpillStore(…, threshold_chars=4_000)", "the first few hundred characters"
        entry_chars=4_000,
        head_chars=600,
    ),
    Policy(
        name="priority",
        about="seed 003: ranks; old tool output collapses at 70 %, compaction at 90 %, the last three turns stay",
        stages=("intake", "collapse", "evict"),
        # 003: "Up to around 70% occupancy there's nothing worth doing"; landing is ours ►
        levels=Levels(nudge=700, cleanup=700, landing=400),
        # 003: "Near 90% there's nothing cheap left to drop, and compaction takes over"
        evict_at=900,
        # 003: "The most recent turns. The last two or three, verbatim"
        keep=3,
        # 003: "From what leaves last to what leaves first"
        order="rank",
        unit="segment",
    ),
    Policy(
        name="reseed",
        about="seed 004: measured before each new piece of work; over the level, or uncertain, start from the core",
        # 004 rebuilds between pieces; collapse, evict and shrink are what its "automatic summary" is here
        stages=("intake", "reseed", "collapse", "evict", "shrink"),
        # 004: "set well below the point where the automatic summary would kick in" ►
        reseed=300,
    ),
)

POLICIES = Policies(_SHIPPED)


def from_knobs(knobs: Mapping[str, Any]) -> Policy:
    """The policy that has these `knobs`, as a record keeps them."""
    known = POLICIES.get(knobs["name"])
    if known is not None and known.knobs() == dict(knobs):
        return known
    band = knobs["levels"]
    given = dict(knobs) | {
        "stages": tuple(knobs["stages"]),
        "levels": None if band is None else Levels(nudge=band[0], cleanup=band[1], landing=band[2]),
    }
    return Policy(**given)


def policy(name: str | Policy) -> Policy:
    """The policy of that name, or the one given."""
    if isinstance(name, Policy):
        return name
    if not isinstance(name, str):
        raise BadPolicy(f"policy {name!r} is neither a name nor a Policy; known: {', '.join(POLICIES)}")
    return POLICIES[name]
