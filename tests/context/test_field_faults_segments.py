"""What broke other people's histories: each case of `field_faults` in the area of segments, and its whole kind.

A docstring names the case. Inputs go through the public functions, in every shape a caller may have.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context.messages import Message, Text, Thinking, ToolCall, ToolResult, tool
from ethang_nb.context.pairing import LOST, violations
from ethang_nb.formats import anthropic, openai
from ethang_nb.formats.detect import to_messages
from ethang_nb.formats.sending import Sending
from ethang_nb.providers.protocol import Reply
from tests.agent import stage
from tests.context.shapes import (
    PNG,
    SHAPES,
    SIGNATURE,
    Anthropic,
    OpenAI,
    every_shape,
    read_back,
    shown,
    turn,
)

every_policy = pytest.mark.parametrize("policy", eth.policies)
WORDS = "word " * 60


def sent(messages, window=200_000, **options):
    """What would be sent of these messages as they stand."""
    return eth.plan(messages, window, **options).apply().messages


def fed(messages, shape, window=200_000, **options):
    """A context that was given the messages one by one."""
    context = eth.Context(window, model=shape.model, **options)
    for message in messages:
        context.append(message)
    return context


# ---- results without their call, calls without their result


@every_shape
@pytest.mark.parametrize("kept", range(1, 6))
def test_a_cut_between_a_call_and_its_result_leaves_no_orphan(shape, kept):
    """SEG-01, and every other place where a caller may cut."""
    whole = [shape.user("t"), *turn(shape, 1, "r1"), shape.user("next"), shape.say("ok")]
    cut = whole[-kept:]

    segments = eth.segments(cut)
    messages = sent(cut)

    assert violations(messages) == ()
    assert next((message.role for message in messages if message.role != "system"), "") != "tool"
    assert len([message for message in messages if message.results]) == (kept >= 4)
    assert len(segments.repairs) == (kept == 3)
    if kept == 3:
        assert "'r1'" in segments.repairs[0]


@every_shape
@every_policy
@pytest.mark.parametrize("window", [700, 900, 1_200, 2_000])
def test_no_policy_cuts_between_a_call_and_its_result(shape, policy, window):
    """SEG-01, where the cut is ours: both stay or both go."""
    messages = [shape.user("t")]
    for number in range(9):
        messages += [shape.user(f"q{number} {WORDS}"), *turn(shape, number, f"r{number} {WORDS}")]

    applied = sent(messages, window, policy=policy, model="gpt-4o")

    assert violations(applied) == ()
    calls = [call.id for message in applied for call in message.calls]
    results = [result.call_id for message in applied for result in message.results]
    assert calls == results


@every_shape
def test_results_nobody_asked_for_are_removed_and_named_and_the_pair_stays(shape):
    """SEG-03."""
    messages = [
        shape.user("t"),
        shape.asks("a"),
        *shape.answers(("a", "ok"), ("zzz", "stray")),
        *shape.answers(("yyy", "stray2")),
        shape.say("done"),
    ]

    segments = eth.segments(messages)

    assert [item.kind for item in segments] == ["task", "turn", "assistant"]
    first, second = (2, 3) if shape is Anthropic else (3, 4)
    assert segments.repairs == (
        f"message {first}: the result of call 'zzz' removed, no call before it asked for it: 'stray'",
        f"message {second}: the result of call 'yyy' removed, no call before it asked for it: 'stray2'",
    )
    assert [message.text for message in sent(messages)] == ["t", "", "ok", "done"]


@every_shape
@pytest.mark.parametrize("place", ["first", "before the call", "beside the pair", "between", "last"])
def test_a_result_nobody_asked_for_is_named_wherever_it_stands(shape, place):
    """SEG-03, its kind; a lone tool message at the start among them."""
    stray = shape.answers(("zzz", "stray"))
    head, asked, answered, tail = (
        [shape.user("t")],
        [shape.asks("a")],
        shape.answers(("a", "ok")),
        [shape.say("x")],
    )
    parts = [head, asked, answered, tail]
    at = ["first", "before the call", "between", "beside the pair", "last"].index(place)
    messages = [message for part in [*parts[:at], stray, *parts[at:]] for message in part]

    context = fed(messages, shape)

    assert [message.text for message in sent(messages)] == ["t", "", "ok", "x"]
    for repairs in (eth.segments(messages).repairs, context.segments.repairs):
        assert [line for line in repairs if "'zzz'" in line and "'stray'" in line]
    assert shape.faults(context.request()) == []
    assert "stray" not in shown(context.request())


@every_shape
@pytest.mark.parametrize("known", [(), ("a",), ("b",), ("a", "c"), ("c", "b")])
def test_a_turn_with_results_missing_is_marked_incomplete_and_each_gap_says_so(shape, known):
    """SEG-06: three calls, some results, in any order."""
    pairs = [(one, f"real {one}") for one in known]
    messages = [shape.user("t"), shape.asks("a", "b", "c"), *shape.answers(*pairs), shape.user("go on")]

    segments = eth.segments(messages)
    results = [result for message in sent(messages) for result in message.results]

    assert [item.incomplete for item in segments] == [False, True, False]
    assert [result.call_id for result in results] == ["a", "b", "c"]
    for result in results:
        real = result.call_id in known
        assert (result.text, result.error) == ((f"real {result.call_id}", False) if real else (LOST, True))
    gaps = [line for line in segments.repairs if "has no result" in line]
    assert len(gaps) == 3 - len(known)


@every_shape
def test_a_complete_turn_is_not_called_incomplete_whatever_its_results_say(shape):
    """SEG-06, the other side: an error, an empty result, a result of our own words."""
    for text in ("", "error", LOST):
        assert not eth.segments([shape.user("t"), *turn(shape, 1, text)])[1].incomplete


@every_shape
def test_a_live_context_calls_a_turn_incomplete_until_its_results_are_in(shape):
    """SEG-06, RES-06: the call that a killed process left open is answered in each request, and once."""
    context = fed([shape.user("t"), shape.asks("a", "b")], shape)
    for _ in range(2):
        assert shape.faults(context.request()) == []
        assert shown(context.request()).count(LOST) == 2
        assert context.segments[-1].incomplete
    context.append(shape.answers(("b", "late b")))
    context.append(shape.answers(("a", "late a")))
    sending = context.request()

    assert not context.segments[-1].incomplete
    assert [result.text for message in read_back(sending) for result in message.results] == [
        "late a",
        "late b",
    ]
    assert LOST not in shown(sending)


@every_shape
@pytest.mark.parametrize("between", ["nothing", "a user message", "an assistant message"])
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_there_is_one_result_a_call_and_no_placeholder_beside_a_real_one(shape, between, order):
    """SEG-07, RES-07: the whole run is looked at before a gap is filled."""
    words = {"nothing": [], "a user message": [shape.user("stop")], "an assistant message": [shape.say("hm")]}
    first, second = (shape.answers((one, f"real {one}")) for one in order)
    messages = [shape.user("t"), shape.asks("a", "b"), *first, *words[between], *second, shape.say("fin")]

    for read in (sent(messages), read_back(fed(messages, shape).request())):
        results = [(result.call_id, result.text) for message in read for result in message.results]
        assert results == [("a", "real a"), ("b", "real b")]
    sending = fed(messages, shape).request()
    assert shape.faults(sending) == []
    assert LOST not in shown(sending)
    assert [message.text for message in read_back(sending)][-1].endswith("fin")


@every_shape
@pytest.mark.parametrize("times", [2, 3])
def test_of_several_results_for_one_call_the_first_stays_and_the_others_are_named(shape, times):
    """SEG-07, its kind: results twice."""
    answers = [message for n in range(times) for message in shape.answers(("a", f"number {n}"))]
    messages = [shape.user("t"), shape.asks("a"), *answers, shape.say("fin")]

    context = fed(messages, shape)

    assert [message.text for message in sent(messages)] == ["t", "", "number 0", "fin"]
    assert shape.faults(context.request()) == []
    for repairs in (eth.segments(messages).repairs, context.segments.repairs):
        named = [line for line in repairs if "its call has a result already" in line]
        assert [f"'number {n}'" in line for n, line in enumerate(named, 1)] == [True] * (times - 1)


# ---- ids


@every_shape
@pytest.mark.parametrize("turns", [2, 3])
def test_an_id_used_again_pairs_turn_by_turn_and_is_unique_when_sent(shape, turns):
    """SEG-09: the id is the tool's name in every turn."""
    messages = [shape.user("t")]
    for number in range(turns):
        messages += [shape.asks("http"), *shape.answers(("http", f"result {number}"))]
    messages.append(shape.say("end"))

    segments = eth.segments(messages)
    sending = fed(messages, shape).request()

    assert [item.kind for item in segments] == ["task", *["turn"] * turns, "assistant"]
    assert [item.messages[1].text for item in segments[1:-1]] == [f"result {n}" for n in range(turns)]
    assert segments.repairs == ()
    assert shape.faults(sending) == []
    assert [m.text for m in read_back(sending) if m.results] == [f"result {n}" for n in range(turns)]


