from __future__ import annotations

import pytest

from ethang_nb.context.window import Levels, Window, levels
from ethang_nb.errors import BadWindow


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1_000, (700, 800, 400)),
        (200_000, (700, 800, 400)),
        (200_001, (600, 700, 350)),
        (500_000, (600, 700, 350)),
        (500_001, (500, 600, 300)),
        (1_000_000, (500, 600, 300)),
        (1_000_001, (400, 500, 250)),
    ],
)
def test_levels_follow_the_band_table_of_seed_000(size, expected):
    assert Levels(nudge=expected[0], cleanup=expected[1], landing=expected[2]) == levels(size)


def test_reserve_is_the_smallest_of_max_output_a_fifth_and_32000():
    assert 1_200 == Window.of(6_000).reserve
    assert 32_000 == Window.of(1_000_000).reserve
    assert 500 == Window.of(6_000, max_output=500).reserve
    assert 1_200 == Window.of(6_000, max_output=5_000).reserve


def test_hard_is_bounded_by_max_input_and_usable_by_effective():
    window = Window.of(200_000, max_input=150_000, effective=100_000)
    assert (150_000, 100_000) == (window.hard, window.usable)
    assert 100_000 == window.size


def test_70_and_90_per_cent_of_200k_with_40k_reserve_are_112k_and_144k():
    """Seed 003's own numbers only work against usable (DESIGN 10)."""
    usable = Window.of(200_000, reserve=40_000).usable
    assert (112_000, 144_000) == (usable * 700 // 1000, usable * 900 // 1000)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Window.of(0), "window 0 is too small"),
        (lambda: Window.of(-5), "window -5 is too small"),
        (lambda: Window.of(1_000, reserve=1_000), "reserve 1,000 is not inside"),
        (lambda: Window.of(1_000, effective=10), "effective 10 is too small"),
        (lambda: Window.of(1_000, max_input=3), "max_input 3 is too small"),
    ],
)
def test_an_impossible_window_is_refused_with_value_and_limit(make, said):
    with pytest.raises(BadWindow, match=said):
        make()
