"""Policies: the table of all, and one with the knobs that are its own."""

from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.context.policies import Policies
from ethang_nb.views import policies, policy
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views.reading import Reading

ROW = """\
trim        seed 002          100.0 / 100.0 / 99.9 %     line       never
  intake, evict
  the oldest droppable segments go until it fits; one line says what left, no
  note
"""


def test_the_table_has_a_row_for_each():
    text = policies.text(eth.policies)
    assert ROW in text
    assert text == str(eth.policies)
    assert all(len(line) <= 80 for line in text.splitlines())
    read = Reading(eth.policies._repr_html_())
    assert not read.faults
    assert "name from nudge / cleanup / landing notes reseed stages" in " ".join(" ".join(read.texts).split())
    for name, item in eth.policies.items():
        assert name in read.texts
        assert ", ".join(item.stages) in read.texts
        assert f"\n{name} " in f"\n{text}"


def test_each_says_where_it_comes_from():
    origins = {name: policies.origin(item) for name, item in eth.policies.items()}
    assert {"trim": "seed 002", "lean": "ours", "ethang": "all four sources"}.items() <= origins.items()
    assert "yours" == policies.origin(eth.Policy(name="mine"))


def test_policies_of_ones_own_stand_beside_them():
    mine = replace(eth.policies["lean"], name="mine", about="ethang.toml: as lean, with knobs of your own")
    text = policies.text(Policies((*eth.policies.values(), mine)))
    assert "\nmine        ethang.toml " in text


def test_the_mapping_prints_as_names_and_is_a_mapping():
    assert "Policies(ethang, lean, pressure, trim, compact, priority, reseed)" == repr(eth.policies)
    assert "mine" not in eth.policies
    assert None is eth.policies.get("mine")


@pytest.mark.parametrize("name", eth.policies)
def test_a_policy_shows_the_knobs_that_are_its_own_first(name):
    item = eth.policies[name]
    usual = eth.Policy(name=name).knobs()
    own = {key for key, value in item.knobs().items() if value != usual[key]} - {"stages", "levels"}
    assert {"stages", "levels"} | own == {key for key, _ in policy.rows(item)}
    assert set(item.knobs()) - {"name", "stages", "levels"} - own == {key for key, _ in policy.others(item)}
    text, html = str(item), item._repr_html_()
    assert text.startswith(f"Policy {name}\n")
    assert " ".join(item.about.split()) in " ".join(text.split())
    read = Reading(html)
    assert not read.faults
    assert item.about in read.texts
    assert all(key in read.texts for key in own)
    assert len(html.encode()) < OUTPUT_BYTES


def test_values_have_their_units():
    said = dict(policy.rows(eth.policies["compact"]) + policy.others(eth.policies["compact"]))
    assert ("4,000 tokens", "4 segments", "4,000 characters", "15.0 % of usable", "never", "no") == tuple(
        said[name] for name in ("reserve", "keep", "entry_chars", "minimum", "reseed", "nudge_once")
    )
    assert "the cleanup level" == dict(policy.others(eth.policies["compact"]))["evict_at"]
