"""Every provider's way to say "too long", and what only looks like it.

`overflows.jsonl`: bodies as they were seen, with the numbers that must be read out of them; status 200 is JSON inside
an answer that had begun well. `refusals.jsonl`: bodies that are no overflow, and whether the same may go again.
"""

import json
import time
from pathlib import Path

import pytest

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.faults import fault_in, fault_of
from ethang_nb.providers.wordings import ROWS

DATA = Path(__file__).parent / "data"


def cases(name):
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


OVERFLOWS, REFUSALS = cases("overflows.jsonl"), cases("refusals.jsonl")


def told(case):
    body = case["body"]
    if case["status"] == 200:
        return fault_in(body)
    return fault_of(case["status"], {}, body if isinstance(body, str) else json.dumps(body))


@pytest.mark.parametrize("case", OVERFLOWS)
def test_an_overflow_is_recognised_with_its_numbers(case):
    fault = told(case)
    assert isinstance(fault, Overflow), fault
    named = {name: getattr(fault, name) for name in ("tokens", "limit", "room", "limits")}
    assert {name: case[name] for name in named} == named
    assert len(str(fault).splitlines()) == 1


@pytest.mark.parametrize("case", REFUSALS)
def test_what_only_looks_like_one_is_none(case):
    fault = told(case)
    assert isinstance(fault, ProviderFault), fault
    assert case["retryable"] is fault.retryable
    assert len(str(fault).splitlines()) == 1


def test_each_row_of_the_table_is_met_by_a_case():
    """A row that no case needs is a guess."""
    texts = [json.dumps(param.values[0]["body"]).lower() for param in OVERFLOWS]
    assert [] == [row.words for row in ROWS if not any(row.pattern.search(text) for text in texts)]


@pytest.mark.parametrize("case", OVERFLOWS)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_status_about_something_else_is_believed(case, status):
    """Whoever may not come in at all hears nothing of the length, whatever the text."""
    if case["limits"] == "window":
        assert isinstance(fault_of(status, {}, json.dumps(case["body"])), ProviderFault)


UNITS = (
    *(row.words.split("{")[0].split("…")[0] for row in ROWS),
    *(row.words.replace("{", "").replace("}", "") for row in ROWS),
    *("1 ", "1,", "9" * 50, "'", '"{', "[{", "<", "<script>", "rate limit ", "on tokens per limit 1"),
)


@pytest.mark.parametrize("unit", sorted(set(UNITS)))
def test_any_text_is_judged_in_a_moment(unit):
    """A server may send anything: much of what looks like a row, over and over, holds nothing up."""
    body = unit * (300_000 // len(unit))
    began = time.perf_counter()
    fault_of(400, {}, body)
    fault_of(400, {}, json.dumps({"error": {"message": body}}))
    fault_in({"error": body})
    assert time.perf_counter() - began < 2
