"""The thin functions over messages of any shape, and Context for an agent that runs elsewhere."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.messages import Message, ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.pairing import violations
from ethang_nb.context.timeline import Timeline
from ethang_nb.errors import BadMessage, BadWindow, Misuse, NoSuchAddress, Stuck, Unknown
from ethang_nb.formats.detect import to_messages
from tests.context.builders import picture
from tests.formats.wire_rules import anthropic_faults, openai_faults

WORDS = "word " * 60
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look at something.",
            "parameters": {"type": "object", "properties": {"what": {"type": "string"}}},
        },
    }
]


class Sdk:
    """A message as the official SDKs give it: an object with attributes and `model_dump`."""

    def __init__(self, **fields):
        self._fields = fields

    def model_dump(self, **_):
        return self._fields


def openai_turn(number, text):
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "look", "arguments": '{"what": "it"}'},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def anthropic_turn(number, text):
    return [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"c{number}", "name": "look", "input": {"what": "it"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": text}]},
    ]


def ethang_turn(number, text):
    return [
        assistant("", [ToolCall(id=f"c{number}", name="look", arguments='{"what": "it"}')]),
        tool(ToolResult(call_id=f"c{number}", name="look", text=text)),
    ]


MODELS = {openai_turn: "gpt-4o", anthropic_turn: "claude-x", ethang_turn: "gpt-4o"}
TURNS = {"openai": openai_turn, "anthropic": anthropic_turn, "ethang": ethang_turn}


def history(turn, count, size=1):
    first = user("Look around.") if turn is ethang_turn else {"role": "user", "content": "Look around."}
    return [first, *(message for n in range(count) for message in turn(n, f"seen {n} " + WORDS * size))]


@pytest.fixture(params=TURNS)
def turn(request):
    return TURNS[request.param]


# ---- functions


def test_segments_are_the_same_in_every_shape(turn):
    found = eth.segments(history(turn, 3))
    assert [(item.kind, item.droppable) for item in found] == [
        ("task", False),
        ("turn", True),
        ("turn", True),
        ("turn", False),
    ]
    assert found.repairs == ()
    alike = eth.segments(history(openai_turn, 3))
    assert all(abs(item.tokens - other.tokens) <= 1 for item, other in zip(found, alike, strict=True))
    assert all(item.reason for item in found)


def test_sdk_objects_are_read_like_their_dicts():
    plain = history(openai_turn, 2)
    assert [item.tokens for item in eth.segments([Sdk(**item) for item in plain])] == [
        item.tokens for item in eth.segments(plain)
    ]


def test_repairs_are_listed():
    messages = [*history(openai_turn, 1), {"role": "tool", "tool_call_id": "ghost", "content": "of nobody"}]
    (repair,) = eth.segments(messages).repairs
    assert "ghost" in repair


@pytest.mark.parametrize("count", [0, 1, 4, 9])
@pytest.mark.parametrize("policy", eth.policies)
def test_plan_and_budget_agree_on_the_fill(turn, count, policy):
    options = {
        "policy": policy,
        "system": "Be brief.",
        "project": "Net.",
        "tools": TOOLS,
        "pins": ["Never ever."],
    }
    messages = history(turn, count)
    plan, budget = eth.plan(messages, 2_000, **options), eth.budget(messages, 2_000, **options)
    assert plan.fill_before == budget.fill
    assert plan.before == budget.used
    assert {"system", "tools", "project"} <= {item.name for item in budget.slices if item.tokens}


def test_the_same_messages_give_the_same_plan(turn):
    first, second = eth.plan(history(turn, 9), 1_000), eth.plan(history(turn, 9), 1_000)
    assert first.outcome == "cleanup"
    assert first.digest == second.digest
    assert eth.plan(history(turn, 9), 1_100).digest != first.digest


def test_a_plan_changes_nothing_until_it_is_applied(turn):
    messages = history(turn, 9)
    copied = json.dumps(messages, default=str)
    eth.plan(messages, 1_000).apply()
    assert json.dumps(messages, default=str) == copied


@pytest.mark.parametrize("policy", eth.policies)
def test_an_applied_plan_fits_and_names_every_removed_text(turn, policy):
    messages = history(turn, 12)
    plan = eth.plan(messages, 1_000, policy=policy)
    applied = plan.apply()
    assert () == violations(applied.messages)
    counter = eth.counter()
    assert sum(message_tokens(message, counter) for message in applied.messages) <= plan.after <= 800
    assert applied.removed
    original = {f"log://{at}": message.text for at, message in enumerate(to_messages(messages))}
    for item in applied.removed:
        assert original[item.address] == item.text
    shown = "".join(message.text for message in applied.messages)
    gone = {f"seen {n} " for n in range(12) if f"seen {n} {WORDS}" not in shown}
    assert gone == {item.text.partition("word")[0] for item in applied.removed if item.text}


def test_an_applied_plan_takes_a_note_and_a_place_for_the_removed_texts(turn):
    messages = history(turn, 12)
    kept = {}

    def spill(source, text):
        kept[f"mine://{len(kept)}"] = (source, text)
        return f"mine://{len(kept) - 1}"

    plan = eth.plan(messages, 900, policy="pressure")
    applied = plan.apply(note="## Decisions\nWe take supplier B.", spill=spill)
    (note,) = [message for message in applied.messages if message.kind == "note"]
    assert "We take supplier B." in note.text
    assert "written by the caller" in note.text
    assert {item.address: item.text for item in applied.removed} == {
        ref: text for ref, (_, text) in kept.items()
    }
    (by_rule,) = [message for message in plan.apply().messages if message.kind == "note"]
    assert "written by rules" in by_rule.text


def test_a_plan_that_does_nothing_applies_to_what_stands(turn):
    messages = history(turn, 2)
    applied = eth.plan(messages, 9_000).apply()
    assert applied.messages == to_messages(messages)
    assert applied.removed == ()


def test_a_system_message_in_the_list_and_one_beside_it_are_one():
    inside = eth.budget([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "x"}], 2_000)
    beside = eth.budget([{"role": "user", "content": "x"}], 2_000, system="Be brief.")
    assert inside.used == beside.used


def test_no_messages_are_an_empty_context():
    assert eth.segments([]) == ()
    assert eth.budget([], 2_000).used == 0
    assert eth.plan([], 2_000).outcome == "nothing"
    assert eth.plan([], 2_000).apply().messages == ()


def test_a_message_too_large_for_the_window_is_planned_and_said_to_be_stuck():
    plan = eth.plan([{"role": "user", "content": "word " * 5_000}], 2_000)
    assert plan.outcome == "stuck"
    assert "task word word" in plan.reason
    assert eth.budget([{"role": "user", "content": "word " * 5_000}], 2_000).over > 0


def test_counters_say_how_they_count():
    assert (eth.counter("gpt-4o").how, eth.counter("claude-x").how, eth.counter().how) == (
        "exact",
        "estimated",
        "estimated",
    )
    assert eth.counter("reader").count("word word") == 2
    assert eth.budget([], 2_000, model="gpt-4o").how == "exact"
    assert eth.budget([], 2_000).how == "estimated"


def test_a_counter_of_the_callers_own_is_used():
    class Letters:
        name, how = "letters", "exact"

        def count(self, text):
            return len(text)

        def over(self, text, limit):
            return len(text) > limit

    found = eth.budget([{"role": "user", "content": "x" * 90}], 2_000, counter=Letters())
    assert found.used == 94


def test_windows_come_from_tokens_models_and_windows():
    assert eth.window(10_000).usable == 8_000
    assert eth.window(10_000, reserve=1_000, effective=5_000).usable == 5_000
    assert eth.window(10_000, max_input=3_000).hard == 3_000
    assert eth.window("reader").source == "stand-in default"
    ready = eth.window(9_000)
    assert eth.window(ready) is ready


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: eth.window("raeder"),
            BadWindow,
            "(unknown model 'raeder'; did you mean 'reader'?); give a number",
        ),
        (lambda: eth.window("gpt-99"), BadWindow, "the window of model 'gpt-99' is unknown"),
        (lambda: eth.window(0), BadWindow, "window 0 is too small; give at least 256 tokens"),
        (lambda: eth.window(True), BadWindow, "window True is neither a number of tokens nor a model id"),
        (lambda: eth.window(None), BadWindow, "window None is neither"),
        (lambda: eth.window(8_000.0), BadWindow, "window 8000.0 is neither"),
        (
            lambda: eth.window(8_000, reserve=9_000),
            BadWindow,
            "reserve 9,000 is not inside the window of 8,000",
        ),
        (
            lambda: eth.plan([], 2_000, policy="etang"),
            Unknown,
            "unknown policy 'etang'; did you mean 'ethang'?",
        ),
        (
            lambda: eth.plan("text", 2_000),
            BadMessage,
            "'text' is not a message: one of ethang_nb, or an OpenAI-",
        ),
        (lambda: eth.plan([7], 2_000), BadMessage, "message 0"),
        (
            lambda: eth.plan([{"role": "user", "content": "x"}, {"role": "robot"}], 2_000),
            BadMessage,
            "message 1",
        ),
        (lambda: eth.plan({"messages": []}, 2_000), BadMessage, "a whole request; pass its 'messages'"),
        (lambda: eth.plan([], 2_000, tools=[{"x": 1}]), BadMessage, "tool 0"),
        (lambda: eth.budget([], "claude-9"), BadWindow, "the window of model 'claude-9' is unknown"),
        (lambda: eth.Context(None), BadWindow, "window None"),
        (lambda: eth.Context(2_000, policy="x"), Unknown, "known: ethang, lean, pressure"),
    ],
)
def test_bad_input_is_one_line_with_value_and_next_step(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


# ---- Context


def loop(context, turn, count, size=1):
    """An agent's loop of five lines, its texts by address and the plans that it met."""
    (task, *_) = history(turn, 0)
    context.append(task)
    plans, removed = [], []
    for number in range(count):
        foretold = context.plan()
        removed += foretold.apply().removed
        sending = context.request()
        assert foretold.digest == sending.plan.digest
        plans.append(sending.plan)
        for message in turn(number, f"seen {number} " + WORDS * size):
            context.append(message)
        yield sending
    context.plans, context.gone = plans, removed


