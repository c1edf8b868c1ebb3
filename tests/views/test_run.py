"""A run: how it ended and what it answered, in the open; the rest closed."""

from dataclasses import replace

import pytest

from ethang_nb.views import run
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views import samples
from tests.views.reading import Reading

SMALL = samples.Run(answer="Two orders: 8812 and 9034.", steps=1, p95=None)


def test_the_text_is_this():
    assert run.text(SMALL) == (
        "Completed: 1 step, 71,806 tokens in, 1,944 out, 0 cleanups.\nSession contracts.\n\nTwo orders: 8812 and 9034."
    )


def test_a_run_in_a_session_that_had_steps_says_how_many():
    found = replace(samples.run(), steps=3)
    assert run.text(found).splitlines()[1] == "Session contracts goes on after 20 steps."
    assert "Session contracts goes on after 20 steps." in Reading(run.html(found)).text
    assert "goes on" not in run.text(samples.run())


def test_the_text_of_a_whole_run_ends_with_its_cleanups():
    said = run.text(samples.run()).splitlines()
    assert said[0] == "Completed: 23 steps, 71,806 tokens in, 1,944 out, 6 cleanups, p95 78.1 %."
    assert said[-1] == "Cleanup at step 22: 4,214 → 2,817 tokens, 87.8 % → 58.7 % full."


def test_the_lines_of_an_answer_stay_as_they_are():
    answer = "code:\n    if x:\n        y = " + "z" * 100
    assert answer in run.text(replace(SMALL, answer=answer))


@pytest.mark.parametrize("ending", ["", "running"])
def test_a_run_that_goes_on_says_so(ending):
    assert run.text(replace(SMALL, ending=ending, answer="")).startswith("Running: ")


def test_an_ending_that_is_no_success_shows_its_reason():
    ended = replace(SMALL, ending="provider error", answer="", error="503 from the server; run it again")
    assert "503 from the server; run it again" in run.text(ended)
    assert "Provider error" in Reading(run.html(ended)).text


def test_html_shows_the_answer_and_closes_the_rest():
    html = run.html(samples.run())
    read = Reading(html)
    assert not read.faults
    assert len(html.encode()) <= OUTPUT_BYTES
    assert html.index("Two orders are affected") < html.index("<details>")
    assert "8812  contract_03  cap 14.27" in "".join(read.texts)
    assert ("details", "open") not in read.names


def test_a_long_answer_is_cut_and_says_how_to_see_it():
    html = run.html(replace(samples.run(), answer="a" * 50_000))
    assert len(html.encode()) <= OUTPUT_BYTES
    assert "42,000 more characters; see run.answer" in html


@pytest.mark.parametrize("char", ["\U000e0041", "<", "契", "a "])
def test_a_megabyte_in_every_field_is_a_small_output(char):
    assert len(run.html(samples.hostile_run(char * 300_000)).encode()) <= OUTPUT_BYTES


def test_data_makes_no_element_and_no_attribute():
    tame = Reading(run.html(samples.hostile_run("plain")))
    wild = Reading(run.html(samples.hostile_run()))
    assert set(wild.tags) <= set(tame.tags) | {"wbr"}
    assert wild.names <= tame.names


def test_notices_of_a_run_are_told_above_its_answer():
    found = replace(SMALL, notices=("step 9: the note was written by rules: <boom>",))
    said = run.text(found)
    assert said.index("notice: step 9: the note was written by rules: <boom>") < said.index("Two orders")
    read = Reading(run.html(found))
    assert not read.faults
    assert "notice: step 9: the note was written by rules: <boom>" in read.text
