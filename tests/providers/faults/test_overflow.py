"""Every provider's way to say "too long", and what only looks like it.

`overflows.jsonl`: bodies as they were seen, with the numbers that must be read out of them; status 200 is JSON inside
an answer that had begun well. `refusals.jsonl`: bodies that are no overflow, and whether the same may go again.
"""

import json
import time
from pathlib import Path

import pytest

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.faults.faults import fault_in, fault_of
from ethang_nb.providers.faults.wordings import OUTPUTS, ROWS

DATA = Path(__file__).parents[1] / "data"


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
    unmet = [row for row in (*ROWS, *OUTPUTS) if not any(row.pattern.search(text) for text in texts)]
    assert [] == [row.words for row in unmet]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("max_tokens is too large", True),
        ("'max_tokens' value is too high", True),
        ("`max_output_tokens`: 90000 exceeds what this model can write", True),
        ("max_tokens参数非法。请检查文档。", True),
        ("max_completion_tokens is limited to what the plan allows", True),
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", False),
        ("`max_tokens` must be greater than `thinking.budget_tokens`.", False),
        ("max_tokens must be at least 1, got 0.", False),
        ("Invalid role 'max_tokens is too large'", False),
        ("max_tokens_per_day is too large", False),
        ("temperature is too large", False),
    ],
)
def test_too_much_output_without_a_number_names_the_setting(text, names):
    fault = fault_of(400, {}, json.dumps({"error": {"message": text}}))
    assert isinstance(fault, ProviderFault)
    assert ("max_output in [models." in str(fault)) is names


@pytest.mark.parametrize("case", OVERFLOWS)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_status_about_something_else_is_believed(case, status):
    """Whoever may not come in at all hears nothing of the length, whatever the text."""
    if case["limits"] == "window":
        assert isinstance(fault_of(status, {}, json.dumps(case["body"])), ProviderFault)


UNITS = (
    *(row.words.split("{")[0].split("…")[0] or "max_tokens" for row in (*ROWS, *OUTPUTS)),
    *(
        row.words.replace("{max}", "max_tokens").replace("{", "").replace("}", "")
        for row in (*ROWS, *OUTPUTS)
    ),
    *(
        "max_tokens ",
        "max_tokens is ",
        "max_tokens is is is ",
        "`max_tokens` value 1 ",
        "max tokens…integer above ",
    ),
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
