"""The reading experiment: the source's rows to the token, ours within their bounds, and nothing built in."""

from dataclasses import FrozenInstanceError, replace

import pytest

import ethang_nb as eth
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import Misuse, Unknown
from ethang_nb.experiments import sources
from ethang_nb.experiments.agent import _Agent, read
from ethang_nb.experiments.configuration import SETTINGS, SOURCE, Configuration, Setting
from ethang_nb.experiments.reading import SEED, Reading
from ethang_nb.experiments.sources import SourceCounter

TRIM, COMPACT, SUB_AGENT = SOURCE
BARE = SETTINGS[0][0]
OURS = ("collapse + pins", "ethang, one", "lean, one", "reseed, pieces", "ethang, pieces")
WAYS = {way.name: way for _, ways in SETTINGS for way in ways}


# The source's rows


@pytest.mark.parametrize(
    ("name", "seed_total", "p95", "answer"),
    [
        ("naive trim", 101_114, 979, False),
        ("compaction", 69_539, 692, False),
        ("sub-agent", 12_018, 134, True),
    ],
)
def test_the_seeds_rows_come_out_to_the_token(found, name, seed_total, p95, answer):
    """Seed 002, the table of its experiment."""
    row = found.row(name)
    assert (row.seed_total, row.p95, row.answer) == (seed_total, p95, answer)
    assert row.source


@pytest.mark.parametrize(
    ("total", "trim", "compact"), [(4_000, None, 50_669), (8_000, None, 77_591), (12_000, 107_642, 107_642)]
)
def test_other_windows_give_what_the_source_gives(counts, total, trim, compact):
    """seed_systems B8: from 12,000 up nothing fires any more."""
    setting = Setting(name="other", about="", window=Window.of(total, reserve=600))
    if trim is not None:
        assert read(SEED, TRIM, setting, counts).seed_total == trim
    assert read(SEED, COMPACT, setting, counts).seed_total == compact


def test_other_knobs_give_what_the_source_gives(counts):
    """seed_systems B8: trigger .75 and keep 4."""
    policy = replace(COMPACT.policy, keep=4, levels=Levels(nudge=750, cleanup=750, landing=400))
    got = read(SEED, replace(COMPACT, policy=policy), BARE, counts)
    assert (got.seed_total, got.p95, got.helper_calls) == (72_470, 734, 1)


def test_the_notes_reference_is_part_of_the_total(counts, monkeypatch):
    """seed_systems B7: another fingerprint moves it."""
    monkeypatch.setattr(sources, "PROMPT", "compaction@v2+deadbeef")
    assert read(SEED, COMPACT, BARE, counts).seed_total == 69_487


def test_a_rougher_counter_gives_what_the_source_gives():
    """seed_systems B8: characters / 4."""

    class Quarter:
        name, how = "characters / 4", "estimated"

        def count(self, text):
            return len(text) // 4

        def over(self, text, limit):
            return len(text) // 4 > limit

    totals = [read(SEED, way, BARE, SourceCounter(Quarter())).seed_total for way in SOURCE]
    assert totals == [99_272, 66_132, 12_378]


def test_documents_in_full_give_what_the_source_gives(found):
    row = found.row("trim + find", "in full")
    assert (row.seed_total, row.p95) == (129_336, 999)


@pytest.mark.parametrize(
    ("name", "all_in", "cost"),
    [("naive trim", 106_391, 60_157), ("compaction", 77_510, 27_649), ("never trimmed", 114_551, 21_108)],
)
def test_all_in_and_cost_agree_with_an_independent_run(found, name, all_in, cost):
    """performance.md section 3, made with other code."""
    row = found.row(name)
    assert (row.all_in, row.cost) == (all_in, cost)


def test_what_the_source_leaves_out_is_counted(found):
    """The sub-agents read every document once: 395 tokens each."""
    sub_agent, compaction = found.row("sub-agent"), found.row("compaction")
    assert sub_agent.helper_calls == 30 and sub_agent.helpers > 30 * 395
    assert sub_agent.all_in == sub_agent.main + sub_agent.helpers > 2 * sub_agent.seed_total
    assert compaction.helper_calls == 2 and compaction.all_in > compaction.main


# Ours


@pytest.mark.parametrize("name", OURS)
def test_ours_keep_answer_and_constraint(found, name):
    row = found.row(name)
    assert row.answer and row.constraint


@pytest.mark.parametrize(
    ("name", "all_in", "p95", "cost"),
    [
        ("ethang, pieces", 30_000, 300, 13_500),
        ("lean, one", 35_000, 300, 14_500),
        ("ethang, one", 85_000, 800, 23_000),
    ],
)
def test_ours_stay_within_their_bounds(found, name, all_in, p95, cost):
    row = found.row(name)
    assert row.all_in <= all_in
    assert row.p95 <= p95
    assert row.cost <= cost


@pytest.mark.parametrize("name", OURS)
def test_what_is_sent_is_never_more_than_the_planner_counted(name, counts):
    """The bill counts the messages themselves; plan totals are upper bounds. A line that stands for a result is
    counted by our own overhead, one token under the source's."""
    agent = _Agent(SEED, WAYS[name], BARE, counts)
    agent.run(extended=True)
    lines = sum(message.text.startswith("[left the window: ") for message in agent.context.assemble())
    sent = sum(counts.whole(message) for message in agent.context.assemble())
    # The system message that holds the core is a segment in the source's books.
    assert sent <= agent.context.state.total + lines + 8


