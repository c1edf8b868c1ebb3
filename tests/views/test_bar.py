"""The bar is to scale, and its labels never overlap."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.views.bar import APART, CHARACTER, NARROW, PARTS, WIDE, bar, level_tokens, marks, place
from tests.views import samples
from tests.views.reading import Reading

BUDGETS = [samples.contracts().budget, samples.empty().budget, samples.over().budget, samples.large().budget]


def widths(html):
    return [float(width) for width in re.findall(r"(?<![-\w])width:([\d.]+)%", html)]


def test_slices_and_reserve_are_to_scale():
    held = samples.contracts().budget
    expected = [item.tokens * 100 / 6_000 for item in held.slices] + [20]
    assert all(abs(a - b) < 0.01 for a, b in zip(widths(bar(held)), expected, strict=True))


def test_nothing_is_drawn_beyond_the_window():
    for held in BUDGETS:
        inside = widths(bar(held))
        inside = inside[:-1] if held.over else inside  # what is over lies on top
        assert sum(inside) <= 100.001


def test_the_bar_is_told_in_words():
    (label,) = [value for _, name, value in Reading(bar(BUDGETS[0])).attributes if name == "aria-label"]
    assert label == (
        "3,284 of a window of 6,000 tokens are used: system 250, tools 600, core 142, task 45, handoff notes 431, "
        "history 312, tool output 1,504; free 1,516; reserve 1,200"
    )


def test_letters_are_no_text_of_the_page():
    """A host that strips styles must not show a row of loose letters."""
    assert Reading(bar(BUDGETS[0])).text == ""


def test_the_most_important_labels_keep_their_place():
    for held in BUDGETS:
        for pixels in (WIDE, NARROW):
            placed = place(marks(held), pixels)
            assert placed["cleanup"].up == 0
            assert placed["usable"].up is not None


def test_levels_are_calibrated_like_the_cleanup():
    held = samples.budget(system=1)
    assert level_tokens(held, held.levels.cleanup) == held.cleanup_at == 3_840
    assert level_tokens(held, held.levels.landing) == 1_920


@given(
    ats=st.lists(st.integers(0, PARTS), min_size=1, max_size=6),
    pixels=st.integers(NARROW, 1_400),
)
def test_labels_never_overlap(ats, pixels):
    names = ["cleanup", "usable", "landing", "nudge", "hard", "answer"]
    template = {mark.name: mark for mark in marks(samples.over().budget)}
    found = [
        type(template[name])(at=at, name=name, value="100.0 %", rank=rank)
        for rank, (name, at) in enumerate(zip(names, ats, strict=False))
    ]
    spans = {0: [], 1: []}
    for mark in found:
        spot = place(found, pixels)[mark.name]
        if spot.up is None:
            continue
        width = max(len(mark.name), len(mark.value)) * CHARACTER + APART
        left = mark.at * pixels / PARTS + width * spot.shift / 100
        assert -1 <= left <= pixels - width + 1 or spot.shift != -50
        assert all(left >= stop - 0.01 or left + width <= start + 0.01 for start, stop in spans[spot.up])
        spans[spot.up].append((left, left + width))
