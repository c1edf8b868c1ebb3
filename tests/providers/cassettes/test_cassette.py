"""Cassettes: recorded once, played anywhere: the same replies, nothing asked, no secret and no byte by chance."""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ethang_nb.clock import SystemClock
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, clean, system, tool, user
from ethang_nb.errors import CassetteMiss, KeyMissing, Misuse, Overflow, PathRefused, ProviderFault, Unknown
from ethang_nb.providers.cassettes.cassette import MODES, mode_of, opened, refuse_without
from ethang_nb.providers.cassettes.file import Tape
from ethang_nb.providers.cassettes.lines import Answer, Asked
from ethang_nb.providers.cassettes.scrub import MASK
from ethang_nb.providers.endpoints.table import ENDPOINTS
from ethang_nb.providers.models.facts import ModelFacts, Prices
from ethang_nb.providers.protocol import Request
from tests.providers.planted import SECRETS
from tests.providers.tapes import BODIES, MODEL, Server, ask, cassette, chat, never, remote

FILE = "demo.cassette.jsonl"


def rows(folder, name=FILE):
    return [json.loads(line) for line in (folder / name).read_bytes().splitlines()]


def record(folder, *questions, answer=lambda body: chat("said"), mode="record", wire="chat"):
    """Records these questions, one after the other; the server that was asked."""
    server = Server(answer)
    provider = remote(cassette(folder, mode), wire, lambda: server)
    for question in questions:
        ask(provider, *(question if isinstance(question, tuple) else (user(question),)))
    return server


def replayed(folder, *messages, wire="chat", **more):
    return ask(remote(cassette(folder, "replay"), wire), *messages, **more)


# ---- what is recorded is what is played

TEXTS = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4)
CALLS = st.lists(
    st.sampled_from([("read_file", '{"path": ', '"a.txt"}'), ("look", "{}"), ("look", '{"q":"é\\n"}')]),
    max_size=2,
)


@pytest.mark.parametrize("wire", BODIES)
@given(texts=TEXTS, calls=CALLS, size=st.integers(1, 40))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_replay_gives_equal_replies_and_the_text_as_it_came(tmp_path_factory, wire, texts, calls, size):
    folder = tmp_path_factory.mktemp("tape")
    server = Server(lambda body: BODIES[wire](*texts, calls=calls), size=size)
    live, again = [], []
    first = ask(remote(cassette(folder, "record"), wire, lambda: server), user("hi"), on_text=live.append)
    second = ask(remote(cassette(folder, "replay"), wire), user("hi"), on_text=again.append)
    assert first == second
    assert "".join(live) == "".join(again) == first.message.text == clean("".join(texts))
    assert (20, 4, 1) == (second.usage.input, second.usage.cached, len(server.asked))


@pytest.mark.parametrize("wire", BODIES)
def test_an_overflow_is_kept_as_it_was_and_heard_again(tmp_path, wire):
    text = json.dumps(
        {
            "error": {
                "code": 400,
                "message": "request (3021 tokens) exceeds the available context size (512 tokens)",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 3021,
                "n_ctx": 512,
            }
        }
    )
    server = Server(lambda body: (400, "application/json", text))
    with pytest.raises(Overflow) as live:
        ask(remote(cassette(tmp_path, "record"), wire, lambda: server), user("hi"))
    with pytest.raises(Overflow) as again:
        replayed(tmp_path, user("hi"), wire=wire)
    assert vars(live.value) == vars(again.value)
    assert str(live.value) == str(again.value)
    assert (3021, 512) == (again.value.tokens, again.value.limit)


@pytest.mark.parametrize(
    "said",
    [
        (429, "application/json", '{"error":{"message":"too many"}}'),
        (500, "text/html", "<p>no"),
        (200, "application/json", "{"),
    ],
)
def test_a_fault_of_another_kind_passes_and_makes_no_file(tmp_path, said):
    with pytest.raises(ProviderFault):
        record(tmp_path, "hi", answer=lambda body: said)
    assert [] == list(tmp_path.iterdir())


def test_an_answer_that_is_no_stream_is_kept_as_well(tmp_path):
    whole = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "so"}, "finish_reason": "stop"}]
    }
    record(tmp_path, "hi", answer=lambda body: (200, "application/json", json.dumps(whole)))
    assert "so" == replayed(tmp_path, user("hi")).message.text


def test_what_a_person_was_told_meanwhile_is_told_again(tmp_path):
    """A session records it, and the addresses in later requests count what was recorded before."""

    class Waiting(Server):
        async def ask(self, call, hearing, *, on_note=None):
            on_note(f"tried again after 3 s, {SECRETS['groq']}")
            return await super().ask(call, hearing)

    request = Request(model=MODEL, messages=(user("hi"),), max_output=100)
    told = []
    for mode, make in (
        ("record", lambda: Waiting(lambda body: chat("x"))),
        ("replay", never),
        ("auto", never),
    ):
        provider = remote(cassette(tmp_path, mode), make=make)
        asyncio.run(provider.send(provider.encode(request), on_note=told.append))
    assert SECRETS["groq"] in told[0]
    assert [f"{MODEL}: tried again after 3 s, {MASK}"] * 2 == told[1:]
    assert SECRETS["groq"] not in (tmp_path / FILE).read_text()


