"""Plan: what the policy does to a context, as a value that can be read, compared and applied.

Verdicts say per segment what happens and why; totals are upper bounds; the digest is the same for the same
input on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ethang_nb._show import Shown
from ethang_nb.context.address import find_all, parse
from ethang_nb.context.messages import Message
from ethang_nb.context.pricing import Price
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import Misuse

__all__ = ["SHOWN_ACTS", "Act", "Applied", "Outcome", "Plan", "Price", "Removed", "Verdict", "kept_at"]

Outcome = Literal["nothing", "intake", "nudge", "cleanup", "release", "reseed", "idle", "stuck"]
"""`intake`: results became one line as they entered. `nothing`: below every level. `idle`: a cleanup was due but
would free less than the minimum. `stuck`: it does not fit hard and nothing helps."""
_NOTICE = 2_000  # ► characters of what a spill returned that are searched for an address
Act = Literal["stay", "squeeze", "collapse", "shrink", "evict", "remove", "rewrite", "write"]
"""`remove`: a nudge or notice taken out. `rewrite`, `write`: a handoff note."""
SHOWN_ACTS: Mapping[Act, str] = {
    "stay": "stays",
    "squeeze": "squeezed",
    "collapse": "one line",
    "shrink": "shrunk",
    "evict": "leaves",
    "remove": "taken out",
    "rewrite": "rewritten",
    "write": "written",
}
"""An act as people read it, in the words that segments carry as their verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the plan does to one segment. Tokens are those in the window, before and after."""

    segment: str
    title: str
    act: Act
    before: int
    after: int
    code: str
    reason: str
    address: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan(Shown):
    """What happens to this context now. Build one with `eth.plan(...)`, `session.plan()` or `context.plan()`."""

    _view = "ethang_nb.views.plan"

    outcome: Outcome
    policy: str
    window: Window
    levels: Levels
    before: int
    after: int
    fill_before: int
    fill_after: int
    reason: str
    forced: bool = False
    asked: bool = False
    kept: int = 0
    """How many of the newest segments stay."""
    note_tokens: int = 0
    """Tokens reserved for the handoff note this plan writes; 0 where it writes none."""
    price: Price | None = None
    _verdicts: Callable[[], tuple[Verdict, ...]] = field(default=tuple, repr=False)
    _digest: Callable[[], str] = field(default=str, repr=False)
    _apply: Callable[[str | None, Callable[[str, str], str] | None], Applied] | None = field(
        default=None, repr=False
    )

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self._verdicts()

    @cached_property
    def digest(self) -> str:
        """sha256 over policy, window and every segment's content hash, tokens, verdict, code and address."""
        return self._digest()

    @property
    def lands(self) -> bool:
        """Whether it is a landing: a cleanup or reseed that changes the request."""
        return self.outcome in ("cleanup", "reseed")

    def apply(self, note: str | None = None, spill: Callable[[str, str], str] | None = None) -> Applied:
        """The messages that would be sent after this plan, without touching the context it was made from.

        `note` is the text of the handoff note where the plan writes one (None: a note written by rule).
        `spill(source, text) -> address` is told of every removed text, where the caller wants to keep it elsewhere, and
        the lines that stand for results name that address (of a notice, as `SpillStore.spill` returns it, the address
        in it); without it the addresses stay as they are in the plan. Raises Misuse where it returns no address.
        """
        if self._apply is None:
            raise Misuse("this plan is a record of what was done; apply one made by plan()")
        if note is not None and not isinstance(note, str):
            raise Misuse(
                f"note={_short(note)} is a {type(note).__name__}; give a text, or None for one by rule"
            )
        if spill is not None and not callable(spill):
            raise Misuse(
                f"spill={_short(spill)} cannot be called; give a function of source and text that returns an address"
            )
        applied = self._apply(note, None if spill is None else _addressed(spill))
        return replace(applied, tokens=self.after)

    def __repr__(self) -> str:
        return f"Plan({self.outcome}, {self.before:,} -> {self.after:,} tokens, policy {self.policy})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A text that left the window: how (`collapse`, `shrink`, `evict`, `remove`), and where to read it again."""

    segment: str
    title: str
    tokens: int
    address: str
    how: Act
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied(Shown):
    """The outcome of applying a plan: what would be sent, and what was removed with its addresses."""

    _view = "ethang_nb.views.applied"

    messages: tuple[Message, ...]
    removed: tuple[Removed, ...]
    tokens: int = 0
    """What the plan says that the request takes at most, tools among it (`Plan.after`)."""

    def __repr__(self) -> str:
        return f"Applied({len(self.messages)} messages, {self.tokens:,} tokens, {len(self.removed)} texts removed)"


def kept_at(source: str, returned: object) -> str:
    """The address that a `spill(source, text)` returned, "" where it named none.

    An address of ours, or one word of the caller's own (`s3://bucket/1`), is taken as it is. A notice is a text, and
    its address is what counts: the first one that does not stand in `source`, by which the notice names what it is of.
    """
    if not isinstance(returned, str):
        return ""
    if parse(returned) is not None or len(returned.split()) == 1:
        return returned.strip()
    of_source = find_all(source)
    found = [address for address in find_all(returned[:_NOTICE]) if address not in of_source]
    spilled = [address for address in found if address.scheme == "spill"]
    return str((spilled or found)[0]) if found else ""


def _addressed(spill: Callable[[str, str], str]) -> Callable[[str, str], str]:
    def keep(source: str, text: str) -> str:
        returned: object = spill(source, text)
        address = kept_at(source, returned)
        if not address:
            raise Misuse(
                f"spill returned {_short(returned)} for {source[:60]!r}, which is no address; return where the text "
                "was kept, such as spill://0123456789ab"
            )
        return address

    return keep


def _short(value: object) -> str:
    return " ".join(repr(value).split())[:80]
