"""Configurations: the ways to do the reading and the settings in which it is done. Data.

The source's three come first, then what an agent that follows addresses makes of them, then policies of this project.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Window
from ethang_nb.experiments.sources import COMPACT, HEAD_CHARS, SPILL_CHARS, TRIM, WINDOW

__all__ = ["SETTINGS", "SOURCE", "Configuration", "Setting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One way to do the reading.

    `begins`: every document, and the question, is a piece of work of its own. `follows`: the agent searches the
    record where the answer is not in view. `delegates`: a sub-agent reads each document and reports one line.
    `cleans`: whether a cleanup runs before the call, as here, or after it, as in the source. `pins`: whether what the
    person says is heard for constraints; the source has no such thing, and what is said later ages like the rest.
    `endless`: the window has no end; its fill is still measured against the setting's.
    """

    name: str
    about: str
    policy: Policy
    begins: bool = False
    follows: bool = False
    delegates: bool = False
    cleans: Literal["before", "after"] = "before"
    pins: bool = True
    endless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where it is done. `fixed`: tokens of system and tools. `spills`: whether long results are cut on entry."""

    name: str
    about: str
    window: Window = WINDOW
    fixed: int = 0
    spills: bool = True


# The source's


_TRIM = Configuration(
    name="naive trim",
    about="the oldest segments leave until the rest fits, and nothing says so",
    policy=TRIM,
    pins=False,
)
_COMPACT = Configuration(
    name="compaction",
    about="at 70 % all but the last three segments become one summary of 40 facts",
    policy=COMPACT,
    pins=False,
    cleans="after",
)
_SUB_AGENT = replace(
    _COMPACT,
    name="sub-agent",
    about="compaction + sub-agent: it reads each document, and one line of it comes back",
    delegates=True,
)
SOURCE = (_TRIM, _COMPACT, _SUB_AGENT)
"""As published."""

_FINDS = "with an agent that follows addresses: one find where the answer is not in view"
_TRIM_FINDS = replace(_TRIM, name="trim + find", about=f"naive trim {_FINDS}", follows=True)
_COMPACT_FINDS = replace(_COMPACT, name="compact + find", about=f"compaction {_FINDS}", follows=True)


# This project's


def _spilling(policy: Policy) -> Policy:
    """The policy with the recipe's cut on entry."""
    return replace(policy, entry_chars=SPILL_CHARS, head_chars=HEAD_CHARS)


def _ours(name: str, policy: str, about: str, *, begins: bool = False) -> Configuration:
    return Configuration(
        name=name, about=about, policy=_spilling(POLICIES[policy]), begins=begins, follows=True
    )


_NEVER = Configuration(
    name="never trimmed",
    about="nothing ever leaves, as if the window had no end",
    policy=replace(_spilling(POLICIES["trim"]), name="none", stages=("intake",)),
    endless=True,
)
_COLLAPSE = _ours(
    "collapse + pins",
    "priority",
    "at 70 % old results become one line with an address; constraints are pinned",
)
_ETHANG_ONE = _ours("ethang, one", "ethang", "all of it one piece of work, so it never starts from the core")
_LEAN_ONE = _ours(
    "lean, one", "lean", "one piece of work; old results become one line early, in small batches"
)
_RESEED = _ours(
    "reseed, pieces",
    "reseed",
    "each document a piece of work, from the core where over 30 % is full",
    begins=True,
)
_ETHANG = _ours(
    "ethang, pieces",
    "ethang",
    "each document a piece of work, from the core where over 20 % is full",
    begins=True,
)
_ELSEWHERE = (_TRIM_FINDS, _COMPACT_FINDS, _SUB_AGENT, _LEAN_ONE, _ETHANG)

SETTINGS: tuple[tuple[Setting, tuple[Configuration, ...]], ...] = (
    (
        Setting(
            name="bare",
            about=(
                "the source's recipe, its own three ways first: window 6,000, results over 800 characters cut to 600, "
                "no system text, no tools"
            ),
        ),
        (*SOURCE, _TRIM_FINDS, _COMPACT_FINDS, _NEVER, _COLLAPSE, _ETHANG_ONE, _LEAN_ONE, _RESEED, _ETHANG),
    ),
    (
        Setting(
            name="in full",
            about="documents enter in full, so no cut on entry hides a line",
            spills=False,
        ),
        _ELSEWHERE,
    ),
    (
        Setting(
            name="fixed 1,000",
            about="system and tools of 1,000 tokens are paid with every call, by each sub-agent too",
            fixed=1_000,
        ),
        _ELSEWHERE,
    ),
    (
        Setting(
            name="window 200,000",
            about="everything fits, so none of it matters: no policy acts, and all single threads are the same",
            window=Window.of(200_000, reserve=WINDOW.reserve),
        ),
        _ELSEWHERE,
    ),
)
"""What the bare recipe hides stands in the others."""
