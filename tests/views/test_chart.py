"""The sawtooth shows every fill, and the list under it says the same in words."""

import re
from itertools import pairwise

from ethang_nb.context.snapshot import StepRow
from ethang_nb.views.chart import chart, described, kinds, steps_of
from tests.views import samples
from tests.views.reading import Reading

ROWS = samples.contract_steps()


def test_nothing_is_drawn_without_a_step():
    assert chart((), samples.LEVELS) == ""


def test_a_cleanup_is_a_drop_at_its_step():
    path = re.search(r' d="([^"]*)"', chart(ROWS, samples.LEVELS)).group(1)
    x = 6 * 1_000 // 22
    assert f"L{x} {1_000 - 882}L{x} {1_000 - 587}L" in path


def test_of_the_kinds_of_a_step_the_weightiest_is_first_and_words_are_not_read():
    def row(*kinds, events=()):
        return StepRow(step=1, fill=1, tokens=1, events=events, kinds=kinds)

    assert kinds(row("cleanup", "shrink")) == ("cleanup", "shrink")
    assert kinds(row("nudge", "stuck")) == ("stuck", "nudge")
    assert kinds(row("regret", events=("regret: read_file release_notes.md (left at step 3)",))) == ()


def test_a_cleanup_that_was_only_foretold_has_its_shape_without_its_colour_and_its_own_words():
    rows = (StepRow(step=1, fill=500, tokens=1), StepRow(step=2, fill=900, tokens=1, kinds=("foretold",)))
    drawn = chart(rows, samples.LEVELS)
    assert 'class="eth-m eth-m-cleanup"' in drawn
    assert "would clean up: step 2" in Reading(drawn).text
    assert described(rows).endswith("; would clean up at step 2")


def test_the_list_names_every_marked_step():
    text = Reading(chart(ROWS, samples.LEVELS)).text
    assert text == (
        "nudge: step 6 cleanup: steps 7, 10, 13, 16, 19, 22 levels: cleanup 80.0 %, nudge 70.0 %, landing 40.0 %"
    )


def test_the_chart_is_told_in_words():
    assert described(ROWS) == (
        "Fill by step, 23 in all; 68.4 % at step 23; cleanup at steps 7, 10, 13, 16, 19, 22; nudge at step 6"
    )


def test_ten_thousand_steps_cost_no_more_than_a_few_hundred():
    snapshot = samples.large()
    drawn = chart(snapshot.timeline, snapshot.budget.levels)
    assert len(drawn) < 20_000
    assert len(steps_of(snapshot.timeline, "cleanup")) > 200


def test_level_labels_never_overlap():
    """Fills of 400 % press the levels together; each label still has a line of its own."""
    rows = (StepRow(step=1, fill=4_000, tokens=1),)
    drawn = chart(rows, samples.LEVELS)
    labels = re.findall(r'class="eth-level[^"]*" style="top:([\d.]+)%(?:;--d:([\d.]+)em)?"', drawn)
    places = [float(top) / 100 * 11 + float(moved or 0) * 0.84 for top, moved in labels]
    assert len(places) == 6
    assert all(below - above >= 1.08 for above, below in pairwise(places))


def test_a_step_over_the_window_is_inside_the_drawing():
    path = re.search(r' d="M-9 1009V([^"]*)H', chart(samples.over().timeline, samples.LEVELS)).group(1)
    heights = [int(y) for y in re.findall(r"\d+ (-?\d+)", path)]
    assert min(heights) >= 0