@every_shape
def test_a_reused_id_whose_first_result_is_late_goes_to_the_nearest_open_call(shape):
    """SEG-09: no global map from id to result."""
    messages = [
        shape.user("t"),
        shape.asks("x"),
        shape.user("again"),
        shape.asks("x"),
        *shape.answers(("x", "two")),
    ]

    for read in (sent(messages), read_back(fed(messages, shape).request())):
        assert [message.text for message in read if message.results] == [LOST, "two"]


@every_shape
@pytest.mark.parametrize("ids", [("a", "a"), ("a", "a", "b"), ("", ""), ("a", "a_2", "a"), ("a", "a", "a")])
def test_an_id_that_comes_twice_in_a_turn_costs_no_result(shape, ids):
    """SEG-09, its kind: also where call and results are appended one by one."""
    pairs = [(one, f"result {n}") for n, one in enumerate(ids)]
    messages = [shape.user("t"), shape.asks(*ids), *shape.answers(*pairs), shape.say("end")]
    if shape is not Anthropic:
        assert len(messages) == 3 + len(ids)

    sending = fed(messages, shape).request()

    assert shape.faults(sending) == []
    for read in (sent(messages), read_back(sending)):
        assert [message.text for message in read if message.results] == [text for _, text in pairs]


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("one", ["x" * 90, "functions.look:0", "é" * 50, "call|1", " "])
def test_an_id_of_another_provider_is_legal_where_it_is_sent(wire, one):
    """SEG-09, its kind: ids that only their own provider takes."""
    other = {"openai": Anthropic, "anthropic": OpenAI}[wire]
    history = to_messages(
        [other.user("t"), other.asks(one, one + "b"), *other.answers((one + "b", "2"), (one, "1"))]
    )

    if wire == "openai":
        assert SHAPES["openai"].faults(openai.to_wire(history)) == []
    else:
        made = anthropic.to_wire(history)
        assert SHAPES["anthropic"].faults(eth_sending(made)) == []


