"""The report: one page that needs nothing else, for everyone."""

import re

import pytest

from ethang_nb.views.diff import BOUND
from ethang_nb.views.report import report
from ethang_nb.views.words import WORDS
from tests.views import samples
from tests.views.reading import Reading

PAGES = {
    make.__name__: report(make())
    for make in (samples.contracts, samples.empty, samples.over, samples.large, samples.hostile)
}
PAGES["run"] = report(samples.contracts(), samples.run(), title="Which orders?")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound(name):
    read = Reading(PAGES[name].removeprefix("<!doctype html>"))
    assert not read.faults
    assert read.tags.count("h1") == read.tags.count("main") == read.tags.count("title") == 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_needs_nothing_else(name):
    read = Reading(PAGES[name])
    assert not {"script", "img", "iframe", "link", "object"} & set(read.tags)
    links = [value for _, attribute, value in read.attributes if attribute in ("href", "src")]
    assert all(value.startswith("#eth-") for value in links)


def test_scripts_and_loading_are_forbidden_by_the_page_itself():
    assert 'http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;' in PAGES["contracts"]


def test_the_same_snapshot_gives_the_same_bytes():
    assert report(samples.contracts(), samples.run(), title="Which orders?") == PAGES["run"]


def test_every_link_leads_somewhere():
    for page in PAGES.values():
        read = Reading(page)
        ids = {value for _, name, value in read.attributes if name == "id"}
        assert {value[1:] for _, name, value in read.attributes if name == "href"} == ids


def test_task_and_answer_stand_on_top():
    text = Reading(PAGES["run"]).text
    assert text.index("Read every file") < text.index("Two orders are affected") < text.index("68.4 % full")


def test_the_sentence_under_the_figure():
    text = Reading(PAGES["contracts"]).text
    said = "3,284 of 4,800 usable tokens, counted exactly. Room for one more result of 556 before cleanup. p95 78.1 %."
    assert said in text


def test_every_cleanup_is_there_newest_first_and_open():
    page = PAGES["contracts"]
    summaries = re.findall(r"<details( open)?><summary>Cleanup at step (\d+)", page)
    assert summaries == [(" open", "22"), *(("", step) for step in ("19", "16", "13", "10", "7"))]
    assert BOUND in page


def test_a_whole_note_is_shown():
    assert "To search the record: find_in_record(query)" in PAGES["contracts"]


def test_tables_stay_tables_to_a_screen_reader():
    """Laid out as cards or columns, a table loses its meaning unless its roles are spelled out."""
    page = PAGES["contracts"]
    cards = page[page.index('id="eth-segments"') : page.index('id="eth-cleanups"')]
    read = Reading(cards[cards.index("<table") : cards.index("</table>") + 8])
    roles = {(tag, value) for tag, name, value in read.attributes if name == "role"}
    assert roles == {
        ("table", "table"),
        ("thead", "rowgroup"),
        ("tbody", "rowgroup"),
        ("tr", "row"),
        ("th", "columnheader"),
        ("th", "rowheader"),
        ("td", "cell"),
    }


def test_what_scrolls_can_be_reached_by_keyboard():
    for tag, name, value in Reading(PAGES["large"]).attributes:
        if name == "class" and value in ("eth-tall", "eth-scroll"):
            assert f'<{tag} class="{value}" tabindex="0"' in PAGES["large"]


def test_words_are_explained_at_the_end():
    text = Reading(PAGES["contracts"]).text
    assert all(about in text for about in WORDS.values())


def test_drawings_have_a_label():
    read = Reading(PAGES["contracts"])
    drawn = [value for _, name, value in read.attributes if name == "role" and value == "img"]
    labels = [value for _, name, value in read.attributes if name == "aria-label"]
    assert len(drawn) == 2
    assert any("3,284 of a window of 6,000 tokens are used" in label for label in labels)
    assert any(label.startswith("Fill by step") for label in labels)


def test_ten_thousand_segments_are_cut_with_a_line_that_says_so():
    assert "… 9,000 more; see snapshot.segments[250:9250]" in PAGES["large"]
    assert len(PAGES["large"]) < 1_500_000


def test_data_makes_no_element_and_no_attribute():
    tame = Reading(report(samples.hostile("plain"), samples.hostile_run("plain"), title="plain"))
    wild_page = report(samples.hostile(), samples.hostile_run(), title=samples.HOSTILE)
    wild = Reading(wild_page)
    assert set(wild.tags) <= set(tame.tags) | {"wbr"}
    assert wild.names <= tame.names
    assert "\x00" not in wild_page
    assert "\u202e" not in wild_page


def test_a_megabyte_in_every_field_is_a_page():
    assert len(report(samples.hostile("x" * 1_000_000))) < 1_000_000
