"""A chaos peer on loopback: each of its faults on each wire format, and its own verdict on how we took it."""

import asyncio
import json
import random
import re
from collections import Counter
from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.context import kinds
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import user
from ethang_nb.errors import ModelFault, Overflow, ProviderFault
from ethang_nb.providers.http.line import HttpLine
from ethang_nb.providers.http.waiting import Timeouts, Waits
from ethang_nb.providers.protocol import Reply, Request
from ethang_nb.providers.registry import provider
from tests.providers.servers import llmock, llmock_package

WIRES = ("chat", "responses", "anthropic")
WAITS = Waits(first=0.02, most=0.1, jitter=0.01)
LONG = {"type": "reply", "text": "one two three four five six seven eight nine ten eleven twelve"}
WEATHER = ToolSpec(
    name="get_weather",
    description="What the weather is like.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.fixture
def chaos():
    """The chaos peer, with nothing planned and nothing seen."""
    server = llmock()
    server.state.reset()
    return server


def plan(server, *behaviours):
    from llmock.scenarios import behavior_from_dict

    server.state.scenarios.add(*[behavior_from_dict(each) for each in behaviours])


def verdict(server):
    from llmock.verdict import judge

    return judge(server.state.journal.records(wait=2))


def base(server, wire):
    return f"{server.url}/anthropic/v1" if wire == "anthropic" else f"{server.url}/v1"


def model(server, wire, name="local"):
    provider = "anthropic" if wire == "anthropic" else "openai"
    return f"{provider}/{name}?wire={wire}&base_url={base(server, wire)}"


def remote(server, wire, name="local", *, idle=20.0):
    """The provider that the registry makes, with waits as short as a test wants them."""
    line = HttpLine(base(server, wire), waits=WAITS, timeouts=Timeouts(idle=idle))
    return replace(provider(model(server, wire, name)), line=line)


def outcome(server, wire, *, tools=(), text="tell me something long please", idle=20.0):
    """What came of one request, and the notes on the way."""
    notes = []

    async def main():
        one = remote(server, wire, idle=idle)
        request = Request(model=one.model, messages=(user(text),), tools=tools, max_output=50)
        try:
            return await one.send(one.encode(request), on_note=notes.append)
        except ModelFault as fault:
            return fault
        finally:
            await one.close()

    return asyncio.run(main()), [line for line in notes if line]


def fail(status, **more):
    return {"type": "fail", "status": status, **more}


def broken(kind, after, **more):
    return {"type": "stream_fault", "kind": kind, "after_chunks": after, **more}


PASSING = {
    # name: (what the peer does, how many requests it takes)
    "no fault": ([], 1),
    "slow first word": ([{"type": "slow_first_token", "seconds": 0.2}], 1),
    "408": ([fail(408)], 2),
    "429 with a wait": ([fail(429, retry_after=0.3)], 2),
    "500": ([fail(500)], 2),
    "500 twice": ([fail(500, times=2)], 3),
    "503 with a wait": ([fail(503, retry_after=0.2)], 2),
    "529 with a wait": ([fail(529, retry_after=0.2)], 2),
    "each in turn": ([fail(503, retry_after=0.1), fail(429, retry_after=0.2), fail(500)], 4),
    "disconnect before a word": ([broken("disconnect", 1)], 2),
    "truncated before a word": ([broken("truncate", 1)], 2),
    "broken JSON before a word": ([broken("malformed", 0)], 2),
    "stall before a word": ([broken("stall", 1, stall_seconds=30)], 2),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_got_over(chaos, wire, fault):
    behaviours, requests = PASSING[fault]
    plan(chaos, *behaviours)
    reply, notes = outcome(chaos, wire, idle=0.4 if "stall" in fault else 20.0)
    assert isinstance(reply, Reply) and reply.stop == "end" and reply.message.text
    assert len(notes) == requests - 1
    assert len(reply.notices) == (requests > 1)
    found = verdict(chaos)
    assert found.attempts == requests
    found.assert_ok()


LASTING = {
    # name: (what the peer does, what it is to us, a word of its text, how many requests it takes)
    "401": ([fail(401)], ProviderFault, "HTTP 401", 1),
    "403": ([fail(403)], ProviderFault, "HTTP 403", 1),
    "404": ([fail(404)], ProviderFault, "HTTP 404", 1),
    "422": ([fail(422)], ProviderFault, "HTTP 422", 1),
    "413": ([fail(413)], Overflow, "HTTP 413", 1),
    "500 for good": ([fail(500, times=None)], ProviderFault, "after 4 tries in 1 s", 4),
    "429 for an hour": ([fail(429, retry_after=3600)], ProviderFault, "60 min", 1),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", LASTING)
def test_what_stays_ends_by_name(chaos, wire, fault):
    behaviours, kind, words, requests = LASTING[fault]
    plan(chaos, *behaviours)
    error, notes = outcome(chaos, wire)
    assert type(error) is kind and words in str(error) and "\n" not in str(error)
    assert str(error).startswith(("openai/local: ", "anthropic/local: ")) and error.partial is None
    assert len(notes) == requests - 1
    found = verdict(chaos)
    assert found.attempts == requests
    found.assert_ok()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", ["disconnect", "malformed", "stall"])
def test_after_the_first_word_nothing_is_asked_again_and_what_came_is_kept(chaos, wire, kind):
    plan(chaos, LONG, broken(kind, 9, **({"stall_seconds": 30} if kind == "stall" else {})))
    fault, notes = outcome(chaos, wire, idle=0.4 if kind == "stall" else 20.0)
    assert type(fault) is ProviderFault and notes == []
    assert fault.partial["parts"][0]["text"].startswith("one two")
    found = verdict(chaos)
    assert found.attempts == 1
    found.assert_ok()


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_is_truncated_after_the_first_word_is_never_taken_for_whole(chaos, wire):
    """The peer would have it asked for again; but words were shown by then, so it is kept, as cut."""
    plan(chaos, LONG, broken("truncate", 9))
    reply, _ = outcome(chaos, wire)
    assert isinstance(reply, Reply) and reply.stop == "cut" and reply.message.text.startswith("one two")
    assert [finding.code for finding in verdict(chaos).errors] == ["truncated_stream_accepted"]


@pytest.mark.parametrize("wire", WIRES)
def test_an_overflow_is_one_and_tells_its_numbers(wire):
    with llmock_package().LLMockServer() as small:
        from llmock.ratelimit import LimitSettings

        small.state.limiter.configure(LimitSettings(context_window=512))
        fault, notes = outcome(small, wire, text="word " * 3_000)
        assert type(fault) is Overflow and fault.limit == 512 and fault.tokens > 3_000 and notes == []
        verdict(small).assert_ok()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("behaviour", "name", "arguments"),
    [
        ({"type": "tool_fault", "kind": "unknown_tool"}, "llmock_unknown_tool", '{"city": "mock-city"}'),
        ({"type": "tool_fault", "kind": "malformed_arguments"}, "get_weather", '{"city": "'),
        ({"type": "reply", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]}, "get_weather",
         '{"city": "Paris"}'),
    ],
)  # fmt: skip
def test_calls_come_as_the_model_made_them(chaos, wire, behaviour, name, arguments):
    plan(chaos, behaviour)
    reply, _ = outcome(chaos, wire, tools=(WEATHER,))
    (call,) = reply.message.calls
    assert (reply.stop, call.name, call.arguments) == ("calls", name, arguments)
    verdict(chaos).assert_ok()


# ---- whole sessions

SESSIONS, ROUNDS = 20, 5
MIX = (
    [fail(429, retry_after=0.05)],
    [fail(500), fail(503, retry_after=0.05)],
    [fail(500, times=4)],
    [fail(401)],
    [fail(400, message="prompt is too long: 9000 tokens > 8000 maximum")],
    [broken("disconnect", 1)],
    [LONG, broken("disconnect", 9)],
    [broken("truncate", 1)],
    [LONG, broken("truncate", 9)],
    [broken("malformed", 0)],
    [LONG, broken("malformed", 9)],
    [broken("stall", 1, stall_seconds=30)],
    [{"type": "tool_fault", "kind": "unknown_tool"}],
    [{"type": "tool_fault", "kind": "malformed_arguments"}],
    [{"type": "slow_first_token", "seconds": 0.1}],
)


def planned(rng, name):
    """What befalls one run of one session: none, one or two troubles, and now and then a person who stops it."""
    troubles = rng.sample(MIX, rng.choice([0, 1, 1, 2]))
    behaviours = [{**each, "match": {"model": name}} for trouble in troubles for each in trouble]
    return behaviours, rng.random() < 0.1


def test_a_hundred_interleaved_runs_each_end_by_name_and_lose_no_event(chaos, tmp_path):
    rng, endings = random.Random(5), Counter()
    names = [f"run-{number:02}" for number in range(SESSIONS)]
    sessions = [opened(chaos, tmp_path, name, WIRES[at % 3]) for at, name in enumerate(names)]
    for turn in range(ROUNDS):
        stops = []
        for name, session in zip(names, sessions, strict=True):
            behaviours, stop = planned(rng, name)
            plan(chaos, *behaviours)
            stops += [session] if stop else []
        runs = [session.start(f"Read the file number {turn} and say what it holds.") for session in sessions]
        for session in stops:
            session.stop()
        for run in runs:
            run.wait(20)
            assert run.done, f"{run.session} hangs"
            assert run.ending not in ("running", "hung") and (run.error or run.ok), run.ending
            assert "\n" not in run.error
            endings[run.ending] += 1
    records = [session.recorded for session in sessions]
    for session in sessions:
        session.close()
    assert endings.total() == SESSIONS * ROUNDS == 100
    assert {"completed", "provider error", "truncated", "interrupted"} <= set(endings), endings

    arrived = {}
    for seen in chaos.state.journal.records(wait=2):
        arrived.setdefault(seen.model, []).append(seen.body)
    for name, events in zip(names, records, strict=True):
        check_events(events)
        with eth.open_session(name, root=tmp_path, look=True) as again:
            assert again.recorded == events and not again.drift
            asked = [
                event.data["pieces"] for event in events if event.kind in (kinds.REQUEST, kinds.NOTE_REQUEST)
            ]
            bodies = [json.loads(again.archive.record.body(pieces)) for pieces in asked]
        assert all(body in bodies for body in arrived[name]), "something else was sent than was recorded"
    errors = {finding.code for finding in verdict(chaos).errors}
    assert errors <= {"truncated_stream_accepted"}  # kept as cut, see above


def opened(chaos, root, name, wire):
    session = eth.Session(model(chaos, wire, name), name=name, root=root, window=8_000)
    session.provider = remote(chaos, wire, name, idle=0.5)
    return session


def check_events(events):
    """Numbered without gaps; each run and each request has its end, and none has two."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    story = "".join(
        {kinds.RUN: "(", kinds.RUN_END: ")", kinds.REQUEST: "?", kinds.WAITED: "w", kinds.REPLY: "!",
         kinds.PROVIDER_ERROR: "x", kinds.OVERFLOW: "o"}.get(event.kind, "")
        for event in events
    )  # fmt: skip
    # A request ends in a reply, an overflow or an error, unless the run was stopped in the middle of it.
    run = r"\((?:\?w*[!o])*(?:\?w*)?x?\)"
    assert re.fullmatch(run * ROUNDS, story), story