# ---- found by what is asked, not by order

QUESTIONS = ("one", "two", "three")


@pytest.mark.parametrize("order", list(permutations(QUESTIONS)))
def test_requests_are_answered_in_any_order(tmp_path, order):
    record(tmp_path, *QUESTIONS, answer=lambda body: chat(f"to {body['messages'][-1]['content']}"))
    provider = remote(cassette(tmp_path, "replay"))
    assert [f"to {one}" for one in order] == [ask(provider, user(one)).message.text for one in order]


def numbered():
    numbers = iter(range(1, 100))
    return lambda body: chat(f"answer {next(numbers)}")


@pytest.mark.parametrize("mode", ["record", "auto"])
def test_the_same_request_gets_its_answers_in_turn_and_the_last_one_again(tmp_path, mode):
    server = record(tmp_path, "hi", "hi", "hi", answer=numbered(), mode=mode)
    assert 3 == len(server.asked)
    for _ in range(2):  # counted from the beginning in each session
        provider = remote(cassette(tmp_path, "replay"))
        said = [ask(provider, user("hi")).message.text for _ in range(5)]
        assert ["answer 1", "answer 2", "answer 3", "answer 3", "answer 3"] == said


def test_a_second_session_that_records_goes_on_with_the_tape_and_asks_nothing_twice(tmp_path):
    answer = numbered()
    first = record(tmp_path, "hi", "more", answer=answer)
    second = record(tmp_path, "hi", "hi", "other", answer=answer)
    assert (2, 2) == (len(first.asked), len(second.asked))
    provider = remote(cassette(tmp_path, "replay"))
    said = [ask(provider, user(text)).message.text for text in ("hi", "hi", "more", "other")]
    assert ["answer 1", "answer 3", "answer 2", "answer 4"] == said


@given(asked=st.lists(st.sampled_from("abc"), max_size=9), chance=st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_whatever_was_asked_and_how_often_each_request_gets_its_own_answers(tmp_path_factory, asked, chance):
    folder = tmp_path_factory.mktemp("tape")
    numbers, expected = iter(range(100)), {}
    provider = remote(
        cassette(folder, "record"), make=lambda: Server(lambda body: chat(f"answer {next(numbers)}"))
    )
    for text in asked:
        expected.setdefault(text, []).append(ask(provider, user(text)).message.text)
    assert len(asked) == len({answer for answers in expected.values() for answer in answers})
    again, found = list(asked), {}
    chance.shuffle(again)
    for text in again:
        provider = provider if found else remote(cassette(folder, "replay"))
        found.setdefault(text, []).append(ask(provider, user(text)).message.text)
    assert expected == found


# ---- modes


def test_replay_makes_no_line_and_looks_for_no_facts(tmp_path):
    record(tmp_path, "hi")
    tape = cassette(tmp_path, "replay")
    provider = remote(tape, make=never)
    assert "said" == ask(provider, user("hi")).message.text
    with pytest.raises(CassetteMiss):
        ask(provider, user("ho"))
    with pytest.raises(CassetteMiss, match="holds nothing of the model 'lab/model-1'"):
        tape.facts(MODEL, lambda model: never())
    assert not tape.needs_network


def test_auto_asks_what_is_not_on_the_tape_and_adds_it(tmp_path):
    record(tmp_path, "one", mode="auto")
    before = (tmp_path / FILE).read_bytes()
    assert ["two"] == [
        body["messages"][0]["content"] for body in record(tmp_path, "one", "two", mode="auto").asked
    ]
    assert (tmp_path / FILE).read_bytes().startswith(before)
    assert [] == record(tmp_path, "two", "one", mode="auto").asked


def test_record_begins_anew_at_the_first_exchange_and_not_before(tmp_path):
    (tmp_path / FILE).write_text('{"at":1,"cassette":1}\n')
    server = Server(lambda body: chat("new"))
    provider = remote(cassette(tmp_path, "record"), make=lambda: server)
    assert 1 == rows(tmp_path)[0]["at"]
    ask(provider, user("hi"))
    assert 1_700_000_000 == rows(tmp_path)[0]["at"]
    assert [FILE] == [path.name for path in tmp_path.iterdir()]


def test_a_recording_that_fails_at_once_leaves_the_old_one(tmp_path):
    record(tmp_path, "hi", mode="auto")
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ProviderFault):
        record(tmp_path, "hi", answer=lambda body: (500, "text/plain", "down"))
    assert before == (tmp_path / FILE).read_bytes()


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_is_the_one_given_else_that_of_the_environment(mode, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", mode)
    assert mode == mode_of()
    assert "auto" == mode_of("auto")
    assert ("auto", "auto") == (mode_of(environ={}), mode_of(environ={"ETHANG_CASSETTE": " "}))


def test_a_mode_nobody_knows_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "replya")
    with pytest.raises(Unknown) as caught:
        opened("demo", tmp_path)
    assert "unknown mode in ETHANG_CASSETTE 'replya'; did you mean 'replay'?" == str(caught.value)


