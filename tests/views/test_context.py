"""A snapshot as a whole: what a notebook stores of it is closed, small, and says everything without CSS."""

import pytest

import ethang_nb as eth
from ethang_nb.views import context
from ethang_nb.views.limits import OUTPUT_BYTES, WORKED_OUT
from tests.views import samples
from tests.views.reading import Reading

SNAPSHOTS = [
    pytest.param(make(), id=make.__name__)
    for make in (samples.contracts, samples.empty, samples.over, samples.large, samples.hostile)
]


def test_the_text_begins_with_who_and_how_full():
    assert str(samples.contracts()).splitlines()[:5] == [
        "contracts",
        "  reader (rules, not a language model) · policy ethang · window 6,000 (given)",
        "  step 23, reading",
        "",
        "68.4 % full: 3,284 of 4,800 usable tokens, counted exactly. Room for one more",
    ]


def test_the_text_says_when_the_next_cleanup_is_due():
    said = " ".join(str(samples.contracts()).split())
    assert (
        "Next cleanup: due at 3,840 tokens; if it came now: 3,284 → 2,780 tokens, 68.4 % → 57.9 % full."
        in said
    )


def test_an_empty_context_is_told_in_words():
    said = str(samples.empty())
    assert "Nothing is in the window yet." in said
    assert "No step yet." in said


@pytest.mark.parametrize("snapshot", SNAPSHOTS)
def test_a_stored_output_is_small_and_sound(snapshot):
    html = context.html(snapshot)
    assert len(html.encode()) <= OUTPUT_BYTES
    assert not Reading(html).faults


@pytest.mark.parametrize("snapshot", SNAPSHOTS)
def test_the_same_snapshot_gives_the_same_bytes(snapshot):
    assert context.html(snapshot) == context.html(snapshot)
    assert context.text(snapshot) == context.text(snapshot)


def test_a_megabyte_in_every_field_is_a_small_output():
    for char in ("x", "<", "&", "\U000e0041", "契", " a"):
        snapshot = samples.hostile(char * (1_000_000 // len(char)))
        assert len(context.html(snapshot).encode()) <= OUTPUT_BYTES
        assert len(context.text(snapshot)) < 60_000


def test_a_part_that_does_not_fit_is_named_instead():
    drawn = context.part(samples.contracts(), where="run.snapshot", room=9_000)
    assert len(drawn.encode()) <= 9_000
    assert "timeline: see run.snapshot.timeline" in Reading(drawn).text


def test_whatever_is_long_is_closed():
    read = Reading(context.html(samples.contracts()))
    assert read.tags.count("details") == 6
    assert ("details", "open") not in read.names


def test_every_table_has_headings_with_scope():
    read = Reading(context.html(samples.contracts()))
    heads = [tag for tag in read.tags if tag == "th"]
    assert len(heads) == sum(tag == "th" and name == "scope" for tag, name, _ in read.attributes)


def test_the_numbers_stand_in_the_text():
    """GitHub strips styles and drawings; what remains says the same."""
    text = Reading(context.html(samples.contracts())).text
    for said in (
        "68.4 % full",
        "tool output",
        "1,504",
        "31.3 %",
        "nudge at step 6",
        "due at 3,840 tokens",
        "2 lost",
    ):
        assert said in text


def test_no_heading_enters_the_notebooks_table_of_contents():
    tags = set(Reading(context.html(samples.contracts())).tags)
    assert not tags & {"h1", "h2", "h3", "h4", "h5", "h6"}


def test_there_is_one_style_sheet_and_nothing_that_runs_or_loads():
    read = Reading(context.html(samples.contracts()))
    assert read.tags.count("style") == 1
    assert not {"script", "img", "iframe", "link", "object"} & set(read.tags)
    assert not {
        name for _, name, _ in read.attributes if name.startswith("on") or name in ("src", "href", "id")
    }


def test_data_makes_no_element_and_no_attribute():
    """WID-08: tool output, file names and model text are text in every view."""
    tame, wild = Reading(context.html(samples.hostile("plain"))), Reading(context.html(samples.hostile()))
    assert set(wild.tags) <= set(tame.tags) | {"wbr"}
    assert wild.names <= tame.names
    assert '<img src=x onerror="window.p=1"></script></style>' in wild.text
    assert "\u202e" not in context.html(samples.hostile())


def test_data_drives_no_terminal():
    said = context.text(samples.hostile())
    assert not set(said) & set("\x1b\x07\x00\u202e\u2066")
    assert r"\u202etxt.exe" in said


def test_what_a_cleanup_would_do_to_each_of_very_many_segments_is_not_worked_out_to_be_stored():
    messages = [{"role": "user", "content": f"{number}"} for number in range(WORKED_OUT + 1)]
    snapshot = eth.Context.of(messages, 200_000).snapshot
    assert "what it does to each segment: snapshot.plan" in context.html(snapshot)
    assert "verdicts" not in vars(snapshot.plan)
