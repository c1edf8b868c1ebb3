"""Pins: the sentence word for word, the rule that found it, and where it stands."""

from ethang_nb.views import pins
from tests.views import samples
from tests.views.reading import Reading

PINS = samples.contracts().pins
GOLDEN = """\
3 pins, 1 of them lifted:
  1  constraint: Never open contract_17.
     found by the rule “never + verb”; in the core
  2  decision: Amounts are in euros.
     pinned by hand; in the core
  3  constraint: Answer in French.
     found by the rule “always + verb”; lifted: the user took it back at step 12"""


def test_the_text_is_this():
    assert pins.text(PINS) == GOLDEN


def test_no_pins():
    assert pins.text(()) == "No pins."


def test_html_says_the_same():
    read = Reading(pins.html(PINS))
    assert not read.faults
    assert "Never open contract_17." in read.text
    assert "lifted: the user took it back at step 12" in read.text
