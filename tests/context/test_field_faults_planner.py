"""What broke other people's planners: each case of `field_faults` in the areas planner and spill, and its whole kind.

A docstring names the case. Spilling is tested as far as the context decides it; the store has tests of its own.
"""

from __future__ import annotations

import json
import re

import pytest

import ethang_nb as eth
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.pairing import violations
from ethang_nb.context.window import Levels
from ethang_nb.errors import Stuck
from ethang_nb.testing import WordCounter
from tests.context.shapes import Anthropic, OpenAI, every_shape, read_back, shown, turn

COUNTER = WordCounter()
every_policy = pytest.mark.parametrize("policy", eth.policies)
shrinking = pytest.mark.parametrize(
    "policy", [name for name, policy in eth.policies.items() if "shrink" in policy.stages]
)
not_shrinking = pytest.mark.parametrize(
    "policy", [name for name, policy in eth.policies.items() if "shrink" not in policy.stages]
)


def words(count, word="word"):
    return " ".join([word] * count)


def ask(context):
    """The next request as messages of ours, and its plan."""
    sending = context.request()
    return read_back(sending), sending.plan


# ---- what leaves, what stays


@every_shape
@every_policy
@pytest.mark.parametrize("window", [800, 1_500, 3_000])
@pytest.mark.parametrize("place", ["before the turn", "after the task", "twice"])
def test_the_newest_call_and_its_result_are_kept_however_old_text_presses(shape, policy, window, place):
    """PLN-01: trimming dropped the newest results and kept the old text."""
    old = shape.say("old " * 3_000)
    before = {
        "before the turn": [shape.say("hm"), old],
        "after the task": [old, shape.say("hm")],
        "twice": [old, old],
    }
    messages = [shape.user("t"), *before[place], *turn(shape, 1, "r")]

    plan = eth.plan(messages, window, policy=policy, system="s", model="gpt-4o")
    applied = plan.apply()

    assert (plan.outcome, plan.forced) == ("cleanup", True)
    assert [(message.role, message.text) for message in applied.messages[:2]] == [
        ("system", "s"),
        ("user", "t"),
    ]
    assert [message.role for message in applied.messages[-2:]] == ["assistant", "tool"]
    assert applied.messages[-1].text == "r"
    assert plan.after <= plan.window.usable
    assert "old old" not in "".join(message.text for message in applied.messages if message.kind != "note")


@every_policy
@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "system", "content": "s"}],
        [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
        [{"role": "user", "content": "hi"}],
        [{"role": "assistant", "content": "hi"}],
        [{"role": "tool", "tool_call_id": "zzz", "content": "stray"}],
    ],
)
def test_an_empty_history_is_planned_like_any_other(policy, messages):
    """PLN-02: and a history that is empty once it is mended."""
    plan = eth.plan(messages, 1_000, policy=policy)

    assert plan.outcome == "nothing"
    assert (
        plan.fill_before
        == eth.budget(messages, 1_000, policy=policy).fill
        == plan.before * 1000 // plan.window.usable
    )
    assert violations(plan.apply().messages) == ()
    context = eth.Context(1_000, policy=policy)
    context.append(messages)
    assert violations(read_back(context.request())) == ()


@shrinking
@every_shape
@pytest.mark.parametrize("small", [(100, 100), (50, 50, 50), ()])
def test_a_result_that_fills_the_window_is_cut_in_place_and_nothing_small_is_dropped_for_it(
    shape, policy, small
):
    """PLN-04: eviction cannot free enough, and the second call on the outcome does nothing."""
    messages = [shape.user(words(46)), *(shape.say(words(size - 4)) for size in small)]
    messages += turn(shape, 1, words(8_400))

    plan = eth.plan(messages, 10_000, policy=policy, counter=COUNTER)
    applied = plan.apply()
    again = eth.plan(applied.messages, 10_000, policy=policy, counter=COUNTER)

    assert (plan.outcome, plan.forced) == ("cleanup", True)
    assert [verdict.act for verdict in plan.verdicts] == ["stay"] * (1 + len(small)) + ["shrink"]
    (removed,) = applied.removed
    assert removed.address
    assert removed.address in applied.messages[-1].text
    assert removed.text == words(8_400)
    assert plan.after < plan.before - plan.window.usable * 15 // 100
    assert not again.lands
    assert again.after == again.before