def eth_sending(wire):
    return Sending(wire.messages, system="\n\n".join(block["text"] for block in wire.system))


# ---- parallel calls


def test_parallel_results_are_one_segment_and_one_user_message_for_anthropic():
    """SEG-04."""
    messages = [OpenAI.user("t"), OpenAI.asks("a", "b"), *OpenAI.answers(("a", "1"), ("b", "2"))]

    segments = eth.segments(messages)
    wire = anthropic.to_wire(sent(messages))

    assert len(segments) == 2
    assert [message.role for message in segments[1].messages] == ["assistant", "tool", "tool"]
    assert [message["role"] for message in wire.messages] == ["user", "assistant", "user"]
    assert [(b["tool_use_id"], b["content"]) for b in wire.messages[2]["content"]] == [("a", "1"), ("b", "2")]


@every_shape
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("words", [False, True])
def test_parallel_results_stand_in_call_order_before_any_text_in_both_wires(shape, order, words):
    """SEG-04, its kind: several results, out of order, with the person's words behind them."""
    pairs = [("abc"[n], f"result {n}") for n in order]
    messages = [shape.user("t"), shape.asks("a", "b", "c"), *shape.answers(*pairs)]
    messages += [shape.user("go on")] if words else []

    history = sent(messages)

    for faults in (
        SHAPES["openai"].faults(openai.to_wire(history)),
        SHAPES["anthropic"].faults(eth_sending(anthropic.to_wire(history))),
    ):
        assert faults == []
    last = anthropic.to_wire(history).messages[-1]["content"]
    assert [block.get("content") or block["text"] for block in last] == [
        "result 0", "result 1", "result 2", *(["go on"] if words else []),
    ]  # fmt: skip
    assert len(eth.segments(messages)) == 2 + words


