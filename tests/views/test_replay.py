"""A replay: figures, a chart, and the steps at which something happened; also of ten thousand steps."""

import re

import pytest

import ethang_nb as eth
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.views import replay
from ethang_nb.views.limits import OUTPUT_BYTES, ROWS
from tests.views.reading import Reading


def transcript(turns, works=1, words=60):
    """Pieces of work of `turns` tool turns each, and where they begin."""
    messages, begins = [], []
    for work in range(works):
        begins.append(len(messages))
        messages.append(user(f"Task {work}: read all of it."))
        for turn in range(turns):
            call = ToolCall(id=f"c{work}_{turn}", name="read_file", arguments='{"path": "a.txt"}')
            messages.append(assistant("", [call]))
            messages.append(tool(ToolResult(call_id=call.id, name="read_file", text="lorem " * words)))
        messages.append(assistant("Done."))
    return messages, begins


def timeline(turns=30, works=2, window=2_000, **options):
    messages, begins = transcript(turns, works)
    return eth.replay(messages, window, begins=begins, **options)


@pytest.fixture(scope="module")
def long():
    messages, begins = transcript(99, works=100, words=3)
    return eth.replay(messages, 3_000, begins=begins)


GOLDEN = """\
63 steps replayed with policy ethang in a window of 2,000 tokens, 1,600 of them
usable (nudge 70.0 %, cleanup 80.0 %, landing 40.0 %).
"""


def test_the_figures_are_those_of_the_timeline():
    found = timeline()
    said = replay.figures(found)
    top = max(found.fills)
    assert f"p95 {found.p95 // 10}.{found.p95 % 10} %, highest {top // 10}.{top % 10} % at step " in said
    assert f"{found.count('cleanup')} cleanups" in said
    assert f"{found.count('nudge')} nudges" in said
    assert f"{sum(step.reseed for step in found)} reseed" in said
    assert found.count("cleanup") > 1
    assert any(step.reseed for step in found)


def test_the_text_begins_with_them_and_is_stable():
    text = replay.text(timeline())
    assert text.startswith(GOLDEN)
    assert text == replay.text(timeline())
    assert all(len(line) <= 80 for line in text.splitlines())


def test_each_step_at_which_something_happened_is_a_row():
    found = timeline()
    rows = re.findall(r"^ +(\d+) +[\d.]+ %.*?(nudge|cleanup|reseed)", replay.text(found), re.M)
    wanted = [step.step for step in found if step.outcome in ("nudge", "cleanup") or step.reseed]
    assert wanted == [int(step) for step, _ in rows]
    read = Reading(replay.html(found))
    assert not read.faults
    for step in wanted:
        assert str(step) in read.texts


def test_what_lasts_is_told_once_and_counted_whole():
    """A context that cannot be cleaned is idle at every step; the table names the first."""
    messages = [user("word " * 900), *(assistant(f"answer {n}") for n in range(20))]
    found = eth.replay(messages, 1_300, policy="pressure")
    idle = [step.step for step in found if step.outcome == "idle"]
    assert len(idle) > 3
    assert f"{len(idle)} idle steps" in " ".join(replay.text(found).split())
    assert 1 == sum("idle" in row.events for row in replay.happenings(found))


def test_a_start_from_the_core_and_a_cleanup_at_one_step_are_both_told():
    events = {event for row in replay.happenings(timeline()) for event in row.events}
    assert {"reseed", "cleanup", "nudge"} <= events


def test_nothing_happened_is_said():
    found = timeline(window=200_000)
    assert replay.text(found).endswith("Nothing happened at any step.")
    assert "Nothing happened at any step." in Reading(replay.html(found)).text


def test_a_replay_of_one_request_can_be_drawn():
    found = eth.replay([user("Go.")], 2_000)
    assert replay.text(found).startswith("1 step replayed")
    assert not Reading(replay.html(found)).faults


def test_what_was_mended_is_said():
    messages = [user("Go."), tool(ToolResult(call_id="nobody", name="x", text="lost"))]
    found = eth.replay(messages, 2_000)
    assert found.repairs
    assert "mended: " in replay.text(found)
    assert "mended: " in Reading(replay.html(found)).text


def test_a_full_step_is_marked_in_the_curve():
    found = eth.replay([user("word " * 3_000), assistant("no")], 2_000)
    assert "▲" in replay.text(found)
    assert "stuck" in replay.text(found)


def test_ten_thousand_steps_stay_a_small_output(long):
    assert len(long) > 10_000
    text, html = replay.text(long), replay.html(long)
    happened = sum(bool(row.events) for row in replay.happenings(long))
    assert happened > ROWS
    assert f"… {happened - ROWS:,} more" in text
    assert f"… {happened - ROWS:,} more" in Reading(html).text
    assert len(html.encode()) < OUTPUT_BYTES
    assert len(text.splitlines()) < ROWS + 12
    assert not Reading(html).faults


def test_ipython_gets_both_forms():
    found = timeline()
    assert str(found) == replay.text(found)
    assert found._repr_html_() == replay.html(found)
    assert "Timeline(63 steps" in repr(found)
