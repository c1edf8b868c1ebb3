from __future__ import annotations

import pytest

from ethang_nb.context.diffing import Gone, compare, line_address
from ethang_nb.context.facts import facts


@pytest.mark.parametrize(
    ("text", "string", "kind"),
    [
        ("the order is ORD-88421 today", "ORD-88421", "identifier"),
        ("the cap is 125,000 EUR", "125,000", "number"),
        ("due 2026-03-01 at noon", "2026-03-01", "date"),
        ("see src/pay/core.py for it", "src/pay/core.py", "path"),
        ("run `pytest -q tests` again", "pytest -q tests", "command"),
        ("it said ValueError: bad cap", "ValueError: bad cap", "error"),
        ("growth of 12.5 % is high", "12.5 %", "number"),
    ],
)
def test_strings_worth_keeping_are_found(text, string, kind):
    assert (string, kind) in [(fact.text, fact.kind) for fact in facts(text)]


def test_facts_know_their_line_and_come_once():
    found = facts("nothing\nORD-1234\nORD-1234 and 99")
    assert [("ORD-1234", 2), ("99", 3)] == [(fact.text, fact.line) for fact in found]


def test_a_megabyte_of_digits_or_dashes_is_looked_at_in_bounded_time():
    for text in ("1" * 1_000_000, "a-" * 500_000, "a/" * 500_000, "`" * 1_000_000):
        facts(text)


def test_survival_says_what_was_kept_where_lost_where_and_invented():
    gone = [
        Gone(
            text="[file:a.txt#L1-3@0a1b2c3d of 3 lines]\nORD-1234\ncap 125,000",
            address="file:a.txt#L1-3@0a1b2c3d",
            offset=1,
        )
    ]
    fates = {
        fact.text: (fact.fate, fact.where)
        for fact in compare(gone, note="ORD-1234 and INV-777", core="", window=(), sources="")
    }
    assert ("kept", "note") == fates["ORD-1234"]
    assert ("lost", "file:a.txt#L2") == fates["125,000"]
    assert ("invented", "note") == fates["INV-777"]


def test_a_line_address_counts_from_the_first_line_of_its_range():
    assert "file:a.txt#L42" == line_address("file:a.txt#L40-90@0a1b2c3d", 3)
    assert "log://7#L3" == line_address("log://7", 3)


def test_a_fact_stands_in_the_window_also_as_a_part_of_a_longer_one():
    for gone, window in (
        ("ValueError: bad", "ValueError: bad happened"),
        ("on 2024-01-02", "[2024-01-02 10:00:00]"),
        ("rate 17.5", "`x = 17.5`"),
    ):
        (fact,) = compare([Gone(text=gone, address="log://1")], note="", core="", window=[window], sources="")
        assert ("kept", "window") == (fact.fate, fact.where), gone