def test_without_a_cassette_replay_is_refused(monkeypatch):
    refuse_without(MODEL)
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    with pytest.raises(CassetteMiss, match="asks no model, and this session of lab/model-1 has no cassette"):
        refuse_without(MODEL)


def test_the_clock_stands_still_in_replay_and_what_is_measured_goes_on(tmp_path):
    record(tmp_path, "hi")
    real = SystemClock()
    still = cassette(tmp_path, "replay").clock(real)
    assert (1_700_000_000.0, 1_700_000_000.0) == (still.now(), still.now())
    assert still.monotonic() < still.monotonic()
    assert real is cassette(tmp_path, "auto").clock(real)


def test_a_line_is_made_once_and_closed_with_the_provider(tmp_path):
    made = []

    def make():
        made.append(Server(lambda body: chat("x")))
        return made[-1]

    provider = remote(cassette(tmp_path, "auto"), make=make)
    asyncio.run(provider.close())
    assert [] == made
    ask(provider, user("a"))
    ask(provider, user("b"))
    asyncio.run(provider.close())
    assert [1] == [server.closed for server in made]


# ---- facts

FACTS = ModelFacts(
    total=1_024,
    max_output=256,
    source="llama.cpp's server at http://127.0.0.1:41337/props",
    prices=Prices(input=5),
    flags={"a": True},
)


def test_facts_are_found_once_and_come_back_from_the_tape(tmp_path):
    model = "llamacpp//home/anna/models/small.gguf?ctx=1024&template=/home/anna/t.jinja&header.x=a-key"
    tape = cassette(tmp_path, "auto")
    assert FACTS == tape.facts(model, lambda name: FACTS)
    assert [] == list(tmp_path.iterdir())
    ask(remote(tape, make=lambda: Server(lambda body: chat("x"))), user("hi"))
    assert None is tape.facts("lab/other", lambda name: None)
    text = (tmp_path / FILE).read_text()
    assert "anna" not in text
    assert "41337" not in text
    assert "a-key" not in text
    found = cassette(tmp_path, "replay").facts(
        "llamacpp//else/small.gguf?ctx=1024&template=t.jinja", lambda name: never()
    )
    assert (1_024, 256, Prices(input=5), {"a": True}) == (
        found.total,
        found.max_output,
        found.prices,
        found.flags,
    )
    assert None is cassette(tmp_path, "replay").facts("lab/other", lambda name: never())
    stand_in = ModelFacts(total=8_000, max_output=4_000, source="stand-in")
    assert stand_in is cassette(tmp_path, "replay").facts("script:data/x.yaml", lambda name: stand_in)


def test_facts_alone_are_written_with_the_first_exchange_of_any_session(tmp_path):
    cassette(tmp_path, "record").facts(MODEL, lambda name: FACTS)
    record(tmp_path, "hi")
    assert 1_024 == cassette(tmp_path, "replay").facts(MODEL, lambda name: never()).total


# ---- the bytes of the file


def long_talk(turns, said="answer"):
    talk = [system("You work."), user("begin")]
    for number in range(turns):
        yield tuple(talk)
        talk += [assistant(f"{said} {number}"), user(f"go on {number} " + "x" * 200)]


def test_recording_the_same_again_gives_the_same_bytes(tmp_path):
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        record(tmp_path / name, *long_talk(5))
        files.append((tmp_path / name / FILE).read_bytes())
    assert files[0] == files[1]
    for line in files[0].splitlines():
        row = json.loads(line)
        assert line == json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    assert str(tmp_path) not in files[0].decode()
    assert {"at": 1_700_000_000, "cassette": 1} == rows(tmp_path / "a")[0]


def test_a_long_run_makes_a_file_that_grows_as_it_is_long(tmp_path):
    sizes = []
    for turns in (20, 40, 80):
        folder = tmp_path / str(turns)
        folder.mkdir()
        record(folder, *long_talk(turns))
        sizes.append((folder / FILE).stat().st_size)
    assert abs((sizes[2] - sizes[1]) - 2 * (sizes[1] - sizes[0])) < sizes[0] // 20
    pieces = [row["piece"] for row in rows(tmp_path / "80") if "piece" in row]
    assert len(pieces) == len(set(pieces))
    for talk in long_talk(80):
        assert "said" == replayed(tmp_path / "80", *talk).message.text


def test_the_file_says_what_was_asked_for_to_be_read(tmp_path):
    record(tmp_path, "Was kostet ein Eilauftrag aus Pécs?")
    assert "Was kostet ein Eilauftrag aus Pécs?" in (tmp_path / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["a\u2028b\x85c", "\ud800", "\x00\x07\u202e", '"\\n'])
def test_odd_texts_stay_on_their_line_and_come_back(tmp_path, text):
    record(tmp_path, text, answer=lambda body: chat(text.encode("utf-8", "replace").decode(), "ok"))
    whole = (tmp_path / FILE).read_text(encoding="utf-8")
    assert whole.splitlines() == whole.split("\n")[:-1]
    assert replayed(tmp_path, user(text)).message.text.endswith("ok")


# ---- secrets

KEYS = sorted({row.key for row in ENDPOINTS.values() if row.key})


