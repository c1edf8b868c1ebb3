from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.context.cutting import cut, head, tail
from tests.context.builders import WORDS, words


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(alphabet="ab \n", max_size=40), max_size=60).map("\n".join), st.integers(30, 120))
def test_a_cut_text_is_within_its_limit_and_names_the_address(text, limit):
    shown = cut(text, limit, WORDS, "spill://0123456789ab")
    assert WORDS.count(shown) <= limit
    if WORDS.count(text) <= limit:
        assert text == shown
    else:
        assert "spill://0123456789ab" in shown


def test_head_and_tail_stay_three_to_one():
    text = "\n".join(f"line {number} has some words in it" for number in range(400))
    shown = cut(text, 200, WORDS, "log://3")
    first, _, rest = shown.partition("[… ")
    assert first.startswith("line 0 ") and shown.rstrip().endswith("line 399 has some words in it")
    assert 2 <= WORDS.count(first) / WORDS.count(rest.split("read_spill]")[1]) <= 4


def test_the_marker_says_how_much_is_missing_in_characters_and_lines():
    text = "\n".join(f"line {number}" for number in range(900))
    shown = cut(text, 100, WORDS, "log://3")
    first, rest = shown.split("\n[… ")
    last = rest.split("read_spill]\n")[1]
    assert f"lines {first.count(chr(10)) + 2}-{900 - last.count(chr(10)) - 1} of 900" in rest
    assert not first.endswith("\n")


def test_a_text_without_spaces_or_ends_is_cut_too():
    assert len(head(words(5_000), 10, WORDS).split()) == 10
    assert len(tail(words(5_000), 10, WORDS).split()) == 10
