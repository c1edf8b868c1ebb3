"""The planner against the naive model of DESIGN 5 that the rules were settled with: same actions, same totals."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ethang_nb.context.events import MessageAdded, RequestPoint, ResultAdded
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import Ledger, Result
from ethang_nb.context.policies import policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.window import Window

BENCH = Path(__file__).resolve().parents[3] / "shared" / "bench"
SHARED = {"nothing": "ok", "cleanup": "clean"}
OURS = {"text": "assistant"}


@pytest.fixture(scope="module")
def model():
    if not (BENCH / "rules_model.py").exists():
        pytest.skip("the rules model lies beside the project, not in it")
    sys.path.insert(0, str(BENCH))
    try:
        import rules_model
        import rules_scan

        yield rules_model, rules_scan
    finally:
        sys.path.remove(str(BENCH))


@pytest.mark.parametrize("rules", ["ethang", "pressure"])
@pytest.mark.parametrize("total", [2_000, 6_000, 32_000, 1_000_000])
def test_actions_and_totals_agree_at_every_request_point(model, rules, total):
    rules_model, rules_scan = model
    runs = 0
    for scenario in rules_scan.SC:
        for seed in range(2):
            runs += agree(rules_model, rules_scan, total, rules, scenario, seed)
    assert runs >= 10


def agree(rules_model, rules_scan, total, rules, scenario, seed):
    rng = random.Random(f"{total}/{scenario}/{seed}")
    naive = rules_model.Fold(total, rules, 300, 60)
    task = naive.usable * rng.randint(300, 600) // 1000 if scenario == "f" else 60
    # The design's shrink goes down to 200 tokens, and intake looks at the newest segment alone.
    naive = rules_model.Fold(
        total, rules, 300, task, r=replace(rules_model.R(), shrink_min=200, intake_keep=1)
    )
    if not naive.ok:
        return 0
    shipped = policy(rules)
    # The model judges what enters by counts; ours does it on texts, so it is left out of the comparison.
    rules = replace(shipped, stages=tuple(stage for stage in shipped.stages if stage != "intake"))
    state = State(Settings.of(Window.of(total), rules), Ledger(), system=300)
    state, _ = step(state, MessageAdded(kind="user", tokens=task))
    for event in events(rules_scan, naive, scenario, rng):
        if event[0] == "m":
            if naive.message(*event[1:4]) is False:
                continue
            row = naive.segs[-1]
            added = MessageAdded(kind=OURS.get(row.kind, row.kind), tokens=row.base, calls=len(row.res))
            state, _ = step(state, added)
            for tokens, again, _whole in row.res:
                state, _ = step(state, ResultAdded(result=Result(tokens, rules_model.STUB, again)))
            continue
        expected = naive.request()
        state, decision = step(state, RequestPoint())
        found = (
            "forced" if decision.forced and decision.lands else SHARED.get(decision.outcome, decision.outcome)
        )
        if decision.outcome == "nudge":
            state, _ = step(state, MessageAdded(kind="nudge", tokens=rules_model.NUDGE))
        assert (expected, naive.total()) == (found, state.total), (scenario, seed)
        if expected == "stuck":
            break
    return 1


def events(rules_scan, naive, scenario, rng):
    """The scan's events; a new piece of work is a user message here, and what it fills up it fills up for us too."""
    for event in rules_scan.events(scenario, naive.usable, rng, 60):
        if event[0] == "b":
            yield "m", "user", event[1], [], 0
        elif event[0] == "fill":
            while naive.fill() < event[1]:
                most = naive.usable * event[1] // 1000 - naive.total() - 40
                tokens = max(30, min(naive.usable * 25 // 1000, most))
                yield "m", "turn", 40, [(tokens, rules_scan.cls(rng))], 0
        else:
            yield event