@pytest.mark.parametrize("shape", ["opaque", "shaped"])
@pytest.mark.parametrize("wire", BODIES)
def test_no_credential_ever_gets_into_the_file(tmp_path, monkeypatch, wire, shape):
    """Each key is echoed by the model whole and in pieces, stands in a call, in a tool's result and in an error."""
    planted = {}
    for number, name in enumerate(KEYS):
        start = "sk-" if shape == "shaped" else ""
        planted[name] = start + "planted" + f"{number:02}" + "k7q2" * 6
        monkeypatch.setenv(name, planted[name])
    every = " ".join(planted.values())
    cut = [every[at : at + 5] for at in range(0, len(every), 5)]
    answers = [
        BODIES[wire](
            every, *cut, calls=[("look", json.dumps({"q": f"\n{every}"})), ("look", '{"q":"', *cut, '"}')]
        ),
        (
            413,
            "application/json",
            json.dumps(
                {
                    "error": {
                        "type": "request_too_large",
                        "code": "context_length_exceeded",
                        "message": f"maximum context length is 10 tokens. {every}",
                    }
                }
            ),
        ),
    ]
    server = Server(lambda body: answers[min(len(server.asked) - 1, 1)])
    tape = cassette(tmp_path, "record")
    provider = remote(tape, wire, lambda: server, model=f"lab/model-1?header.x={planted[KEYS[0]]}")
    tape.facts(f"lab/model-1?header.x={planted[KEYS[0]]}", lambda name: FACTS)
    call = ToolCall(id="call_1", name="look", arguments="{}")
    result = tool(ToolResult(call_id="call_1", name="look", text=f"env:\n{every}"))
    ask(provider, user(f"my keys: {every}"), assistant(calls=[call]), result)
    with pytest.raises(Overflow):
        ask(provider, user("again"))
    written = (tmp_path / FILE).read_text()
    assert [] == [name for name, key in planted.items() if key in written]
    assert 2 == sum("exchange" in row for row in rows(tmp_path))
    for name in KEYS:
        monkeypatch.delenv(name)
    if shape == "shaped":  # what a tool reads is there without the environment, too
        reply = replayed(tmp_path, user(f"my keys: {every}"), assistant(calls=[call]), result, wire=wire)
        assert MASK in reply.message.text
        assert "planted" not in reply.message.text + "".join(call.arguments for call in reply.message.calls)


def test_what_is_sent_is_not_touched(tmp_path):
    server = record(tmp_path, f"use {SECRETS['github']}")
    assert f"use {SECRETS['github']}" == server.asked[0]["messages"][0]["content"]
    assert SECRETS["github"] not in (tmp_path / FILE).read_text()
    assert "said" == replayed(tmp_path, user(f"use {SECRETS['github']}")).message.text


# ---- a miss

TOOLS = (ToolSpec(name="read_file", description="Reads."), ToolSpec(name="list_files"))
CALL = ToolCall(id="call_1", name="read_file", arguments='{"path": "a.txt"}')
TALK = (
    system("You work.\nCarefully."),
    user("Read a.txt"),
    assistant(calls=[CALL]),
    tool(ToolResult(call_id="call_1", name="read_file", text="line 1\nline 2\nline 3\nline 4")),
)


def missed(folder, talk, wire="chat", tools=TOOLS, **more):
    with pytest.raises(CassetteMiss) as caught:
        replayed(folder, *talk, wire=wire, tools=tools, **more)
    assert "\n" not in str(caught.value)
    assert "ETHANG_CASSETTE=record" in str(caught.value)
    assert len(caught.value.diff.splitlines()) <= 12
    return str(caught.value), caught.value.diff


@pytest.fixture(params=BODIES)
def taped(request, tmp_path):
    """A folder with TALK on a cassette, and its wire format."""
    wire = request.param
    provider = remote(cassette(tmp_path, "record"), wire, lambda: Server(lambda body: BODIES[wire]("x")))
    ask(provider, user("something else"), tools=TOOLS)
    ask(provider, *TALK[:2], tools=TOOLS)
    ask(provider, *TALK, tools=TOOLS)
    return tmp_path, wire


def test_a_miss_names_the_tool_result_that_differs_and_shows_how(taped):
    folder, wire = taped
    result = tool(
        ToolResult(call_id="call_1", name="read_file", text="line 1\nline 2\nLINE 3\x1b[31m\u202e\nline 4")
    )
    said, diff = missed(folder, (*TALK[:3], result), wire)
    assert "(tool result of read_file) differs from the recorded one" in said
    assert f"message {3 if wire == 'messages' else 4} " in said
    assert "-line 3" in diff
    assert re.search(r"^\+LINE 3(\\x1b|\\u001b)\[31m\\u202e$", diff, re.MULTILINE)
    assert diff.isprintable() or (set(diff) - {"\n"} and all(line.isprintable() for line in diff.split("\n")))


def test_a_miss_names_a_call_a_user_message_and_the_system_text(taped):
    folder, wire = taped
    call = ToolCall(id="call_1", name="read_file", arguments='{"path": "b.txt"}')
    assert (
        "(assistant, call of read_file) differs"
        in missed(folder, (*TALK[:2], assistant(calls=[call]), TALK[3]), wire)[0]
    )
    said, diff = missed(folder, (TALK[0], user("Read b.txt"), *TALK[2:]), wire)
    assert "(user)" in said
    assert "differs from the recorded one" in said
    assert "b.txt" in diff
    said, diff = missed(folder, (system("You work.\nQuickly."), *TALK[1:]), wire)
    assert ("the system text differs" if wire == "messages" else "message 1 (") in said
    assert "-Carefully." in diff.replace('"', "").replace(" ", "") or "Carefully" in diff