def test_one_anthropic_message_may_mix_results_words_and_images():
    """SEG-04, its kind: text before and between the results, an image behind them."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    mixed = {
        "role": "user",
        "content": [
            {"type": "text", "text": "before"},
            *Anthropic.answers(("b", "2"))[0]["content"],
            {"type": "text", "text": "between"},
            *Anthropic.answers(("a", "1"))[0]["content"],
            picture,
        ],
    }
    messages = [Anthropic.user("t"), Anthropic.asks("a", "b"), mixed]

    for sending in (eth_sending(anthropic.to_wire(sent(messages))), fed(messages, Anthropic).request()):
        assert Anthropic.faults(sending) == []
        kinds = [block["type"] for block in sending[2]["content"]]
        assert kinds == ["tool_result", "tool_result", "text", "text", "image"]
        assert [block["text"] for block in sending[2]["content"] if block["type"] == "text"] == [
            "before",
            "between",
        ]


# ---- empty and null


def test_an_empty_text_beside_a_call_is_left_out_of_the_request_and_stays_in_what_was_read():
    """SEG-10."""
    messages = [
        Anthropic.user("t"),
        {**Anthropic.asks("a"), "content": [{"type": "text", "text": ""}, *Anthropic.asks("a")["content"]]},
        *Anthropic.answers(("a", "ok")),
    ]
    before = json.dumps(messages)
    context = fed(messages, Anthropic)

    assert context.request()[1]["content"] == Anthropic.asks("a")["content"]
    assert [part.text for part in to_messages(messages)[1].parts if isinstance(part, Text)] == [""]
    assert json.dumps(messages) == before
    for repairs in (eth.segments(messages).repairs, context.segments.repairs):
        assert repairs == ("message 1: an empty text of the assistant message left out",)


EMPTIES = {
    "empty text": "",
    "null": None,
    "no blocks": [],
    "an empty block": [{"type": "text", "text": ""}],
    "two empty blocks": [{"type": "text", "text": ""}, {"type": "text", "text": ""}],
}


@pytest.mark.parametrize("content", EMPTIES.values(), ids=EMPTIES)
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("shape", [OpenAI, Anthropic], ids=["openai", "anthropic"])
def test_a_message_with_nothing_in_it_is_never_sent_and_always_named(shape, role, content):
    """SEG-10, its kind."""
    messages = [shape.user("t"), shape.say("a"), {"role": role, "content": content}, shape.user("q")]

    context = fed(messages, shape)
    sending = context.request()

    assert shape.faults(sending) == []
    assert [text for message in read_back(sending) for text in message.text.split("\n")] == ["t", "a", "q"]
    for repairs in (eth.segments(messages).repairs, context.segments.repairs):
        assert f"message 2: the {role} message removed: nothing is in it" in repairs
    assert context.budget.used == eth.budget(messages, 200_000, model=shape.model).used


@pytest.mark.parametrize("text", [" ", "\n", "\t \n"])
def test_white_space_is_kept_where_the_format_takes_it_and_named_where_it_does_not(text):
    """SEG-10, its kind: Anthropic refuses a text of white space alone."""
    plain, blocks = (
        fed([shape.user("t"), shape.say(text), shape.user("q")], shape) for shape in (OpenAI, Anthropic)
    )

    assert [message["content"] for message in plain.request()] == ["t", text, "q"]
    assert plain.segments.repairs == ()
    assert [message["role"] for message in blocks.request()] == ["user"]
    assert (
        "in the request, message 1: the assistant message not sent: nothing of it is left"
        in blocks.segments.repairs
    )


@pytest.mark.parametrize("content", [{"content": None}, {"content": ""}, {}])
def test_null_content_beside_calls_is_no_word_and_no_repair(content):
    """IMP-04, IMP-07: OpenAI's `content: null`; the old function pair is one turn."""
    call = OpenAI.asks("a")["tool_calls"]
    old = {"role": "assistant", "function_call": {"name": "look", "arguments": "{}"}, **content}
    messages = [
        OpenAI.user("t"),
        {"role": "assistant", "tool_calls": call, **content},
        *OpenAI.answers(("a", "r")),
        old,
        {"role": "function", "name": "look", "content": "r2"},
        {"role": "assistant", "refusal": "no", "content": None},
    ]

    segments = eth.segments(messages)
    sending = fed(messages, OpenAI).request()

    assert [item.kind for item in segments] == ["task", "turn", "turn", "assistant"]
    assert segments.repairs == ()
    assert OpenAI.faults(sending) == []
    assert "None" not in shown(sending)
    assert sending[-1]["content"] == [{"type": "refusal", "refusal": "no"}]


