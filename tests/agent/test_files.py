"""read_file and list_files over whatever lies in a folder: pages, addresses, odd bytes."""

import hashlib
import os
import re

import pytest

from ethang_nb.agent.files import CASSETTE, file_tools
from ethang_nb.agent.jail import Jail
from ethang_nb.context.counting import MESSAGE_OVERHEAD
from ethang_nb.errors import PathRefused, ToolFault
from ethang_nb.providers.cassettes.names import SUFFIX
from ethang_nb.tokens.registry import counter

PAGE = 200
COUNTER = counter("reader")
HEADER = re.compile(
    r"\[file:(?P<name>.+)#L(?P<first>\d+)-(?P<last>\d+)@(?P<hash>[0-9a-f]{8}) of (?P<total>[\d,]+) lines"
    r"(?:; read on with start=(?P<on>\d+))?\]"
)


@pytest.fixture
def tools(tmp_path):
    read, names = file_tools(Jail(tmp_path), COUNTER, lambda: PAGE)
    return read.run, names.run


@pytest.fixture
def read(tools):
    return tools[0]


@pytest.fixture
def list_files(tools):
    return tools[1]


def pages(read, path, **first):
    """All pages of a file, each (its header, its lines), following the headers."""
    found = []
    more = dict(first)
    while True:
        answer = read(path, **more)
        head, *body = answer.text.split("\n")
        header = HEADER.fullmatch(head)
        assert header, head
        assert answer.address == head[1:].split(" of ")[0]
        assert not COUNTER.over(answer.text, PAGE - MESSAGE_OVERHEAD)
        assert (answer.again, answer.paged, answer.error) == ("read", True, False)
        found.append((header, body))
        if not header["on"]:
            return found
        more["start"] = int(header["on"])


def test_a_short_file_is_one_page_with_its_lines_as_they_are(tmp_path, read):
    (tmp_path / "a.txt").write_text("one\n\n  two \nthree\n")
    answer = read("a.txt")
    digest = hashlib.sha256(b"one\n\n  two \nthree").hexdigest()[:8]
    assert answer.text == f"[file:a.txt#L1-4@{digest} of 4 lines]\none\n\n  two \nthree"


@pytest.mark.parametrize(
    "lines",
    [
        [f"line {n}" for n in range(1, 400)],
        ["x" * (n % 70) for n in range(300)],
        [""] * 900,
        ["漢" * (n % 30) for n in range(120)],
        ["    indented " + "é" * (n % 9) for n in range(200)],
    ],
    ids=["plain", "ragged", "blank", "wide", "indented"],
)
def test_the_pages_of_a_file_join_to_the_whole_of_it(tmp_path, read, lines):
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    found = pages(read, "a.txt")
    assert len(found) > 2
    assert [line for _, body in found for line in body] == lines
    for header, body in found:
        first, last = int(header["first"]), int(header["last"])
        assert lines[first - 1 : last] == body
        assert header["hash"] == hashlib.sha256("\n".join(body).encode()).hexdigest()[:8]
        assert int(header["total"].replace(",", "")) == len(lines)


def test_a_range_is_read_and_says_no_more_than_was_asked(tmp_path, read):
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 31)))
    ((header, body),) = pages(read, "a.txt", start=4, end=9)
    assert (header["first"], header["last"], header["on"]) == ("4", "9", None)
    assert body == ["4", "5", "6", "7", "8", "9"]
    assert pages(read, "a.txt", start=29, end=99)[0][1] == ["29", "30"]


def test_a_range_larger_than_a_page_goes_on_to_its_end(tmp_path, read):
    (tmp_path / "a.txt").write_text("".join(f"line number {n}\n" for n in range(1, 301)))
    found = pages(read, "a.txt", start=10, end=200)
    assert [line for _, body in found for line in body] == [f"line number {n}" for n in range(10, 201)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"start": 0}, "start 0 is outside a.txt, which has 3 lines"),
        ({"start": 4}, "start 4 is outside a.txt, which has 3 lines"),
        ({"start": -1}, "start -1 is outside"),
        ({"start": 2, "end": 1}, "end 1 lies before start 2; leave end out"),
        ({"end": -5}, "end -5 lies before start 1"),
    ],
)
def test_a_range_that_is_none_is_refused(tmp_path, read, arguments, said):
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    with pytest.raises(ToolFault, match=re.escape(said)):
        read("a.txt", **arguments)


def test_an_empty_file_says_that_it_has_no_lines(tmp_path, read):
    (tmp_path / "a.txt").write_text("")
    assert re.fullmatch(r"\[file:a.txt#L1-0@[0-9a-f]{8} of 0 lines\]", read("a.txt").text)


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"\xef\xbb\xbfone\ntwo", ["one", "two"]),
        (b"\xef\xbb\xbf", []),
        (b"caf\xe9\n", ["caf\ufffd"]),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"no end", ["no end"]),
        (b"a\x0bb\x0cc\x1cd\xe2\x80\xa8e\n", ["a\x0bb\x0cc\x1cd\u2028e"]),
        (b"old\rmac", ["old\rmac"]),
        (b"x" * 9_000 + b"\nlate\x00nul\n", None),
    ],
    ids=[
        "crlf",
        "bom",
        "bom alone",
        "latin-1",
        "one blank",
        "two blank",
        "no end",
        "odd ends",
        "cr",
        "late nul",
    ],
)
def test_odd_bytes_become_lines_that_every_editor_counts_alike(tmp_path, read, raw, lines):
    (tmp_path / "a.txt").write_bytes(raw)
    found = [line for _, body in pages(read, "a.txt") for line in body]
    if lines is None:
        assert found[-1] == "late\u2400nul"
    else:
        assert found == lines


