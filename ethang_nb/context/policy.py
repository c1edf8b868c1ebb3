"""Policy: a named, ordered choice of stages, levels and limits. Data, not code.

Numbers marked ► are our choice; the others come from the source named beside them. Adding a policy is one value in
`policies.py`. What a stage does with a knob stands in that stage's file.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from ethang_nb._show import Shown
from ethang_nb.context.window import Levels, Window, levels
from ethang_nb.errors import BadPolicy, Unknown

__all__ = ["LINE_TOKENS", "STAGES", "Notes", "Policy"]

Denominator = Literal["usable", "total"]
Unit = Literal["exchange", "segment"]
Order = Literal["age", "rank"]
Notes = Literal["one", "protected", "droppable", "line", "none"]
"""What stands for what was evicted.

`one`: there is ever one handoff note, rewritten from the record at each cleanup that evicts. `protected`: notes
stay, together at most `notes_cap`; above that the oldest go and the new note stands for them too. `droppable`: the
note is evicted like any old segment, and the next one, written from the record, stands for it too. `line`: one line
by rule says what left. `none`: nothing does; only for repeating what another system does.
"""

STAGES = ("intake", "nudge", "squeeze", "collapse", "evict", "shrink", "reseed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Shown):
    """Limits in per mille of usable unless said otherwise; token amounts are named `…_tokens` or `…_most`."""

    _view = "ethang_nb.views.policy"

    name: str
    about: str = ""
    stages: tuple[str, ...] = ("intake", "nudge", "collapse", "evict", "shrink")
    """Which stages run, in this order."""
    levels: Levels | None = None
    """None: from the band table, by the size of the window. Three numbers (nudge, cleanup, landing) are taken too."""
    denominator: Denominator = "usable"
    """What levels are fractions of. Seed 000 says "of the window"; 70 % and 90 % of 200K with 40K kept for the
    answer only work out on what is usable (seed 003)."""
    reserve: int | None = None
    """Tokens kept for the answer where the window names none, at most 20 % of it; None: the window's own rule."""
    keep: int = 3
    """► How many of the newest segments stay (seed 003: "the last two or three, verbatim")."""
    slack: int = 200
    """► A plan that ends more than this above landing is made again with fewer segments kept."""
    minimum: int = 150
    """A cleanup frees at least this, or does nothing (seed 000: "at least 15 %")."""
    collapse_at: int | None = None
    """Where collapse acts; None: at the cleanup level."""
    collapse_to: int | None = None
    """Where collapse stops; None: at the landing level."""
    collapse_minimum: int | None = None
    """What collapse frees at least where it acts below the cleanup level; None: the minimum."""
    collapse_keep: int | None = None
    """How many of the newest segments collapse leaves alone; None: as many as stay."""
    evict_at: int | None = None
    """Where evict acts; None: at the cleanup level. What does not fit hard is evicted at any level."""
    evict_to: int | None = None
    """Where evict stops; None: at the landing level."""
    unit: Unit = "exchange"
    """What leaves whole: exchanges, then segments of the newest one; or segments from the start."""
    order: Order = "age"
    """In which order segments leave: oldest first, or first the ranks that leave first, oldest first within one."""
    notes: Notes = "one"
    notes_cap: int = 150
    """► Protected notes together."""
    note: int = 100
    """► Reserved for a note, within the two bounds below."""
    note_least: int = 200
    note_most: int = 1_200
    nudge_once: bool = False
    """Whether the nudge is sent once per session (seed 000: "sent once, never repeated")."""
    reseed: int | None = None
    """Between pieces of work: at this fill the next one starts from the core; None: never."""
    entry: int = 50
    """► A tool result over this is spilled as it enters, within the two bounds below."""
    entry_least: int = 1_000
    """► Tokens below which a result is never spilled, unless the cap says so."""
    entry_cap: int = 150
    """► The largest share of usable one result may enter with."""
    entry_chars: int | None = None
    """Characters over which a result is spilled instead of the three limits above; its first `head_chars` stay."""
    head_chars: int = 600
    shrink_tokens: int = 200
    """► Results over this may be shrunk, and are shrunk to no less."""

    def __post_init__(self) -> None:
        given: object = self.levels
        if isinstance(given, tuple | list):
            if len(given) != 3:
                raise BadPolicy(
                    f"policy {self.name!r}: levels {given!r} are not three; give nudge, cleanup, landing"
                )
            nudge, cleanup, landing = given
            object.__setattr__(self, "levels", Levels(nudge=nudge, cleanup=cleanup, landing=landing))
        if not isinstance(self.name, str) or not self.name.strip():
            raise BadPolicy(f"policy name {self.name!r} names nothing; give a short text")
        for name, least, most in _RANGES:
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                number = isinstance(value, int) and not isinstance(value, bool)
                shown = f"{value:,}" if number else repr(value)
                raise BadPolicy(
                    f"policy {self.name!r}: {name} is {shown}; it goes from {least:,} to {most:,}"
                )
        for name, known in _CHOICES:
            if getattr(self, name) not in known:
                raise Unknown(f"{name} of policy {self.name!r}", str(getattr(self, name)), known)
        unknown = [stage for stage in self.stages if stage not in STAGES]
        if unknown:
            raise Unknown("stage", unknown[0], STAGES)
        twice = [stage for at, stage in enumerate(self.stages) if stage in self.stages[:at]]
        if twice:
            raise BadPolicy(f"policy {self.name!r}: stage {twice[0]!r} comes twice; name each once")
        if self.note_least > self.note_most:
            raise BadPolicy(
                f"policy {self.name!r}: note_least {self.note_least:,} is above note_most {self.note_most:,}; swap them"
            )
        if self.levels is not None:
            _check_levels(self.name, self.levels)
        self._check_order()

    def _check_order(self) -> None:
        """Levels that would undo each other. Where the band table rules, the lowest band is what counts."""
        band = self.levels or levels(0)
        cleanup_at = min(self.evict_at or band.cleanup, band.cleanup)
        collapse_at = self.collapse_at or band.cleanup
        for name, low, high, most in (
            ("reseed", self.reseed, "the nudge level", band.nudge),
            ("collapse_to", self.collapse_to, "where collapse acts", collapse_at - 1),
            ("evict_to", self.evict_to, "where evict acts", (self.evict_at or band.cleanup)),
        ):
            if low is not None and low > most:
                raise BadPolicy(f"policy {self.name!r}: {name} {low} is above {high}; give 1 to {most} ‰")
        if "collapse" in self.stages and self.collapse_to is None and band.landing >= collapse_at:
            raise BadPolicy(
                f"policy {self.name!r}: the landing level {band.landing} is not below collapse_at {collapse_at}; "
                f"lower it, or give collapse_to"
            )
        if "evict" in self.stages and self.evict_to is None and band.landing >= cleanup_at:
            raise BadPolicy(
                f"policy {self.name!r}: the landing level {band.landing} is not below evict_at {cleanup_at}; lower it"
            )

    def with_levels(self, band: Levels) -> Policy:
        """The same policy with these levels; what stands above them by its own knobs gives way."""
        return replace(
            self,
            levels=band,
            reseed=None if self.reseed is None else min(self.reseed, band.nudge),
            collapse_at=None if self.collapse_at is None else min(self.collapse_at, band.cleanup),
            evict_at=None if self.evict_at is None else max(self.evict_at, band.cleanup),
            evict_to=None if self.evict_to is None else min(self.evict_to, band.landing),
            collapse_to=None if self.collapse_to is None else min(self.collapse_to, band.landing),
        )

    def levels_for(self, window: Window) -> Levels:
        return self.levels or levels(window.size)

    def window(self, window: Window) -> Window:
        """The window with this policy's reserve, where it has one and the window's own was not given."""
        if self.reserve is None or window.reserve_given:
            return window
        return replace(window, reserve=max(1, min(self.reserve, window.total * 200 // 1000)))

    def note_tokens(self, usable: int) -> int:
        """Tokens reserved for what stands for evicted segments, reference list included."""
        if self.notes == "none":
            return 0
        if self.notes == "line":
            return LINE_TOKENS
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


LINE_TOKENS = 60  # ► the one line of `notes="line"`, as a message

_OPTIONAL = tuple(field.name for field in fields(Policy) if field.default is None)
_RANGES = (
    ("reserve", 1, 1_000_000),
    ("keep", 1, 50),
    ("slack", 0, 1000),
    ("minimum", 0, 900),
    ("collapse_at", 1, 1000),
    ("collapse_to", 0, 999),
    ("collapse_minimum", 0, 900),
    ("collapse_keep", 1, 50),
    ("evict_at", 1, 1000),
    ("evict_to", 0, 1000),
    ("notes_cap", 1, 900),
    ("note", 1, 900),
    ("note_least", 50, 100_000),
    ("note_most", 50, 100_000),
    ("reseed", 1, 1000),
    ("entry", 1, 1000),
    ("entry_least", 50, 1_000_000),
    ("entry_cap", 1, 1000),
    ("entry_chars", 200, 10_000_000),
    ("head_chars", 50, 1_000_000),
    ("shrink_tokens", 50, 100_000),
)
_CHOICES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("denominator", get_args(Denominator)),
    ("unit", get_args(Unit)),
    ("order", get_args(Order)),
    ("notes", get_args(Notes)),
)


def _check_levels(name: str, band: Levels) -> None:
    for level in (band.nudge, band.cleanup, band.landing):
        if isinstance(level, bool) or not isinstance(level, int):
            raise BadPolicy(
                f"policy {name!r}: level {level!r} is no whole number; give per mille, such as 700"
            )
    if not 0 < band.landing < band.cleanup <= 1000:
        raise BadPolicy(
            f"policy {name!r}: landing {band.landing} and cleanup {band.cleanup} must rise, within 1 to 1,000 ‰"
        )
    if not 0 < band.nudge <= band.cleanup:
        raise BadPolicy(f"policy {name!r}: nudge {band.nudge} must lie within 1 to cleanup {band.cleanup} ‰")
