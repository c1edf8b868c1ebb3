"""The estimate says what it is, and how far off it is can be printed."""

import pytest

from ethang_nb.tokens.registry import counter, family_ratio
from tests.tokens.estimates import OURS, TRUTH, errors, table

# Per cent of the truth that the estimate may be off; measured 1, 1, 1, 30, 28 and 5.
FLOORS = {"English": 5, "code": 5, "JSON": 5, "accented": 40, "CJK": 40, "base64": 10}


@pytest.fixture(scope="module")
def found():
    return errors(100_000)


def test_estimates_are_never_called_exact():
    assert ("estimated", "exact") == (OURS.how, TRUTH.how)


def test_the_errors_of_the_estimate(found):
    """Printed with `pytest -s`, and by `python -m tests.bench tokens`."""
    print(f"\n{table(found)}")
    assert list(FLOORS) == [row.kind for row in found]
    for row in found:
        assert abs(row.estimate) <= FLOORS[row.kind], row


def test_it_is_nearer_than_four_characters_a_token(found):
    for row in found:
        assert abs(row.estimate) <= abs(row.quarter) + 1, row


def test_with_its_familys_ratio_it_is_hardly_ever_too_low(found):
    """The ratio is for this: what is left of the error fits the reserve of any window."""
    ratio = family_ratio("a-model-nobody-knows")
    for row in found:
        assert (100 + row.estimate) * ratio / 1_000 >= 90, row


def test_the_estimate_does_not_depend_on_the_model():
    text = "Où est passée la commande ORD-88421 ? 订单尚未确认"
    assert (
        counter(None).count(text) == counter("claude-opus-4-5").count(text) == counter("llama3").count(text)
    )
