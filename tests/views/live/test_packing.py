"""Packed marks: the same ones, in few characters."""

from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.views.live.packing import packed
from tests.views.live.applier import unpacked


@given(codes=st.lists(st.integers(0, 90), max_size=60), data=st.data())
def test_packed_says_the_marks_it_was_given_and_of_others_only_those_they_have(codes, data):
    rows = sorted(data.draw(st.sets(st.sampled_from(range(len(codes)))))) if codes else []
    said = unpacked(packed(rows, codes))
    assert set(rows) <= set(said)
    assert all(codes[row] == code for row, code in said.items())


def test_kinds_that_alternate_travel_in_about_a_character_a_row():
    codes = [1, 2, 3] * 1_000
    assert sum(len(str(piece)) for piece in packed(range(3_000), codes)) < 3_100
    assert [[0, 3_000, 7]] == packed(range(3_000), [7] * 3_000)
