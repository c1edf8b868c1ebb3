from __future__ import annotations

from dataclasses import replace

import pytest

from ethang_nb.context.pricing import Price, Rates, fixed_cost, note_cost, price


def test_seed_002_two_thousand_saved_against_forty_thousand_processed_again():
    # 100,000 stand in the window and in the cache. A trim takes 2,000 out after the first 58,000, so that
    # 100,000 - 58,000 - 2,000 = 40,000 tokens behind it are processed again.
    paid = price(100_000, 98_000, 58_000)
    assert (58_000, 40_000, 2_000) == (paid.prefix, paid.again, paid.saved)
    # The next call writes 40,000 at 1.25 instead of reading 42,000 at 0.1:
    # 40,000 * 1,250 - 42,000 * 100 = 50,000,000 - 4,200,000 = 45,800,000 thousandths, 45,800 input tokens.
    assert 45_800_000 == paid.cost
    # Every later call reads 2,000 less at 0.1 = 200,000 thousandths: 45,800,000 / 200,000 = 229 calls after the next.
    assert 230 == paid.pays_after
    assert (200_000, 0, -200_000) == (paid.over(229), paid.over(230), paid.over(231))


def test_the_same_where_writing_to_the_cache_costs_no_more_than_a_fresh_token():
    # 40,000 * (1,000 - 100) / (2,000 * 100) = 36,000,000 / 200,000 = 180.
    assert 180 == price(100_000, 98_000, 58_000, rates=Rates(write=1_000)).pays_after


def test_seed_003_saving_8k_can_cost_more_than_keeping_them():
    # 100,000 with 27,000 of fixed parts; 8,000 leave right behind them, at iteration 15 of 30.
    paid = price(100_000, 92_000, 27_000)
    # again = 100,000 - 27,000 - 8,000 = 65,000; cost = 65,000 * 1,150 - 8,000 * 100 = 74,750,000 - 800,000.
    assert (65_000, 73_950_000) == (paid.again, paid.cost)
    # Over the 15 calls left: 73,950,000 - 14 * 800,000 = 62,750,000: 62,750 input tokens more than keeping them.
    assert 62_750_000 == paid.over(15)
    # 74,750,000 / 800,000 = 93.4.
    assert 94 == paid.pays_after


def test_a_cut_at_the_end_changes_nothing_before_it_and_pays_at_once():
    paid = price(100_000, 92_000, 92_000)
    assert (92_000, 0, 0) == (paid.prefix, paid.again, paid.pays_after)
    assert -8_000 * 100 == paid.cost


@pytest.mark.parametrize("after", [100_000, 101_000])
def test_where_nothing_is_saved_it_never_pays(after):
    paid = price(100_000, after, 50_000)
    assert paid.pays_after is None
    assert paid.cost > 0


def test_what_no_cache_held_is_not_processed_again():
    """A result that came since the last call is new to the cache, whether it stays or leaves."""
    # 90,000 were sent last; 10,000 came since, of which 8,000 leave before they were ever sent.
    paid = price(100_000, 92_000, 90_000, cached=90_000)
    # Read 90,000 either way; write 2,000 instead of 10,000: 8,000 * 1,250 less.
    assert (90_000, 0, 0, -10_000_000) == (paid.prefix, paid.again, paid.pays_after, paid.cost)


def test_a_change_before_what_was_cached_counts_against_the_cache_as_it_is():
    # 60,000 of 100,000 are cached. 20,000 leave after the first 40,000: read 40,000, write 40,000
    # instead of read 60,000, write 40,000: 60,000 - 40,000 - 20,000 = 0 are processed again.
    paid = price(100_000, 80_000, 40_000, cached=60_000)
    assert (40_000, 0) == (paid.prefix, paid.again)
    assert 40_000 * 100 + 40_000 * 1_250 - 60_000 * 100 - 40_000 * 1_250 == paid.cost


def test_a_cold_cache_makes_every_saving_pay_at_once():
    paid = price(100_000, 60_000, 20_000, cached=0)
    assert (0, 0, 0, -40_000 * 1_250) == (paid.prefix, paid.again, paid.pays_after, paid.cost)


def test_what_is_paid_once_beside_it_counts():
    # The note reads 10,000 and puts out 800: 10,000 * 1,000 + 800 * 5,000 = 14,000,000 thousandths.
    assert 14_000_000 == note_cost(10_000, 800)
    # 40,000 * 1,150 + 14,000,000 = 60,000,000; / 200,000 = 300.
    assert 300 == price(100_000, 98_000, 58_000, once=note_cost(10_000, 800)).pays_after


def test_free_reads_save_nothing_worth_waiting_for():
    assert price(100, 90, 50, rates=Rates(read=0)).pays_after is None
    assert 0 == price(100, 90, 90, rates=Rates(read=0)).pays_after


def test_the_prediction_stands_beside_what_the_provider_served():
    paid = price(100_000, 98_000, 58_000)
    assert (None, None) == (paid.served, paid.missed)
    assert (57_344, 656) == (paid.reported(57_344).served, paid.reported(57_344).missed)
    assert 50_000 == paid.reported(65_000, ratio=1_300).served
    assert paid == paid.reported(None)


def test_a_price_can_be_made_from_its_parts():
    whole = Price(prefix=1, again=2, saved=3, pays_after=4, read_per_mille=100, write_per_mille=1_250)
    assert 0 == replace(whole, cost=0).cost


def test_seed_003_27k_in_30_iterations_are_810k():
    cost = fixed_cost(27_000, 12, 30)
    assert (324_000, 810_000) == (cost.so_far, cost.projected)
    assert "324,000 so far / 810,000 projected" == str(cost)


def test_a_projection_never_falls_behind_what_was_sent():
    assert 27_000 * 31 == fixed_cost(27_000, 31, 30).projected


def test_usual_prices_are_told_from_a_models_own():
    assert price(100, 50, 20).usual
    assert not price(100, 50, 20, rates=Rates(read=500)).usual
    assert not price(100, 50, 20, rates=Rates(write=1_000)).usual
