"""Policies of one's own in ethang.toml: what a table may say, and what is said of one that cannot be right."""

import pytest

from ethang_nb.config import FILE, named_policy, own_policies, policy_from_table, settings
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels
from ethang_nb.errors import BadPolicy, EthangError, Misuse, Unknown

MINE = """
[ethang]
policy = "mine"

[policies.mine]
base = "lean"
levels = [600, 750, 300]
stages = ["intake", "squeeze", "collapse", "evict"]
keep = 2

[policies.other]
about = "for short windows"
levels = {nudge = 500, cleanup = 600, landing = 300}
"""


def written(folder, text):
    (folder / FILE).write_text(text)
    return folder


def test_a_table_is_its_base_with_other_knobs(tmp_path):
    found = own_policies(written(tmp_path, MINE))
    assert ("mine", "other") == tuple(found)
    mine, lean = found["mine"], POLICIES["lean"]
    assert Levels(nudge=600, cleanup=750, landing=300) == mine.levels
    assert ("intake", "squeeze", "collapse", "evict") == mine.stages
    assert 2 == mine.keep
    differing = {name for name, value in mine.knobs().items() if value != lean.knobs()[name]}
    assert {"name", "levels", "stages", "keep"} == differing
    assert "for short windows" == found["other"].about
    assert POLICIES["ethang"].stages == found["other"].stages
    assert Levels(nudge=500, cleanup=600, landing=300) == found["other"].levels


@pytest.mark.parametrize("base", POLICIES)
def test_an_empty_table_is_its_base_under_another_name(base):
    mine = policy_from_table("mine", {"base": base})
    assert POLICIES[base].knobs() | {"name": "mine"} == mine.knobs()
    assert mine.about.startswith(FILE)


@pytest.mark.parametrize("base", ["ethang", "lean"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_knob_can_be_given(policy, base):
    """One that the policy need not have is turned off with false, since TOML has no word for nothing."""
    knobs = {
        name: False if value is None else value for name, value in policy.knobs().items() if name != "name"
    }
    assert policy.knobs() | {"name": "mine"} == policy_from_table("mine", {"base": base, **knobs}).knobs()


def test_a_name_means_what_ships_first_then_what_the_file_has(tmp_path):
    written(tmp_path, MINE)
    assert POLICIES["trim"] is named_policy("trim", tmp_path)
    assert own_policies(tmp_path)["mine"] == named_policy("mine", tmp_path)
    given = Policy(name="here")
    assert given is named_policy(given, tmp_path)
    with pytest.raises(Unknown, match=r"unknown policy 'othr'; did you mean 'other'\?"):
        named_policy("othr", tmp_path)
    with pytest.raises(BadPolicy, match="neither a name nor a Policy"):
        named_policy(5, tmp_path)


def test_a_file_that_is_wrong_is_no_matter_to_what_ships(tmp_path):
    written(tmp_path, "[policies.mine\n")
    assert POLICIES["trim"] is named_policy("trim", tmp_path)
    with pytest.raises(Misuse, match="is not TOML"):
        named_policy("mine", tmp_path)


def test_without_a_file_there_is_none(tmp_path):
    assert {} == own_policies(tmp_path)


def test_settings_know_them_from_every_place(tmp_path):
    written(tmp_path, MINE)
    assert "mine" == settings({}, {}, tmp_path, {}).policy
    assert "other" == settings({"policy": "other"}, {}, tmp_path, {}).policy
    assert "other" == settings({}, {"policy": "other"}, tmp_path, {}).policy
    with pytest.raises(Unknown, match="did you mean 'mine'"):
        settings({"policy": "mien"}, {}, tmp_path, {})


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ("reseed = 900", BadPolicy, "policy 'mine': reseed 900 is above the nudge level; give 1 to "),
        ("keep = 0", BadPolicy, "policy 'mine': keep is 0; it goes from 1 to 50"),
        ("keep = 2.5", BadPolicy, "policy 'mine': keep is 2.5; it goes from 1 to 50"),
        ('minimum = "15 %"', BadPolicy, "policy 'mine': minimum is '15 %'; it goes from 0 to 900"),
        ("levels = [700, 800]", BadPolicy, "policy 'mine': levels are [700, 800]; give nudge, cleanup and"),
        (
            "levels = [700, 800, 900]",
            BadPolicy,
            "policy 'mine': landing 900 and cleanup 800 must rise, within",
        ),
        ("levels = [900, 800, 400]", BadPolicy, "policy 'mine': nudge 900 must lie within 1 to cleanup 800"),
        ("levels = {cleanup = 800}", BadPolicy, "policy 'mine': levels are [None, 800, None]; give nudge"),
        ("levels = 700", BadPolicy, "policy 'mine': levels are 700; give nudge"),
        ("levels = [7.5, 8, 4]", BadPolicy, "policy 'mine': levels are [7.5, 8, 4]; give nudge"),
        ('stages = "evict"', BadPolicy, "policy 'mine': stages are 'evict'; give a list of names"),
        ('stages = ["evict", "evict"]', BadPolicy, "policy 'mine': stage 'evict' comes twice"),
        ("nudge_once = 1", BadPolicy, "policy 'mine': nudge_once is 1; give true or false"),
        ("about = 1", BadPolicy, "policy 'mine': about is 1; give a text"),
    ],
)
def test_a_bad_one_is_refused_with_file_field_and_range(tmp_path, table, error, said):
    written(tmp_path, f"[policies.mine]\n{table}\n")
    for read in (own_policies, lambda folder: settings({}, {}, folder, {})):
        with pytest.raises(error) as caught:
            read(tmp_path)
        assert str(caught.value).startswith(f"{FILE}: {said}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("kep = 3", "unknown field of policy 'mine' in ethang.toml 'kep'; did you mean 'keep'?"),
        ('name = "yours"', "unknown field of policy 'mine' in ethang.toml 'name'"),
        ('base = "leen"', "unknown base of policy 'mine' in ethang.toml 'leen'; did you mean 'lean'?"),
        ("base = 3", "unknown base of policy 'mine' in ethang.toml '3'"),
        ('notes = "ones"', "unknown notes of policy 'mine' in ethang.toml 'ones'; did you mean 'one'?"),
        (
            'stages = ["colapse"]',
            "unknown stage of policy 'mine' in ethang.toml 'colapse'; did you mean 'collapse'?",
        ),
        (
            "levels = {nudg = 3}",
            "unknown level of policy 'mine' in ethang.toml 'nudg'; did you mean 'nudge'?",
        ),
    ],
)
def test_a_word_nobody_knows_is_answered_with_the_nearest(tmp_path, table, said):
    written(tmp_path, f"[policies.mine]\n{table}\n")
    with pytest.raises(Unknown) as caught:
        own_policies(tmp_path)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[policies.trim]\nkeep = 2",
            "ethang.toml: policy 'trim' ships with ethang_nb; give yours another name",
        ),
        ("policies = 3", "ethang.toml: [policies] holds one table for each policy"),
        ("[policies]\nkeep = 3", "ethang.toml: [policies] holds one table for each policy"),
        (
            "[policy.mine]\nkeep = 3",
            "ethang.toml has a table [policy]; a policy of your own is a table [policies.NAME]",
        ),
    ],
)
def test_a_table_that_is_none_is_named(tmp_path, text, said):
    with pytest.raises(EthangError) as caught:
        own_policies(written(tmp_path, text))
    assert str(caught.value).startswith(said)


def test_reading_them_makes_nothing(tmp_path):
    own_policies(written(tmp_path, MINE))
    assert [FILE] == [path.name for path in tmp_path.iterdir()]
