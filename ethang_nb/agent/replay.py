"""Replay: a session's own messages under another policy, window or levels, with no model call."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

from ethang_nb.agent.desk import Desk
from ethang_nb.context import kinds
from ethang_nb.context.address import event_of
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.policy import Policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.snapshot import BY_HAND, Pin
from ethang_nb.context.tape import ByHand, Tape
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy
from ethang_nb.providers.windows import window_of
from ethang_nb.store.record import Event

__all__ = ["SessionTimeline", "replayed"]


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


class _Recorded(NamedTuple):
    """The messages in row order, their numbers in the record, where pieces of work begin, and what a person pinned.

    `pins` were set before the first request; `acts` are the pins by hand and the lifting that came later.
    """

    messages: tuple[Message, ...]
    numbers: tuple[int, ...]
    begins: tuple[int, ...]
    pins: tuple[Pin, ...]
    acts: Mapping[int, Sequence[ByHand]]


class _Numbers:
    """A journal that writes nothing and gives each message the number that it has in the record."""

    records = False

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self._numbers = numbers
        self._at = 0

    @property
    def next(self) -> int:
        return self._numbers[self._at] if self._at < len(self._numbers) else -1

    def write(self, kind: str, data: dict[str, Any]) -> int:
        del data
        number = self.next
        self._at += kind == kinds.MESSAGE
        return number


def replayed(
    desk: Desk,
    *,
    policy: Policy | None,
    window: int | str | Window | None,
    levels: Levels | tuple[int, int, int] | None,
) -> SessionTimeline:
    """Every step of the session under these settings, None: under its own. The context stays as it is.

    Raises BadPolicy, BadWindow.
    """
    live = desk.live
    rules = policy or live.state.policy
    if levels is not None:
        rules = rules.with_levels(_levels(levels))
    base = live.state.settings.base if window is None else window_of(window, model=desk.model)
    settings = Settings.of(base, rules, live.state.ratio)
    recorded = _recorded(desk)

    def tape(chosen: Settings) -> Tape:
        context = LiveContext(
            window=chosen.base,
            policy=chosen.policy,
            counter=live.counter,
            system=live.system,
            project=live.project,
            tools=live.tools,
            journal=_Numbers(recorded.numbers),
            searchable=live.notes.searchable,
            refuses=False,
            ratio=chosen.ratio,
        )
        for pin in recorded.pins:
            context.pinning.put(pin.kind, pin.text, pin.rule, -1)
        context.pinning.enter()
        return Tape(context, recorded.messages, recorded.begins, recorded.acts)

    return SessionTimeline(tape(settings), settings, tape)


def _levels(given: Levels | tuple[int, int, int]) -> Levels:
    if isinstance(given, Levels):
        return given
    if len(given) != len(fields(Levels)) or not all(type(level) is int for level in given):
        raise BadPolicy(
            f"levels {str(given)[:60]} are not nudge, cleanup and landing; give three per mille, as in (700, 800, 400)"
        )
    return Levels(nudge=given[0], cleanup=given[1], landing=given[2])


def _recorded(desk: Desk) -> _Recorded:
    live = desk.live
    events = desk.archive.record.events(kinds=(*_ACTS, kinds.MESSAGE, kinds.WORK, kinds.CORE))
    results: dict[int, list[int]] = {}
    for event in events:
        if event.kind == kinds.MESSAGE and "row" in event.data:
            results.setdefault(event.data["row"], []).append(event.seq)
    messages: list[Message] = []
    numbers: list[int] = []
    opened: list[int] = []  # the event that opened each row, and below where its first message stands
    starts: list[int] = []
    for number in sorted(row for row in live.entries if row >= 0):
        entry = live.entries[number]
        opened.append(event_of(entry.addresses[0]))
        starts.append(len(messages))
        messages += entry.messages
        numbers += [opened[-1], *results.get(number, [])[: len(entry.messages) - 1]]
    starts.append(len(messages))

    def after(event: Event) -> int:
        """The position of the first message of the row that came next."""
        return starts[bisect_left(opened, event.seq)]

    acts: dict[int, list[ByHand]] = {}
    for event in events:
        if (act := _act(event, live.pins)) is not None:
            acts.setdefault(after(event), []).append(act)
    cored = [number for event in events if event.kind == kinds.CORE for number in event.data["pins"]]
    return _Recorded(
        messages=tuple(messages),
        numbers=tuple(numbers),
        begins=tuple(sorted({after(event) for event in events if event.kind == kinds.WORK})),
        pins=tuple(live.pins[number - 1] for number in cored),
        acts=acts,
    )


_ACTS = (kinds.PIN, kinds.UNPIN)


def _act(event: Event, pins: Sequence[Pin]) -> ByHand | None:
    """What a person did by hand; pins by rule, and pins that entered as a message, come with their message."""
    data = event.data
    if event.kind == kinds.PIN and data["rule"] == BY_HAND and data["row"] >= 0:
        return lambda context: context.pinning.put(data["kind"], data["text"], data["rule"], data["row"])
    return partial(_unpin, pins[data["id"] - 1], data["reason"]) if event.kind == kinds.UNPIN else None


def _unpin(pin: Pin, reason: str, context: LiveContext) -> None:
    """Nothing where the message that lifted it has done so here too."""
    same = context.board.same(pin.text, pin.kind)
    if same is not None:
        context.unpin(same.id, reason)
