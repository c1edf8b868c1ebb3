"""What is said to be over a limit without counting is over it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.tokens import bounds
from ethang_nb.tokens.bounds import LINE_END_BYTES, TOKEN_BYTES, WORD_BYTES, surely_over
from ethang_nb.tokens.exact import ExactCounter
from ethang_nb.tokens.ranks import ENCODINGS, load
from tests.tokens.strings import ATOMS, base64ish, tangle

WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_token_is_longer_than_the_bounds_believe(encoding):
    tokens = load(encoding).token_byte_values()
    assert max(map(len, tokens)) <= TOKEN_BYTES
    assert max(len(token) for token in tokens if not WORD.isdisjoint(token)) <= WORD_BYTES
    assert max(len(token) for token in tokens if b"\n" in token) <= LINE_END_BYTES


def most_that_is_over(text):
    """The largest limit that the bounds call the text over, -1 if there is none; halving finds it."""
    low, high = -1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if surely_over(text, middle) else (low, middle - 1)
    return low


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=300, deadline=None)
@given(
    text=st.lists(st.sampled_from([*ATOMS, "word ", "a.b", "x/", "it's "]), max_size=80).map("".join)
    | st.builds(tangle, st.integers(0, 9_999), st.integers(0, 2_000))
)
def test_a_bound_is_never_above_the_count(encoding, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_BLOCK", 64)
        patch.setattr(bounds, "_LOOK", 200)
        assert most_that_is_over(text) < ExactCounter(name=encoding).count(text) or not text


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 60_000, "\n" * 60_000, base64ish(1, 60_000), "abc_" * 15_000, "a\n" * 30_000, "the end. " * 9_000,
        "x=1;" * 15_000, "1" * 60_000, "'s" * 30_000, "Aa1" * 20_000,
    ],
)  # fmt: skip
def test_nor_for_long_runs_of_one_thing(encoding, text):
    assert most_that_is_over(text) < ExactCounter(name=encoding).count(text)


@pytest.mark.parametrize("text", ["the quick brown fox. " * 5_000, "    return self.value\n" * 5_000])
def test_ordinary_text_far_over_the_limit_is_seen(text):
    assert surely_over(text, len(text) // 20)


def test_nothing_is_seen_where_the_bounds_cannot_tell():
    assert not surely_over("中文字符" * 1_000, 100)
    assert not surely_over("", 0)
