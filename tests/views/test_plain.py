"""Text from outside is shown as it is and can neither disguise itself nor drive a terminal."""

import unicodedata

import pytest

from ethang_nb.views.plain import Column, cells, indented, line, middle, pad, table, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cat \u202etxt.exe", r"cat \u202etxt.exe"),
        ("a\u2066b\u2069", r"a\u2066b\u2069"),
        ("\x07\x1b]0;title\x07", r"\x07\x1b]0;title\x07"),
        ("\x00\x7f\x9b", r"\x00\x7f\x9b"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("a\u2028b\u0085c", r"a\u2028b\x85c"),
    ],
)
def test_invisible_characters_are_shown_as_escapes(text, shown):
    """WID-07: control and bidi-override characters in action content."""
    assert visible(text) == shown


def test_ordinary_text_of_any_script_stays():
    for text in ("naïve café", "契約書を読む", "می‌خواهم", "👩‍💻", "line\n\ttab"):
        assert visible(text) == text


def test_nothing_invisible_is_left_of_any_character():
    everything = "".join(map(chr, [*range(0x3000), *range(0xD7F0, 0xE010), *range(0xE0000, 0xE0200)]))
    left = {
        char for char in visible(everything) if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    assert left == {"\n", "\t", "\u200c", "\u200d"}


def test_a_title_is_one_line_of_the_length_asked_for():
    assert line("  a\r\n b\tc  ") == "a b c"
    assert line("x" * 1_000_000, 20) == "x" * 19 + "…"


def test_a_cut_title_of_escapes_keeps_the_length():
    assert len(line("\u202e" * 500, 40)) == 40


def test_wide_characters_take_two_cells():
    assert cells("契約 e\u0301") == 6
    assert pad("契約書", 5) == "契約…"
    assert pad("契約", 5) == "契約 "


def test_a_number_is_never_cut():
    assert pad("1,234,567", 4, ">") == "1,234,567"


def test_a_path_is_cut_in_its_middle():
    assert middle("data/contracts/contract_14.txt", 20) == "data/c…ntract_14.txt"
    assert middle("short", 20) == "short"


def test_a_table_has_no_blanks_at_line_ends():
    lines = table(
        [Column(head="a", width=3), Column(head="b", width=4, align=">")], [("x", "1"), ("long one", "2")]
    )
    assert lines == ["  a       b", "  x       1", "  lo…     2"]


def test_wrapped_text_keeps_its_own_lines():
    assert indented("one two\n\nthree", "> ", 7) == ["> one", "> two", ">", "> three"]
