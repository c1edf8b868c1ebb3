"""Settings: window, policy and calibration, with every limit that follows from them worked out once, in tokens."""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels, Window

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the planner measures against. Make one with `Settings.of`."""

    base: Window
    """The window as it was given; `window` has the policy's reserve where that one names none."""
    window: Window
    policy: Policy
    ratio: int
    """Per mille by which the provider counts more than we do; divides every limit, never below 1,000."""
    hard: int
    usable: int
    levels: Levels
    nudge_at: int
    """The first total at which fill reaches the nudge level; likewise the following."""
    cleanup_at: int
    collapse_at: int
    evict_at: int
    act_at: int
    """Below this total no cleanup is due."""
    due_at: int
    """Below this total nothing is due."""
    reseed_at: int | None
    landing_at: int
    """The total a cleanup aims at."""
    collapse_to: int
    evict_to: int
    slack_at: int
    """A plan that ends above it is made again with fewer segments kept."""
    minimum: int
    early_minimum: int
    """What collapse frees at least where it acts below the cleanup level."""
    note_tokens: int
    entry_tokens: int

    @property
    def entry(self) -> tuple[object, ...]:
        """All that decides how a result enters."""
        policy = self.policy
        return (
            "intake" in policy.stages,
            "squeeze" in policy.stages,
            policy.entry_chars,
            policy.head_chars if policy.entry_chars else None,
            None if policy.entry_chars else self.entry_tokens,
        )

    @staticmethod
    def of(base: Window, policy: Policy, ratio: int = 1000) -> Settings:
        window = policy.window(base)
        hard, usable = window.hard * 1000 // ratio, window.usable * 1000 // ratio
        levels = policy.levels_for(window)
        whole = usable if policy.denominator == "usable" else window.total * 1000 // ratio

        def reaches(level: int) -> int:
            return -(-level * whole // 1000)

        def below(level: int | None, otherwise: int) -> int:
            return whole * (otherwise if level is None else level) // 1000

        cleanup_at = reaches(levels.cleanup)
        collapse_at = cleanup_at if policy.collapse_at is None else reaches(policy.collapse_at)
        evict_at = cleanup_at if policy.evict_at is None else reaches(policy.evict_at)
        early = collapse_at if "collapse" in policy.stages else cleanup_at
        return Settings(
            base=base,
            window=window,
            policy=policy,
            ratio=ratio,
            hard=hard,
            usable=usable,
            levels=levels,
            nudge_at=reaches(levels.nudge),
            cleanup_at=cleanup_at,
            collapse_at=collapse_at,
            evict_at=evict_at,
            act_at=min(cleanup_at, early),
            due_at=min(cleanup_at, early, reaches(levels.nudge) if "nudge" in policy.stages else cleanup_at),
            reseed_at=None
            if policy.reseed is None or "reseed" not in policy.stages
            else reaches(policy.reseed),
            landing_at=below(levels.landing, 0),
            collapse_to=below(policy.collapse_to, levels.landing),
            evict_to=below(policy.evict_to, levels.landing),
            slack_at=whole * (levels.landing + policy.slack) // 1000,
            minimum=usable * policy.minimum // 1000,
            early_minimum=usable
            * (policy.minimum if policy.collapse_minimum is None else policy.collapse_minimum)
            // 1000,
            note_tokens=policy.note_tokens(usable),
            entry_tokens=policy.entry_tokens(usable),
        )