@pytest.mark.parametrize("name", OURS)
def test_without_the_search_none_of_ours_has_the_answer_in_view(counts, name):
    """The cut on entry hides it from all; only who looks finds it."""
    assert not read(SEED, replace(WAYS[name], follows=False), BARE, counts).answer


def test_the_constraint_is_kept_word_for_word_because_it_is_pinned(counts):
    heard, unheard = (
        read(SEED, replace(WAYS["ethang, pieces"], pins=pins), BARE, counts, extended=True).constraint
        for pins in (True, False)
    )
    assert heard and not unheard


# What the bare recipe hides


def test_in_a_large_window_no_policy_acts(found):
    rows = [row for row in found.measured if row.setting == "window 200,000"]
    threads = {(row.all_in, row.cost, row.p95) for row in rows if row.configuration != "sub-agent"}
    assert len(threads) == 1
    assert {row.seed_total for row in rows} == {107_642, 12_018}


def test_a_fixed_part_is_paid_with_every_call_by_helpers_too(found):
    bare, fixed = found.row("sub-agent"), found.row("sub-agent", "fixed 1,000")
    assert fixed.all_in == bare.all_in + 1_000 * (31 + 30)
    assert fixed.seed_total == bare.seed_total + 1_000 * 30
    assert fixed.cost < bare.cost + 1_000 * 61  # most of it from the cache


def test_documents_in_full_are_not_cut(counts):
    """Then the line stood in the window once, and the first document is sent whole."""
    policy = Configuration(name="whole", about="", policy=TRIM.policy)
    setting = Setting(name="in full", about="", spills=False)
    one = replace(SEED, documents=SEED.documents[3:4], constrained=0)
    assert read(one, policy, setting, counts).answer
    assert not read(one, policy, BARE, counts).answer


# Nothing is built in


def test_the_answer_goes_with_the_line(counts):
    """Without the line in the documents nobody has the answer, whatever the policy."""
    blank = replace(SEED, documents=tuple(text.replace("ORD-88421", "ORD-11111") for text in SEED.documents))
    for way in (*SOURCE, WAYS["ethang, pieces"], WAYS["lean, one"]):
        assert not read(blank, way, BARE, counts).answer
    moved = replace(blank, answer="ORD-11111")
    assert read(moved, WAYS["ethang, pieces"], BARE, counts).answer
    assert read(moved, SUB_AGENT, BARE, counts).answer


def test_a_line_in_the_head_of_a_document_needs_no_search(counts):
    first, *rest = SEED.documents
    told = replace(
        SEED, documents=(*rest, f"the affected order is ORD-88421 and the cap is 125,000\n{first}")
    )
    assert read(told, TRIM, BARE, counts).answer


@pytest.mark.parametrize(
    "way", [*SOURCE, WAYS["ethang, pieces"], WAYS["lean, one"]], ids=lambda way: way.name
)
def test_a_changed_document_changes_the_numbers(counts, way):
    """A longer first line enters what is cut; a longer finding is reported longer."""
    longer = replace(
        SEED,
        documents=(
            "an odd heading of seven more words\n" + SEED.documents[0].replace("nothing notable", "n.n."),
            *SEED.documents[1:3],
            SEED.documents[3] + ", both until further notice of the parties",
            *SEED.documents[4:],
        ),
    )
    before, after = (read(reading, way, BARE, counts) for reading in (SEED, longer))
    assert before.all_in != after.all_in
    assert before.cost != after.cost


def test_other_documents_are_another_experiment():
    short = Reading(documents=SEED.documents[:6])
    got = eth.delegation(short)
    assert got.row("naive trim").calls == 7
    assert got.row("naive trim").seed_total < 101_114
    assert str(got).startswith("6 documents")


# The value


def test_rows_are_ready_for_a_table(found):
    rows = found.rows()
    assert len(rows) == len(found.measured) == sum(len(ways) for _, ways in SETTINGS)
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert {type(value) for row in rows for value in row.values()} == {str, int, bool}


def test_the_same_is_found_every_time(found, counts):
    way = WAYS["ethang, pieces"]
    again = read(SEED, way, BARE, SourceCounter(eth.counter("o200k_base")))
    row = found.row(way.name)
    assert (again.all_in, again.cost, again.p95) == (row.all_in, row.cost, row.p95)


def test_the_value_is_frozen(found):
    with pytest.raises(FrozenInstanceError):
        found.measured = ()


def test_an_unknown_row_names_the_nearest(found):
    with pytest.raises(Unknown, match="ethang, pieces"):
        found.row("ethang, piece")
    with pytest.raises(Unknown, match="bare"):
        found.row("naive trim", "bar")


def test_a_reading_that_measures_nothing_is_refused():
    with pytest.raises(Misuse, match="without documents"):
        Reading(documents=())
    with pytest.raises(Misuse, match="sought of a reading is empty"):
        Reading(documents=("a",), sought=" ")
    with pytest.raises(Misuse, match="give a Reading"):
        eth.delegation(["a document"])
