import asyncio
import json
import time
from pathlib import Path

import pytest

from ethang_nb.errors import Misuse, Overflow, PathRefused, ProviderFault
from ethang_nb.providers.offline.script import END, Script

READ = {"call": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}


def test_turns_are_played_in_order_and_then_the_end_is_said(talk):
    script, conversation = Script([READ, {"say": "done"}]), talk("go")
    for expected in ("", "done", END, END):
        reply = conversation.reply(script)
        conversation.answer(reply, "text")
        assert reply.message.text == expected
        assert reply.stop == ("calls" if reply.message.calls else "end")


def test_a_resumed_session_goes_on_where_it_was(talk):
    turns = [READ, {"fail": "no"}, {"say": "one"}, READ, {"say": "two"}]
    conversation, script = talk("go"), Script(turns)
    conversation.answer(conversation.reply(script), "text")
    with pytest.raises(ProviderFault):
        conversation.reply(script)
    conversation.answer(conversation.reply(script), "")
    resumed = Script(turns)
    reply = conversation.user("on").reply(resumed)
    assert [call.id for call in reply.message.calls] == ["call_t3_0"]


def test_a_cleanup_does_not_play_turns_again(talk):
    turns = [READ, READ, READ, {"say": "done"}]
    conversation, script = talk("go"), Script(turns)
    for _ in range(3):
        conversation.answer(conversation.reply(script), "text")
    del conversation.messages[2:6]  # the first two tool turns left
    assert conversation.reply(Script(turns)).message.text == "done"


def test_a_turn_may_be_repeated(talk):
    script, conversation = Script([{**READ, "repeat": 3}, {"say": "done"}]), talk("go")
    ids = []
    for _ in range(3):
        reply = conversation.reply(script)
        conversation.answer(reply, "text")
        ids += [call.id for call in reply.message.calls]
    assert ids == ["call_t0_0", "call_t1_0", "call_t2_0"]
    assert conversation.next(script) == "done"


def test_several_calls_of_one_turn_have_their_own_ids(talk):
    reply = talk("go").reply(Script([{"call": [{"name": "a"}, {"name": "b", "arguments": {"day": "x"}}]}]))
    assert [(call.id, call.name, call.arguments) for call in reply.message.calls] == [
        ("call_t0_0", "a", "{}"),
        ("call_t0_1", "b", '{"day": "x"}'),
    ]


def test_overflow_at_refuses_whatever_counts_more_and_spends_no_turn(talk):
    script = Script([{"say": "fits"}], settings={"overflow_at": 300})
    large = talk("word " * 400)
    with pytest.raises(Overflow, match="300 that the script allows"):
        large.reply(script)
    assert talk("go", tools=()).next(script) == "fits"


def test_overflow_of_one_turn_is_over_when_the_request_is_smaller(talk):
    script = Script([{"say": "one", "overflow_at": 100}, {"say": "two"}])
    with pytest.raises(Overflow):
        talk("word " * 400).reply(script)
    small = talk("go", tools=())
    assert [small.next(script), small.next(script)] == ["one", "two"]


def test_phantom_usage_is_reported_as_input(talk):
    reply = talk("go").reply(Script([{"say": "x", "phantom_usage": 900_000}]))
    assert reply.usage.input == 900_000
    assert talk("go").reply(Script([{"say": "x"}])).usage is None


def test_usage_can_be_reported_as_counted(talk):
    assert 0 < talk("go").reply(Script([{"say": "x"}], settings={"usage": "report"})).usage.input < 200


def test_a_rate_limit_may_be_sent_again_and_then_the_next_turn_comes(talk):
    script, conversation = Script([{"rate_limit": True}, {"say": "done"}]), talk("go")
    with pytest.raises(ProviderFault) as caught:
        conversation.reply(script)
    assert caught.value.retryable
    assert conversation.next(script) == "done"


def test_a_cut_stream_shows_its_part_before_it_breaks(talk):
    heard: list[str] = []
    with pytest.raises(ProviderFault, match="after 10 characters") as caught:
        talk("go").reply(Script([{"cut_stream": "The answer"}]), on_text=heard.append)
    assert heard == ["The answer"]
    assert caught.value.retryable


