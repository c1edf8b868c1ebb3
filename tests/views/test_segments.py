"""Segments: each with its verdict, whether it may leave and why, and where to read it again."""

from dataclasses import replace

from ethang_nb.context.messages import user
from ethang_nb.context.segments import Segments
from ethang_nb.views import segments
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views import samples
from tests.views.reading import Reading

SEGMENTS = samples.contract_segments()
GOLDEN = """\
3 segments, 1,182 tokens; droppable 0; the next cleanup changes 1.
     #  segment                                         tokens  next cleanup
     0  You read contracts and report which orders…        250  stays
        owner; not droppable: system instructions never leave
     4  handoff note, generation 6                         431  rewritten
        reader, a claim of the agent; not droppable: one note, rewritten from
        the record
     9  read_file data/contracts/contract_20.txt           501  stays
        read_file, outside; not droppable: among the last 3 segments
        file:data/contracts/contract_20.txt#L1-31@5c5581d4
mended: call call_7 had no result; one was added"""


def test_the_text_is_this():
    some = Segments((SEGMENTS[0], SEGMENTS[4], SEGMENTS[8]), repairs=SEGMENTS.repairs)
    assert segments.text(some) == GOLDEN


def test_str_of_the_value_is_the_text():
    assert str(SEGMENTS) == segments.text(SEGMENTS)


def test_an_empty_context_says_so():
    assert segments.text(Segments()) == "Nothing is in the window yet."


def test_a_long_text_is_cut_in_the_middle():
    said = segments.text(samples.large().segments, 8).splitlines()
    assert "… 9,992 more; see segments[2:9994]" in said


def test_html_tells_droppable_in_words():
    read = Reading(segments.html(SEGMENTS))
    assert not read.faults
    assert "not droppable: system instructions never leave" in read.text
    assert "droppable: older tool turn; old tool output; it can be read again" in read.text
    assert "one line" in read.text


def test_what_may_leave_and_is_spared_by_rule_says_both():
    spared = replace(SEGMENTS[8], droppable=True)
    assert segments.allowed(spared) == "droppable, but stays for now"
    assert "droppable, but stays for now: among the last 3 segments" in " ".join(
        segments.text(Segments((spared,))).split()
    )
    assert segments.allowed(replace(spared, verdict="leaves")) == "droppable"


def test_a_pinned_segment_is_marked():
    drawn = segments.part(SEGMENTS, pins=samples.contracts().pins)
    assert "Never open contract_17. pinned constraint" in Reading(drawn).text


def test_a_lifted_pin_marks_nothing():
    lifted = samples.contracts().pins[2]
    assert "pinned" not in Reading(segments.part(SEGMENTS, pins=(lifted,))).text


def test_ten_thousand_segments_stay_a_small_output():
    html = segments.html(samples.large().segments)
    assert len(html.encode()) < OUTPUT_BYTES
    assert "… 9,960 more; see segments[10:9970]" in html


def test_long_hostile_titles_stay_a_small_output():
    item = samples.hostile("\U000e0041" * 1_000_000).segments[0]
    assert len(segments.html(Segments((item,) * 200)).encode()) < OUTPUT_BYTES


def test_the_line_of_a_policy_without_notes_is_not_called_a_note():
    (note,) = (item for item in SEGMENTS if item.kind == "note")
    line = "[14 segments left the window, 3,820 tokens, without a note: log://4 to log://31]"
    for text, title in (
        (line, segments.LINE),
        ("[handoff note rules@v1, generation 6: x]\nwithout a note", note.title),
    ):
        shown = replace(note, messages=(user(text, kind="note"),))
        assert title in segments.text(Segments((shown,)))
        assert title in Reading(segments.html(Segments((shown,)))).text
