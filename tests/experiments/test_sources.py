"""What is the source's own: its counting, rounding, wording and summary."""

import pytest

from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.experiments.reading import SEED
from ethang_nb.experiments.sources import HEAD_CHARS, notice, p95, summarise


def test_a_segment_takes_three_tokens_and_a_message_four_and_its_role(counts):
    assert counts.whole(user("two words")) == 3 + 4 + 1 + 2
    assert counts.whole(tool(ToolResult(call_id="1", text="two words"))) == 4 + 1 + 2


def test_a_call_is_its_text(counts):
    calls = [ToolCall(id="1", name="read_document_3", arguments='{"page": 12}')]
    assert counts.whole(assistant("two words", calls)) == counts.whole(assistant("two words"))


def test_the_percentile_rounds_as_python_does():
    """Of 31 fills the 29th, of 10 the 10th: round(.95 n)."""
    assert p95([step / 1000 for step in range(31)]) == 28
    assert p95([step / 1000 for step in range(10)]) == 9
    assert p95([0.6924]) == 692


@pytest.mark.parametrize(
    ("number", "characters"), [(0, 1_652), (9, 1_652), (10, 1_681), (29, 1_681), (3, 1_720)]
)
def test_the_documents_have_the_sizes_of_the_source(number, characters):
    assert len(SEED.documents[number]) == characters


def test_the_notice_hides_the_line_that_is_looked_for(counts):
    said = notice("read_document_3", SEED.documents[3], HEAD_CHARS, "spill://0e803ae97de7", "")
    assert len(said) in (832, 833)
    assert SEED.sought in SEED.documents[3] and SEED.sought not in said


def test_the_summary_has_five_headings_and_the_first_forty_facts(counts):
    text = "ORD-1, 2024-05-01, ab-12, 7.5%, spill://0e803ae97de7 " + " ".join(map(str, range(100, 200)))
    summary = summarise([[assistant("reading"), tool(ToolResult(call_id="1", text=text))]], counts)
    assert summary.text.count("## ") == 5
    for fact in ("ORD-1", "2024-05-01", "ab-12", "7.5%", "spill://0e803ae97de7", "134"):
        assert f"\n- {fact}\n" in summary.text
    assert "\n- 135\n" not in summary.text
    assert summary.written < counts.count(summary.text)


def test_the_address_of_the_document_is_lost_among_the_facts(counts):
    """`reachable with read_spill` ends with the first compaction (seed_systems, 0.6)."""
    leaving = [
        [
            tool(
                ToolResult(
                    call_id="1",
                    text=notice(f"read_document_{i}", SEED.documents[i], HEAD_CHARS, f"spill://{i:012x}", ""),
                )
            )
        ]
        for i in range(14)
    ]
    summary = summarise(leaving, counts)
    assert "spill://000000000001" in summary.text
    assert "spill://000000000003" not in summary.text
