"""Applied: how much would be sent, and what left with its address."""

from ethang_nb.context.messages import user
from ethang_nb.context.plan import Applied, Removed
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views.reading import Reading
from tests.views.samples import HOSTILE


def removed(number, *, title="look", address=None):
    where = f"log://{number}" if address is None else address
    return Removed(
        segment=str(number), title=title, tokens=1_200, address=where, how="collapse", text="x" * 999
    )


APPLIED = Applied(messages=(user("t"), user("u")), removed=(removed(3), removed(5)), tokens=2_780)
GOLDEN = """\
2 messages to send, at most 2,780 tokens; 2 texts removed, 2,400 tokens.

removed                                                tokens  how
look                                                    1,200  one line
  read again: log://3
look                                                    1,200  one line
  read again: log://5"""


def test_the_text_is_this():
    assert str(APPLIED) == GOLDEN


def test_the_repr_is_one_short_line():
    assert repr(APPLIED) == "Applied(2 messages, 2,780 tokens, 2 texts removed)"


def test_html_has_the_sum_and_a_row_for_every_text():
    read = Reading(APPLIED._repr_html_())
    assert not read.faults
    assert "2 messages to send, at most 2,780 tokens; 2 texts removed, 2,400 tokens." in read.text
    assert "look1,200one linelog://3" in read.text
    assert ("details", "open") in read.names


def test_nothing_removed_is_one_sentence():
    applied = Applied(messages=(user("t"),), removed=(), tokens=5)
    assert str(applied) == "1 message to send, at most 5 tokens; 0 texts removed, 0 tokens."
    assert "table" not in Reading(applied._repr_html_()).tags


def test_the_first_forty_are_shown_and_how_to_see_the_rest():
    many = Applied(messages=(), removed=tuple(removed(n, title=f"t{n}") for n in range(90)), tokens=0)
    for said in (str(many), Reading(many._repr_html_()).text):
        assert "t39" in said
        assert "t40" not in said
        assert "… 50 more; see applied.removed[40:" in said


def test_hostile_titles_stay_text_and_the_output_small():
    items = tuple(removed(n, title=HOSTILE * 90, address=HOSTILE * 90) for n in range(500))
    html = Applied(messages=(), removed=items)._repr_html_()
    read = Reading(html)
    assert not read.faults
    assert not {"script", "img"} & set(read.tags)
    assert len(html.encode()) <= OUTPUT_BYTES
