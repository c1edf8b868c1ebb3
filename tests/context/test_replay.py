"""A context fed live, the fold from empty and a replay are the same thing: same tokens, decisions, states, requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context import live as live_module
from ethang_nb.context.counting import MESSAGE_OVERHEAD
from ethang_nb.context.decision import Decision, told
from ethang_nb.context.digest import digest
from ethang_nb.context.entry import Turning
from ethang_nb.context.events import Event, PartsChanged, RequestPoint, Reseeded, WorkBegun
from ethang_nb.context.fold import step
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, ToolResult, assistant, tool, user
from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.state import State
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy, Misuse, Stuck
from tests.context.builders import WORDS
from tests.context.generators import (
    Act,
    Script,
    budgeted,
    patient,
    policies,
    scripts,
    shipped,
    transcript,
    turn,
    windows,
)

pytestmark = patient

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
        hashed = digest(decision, context.entries, context.notes.hashes)
        self.sent.append(Sent(decision, context.state, context.assemble(), hashed, self.reseeds))
        self.reseeds = False

    def reseeded(self, turning: Turning) -> None:
        self.reseeds |= turning.decision.outcome == "reseed"

    def noted(self, _written: object) -> None: ...

    def reported(self, *_report: object) -> None: ...

    def released(self, _decision: object) -> None: ...


def fed(script: Script, window: Window, rules: str | Policy) -> list[Sent]:
    """What a context fed live sends, a request before every assistant message and one at the end."""
    context = eth.Context(window, policy=rules, system=SYSTEM, pins=script.pins, counter=WORDS)
    watcher = Watcher(context._live)
    context._live.observers.append(watcher)
    feed(context, watcher, script)
    return watcher.sent


def feed(context: eth.Context, watcher: Watcher, script: Script) -> None:
    for at, message in enumerate(script.messages):
        if at in script.begins:
            context.begin()
        if message.role == "assistant":
            request(context, watcher)
        context.append(message)
    request(context, watcher)


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
        script.messages,
        window,
        policy=rules,
        begins=script.begins,
        pins=script.pins,
        system=SYSTEM,
        counter=WORDS,
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
        "nudge": (state.armed, state.nudged, state.declined),
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
        assert sent[at].messages == timeline.at(at), f"request {at}"
    return sent


def digests(timeline: Timeline) -> dict[int, str]:
    """Of the decisions at request points that were not nothing, by step; idle ones may be passed over."""
    here = [
        found for found in timeline._turns if found.decision.outcome not in ("reseed", "intake", "nothing")
    ]
    return {
        found.point: hashed
        for found, hashed in zip(here, timeline.digests, strict=True)
        if found.decision.outcome != "idle"
    }


spots = st.lists(st.integers(0, 1000), max_size=2)


@budgeted(280, nightly=600)
@given(script=scripts(), window=windows, rules=shipped, spots=spots)
def test_fed_live_and_replayed_are_the_same(script, window, rules, spots):
    check_all(script, window, rules, spots)


@budgeted(220, nightly=400)
@given(script=scripts(), window=windows, rules=policies(), spots=spots)
def test_fed_live_and_replayed_are_the_same_under_anybodys_policy(script, window, rules, spots):
    check_all(script, window, rules, spots)


@pytest.mark.parametrize("rules", sorted(POLICIES))
@pytest.mark.parametrize("total", [1_500, 4_000])
def test_fed_live_and_replayed_are_the_same_over_a_long_run(rules, total):
    sent = check_all(transcript(total, length=180), Window.of(total), rules, spots=range(0, 1000, 21))
    assert sum(one.decision.lands or one.reseeds for one in sent) >= 3


# ---- the fold from empty


@contextmanager
def overheard() -> Iterator[list[Event]]:
    """The events that live contexts feed the fold, in order."""
    heard: list[Event] = []
    original = live_module.step

    def listening(state: State, event: Event) -> tuple[State, Decision | None]:
        heard.append(event)
        return original(state, event)

    live_module.step = listening
    try:
        yield heard
    finally:
        live_module.step = original


def undecided(event: Event) -> Event:
    """The event without what was decided of it, so that the rules decide again."""
    match event:
        case RequestPoint():
            return RequestPoint()
        case WorkBegun():
            return WorkBegun()
        case Reseeded():
            return Reseeded()
        case _:
            return event


@budgeted(60, nightly=100)
@given(script=scripts(), window=windows, rules=st.one_of(shipped, policies()))
def test_the_fold_from_empty_decides_as_the_context_did(script, window, rules):
    context = eth.Context(window, policy=rules, system=SYSTEM, pins=script.pins, counter=WORDS)
    empty = context._live.state._replace(system=0)
    watcher = Watcher(context._live)
    context._live.observers.append(watcher)
    with overheard() as events, suppress(Misuse):  # up to a message so large that it is refused
        feed(context, watcher, script)
    state, told_of = (
        step(empty, PartsChanged(system=context._live.counter.count(SYSTEM) + MESSAGE_OVERHEAD))[0],
        [],
    )
    for event in events:
        state, decision = step(state, undecided(event))
        if isinstance(event, RequestPoint):
            told_of.append(told(decision))
    assert [told(one.decision) for one in watcher.sent] == told_of
    assert picture(context._live.state) == picture(state)


# ---- a slider


def seen(timeline: Timeline) -> dict[str, Any]:
    return {
        "steps": list(timeline),
        "rows": timeline.rows(),
        "digests": timeline.digests,
        "last": timeline.at(-1),
        "settings": timeline.settings,
    }


bands = st.tuples(st.integers(1, 950), st.integers(30, 1000), st.integers(1, 900)).map(
    lambda band: (min(band[0], band[1]), band[1], min(band[2], band[1] - 1))
)


@budgeted(50, nightly=60)
@given(script=scripts(), window=windows, rules=shipped, band=bands, then=bands)
def test_moved_levels_give_the_timeline_of_a_fresh_replay_with_those_levels(
    script, window, rules, band, then
):
    with suppress(BadPolicy):
        fresh = policy(rules).with_levels(_levels(then))
        assert seen(replayed(script, window, fresh)) == seen(
            replayed(script, window, rules).move(levels=then)
        )
        moved = replayed(script, window, rules).move(levels=band).move(levels=then)
        # A knob that gave way to the first levels does not come back with the second.
        twice = policy(rules).with_levels(_levels(band)).with_levels(_levels(then))
        assert seen(replayed(script, window, twice)) == seen(moved)


def _levels(band: tuple[int, int, int]) -> Levels:
    return Levels(nudge=band[0], cleanup=band[1], landing=band[2])


@budgeted(40, nightly=60)
@given(script=scripts(), window=windows, rules=shipped, other=st.one_of(shipped, policies()), size=windows)
def test_another_policy_or_window_gives_the_timeline_of_a_fresh_replay(script, window, rules, other, size):
    start = replayed(script, window, rules)
    assert seen(replayed(script, window, other)) == seen(start.move(policy=other))
    assert seen(replayed(script, size, rules)) == seen(start.move(window=size))
    assert seen(replayed(script, size, other)) == seen(start.move(policy=other, window=size))
    assert seen(replayed(script, window, rules)) == seen(start)  # and the first is as it was


# ---- one fill


@budgeted(60, nightly=60)
@given(script=scripts(), window=st.one_of(windows, st.just(Window.of(400_000))), rules=shipped)
def test_plan_budget_and_replay_say_the_same_fill_while_no_stage_has_fired(script, window, rules):
    options: dict[str, Any] = {"policy": rules, "system": SYSTEM, "counter": WORDS, "pins": script.pins}
    fill = eth.budget(script.messages, window, **options).fill
    assert fill == eth.plan(script.messages, window, **options).fill_before
    timeline = replayed(Script(script.acts, pins=script.pins, begins=False), window, rules)
    fired = any(found.outcome not in ("nothing", "idle") for found in timeline)
    whole = all(
        len(result.text) < 800
        and len(result.text.split()) + MESSAGE_OVERHEAD <= timeline.settings.entry_tokens
        for message in script.messages
        for result in message.results
    )
    if window.total > 100_000:
        assert not fired
    # In a large window only `compact`, which counts characters, cuts anything on entry.
    large = window.total > 100_000 and rules != "compact"
    if not fired and (whole or large) and not timeline._turns:
        assert fill == timeline[-1].fill


# ---- what a replay is asked


def test_a_request_is_made_before_every_assistant_message_and_one_at_the_end():
    script = transcript(1)
    timeline = replayed(script, Window.of(6_000), "ethang")
    assert 1 + sum(message.role == "assistant" for message in script.messages) == len(timeline)
    assert timeline.at(0) == timeline.at(-len(timeline))
    assert user(script.messages[0].text) == timeline.at(0)[-1]


def test_begins_are_positions_of_the_messages_as_given_also_where_these_had_to_be_mended():
    orphan = tool(ToolResult(call_id="nobody", text="lost"))
    work = [
        user("the task"),
        *turn("1", (900,)),
        *turn("2", (900,)),
        assistant("done"),
        user("then"),
        assistant("so"),
    ]
    options: dict[str, Any] = {"system": SYSTEM, "counter": WORDS}
    clean = eth.replay(work, 3_000, begins=(6,), **options)
    mended = eth.replay([orphan, *work], 3_000, begins=(7,), **options)
    assert [False, False, False, True, False] == [found.reseed for found in clean]
    assert clean.rows() == mended.rows()


def test_the_digests_of_a_replay_are_those_of_the_live_run_idle_ones_among_them():
    """A context that cannot clean says so at every request; each has its digest."""
    rules = Policy(name="few", stages=("evict",), note_least=400, note_most=400)
    script = Script([Act("user", (3_350,)), *[Act("turn", (130,))] * 6, Act("say", (20,))])
    sent = fed(script, Window.of(6_000), rules)
    assert "idle" in {one.decision.outcome for one in sent}
    expected = tuple(one.digest for one in sent if one.decision.outcome != "nothing")
    assert expected == replayed(script, Window.of(6_000), rules).digests