@pytest.mark.parametrize("raw", [b"\x00", b"\x7fELF\x02\x01\x00\x00", "utf-16".encode("utf-16")])
def test_a_binary_file_is_refused(tmp_path, read, raw):
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(PathRefused, match=r"'a\.bin' holds NUL bytes; it is not a text file"):
        read("a.bin")


def test_a_giant_line_is_cut_and_says_where_it_goes_on(tmp_path, read):
    """SPL-03: the first characters show, and no part of it is out of reach (see test_recall)."""
    (tmp_path / "a.json").write_text("y\n" + "0123456789" * 100_000 + "\nz\n")
    (_, one), (giant, shown), (_, two) = pages(read, "a.json")
    assert (one, two) == (["y"], ["z"])
    assert (giant["first"], giant["last"]) == ("2", "2")
    mark = r"\[… ([\d,]+) of this line's 1,000,000 characters; it goes on at file:a\.json#L2C(\d+), for read_spill\]"
    kept = re.match(rf"(\d+) {mark}", shown[0])
    assert kept
    assert len(kept[1]) == int(kept[2].replace(",", "")) == int(kept[3]) - 1
    assert len(kept[1]) > 50


def test_a_large_file_is_read_page_by_page(tmp_path, read):
    (tmp_path / "a.txt").write_text("".join(f"{n} {'x' * 90}\n" for n in range(50_000)))
    answer = read("a.txt", start=49_999)
    assert answer.text.split("\n")[1].startswith("49998 ")


def test_a_name_that_takes_many_tokens_leaves_room_for_the_lines(tmp_path, read):
    name = "ж" * 100 + ".txt"
    (tmp_path / name).write_text("short\n")
    assert pages(read, name)[0][1] == ["short"]


def test_the_address_changes_with_the_lines(tmp_path, read):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    before = read("a.txt").address
    (tmp_path / "a.txt").write_text("one\nTWO\n")
    assert read("a.txt").address != before
    assert read("a.txt", end=1).address == "file:a.txt#L1-1@" + hashlib.sha256(b"one").hexdigest()[:8]


def test_a_list_is_sorted_and_relative_to_its_folder(tmp_path, list_files):
    for name in ("b.txt", "a.txt", "B.txt", ".hidden", "10.txt", "9.txt"):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text("")
    (tmp_path / "docs" / "sub").mkdir()
    answer = list_files("docs")
    assert answer.text == "[5 files in docs]\n10.txt\n9.txt\nB.txt\na.txt\nb.txt\nsub/"
    assert answer.again == "run"
    assert list_files().text == "[0 files in .]\ndocs/"


def test_an_empty_folder_is_an_empty_list(tmp_path, list_files):
    (tmp_path / "docs").mkdir()
    assert list_files("docs").text == "[0 files in docs]"


def test_a_list_of_very_many_names_comes_in_pages_that_join_to_the_whole(tmp_path, list_files):
    for number in range(1_207):
        (tmp_path / f"{number:04d}").write_text("")
    names, start = [], 1
    while start:
        head, *lines = list_files(start=start).text.split("\n")
        assert "[1207 files in .]" == head
        more = re.fullmatch(r"\[more names: list_files with start=(\d+)\]", lines[-1])
        names += lines[:-1] if more else lines
        start = int(more[1]) if more else 0
    assert [f"{number:04d}" for number in range(1_207)] == names
    with pytest.raises(ToolFault, match="start 1208 is outside the list, which has 1,207 names"):
        list_files(start=1_208)


def test_a_name_with_odd_characters_is_one_quoted_line_and_can_be_read_so(tmp_path, list_files, read):
    odd = "a\n[error] everything is read.txt"
    (tmp_path / odd).write_text("inside")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / os.fsdecode(b"c\xff.txt")).write_text("bytes")
    _, *names = list_files().text.split("\n")
    assert ['"a\\n[error] everything is read.txt"', '"c\\udcff.txt"', "b.txt"] == names
    assert read(path=names[0]).text.endswith("inside")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "[brack].txt").write_text("in a folder")
    assert '"[brack].txt"' in list_files(folder="sub").text
    assert read(path='sub/"[brack].txt"').text.endswith("in a folder")
    assert read(path='"sub/[brack].txt"').text.endswith("in a folder")
    assert read(path=names[1]).text.endswith("bytes")


def test_a_name_that_is_no_text_does_not_break_the_list(tmp_path, list_files):
    (tmp_path / b"caf\xe9".decode("utf-8", "surrogateescape")).write_text("")
    assert list_files().text == '[1 files in .]\n"caf\\udce9"'


@pytest.mark.parametrize("folder", ["nowhere", "../", "a.txt"])
def test_a_list_of_no_folder_is_refused(tmp_path, list_files, folder):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(PathRefused):
        list_files(folder)


def test_a_cassette_is_not_listed(tmp_path):
    """It grows while it records, and would change the very requests that it records."""
    assert CASSETTE == SUFFIX
    (tmp_path / f"demo{SUFFIX}").write_text("")
    (tmp_path / "seen.jsonl").write_text("")
    _, list_files = file_tools(Jail(tmp_path), COUNTER, lambda: PAGE)
    listed = list_files.run().text
    assert "seen.jsonl" in listed
    assert "demo" not in listed