# ---- thinking


@every_shape
@every_policy
@pytest.mark.parametrize("window", [600, 900, 1_500, 9_000])
def test_thinking_call_and_result_go_or_stay_together_byte_for_byte(shape, policy, window):
    """SEG-12: in every policy and under every pressure."""
    messages = [shape.user("t")]
    for number in range(8):
        messages += turn(shape, number, f"r{number} {WORDS}", thinking=f" p{number}\n\u2028")
    messages += [shape.say("done"), shape.user("more")]

    applied = sent(messages, window, policy=policy, model="gpt-4o")

    assert violations(applied) == ()
    for message in applied:
        if message.calls:
            number = message.calls[0].id.removeprefix("c")
            assert message.parts[0] == Thinking(text=f" p{number}\n\u2028", signature=SIGNATURE)
    assert sum(bool(message.calls) for message in applied) == sum(
        isinstance(part, Thinking) for message in applied for part in message.parts
    )


def test_signed_thinking_is_sent_byte_for_byte_through_a_live_context():
    """SEG-12, and redacted thinking beside it."""
    asked = Anthropic.asks("a", thinking=" p\n\u2028")
    asked["content"].insert(1, {"type": "redacted_thinking", "data": "b3Bh+/=="})
    messages = [Anthropic.user("t"), asked, *Anthropic.answers(("a", "ok"))]

    assert fed(messages, Anthropic).request()[1] == asked


@every_shape
@pytest.mark.parametrize("place", ["middle", "before the answer", "last"])
def test_thinking_alone_is_not_sent_and_is_named_by_its_words(shape, place):
    """SEG-12: the call was cut out of its turn and the signed thinking stayed."""
    alone = shape.say("", thinking="stale thought")
    if isinstance(alone, Message):
        alone = replace(alone, parts=alone.parts[:1])
    else:
        alone["content"] = alone["content"][:1] if shape is Anthropic else None
    around = {
        "middle": [shape.user("t"), alone, shape.user("more")],
        "before the answer": [shape.user("t"), alone, shape.say("done")],
        "last": [shape.user("t"), shape.say("done"), shape.user("q"), alone],
    }
    messages = around[place]

    context = fed(messages, shape)
    sending = context.request()

    assert shape.faults(sending) == []
    assert "stale thought" not in shown(sending)
    at = messages.index(alone)
    for repairs in (eth.segments(messages).repairs, context.segments.repairs):
        assert repairs == (
            f"message {at}: the assistant message removed: it held thinking alone: 'stale thought'",
        )
    assert context.budget.used == eth.budget(messages, 200_000, model=shape.model).used


