"""The document: every snapshot is as its schema says, and the schema says every field."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context.messages import user
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.snapshot import Pin, carried_pins, snapshot_schema
from ethang_nb.testing import WordCounter
from tests.context.acts import WINDOWS, Player, acts
from tests.context.builders import turn, watched
from tests.context.generators import budgeted
from tests.views.live.examples import FOLDER, examples

SCHEMA = snapshot_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document(chronicle):
    snapshot = chronicle.snapshot(name="n", model="m", model_label="a model", state="live")
    return json.loads(json.dumps(snapshot.to_json()))


def objects(schema):
    """Every description of an object in a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert "https://json-schema.org/draft/2020-12/schema" == SCHEMA["$schema"]


def test_the_schema_describes_every_field_and_leaves_no_room_for_others():
    for found in objects(SCHEMA):
        assert found["additionalProperties"] is False
        lazy = set(found["properties"]) - set(found["required"])
        assert lazy in (set(), {"left", "note", "facts", "price"})  # of a diff, in a live document
        for name, field in found["properties"].items():
            assert field["description"].endswith("."), name
            assert len(field["description"]) <= 120, name


@pytest.mark.parametrize("rules", sorted(POLICIES))
@budgeted(8)
@given(script=acts, total=st.sampled_from(WINDOWS))
def test_snapshots_of_any_context_are_as_the_schema_says(rules, script, total):
    context, chronicle = watched(total, rules=rules)
    player = Player(context)
    for act in script:
        player.do(act)
    VALIDATOR.validate(document(chronicle))


@pytest.mark.parametrize("name", examples())
def test_the_examples_are_as_the_schema_says_and_another_field_or_one_less_is_refused(name):
    found = json.loads((FOLDER / name).read_text())
    whole = found["documents"][-1] if name == "frames.json" else found
    VALIDATOR.validate(whole)
    assert not VALIDATOR.is_valid({**whole, "time": 0})
    assert not VALIDATOR.is_valid({key: value for key, value in whole.items() if key != "regrets"})
    first = {**whole["segments"][0], "text": "x"} if whole["segments"] else {"id": "1"}
    assert not VALIDATOR.is_valid({**whole, "segments": [first]})


def test_the_plan_says_policy_price_what_is_kept_and_what_its_note_takes():
    context, chronicle = watched(6_000)
    context.append(user("the task"))
    for number in range(9):
        turn(context, number, 400, address=f"file:f{number}.txt#L1-9@0a1b2c3d")
    plan = document(chronicle)["plan"]
    assert ("cleanup", "ethang", 3, 0) == tuple(
        plan[key] for key in ("outcome", "policy", "kept", "note_tokens")
    )
    assert plan["before"] - plan["after"] == plan["price"]["saved"] > 0
    assert 64 == len(plan["digest"])


def test_the_budget_says_what_python_says_of_it():
    context, chronicle = watched(6_000)
    context.append(user("the task"))
    budget = chronicle.snapshot(name="n", model="m", model_label="m", state="live").budget
    said = document(chronicle)["budget"]
    for name in ("fixed", "headroom", "line", "ratio", "cleanup_at", "unsendable", "room", "used", "fill"):
        assert getattr(budget, name) == said[name], name


def test_a_segment_says_the_first_pin_that_holds_in_it():
    def pin(number, segment, lifted=""):
        return Pin(id=number, kind="decision", text="x", rule="", segment=segment, lifted=lifted)

    assert {"3": 2, "5": 4} == carried_pins(
        [pin(1, "3", "gone"), pin(2, "3"), pin(3, "3"), pin(4, "5"), pin(5, "")]
    )


def test_a_call_that_waits_is_incomplete():
    context = eth.Context(6_000, counter=WordCounter())
    context.append({"role": "user", "content": "go"})
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    context.append({"role": "assistant", "content": "", "tool_calls": calls})
    assert [False, True] == [item["incomplete"] for item in context.snapshot.to_json()["segments"]]
    context.append({"role": "tool", "tool_call_id": "c", "content": "seen"})
    assert [False, False] == [item["incomplete"] for item in context.snapshot.to_json()["segments"]]


def test_lines_from_outside_are_cut():
    found = eth.Context(60_000, counter=WordCounter())
    names = [f"tool_{number}_{'n' * 50}" for number in range(40)]
    calls = [
        {"id": f"c{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in names
    ]
    found.append({"role": "assistant", "content": "", "tool_calls": calls})
    (segment,) = found.snapshot.to_json()["segments"]
    assert 200 == len(segment["title"])
    assert segment["title"].endswith("…")
