"""A run: how it ended and what it answered, in the open; the rest closed."""

from dataclasses import replace

import pytest

from ethang_nb.agent.spending import Spent
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


SPENT = Spent(requests=3, input=12_345, output=512, cached=10_200, reasoning=300, cost=12_300, priced=3)


def spent(**changes):
    return replace(SMALL, steps=3, tokens_in=12_345, tokens_out=512, usage=replace(SPENT, **changes))


def test_what_the_provider_reported_stands_in_the_first_line():
    assert run.figures(spent()).startswith(
        "3 steps, 12,345 tokens in (10,200 cached), 512 out (300 reasoning), $0.0123"
    )
    assert "$0.0123" in Reading(run.html(spent())).text


def test_what_it_did_not_report_is_not_there():
    found = spent(cached=None, reasoning=None, cost=None, unpriced="m did not report cached tokens", priced=0)
    assert run.figures(found) == "3 steps, 12,345 tokens in, 512 out, 0 cleanups"
    assert run.spending(found) == ()


def test_nothing_cached_is_said_where_the_provider_says_so():
    assert "(0 cached)" in run.figures(spent(cached=0))


def test_the_cache_is_told_beside_what_was_predicted():
    assert run.spending(spent(predicted=10_900, written=500)) == (
        "Cache: 10,200 tokens read, 10,900 predicted; 500 were put there.",
    )
    assert run.spending(spent(cached=None, written=500)) == ("Cache: 500 tokens were put there.",)


def test_handoff_notes_are_told_with_their_cost():
    found = replace(spent(), note_tokens=1_200, note_cost=400)
    assert run.spending(found) == ("Of all this, handoff notes took 1,200 tokens, $0.0004.",)
    assert "handoff notes took 1,200 tokens." in run.text(replace(found, note_cost=None))


def test_a_cost_that_is_unknown_for_want_of_a_count_says_so():
    found = spent(cost=None, unpriced="openai/x did not report cached tokens of every request")
    assert "Cost unknown: openai/x did not report cached tokens of every request." in run.text(found)
    assert "Cost unknown" in Reading(run.html(found)).text


def test_notices_beyond_the_first_are_counted():
    found = replace(SMALL, notices=tuple(f"step {number}: odd" for number in range(7)))
    assert "3 more notices; see run.notices" in run.text(found)
    assert "step 5: odd" not in run.text(found)


def test_our_own_count_is_told_from_the_providers():
    assert run.figures(spent(own_input=12_345, own_output=512, cached=None, reasoning=None)).startswith(
        "3 steps, about 12,345 tokens in (our count), about 512 out (our count), $"
    )
    assert run.figures(spent(own_input=345, own_output=0)).startswith(
        "3 steps, about 12,345 tokens in (345 by our count, 10,200 cached), 512 out (300 reasoning), $"
    )
    found = replace(spent(own_input=12_345), note_tokens=1_200, notes_usage=Spent(own_output=5))
    assert "about 12,345 tokens in (our count" in Reading(run.html(found)).text
    assert run.spending(found)[-1] == "Of all this, handoff notes took about 1,200 tokens."


def test_where_nothing_came_there_is_no_number():
    found = replace(SMALL, ending="provider error", answer="", tokens_in=None, tokens_out=None)
    assert run.text(found).startswith("Provider error: 1 step, no reply, 0 cleanups.")
    assert "1 step, no reply, 0 cleanups" in Reading(run.html(found)).text


def test_an_answer_that_broke_off_says_so_below_what_had_come():
    found = replace(SMALL, ending="provider error", error="broken", partial=True)
    assert run.text(found).endswith(f"Two orders: 8812 and 9034.\n{run.BROKE_OFF}")
    assert run.BROKE_OFF in Reading(run.html(found)).text
    assert run.BROKE_OFF not in run.text(replace(found, answer=""))
    cut = run.answer(replace(found, answer="a" * 100), 10)
    assert cut == f"aaaaaaaaaa\n… 90 more characters; see run.answer\n{run.BROKE_OFF}"


def test_the_model_that_answered_is_named():
    found = replace(SMALL, label="openai/gpt-5 at http://127.0.0.1/<v1>")
    assert "Session contracts.\nModel: openai/gpt-5 at http://127.0.0.1/<v1>.\n" in run.text(found)
    read = Reading(run.html(found))
    assert not read.faults
    assert "Session contracts. Model: openai/gpt-5 at http://127.0.0.1/<v1>." in read.text
    assert "Model" not in run.text(SMALL)
