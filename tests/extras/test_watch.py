"""`eth.watch`: a client's requests are seen in a context, and neither they nor their answers are different for it."""

import asyncio
import gc
import json
import sys
import threading
import types

import pytest

import ethang_nb as eth
from ethang_nb.errors import Misuse
from ethang_nb.extras.watch import _Hook
from tests.extras.peer import CALL, CHAT, KINDS, MESSAGES, RESPONSES, USAGE, Peer

openai = pytest.importorskip("openai", reason="needs the official client: uv sync --group peers")
anthropic = pytest.importorskip("anthropic", reason="needs the official client: uv sync --group peers")

FUNCTION = {
    "name": "read",
    "description": "Reads a file.",
    "parameters": {"type": "object", "properties": {}},
}
TOOLS = {
    CHAT: [{"type": "function", "function": FUNCTION}],
    RESPONSES: [{"type": "function", **FUNCTION, "strict": False}],
    MESSAGES: [{"name": "read", "description": "Reads a file.", "input_schema": FUNCTION["parameters"]}],
}
TASK = {"role": "user", "content": "Read a.txt, it is “short”."}
RANDOM = ("idempotency-key", "x-stainless-read-timeout", "host", "user-agent")
"""Headers that no two requests share."""


@pytest.fixture(scope="module")
def server():
    peer = Peer()
    yield peer
    peer.close()


CLIENTS = []
"""Those of the test that is running, to be closed after it."""


@pytest.fixture
def peer(server):
    server.acts, server.seen = [], []
    server.asked.clear()
    yield server
    while CLIENTS:
        CLIENTS.pop().close()


def client_of(kind, peer, *, later=False, **options):
    package = anthropic if kind == MESSAGES else openai
    # Without certificates, which take most of the time that making a client does.
    http = (package.DefaultAsyncHttpxClient if later else package.DefaultHttpxClient)(verify=False)
    options = {"max_retries": 0, "timeout": 10, "api_key": "none", "http_client": http, **options}
    if kind == MESSAGES:
        client = (anthropic.AsyncAnthropic if later else anthropic.Anthropic)(base_url=peer.origin, **options)
    else:
        client = (openai.AsyncOpenAI if later else openai.OpenAI)(base_url=f"{peer.origin}/v1", **options)
    if not later:  # those are closed in their loop
        CLIENTS.append(client)
    return client


def asking(kind, client):
    """The function of a client that asks, and what of its arguments differs by kind."""
    if kind == CHAT:
        return client.chat.completions.create, "messages"
    if kind == RESPONSES:
        return client.responses.create, "input"
    return client.messages.create, "messages"


def ask(kind, client, messages, **options):
    create, name = asking(kind, client)
    if kind == MESSAGES:
        options = {"max_tokens": 100, "system": "Be brief.", **options}
    elif kind == RESPONSES:
        options = {"instructions": "Be brief.", **options}
    else:
        messages = [{"role": "system", "content": "Be brief."}, *messages]
        if options.get("stream"):
            options = {"stream_options": {"include_usage": True}, **options}
    return create(model="m", tools=TOOLS[kind], **{name: messages}, **options)


def turn(kind, answer):
    """The model's call as it is sent back, and its result."""
    if kind == CHAT:
        message = answer.choices[0].message
        return [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "a is one"}]
    if kind == RESPONSES:
        call = answer.output[0]
        return [
            *answer.output,
            {"type": "function_call_output", "call_id": call.call_id, "output": "a is one"},
        ]
    block = answer.content[0]
    result = {"type": "tool_result", "tool_use_id": block.id, "content": "a is one"}
    return [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]


def loop(kind, client, peer):
    """A loop of two requests: a call, its result, an answer."""
    peer.acts += [{"call": CALL}, {"text": "It is one."}]
    history = [TASK]
    answer = ask(kind, client, history)
    history += turn(kind, answer)
    return answer, ask(kind, client, history), history


def texts(ctx):
    return [message.text for message in ctx.live.assemble()]


def sent(peer):
    return [
        (path, body, {name: value for name, value in headers.items() if name not in RANDOM})
        for path, headers, body in peer.seen
    ]


def context():
    return eth.Context(8_000, model="gpt-4o")