def test_fail_is_final(talk):
    with pytest.raises(ProviderFault, match="the key is wrong") as caught:
        talk("go").reply(Script([{"fail": "the key is wrong"}]))
    assert not caught.value.retryable


def test_length_ends_an_answer_as_cut(talk):
    reply = talk("go").reply(Script([{"say": "The answer is", "length": True}]))
    assert (reply.message.text, reply.stop) == ("The answer is", "length")


@pytest.mark.parametrize(
    "turn", [{**READ, "garbage": True}, {"call": [{"name": "x", "arguments": '{"path": '}]}]
)
def test_garbage_arguments_are_no_json(talk, turn):
    (call,) = talk("go").reply(Script([turn])).message.calls
    with pytest.raises(ValueError, match="line 1"):
        json.loads(call.arguments)


def test_a_delay_can_be_cancelled(talk):
    script = Script([{"say": "late", "delay": 30}])
    body = script.encode(talk("go").request())

    async def stopped():
        await asyncio.wait_for(script.send(body), timeout=0.05)

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(stopped())
    assert time.monotonic() - began < 10  # not the thirty seconds of the delay


def test_notes_are_played_apart_from_turns(talk):
    script = Script([{"say": "one"}, {"note": "first"}, {"note": ""}, {"say": "two"}])
    conversation = talk("go")
    request = talk("TASK: go\nTURN log://3 look, 5 tokens", system_text="## Decisions", tools=())
    assert [request.next(script), conversation.next(script), request.next(script)] == ["first", "one", ""]
    assert [request.next(script), conversation.next(script)] == ["", "two"]


def test_without_notes_a_note_is_empty_and_a_note_may_fail(talk):
    request = talk("TASK: go", system_text="## Decisions", tools=())
    assert request.next(Script([{"say": "x"}])) == ""
    with pytest.raises(ProviderFault, match="no summaries today"):
        request.next(Script([{"note": "", "fail": "no summaries today"}]))


# Files


def load(tmp_path: Path, text: str) -> Script:
    file = tmp_path / "turns.yaml"
    file.write_bytes(text.encode())
    return Script.load(file)


def test_a_file_is_a_mapping_or_a_bare_list(tmp_path, talk):
    assert talk("go").next(load(tmp_path, "- say: hi\n")) == "hi"
    assert talk("go").next(load(tmp_path, "usage: report\nturns:\n  - say: hi\n")) == "hi"


def test_dates_in_arguments_become_text(tmp_path, talk):
    script = load(tmp_path, "- call: [{name: x, arguments: {day: 2026-03-01}}]\n")
    assert talk("go").next(script) == ("x", {"day": "2026-03-01"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("turns:\n  - say: [1\n", "line 3, column 1"),
        ("turns:\n  - say: hi\n    delay: 99\n", "turns[0].delay: 99 is greater than the maximum of 30"),
        ("turns:\n  - say: hi\n  - shout: hi\n", "turns[1]: Additional properties"),
        ("turns:\n  - say: 3\n", "turns[0].say: 3 is not of type 'string'"),
        ("turns:\n  - call: [{arguments: {}}]\n", "turns[0].call[0]: 'name' is a required property"),
        ("turns:\n  - delay: 1\n", "turns[0]: it does nothing; give it one of say, call, note"),
        ("turns:\n  - {say: x, garbage: true}\n", "turns[0].garbage: there is no call to spoil"),
        ("say: hi\n", "'turns' is a required property"),
        ("just words", "turns: 'just words' is not of type 'array'"),
        ("", "turns: None is not of type 'array'"),
        ("- !!python/object:os.system x\n", "line 1, column 3"),
        ("speed: 3\nturns: []\n", "the whole file"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place(tmp_path, text, words):
    with pytest.raises(Misuse) as caught:
        load(tmp_path, text)
    assert words in str(caught.value)
    assert "turns.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(PathRefused, match="cannot be read"):
        Script.load(tmp_path / "none.yaml")
    with pytest.raises(PathRefused, match="cannot be read"):
        Script.load(tmp_path)
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Misuse, match="not UTF-8"):
        Script.load(tmp_path / "x.yaml")