def test_a_miss_names_what_is_new_and_what_is_not_there(taped):
    folder, wire = taped
    said, diff = missed(folder, (*TALK, assistant("so"), user("and now?")), wire)
    assert (
        f"message {4 if wire == 'messages' else 5} (assistant) is new, the recorded one ends before it"
        in said
    )
    assert "+" in diff
    said, _ = missed(folder, TALK[:3], wire)
    assert "ends before" in said or "is new" in said or "differs" in said


def test_a_miss_names_the_head(taped):
    folder, wire = taped
    said, diff = missed(folder, TALK, wire, params={"temperature": 0})
    assert "request: its temperature is new, the recorded one has none; record it anew" in said
    assert "+0" == diff
    said, diff = missed(
        folder, TALK, wire, tools=(ToolSpec(name="read_file", description="Reads a file."), TOOLS[1])
    )
    assert "tool read_file differs" in said
    assert "Reads a file." in diff
    said, _ = missed(folder, TALK, wire, tools=TOOLS[1:])
    assert "tool read_file of the recorded one is missing in it" in said


@pytest.mark.parametrize("wire", BODIES)
def test_a_miss_names_what_of_the_head_is_gone(tmp_path, wire):
    provider = remote(cassette(tmp_path, "record"), wire, lambda: Server(lambda body: BODIES[wire]("x")))
    ask(provider, *TALK, tools=TOOLS, params={"temperature": 1})
    said, diff = missed(tmp_path, TALK, wire)
    assert "request: its temperature is missing, the recorded one has it; record it anew" in said
    assert "-1" == diff


def test_a_request_that_goes_on_behind_the_recorded_ones_is_told_how_to_begin_afresh(taped):
    folder, wire = taped
    afresh = "a session that was to begin afresh does so in a new kernel, or with --new"
    assert afresh in missed(folder, (*TALK, assistant("so"), user("and now?")), wire)[0]
    assert afresh not in missed(folder, (TALK[0], user("Read b.txt")), wire)[0]


REFUSED = (401, "application/json", '{"error":{"message":"wrong key"}}')


def keyless():
    raise KeyMissing("lab needs LAB_KEY, which is not set")


@pytest.mark.parametrize(
    ("make", "kind"),
    [(keyless, KeyMissing), (lambda: Server(lambda body: REFUSED), ProviderFault)],
    ids=["no key", "refused"],
)
def test_in_auto_a_request_that_cannot_be_asked_says_why_it_was_not_on_the_tape(tmp_path, make, kind):
    record(tmp_path, "Read a.txt")
    with pytest.raises(kind) as caught:
        ask(remote(cassette(tmp_path, "auto"), make=make), user("Read b.txt"))
    said = str(caught.value)
    assert "LAB_KEY" in said or "wrong key" in said
    assert (
        "; it was asked since cassette demo.cassette.jsonl has no answer to this request: message 1 (user) differs"
        in said
    )
    assert ["-Read a.txt", "+Read b.txt"] == caught.value.diff.splitlines()


@pytest.mark.parametrize("mode", ["auto", "record"])
def test_who_records_is_told_what_failed_and_nothing_of_the_tape(tmp_path, mode):
    if mode == "record":
        record(tmp_path, "Read a.txt")
    said = [chat("yes"), REFUSED]
    server = Server(lambda body: said[min(len(server.asked) - 1, 1)] if mode == "auto" else REFUSED)
    provider = remote(cassette(tmp_path, mode), make=lambda: server)
    if mode == "auto":
        ask(provider, user("Read b.txt"))
    with pytest.raises(ProviderFault) as caught:
        ask(provider, user("Read c.txt"))
    assert "cassette" not in str(caught.value)
    assert "" == caught.value.diff


def test_a_miss_of_another_window_says_both_numbers(taped):
    folder, wire = taped
    provider = remote(cassette(folder, "replay"), wire)
    request = Request(model=MODEL, messages=TALK, tools=TOOLS, max_output=99)
    with pytest.raises(CassetteMiss, match=r"its max(_output)?_tokens is 99, recorded was 100"):
        asyncio.run(provider.send(provider.encode(request)))


def test_a_miss_of_another_model_or_wire_says_so(taped):
    folder, wire = taped
    with pytest.raises(
        CassetteMiss, match="nothing of lab/model-2 is on it, it holds answers of lab/model-1"
    ):
        ask(remote(cassette(folder, "replay"), wire, model="lab/model-2"), *TALK)
    other = next(name for name in BODIES if name != wire)
    with pytest.raises(CassetteMiss, match="the recorded ones went to"):
        ask(remote(cassette(folder, "replay"), other), *TALK)