def test_thinking_that_a_shape_cannot_hold_is_named():
    """SEG-12, its kind: what stands in the window and is not sent."""
    unsigned = Anthropic.say("yes", thinking="p")
    unsigned["content"][0]["signature"] = ""
    context = fed([Anthropic.user("t"), unsigned], Anthropic)
    context.request()
    plain = fed([OpenAI.user("t"), {**OpenAI.say("yes"), "reasoning_content": "p"}], OpenAI)
    plain.request()

    assert context.segments.repairs == (
        "in the request, message 1: thinking without a signature not sent: 'p'",
    )
    assert plain.segments.repairs == (
        "in the request, message 1: its thinking is not sent: Chat Completions has no place for it",
    )
    assert plain.snapshot.segments.repairs == plain.segments.repairs


# ---- roles and images


def test_neighbours_of_one_role_are_sent_unchanged_and_joined_only_where_asked():
    """SEG-13."""
    roles = ["system", "user", "user", "assistant", "assistant", "user"]
    texts = ["s", "first", "second", "a", "b", "q"]
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    before = json.dumps(messages)

    history = sent(messages)

    assert eth.segments(messages).repairs == ()
    assert [message["content"] for message in openai.to_wire(history)] == texts
    strict = openai.to_wire(history, strict_alternation=True)
    assert [message["content"] for message in strict] == ["s", "first\n\nsecond", "a\n\nb", "q"]
    assert json.dumps(messages) == before
    assert [item.kind for item in eth.segments(messages)[1:]] == [
        "task",
        "user",
        "assistant",
        "assistant",
        "user",
    ]


@every_shape
@pytest.mark.parametrize("roles", ["uu", "uuu", "uau", "uaau", "auau", "aa"])
def test_roles_may_come_in_any_order_and_each_wire_is_legal(shape, roles):
    """SEG-13, its kind: consecutive roles, an assistant that begins."""
    messages = [shape.user(f"u{n}") if role == "u" else shape.say(f"a{n}") for n, role in enumerate(roles)]

    context = fed(messages, shape)
    sending = context.request()

    assert shape.faults(sending) == []
    assert context.segments.repairs == ()
    texts = [text for message in read_back(sending) for text in message.text.split("\n")]
    assert [text for text in texts if not text.startswith("[")] == [
        f"{role}{n}" for n, role in enumerate(roles)
    ]
    joined = openai.to_wire(sent(messages), strict_alternation=True)
    assert all(one["role"] != other["role"] for one, other in pairwise(joined))


@every_shape
@pytest.mark.parametrize("where", ["user", "result"])
@pytest.mark.parametrize("count", [1, 3])
def test_images_are_kept_counted_and_sent(shape, where, count):
    """Images in a person's message and in a tool result."""
    if where == "user":
        messages = [shape.user("t"), shape.say("a"), shape.user("see", images=count)]
    else:
        messages = [
            shape.user("t"),
            shape.asks("a"),
            *shape.answers(("a", "see"), images=count),
            shape.user("q"),
        ]

    budget = eth.budget(messages, 200_000)
    context = fed(messages, shape)
    sending = context.request()

    assert budget.slice("images").count == count
    assert budget.used > 1_000 * count
    assert context.budget.slice("images").count == count
    assert shape.faults(sending) == []
    assert shown(sending).count(PNG) == count
    assert eth.segments(messages).repairs == context.segments.repairs == ()


