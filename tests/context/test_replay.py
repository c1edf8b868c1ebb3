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
from ethang_nb.context.digest import digest
from ethang_nb.context.entry import Turning
from ethang_nb.context.events import Event, RequestPoint, Reseeded, ResultAdded, WorkBegun
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import Ledger
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, assistant, system, user
from ethang_nb.context.pairing import mend
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
    """One request of a context fed live: what was decided, the state after it, and what would be sent."""

    decision: Decision
    state: State
    messages: tuple[Message, ...]
    digest: str
    reseeds: bool


class Watcher:
    """Hears what a live context decides."""

    def __init__(self, context: LiveContext) -> None:
        self.context = context
        self.sent: list[Sent] = []
        self.reseeds = False

    def requested(self, turning: Turning) -> None:
        context, decision = self.context, turning.decision
        told = digest(decision, context.entries, context.notes.hashes)
        self.sent.append(Sent(decision, context.state, context.assemble(), told, self.reseeds))
        self.reseeds = False

    def reseeded(self, turning: Turning) -> None:
        self.reseeds |= turning.decision.outcome == "reseed"

    def noted(self, _written: object) -> None: ...

    def reported(self, *_report: object) -> None: ...

    def released(self, _decision: object) -> None: ...


def fed(script: Script, window: Window, rules: str | Policy) -> list[Sent]:
    """A context fed live, a request before every assistant message and one at the end."""
    context = eth.Context(window, policy=rules, system=SYSTEM, pins=script.pins, counter=WORDS)
    watcher = Watcher(context._live)
    context._live.observers.append(watcher)
    # A replay puts results into the order of their calls; a context takes them as they come.
    for at, message in enumerate(mend(script.messages).messages):
        if at in script.begins:
            context.begin()
        if message.role == "assistant":
            request(context, watcher)
        context.append(message)
    request(context, watcher)
    return watcher.sent


def request(context: eth.Context, watcher: Watcher) -> None:
    """What goes out is what is assembled, where it is not more than can be sent."""
    try:
        sending = context.request()
    except Stuck:
        assert watcher.sent[-1].decision.outcome == "stuck"
    else:
        assert list(watcher.sent[-1].messages) == list(sending)


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
    sent = fed(script, window, rules)
    assert [one.state.total for one in sent] == list(timeline.tokens)
    assert [one.decision.outcome for one in sent] == [found.outcome for found in timeline]
    assert [one.reseeds for one in sent] == [found.reseed for found in timeline]
    usable = timeline.settings.usable
    before = [one.decision.before.total * 1000 // usable if one.decision.lands else None for one in sent]
    assert before == [found.before for found in timeline]
    for at, one in enumerate(sent):
        assert picture(one.state) == picture(timeline.state(at)), f"step {at}"
    return timeline, sent


def check_all(script: Script, window: Window, rules: str | Policy, spots: Sequence[int]) -> list[Sent]:
    """Also digests, and the requests at the steps that decide something and at `spots`."""
    try:
        timeline, sent = check_steps(script, window, rules)
    except Misuse:
        return []  # a message so large that a context refuses it
    assert digests(timeline) == {
        at: one.digest for at, one in enumerate(sent) if one.decision.outcome not in ("nothing", "idle")
    }
    deciding = [at for at, one in enumerate(sent) if one.decision.outcome != "nothing"]
    for at in {*deciding[:2], *deciding[-1:], *(spot % len(sent) for spot in spots), len(sent) - 1}:
        note(f"request {at}")
        assert sent[at].messages == timeline.at(at)
    return sent


def digests(timeline: Timeline) -> dict[int, str]:
    """Of the decisions at request points that were not nothing, by step; idle ones may be passed over."""
    here = [turn for turn in timeline._turns if turn.decision.outcome not in ("reseed", "intake", "nothing")]
    return {
        turn.point: told
        for turn, told in zip(here, timeline.digests, strict=True)
        if turn.decision.outcome != "idle"
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
