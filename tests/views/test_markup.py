"""HTML is escaped by construction."""

import pytest

from ethang_nb.views.markup import Markup, address, breakable, el, escaped, join, style_sheet
from tests.views.reading import Reading


def test_a_string_child_is_text():
    assert el("p", "<b>&</b>") == "<p>&lt;b&gt;&amp;&lt;/b&gt;</p>"


def test_an_element_is_kept():
    assert el("p", el("b", "x"), None, " y") == "<p><b>x</b> y</p>"


def test_an_attribute_cannot_be_left():
    read = Reading(el("i", title="\"' onload=p=1 > <b>"))
    assert read.attributes == [("i", "title", "\"' onload=p=1 > <b>")]


def test_attributes_are_spelled_as_in_html():
    drawn = el("td", class_="eth-n", aria_label="x", colspan=2, hidden=True, open=False, id=None)
    assert drawn == '<td class="eth-n" aria-label="x" colspan="2" hidden></td>'


def test_joining_with_plus_makes_text_again():
    """A mistake shows up as visible tags, never as live ones."""
    joined = el("b", "x") + " y"
    assert not isinstance(joined, Markup)
    assert join(joined) == "&lt;b&gt;x&lt;/b&gt; y"


def test_hidden_characters_are_shown():
    assert escaped("a\u202eb") == r"a\u202eb"


def test_an_address_may_wrap_at_its_separators_only():
    assert address("file:a/b_c.txt#L1-3@1a2b") == "<code>file:a/<wbr>b_c.txt<wbr>#L1-3<wbr>@1a2b</code>"
    assert breakable("</b>") == "&lt;/b&gt;"
    assert address("") is None


@pytest.mark.parametrize("tag", ["a b", "<x", "", "1a"])
def test_a_tag_comes_from_code(tag):
    with pytest.raises(ValueError, match="is no tag name"):
        el(tag)


def test_an_attribute_name_comes_from_code():
    with pytest.raises(ValueError, match="is no attribute name"):
        el("p", **{"a b": 1})


def test_a_style_sheet_cannot_close_its_element():
    with pytest.raises(ValueError, match="closing tag"):
        style_sheet("a{}</style>")
