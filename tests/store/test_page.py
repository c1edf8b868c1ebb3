import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ethang_nb.context.address import parse
from ethang_nb.errors import NoSuchAddress
from ethang_nb.store.page import page

REF = "spill://0123456789ab"
LINES = "".join(f"line {n}\n" for n in range(1, 901))


def read_all(text, limit, chunk=7):
    """Follows the headers to the end; what the pages join to, and how long the longest was."""
    joined, longest, start, character = "", 0, 1, 1
    while True:
        chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)]
        shown = page(REF, chunks, start, 0, character=character, limit=limit)
        header, _, body = shown.partition("\n")
        joined, longest = joined + body, max(longest, len(shown))
        on = re.search(r"read on with (?:start=(\d+)|ref=(\S+))\]$", header)
        if not on:
            return joined, longest
        place = parse(on[2] or f"{REF}#L{on[1]}")
        assert (place.first, place.character or 1) > (start, character)
        start, character = place.first, place.character or 1


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(st.sampled_from("ab漢\n\r\u2028 😀"), max_size=120),
    limit=st.integers(1, 220),
    chunk=st.integers(1, 50),
)
@example(text="a\n", limit=1, chunk=1)
@example(text="\n\n\n", limit=164, chunk=2)
def test_pages_join_to_the_very_text(text, limit, chunk):
    joined, longest = read_all(text, limit, chunk)
    assert joined == text
    assert longest <= max(limit, 165 + 1)


def test_the_header_says_where_the_lines_stand():
    shown = page(REF, [LINES])
    assert shown.startswith(f"[{REF} lines 1-200 of 900; read on with start=201]\nline 1\n")
    assert shown.endswith("\nline 200\n")


def test_only_the_lines_asked_for_are_shown():
    assert page(REF, [LINES], 400, 402).split("\n") == [
        f"[{REF} lines 400-402 of 900; read on with start=403]", "line 400", "line 401", "line 402", "",
    ]  # fmt: skip


def test_the_end_is_held_to_the_texts_end():
    assert page(REF, [LINES], 899, 5000).startswith(f"[{REF} lines 899-900 of 900]\n")


def test_a_start_alone_means_a_page_from_there():
    """`read on with start=201` is followed with the default end, 200."""
    assert page(REF, [LINES], 201).startswith(f"[{REF} lines 201-400 of 900; read on with start=401]")


def test_a_start_below_one_is_the_first_line():
    assert page(REF, [LINES], -5, 2).startswith(f"[{REF} lines 1-2 of 900;")


def test_a_start_behind_the_end_is_no_address():
    with pytest.raises(NoSuchAddress, match="has 900 lines; start=901 is behind its end"):
        page(REF, [LINES], 901)
    with pytest.raises(NoSuchAddress, match=r"line 2 of .* has 6 characters; character 8"):
        page(REF, [LINES], 2, character=8)


def test_a_page_ends_after_the_last_line_that_fits():
    shown = page(REF, [LINES], 1, 900, limit=1000)
    assert len(shown) <= 1000
    header, *lines = shown.split("\n")
    assert header == f"[{REF} lines 1-{len(lines) - 1} of 900; read on with start={len(lines)}]"


def test_a_line_longer_than_a_page_is_read_in_parts():
    text = "short\n" + "x" * 1000 + "\nlast"
    assert page(REF, [text], limit=660).startswith(f"[{REF} lines 1-1 of 3; read on with start=2]\nshort\n")
    first = page(REF, [text], 2, limit=660)
    assert first.startswith(f"[{REF} line 2 of 3, characters 1-500 of 1000; read on with ref={REF}#L2C501]\n")
    second = page(REF, [text], 2, character=501, limit=660)
    assert (
        second
        == f"[{REF} line 2 of 3, characters 501-1000 of 1000; read on with start=3]\n" + "x" * 500 + "\n"
    )


def test_an_empty_text_says_so():
    assert page(REF, []) == page(REF, [""]) == f"[{REF} is empty]\n"
