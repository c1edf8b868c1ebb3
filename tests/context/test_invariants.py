"""The invariants of DESIGN 5 over random transcripts, for every policy that ships."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.pairing import violations
from ethang_nb.context.planner import decide
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.replaying import replay_into
from ethang_nb.errors import Misuse
from tests.context.builders import ListJournal, live, words

EXAMPLES = 120
quick = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@dataclass(frozen=True)
class Act:
    kind: str
    sizes: tuple[int, ...] = ()
    again: str = "read"


size = st.one_of(st.integers(1, 60), st.integers(100, 900), st.integers(1_000, 9_000))
acts = st.lists(
    st.one_of(
        st.builds(Act, kind=st.just("turn"), sizes=st.lists(size, min_size=1, max_size=4).map(tuple),
                  again=st.sampled_from(["read", "run", "lost"])),
        st.builds(Act, kind=st.just("say"), sizes=st.tuples(st.integers(1, 300))),
        st.builds(Act, kind=st.just("user"), sizes=st.tuples(st.integers(1, 300))),
        st.builds(Act, kind=st.sampled_from(["pin", "unpin", "compact", "begin", "rule", "usage", "release"])),
    ),
    min_size=5,
    max_size=40,
)  # fmt: skip
windows = st.sampled_from([1_500, 2_000, 6_000, 32_000])
policies = pytest.mark.parametrize("rules", sorted(POLICIES))


def play(context: LiveContext, script: list[Act]) -> list[tuple]:
    """Feeds the script, a request point before every act, and checks at each what must hold at any time."""
    states = []
    for number, act in enumerate(script):
        request(context, states)
        match act.kind:
            case "turn":
                calls = [
                    ToolCall(id=f"c{number}.{at}", name="t", arguments="{}") for at in range(len(act.sizes))
                ]
                context.append(assistant("", calls))
                for call, many in zip(calls, act.sizes, strict=True):
                    address = f"file:{call.id}#L1-9@0a1b2c3d" if act.again == "read" else ""
                    text = words(many, f"r{number}")
                    result = ToolResult(
                        call_id=call.id, name="t", text=text, address=address, again=act.again
                    )
                    context.append(tool(result))
            case "say":
                context.append(assistant(words(act.sizes[0], f"s{number}")))
            case "user" | "rule":
                text = words(act.sizes[0], f"u{number}") if act.sizes else f"Never open file{number}.txt."
                try:
                    context.append(user(text))
                except Misuse:
                    continue
            case "pin":
                context.pin(f"keep fact {number}")
            case "unpin":
                holding = context.board.holding
                if holding:
                    context.unpin(holding[0].id)
            case "compact":
                context.ask_cleanup()
            case "begin":
                context.begin()
            case "usage":
                context.usage(context.state.total * (number % 7) // 3, context.state.total)
            case "release":
                rows = [row for row in context.state.rows if row.results]
                context.release([(row.id, 0) for row in rows[:2]])
    request(context, states)
    return states


def request(context: LiveContext, states: list[tuple]) -> None:
    tasks = {row.id: context.entries[row.id].messages for row in context.state.rows if row.task}
    system, newest = context.system, newest_ids(context)
    turning = context.request()
    sent = context.assemble()
    decision = turning.decision
    # 1: a call and its results are never parted.
    assert () == violations(sent)
    # 2: system and tasks are the same bytes; the newest user message and segment stay.
    assert system == context.system
    assert all(context.entries[row].messages == messages for row, messages in tasks.items())
    assert newest <= set(context.entries)
    for pin in context.board.holding:
        if pin.segment or pin.core:
            assert any(pin.text in message.text for message in sent), pin
    # 5: what is sent fits hard, or the outcome says that it is stuck.
    assert context.state.total <= context.state.hard or decision.outcome == "stuck"
    # 3: right after a landing nothing more is planned.
    if decision.lands:
        assert decide(context.state).outcome in ("nothing", "idle")
    # 6: everything that left can be found again.
    assert all(entry.address for entry in turning.entries.values())
    states.append((context.state, decision.outcome, sent))


def newest_ids(context: LiveContext) -> set[int]:
    real = [row.id for row in context.state.rows if not row.own]
    users = [row.id for row in context.state.rows if row.kind == "user"]
    return {*real[-1:], *users[-1:]}


@policies
@quick
@given(script=acts, total=windows)
def test_every_invariant_holds_at_every_request(rules, script, total):
    context = live(total, rules=rules)
    context.append(user("the task"))
    play(context, script)


@policies
@quick
@given(script=acts, total=windows)
def test_same_events_same_plans_and_the_journal_gives_the_same_context_again(rules, script, total):
    journal = ListJournal()
    first = live(total, rules=rules, journal=journal)
    first.append(user("the task"))
    second = live(total, rules=rules)
    second.append(user("the task"))
    assert play(first, script) == play(second, script)
    third = live(total, rules=rules)
    Chronicle(third)
    assert () == replay_into(third, journal.entries)
    assert (first.state, first.assemble()) == (third.state, third.assemble())


@policies
@quick
@given(script=acts)
def test_looking_changes_nothing(rules, script):
    from ethang_nb.context.explain import next_cleanup
    from ethang_nb.context.occupancy import budget
    from ethang_nb.context.outline import segments

    plain = live(6_000, rules=rules)
    plain.append(user("the task"))
    seen = live(6_000, rules=rules)
    chronicle = Chronicle(seen)
    seen.append(user("the task"))
    for act in script:
        a: list[tuple] = []
        b: list[tuple] = []
        budget(seen)
        segments(seen)
        _ = next_cleanup(seen).verdicts
        chronicle.snapshot(name="x", model="m", model_label="m", state="idle").to_json()
        try:
            play(plain, [act])
        except Exception as error:
            with pytest.raises(type(error)):
                play(seen, [act])
            return
        play(seen, [act])
        request(plain, a)
        request(seen, b)
        assert a[-1][2] == b[-1][2]