def size_of(context, sending):
    """Tokens of a sending by a count of our own, apart from the planner's."""
    counter = context._live.counter
    told = sum(message_tokens(message, counter) for message in to_messages(list(sending)))
    return told + (message_tokens(user(sending.system), counter) if sending.system else 0)


@pytest.mark.parametrize("policy", eth.policies)
@pytest.mark.parametrize("size", [1, 4, 40])
def test_a_loop_of_five_lines_stays_legal_and_inside_its_window(turn, policy, size):
    context = eth.Context(2_000, policy=policy, system="Be brief.", model=MODELS[turn])
    for sending in loop(context, turn, 40, size):
        assert size_of(context, sending) <= 1_600
        if turn is openai_turn:
            assert openai_faults(sending) == []
            assert sending[0] == {"role": "system", "content": sending[0]["content"]}
        elif turn is anthropic_turn:
            assert anthropic_faults([{"type": "text", "text": sending.system}], sending) == []
        else:
            assert () == violations(sending)
    assert sum(plan.lands for plan in context.plans) >= 3
    shown = "".join(message.text for message in to_messages(list(sending)))
    places = {item.address for item in context.gone if item.address}  # a nudge, which is ours, has none
    for number in range(39):
        marker = f"seen {number} "
        if marker not in shown:
            assert [place for place in places if context.removed(place).startswith(marker)], number


