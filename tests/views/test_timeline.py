"""Timeline: one line a step, with fill, a small bar, and what happened."""

from ethang_nb.views import timeline
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views import samples
from tests.views.reading import Reading

ROWS = samples.contract_steps()
GOLDEN = """\
4 steps, 68.4 % full at the last; nudge at step 6; cleanup at step 7.
  step      fill                 tokens  before it was sent
     5    68.8 %  ██████▉···      3,302  read_file dat…contracts/contract_05.txt
     6    78.5 %  ███████▊··      3,768  nudge; read_file…racts/contract_06.txt
     7    58.7 %  █████▊····      2,817  from 88.2 %, cleanup: 3 to one line
     8    68.4 %  ██████▊···      3,283  read_file dat…contracts/contract_08.txt"""


def test_the_text_is_this():
    assert timeline.text(ROWS[4:8]) == GOLDEN


def test_no_step_yet():
    assert timeline.text(()) == "No step yet."


def test_a_gauge_fills_by_eighths_and_says_when_it_is_over():
    assert timeline.gauge(0) == "·" * 10
    assert timeline.gauge(1_000) == "█" * 10
    assert timeline.gauge(1_001) == "█" * 9 + "▶"
    assert timeline.gauge(512, 4) == "██··"


def test_a_long_timeline_is_cut_and_says_how_to_see_the_rest():
    assert "… 9,960 more; see timeline[5:9965]" in timeline.text(samples.large().timeline)


def test_html_has_the_five_numbers_of_a_step():
    read = Reading(timeline.html(ROWS))
    assert not read.faults
    assert "fixed task history output headroom" in " ".join(" ".join(read.texts).split())
    assert "from 88.2 %, cleanup: 3 to one line; read_file data/contracts/contract_07.txt" in read.text


def test_ten_thousand_steps_stay_a_small_output():
    assert len(timeline.html(samples.large().timeline).encode()) < OUTPUT_BYTES