@every_shape
def test_an_image_alone_is_a_message(shape):
    """No text beside it; nothing is called empty."""
    if shape is SHAPES["ethang"]:
        message = replace(shape.user("x", images=1), parts=shape.user("x", images=1).parts[1:])
    else:
        message = shape.user("x", images=1)
        message["content"] = message["content"][1:]
    context = fed([shape.user("t"), shape.say("a"), message], shape)

    assert shown(context.request()).count(PNG) == 1
    assert context.segments.repairs == ()


@pytest.mark.parametrize("field", ["images", "files"])
def test_a_field_nobody_reads_is_named(field):
    """Ollama's `images`, a framework's `files`: what was not read is said, not lost."""
    messages = [OpenAI.user("t"), {**OpenAI.user("see"), field: [PNG]}]

    for repairs in (eth.segments(messages).repairs, fed(messages, OpenAI).segments.repairs):
        assert repairs == (f"message 1: its field {field!r} is not read",)


# ---- the person's messages


@every_shape
def test_a_message_between_a_call_and_its_result_follows_the_result(shape):
    """RES-07."""
    messages = [
        shape.user("t"),
        shape.asks("a"),
        shape.user("stop, do this instead"),
        *shape.answers(("a", "late")),
    ]

    for sending in (fed(messages, shape).request(), sent(messages)):
        read = [message for message in read_back(sending) if message.text]
        assert [message.text for message in read] == ["t", "late", "stop, do this instead"]
    assert shape.faults(fed(messages, shape).request()) == []


@every_shape
@pytest.mark.parametrize("count", [1, 2, 3])
def test_messages_that_wait_for_an_answer_rank_as_recent(shape, count):
    """DESIGN 2, retention: whatever came before them."""
    waiting = [shape.user(f"waiting {n}") for n in range(count)]
    messages = [shape.user("t"), *turn(shape, 1, "r"), shape.say("a"), *waiting]

    ranks = [item.retention.label for item in eth.segments(messages)[-count:]]

    assert ranks == ["recent"] * count


@every_shape
def test_more_messages_than_stay_still_rank_as_recent_while_none_is_answered(shape):
    """The person typed five messages before the agent came to any of them."""
    messages = [shape.user("t"), shape.say("a"), *(shape.user(f"waiting {n}") for n in range(5))]

    assert [item.retention.label for item in eth.segments(messages)[-5:]] == ["recent"] * 5


# ---- anything at all


class Teller:
    """Makes messages of one shape with a mark in every text, and faults as they come."""

    def __init__(self, shape):
        self.shape, self.marks, self.thoughts = shape, [], []

    def text(self):
        self.marks.append(f"«{len(self.marks)}»")
        return self.marks[-1]

    def message(self, kind, ids, thinking):
        thought = self.text() if kind == "thinks" or (thinking and kind in ("say", "asks")) else None
        self.thoughts += [thought] if thought else []
        match kind:
            case "user":
                return [self.shape.user(self.text())]
            case "say":
                return [self.shape.say(self.text(), thinking=thought)]
            case "asks":
                return [self.shape.asks(*ids, text=self.text(), thinking=thought)]
            case "answers":
                return self.shape.answers(*((one, self.text()) for one in ids))
            case "thinks":
                said = self.shape.say("", thinking=thought)
                if isinstance(said, Message):
                    return [
                        replace(said, parts=tuple(part for part in said.parts if not isinstance(part, Text)))
                    ]
                keep = (
                    [one for one in said["content"] if one["type"] != "text"]
                    if self.shape is Anthropic
                    else None
                )
                return [{**said, "content": keep}]
            case _:
                return [self.shape.user("")]


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["user", "say", "asks", "asks", "answers", "answers", "thinks", "empty"]),
        st.lists(st.sampled_from(["a", "b", "c", "a_2", ""]), min_size=1, max_size=3),
        st.booleans(),
    ),
    max_size=9,
)
quick = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@every_shape
@quick
@given(events=EVENTS, piecewise=st.booleans())
def test_whatever_comes_the_request_is_legal_and_every_text_is_sent_or_named(shape, events, piecewise):
    teller = Teller(shape)
    messages = [message for event in events for message in teller.message(*event)]
    context = eth.Context(200_000, model=shape.model)
    for part in messages if piecewise else [messages]:
        context.append(part)

    sending = context.request()

    assert shape.faults(sending) == []
    out, said = shown(sending), "\n".join(context.segments.repairs)
    held = [mark for mark in teller.marks if mark in teller.thoughts and mark not in said]
    told = set(teller.thoughts) if shape is OpenAI else set()
    for mark in teller.marks:
        if mark in told and mark in held:
            assert "thinking is not sent" in said
        else:
            assert mark in out or mark in said
        assert out.count(mark) <= 1