def test_every_address_gives_the_text_as_it_came():
    context = eth.Context(2_000, model="gpt-4o")
    whole = {}
    context.append(user("Look around."))
    for number in range(12):
        context.request()
        text = f"seen {number} " + "word " * (40 if number % 3 else 4_000)
        for message in ethang_turn(number, text):
            context.append(message)
        whole[context.segments[-1].address] = text
    assert len(whole) == 12
    for address, text in whole.items():
        assert context.removed(address) == text
        assert context.removed(f"{address}#L1") == text


def test_a_pin_by_hand_has_an_address_of_its_own():
    context = eth.Context(2_000, model="gpt-4o")
    context.append(user("Look around."))
    context.request()
    context.pin("Amounts are in EUR.")
    context.request()
    pinned = context.segments[-1].address
    context.append(assistant("I look."))
    assert context.removed(pinned) == "[pinned constraint] Amounts are in EUR."
    assert context.removed(context.segments[-1].address) == "I look."


@pytest.mark.parametrize("address", ["log://99", "log://-1", "log://x", "nonsense", "", "spill://00"])
def test_an_address_that_is_none_is_named(address):
    context = eth.Context(2_000)
    context.append(user("x"))
    with pytest.raises(NoSuchAddress, match=re.escape(repr(address))):
        context.removed(address)


def test_large_results_go_where_the_caller_wants_them():
    kept = []
    context = eth.Context(2_000, spill=lambda name, text: (kept.append((name, text)), "s3://bucket/1")[1])
    context.append(user("Look."))
    context.append(ethang_turn(1, "seen " + "word " * 4_000))
    assert kept == [("look", "seen " + "word " * 4_000)]
    assert "the whole text: s3://bucket/1" in context.request()[-1].text


