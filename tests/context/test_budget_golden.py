"""The essay's window (seed 003): 9/18/2/35/96/40 = 200K, and that nothing which is sent goes uncounted."""

from __future__ import annotations

from typing import Any

import pytest

import ethang_nb.api as eth
from ethang_nb.context.budget import SLICES, Budget
from ethang_nb.context.catalogue import ToolSpec, catalogue_tokens
from ethang_nb.context.counting import CALL_OVERHEAD, IMAGE_TOKENS, MESSAGE_OVERHEAD, message_tokens
from ethang_nb.context.messages import Image, Message, Text, ToolCall, ToolResult, assistant, tool, user
from ethang_nb.testing import WordCounter

WORDS = WordCounter()


def words(count: int) -> str:
    return " ".join(["word"] * count)


def message(tokens: int) -> str:
    """A text whose message takes `tokens`."""
    return words(tokens - MESSAGE_OVERHEAD)


def catalogue(tokens: int, tools: int) -> list[ToolSpec]:
    """`tools` definitions that take `tokens` together, names, schemas and overheads included."""
    bare = catalogue_tokens(
        [ToolSpec(name=f"tool_{number}", description="x") for number in range(tools)], WORDS
    )
    room = tokens - bare + tools  # the x goes
    sizes = [room // tools + (number < room % tools) for number in range(tools)]
    return [ToolSpec(name=f"tool_{number}", description=words(size)) for number, size in enumerate(sizes)]


def turn(number: int, said: int, output: int) -> list[Message]:
    """A tool turn: `said` tokens of the assistant's message with its call, `output` tokens of the result."""
    call = ToolCall(id=f"c{number}", name="run")
    return [
        assistant(words(said - MESSAGE_OVERHEAD - CALL_OVERHEAD - 2), [call]),  # name and {} are a word each
        tool(ToolResult(call_id=call.id, name="run", text=message(output))),
    ]


@pytest.fixture(scope="module")
def essay() -> Budget:
    history = [item for number in range(12) for item in turn(number, 2_500, 8_000)]
    return eth.budget(
        [user(message(2_000)), *history, assistant(message(5_000))],
        eth.window(200_000, reserve=40_000),
        system=message(9_000),
        tools=catalogue(18_000, 18),
        counter=WORDS,
    )


def test_the_essays_slices_are_9_18_2_35_96_and_40_of_200k(essay):
    sizes = {item.name: item.tokens for item in essay.slices if item.tokens}
    assert {
        "system": 9_000,
        "tools": 18_000,
        "task": 2_000,
        "history": 35_000,
        "tool output": 96_000,
    } == sizes
    assert 40_000 == essay.window.reserve
    assert 200_000 == sum(sizes.values()) + essay.window.reserve == essay.window.total


def test_the_essays_fixed_part_is_27k_and_810k_in_30_iterations(essay):
    assert 27_000 == essay.fixed
    cost = essay.fixed_cost(12, 30)
    assert (27_000 * 12, 810_000) == (cost.so_far, cost.projected)


def test_the_essays_five_numbers_stand_in_one_line(essay):
    assert "fixed 27,000, task 2,000, history 35,000, tool output 96,000, headroom 40,000" == essay.line


def test_the_essays_window_is_full_and_nothing_is_over(essay):
    assert (160_000, 1_000, 0, 0) == (essay.used, essay.fill, essay.free, essay.over)
    assert essay.used + essay.free + essay.beyond + essay.unsendable + essay.window.reserve == 200_000


def budget(messages: list[Message], **options: Any) -> Budget:
    return eth.budget(messages, 200_000, counter=WORDS, **options)


def test_tool_definitions_are_counted_name_description_and_schema():
    spec = ToolSpec(name="look", description="three words here", parameters={"type": "object", "x": "a b c"})
    assert catalogue_tokens([spec], WORDS) > 3 + 2
    assert catalogue_tokens([spec], WORDS) == budget([user("go")], tools=[spec]).slice("tools").tokens
    assert (1, 2) == tuple(budget([user("go")], tools=[spec] * n).slice("tools").count for n in (1, 2))


def test_every_message_call_and_result_has_its_overhead():
    turned = [user("one"), *turn(1, 20, 10), assistant("two")]
    found = budget(turned, system="sys")
    assert MESSAGE_OVERHEAD + 1 == found.slice("system").tokens == found.slice("task").tokens
    assert 10 == found.slice("tool output").tokens
    assert 20 + MESSAGE_OVERHEAD + 1 == found.slice("history").tokens
    assert found.slice("system").tokens + sum(message_tokens(item, WORDS) for item in turned) == found.used


PICTURE = Image(media_type="image/png", data="aGk=")


@pytest.mark.parametrize("where", ["task", "history", "tool output"])
def test_images_are_counted_once_wherever_they_stand(where):
    call = ToolCall(id="c", name="shoot")
    seen = Text(text="see")
    messages = [
        Message(role="user", parts=(seen, PICTURE) if where == "task" else (seen,)),
        assistant("", [call]),
        tool(
            ToolResult(
                call_id="c", name="shoot", text="ok", images=(PICTURE,) if where == "tool output" else ()
            )
        ),
        assistant("done"),
        Message(role="user", parts=(seen, PICTURE) if where == "history" else (seen,)),
    ]
    found = budget(messages)
    without = budget(
        [user("see"), *messages[1:2], tool(ToolResult(call_id="c", text="ok")), messages[3], user("see")]
    )
    assert (IMAGE_TOKENS, 1) == (found.slice("images").tokens, found.slice("images").count)
    assert "estimated" == found.slice("images").how
    for name in set(SLICES) - {"images"}:
        assert without.slice(name).tokens == found.slice(name).tokens, name
    assert sum(message_tokens(item, WORDS) for item in messages) == found.used
