"""Policy: a named, ordered choice of stages, levels and limits. Data, not code.

Numbers marked ► are our choice; the others come from the source named beside them. Adding a policy is one
value here. What a stage does with a knob stands in that stage's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal

from ethang_nb._show import Shown
from ethang_nb.context.window import Levels, Window, levels
from ethang_nb.errors import BadPolicy, Unknown

__all__ = ["POLICIES", "Notes", "Policy", "from_knobs", "policy"]

Notes = Literal["one", "protected"]
"""`one`: there is ever one handoff note, rewritten at each cleanup that evicts. `protected`: notes stay,
together at most `notes_cap`; above that the oldest go and the new note stands for them too."""

STAGES = ("intake", "nudge", "collapse", "evict", "shrink")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Shown):
    """Limits in per mille of usable unless said otherwise; token amounts are named `…_tokens` or `…_most`."""

    _view = "ethang_nb.views.policy"

    name: str
    about: str = ""
    stages: tuple[str, ...] = STAGES
    """Which stages run, in this order."""
    levels: Levels | None = None
    """None: from the band table, by the size of the window."""
    keep: int = 3
    """► How many of the newest segments stay (seed 003: "the last two or three, verbatim")."""
    slack: int = 200
    """► A plan that ends more than this above landing is made again with fewer segments kept."""
    minimum: int = 150
    """A cleanup frees at least this, or does nothing (seed 000: "at least 15 %")."""
    notes: Notes = "one"
    notes_cap: int = 150
    """► Protected notes together."""
    note: int = 100
    """► Reserved for a note, within the two bounds below."""
    note_least: int = 200
    note_most: int = 1_200
    nudge_once: bool = False
    """Whether the nudge is sent once per session (seed 000: "sent once, never repeated")."""
    entry: int = 50
    """► A tool result over this is spilled as it enters, within the two bounds below."""
    entry_least: int = 1_000
    """► Tokens below which a result is never spilled, unless the cap says so."""
    entry_cap: int = 150
    """► The largest share of usable one result may enter with."""
    shrink_tokens: int = 200
    """► Results over this may be shrunk, and are shrunk to no less."""

    def __post_init__(self) -> None:
        for name, least, most in _RANGES:
            value = getattr(self, name)
            if not least <= value <= most:
                raise BadPolicy(
                    f"policy {self.name!r}: {name} is {value:,}; it goes from {least:,} to {most:,}"
                )
        unknown = [stage for stage in self.stages if stage not in STAGES]
        if unknown:
            raise Unknown("stage", unknown[0], STAGES)
        if self.note_least > self.note_most:
            raise BadPolicy(
                f"policy {self.name!r}: note_least {self.note_least:,} is above note_most {self.note_most:,}; swap them"
            )
        if self.levels is not None:
            _check_levels(self.name, self.levels)

    def levels_for(self, window: Window) -> Levels:
        return self.levels or levels(window.size)

    def note_tokens(self, usable: int) -> int:
        """Tokens reserved for a handoff note, reference list included."""
        return min(self.note_most, max(self.note_least, usable * self.note // 1000))

    def entry_tokens(self, usable: int) -> int:
        """Tokens a tool result may enter with."""
        return min(max(self.entry_least, usable * self.entry // 1000), usable * self.entry_cap // 1000)

    def knobs(self) -> dict[str, Any]:
        """All fields that decide something, in fixed order; part of every digest."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        values.pop("about")
        band = values["levels"]
        values["levels"] = None if band is None else [band.nudge, band.cleanup, band.landing]
        values["stages"] = list(self.stages)
        return values


_RANGES = (
    ("keep", 1, 50),
    ("slack", 0, 1000),
    ("minimum", 0, 900),
    ("notes_cap", 1, 900),
    ("note", 1, 900),
    ("note_least", 50, 100_000),
    ("note_most", 50, 100_000),
    ("entry", 1, 1000),
    ("entry_least", 50, 1_000_000),
    ("entry_cap", 1, 1000),
    ("shrink_tokens", 50, 100_000),
)


def _check_levels(name: str, band: Levels) -> None:
    if not 0 < band.landing < band.cleanup <= 1000:
        raise BadPolicy(
            f"policy {name!r}: landing {band.landing} and cleanup {band.cleanup} must rise, within 1 to 1,000 ‰"
        )
    if not 0 < band.nudge <= band.cleanup:
        raise BadPolicy(f"policy {name!r}: nudge {band.nudge} must lie within 1 to cleanup {band.cleanup} ‰")


class _Policies(dict[str, Policy]):
    """The shipped policies; a name nobody knows is answered with the nearest one."""

    def __missing__(self, name: str) -> Policy:
        raise Unknown("policy", str(name), self)


POLICIES: Mapping[str, Policy] = MappingProxyType(
    _Policies(
        (item.name, item)
        for item in (
            Policy(
                name="ethang",
                about="all four sources: collapse to an address, evict only what is missing, one note, shrink",
            ),
            Policy(
                name="pressure",
                about="seed 000: band table, protected head and notes, whole exchanges, 15 % or nothing, shrink",
                # seed 000: "old exchanges are removed whole"; nothing is collapsed before
                stages=("intake", "nudge", "evict", "shrink"),
                # seed 000: "previous cleanup summaries are protected the same way"
                notes="protected",
                nudge_once=True,
            ),
        )
    )
)


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