def test_the_shape_follows_what_was_appended_last():
    context = eth.Context(4_000, system="Be brief.")
    assert isinstance(context.request()[0], Message)
    context.append({"role": "user", "content": "x"})
    assert context.request() == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "x"}]
    context.append(anthropic_turn(1, "seen"))
    sending = context.request()
    assert sending.system == "Be brief."
    assert [message["role"] for message in sending] == ["user", "assistant", "user"]
    context.append(Sdk(role="assistant", content="done"))
    assert context.request().system == "Be brief."


@pytest.mark.parametrize(
    ("options", "first", "shape"),
    [
        ({}, {"role": "user", "content": "x"}, "openai"),
        ({"model": "claude-x"}, {"role": "user", "content": "x"}, "anthropic"),
        ({"model": "claude-x"}, {"role": "developer", "content": "x"}, "openai"),
        ({"model": "claude-x"}, user("x"), "ethang"),
        (
            {"tools": [{"name": "look", "input_schema": {"type": "object"}}]},
            {"role": "user", "content": "x"},
            "anthropic",
        ),
        ({"tools": TOOLS}, {"role": "user", "content": "x"}, "openai"),
        ({}, [{"role": "user", "content": "x"}, *anthropic_turn(1, "y")], "anthropic"),
        ({"model": "claude-x"}, [{"role": "user", "content": "x"}, *openai_turn(1, "y")], "openai"),
    ],
)
def test_the_first_request_has_the_callers_shape_already(options, first, shape):
    """Where plain text could be of either, the model and the shape of the tools tell."""
    context = eth.Context(4_000, system="Be brief.", **options)
    context.append(first)
    sending = context.request()
    if shape == "anthropic":
        assert sending.system == "Be brief."
        assert anthropic_faults([], sending) == []
    elif shape == "openai":
        assert openai_faults(sending) == []
        assert sending[0]["role"] == "system"
    else:
        assert isinstance(sending[0], Message)


def test_a_list_is_appended_in_its_order_and_a_bad_one_not_at_all():
    context = eth.Context(4_000)
    context.append(history(openai_turn, 2))
    used = context.budget.used
    with pytest.raises(BadMessage, match="message 1"):
        context.append([{"role": "user", "content": "x"}, {"role": "robot", "content": "y"}])
    assert context.budget.used == used


def test_a_result_that_nobody_asked_for_is_left_out_and_said():
    """SEG-03: removed from what is sent, reported, no exception."""
    context = eth.Context(4_000)
    context.append(user("x"))
    context.append(
        [{"role": "tool", "tool_call_id": "ghost", "content": "y"}, {"role": "assistant", "content": "ok"}]
    )
    assert ["x", "ok"] == [item["content"] for item in context.request()]
    assert context.segments.repairs == (
        "message 1: the result of call 'ghost' removed, no call before it asked for it: 'y'",
    )


def test_of_a_list_with_a_message_that_can_never_be_sent_nothing_enters():
    context = eth.Context(1_000)
    with pytest.raises(Misuse, match="Shorten it"):
        context.append([{"role": "user", "content": "first"}, {"role": "user", "content": "word " * 5_000}])
    assert () == tuple(context.segments)
    with pytest.raises(Misuse, match="Shorten it"):
        context.append(
            [{"role": "system", "content": "word " * 500}, {"role": "user", "content": "word " * 400}]
        )
    assert () == tuple(context.segments)


def test_a_list_with_a_system_text_answers_the_call_that_waits():
    """It is tried on a copy first, which must not take the result away."""
    call, result = openai_turn(1, "seen")
    context = eth.Context(4_000)
    context.append([{"role": "user", "content": "t"}, call])
    context.append([{"role": "system", "content": "Be brief."}, result])
    assert "seen" == context.request()[-1]["content"]
    assert () == context.segments.repairs


def test_a_user_message_between_a_call_and_its_result_is_sent_behind_it():
    """RES-07."""
    call, result = openai_turn(1, "late")
    context = eth.Context(4_000)
    context.append([{"role": "user", "content": "t"}, call, {"role": "user", "content": "stop"}])
    assert openai_faults(context.request()) == []
    assert "no result was recorded" in json.dumps(context.request())
    context.append(result)
    sending = context.request()
    assert openai_faults(sending) == []
    assert [message["role"] for message in sending] == ["user", "assistant", "tool", "user"]
    assert sending[2]["content"] == "late"