def test_a_long_message_that_differs_in_one_place_is_shown_there(tmp_path):
    text = "word " * 2_000
    record(tmp_path, text + "end", answer=lambda body: chat("x"))
    _, diff = missed(tmp_path, (user(text + "END"),), tools=())
    assert all(len(line) <= 77 for line in diff.split("\n"))
    assert "end" in diff
    assert "END" in diff
    record(tmp_path, "\n".join(map(str, range(30_000))), mode="auto")
    _, diff = missed(tmp_path, (user("\n".join(map(str, range(1, 60_000, 2)))),), tools=())
    assert "more lines" in diff.split("\n")[-1]


@pytest.mark.parametrize("error", [CassetteMiss("one line", diff="-a\n+b"), CassetteMiss("one line")])
def test_a_notebook_prints_the_line_and_then_the_diff(error):
    assert ["CassetteMiss: one line", *error.diff.splitlines()] == error._render_traceback_()


# ---- files as people and tools leave them


def as_crlf(data):
    return data.replace(b"\n", b"\r\n")


def with_bom(data):
    return b"\xef\xbb\xbf" + data


def without_end(data):
    return data.rstrip(b"\n")


def shuffled(data):
    head, *lines = data.splitlines(keepends=True)
    random.Random(5).shuffle(lines)
    return head + b"".join(lines)


def twice(data):
    return data + data


def with_half_a_line(data):
    return data + data[:120].split(b"\n", 1)[1][:40]


def with_blank_lines(data):
    return data.replace(b"\n", b"\n\n")


def with_unknown_fields(data):
    return b"".join(
        json.dumps(json.loads(line) | {"later": [1]}).encode() + b"\n" for line in data.splitlines()
    )


@pytest.mark.parametrize(
    "change",
    [
        as_crlf,
        with_bom,
        without_end,
        shuffled,
        twice,
        with_half_a_line,
        with_blank_lines,
        with_unknown_fields,
    ],
)
def test_a_file_that_went_through_other_hands_plays_and_grows_as_before(tmp_path, change):
    talks = list(long_talk(4))
    record(tmp_path, *talks)
    path = tmp_path / FILE
    path.write_bytes(change(path.read_bytes()))
    for talk in talks:
        assert "said" == replayed(tmp_path, *talk).message.text
    assert [] == record(tmp_path, *talks, mode="auto").asked
    assert 1 == len(record(tmp_path, *talks, "one more", mode="auto").asked)
    for talk in (*talks, (user("one more"),)):
        assert "said" == replayed(tmp_path, *talk).message.text
    assert path.read_bytes().endswith(b"\n")


def test_two_recordings_that_were_merged_by_hand_play_both(tmp_path):
    record(tmp_path, *long_talk(3))
    common = (tmp_path / FILE).read_bytes()
    sides = []
    for question in ("mine", "theirs"):
        (tmp_path / FILE).write_bytes(common)
        record(tmp_path, question, mode="auto")
        sides.append((tmp_path / FILE).read_bytes().removeprefix(common))
    marked = b"<<<<<<< HEAD\n" + sides[0] + b"=======\n" + sides[1] + b">>>>>>> theirs\n"
    (tmp_path / FILE).write_bytes(common + marked)
    with pytest.raises(
        Misuse, match=r"demo.cassette.jsonl, line \d+: a mark of a merge conflict; delete such lines"
    ):
        cassette(tmp_path, "replay")
    (tmp_path / FILE).write_bytes(common + sides[1] + sides[0])
    for question in ("mine", "theirs"):
        assert "said" == replayed(tmp_path, user(question)).message.text


def test_an_answer_may_be_edited_by_hand(tmp_path):
    record(tmp_path, "hi")
    path = tmp_path / FILE
    path.write_text(path.read_text().replace("said", "edited"))
    assert "edited" == replayed(tmp_path, user("hi")).message.text