@not_shrinking
@every_shape
def test_a_policy_that_cuts_nothing_drops_nothing_small_for_a_result_that_can_never_fit(shape, policy):
    """PLN-04, where the source knows no cutting in place: it fits, or it says which part is too big."""
    messages = [
        shape.user(words(46)),
        shape.say(words(96)),
        shape.say(words(96)),
        *turn(shape, 1, words(8_400)),
    ]

    plan = eth.plan(messages, 10_000, policy=policy, counter=COUNTER)

    if plan.outcome == "stuck":
        assert "the newest segment look with 8,4" in plan.reason.replace(
            "the largest part that stays is ", ""
        )
        assert plan.after == plan.before
    else:
        assert plan.after <= plan.window.usable
        assert "shrink" in [verdict.act for verdict in plan.verdicts]


@every_policy
@every_shape
def test_a_result_that_comes_too_large_is_spilled_before_it_is_counted(shape, policy):
    """PLN-04, PLN-10: as it enters, so that no policy ever meets it whole."""
    kept = []
    context = eth.Context(
        40_000, policy=policy, counter=COUNTER, model=shape.model,
        spill=lambda tool, text: kept.append((tool, text)) or f"spill://{len(kept)}",
    )  # fmt: skip
    context.append(shape.user("go"))
    for _ in range(8):
        context.append(shape.say(words(2_400)))
    before = context.budget.fill
    context.append(turn(shape, 1, words(30_000)))

    sent, plan = ask(context)

    assert 500 < before < 650
    assert plan.outcome == "nothing"
    assert kept == [("look", words(30_000))]
    assert "spill://1" in sent[-1].text
    assert COUNTER.count(sent[-1].text) <= 4_800
    assert context.budget.used <= context.budget.window.usable
    assert violations(sent) == ()


@every_policy
@every_shape
@pytest.mark.parametrize("count", [2, 4, 8])
def test_parallel_results_that_jump_over_every_level_together_are_caught(shape, policy, count):
    """PLN-10, its kind: each is under the entry limit, together they are far over the window."""
    context = eth.Context(5_000, policy=policy, counter=COUNTER, model=shape.model)
    context.append(shape.user("go"))
    for _ in range(5):
        context.append(shape.say(words(490)))
    ids = [f"p{number}" for number in range(count)]
    texts = [f"result {number} " + words(540) for number in range(count)]
    context.append([shape.asks(*ids), *shape.answers(*zip(ids, texts, strict=True))])

    sent, plan = ask(context)
    hard = plan.window.hard

    assert sum(COUNTER.count(message.text) for message in sent) <= context.budget.used <= hard
    assert violations(sent) == ()
    results = [message for message in sent if message.results]
    assert len(results) == count
    for text, message in zip(texts, results, strict=True):
        if message.text != text:
            (address,) = re.findall(r"log://\d+", message.text)
            assert context.removed(address) == text


# ---- numbers of two kinds


