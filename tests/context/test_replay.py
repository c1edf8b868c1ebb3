"""A context fed live, the fold from empty and a replay are the same thing: same tokens, decisions, states, requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context import live as live_module
from ethang_nb.context.decision import Decision
from ethang_nb.context.events import Event, RequestPoint, Reseeded, ResultAdded, WorkBegun
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import Ledger
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, assistant, system, user
from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy, Misuse, Stuck
from tests.context.builders import WORDS, ListJournal
from tests.context.generators import (
    Script,
    budgeted,
    policies,
    scripts,
    shipped,
    transcript,
    turn,
    windows,
    words,
)

SYSTEM = "you are an agent"


@dataclass(frozen=True)
class Sent:
    """One request of a live context: what was decided, the state after it, and what would be sent."""

    decision: Decision
    state: State
    messages: tuple[Message, ...]
    digest: str | None
    reseeded: bool


class Journal(ListJournal):
    """As a record, but messages are numbered as in a replay, so that addresses are the same."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = live_module.MemoryJournal()

    @property
    def next(self) -> int:
        return self.memory.next

    def write(self, kind: str, data: dict[str, Any]) -> int:
        super().write(kind, data)
        return self.memory.write(kind, data)

    @property
    def digest(self) -> str | None:
        """Of the newest request point."""
        return next(entry.data.get("digest") for entry in reversed(self.entries) if entry.kind == "point")


def fed(script: Script, window: Window, rules: str | Policy) -> tuple[LiveContext, list[Sent]]:
    """A context fed live, a request before every assistant message and one at the end."""
    journal = Journal()
    context = LiveContext(
        window=window, policy=policy(rules), counter=WORDS, system=SYSTEM, journal=journal, refuses=False
    )
    for text in script.pins:
        context.pin(text)
    context.enter_pins()
    sent: list[Sent] = []
    reseeded = False

    def request() -> None:
        nonlocal reseeded
        turning = context.request()
        sent.append(Sent(turning.decision, context.state, context.assemble(), journal.digest, reseeded))
        reseeded = False

    for at, message in enumerate(script.messages):
        if at in script.begins:
            begun = context.begin()
            reseeded |= begun is not None and begun.outcome == "reseed"
        if message.role == "assistant":
            request()
        context.append(message)
    request()
    return context, sent


def replayed(script: Script, window: Window, rules: str | Policy) -> Timeline:
    return eth.replay(
        script.messages, window, policy=rules, begins=script.begins, pins=script.pins, system=SYSTEM, counter=WORDS
    )


def picture(state: State) -> dict[str, Any]:
    """What of a state anybody can see or what decides anything later, whatever its ledger is."""
    return {
        "rows": state.rows,
        "total": state.total,
        "notes": [(note.id, note.tokens, note.generation) for note in state.notes],
        "pins": state.pins,
        "core": (state.core, state.pointers),
        "tasks": (state.first_task, state.task, state.user, state.begun),
        "counts": (state.next_row, state.exchange, state.work, state.next_note, state.next_passing),
        "nudge": (state.armed, state.nudged),
    }


def check_steps(script: Script, window: Window, rules: str | Policy) -> tuple[Timeline, list[Sent]]:
    """All that is said of steps agrees, and the states do."""
    timeline = replayed(script, window, rules)
    _, sent = fed(script, window, rules)
    assert [one.state.total for one in sent] == list(timeline.tokens)
    assert [one.decision.outcome for one in sent] == [found.outcome for found in timeline]
    assert [one.reseeded for one in sent] == [found.reseed for found in timeline]
    usable = timeline.settings.usable
    before = [one.decision.before.total * 1000 // usable if one.decision.lands else None for one in sent]
    assert before == [found.before for found in timeline]
    assert [picture(one.state) for one in sent] == [picture(timeline.state(at)) for at in range(len(timeline))]
    return timeline, sent


def check_all(script: Script, window: Window, rules: str | Policy, spots: Sequence[int]) -> list[Sent]:
    """Also digests, and the requests at the steps that decide something and at `spots`."""
    timeline, sent = check_steps(script, window, rules)
    assert digests(timeline) == {
        at: one.digest for at, one in enumerate(sent) if one.decision.outcome not in ("nothing", "idle")
    }
    deciding = [at for at, one in enumerate(sent) if one.decision.outcome != "nothing"]
    for at in {*deciding[:2], *deciding[-1:], *(spot % len(sent) for spot in spots), len(sent) - 1}:
        note(f"request {at}")
        assert sent[at].messages == timeline.at(at)
    return sent


def digests(timeline: Timeline) -> dict[int, str]:
    """Of the decisions at request points, by step."""
    here = [turn for turn in timeline._turns if turn.decision.outcome != "reseed"]
    assert len(here) == len(timeline.digests)
    return {
        turn.point: digest
        for turn, digest in zip(here, timeline.digests, strict=True)
        if turn.decision.outcome not in ("nothing", "idle")
    }


spots = st.lists(st.integers(0, 1000), max_size=2)


@budgeted(260)
@given(script=scripts(), window=windows, rules=shipped, spots=spots)
def test_fed_live_and_replayed_are_the_same(script, window, rules, spots):
    check_all(script, window, rules, spots)


@budgeted(240)
@given(script=scripts(), window=windows, rules=policies(), spots=spots)
def test_fed_live_and_replayed_are_the_same_under_anybodys_policy(script, window, rules, spots):
    check_all(script, window, rules, spots)