DAMAGED = {
    "broken in the middle": (lambda data: data.replace(b'{"piece"', b'{"piece', 1), "line 2: not JSON"),
    "no object": (lambda data: data + b"[1]\n", "no JSON object"),
    "binary": (lambda data: data.replace(b"\n", b"\n\xff\xfe\n", 1), "line 2: not UTF-8"),
    "a changed piece": (lambda data: data.replace(b"messages", b"massages", 1), "a piece of a request that was"),
    "no head": (lambda data: data.split(b"\n", 1)[1], "line 1: no head of a cassette"),
    "a field is gone": (lambda data: data.replace(b'"status"', b'"state"', 1), "without 'status'"),
    "another kind": (lambda data: data.replace(b'"status":200', b'"status":"good"', 1), "a value of another kind"),
    "an unknown line": (lambda data: data + b'{"later":1}\n', "of no known kind"),
    "newer": (lambda data: data.replace(b'"cassette":1', b'"cassette":2', 1), "written by a newer ethang_nb"),
    "utf-16": (lambda data: data.decode().encode("utf-16"), "line 1: not UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("mode", ["auto", "replay"])
def test_a_damaged_file_is_named_with_its_line_and_not_written_to(tmp_path, mode, change, said):
    record(tmp_path, "hi")
    path = tmp_path / FILE
    path.write_bytes(change(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(Misuse, match=said) as caught:
        cassette(tmp_path, mode)
    assert str(caught.value).startswith(f"cassette {FILE}")
    assert "\n" not in str(caught.value)
    assert before == path.read_bytes()


@pytest.mark.parametrize("text", [None, "", "\n\n", "\ufeff"])
def test_an_empty_or_missing_file_is_a_miss_in_replay_and_a_beginning_else(tmp_path, text):
    if text is not None:
        (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(CassetteMiss, match="is not there" if text is None else "is empty"):
        cassette(tmp_path, "replay")
    for mode in ("auto", "record"):
        assert 1 == len(record(tmp_path, mode, mode=mode).asked)
        assert "said" == replayed(tmp_path, user(mode)).message.text


def test_a_name_with_a_slip_is_told_with_the_cassette_that_lies_beside(tmp_path):
    record(tmp_path, "hi")
    with pytest.raises(CassetteMiss, match=r"did you mean demo\.cassette\.jsonl\? else record it first"):
        cassette(tmp_path, "replay", "dmeo")

    def find(model):
        raise PathRefused(f"{model} is not there; give the path of a GGUF file")

    for name, said in (("dmeo", True), ("other", False), ("demo", False)):
        with pytest.raises(PathRefused) as caught:
            cassette(tmp_path, "auto", name).facts("llamacpp/x.gguf", find)
        assert said == str(caught.value).endswith(
            "; cassette dmeo.cassette.jsonl is not there either: did you mean demo.cassette.jsonl?"
        )
    refused = Server(lambda body: (_ for _ in ()).throw(KeyMissing("no key")))
    with pytest.raises(KeyMissing, match="did you mean demo"):
        ask(remote(cassette(tmp_path, "auto", "dmeo"), "chat", lambda: refused), user("hi"))


def test_what_was_stopped_while_it_was_recorded_is_a_miss_that_says_so(tmp_path):
    record(tmp_path, (user("tell"), user("and now?")))
    with pytest.raises(
        CassetteMiss, match="goes on: what was stopped or failed while it was recorded has no"
    ):
        replayed(tmp_path, user("tell"))


def test_a_miss_is_kept_until_somebody_asks(tmp_path):
    record(tmp_path, "hi")
    tape = cassette(tmp_path, "replay")
    provider = remote(tape, "chat")
    assert ask(provider, user("hi")).message.text and tape.missed is None
    with pytest.raises(CassetteMiss) as caught:
        ask(provider, user("ho"))
    assert (str(caught.value), caught.value.diff) == (str(tape.missed), tape.missed.diff)
    assert tape.missed.__traceback__ is None


def test_another_file_is_never_written_over(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"row": 1}\n')
    for mode in ("auto", "record", "replay"):
        with pytest.raises(Misuse, match="line 1: no head of a cassette"):
            cassette(tmp_path, mode, "data.jsonl")
    assert '{"row": 1}\n' == (tmp_path / "data.jsonl").read_text()


def test_a_file_cut_anywhere_keeps_every_whole_exchange_before_the_cut(tmp_path):
    talks = list(long_talk(3))
    record(tmp_path, *talks)
    whole = (tmp_path / FILE).read_bytes()
    ends = [at + 1 for at in range(len(whole)) if whole[at : at + 1] == b"\n"]
    kinds = [json.loads(line) for line in whole.splitlines()]
    for cut in random.Random(11).sample(range(len(whole) + 1), 60):
        (tmp_path / FILE).write_bytes(whole[:cut])
        lines = sum(end <= cut + 1 for end in ends)  # without its end alone a line is whole
        left = sum("exchange" in row for row in kinds[:lines])
        if lines == 0:
            with pytest.raises(CassetteMiss, match="is empty"):
                cassette(tmp_path, "replay")
            continue
        for number, talk in enumerate(talks):
            if number < left:
                assert "said" == replayed(tmp_path, *talk).message.text
            else:
                with pytest.raises(CassetteMiss):
                    replayed(tmp_path, *talk)
        assert len(talks) - left == len(record(tmp_path, *talks, mode="auto").asked)
        for talk in talks:
            assert "said" == replayed(tmp_path, *talk).message.text


WRITER = """
import sys
from pathlib import Path
from ethang_nb.providers.cassettes.file import Tape
from ethang_nb.providers.cassettes.lines import Answer, Asked
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
tape = Tape(path, path.name)
tape.read()
for number in range(count):
    asked = Asked("lab/model-1", "chat", ("head", f"{name} {number} " + "x" * 5_000, "tail"))
    tape.append(1, {}, asked, Answer(status=200, type="text/plain", text="y" * 3_000))
    print(number, flush=True)
"""


def test_kernels_that_append_at_the_same_time_lose_and_tear_nothing(tmp_path):
    path = tmp_path / FILE
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name, "25"], stdout=subprocess.PIPE)
        for name in "abc"
    ]
    assert [0, 0, 0] == [writer.wait(60) for writer in writers]
    for writer in writers:
        writer.stdout.close()
    tape = Tape(path, FILE)
    tape.read()
    for name in "abc":
        for number in range(25):
            key = Asked("lab/model-1", "chat", ("head", f"{name} {number} " + "x" * 5_000, "tail")).key
            assert "y" * 3_000 == tape.answers[key][0].text
            assert tape.request(key).key == key
    assert 1 == sum("cassette" in row for row in rows(tmp_path))


def test_every_acknowledged_exchange_survives_a_kill(tmp_path):
    path, acknowledged = tmp_path / FILE, 0
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, path, "a", "100000"], stdout=subprocess.PIPE, text=True
    )
    for _ in range(20):
        acknowledged = int(writer.stdout.readline())
    writer.kill()
    rest, _ = writer.communicate()
    acknowledged = max([acknowledged, *map(int, rest.split("\n")[:-1])])
    tape = Tape(path, FILE)
    tape.read()
    assert len(tape.answers) in (acknowledged + 1, acknowledged + 2)


