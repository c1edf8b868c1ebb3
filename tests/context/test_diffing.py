from __future__ import annotations

import pytest

from ethang_nb.context.diffing import UPPER_BOUND, Gone, compare, line_address


def fates(
    gone: str, *, note: str = "", core: str = "", window: str = "", sources: str = ""
) -> dict[str, str]:
    """Fact -> where it is kept, "lost" or "invented"."""
    found = compare(
        [Gone(text=gone, address="log://7")], note=note, core=core, window=[window], sources=sources
    )
    return {fact.text: fact.where if fact.fate == "kept" else fact.fate for fact in found}


def test_survival_says_what_was_kept_where_lost_where_and_invented():
    gone = [
        Gone(
            text="[file:a.txt#L1-3@0a1b2c3d of 3 lines]\nORD-1234\ncap 125,000",
            address="file:a.txt#L1-3@0a1b2c3d",
            offset=1,
        )
    ]
    found = {
        fact.text: (fact.fate, fact.where)
        for fact in compare(gone, note="ORD-1234 and INV-777", core="", window=(), sources="")
    }
    assert ("kept", "note") == found["ORD-1234"]
    assert ("lost", "file:a.txt#L2") == found["125,000"]
    assert ("invented", "note") == found["INV-777"]


def test_the_nearest_place_that_holds_a_fact_is_named():
    gone = "ORD-1001 ORD-1002 ORD-1003 ORD-1004"
    assert {"ORD-1001": "note", "ORD-1002": "core", "ORD-1003": "window", "ORD-1004": "lost"} == fates(
        gone, note="ORD-1001", core="ORD-1001 ORD-1002", window="ORD-1002 ORD-1003"
    )


def test_a_line_address_counts_from_the_first_line_of_its_range():
    assert "file:a.txt#L42" == line_address("file:a.txt#L40-90@0a1b2c3d", 3)
    assert "log://7#L3" == line_address("log://7", 3)
    assert "" == line_address("", 3)


@pytest.mark.parametrize(
    ("gone", "window"),
    [
        ("ValueError: bad", "ValueError: bad happened"),
        ("on 2024-01-02", "[2024-01-02 10:00:00]"),
        ("rate 17.5", "`x = 17.5`"),
        ("ORD-88421", "订单ORD-88421没有"),
        ("core.py", "in src/pay/core.py here"),
        ("migrations/ stays", "migrations/0001_initial.py"),
        ("-1500 left", "it is -1500 now"),
        ("12.5 % of it", "12.5% of it"),
        ("waits 40 ms", "40ms"),
    ],
)
def test_a_fact_stands_in_the_window_also_as_a_part_of_a_longer_one(gone, window):
    (fact,) = compare([Gone(text=gone, address="log://1")], note="", core="", window=[window], sources="")
    assert ("kept", "window") == (fact.fate, fact.where)


@pytest.mark.parametrize(
    ("gone", "window"),
    [
        ("all 300 of it", "contract-300, 1,300, 300,000, 300.5, 3000, x300"),
        ("all 1,300 of it", "21,300 and 1,300,000"),
        ("the order ORD-884", "ORD-8842"),
        ("c-100 pays", "acc-100"),
        ("cap = 7", "cap = 70, the gap is 7, cap and 7"),
        ("1a2b3c4d is it", "1a2b3c4d5e6f"),
    ],
)
def test_a_fact_does_not_stand_in_a_piece_of_another(gone, window):
    (fact,) = compare([Gone(text=gone, address="log://1")], note="", core="", window=[window], sources="")
    assert ("lost", "log://1#L1") == (fact.fate, fact.where)


@pytest.mark.parametrize(
    ("gone", "note"),
    [
        ("cap = 7", "- the cap is 7"),
        ('{"retries": 3}', "retries: 3"),
        ("the cap is 125,000 EUR", "- cap: EUR 125,000"),
        ("costs $1,200", "1,200 dollars"),
        ("due 2026-03-01", "- due 1 March 2026"),
        ("due March 1st, 2026", "due 01.03.2026"),
    ],
)
def test_a_note_may_say_a_fact_in_its_own_way(gone, note):
    """Kept, not lost; and what the note says instead is not invented."""
    found = fates(gone, note=note)
    assert ["note"] == list(found.values())


def test_what_another_source_says_is_not_invented():
    gone = "read contract_03 of ORD-1"
    assert "INV-777" not in fates(gone, note="INV-777", sources="INV-777 was paid")
    assert "INV-777" not in fates(gone, note="INV-777", window="INV-777")
    assert "INV-777" not in fates(gone, note="INV-777", core="INV-777")
    assert "invented" == fates(gone, note="INV-777", sources="INV-7778")["INV-777"]


def test_what_stands_in_a_departed_text_only_as_a_part_is_not_invented():
    assert "caps.csv" not in fates("FileNotFoundError: no file caps.csv here", note="caps.csv is missing")


def test_the_writers_own_counts_and_pointers_are_not_invented():
    gone = "[file:data/contracts/contract_30.txt#L1-31@1a2b3c4d of 31 lines]\nnothing"
    note = "27 files, 465 tokens; documents read: 27; data/contracts/contract_30.txt#L12@1a2b3c4d, log://17"
    assert "invented" not in fates(gone, note=note).values()


def test_another_number_for_a_known_name_is_invented():
    assert "invented" == fates("cap = 7", note="the cap is 9")["cap is 9"]
    assert "cap is 9" not in fates("nothing", note="the cap is 9")


@pytest.mark.parametrize("day", ["2026-03-02", "2 March 2026", "03/02/2026"])
def test_another_day_is_invented(day):
    assert "invented" == fates("due 2026-03-01", note=f"due {day}")[day]


def test_every_fact_of_a_text_stands_in_that_text():
    text = (
        "[300,299,5000,1] (-47 %) 2,034-4,681 0.2-0.27 ms; marshmallow-3.13.0) 1.250,50 € ORD,1250,300\n"
        'x["cap"]: 7, `pytest -q`, said "no such order". /etc/hosts: error: bad\n$ ls -l\n'
    )
    assert {"window"} == set(fates(text, window=text).values())
    assert {} == fates("", note=text, sources=text)


def test_the_sentence_beside_every_report():
    assert "upper bound on recall" in UPPER_BOUND
