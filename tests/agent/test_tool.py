"""A function becomes a tool: its schema, the check of its arguments, and its answer as text."""

import functools
import json
from typing import Any, Literal, Optional

import jsonschema
import pytest

import ethang_nb as eth
from ethang_nb.agent.tool import Answer, arguments_of, as_answer, as_tool
from ethang_nb.errors import Misuse, ToolFault


def order(
    number: str,
    amount: int,
    price: float,
    express: bool,
    currency: Literal["EUR", "USD"],
    note: Optional[str],  # noqa: UP045 - the old way of writing it is what is tested
    lines: list[int],
    weights: dict[str, float],
    extra: dict,
    anything: Any,
    plain,
    other: int | None = None,
    tags: tuple[str, ...] = (),
):
    """Place an order
    at the desk.

    More about it that a model need not read.

    Args:
        number: the order's number,
            as it stands on the contract
        amount (int): how many
        price: each, net
        nothing: no parameter has this name

    Returns:
        express: not about the parameter
    """


SCHEMA = eth.tool(order).spec.parameters


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("number", {"type": "string", "description": "the order's number, as it stands on the contract"}),
        ("amount", {"type": "integer", "description": "how many"}),
        ("price", {"type": "number", "description": "each, net"}),
        ("express", {"type": "boolean"}),
        ("currency", {"enum": ["EUR", "USD"]}),
        ("note", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("lines", {"type": "array", "items": {"type": "integer"}}),
        ("weights", {"type": "object", "additionalProperties": {"type": "number"}}),
        ("extra", {"type": "object"}),
        ("anything", {}),
        ("plain", {}),
        ("other", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("tags", {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_an_annotation_becomes_a_json_type(name, shape):
    assert SCHEMA["properties"][name] == shape


def test_parameters_without_a_default_are_required_and_no_others_exist():
    assert SCHEMA["required"] == [name for name in SCHEMA["properties"] if name not in ("other", "tags")]
    assert SCHEMA["additionalProperties"] is False
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    json.dumps(SCHEMA)


def test_the_description_is_the_first_paragraph_on_one_line():
    assert eth.tool(order).spec.description == "Place an order at the desk."


def test_a_docstring_may_be_missing_or_hold_arguments_alone():
    def bare(x: int):
        return x

    def only(x: int):
        """
        Args:
            x: a number
        """

    assert eth.tool(bare).spec.description == ""
    assert eth.tool(only).spec.description == ""
    assert eth.tool(only).spec.parameters["properties"]["x"]["description"] == "a number"


def test_the_decorator_takes_a_name_effects_and_where_it_runs():
    @eth.tool(name="place", effects=("write", "network"), thread=True)
    def anything() -> str:
        """Place it."""

    assert (anything.name, anything.effects, anything.own_thread) == ("place", ("write", "network"), True)
    assert anything.again == "lost"
    assert eth.tool(order).again == "run"
    assert as_tool(anything) is anything


def test_methods_are_tools_without_their_self():
    class Shop:
        def buy(self, what: str) -> str:
            return f"bought {what}"

    made = eth.tool(Shop().buy)
    assert list(made.spec.parameters["properties"]) == ["what"]
    assert made.run(what="it") == "bought it"


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (lambda x: x, "'<lambda>' cannot be a tool's name"),
        (functools.partial(order, "1"), "cannot be a tool's name"),
        (7, "7 is no tool; give a function or one made with @eth.tool"),
        (None, "None is no tool"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_by_name(item, said):
    with pytest.raises(Misuse) as caught:
        as_tool(item)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parameters_that_cannot_be_called_by_name_are_refused():
    def rest(*rest: int):
        pass

    def more(**more: int):
        pass

    def first(first: int, /):
        pass

    for function, named in ((rest, "*rest"), (more, "**more"), (first, "first")):
        with pytest.raises(Misuse, match="name every parameter") as caught:
            eth.tool(function)
        assert named in str(caught.value)


def test_annotations_that_cannot_be_read_are_no_obstacle():
    def odd(x: "NoSuchType"):  # noqa: F821 - that is the point
        """Odd."""

    assert eth.tool(odd).spec.parameters["properties"] == {"x": {}}


# ---- arguments


@eth.tool
def add(a: int = 0, b: int = 0) -> int:
    """Add."""
    return a + b


@pytest.mark.parametrize("text", ["", " ", "\n\t", "null", "{}", None])
def test_no_arguments_may_be_written_in_many_ways(text):
    """PRV-07."""
    assert arguments_of(add, text) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "arguments of add are a list; send one JSON object"),
        ('"{}"', "arguments of add are a str; send one JSON object"),
        ("7", "arguments of add are a int"),
        ('{"a": 1', "arguments of add are not JSON: Expecting ',' delimiter: line 1 column 8 (char 7)"),
        ('{"path": readme"}', "line 1 column 10 (char 9)"),
        ('{"a": 1} {"b": 2}', "Extra data: line 1 column 10 (char 9)"),
        ('{"a": "one"}', "arguments of add['a']: 'one' is not of type 'integer'"),
        ('{"c": 1}', "arguments of add: Additional properties are not allowed ('c' was unexpected)"),
        ("{'a': 1}", "not JSON"),
        ('{"a": NaN}', "arguments of add are not JSON: NaN is no JSON value"),
        ('{"a": -Infinity}', "-Infinity is no JSON value"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_wrong_arguments_are_said_with_their_place_and_never_guessed(text, said):
    """PRV-06."""
    with pytest.raises(ToolFault) as caught:
        arguments_of(add, text)
    assert said in str(caught.value)


def test_a_missing_argument_is_named():
    with pytest.raises(ToolFault, match="'number' is a required property"):
        arguments_of(eth.tool(order), "{}")


def test_right_arguments_come_through_as_they_are():
    assert arguments_of(add, '{"a": 2, "b": 3}') == {"a": 2, "b": 3}
    assert arguments_of(add, '\n {"a": 2} \n') == {"a": 2}


# ---- answers


class Thing:
    def __repr__(self):
        return "Thing()"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "done"),
        (b"caf\xc3\xa9", "café"),
        (b"\xff", "\ufffd"),
        (7, "7"),
        (True, "true"),
        ({"a": "é"}, '{\n "a": "é"\n}'),
        (["a", 1], '[\n "a",\n 1\n]'),
        (Thing(), '"Thing()"'),
        ({(1, 2): "x"}, "{(1, 2): 'x'}"),
        ("build ok \ud83d done", "build ok \ufffd done"),
        ("head\x00tail", "head\u2400tail"),
    ],
)
def test_whatever_a_tool_gives_back_becomes_text(value, text):
    assert as_answer(add, value).text == text


def test_an_answer_keeps_its_address_and_its_text_is_cleaned():
    given = Answer(text="a\x00", address="file:a#L1-1@00000000", again="read", paged=True)
    assert as_answer(add, given) == Answer(
        text="a\u2400", address="file:a#L1-1@00000000", again="read", paged=True
    )


def test_how_an_answer_can_be_had_again_follows_from_the_effects():
    writing = eth.tool(effects=("write",))(add.run)
    assert as_answer(add, "x").again == "run"
    assert as_answer(writing, "x").again == "lost"
    assert as_answer(writing, Answer(text="x")).again == "lost"
