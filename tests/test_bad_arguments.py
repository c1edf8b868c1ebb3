"""Arguments of a wrong kind: one line that names the value, the limit and what to give instead."""

import pytest

import ethang_nb as eth
from ethang_nb.context.plan import kept_at
from ethang_nb.context.window import Levels
from ethang_nb.errors import BadPolicy, BadWindow, Misuse

TASK = {"role": "user", "content": "t"}
SPILL = "spill://0123456789ab"


@pytest.fixture
def timeline():
    return eth.replay([TASK], 5_000)


@pytest.mark.parametrize(
    "levels",
    [(700, 800), (0.7, 0.8, 0.4), 5, "abc", (True, 800, 400), Levels(nudge=0.7, cleanup=0.8, landing=0.4)],
)
def test_levels_of_a_slider_are_three_whole_numbers(timeline, levels):
    with pytest.raises(BadPolicy, match=r"^levels=.* in whole per mille .* such as \(700, 800, 400\)$"):
        timeline.move(levels=levels)


@pytest.mark.parametrize("window", ["abc", 0.5, True, [1]])
def test_the_window_of_a_slider_is_tokens_or_a_window(timeline, window):
    with pytest.raises(BadWindow, match=r"^window=.* neither a number of tokens nor a Window; give one such"):
        timeline.move(window=window)


def test_sliders_still_move(timeline):
    moved = timeline.move(levels=[600, 700, 300], window=9_000)
    assert (moved.settings.levels.nudge, moved.settings.base.total) == (600, 9_000)
    assert timeline.move(window=eth.window(8_000)).settings.base.total == 8_000


@pytest.mark.parametrize("index", ["a", 0.0, None, True])
def test_a_step_is_a_whole_number(timeline, index):
    with pytest.raises(Misuse, match=r"^step .* is no whole number; the 1 steps count from 0$"):
        timeline.at(index)


def test_a_note_for_a_plan_is_a_text():
    with pytest.raises(Misuse, match=r"^note=5 is a int; give a text, or None for one by rule$"):
        eth.plan([TASK], 5_000).apply(note=5)


def test_a_spill_for_a_plan_is_a_function():
    with pytest.raises(Misuse, match=r"^spill='here' cannot be called; give a function"):
        eth.plan([TASK], 5_000).apply(spill="here")


def test_a_long_value_stays_a_short_line(timeline):
    with pytest.raises(BadWindow) as caught:
        timeline.move(window="n\n" * 9_000)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "address"),
    [
        (SPILL, SPILL),
        (f" {SPILL}\n", SPILL),
        ("s3://bucket/1", "s3://bucket/1"),
        (f"[look returned 9 characters, 1 line; all of it is at {SPILL}]\nx\n[end of the text]", SPILL),
        (f"look at log://3 or at {SPILL}.", SPILL),
        ("it is at file:out/a.txt", "file:out/a.txt"),
        ("kept it somewhere", ""),
        ("", ""),
        (None, ""),
        (17, ""),
    ],
)
def test_the_address_is_found_in_what_a_spill_returned(returned, address):
    assert kept_at("look", returned) == address


def test_an_address_by_which_a_notice_names_its_source_is_not_where_it_is_kept():
    source = "read_spill spill://aaaaaaaaaaaa"
    assert kept_at(source, f"[{source} returned 9 characters; all of it is at {SPILL}]") == SPILL


@pytest.fixture
def plan(turn):
    messages = [TASK, *(item for n in range(12) for item in turn(n))]
    plan = eth.plan(messages, 1_000)
    assert plan.lands
    return plan


@pytest.fixture
def turn():
    def made(number):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"seen {number} " + "word " * 60},
        ]

    return made


def test_a_plan_takes_the_stores_own_spill(plan, tmp_path):
    store = eth.SpillStore(tmp_path)
    applied = plan.apply(spill=store.spill)
    read = [item for item in applied.removed if item.text]
    assert read
    for item in read:
        assert item.address == store.keep(item.text)
    assert "all of it is at" not in "".join(message.text for message in applied.messages)


def test_a_plan_says_which_spill_kept_nothing(plan):
    with pytest.raises(
        Misuse, match=r"^spill returned None for .*, which is no address; return where the text"
    ):
        plan.apply(spill=lambda _source, _text: None)