def test_a_session_sees_what_another_one_recorded_meanwhile(tmp_path):
    first = remote(cassette(tmp_path, "auto"), make=lambda: Server(lambda body: chat("first")))
    ask(first, user("one"))
    record(tmp_path, "two", mode="auto", answer=lambda body: chat("second"))
    assert "second" == ask(first, user("two")).message.text
    (tmp_path / FILE).unlink()
    assert "first" == ask(first, user("two")).message.text


OTHER = """
import sys
from pathlib import Path
from tests.providers.cassettes.test_cassette import record
record(Path(sys.argv[1]), "two")
"""


def test_two_processes_that_record_anew_do_not_wipe_each_other_out_again_and_again(tmp_path):
    mine = remote(cassette(tmp_path, "record"), make=lambda: Server(lambda body: chat("mine")))
    ask(mine, user("one"))
    here = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", OTHER, tmp_path], cwd=here, check=True, timeout=60)
    ask(mine, user("three"))
    assert ["said", "mine"] == [replayed(tmp_path, user(text)).message.text for text in ("two", "three")]


def test_a_session_sees_what_an_editor_made_of_the_file(tmp_path):
    record(tmp_path, "one", "two", answer=lambda body: chat("said"))
    provider = remote(cassette(tmp_path, "replay"))
    assert "said" == ask(provider, user("one")).message.text
    path = tmp_path / FILE
    text = path.read_text().replace("said", "edited by hand")
    with path.open("w") as file:  # the same file, longer
        file.write(text)
    assert "edited by hand" == ask(provider, user("two")).message.text


def test_a_full_disk_leaves_the_file_whole_and_the_answer_with_a_notice(tmp_path, monkeypatch):
    record(tmp_path, "one", mode="auto")
    before = (tmp_path / FILE).read_bytes()
    real = os.write

    def full(fd, data):
        real(fd, bytes(data)[:20])
        raise OSError(28, "No space left on device")

    provider = remote(cassette(tmp_path, "auto"), make=lambda: Server(lambda body: chat("paid")))
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        reply = ask(provider, user("two"))
    assert "paid" == reply.message.text
    assert (
        "demo.cassette.jsonl cannot be written: no space left on device; this answer is not on it"
        in reply.notices[0]
    )
    assert before == (tmp_path / FILE).read_bytes()
    ask(provider, user("two"))
    assert "paid" == replayed(tmp_path, user("two")).message.text


def test_a_folder_that_is_not_there_is_named_before_anything_is_asked(tmp_path):
    server = Server(lambda body: chat("x"))
    provider = remote(cassette(tmp_path, "auto", "tapes/demo.cassette.jsonl"), make=lambda: server)
    with pytest.raises(
        PathRefused, match=r"tapes/demo.cassette.jsonl cannot be written: its folder is not there"
    ):
        ask(provider, user("hi"))
    assert [] == server.asked


# ---- names and paths


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("demo", "demo.cassette.jsonl"),
        ("04 a real model", "04 a real model.cassette.jsonl"),
        ("demo.cassette.jsonl", "demo.cassette.jsonl"),
        ("tapes/demo.jsonl", "tapes/demo.jsonl"),
        ("tapes/demo", "tapes/demo.cassette.jsonl"),
    ],
)
def test_a_name_lies_beside_the_notebook_and_a_path_where_it_says(tmp_path, given, path):
    found = opened(given, tmp_path)
    assert tmp_path.resolve() / path == found.path
    assert path == found.name
    assert opened(tmp_path / path, "/").path == found.path


@pytest.mark.parametrize(
    "given", ["", "  ", ".", "..", "../demo", "a\0b", "x" * 300, "folder/", 7, "a:b*", "~no such user/x"]
)
def test_a_bad_name_is_refused(tmp_path, given):
    (tmp_path / "folder.cassette.jsonl").mkdir()
    with pytest.raises(PathRefused) as caught:
        opened(given if given != "folder/" else "folder", tmp_path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_link_does_not_lead_out_of_the_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / FILE).symlink_to(tmp_path / "out.jsonl")
    with pytest.raises(PathRefused, match="leads out of the session's folder"):
        opened("demo", tmp_path / "in")


def test_the_tape_of_a_request_is_found_by_hash_alone(tmp_path):
    tape = Tape(tmp_path / FILE, FILE)
    asked = Asked("o", "p", ("a", "b"))
    tape.append(5, {}, asked, Answer(status=200, type="t", text="x"))
    assert asked == tape.request(asked.key)
    assert Asked("o", "p", ("ab",)).key != asked.key != Asked("o", "p", ("b", "a")).key