# ---- the same bytes, both ways


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_sends_the_same_bytes_watched_or_not_and_the_context_shows_them(kind, peer):
    plain = loop(kind, client_of(kind, peer), peer)
    unwatched = sent(peer)
    peer.seen.clear()
    ctx, client = context(), client_of(kind, peer)
    with eth.watch(client, ctx):
        watched = loop(kind, client, peer)
    assert unwatched == sent(peer)
    assert [one.model_dump() for one in plain[:2]] == [one.model_dump() for one in watched[:2]]
    assert ["Be brief.", TASK["content"], "", "a is one", "It is one."] == texts(ctx)
    assert ("read",) == tuple(tool.name for tool in ctx.live.tools)
    [call] = [call for message in ctx.live.assemble() for call in message.calls]
    assert (CALL[0], {"path": "a.txt"}) == (call.id, json.loads(call.arguments))
    assert 2 == len(ctx.snapshot.timeline) and () == ctx.snapshot.notices == ctx.segments.repairs
    assert [()] * 2 == [row.events for row in ctx.snapshot.timeline]
    # What the provider counted, beside our own count of the very request.
    own = [row.tokens for row in ctx.snapshot.timeline]
    assert tuple(-(-USAGE[0] * 1000 // tokens) for tokens in own) == ctx.live.state.reports.last


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_gives_the_same_events_watched_or_not(kind, peer):
    def streamed(client):
        peer.acts += [{"call": CALL}, {"text": "It is öne."}]
        return [[event.model_dump() for event in ask(kind, client, [TASK], stream=True)] for _ in range(2)]

    plain = streamed(client_of(kind, peer))
    unwatched = sent(peer)
    peer.seen.clear()
    ctx, client = context(), client_of(kind, peer)
    eth.watch(client, ctx)
    assert plain == streamed(client)
    assert unwatched == sent(peer)
    assert ["Be brief.", TASK["content"], "It is öne."] == texts(ctx)
    assert 2 == len(ctx.live.state.reports.last)
    assert () == ctx.snapshot.notices


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_asynchronous_clients_are_watched_too(kind, stream, peer):
    async def run(client):
        async with client:
            peer.acts += [{"text": "It is one."}]
            answer = await ask(kind, client, [TASK], stream=stream)
            return [event.model_dump() async for event in answer] if stream else answer.model_dump()

    plain = asyncio.run(run(client_of(kind, peer, later=True)))
    unwatched = sent(peer)
    peer.seen.clear()
    ctx, client = context(), client_of(kind, peer, later=True)
    with eth.watch(client, ctx):
        assert plain == asyncio.run(run(client))
    assert unwatched == sent(peer)
    assert ["Be brief.", TASK["content"], "It is one."] == texts(ctx)
    assert 1 == len(ctx.live.state.reports.last)


def test_events_reach_the_reader_while_the_answer_is_still_coming(peer):
    hold = threading.Event()
    peer.acts += [{"cut": 3, "hold": hold}]
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    stream = iter(ask(CHAT, client, [TASK], stream=True))
    first = [next(stream) for _ in range(3)]  # the server sends no more until it is told to
    assert ["Hel", "lo"] == [event.choices[0].delta.content for event in first[1:]]
    hold.set()
    stream.close()


# ---- helpers of the clients


def test_copies_raw_answers_parsing_and_stream_helpers_are_seen(peer):
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    ask(CHAT, client.with_options(timeout=5, max_retries=1), [TASK])
    raw = client.chat.completions.with_raw_response.create(model="m", messages=[TASK])
    assert "Hello there." == raw.parse().choices[0].message.content
    assert raw.elapsed.total_seconds() > 0
    client.chat.completions.parse(model="m", messages=[TASK])
    with client.chat.completions.stream(model="m", messages=[TASK]) as stream:
        assert "Hello there." == stream.get_final_completion().choices[0].message.content
    with client.responses.stream(model="m", input="Read a.txt") as stream:
        assert "Hello there." == stream.get_final_response().output_text
    with client.chat.completions.with_streaming_response.create(model="m", messages=[TASK]) as answer:
        assert b"Hello there." in b"".join(answer.iter_bytes())
    assert 6 == len(ctx.snapshot.timeline) == len(peer.seen)
    assert "Hello there." == texts(ctx)[-1]
    assert not any("no whole answer" in notice or "could not" in notice for notice in ctx.snapshot.notices)


def test_the_stream_helper_of_messages_is_seen(peer):
    ctx, client = context(), client_of(MESSAGES, peer)
    eth.watch(client, ctx)
    with client.messages.stream(model="m", max_tokens=9, messages=[TASK]) as stream:
        assert "Hello there." == "".join(stream.text_stream)
    assert [TASK["content"], "Hello there."] == texts(ctx)


def test_azure_is_watched(peer):
    client = openai.AzureOpenAI(azure_endpoint=peer.origin, api_version="2024-10-21", api_key="none")
    CLIENTS.append(client)
    ctx = context()
    eth.watch(client, ctx)
    client.chat.completions.create(model="deployed", messages=[TASK])
    assert "/deployments/deployed/chat/completions" in peer.seen[0][0]
    assert [TASK["content"], "Hello there."] == texts(ctx)


def test_what_is_no_conversation_passes_unseen(peer):
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    client.post("/chat/completions/other", body={"messages": []}, cast_to=object)
    client.post("/threads/t/messages", body={"role": "user", "content": "x", "chat": 1}, cast_to=object)
    assert 2 == len(peer.seen)
    assert 0 == ctx.live.step and () == ctx.snapshot.notices


def test_a_packed_answer_is_read(peer):
    peer.acts += [{"packed": True}]
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    assert "Hello there." == ask(CHAT, client, [TASK]).choices[0].message.content
    assert "Hello there." == texts(ctx)[-1]


def test_a_response_that_goes_on_from_an_earlier_one_shows_what_the_server_holds(peer):
    peer.acts += [{"id": "resp_a"}, {"id": "resp_b", "text": "It is one."}, {}]
    ctx, client = context(), client_of(RESPONSES, peer)
    eth.watch(client, ctx)
    client.responses.create(model="m", input="Read a.txt")
    list(client.responses.create(model="m", input="and b", previous_response_id="resp_a", stream=True))
    assert ["Read a.txt", "Hello there.", "and b", "It is one."] == texts(ctx)
    client.responses.create(model="m", input="and c", previous_response_id="resp_b")
    assert ["Read a.txt", "Hello there.", "and b", "It is one.", "and c", "Hello there."] == texts(ctx)
    client.responses.create(model="m", input="and c", previous_response_id="resp_unknown")
    assert ["and c", "Hello there."] == texts(ctx)
    assert any("resp_unknown" in notice for notice in ctx.snapshot.notices)


# ---- faults


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_stream_that_its_reader_leaves_is_left_and_its_piece_does_not_enter(kind, stop_after, peer):
    ctx, client = context(), client_of(kind, peer)
    eth.watch(client, ctx)
    stream = ask(kind, client, [TASK], stream=True)
    taken = [event for _, event in zip(range(stop_after), stream, strict=False)]
    stream.close()
    assert stop_after == len(taken)
    assert ["Be brief.", TASK["content"]] == texts(ctx)
    assert ("step 1: no whole answer: its client read no further",) == ctx.snapshot.notices
    ask(kind, client, [TASK])
    assert "Hello there." == texts(ctx)[-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 401, 500])
def test_an_error_is_the_client_s_as_it_was_and_is_said_in_the_notices(kind, stream, status, peer):
    package = anthropic if kind == MESSAGES else openai
    texts_of = []
    for watched in (False, True):
        peer.acts += [{"status": status, "text": "nothing doing"}]
        ctx, client = context(), client_of(kind, peer)
        if watched:
            eth.watch(client, ctx)
        with pytest.raises(package.APIStatusError) as raised:
            ask(kind, client, [TASK], stream=stream)
        texts_of.append((str(raised.value), raised.value.status_code, raised.value.response.text))
    assert texts_of[0] == texts_of[1]
    [notice] = ctx.snapshot.notices
    assert notice.startswith("step 1: no whole answer:") and "nothing doing" in notice
    assert ["Be brief.", TASK["content"]] == texts(ctx)


def test_a_stream_that_breaks_is_the_client_s_as_it_was_and_does_not_enter(peer):
    found = []
    for watched in (False, True):
        peer.acts += [{"cut": 3}]
        ctx, client = context(), client_of(CHAT, peer)
        if watched:
            eth.watch(client, ctx)
        with pytest.raises(Exception, match="onnection") as raised:
            list(ask(CHAT, client, [TASK], stream=True))
        found.append((type(raised.value), str(raised.value)))
    assert found[0] == found[1]
    assert ["Be brief.", TASK["content"]] == texts(ctx)
    assert ("step 1: no whole answer: its client read no further",) == ctx.snapshot.notices


@pytest.mark.parametrize(
    ("kind", "fault"),
    [*((kind, {"status": status}) for kind in KINDS for status in (429, 500)), (CHAT, {"after": 0.4})],
)
def test_a_request_that_the_client_sends_again_is_one_request(kind, fault, peer):
    peer.acts += [
        {"headers": {"retry-after-ms": "1"}, **fault},
        {"headers": {"retry-after-ms": "1"}, **fault},
    ]
    ctx, client = context(), client_of(kind, peer, max_retries=2, timeout=0.2)
    eth.watch(client, ctx)
    ask(kind, client, [TASK])
    assert 3 == len(peer.seen)
    assert 1 == len(ctx.snapshot.timeline) == len(ctx.live.state.reports.last)
    assert ["Be brief.", TASK["content"], "Hello there."] == texts(ctx)
    if "status" in fault:
        assert ctx.snapshot.notices[0].startswith("step 1: answered at try 3; before that:")
    ask(kind, client, [TASK])
    assert 2 == len(ctx.snapshot.timeline)


def test_a_request_that_nobody_answers_stands_in_the_window(peer):
    peer.acts += [{"after": 0.4}]
    ctx, client = context(), client_of(CHAT, peer, timeout=0.1)
    eth.watch(client, ctx)
    with pytest.raises(openai.APITimeoutError):
        ask(CHAT, client, [TASK])
    assert ["Be brief.", TASK["content"]] == texts(ctx)


def test_a_cancelled_call_is_cancelled(peer):
    hold = threading.Event()
    peer.acts += [{"cut": 2, "hold": hold}]
    ctx, client = context(), client_of(CHAT, peer, later=True)
    eth.watch(client, ctx)

    async def run():
        async def read():
            async for _ in await ask(CHAT, client, [TASK], stream=True):
                pass

        task = asyncio.create_task(read())
        await asyncio.to_thread(peer.asked.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.close()

    asyncio.run(run())
    hold.set()
    assert ["Be brief.", TASK["content"]] == texts(ctx)


@pytest.mark.parametrize("place", ["follow", "heard", "parser"])
def test_a_failure_of_ours_breaks_no_call_and_is_said_once(place, peer, monkeypatch):
    def fails(*args, **kwargs):
        raise RuntimeError("ours")

    if place == "parser":
        monkeypatch.setattr("ethang_nb.extras.exchange.unpacked", fails)
    else:
        monkeypatch.setattr(eth.Context, place, fails)
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    for stream in (False, True):
        answer = ask(CHAT, client, [TASK], stream=stream)
        said = list(answer) if stream else [answer]
        assert said
    [notice] = [line for line in ctx.snapshot.notices if "ours" in line]
    assert "could not be shown" in notice and "the call itself was not touched" in notice


def test_a_request_that_cannot_be_read_is_sent_as_it_is(peer):
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    odd = [{"role": "someone", "content": 7}]
    client.chat.completions.create(model="m", messages=odd)
    assert odd == json.loads(peer.bodies[0])["messages"]
    assert "BadMessage" in ctx.snapshot.notices[0]


# ---- several at once


def test_calls_from_many_threads_are_each_answered_as_they_would_be_alone(peer):
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    faults, names = [], [f"conversation {number}" for number in range(8)]

    def talk(name):
        try:
            history = [{"role": "user", "content": name}]
            for _ in range(4):
                answer = ask(CHAT, client, history)
                history += [answer.choices[0].message, {"role": "user", "content": f"on, {name}"}]
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=talk, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and not any("could not" in notice for notice in ctx.snapshot.notices)
    assert 32 == len(peer.seen) == len(ctx.snapshot.timeline)
    for body in peer.bodies:
        users = [m["content"] for m in json.loads(body)["messages"] if m["role"] == "user"]
        assert {users[0]} | ({f"on, {users[0]}"} if users[1:] else set()) == set(users)
    assert 3 == len(ctx.live.state.reports.last)
    # Whatever came last stands there, whole and alone.
    last = [message for message in ctx.live.assemble() if message.role == "user"]
    assert last[0].text in names and all(message.text.endswith(last[0].text) for message in last)


def test_two_conversations_over_one_client_are_known_again(peer):
    ctx, client = context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    one, two = [{"role": "user", "content": "one"}], [{"role": "user", "content": "two"}]
    ask(CHAT, client, one)
    places = [item.address for item in ctx.segments if item.address]
    ask(CHAT, client, two)
    assert any("a new piece of work" in event for event in ctx.snapshot.timeline[-1].events)
    ask(CHAT, client, one)
    assert places[0] in [item.address for item in ctx.segments]


# ---- on and off


def test_stopping_takes_the_hooks_out_and_the_client_is_as_it_was(peer):
    ctx, client = context(), client_of(CHAT, peer)
    mine = []
    client._client.event_hooks["request"].append(mine.append)
    with eth.watch(client, ctx) as watch:
        ask(CHAT, client, [TASK])
        assert "stopped" not in repr(watch) and "openai.OpenAI" in repr(watch)
    watch.stop()
    ask(CHAT, client, [TASK])
    assert 2 == len(mine) and 1 == len(ctx.snapshot.timeline)
    assert [mine.append] == client._client.event_hooks["request"]
    assert not any(isinstance(hook, _Hook) for hook in client._client.event_hooks["response"])
    assert repr(watch).endswith("stopped)")


def test_an_answer_that_is_being_read_is_heard_to_its_end(peer):
    ctx, client = context(), client_of(CHAT, peer)
    watch = eth.watch(client, ctx)
    stream = iter(ask(CHAT, client, [TASK], stream=True))
    next(stream)
    watch.stop()
    list(stream)
    assert "Hello there." == texts(ctx)[-1]


def test_two_contexts_may_watch_one_client_and_one_context_does_so_once(peer):
    ctx, other, client = context(), context(), client_of(CHAT, peer)
    eth.watch(client, ctx)
    eth.watch(client, other)
    with pytest.raises(Misuse, match="is watched by context 'context' already; stop that watch first"):
        eth.watch(client.with_options(timeout=3), ctx)
    ask(CHAT, client, [TASK])
    assert texts(ctx) == texts(other) == ["Be brief.", TASK["content"], "Hello there."]


def test_nothing_of_a_request_is_kept_alive_by_watching_it(peer):
    ctx, client = context(), client_of(CHAT, peer)
    watch = eth.watch(client, ctx)
    ask(CHAT, client, [TASK])
    gc.collect()
    assert 0 == len(watch._exchanges)


@pytest.mark.parametrize(
    "client",
    [types.ModuleType("litellm"), object(), types.SimpleNamespace(client=None), None],
    ids=["module", "object", "chain", "none"],
)
def test_what_has_no_http_layer_is_refused_with_what_is_supported(client):
    with pytest.raises(Misuse, match="has no HTTP layer") as raised:
        eth.watch(client, context())
    assert "OpenAI()" in str(raised.value) and "context.follow(" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_something_else_than_a_context_is_refused(peer):
    with pytest.raises(Misuse, match="shows requests in an eth"):
        eth.watch(client_of(CHAT, peer), [TASK])


def test_the_context_s_own_requests_are_known_and_their_replies_left_to_the_loop(peer):
    ctx, client = eth.Context(8_000, model="gpt-4o", system="Be brief."), client_of(CHAT, peer)
    eth.watch(client, ctx)
    ctx.append(TASK)
    for _ in range(2):
        answer = client.chat.completions.create(model="m", messages=ctx.request())
        ctx.append([answer.choices[0].message, {"role": "user", "content": "go on"}])
    assert 2 == len(ctx.snapshot.timeline) == len(ctx.live.state.reports.last)
    assert ["Be brief.", TASK["content"], *["Hello there.", "go on"] * 2] == texts(ctx)


def test_watching_imports_no_client_and_no_http_library_by_itself():
    import subprocess

    code = (
        "import sys, ethang_nb; ethang_nb.watch\n"
        "print(sorted({'openai', 'anthropic', 'httpx2', 'IPython'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == found.stdout.strip()
