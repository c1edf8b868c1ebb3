"""A text brought under a limit: never over it, whole at both ends, and always with its address."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.context.address import parse
from ethang_nb.context.cutting import cut, head, tail
from ethang_nb.context.messages import clean
from ethang_nb.context.squeezing import squeeze
from ethang_nb.store.page import PAGE, page
from ethang_nb.store.spill import SpillStore
from ethang_nb.testing import WordCounter
from ethang_nb.tokens.registry import counter
from tests.tokens.strings import ATOMS, base64ish, tangle

WORDS = WordCounter()
O200K = counter("o200k_base")
REF = "spill://0123456789ab"
OTHER_REF = re.compile(r"spill://(?!0123456789ab)")


def words(count: int) -> str:
    return " ".join(["word"] * count)


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
    shown = cut(text, 200, WORDS, "log://3", reader="read_spill")
    first, _, rest = shown.partition("[… ")
    assert first.startswith("line 0 ") and shown.rstrip().endswith("line 399 has some words in it")
    assert 2 <= WORDS.count(first) / WORDS.count(rest.split("read_spill]")[1]) <= 4


def test_the_marker_says_how_much_is_missing_in_characters_and_lines():
    text = "\n".join(f"line {number}" for number in range(900))
    shown = cut(text, 100, WORDS, "log://3", reader="read_spill")
    first, rest = shown.split("\n[… ")
    last = rest.split("read_spill]\n")[1]
    assert f"lines {first.count(chr(10)) + 2}-{900 - last.count(chr(10)) - 1} of 900" in rest
    assert not first.endswith("\n")


def test_a_text_without_spaces_or_ends_is_cut_too():
    assert len(head(words(5_000), 10, WORDS).split()) == 10
    assert len(tail(words(5_000), 10, WORDS).split()) == 10


# ---- any text, with the counter that a session really has


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(ATOMS), max_size=60).map("".join)
    | st.builds(tangle, st.integers(0, 9_999), st.integers(0, 3_000)),
    st.integers(0, 400),
)
def test_no_text_is_over_its_limit_when_it_was_cut(text, limit):
    shown = cut(text, limit, O200K, REF)
    assert not O200K.over(shown, limit)
    assert shown == text or REF in shown or limit < 12
    assert shown == cut(text, limit, O200K, REF)


@settings(max_examples=150, deadline=None)
@given(st.builds(tangle, st.integers(0, 9_999), st.integers(300, 4_000)), st.integers(60, 300))
def test_what_stays_is_the_beginning_and_the_end(text, limit):
    text = clean(text)
    shown = cut(text, limit, O200K, REF)
    if shown == text:
        return
    first, _, rest = shown.partition("\n[… ")
    last = rest.partition("read_spill]\n")[2]
    assert text.startswith(first) and text.endswith(last)
    assert shown.encode()  # no half of a character


HUGE = {
    "one letter": "a" * 1_000_000,
    "blanks": " " * 1_000_000,
    "line ends": "\n" * 1_000_000,
    "base64": base64ish(3, 1_000_000),
    "ideographs": "漢" * 300_000,
    "a flag": "🏳️\u200d🌈" * 100_000,
    "marks": "e" + "\u0301" * 300_000,
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("limit", [26, 100, 1_000])
def test_a_megabyte_of_one_thing_is_cut_too(name, limit):
    shown = cut(HUGE[name], limit, O200K, REF)
    assert O200K.count(shown) <= limit
    assert REF in shown


@pytest.mark.parametrize("limit", [10, 20, 26])
def test_where_a_marker_does_not_fit_its_address_does(limit):
    """The entry limit of the smallest window is 30 tokens a message."""
    shown = cut(words(5_000), limit, O200K, REF, reader="read_spill")
    assert f"[… {REF}]" == shown
    assert not O200K.over(shown, limit)


# ---- cases of field_faults.jsonl, area spill: what of them is text


def pages(text: str, limit: int) -> tuple[str, int]:
    """What all pages join to when each header is followed, and the characters of the longest."""
    joined, longest, start, character = "", 0, 1, 1
    while True:
        shown = page(REF, [text], start, character=character, limit=limit)
        header, _, body = shown.partition("\n")
        joined, longest = joined + body, max(longest, len(shown))
        on = re.search(r"read on with (?:start=(\d+)|ref=(\S+))\]$", header)
        if on is None:
            return joined, longest
        place = parse(on[2] or f"{REF}#L{on[1]}")
        assert place is not None
        start, character = place.first or 1, place.character or 1


@pytest.mark.parametrize("ends", ["\n", ""])
def test_spl_01_a_page_is_bounded_and_cut_to_the_limit_it_names_no_other_address(ends):
    text = f"line of a long output{ends}" * 5_000
    shown = page(REF, [text], 1, 5_000)
    assert len(shown) <= PAGE and "read on with" in shown.split("\n")[0]
    entered = cut(shown, 1_000, O200K, REF)
    assert O200K.count(entered) <= 1_000
    assert entered.startswith(f"[{REF} line") and not OTHER_REF.search(entered)
    assert (text, True) == (pages(text, PAGE)[0], pages(text, PAGE)[1] <= PAGE)


def test_spl_03_one_giant_line_shows_its_beginning_and_every_part_can_be_read():
    text = '{"rows":[' + '{"k":1},' * 3_000 + "{}]}"
    shown = cut(text, 500, O200K, REF)
    assert shown.startswith('{"rows":[{"k":1},')
    assert re.search(
        r"\[… [\d,]+ characters left out, of 1 line; the whole text: spill://0123456789ab", shown
    )
    assert text == pages(text, 2_000)[0]


def test_spl_04_a_cut_result_says_so_and_comes_out_the_same_each_time(tmp_path):
    text = "x" * 900_000
    shown = {cut(text, 250, O200K, REF) for _ in range(3)}
    assert 1 == len(shown)
    assert "characters left out" in shown.pop()
    notices = {SpillStore(tmp_path).spill("read", text) for _ in range(3)}
    assert 1 == len(notices) == len(list(tmp_path.iterdir()))
    assert len(notices.pop()) < 2_000


@pytest.mark.parametrize("text", ["漢" * 30_000, "é" * 30_000, "🙂" * 30_000, "a漢🙂é" * 10_000])
@pytest.mark.parametrize("limit", [100, 101, 102, 103, 20_000])
def test_spl_08_no_cut_falls_into_a_character(text, limit):
    shown = cut(text, limit, O200K, REF)
    assert "\ufffd" not in shown and shown.encode().decode() == shown
    assert "characters left out" in shown or shown == text


@pytest.mark.parametrize(
    ("output", "sent"),
    [("build ok \ud83d done", "build ok \ufffd done"), ("head\0tail", "head\u2400tail")],
    ids=["spl_10", "spl_12"],
)
def test_spl_10_and_12_what_cannot_be_stored_is_replaced_where_it_enters_and_shows(output, sent, tmp_path):
    assert sent == clean(output) == cut(clean(output), 100, O200K, REF)
    store = SpillStore(tmp_path)
    assert sent == store.read(store.keep(output)).partition("\n")[2]
    long = cut(clean(output * 500), 100, O200K, REF)
    assert long.encode() and "\0" not in long


def test_spl_13_escape_codes_go_from_what_a_model_reads_and_stay_in_what_was_kept(tmp_path):
    output = (
        "\x1b[31mFAIL\x1b[0m a.test\n\x1b]8;;http://x.example\x07link\x1b]8;;\x07\n"
        "\x1b[?25l10%\r50%\r100%\n\x1b(B"
    )
    assert "FAIL a.test\nlink\n100%\n" == squeeze(output)
    assert squeeze(output) == squeeze(output.replace("\x07", "\x1b\\"))
    store = SpillStore(tmp_path)
    assert output == store.read(store.keep(output)).partition("\n")[2]
