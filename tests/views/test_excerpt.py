"""Long lists are cut in the middle and say so."""

from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.markup import el


def drawn(items, most, allowance):
    return rows_within(
        items,
        lambda item: el("li", item),
        lambda said: el("li", said),
        where="x.items",
        most=most,
        allowance=allowance,
    )


def test_a_short_list_is_shown_whole():
    shown = excerpt([1, 2, 3], 3)
    assert (shown.head, shown.tail, shown.hidden) == ((1, 2, 3), (), 0)


def test_a_long_list_keeps_its_ends_and_names_the_slice_between():
    items = list(range(1_000))
    shown = excerpt(items, 8)
    assert [*shown.head, *items[shown.start : shown.stop], *shown.tail] == items
    assert shown.gap("x.items") == "… 992 more; see x.items[2:994]"


def test_everything_may_come_from_the_start():
    assert excerpt(range(10), 4, first=4).head == (0, 1, 2, 3)


def test_rows_keep_within_their_bytes():
    rows = drawn(["x" * 100] * 500, 40, 1_000)
    assert len(rows.encode()) <= 1_000
    assert "more; see x.items[" in rows


def test_one_row_too_large_leaves_only_the_line_that_says_so():
    assert drawn(["x" * 5_000], 40, 1_000) == "<li>… 1 more; see x.items[0:1]</li>"
