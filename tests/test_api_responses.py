"""The public functions over items of the Responses API, as a loop with its SDK has them."""

import json

import pytest

import ethang_nb as eth
from ethang_nb.errors import BadMessage
from tests.formats.wire_rules import responses_faults

TOOL = {
    "type": "function",
    "name": "look",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}


def answer(number, *, calls=2):
    """The output of one response: reasoning, and calls at once."""
    reasoning = {
        "type": "reasoning",
        "id": f"rs_{number}",
        "summary": [{"type": "summary_text", "text": "I look."}],
        "encrypted_content": "c2VhbGVk",
    }
    asked = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{at}",
            "call_id": f"call_{number}_{at}",
            "name": "look",
            "arguments": json.dumps({"at": at}),
            "status": "completed",
        }
        for at in range(calls)
    ]
    return [reasoning, *asked]


def results(number, words, *, calls=2):
    return [
        {"type": "function_call_output", "call_id": f"call_{number}_{at}", "output": words}
        for at in range(calls)
    ]


def history(turns, words="seen"):
    items = [{"role": "user", "content": "Look."}]
    for number in range(turns):
        items += [*answer(number), *results(number, words)]
    return items


def test_an_answer_with_its_results_is_one_turn():
    found = eth.segments(history(3))

    assert [item.kind for item in found] == ["task", "turn", "turn", "turn"]
    assert found.repairs == ()


def test_a_loop_gets_back_what_it_gave():
    context = eth.Context(8_000, system="Be brief.", tools=[TOOL])
    context.append(history(1)[0])
    context.append(answer(0))
    for item in results(0, "seen"):
        context.append(item)

    sent = context.request()

    assert responses_faults(sent) == []
    assert (sent.system, sent.repairs, context.segments.repairs) == ("", (), ())
    assert sent[0] == {
        "type": "message",
        "role": "system",
        "content": [{"type": "input_text", "text": "Be brief."}],
    }
    given = [{name: item[name] for name in item if name not in ("id", "status")} for item in answer(0)[1:]]
    assert sent[2:] == [answer(0)[0], *given, *results(0, "seen")]


def test_what_is_left_after_a_cleanup_is_legal():
    context = eth.Context(3_000, tools=[TOOL])
    cleanups = 0
    for number in range(30):
        context.append([*history(0), *answer(number), *results(number, "seen " * 60)])
        sent = context.request()
        cleanups += sent.plan is not None and sent.plan.outcome == "cleanup"
        assert responses_faults(sent) == []

    assert cleanups and not any("call_0_0" in str(item) for item in sent)


def test_reasoning_that_is_given_apart_from_its_answer_is_left_out_and_that_is_said():
    context = eth.Context(8_000)
    for item in [*history(0), *answer(0), *results(0, "seen")]:
        context.append(item)

    assert responses_faults(context.request()) == []
    assert context.segments.repairs == (
        "message 1: the assistant message removed: it held thinking alone: 'I look.'",
    )


def test_a_whole_response_is_told_what_to_give():
    with pytest.raises(BadMessage, match=r"pass its \.output"):
        eth.Context(8_000).append({"object": "response", "id": "resp_1", "output": answer(0)})
