from ethang_nb.context.cutting import cut
from ethang_nb.providers.offline.pages import Part, lines_of, page, unmarked
from ethang_nb.tokens.registry import counter


def test_a_file_page_says_its_address_and_where_to_read_on():
    found = page("[file:lib/my x.py#L1-120@1a2b3c4d of 1,480 lines; read on with start=121]\nimport os")
    assert (found.path, found.address) == ("lib/my x.py", "file:lib/my x.py#L1-120@1a2b3c4d")
    assert (found.start, found.end, found.on, found.head) == (1, 120, 121, 1)


def test_a_whole_file_goes_on_nowhere():
    assert page("[file:a.txt#L1-31@1a2b3c4d of 31 lines]\nx").on == 0


def test_a_page_read_at_an_address_may_stand_under_a_label():
    found = page(
        "[stale: a.txt has changed since it was read]\n[spill://0123 lines 201-400 of 900; read on with start=401]"
    )
    assert (found.address, found.start, found.on, found.head) == ("spill://0123", 201, 401, 2)


def test_a_part_of_a_long_line_is_a_page_of_that_line():
    found = page(
        "[spill://01 line 7 of 9, characters 1-15800 of 27006; read on with ref=spill://01#L7C15801]\nx"
    )
    assert (found.address, found.start, found.end, found.on) == ("spill://01", 7, 7, 0)
    assert found.part == Part(first=1, last=15800, of=27006, ref="spill://01#L7C15801")


MARK = " [… 90 of this line's 3,000 characters; it goes on at file:{0}#L5C91, for read_spill]"


def test_a_cut_line_of_a_file_says_where_it_goes_on():
    text = f"[file:my big.txt#L5-5@1a2b3c4d of 9 lines; read on with start=6]\nxyz{MARK.format('my big.txt')}"
    found = page(text)
    assert (found.on, found.total) == (6, 9)
    assert found.part == Part(first=1, last=90, of=3000, ref="file:my big.txt#L5C91")
    assert unmarked(text.split("\n")[1]) == "xyz"


def test_a_file_that_holds_such_words_about_another_goes_on_nowhere():
    assert page(f"[file:a.txt#L5-5@1a2b3c4d of 9 lines]\nxyz{MARK.format('b.txt')}").part is None


def test_other_texts_are_no_page():
    assert page("[error] no such file") is None
    assert (
        page("[left the window: read_file a.txt, 400 tokens; read again: file:a.txt#L1-3@1a2b3c4d]") is None
    )


def test_a_cut_text_keeps_its_line_numbers_and_drops_the_lines_at_the_edges():
    lines = [f"line {number} of the text" for number in range(1, 301)]
    known = lines_of(cut("\n".join(lines), 300, counter("reader"), "spill://01", reader="read_spill"))
    assert (known.total, known.ref) == (300, "spill://01")
    assert 20 < len(known.lines) < 100
    assert all(lines[number - 1] == line for number, line in known.lines.items())
    assert {1, 300} <= set(known.lines)
