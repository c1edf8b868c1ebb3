"""What the public functions refuse in one line, and the caller's own spill."""

import pytest

import ethang_nb as eth
from ethang_nb.errors import Misuse, NoSuchAddress

TASK = {"role": "user", "content": "t"}
BIG = "z" * 30_000


def turn(number, text):
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def spilling(spill):
    context = eth.Context(3_000, model="gpt-4o", spill=spill)
    context.append([TASK, *turn(0, BIG)])
    return context, context.request()[-1]["content"]


@pytest.mark.parametrize("counter", ["gpt-4o", 5, object])
def test_a_counter_is_no_name(counter):
    with pytest.raises(Misuse, match=r"^counter=.* takes a TokenCounter, .*; model= names a model$"):
        eth.plan([TASK], 5_000, counter=counter)


@pytest.mark.parametrize("begins", [["a"], [99, -1], [-1], [True], [0.5], [2]])
def test_begins_are_positions_of_messages(begins):
    with pytest.raises(Misuse, match=r"no position among 1 messages; give whole numbers from 0 to 1$"):
        eth.replay([TASK], 5_000, begins=begins)


@pytest.mark.parametrize("begins", [5, "0", None])
def test_begins_are_a_list(begins):
    with pytest.raises(Misuse, match=r"^begins=.* is no list; give positions of messages such as \[0, 12\]$"):
        eth.replay([TASK], 5_000, begins=begins)


def test_positions_may_come_in_any_row():
    assert len(eth.replay([TASK, *turn(0, "r")], 5_000, begins=iter([0, 3]))) == 2


@pytest.mark.parametrize("text", [None, 5, b"x"])
def test_only_texts_are_counted(text):
    with pytest.raises(Misuse, match=r"count\(\) takes a text$"):
        eth.counter().count(text)
    with pytest.raises(Misuse, match=r"count\(\) takes a text$"):
        eth.counter("gpt-4o").count(text)


def test_the_part_that_is_too_large_is_named():
    context = eth.Context(6_000, model="gpt-4o", system="word " * 10_000)
    with pytest.raises(
        Misuse, match=r"^the system text takes 10,\d+ tokens; .* does not fit the 4,800 that can be"
    ):
        context.append(TASK)
    context = eth.Context(6_000, model="gpt-4o")
    with pytest.raises(
        Misuse, match=r"^this message takes 10,\d+ tokens; .* put it into a file and name the file$"
    ):
        context.append({"role": "user", "content": "word " * 10_000})


def test_the_stores_own_spill_gives_its_address(tmp_path):
    store = eth.SpillStore(tmp_path)
    context, sent = spilling(store.spill)
    address = store.keep(BIG)
    assert address in sent
    assert "all of it is at" not in sent
    assert context.segments.repairs == ()


@pytest.mark.parametrize("returned", [None, "", "kept it somewhere", 17])
def test_a_spill_that_names_no_address_costs_nobody_a_result(returned):
    context, sent = spilling(lambda _tool, _text: returned)
    (said,) = context.segments.repairs
    assert said == f"spill failed, kept at log://2: it returned {returned!r}, which names no address"
    assert "log://2" in sent
    assert context.removed("log://2") == BIG


@pytest.mark.parametrize("address", ["spill://0123456789ab", "s3://bucket/1"])
def test_an_address_of_the_callers_says_who_holds_it(address):
    context, _ = spilling(lambda _tool, _text: address)
    with pytest.raises(
        NoSuchAddress, match=r"is kept by the spill that you gave this context; read it there$"
    ):
        context.removed(address)
    with pytest.raises(NoSuchAddress, match=r"is no address here; log://0 to log://2 are$"):
        context.removed("spill://ffffffffffff")