def test_a_call_that_still_waits_is_answered_in_what_is_sent(turn):
    call, result = turn(1, "late")
    context = eth.Context(4_000, model=MODELS[turn])
    context.append([user("t"), call])
    assert () == violations(to_messages(list(context.request())))
    context.append(result)
    assert [message.text for message in to_messages(list(context.request()))][-1] == "late"


def test_pins_stay_word_for_word_until_they_are_lifted(turn):
    context = eth.Context(1_200, model="gpt-4o", pins=["Amounts are in EUR."])
    pin = context.pin("Never call before noon.")
    for _ in loop(context, turn, 24):
        pass
    assert sum(plan.lands for plan in context.plans) >= 2
    sent = json.dumps([context.request().system, [str(item) for item in context.request()]])
    assert "Amounts are in EUR." in sent
    assert "Never call before noon." in sent
    context.unpin(pin.id)
    context.compact()
    context.append(turn(99, WORDS * 4))
    context.request()
    sent = json.dumps([context.request().system, [str(item) for item in context.request()]])
    assert "Never call before noon." not in sent
    assert "Amounts are in EUR." in sent
    with pytest.raises(Misuse, match=rf"no pin {pin.id}; pins now: 1"):
        context.unpin(pin.id)


def test_compact_is_taken_at_the_next_request(turn):
    context = eth.Context(4_000, model="gpt-4o")
    for _ in loop(context, turn, 12, 2):
        pass
    context.compact()
    assert context.plan().asked
    sending = context.request()
    assert sending.plan.asked
    assert sending.plan.lands


def test_usage_calibrates_by_the_very_request_it_reports_on():
    context = eth.Context(10_000, model="claude-x")
    context.append(user(WORDS * 10))
    context.request()
    own = context.budget.used
    context.append(assistant("word " * 900))
    context.usage(own * 2)
    assert context._live.state.ratio == 2000
    assert context.budget.window.hard == 8_000
    assert context.budget.cleanup_at == 3_200


@pytest.mark.parametrize("report", [-1, 1.5, "9", None, True])
def test_usage_that_is_no_number_of_tokens_is_refused(report):
    context = eth.Context(4_000)
    context.append(user("x"))
    context.request()
    with pytest.raises(Misuse, match="no number of tokens"):
        context.usage(report)


def test_a_phantom_report_changes_no_limit():
    context = eth.Context(4_000)
    context.append(user("x"))
    context.request()
    context.usage(1_000_000)
    assert context._live.state.ratio == 1000


def test_usage_before_any_request_is_refused():
    with pytest.raises(Misuse, match="no request was made yet"):
        eth.Context(4_000).usage(9)


def test_a_note_of_the_callers_takes_the_place_of_the_one_by_rule(turn):
    context = eth.Context(900, model="gpt-4o", policy="pressure")
    with pytest.raises(Misuse, match="no handoff note is due"):
        context.note("too early")
    for sending in loop(context, turn, 12):
        if sending.plan.note_tokens:
            context.note("## Decisions\nWe take supplier B.")
            again = json.dumps([str(item) for item in context.request()])
            assert "We take supplier B." in again
            assert "written by the caller" in again
            break
    else:
        pytest.fail("no cleanup wrote a note")


def test_begin_makes_the_next_user_message_the_task():
    context = eth.Context(4_000)
    context.append([user("The first task."), assistant("done")])
    context.begin("second")
    context.append(user("The second task."))
    assert [item.title for item in context.segments if item.kind == "task"] == [
        "The first task.",
        "The second task.",
    ]


def test_what_cannot_fit_is_refused_where_it_comes_in_and_stuck_where_it_stands():
    context = eth.Context(1_000)
    with pytest.raises(Misuse, match="does not fit the 800 that can be sent"):
        context.append(user("word " * 2_000))
    context.append(user("Look."))
    context.append(assistant("word " * 2_000))
    with pytest.raises(Stuck, match=r"newest segment word word .* with 2,\d\d\d"):
        context.request()
    context.append(user("Go on."))
    assert context.request().plan.outcome == "cleanup"


def test_looking_at_a_context_changes_nothing(turn):
    def run(look):
        context = eth.Context(1_500, model="gpt-4o")
        sent = []
        for sending in loop(context, turn, 15):
            sent.append([str(item) for item in sending])
            if look:
                assert str(context)
                assert context._repr_html_()
                assert repr(context)
                for value in (context.segments, context.budget, context.plan(), context.snapshot):
                    assert str(value)
                    assert value._repr_html_()
        return sent, [plan.digest for plan in context.plans]

    assert run(look=False) == run(look=True)


