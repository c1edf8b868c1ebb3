"""Budget: one sentence, a bar and a table that sum to the window."""

from dataclasses import replace

import pytest

from ethang_nb.context.window import Window
from ethang_nb.views import budget
from ethang_nb.views.limits import OUTPUT_BYTES
from ethang_nb.views.plain import WIDTH
from tests.views import samples
from tests.views.reading import Reading

GOLDEN = """\
68.4 % full: 3,284 of 4,800 usable tokens, counted exactly. Room for one more
result of 556 before cleanup. p95 78.1 %.

SSSTTTTTTTTCCKNNNNNNHHHHOOOOOOOOOOOOOOOOOOOO····················////////////////
                         ^landing 40.0 %    ^nudge 70.0 %       ^usable 100.0 %
                                                   ^cleanup 80.0 %

     slice                                 tokens   of usable  counted
  S  system                                   250       5.2 %  exact
  T  tools, 6                                 600      12.5 %  exact
  C  core, 2 pins                             142       2.9 %  exact
  K  task                                      45       0.9 %  exact
  N  handoff notes                            431       8.9 %  exact
  H  history                                  312       6.5 %  exact
  O  tool output                            1,504      31.3 %  exact
  ·  free                                   1,516      31.5 %
  /  reserve for the answer                 1,200
  window 6,000 tokens (given)"""

BUDGETS = [
    pytest.param(make().budget, id=make.__name__)
    for make in (samples.contracts, samples.empty, samples.over, samples.large)
]


def test_the_text_is_this():
    assert budget.text(samples.contracts().budget) == GOLDEN


@pytest.mark.parametrize("held", BUDGETS)
def test_text_fits_a_terminal(held):
    assert max(map(len, budget.text(held).splitlines())) <= WIDTH


@pytest.mark.parametrize("held", BUDGETS)
def test_the_rows_sum_to_the_window(held):
    amounts = {row.name: row.tokens for row in budget.rows(held)}
    over = amounts.pop("over what fits", 0)
    assert sum(amounts.values()) - over == held.window.total


@pytest.mark.parametrize("held", BUDGETS)
@pytest.mark.parametrize("width", [80, 40, 12])
def test_a_bar_has_the_width_asked_for(held, width):
    assert len(budget.bar(held, width)) == width


def test_whatever_holds_a_token_is_on_the_bar():
    drawn = budget.bar(samples.over().budget)
    assert "".join(dict.fromkeys(drawn)) == "STPCKNMHOI/"


def test_what_is_over_is_named_with_the_next_step():
    said = budget.warnings(samples.over().budget)
    assert (
        said[0]
        == "1,400 tokens more than fit (6,500): nothing is sent until something leaves or the window grows."
    )
    assert "p95 is above 90.0 %" in said[1]


def test_what_somebody_else_sends_is_sent_though_it_does_not_fit():
    held = replace(samples.over().budget, followed=True)
    assert budget.warnings(held)[0] == (
        "1,400 tokens more than fit (6,500): whoever makes the requests sends them all the same; the provider may "
        "refuse or cut them."
    )
    assert "nothing is sent" not in budget.text(held) + budget.html(held)


def test_what_may_not_be_sent_is_explained_where_it_stands():
    held = replace(samples.budget(how="estimated", system=500), ratio=1_157)
    assert (
        "more than may be sent: counts are estimated; this model is taken to count 115.7 % of ours."
        in " ".join(budget.text(held).split())
    )
    assert "this model is taken to count 115.7 % of ours." in budget.html(held)
    narrow = Window.of(6_000, max_input=2_000)
    shown = budget.text(samples.budget(narrow, system=500))
    assert "more than may be sent: the model takes 2,000 tokens of input at most." in shown
    assert "may be sent" not in budget.text(samples.budget(system=500))


def test_unattributed_stands_beside_the_sum():
    held = samples.Budget(
        window=samples.WINDOW,
        levels=samples.LEVELS,
        slices=(),
        how="provider",
        unattributed=-12,
        cleanup_at=3_840,
    )
    assert budget.warnings(held) == ("The provider counted 12 fewer than we can place.",)
    assert "counted by the provider" in budget.sentence(held)


def test_html_has_the_numbers_without_css():
    read = Reading(budget.html(samples.contracts().budget))
    assert not read.faults
    assert "68.4 % full. 3,284 of 4,800 usable tokens, counted exactly." in read.text
    assert "T tools, 6 600 12.5 %" in " ".join(read.texts).replace("\n", " ").replace("  ", " ")


@pytest.mark.parametrize("held", BUDGETS)
def test_html_is_sound_and_small(held):
    html = budget.html(held)
    read = Reading(html)
    assert not read.faults
    assert len(html.encode()) < OUTPUT_BYTES / 4
    assert {value for _, name, value in read.attributes if name == "scope"} == {"col", "row"}


def test_how_each_slice_was_counted_is_said_where_it_differs():
    mixed = samples.Budget(
        window=samples.WINDOW,
        levels=samples.LEVELS,
        slices=(*samples.slices(system=10), *samples.slices("estimated", images=90)),
        how="estimated",
        cleanup_at=3_840,
    )
    assert "counted" in Reading(budget.html(mixed)).text
    assert "system 10 0.2 % exact" in " ".join(budget.text(mixed).split())
