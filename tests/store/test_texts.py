import pytest

from ethang_nb.store.record import Record
from ethang_nb.store.texts import Hit

FILE = "file:data/contracts/contract_03.txt#L40-42@1a2b3c4d"
CONTRACT = "Customer: ACME\nThe affected order cap is 4 per day.\nSigned in May."


def addresses(record, query, limit=5):
    return [hit.address for hit in record.find(query, limit)]


def test_a_line_of_a_file_has_that_files_address(record):
    record.append("result", {}, text=CONTRACT, address=FILE)
    assert record.find("order cap", 5) == (
        Hit(
            address="file:data/contracts/contract_03.txt#L41",
            text="The affected order cap is 4 per day.",
            seq=1,
        ),
    )


def test_the_header_of_a_page_is_not_a_line_of_the_file(record):
    text = f"[{FILE} of 42 lines]\n{CONTRACT}"
    record.append("result", {}, text=text, address=FILE)
    assert addresses(record, "cap") == ["file:data/contracts/contract_03.txt#L41"]
    assert addresses(record, "contract 03 lines") == []


@pytest.mark.parametrize(
    ("address", "header", "found"),
    [
        ("", "", "log://1#L2"),
        ("log://17", "", "log://17#L2"),
        ("spill://0123456789ab", "", "spill://0123456789ab#L2"),
        ("cell:4", "", "cell:4#L2"),
        ("file:a b.txt", "", "file:a b.txt#L2"),
        (
            "spill://0123456789ab",
            "[spill://0123456789ab lines 401-403 of 900; read on with start=404]\n",
            "spill://0123456789ab#L402",
        ),
        (
            "spill://0123456789ab#L401-403",
            "[spill://0123456789ab#L401-403 lines 1-3 of 3]\n",
            "spill://0123456789ab#L402",
        ),
    ],
)
def test_every_line_says_where_it_can_be_read(record, address, header, found):
    record.append("result", {}, text=header + CONTRACT, address=address)
    assert addresses(record, "cap") == [found]


def test_a_file_line_read_twice_is_one_hit(record):
    for _ in range(3):
        record.append("result", {}, text=CONTRACT, address=FILE)
    record.append(
        "result",
        {},
        text="The affected order cap is 4 per day.",
        address="file:data/contracts/contract_03.txt#L41-41@99999999",
    )
    hits = record.find("order cap", 5)
    assert [(hit.address, hit.seq) for hit in hits] == [("file:data/contracts/contract_03.txt#L41", 4)]


def test_of_a_line_that_changed_the_older_wording_is_in_the_log(record):
    record.append("result", {}, text="a\nthe cap is 4", address="file:a.txt#L1-2@11111111")
    record.append("result", {}, text="a\nthe cap is 5", address="file:a.txt#L1-2@22222222")
    assert {(hit.address, hit.text) for hit in record.find("cap", 5)} == {
        ("log://1#L2", "the cap is 4"),
        ("file:a.txt#L2", "the cap is 5"),
    }


def test_the_best_line_comes_first_and_the_limit_holds(record):
    record.append("a", {}, text="an order\nthe order cap\nanother order of the day")
    record.append("b", {}, text="cap of the affected order is 4")
    assert addresses(record, "What is the cap of the affected order?", 2) == ["log://2#L1", "log://1#L2"]
    assert record.find("order", 0) == ()


def test_equal_lines_come_in_the_records_order(record):
    for name in "abc":
        record.append("x", {}, text=f"cap of {name}")
    assert addresses(record, "cap") == ["log://1#L1", "log://2#L1", "log://3#L1"]


def test_what_other_sessions_hold_changes_no_answer(tmp_path):
    texts = ["the order cap is 4", "an order", "a cap", "nothing here"]
    with Record.open(tmp_path, "a") as a, Record.open(tmp_path, "b") as b:
        for text in texts:
            a.append("x", {}, text=text)
        before = a.find("order cap", 4)
        for _ in range(20):
            b.append("x", {}, text="cap cap cap")
        assert a.find("order cap", 4) == before


def test_a_query_is_plain_text(record):
    record.append("x", {}, text='say "NEAR(a b)" AND 100% of text:cap*')
    for query in (
        '"',
        "cap*",
        "text:cap",
        "NEAR(",
        "AND",
        "a OR",
        "-cap",
        "100%",
        "^cap",
        "'; --",
        "cap\x00x",
        "\ud83d cap",
        "",
    ):
        assert len(record.find(query, 5)) <= 1
    assert addresses(record, "%") == addresses(record, "_") == []
    assert addresses(record, "cap\x00x") == ["log://1#L1"]


def test_a_long_line_is_shown_around_what_was_found(record):
    record.append("x", {}, text="x " * 5_000 + "the needle is here " + "y " * 5_000)
    (hit,) = record.find("needle", 1)
    assert "the needle is here" in hit.text
    assert len(hit.text) <= 402
    assert hit.text.startswith("…")
    assert hit.text.endswith("…")


def test_windows_line_ends_and_blank_lines_are_no_text(record):
    record.append("x", {}, text="one cap\r\n\r\n\ntwo caps\r\n")
    assert [(hit.address, hit.text) for hit in record.find("cap", 5)] == [
        ("log://1#L1", "one cap"),
        ("log://1#L4", "two caps"),
    ]


def test_lines_end_where_files_say_and_nowhere_else(record):
    """U+2028 and its like do not end a line, or every address after one would be wrong."""
    record.append("x", {}, text="a\u2028b\u0085c\x0cd\nthe cap", address="file:a.txt#L1-2@11111111")
    assert addresses(record, "cap") == ["file:a.txt#L2"]


def test_a_text_that_says_nothing_is_kept_all_the_same(record):
    record.append("x", {}, text="")
    record.append("x", {}, text="\n \n")
    assert record.text(1) == ""
    assert record.find("anything", 5) == ()


def test_the_index_survives_reopening(tmp_path):
    with Record.open(tmp_path, "s") as record:
        record.append("x", {}, text="the cap is 4")
    with Record.open(tmp_path, "s") as record:
        assert addresses(record, "caps") == ["log://1#L1"]
