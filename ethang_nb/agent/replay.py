"""Replay: a session's own messages under another policy, window or levels, with no model call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from ethang_nb.agent.desk import Desk
from ethang_nb.context.policy import Policy
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.retold import TOLD, Retold, retold
from ethang_nb.context.settings import Settings
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy
from ethang_nb.providers.models.facts import ModelFacts
from ethang_nb.providers.windows import window_of

__all__ = ["SessionTimeline", "recorded", "replayed"]


class SessionTimeline(Timeline):
    """The steps of a session under some settings, also its own ones; not exactly what happened.

    Releases by the model are not replayed, and a note that a model wrote counts as what was reserved for it.
    """

    _view = "ethang_nb.views.session_replay"

    def move(
        self,
        *,
        levels: Levels | tuple[int, int, int] | None = None,
        policy: str | Policy | None = None,
        window: int | Window | None = None,
    ) -> SessionTimeline:
        """The session under other levels (nudge, cleanup, landing, ‰), another policy or another window (tokens).

        Raises BadPolicy, BadWindow, Unknown.
        """
        moved = SessionTimeline.__new__(SessionTimeline)
        # What is worked out already is taken over, so that a move costs what it costs of any transcript.
        vars(moved).update(vars(super().move(levels=levels, policy=policy, window=window)))
        return moved


def recorded(desk: Desk) -> Retold:
    """The session's own messages and what a person did between them, from its record."""
    events = desk.archive.record.events(kinds=TOLD)
    return retold(desk.live, [JournalEntry(event.seq, event.kind, event.data) for event in events])


def replayed(
    told: Retold,
    *,
    model: str,
    policy: Policy | None = None,
    window: int | str | Window | None = None,
    levels: Levels | tuple[int, int, int] | None = None,
    find: Callable[[str], ModelFacts | None] | None = None,
) -> SessionTimeline:
    """Every step of a session of `model` under these settings, None: under its own. Raises BadPolicy, BadWindow.

    `find` says what is known of a model whose window it is to be.
    """
    rules = policy or told.settings.policy
    if levels is not None:
        rules = rules.with_levels(_levels(levels))
    base = told.settings.base if window is None else window_of(window, model=model, find=find)
    settings = Settings.of(base, rules, told.settings.ratio)
    return SessionTimeline(told.tape(settings), settings, told.tape)


def _levels(given: Levels | tuple[int, int, int]) -> Levels:
    if isinstance(given, Levels):
        return given
    if len(given) != len(fields(Levels)) or not all(type(level) is int for level in given):
        raise BadPolicy(
            f"levels {str(given)[:60]} are not nudge, cleanup and landing; give three per mille, as in (700, 800, 400)"
        )
    return Levels(nudge=given[0], cleanup=given[1], landing=given[2])