@every_policy
@pytest.mark.parametrize("count", [9, 14])
def test_the_providers_count_moves_the_limits_and_never_the_whole_history(policy, count):
    """PLN-05: 3.2 tokens reported for each of ours; the cut is chosen on one yardstick, recent turns are kept."""
    context = eth.Context(10_000, policy=policy, counter=COUNTER)
    context.append(user(words(96)))
    for number in range(count):
        context.append(turn(OpenAI, number, f"seen {number} " + words(280)))
    ask(context)
    before = context.budget.used
    context.usage(before * 45 // 14)

    sent, plan = ask(context)

    assert plan.after * 45 // 14 <= plan.window.hard
    if plan.lands:
        assert plan.before == before
        assert not plan.note_tokens or context.budget.used <= plan.after
    whole = [n for n in range(count) if any(message.text.startswith(f"seen {n} ") for message in sent)]
    assert whole
    assert whole == list(range(whole[0], count))
    assert violations(sent) == ()


@pytest.mark.parametrize("policy", ["ethang", "pressure", "reseed"])
def test_a_little_more_than_half_leaves_where_landing_is_at_forty_percent(policy):
    """PLN-05, its numbers: 9,000 reported for 2,800, target 40 %: about 55 % leave, the last turns stay whole."""
    context = eth.Context(10_000, policy=policy, counter=COUNTER)
    context.append(user(words(96)))
    for number in range(9):
        context.append(turn(OpenAI, number, f"seen {number} " + words(284)))
    ask(context)
    assert context.budget.used == 2_800
    context.usage(9_000)

    sent, plan = ask(context)

    assert plan.outcome == "cleanup"
    assert 500 <= (plan.before - plan.after) * 1000 // plan.before <= 650
    assert [n for n in range(9) if any(message.text.startswith(f"seen {n} ") for message in sent)][-3:] == [
        6,
        7,
        8,
    ]


@every_policy
def test_a_report_that_is_no_size_of_this_request_moves_nothing(policy):
    """PLN-05, its kind: a provider that counts what its own tools read."""
    context = eth.Context(200_000, policy=policy, counter=COUNTER)
    context.append(user(words(57_000)))
    ask(context)
    context.usage(300_000)

    assert (
        context.budget.fill == eth.budget([user(words(57_000))], 200_000, policy=policy, counter=COUNTER).fill
    )
    assert not context.plan().lands


# ---- loops


@every_policy
def test_a_floor_above_the_window_is_said_once_and_tried_once(policy):
    """PLN-07: 14,000 fixed and 20,000 in the newest segment, 24,000 to send."""
    notes = []
    context = eth.Context(
        eth.window(30_000, reserve=6_000), policy=policy, counter=COUNTER, system=words(13_996, "s")
    )
    context.append([user("go"), assistant(words(19_996, "x"))])
    before = [item.tokens for item in context.segments]

    for _ in range(3):
        with pytest.raises(
            Stuck, match=r"34,00\d tokens do not fit the 24,000 .* newest segment x x .* with 20,000"
        ):
            context.request()
        notes.append([item for item in context.segments if item.kind == "note"])

    assert [item.tokens for item in context.segments] == before
    assert notes == [[], [], []]
    assert len(context.snapshot.notices) == 1
    assert context.snapshot.diffs == ()


@every_policy
@pytest.mark.parametrize("part", ["system", "project", "tools", "task"])
def test_being_stuck_names_the_part_that_is_too_big(policy, part):
    """PLN-07, its kind: whichever part it is."""
    big = words(5_000, part)
    tools = [{"name": "look", "description": big, "input_schema": {"type": "object"}}]
    options = {"system": {"system": big}, "project": {"project": big}, "tools": {"tools": tools}, "task": {}}[
        part
    ]
    messages = [user(big if part == "task" else "go"), assistant("ok")]

    plan = eth.plan(messages, 2_000, policy=policy, counter=COUNTER, **options)

    assert plan.outcome == "stuck"
    assert {"tools": "tool catalogue"}.get(part, part) in plan.reason
    assert "5,00" in plan.reason
    assert plan.apply().messages == eth.plan(messages, 90_000, counter=COUNTER, **options).apply().messages


@pytest.mark.parametrize("notes", ["one", "protected", "droppable"])
@pytest.mark.parametrize("written", [200, 3_500, 60_000])
def test_a_note_as_large_as_the_level_brings_no_loop(notes, written):
    """PLN-08: cleanup at half the window, a summary of nearly half."""
    policy = eth.Policy(name="mine", levels=Levels(nudge=450, cleanup=500, landing=250), notes=notes)
    context = eth.Context(8_000, policy=policy, counter=COUNTER)
    context.append(user("go"))
    landed = []
    for number in range(20):
        plan = context.request().plan
        if plan.lands:
            landed.append(plan)
            context.note(words(written, "note"))
            assert not context.request().plan.lands
        assert sum(item.tokens for item in context.segments if item.kind == "note") <= 6_400 * 15 // 100
        context.append(assistant(f"turn {number} " + words(294)))

    assert 1 <= len(landed) <= 2
    for plan in landed:
        assert not plan.forced
        assert plan.before - plan.after >= plan.window.usable * 15 // 100


@every_policy
@every_shape
def test_after_any_landing_the_next_request_with_nothing_new_plans_nothing(shape, policy):
    """PLN-08, its kind: in every policy."""
    context = eth.Context(3_000, policy=policy, model=shape.model)
    context.append(shape.user("go"))
    landings = 0
    for number in range(40):
        plan = context.request().plan
        if plan.lands:
            landings += 1
            assert not context.request().plan.lands
        context.append(turn(shape, number, f"seen {number} " + words(150)))

    assert landings >= 1


# ---- spill, as the context sees it


@every_policy
@pytest.mark.parametrize("size", [700, 3_000, 30_000])
def test_what_is_read_back_is_cut_and_never_spilled_again(policy, size):
    """SPL-01: no new address, and the page keeps its own."""
    kept = []
    context = eth.Context(
        8_000, policy=policy, counter=COUNTER, spill=lambda tool, text: kept.append(text) or "spill://new"
    )
    context.append([user("go"), assistant("", [ToolCall(id="a", name="read_spill")])])
    page = ToolResult(
        call_id="a",
        name="read_spill",
        text=words(size),
        address="spill://0123456789ab#L1-5000",
        again="read",
        paged=True,
    )
    context.append(tool(page))

    sent, _ = ask(context)

    assert kept == []
    assert "spill://new" not in shown(sent)
    cut = COUNTER.count(sent[-1].text) < size
    assert cut == (size > 1_000)
    assert not cut or "spill://0123456789ab#L1-5000" in sent[-1].text


@every_shape
@pytest.mark.parametrize("times", [1, 3])
def test_a_result_that_looks_empty_says_what_is_missing_and_where_each_time(shape, times):
    """SPL-04: 900,000 letters; what each repeat adds stays under the entry limit."""
    context = eth.Context(128_000, model=shape.model)
    context.append(shape.user("go"))
    sizes = []
    for number in range(times):
        before = context.budget.used
        context.append(turn(shape, number, "x" * 900_000))
        sizes.append(context.budget.used - before)
        sent, _ = ask(context)
        assert "characters left out" in sent[-1].text
        address = context.segments[-1].address
        assert address in sent[-1].text
        assert context.removed(address) == "x" * 900_000

    limit = max(1_000, context.budget.window.usable * 50 // 1000)
    assert all(0 < size <= limit + 40 for size in sizes)


@every_shape
@pytest.mark.parametrize("letter", ["漢", "é", "😀", "a"])
def test_a_cut_never_falls_inside_a_character(shape, letter):
    """SPL-08."""
    context = eth.Context(20_000, model=shape.model)
    context.append([shape.user("go"), *turn(shape, 1, letter * 30_000)])

    sending = context.request()

    assert "\ufffd" not in shown(sending)
    json.dumps(list(sending) if shape in (OpenAI, Anthropic) else shown(sending), ensure_ascii=False).encode()
    assert read_back(sending)[-1].text.startswith(letter * 50)


@every_shape
@pytest.mark.parametrize("text", ["build ok \ud83d done", "head\u0000tail", "\udfff", "a\u0000\ud800b"])
@pytest.mark.parametrize("where", ["result", "user", "assistant", "call id"])
def test_text_that_no_request_can_hold_is_replaced_visibly_where_it_enters(shape, where, text):
    """SPL-10, SPL-12."""
    one = f"id{text}" if where == "call id" else "a"
    messages = [
        shape.user(text if where == "user" else "t"),
        shape.asks(one, text=text if where == "assistant" else None),
        *shape.answers((one, text if where == "result" else "ok")),
    ]
    context = eth.Context(4_000, model=shape.model)
    context.append(messages)

    sending = context.request()
    out = shown(sending)

    assert shape.faults(sending) == []
    out.encode()
    assert "\u0000" not in out
    if where != "call id":
        assert "\ufffd" in out or "\u2400" in out
    for segment in context.segments:
        context.removed(segment.address).encode()


@every_shape
def test_what_stands_for_a_result_names_a_tool_only_where_the_agent_has_it(shape):
    """SPL-06: a note, a nudge or a marker that sends the agent to a tool it lacks."""
    context = eth.Context(3_000, model=shape.model)
    context.append([shape.user("go"), *turn(shape, 0, words(9_000))])
    texts = [shown(context.request())]
    for number in range(1, 20):
        context.append(turn(shape, number, words(150)))
        texts.append(shown(context.request()))

    named = {
        name for name in ("read_spill", "release_context", "find_in_record") for text in texts if name in text
    }
    assert named == set()


def test_an_agent_that_has_the_tools_is_told_of_them():
    """SPL-06, the other side."""
    tools = [
        {"name": name, "input_schema": {"type": "object"}}
        for name in ("look", "read_spill", "release_context")
    ]
    context = eth.Context(3_000, model="claude-x", tools=tools)
    context.append([Anthropic.user("go"), *turn(Anthropic, 0, words(9_000))])
    texts = [shown(context.request())]
    for number in range(1, 20):
        context.append(turn(Anthropic, number, words(150)))
        texts.append(shown(context.request()))

    assert "read it with read_spill" in texts[0]
    assert any("release_context" in text for text in texts)


@every_shape
def test_a_store_that_fails_costs_nobody_a_result(shape):
    """SPL-06, its kind: the caller's own spill raises."""

    def broken(_tool, _text):
        raise OSError("no space left\non device")

    context = eth.Context(4_000, model=shape.model, spill=broken)
    context.append([shape.user("go"), *turn(shape, 1, "seen " + words(9_000))])

    sent, _ = ask(context)
    address = context.segments[-1].address

    assert address in sent[-1].text
    assert context.removed(address) == "seen " + words(9_000)
    assert context.segments.repairs == (f"spill failed, kept at {address}: OSError: no space left on device",)
