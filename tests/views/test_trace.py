"""A trace: where a text is and was, in words and as a table."""

import pytest

from ethang_nb.agent.departures import Departure
from ethang_nb.agent.trace import Place, Trace
from ethang_nb.views import trace
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views import samples
from tests.views.reading import Reading

LEFT = Place(
    where="segment",
    title="read_file docs/c_03.txt",
    in_window=False,
    excerpt="…B-571. The affected order is ORD-88421 and its cap is 125,000 EUR.",
    segment="4",
    logged="log://33",
    address="file:docs/c_03.txt#L1-14@35ac72f1",
    step=4,
    left=(
        Departure(step=8, how="collapse", by="release"),
        Departure(step=12, how="evict", by="reseed"),
    ),
)
HERE = Place(where="core", title="core", in_window=True, excerpt="- constraint: ORD-88421 comes first")
SHRUNK = Place(
    where="segment",
    title="read_file docs/c_04.txt",
    in_window=True,
    excerpt="ORD-88421",
    segment="0",
    logged="log://7",
    address="log://7",
    form="shrunk",
)
GOLDEN = """\
“ORD-88421” is in 2 places of the window; it left 1 place.

Core
  now in the window
  “- constraint: ORD-88421 comes first”

Segment 4, read_file docs/c_03.txt
  now out of the window; came after step 4; became one line at step 8 (release);
  left at step 12 (reseed)
  “…B-571. The affected order is ORD-88421 and its cap is 125,000 EUR.”
  record: log://33
  read again: file:docs/c_03.txt#L1-14@35ac72f1

Segment 0, read_file docs/c_04.txt
  now in the window, shrunk; came before step 1
  “ORD-88421”
  read again: log://7"""


def traced(*places, text="ORD-88421"):
    return Trace(text=text, session="audit", places=places, events=82)


def test_the_text_is_this():
    assert GOLDEN == trace.text(traced(HERE, LEFT, SHRUNK))
    assert GOLDEN == str(traced(HERE, LEFT, SHRUNK))


def test_nowhere_is_said():
    assert (
        "“ORD-88421” is nowhere: neither in the window nor in the record of session audit\n(82 events)."
        == trace.text(traced())
    )


def test_html_says_the_same():
    read = Reading(traced(HERE, LEFT, SHRUNK)._repr_html_())
    assert not read.faults
    for part in ("ORD-88421” is in 2 places", "out of the window", "left at step 12 (reseed)", "log://33"):
        assert part in read.text


@pytest.mark.parametrize(
    ("form", "said"),
    [("stub", "as one line"), ("shrunk", "shrunk"), ("squeezed", "squeezed"), ("spilled", "cut on entry")],
)
def test_a_text_that_is_out_while_its_segment_stands_says_how(form, said):
    item = Place(where="segment", title="x", in_window=False, excerpt="y", segment="1", form=form)
    assert trace.stands(item).endswith(f"its segment stands there {said}")


def test_many_places_stay_a_small_output():
    found = traced(*[LEFT] * 5_000)
    assert len(found._repr_html_().encode()) < OUTPUT_BYTES
    assert "4,960 more; see trace.places[10:4970]" in str(found)


def test_hostile_texts_stay_texts():
    bad = samples.HOSTILE
    item = Place(
        where="segment", title=bad, in_window=True, excerpt=bad, segment="1", address=bad, logged=bad
    )
    found = traced(item, text=bad)
    read = Reading(found._repr_html_())
    assert not read.faults
    assert not {"script", "img"} & set(read.tags)
    assert "\u202e" not in str(found) + found._repr_html_()
