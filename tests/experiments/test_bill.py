"""What a call takes, what of it a cache would hold, and the cost."""

import pytest

from ethang_nb.context.messages import user
from ethang_nb.experiments.bill import Bill


@pytest.fixture
def bill(counts):
    return Bill(counts, limit=100, fixed=50)


def test_the_first_call_writes_everything(bill):
    assert bill.call([user("one")]) == 50 + 9
    assert (bill.cached, bill.cost) == (0, round(59 * 1.25))


def test_what_a_call_shares_with_the_one_before_is_read(bill):
    """Message for message from the start; the source's three a segment stand in no message."""
    bill.call([user("one"), user("two")])
    bill.call([user("one"), user("three"), user("two")])
    assert bill.cached == 50 + 6
    assert bill.sent == 68 + 77
    assert bill.cost == round(0.1 * 56 + 1.25 * (145 - 56))


def test_a_changed_start_leaves_only_system_and_tools(bill):
    bill.call([user("one"), user("two")])
    bill.call([user("three"), user("two")])
    assert bill.cached == 50


def test_helpers_are_counted_and_their_words_cost_five_times(bill):
    bill.help(1_000, 10)
    assert (bill.all_in, bill.helper_calls, bill.cost) == (1_000, 1, 1_050)


def test_a_helpers_system_and_tools_are_cached_from_its_second_call_on(bill):
    for _ in range(2):
        bill.help(1_000, 0, fixed=400)
    assert bill.all_in == 2_000
    assert bill.cost == 1_000 + 600 + 40


def test_nothing_called_is_nothing_cached(bill):
    assert bill.cached_share == 0