@every_shape
@quick
@given(events=EVENTS)
def test_a_context_fed_with_anything_sends_what_a_plan_of_the_whole_does(shape, events):
    teller = Teller(shape)
    messages = [message for event in events for message in teller.message(*event)]
    context = fed(messages, shape)

    whole, live = sent(messages, model=shape.model), context._live.assemble()
    complete = to_messages(openai.to_wire(live))

    assert [message.text for message in to_messages(openai.to_wire(whole))] == [m.text for m in complete]
    entered = [
        line
        for line in eth.segments(messages).repairs
        if " moved " not in line and "has no result" not in line
    ]
    context.request()
    assert [line for line in context.segments.repairs if not line.startswith("in the request")] == entered


@every_shape
@quick
@given(events=EVENTS)
def test_what_was_sent_needs_no_repair_when_it_comes_back(shape, events):
    teller = Teller(shape)
    context = fed([message for event in events for message in teller.message(*event)], shape)
    sending = context.request()

    assert eth.segments(list(sending)).repairs == ()
    assert [m.text for m in sent(list(sending))] == [m.text for m in read_back(sending)]


def test_a_message_of_ours_with_parts_that_do_not_belong_enters_as_what_it_can_be():
    """Built by hand: no exception, each part is placed or named."""
    odd = [
        Message(role="user", parts=(Text(text="t"), ToolCall(id="a", name="look"), Thinking(text="p"))),
        Message(role="tool", parts=(Text(text="no result"),), trust="outside"),
        Message(role="assistant", parts=(ToolCall(id="b", name="look"), ToolResult(call_id="b", text="r"))),
        Message(role="system", parts=(Text(text="s"),)),
        tool(ToolResult(call_id="zzz", text="stray")),
    ]
    context = eth.Context(9_000)
    for message in odd:
        context.append(message)

    assert violations(context.request()) == ()
    assert [message.text for message in context.request()] == ["s", "t", "no result", "", "r"]
    assert context.segments.repairs == (
        "message 0: call 'a' (look) removed: a message of role user cannot hold it: '{}'",
        "message 0: thinking removed: a message of role user cannot hold it: 'p'",
        "message 1: what is no result in the tool message set apart as a user message",
        "message 2: the result of call 'b' set apart as a tool message",
        "message 4: the result of call 'zzz' removed, no call before it asked for it: 'stray'",
    )


def test_a_session_names_a_reply_that_is_never_sent_again(tmp_path, monkeypatch):
    """SEG-12, through a session: a reply of thinking alone (cut off at the output limit)."""
    monkeypatch.delenv("ETHANG_HOME", raising=False)
    alone = Message(
        role="assistant", parts=(Thinking(text="half a thought", signature=SIGNATURE),), trust="agent"
    )
    with eth.Session(
        stage.script(tmp_path, {"say": "done", "repeat": 9}), name="t", root=tmp_path
    ) as session:
        send = session.provider.send

        async def thinks(body, *, on_text=None, on_note=None):
            session.provider.send = send
            return Reply(message=alone, stop="end")

        session.provider.send = thinks
        session.run("Go.")
        session.run("Go on.")

        assert b"half a thought" not in session.request(session.timeline[-1].step)
        assert [line for line in session.segments.repairs if "'half a thought'" in line]
