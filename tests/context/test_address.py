"""Addresses: built, parsed and found in one place."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ethang_nb.context.address import LONGEST, Address, find_all, logged, parse

GIVEN = [
    ("log://17", Address(scheme="log", place="17")),
    ("log://17#L3", Address(scheme="log", place="17", first=3)),
    ("spill://0123456789ab", Address(scheme="spill", place="0123456789ab")),
    (
        "spill://0123456789ab#L7C15801",
        Address(scheme="spill", place="0123456789ab", first=7, character=15801),
    ),
    (
        "file:data/x.txt#L1-31@1a2b3c4d",
        Address(scheme="file", place="data/x.txt", first=1, last=31, version="1a2b3c4d"),
    ),
    ("file:a b#c.txt#L1-0@e3", Address(scheme="file", place="a b#c.txt", first=1, last=0, version="e3")),
    ('file:"x\\ny.txt"#L5', Address(scheme="file", place='"x\\ny.txt"', first=5)),
    ("file:mail@deadbeef", Address(scheme="file", place="mail@deadbeef")),
    ("cell:ab12@1a2b3c4d", Address(scheme="cell", place="ab12", version="1a2b3c4d")),
    ("var:frame", Address(scheme="var", place="frame")),
]
HOSTILE = [
    *(
        "",
        " ",
        "log://",
        "log://x",
        "log://017",
        "log://-1",
        "log://" + "9" * 400,
        "spill://xyz",
        "spill://12",
    ),
    *("file:", "file:///etc/passwd", "file:a\nb", "file:a\x00b#L1", "file:\ud800", "https://x/file", "x"),
    *("log://١٢", "log://5 and more", "file:" + "a" * LONGEST, None, 7, b"log://1"),
]
TOKENS = st.sampled_from(
    [
        *(
            "file:",
            "log://",
            "spill://",
            "cell:",
            "var:",
            "0123456789ab",
            "17",
            "#L",
            "1",
            "-31",
            "C",
            "@1a2b",
            ".",
        ),
        *(" ", '"', "\\", ",", ";", "|", "]", "[", "a.txt", "dir/", "\n", "\x00", "é", "#L3"),
    ]
)


@pytest.mark.parametrize(("text", "address"), GIVEN)
def test_an_address_is_parsed_into_its_parts_and_reads_the_same_again(text, address):
    assert address == parse(text)
    assert text == str(address)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_address_is_none_and_never_an_error(text):
    assert parse(text) is None


@given(st.text() | st.lists(TOKENS, max_size=12).map("".join))
@example("file:x#L" + "9" * 5_000)
def test_any_text_is_parsed_without_an_error_and_every_address_reads_the_same_again(text):
    address = parse(text)
    if address is not None:
        assert text.strip() == str(address)
        assert address == parse(str(address))
        assert address.line(2) == parse(str(address.line(2)))


@given(st.lists(TOKENS, max_size=40).map("".join))
@example("file:#L3.")
def test_what_is_found_in_a_text_is_an_address_that_stands_there(text):
    for address in find_all(text):
        assert str(address) in text
        assert address == parse(str(address))


def test_addresses_are_found_in_the_lines_that_rules_write_in_order():
    text = (
        "[left the window: read_file my x.txt, 465 tokens; read again: file:my x.txt#L1-31@1a2b3c4d]\n"
        "TURN log://5 read_file a, 9 tokens: file:a,b.txt#L1-3@ab, spill://0123456789ab\n"
        'see file:c.txt, file:d[1].txt#L2, file:"\\u00a0.txt"#L1 | text; profile:x, log://12x, and file:e.txt.'
    )
    assert [
        "file:my x.txt#L1-31@1a2b3c4d",
        "log://5",
        "file:a,b.txt#L1-3@ab",
        "spill://0123456789ab",
        "file:c.txt",
        "file:d[1].txt#L2",
        'file:"\\u00a0.txt"#L1',
        "file:e.txt",
    ] == [str(address) for address in find_all(text)]


@pytest.mark.parametrize(
    ("text", "number", "line"),
    [
        ("file:a.txt#L10-31@1a2b3c4d", 3, "file:a.txt#L12"),
        ("log://17", 4, "log://17#L4"),
        ("file:a.txt#L10-31", -5, "file:a.txt#L10"),
        ("spill://0123456789ab#L7C100", 1, "spill://0123456789ab#L7"),
    ],
)
def test_a_line_of_what_stands_at_an_address_has_its_own(text, number, line):
    assert line == str(parse(text).line(number))


def test_an_address_knows_its_lines_its_whole_text_and_its_event():
    address = parse("file:a.txt#L10-31@1a2b3c4d")
    assert ((10, 31), "file:a.txt", "file:a.txt#L10-31", -1) == (
        address.lines,
        address.base,
        address.unversioned,
        address.number,
    )
    assert (None, 17) == (logged(17).lines, logged(17).number)
