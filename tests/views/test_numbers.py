"""Numbers are written the same way everywhere."""

import pytest

from ethang_nb.context.budget import Budget
from ethang_nb.views.numbers import count, dollars, grouped, numbered, per_mille, percent, share, tokens
from tests.views import samples


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0.0 %"), (684, "68.4 %"), (1_000, "100.0 %"), (12_345, "1,234.5 %"), (-5, "-0.5 %")],
)
def test_percent_has_one_decimal(value, written):
    assert percent(value) == written


def test_thousands_are_grouped():
    assert grouped(1_234_567) == "1,234,567"


def test_a_noun_agrees_with_its_number():
    assert [tokens(1), tokens(0), count(2, "reply", "replies")] == ["1 token", "0 tokens", "2 replies"]


def test_a_share_is_rounded_down_like_fill():
    held = samples.budget(system=3_284)
    assert isinstance(held, Budget)
    assert per_mille(3_284, 4_800) == held.fill == 684
    assert share(3_284, 4_800) == percent(held.fill)


def test_a_share_of_nothing_is_nothing():
    assert share(5, 0) == "0.0 %"


def test_many_places_are_cut_with_a_count():
    assert numbered((5,), "step") == "step 5"
    assert numbered(tuple(range(1, 16)), "step", most=3) == "steps 1, 2, 3 and 12 more"


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "$0.0000"), (1, "under $0.0001"), (99, "under $0.0001"), (100, "$0.0001"), (12_300, "$0.0123"),
     (12_301, "$0.0124"), (1_234_567_800, "$1,234.5678")],
)  # fmt: skip
def test_dollars_have_four_decimals_and_are_never_less_than_was_paid(value, said):
    assert dollars(value) == said
