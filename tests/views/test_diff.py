"""Diff: left | note | facts, and the limit of what it proves."""

from dataclasses import replace

import pytest

from ethang_nb.views import diff
from ethang_nb.views.limits import OUTPUT_BYTES, PREVIEW
from tests.views import samples
from tests.views.reading import Reading

DIFF = replace(samples.contract_diff(22, 6), note="## Numbers\ncap 14.27\n\n## Next steps\nRead contract_20.")
GOLDEN = """\
Cleanup at step 22: 4,214 → 2,817 tokens, 87.8 % → 58.7 % full.
87.8 % full, over the cleanup level of 80.0 %

Left the window: 3 segments, 1,503 tokens
  one line   read_file data/contracts/contract_16.txt                      501
             file:data/contracts/contract_16.txt#L1-31@e3779b10
  one line   read_file data/contracts/contract_17.txt                      501
             file:data/contracts/contract_17.txt#L1-31@81af14c1
  one line   read_file data/contracts/contract_18.txt                      501
             file:data/contracts/contract_18.txt#L1-31@1fe68e72

Stands for it: a handoff note of 431 tokens, generation 6, written by reader
(compaction@v2+1a2b3c4d)
  | ## Numbers
  | cap 14.27
  |
  | ## Next steps
  | Read contract_20.

Facts: 2 kept, 2 lost, 1 invented.
  ? invented  9034  not in the record, but in the note
  ✕ lost      14.27  read it again at file:data/contracts/contract_16.txt#L28
  ✕ lost      2026-03-01  read it again at file:data/contracts/contract_17.txt#L9
  ✓ kept      contract_18  in the note
  ✓ kept      never open contract_17  in the core
String survival is an upper bound on recall: the model may overlook what still
stands.

Cached prefix breaks after 1,037 tokens; 1,853 are processed again; every later
request is 1,397 shorter; pays after 2 calls.
digest a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4"""


@pytest.mark.parametrize(("served", "said"), [(None, ""), (0, "0 of 1,037"), (950, "950 of 1,037")])
def test_what_the_cache_served_stands_beside_what_was_predicted_once_it_is_known(served, said):
    """Nothing served is a number; what nobody said is not there."""
    one = samples.contracts().diffs[0]
    one = replace(one, price=replace(one.price, served=served))
    for shown in (diff.text(one), diff.html(one)):
        assert ("Served from the cache" in shown) is bool(said)
        assert said in " ".join(shown.split())


def test_what_was_only_passing_is_told_apart_from_segments():
    diff_ = samples.contracts().diffs[0]
    nudge = replace(
        diff_.left[0], how="remove", title="[context pressure] The window is 75.7 % full.", tokens=62
    )
    count, tokens = len(diff_.left), sum(item.tokens for item in diff_.left)
    found = replace(diff_, left=(*diff_.left, nudge))
    assert diff.gone(found) == f"left the window: {count} segments and the nudge, {tokens + 62:,} tokens"
    only = replace(diff_, left=(replace(nudge, title="[context notice] x"),))
    assert diff.gone(only) == "left the window: a notice, 62 tokens"


def test_the_text_is_this():
    assert str(DIFF) == GOLDEN


def test_a_cleanup_without_a_note_says_what_stands_instead():
    said = diff.text(replace(DIFF, note="", note_tokens=0, facts=(), price=None, digest=""))
    assert "No note stands for it; one line each, with its address" in said
    assert diff.BOUND not in said


def test_html_tells_lost_facts_with_their_address():
    read = Reading(diff.html(DIFF))
    assert not read.faults
    assert "✕ lost 14.27 read it again at file:data/contracts/contract_16.txt#L28" in read.text
    assert "? invented 9034 not in the record, but in the note" in read.text
    assert diff.BOUND in read.text


def test_a_stored_note_is_a_preview_of_each_heading():
    long = replace(DIFF, note="## Decisions\n" + "x" * 5_000 + "\n## Numbers\n" + "y" * 5_000)
    text = Reading(diff.html(long)).text
    assert "x" * PREVIEW + "… 4,800 more characters; see diff.note" in text
    assert "x" * (PREVIEW + 1) not in text


def test_a_whole_note_is_shown_where_it_is_asked_for():
    long = replace(DIFF, note="## Decisions\n" + "x" * 5_000)
    assert "x" * 5_000 in Reading(diff.part(long, whole_note=60_000)).text


def test_a_thousand_lost_facts_stay_a_small_output():
    many = replace(DIFF, facts=DIFF.facts[2:3] * 1_000, left=DIFF.left * 1_000)
    html = diff.html(many)
    assert len(html.encode()) < OUTPUT_BYTES
    assert "988 more; see diff.of('lost')[12:1000]" in Reading(html).text


def test_many_facts_are_folded_where_all_are_shown():
    many = replace(DIFF, facts=DIFF.facts[2:3] * 399)
    read = Reading(diff.part(many, facts=200))
    assert not read.faults
    assert "387 more lost" in read.text
    assert "199 more; see diff.of('lost')[200:399]" in read.text


def test_facts_of_any_length_stay_a_small_output():
    fact = replace(DIFF.facts[2], text="<" * 9_000, where="<" * 9_000)
    many = replace(DIFF, facts=(fact,) * 100, left=DIFF.left * 1_000, note="## a\n" + "<" * 900_000)
    assert len(diff.html(many).encode()) <= OUTPUT_BYTES


def test_text_before_the_first_heading_is_kept():
    sections = diff.sections("[handoff note 3]\n\n## Numbers\nnone")
    assert [(item.head, item.body) for item in sections] == [("", "[handoff note 3]"), ("Numbers", "none")]