# ---- anything at all


MARK = "⟦{}⟧"
SIZES = st.sampled_from([0, 1, 20, 90, 250, 700, 5_000])
EVENTS = st.one_of(
    st.tuples(st.just("user"), st.sampled_from([1, 20, 90, 200])),
    st.tuples(st.just("say"), st.sampled_from([1, 20, 90, 300])),
    st.tuples(st.just("calls"), st.lists(SIZES, min_size=1, max_size=4)),
    st.tuples(st.just("pin"), st.integers(1, 20)),
    st.tuples(st.just("unpin"), st.integers(1, 3)),
    st.tuples(st.just("usage"), st.sampled_from([50, 100, 130, 200, 900])),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("begin"), st.none()),
    st.tuples(st.just("note"), st.sampled_from([1, 50, 2_000])),
)


class Agent:
    """Somebody's agent over a Context, with a mark in every text so that none can be lost unseen."""

    def __init__(self, window, policy, shape):
        tools = [{"name": "look", "input_schema": {"type": "object"}}] if shape == "anthropic" else TOOLS
        self.context = eth.Context(window, policy=policy, system="Be brief.", tools=tools, model="gpt-4o")
        self.texts, self.addresses, self.calls, self.shape = {}, set(), 0, shape
        self._append("user", 5)

    def text(self, words):
        mark = MARK.format(len(self.texts))
        self.texts[mark] = f"{mark} " + "word " * words
        return self.texts[mark]

    def do(self, kind, value):
        context = self.context
        match kind:
            case "user" | "say":
                self._append(kind, value)
            case "calls":
                self._turn(value)
            case "pin" | "unpin" | "note" | "usage":
                act = {
                    "pin": lambda: context.pin(f"Always keep {value}."),
                    "unpin": lambda: context.unpin(value),
                    "note": lambda: context.note("word " * value),
                    "usage": lambda: context.usage(context.budget.used * value // 100),
                }[kind]
                with suppress(Misuse):
                    act()
            case "compact":
                context.compact()
            case "begin":
                known = len(context.snapshot.diffs)
                context.begin("next")
                if len(context.snapshot.diffs) > known:
                    self._start_from_core()

    def _start_from_core(self):
        """A reseed is no plan of a request: the cleanup it is shown as says what left, and where it can be read."""
        diff = self.context.snapshot.diffs[-1]
        assert "reseed" == diff.outcome
        for item in diff.left:
            if item.how != "remove":
                assert self.context.removed(item.address)
        for entry in self.context._live.entries.values():
            self.addresses |= set(filter(None, entry.addresses))

    def _append(self, kind, words):
        role = "assistant" if kind == "say" else "user"
        text = self.text(words)
        try:
            self.context.append({"role": role, "content": text})
        except Misuse:
            del self.texts[text.split(" ")[0]]

    def _turn(self, sizes):
        texts = [self.text(size) for size in sizes]
        ids = [f"c{self.calls + at}" for at in range(len(sizes))]
        self.calls += len(sizes)
        if self.shape == "anthropic":
            asked = [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids]
            told = [
                {"type": "tool_result", "tool_use_id": one, "content": text}
                for one, text in zip(ids, texts, strict=True)
            ]
            self.context.append([{"role": "assistant", "content": asked}, {"role": "user", "content": told}])
            return
        asked = [
            {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids
        ]
        self.context.append({"role": "assistant", "content": None, "tool_calls": asked})
        for one, text in zip(ids, texts, strict=True):
            self.context.append({"role": "tool", "tool_call_id": one, "content": text})

    def request(self):
        context = self.context
        foretold = context.plan()
        self.addresses |= {item.address for item in foretold.apply().removed if item.address}
        hard = context._live.state.hard
        if foretold.outcome == "stuck":
            with pytest.raises(Stuck, match="largest part that stays is the"):
                context.request()
            return
        sending = context.request()
        assert foretold.digest == sending.plan.digest
        if self.shape == "anthropic":
            faults = anthropic_faults([{"type": "text", "text": sending.system}], sending)
        else:
            faults = openai_faults(sending)
        assert faults == []
        assert size_of(context, sending) + context.budget.slice("tools").tokens <= hard
        self.check_texts(sending)

    def check_texts(self, sending):
        """Each text is sent whole, or can be read again where the window or a plan said so."""
        shown = "\n".join([sending.system, *(message.text for message in to_messages(list(sending)))])
        places = self.addresses | set(re.findall(r"log://\d+", shown))
        found = {place: self.context.removed(place) for place in places}
        readable = set(found.values())
        for text in self.texts.values():
            assert text.rstrip() in shown or any(text in whole for whole in readable), text[:20]


@settings(max_examples=60, deadline=None)
@given(
    events=st.lists(st.lists(EVENTS, max_size=4), min_size=1, max_size=14),
    window=st.sampled_from([700, 1_500, 4_000]),
    policy=st.sampled_from(sorted(eth.policies)),
    shape=st.sampled_from(["openai", "anthropic"]),
)
def test_whatever_comes_is_legal_fits_or_is_stuck_and_nothing_is_lost_unseen(events, window, policy, shape):
    agent = Agent(window, policy, shape)
    for step in events:
        for kind, value in step:
            agent.do(kind, value)
        agent.request()


@settings(max_examples=15, deadline=None)
@given(
    events=st.lists(st.lists(EVENTS, max_size=3), min_size=1, max_size=8),
    policy=st.sampled_from(sorted(eth.policies)),
)
def test_the_same_events_give_the_same_requests(events, policy):
    sent = []
    for _ in range(2):
        agent = Agent(1_500, policy, "openai")
        for step in events:
            for kind, value in step:
                agent.do(kind, value)
            agent.request()
        sent.append([list(agent.context._live.assemble()), picture(agent.context._live.state)])
    assert sent[0] == sent[1]


@settings(max_examples=25, deadline=None)
@given(
    events=st.lists(st.lists(EVENTS, max_size=4), min_size=1, max_size=10),
    policy=st.sampled_from(sorted(eth.policies)),
)
def test_after_a_landing_the_next_request_plans_nothing(events, policy):
    """No loops, no tiny trims: with no new message there is nothing to do."""
    agent = Agent(1_500, policy, "openai")
    for step in events:
        for kind, value in step:
            agent.do(kind, value)
        agent.request()
        last = agent.context._chronicle.last
        if last.lands:
            assert agent.context.plan().outcome in ("nothing", "nudge", "idle")


def test_pins_that_take_over_a_tenth_of_what_is_usable_are_said_in_a_context_too():
    context = eth.Context(1_000, model="gpt-4o")
    context.append({"role": "user", "content": "go"})
    context.pin("keep " + "this " * 100 + "rule")
    context.request()
    assert [True] == ["which of them may be lifted?" in notice for notice in context.snapshot.notices]
    context.unpin(1)
    assert () == context.snapshot.notices


# ---- what was sent, what is watched, what stands


@settings(max_examples=25, deadline=None)
@given(
    events=st.lists(st.lists(EVENTS, max_size=4), min_size=1, max_size=10),
    policy=st.sampled_from(sorted(eth.policies)),
    shape=st.sampled_from(["openai", "anthropic"]),
)
def test_every_request_can_be_given_once_more_whatever_came_after_it(events, policy, shape):
    agent, sent = Agent(1_500, policy, shape), {}
    context = agent.context
    for step in events:
        for kind, value in step:
            agent.do(kind, value)
        with suppress(Stuck):
            sending = context.request()
            sent[context.snapshot.step] = json.dumps([sending.system, list(sending)])
    for step, given_then in sent.items():
        again = context.as_sent(step)
        assert given_then == json.dumps([again.system, list(again)])


def test_a_request_in_the_middle_of_a_turn_comes_back_without_the_results_that_came_later():
    context = eth.Context(4_000)
    asked, told = openai_turn(1, "the first")
    context.append([user("Look."), asked])
    sent = json.dumps(list(context.request()))
    context.append(told)
    assert sent == json.dumps(list(context.as_sent(1)))
    assert sent != json.dumps(list(context.request()))


def test_a_request_between_results_that_came_out_of_order_comes_back_as_it_was():
    context = eth.Context(4_000)
    calls = [
        {"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ("a", "b")
    ]
    context.append([user("Look."), {"role": "assistant", "content": None, "tool_calls": calls}])
    context.append({"role": "tool", "tool_call_id": "b", "content": "the second"})
    sent = json.dumps(list(context.request()))
    context.append({"role": "tool", "tool_call_id": "a", "content": "the first"})
    assert sent == json.dumps(list(context.as_sent(1)))


@pytest.mark.parametrize("step", [0, 3, -1, "1", None])
def test_a_step_that_was_not_is_one_line_with_those_that_were(step):
    context = eth.Context(4_000)
    with pytest.raises(NoSuchAddress, match="no request was made yet"):
        context.as_sent(1)
    context.append(user("Look."))
    context.request(), context.request()
    with pytest.raises(NoSuchAddress, match="there are steps 1 to 2"):
        context.as_sent(step)


def test_a_watcher_of_a_context_is_told_of_every_change_and_of_none_that_was_refused():
    context = eth.Context(4_000)
    told = []
    leave = context.watch(told.append)
    context.append(user("Never stop. Look."))
    context.request()
    context.usage(100)
    context.append(assistant("done"))
    context.pin("Keep it.")
    context.unpin(1)
    context.compact()
    context.request()
    context.begin("more")
    context.cool()
    context.reseed()
    assert told == [
        "message", "request", "usage", "message", "pin", "unpin", "compact", "request", "begin", "cool", "reseed",
    ]  # fmt: skip
    told.clear()
    with pytest.raises(Misuse):
        context.unpin(99)
    with pytest.raises(BadMessage):
        context.append({"role": "nobody"})
    leave()
    leave()
    context.append(user("More."))
    assert [] == told


def test_a_watcher_that_fails_is_dropped_said_and_breaks_nothing():
    context = eth.Context(4_000)

    def broken(_):
        raise ZeroDivisionError("of the watcher")

    context.watch(broken)
    context.append(user("Look."))
    assert len(context.request()) == 1
    assert [line for line in context.snapshot.notices if "ZeroDivisionError: of the watcher" in line]


def test_a_request_that_is_stuck_is_told_too():
    context, told = eth.Context(600, policy="trim"), []
    context.append(user("word " * 300))
    context.watch(told.append)
    context.append(assistant("word " * 250))
    with pytest.raises(Stuck):
        context.request()
    assert told == ["message", "request"]


@pytest.mark.parametrize("turn", [openai_turn, anthropic_turn])
def test_messages_that_stand_are_shown_as_they_are_with_the_fill_of_each_request(turn):
    messages = [{"role": "user", "content": "Look at all."}]
    for number in range(6):
        messages += turn(number, WORDS * 8)
    context = eth.Context.of(messages, 3_000)
    assert context.standing
    assert eth.budget(messages, 3_000).fill == context.budget.fill > 1_000
    assert [(item.title, item.tokens) for item in eth.segments(messages, 3_000)] == [
        (item.title, item.tokens) for item in context.segments
    ]
    fills = [row.fill for row in context.snapshot.timeline]
    assert fills == sorted(fills)
    assert len(fills) == 6
    assert context.snapshot.diffs == ()
    assert len(context.as_sent(2)) == 3
    assert "Look at all." in context.removed("log://0")


def test_what_could_never_be_sent_stands_all_the_same():
    context = eth.Context.of([user("word " * 5_000)], 1_000)
    assert context.budget.over > 0


def test_a_context_can_be_told_once_more_under_other_settings():
    """With its pins by hand, its pieces of work, and the numbers that its messages have."""
    context = eth.Context(3_000, pins=["Be kind."])
    begins = []
    for work in range(3):
        context.begin(f"work {work}")
        begins.append(len(context.segments))
        context.append({"role": "user", "content": f"Task {work}. Look at all."})
        for number in range(3):
            asked, told = openai_turn(10 * work + number, f"ORD-{work}{number} " + WORDS * 6)
            context.request()
            context.append(asked)
            if number == 1:
                context.pin(f"Keep ORD-{work} for good.")
            context.append(told)
        context.request()
        context.append({"role": "assistant", "content": "done"})
    told = context.retold()
    assert len(told.begins) == 3
    assert [pin.text for pin in told.pins] == ["Be kind."]
    messages = [
        message
        for entry in (context.live.entries[number] for number in range(context.live.state.next_row))
        for message in entry.messages
    ]
    assert list(told.messages) == messages
    timeline = Timeline(told.tape(told.settings), told.settings, told.tape)
    own = context.live.entries
    again = timeline._tape.context.entries
    assert [own[number].addresses for number in sorted(own) if number >= 0] == [
        again[number].addresses for number in sorted(again)
    ]
    assert timeline.move(window=100_000).count("cleanup") == 0


def test_a_name_that_would_turn_its_repr_around_stands_as_an_escape():
    assert "Context(a\\u202eb: 0 of 6,400 usable tokens)" == repr(eth.Context(8_000, name="a\u202eb"))
