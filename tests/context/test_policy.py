from __future__ import annotations

from dataclasses import replace

import pytest

from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels
from ethang_nb.errors import BadPolicy, Unknown


def test_policies_are_found_by_name_and_a_policy_is_itself():
    assert POLICIES["pressure"] is policy("pressure")
    mine = Policy(name="mine", keep=2)
    assert mine is policy(mine)


def test_an_unknown_policy_names_the_nearest():
    for ask in (policy, POLICIES.__getitem__):
        with pytest.raises(Unknown, match="did you mean 'ethang'"):
            ask("etang")
    assert POLICIES.get("etang") is None
    assert "etang" not in POLICIES


def test_pressure_is_faithful_to_seed_000():
    """No collapse before eviction, protected notes, the nudge sent once, at least 15 %."""
    it = POLICIES["pressure"]
    assert "collapse" not in it.stages
    assert ("protected", True, 150) == (it.notes, it.nudge_once, it.minimum)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("keep", 0, "keep is 0; it goes from 1 to 50"),
        ("minimum", 950, "minimum is 950"),
        ("note_least", 5_000, "note_least 5,000 is above note_most 1,200"),
        ("levels", Levels(nudge=500, cleanup=600, landing=700), "landing 700 and cleanup 600 must rise"),
        ("levels", Levels(nudge=900, cleanup=600, landing=300), "nudge 900 must lie within"),
    ],
)
def test_a_bad_field_is_refused_with_its_range(field, value, said):
    with pytest.raises(BadPolicy, match=said):
        replace(POLICIES["ethang"], **{field: value})


def test_an_unknown_stage_is_refused():
    with pytest.raises(Unknown, match="unknown stage 'colapse'; did you mean 'collapse'"):
        Policy(name="x", stages=("colapse",))


@pytest.mark.parametrize(
    ("usable", "entry", "note"),
    [(4_800, 720, 480), (1_600, 240, 200), (12_800, 1_000, 1_200), (160_000, 8_000, 1_200)],
)
def test_entry_limit_and_note_reserve_follow_usable(usable, entry, note):
    it = POLICIES["ethang"]
    assert (entry, note) == (it.entry_tokens(usable), it.note_tokens(usable))
