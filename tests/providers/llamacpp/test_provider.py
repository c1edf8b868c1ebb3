"""llama.cpp's own server with a real model in it, through all three wire formats."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ethang_nb as eth
from ethang_nb.context.messages import ToolResult, tool, user
from ethang_nb.errors import Missing, Misuse, Overflow, PathRefused, ProviderFault, Unknown
from ethang_nb.providers.endpoints import credentials
from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.http.line import HttpLine
from ethang_nb.providers.line import Call
from ethang_nb.providers.llamacpp import server as llama_server
from ethang_nb.providers.llamacpp.options import wanted
from ethang_nb.providers.llamacpp.provider import LlamaCpp, facts
from ethang_nb.providers.protocol import Body
from tests.providers.local_model import (
    CTX,
    TEMPLATE,
    WEATHER,
    model_file,
    model_id,
    request,
    weather,
)

WIRES = ("chat", "responses", "anthropic")


class Keeper:
    """Holds a server for all tests of this file, so that it is loaded once."""


@pytest.fixture(scope="module")
def server():
    keeper = Keeper()
    asked, _ = wanted(model_id())
    yield llama_server.hold(asked, keeper)
    llama_server.release(asked, keeper)


@pytest.fixture(params=WIRES)
def provider(server, request):
    return LlamaCpp(model_id(wire=request.param))


@pytest.fixture
def chat(server):
    return LlamaCpp(model_id())


def send(provider, asked, **more):
    async def sent():
        try:
            return await provider.send(provider.encode(asked), **more)
        finally:
            await provider.close()

    return asyncio.run(sent())


def get(url, *, key=None, origin=None, method="GET"):
    headers = {name: value for name, value in (("Origin", origin), ("Authorization", key)) if value}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers, method=method)) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


# ---- what a model does


def test_text_comes_in_pieces_and_is_the_reply(provider):
    heard = []
    reply = send(provider, request(user("Say hi."), max_output=8), on_text=heard.append)
    assert "".join(heard) == reply.message.text
    assert len(heard) > 3
    assert "llamacpp/SmolLM2-135M-Instruct.Q4_1.gguf" == reply.message.source
    assert (8, None) == (reply.usage.output, reply.usage.reasoning)
    assert reply.usage.input > 10


def test_the_same_answer_not_streamed(provider, server):
    streamed = send(provider, request(user("Say hi."), max_output=8))
    body = provider.encode(request(user("Say hi."), max_output=8)).bytes
    assert body.count(b'"stream":true') == 1
    call = Call(
        path=provider.wire.path,
        body=Body(pieces=(body.replace(b'"stream":true', b'"stream":false'),)),
        headers=provider.wire.headers,
    )

    async def asked():
        line = HttpLine(
            f"{server.address}/v1", headers=lambda: {"Authorization": f"Bearer {llama_server.key()}"}
        )
        heard = await line.ask(call, lambda: Hearing(provider.wire.parser()))
        await line.close()
        return heard.reply()

    whole = asyncio.run(asked())
    assert (streamed.message.text, streamed.stop) == (whole.message.text, whole.stop)
    assert streamed.usage.output == whole.usage.output


def test_a_full_tool_loop(provider):
    called = send(provider, weather())
    assert "calls" == called.stop
    (call,) = called.message.calls
    assert ("get_weather", {"city": "Paris"}) == (call.name, json.loads(call.arguments))
    result = tool(ToolResult(call_id=call.id, name=call.name, text="21C"))
    answer = send(provider, weather(called.message, result))
    assert ("end", "It is 21C in Paris.") == (answer.stop, answer.message.text)


def test_a_tool_call_that_is_cut_keeps_what_came(chat):
    reply = send(chat, weather(max_output=20))
    assert "length" == reply.stop
    (call,) = reply.message.calls
    assert "get_weather" == call.name
    assert call.arguments.startswith('{"city"')
    with pytest.raises(json.JSONDecodeError):
        json.loads(call.arguments)


def test_a_request_over_the_window_is_an_overflow_with_both_numbers(provider):
    with pytest.raises(Overflow, match=r"exceeds the available context size") as raised:
        send(provider, request(user("word " * 3_000)))
    assert 3_000 < raised.value.tokens < 3_100
    assert (CTX, "window", None) == (raised.value.limit, raised.value.limits, raised.value.partial)


def test_what_was_read_before_is_cached(provider):
    first = send(provider, request(user("Name a colour. " * 20), max_output=2))
    again = send(provider, request(user("Name a colour. " * 20), max_output=2))
    assert again.usage.input == first.usage.input
    assert again.usage.input - 8 <= again.usage.cached < again.usage.input


def test_an_answer_held_to_a_schema(chat):
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    reply = send(chat, request(user("A person."), max_output=60, schema=schema))
    assert {"name", "age"} == json.loads(reply.message.text).keys()


def test_a_cancelled_request_ends_at_once_and_the_server_answers_the_next(chat):
    """The connection is closed within a second, and nobody waits for a story that nobody reads."""

    async def cancelled():
        begun = asyncio.Event()
        story = request(user("Tell me a long story."), max_output=900)
        sending = asyncio.ensure_future(chat.send(chat.encode(story), on_text=lambda _: begun.set()))
        await asyncio.wait_for(begun.wait(), 60)
        began = time.monotonic()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        ended = time.monotonic() - began
        reply = await chat.send(chat.encode(request(user("Say hi."), max_output=2)))
        next_one = time.monotonic() - began
        await chat.close()
        return ended, next_one, reply

    ended, next_one, reply = asyncio.run(cancelled())
    assert ended < 1
    assert next_one < 10, "a story of 900 tokens takes longer"
    assert 2 == reply.usage.output


def test_a_template_that_leaves_tools_out_is_said_once():
    provider, notes = LlamaCpp(model_id(tools=False)), []
    hi = request(user("Hi."), max_output=1, tools=(WEATHER,))

    async def asked():
        for _ in range(2):
            await provider.send(provider.encode(hi), on_note=notes.append)
        await provider.close()

    asyncio.run(asked())
    (note,) = notes
    assert "template" in note and "SmolLM2" in note


def test_an_overflow_is_cleaned_up_and_sent_again(tmp_path):
    """A whole session whose window was taken for larger than the server's."""
    settings = {
        "name": "notes",
        "root": tmp_path,
        "window": eth.window(4_000, reserve=24),
        "policy": "pressure",
        "system": "Answer shortly.",
        "summariser": "reader",
    }
    # A history that no model has to read for it: the first request to the real one is what does not fit.
    with eth.Session("reader", **settings) as session:
        for number in range(5):
            session.run(f"Note {number}: " + "the sky is blue and the grass is green. " * 25)
    with eth.Session(model_id(tools=False), params={"temperature": 0}, **settings) as session:
        run = session.run("Say hi.")
        assert run.ending in {"completed", "truncated"}
        assert run.answer
        assert any(
            "the provider says the window is 1,024 tokens" in line for line in session.about()["notices"]
        )
        first, again = session.timeline[-2:]
        assert any("forced cleanup" in event for event in again.events)
        assert again.tokens < first.tokens
        assert session.budget.window.total == CTX


# ---- the server


def test_the_window_is_what_the_server_says(server):
    known = facts(model_id())
    assert (CTX, None, "llama.cpp's server, /props") == (known.total, known.max_output, known.source)


def test_nothing_looks_at_the_file_before_something_is_sent(tmp_path):
    provider = LlamaCpp(f"llamacpp/{tmp_path}/absent.gguf?ctx=512")
    body = provider.encode(request(user("Hi."))).bytes
    for shown in (body.decode(), provider.label, provider.name, provider.source):
        assert str(tmp_path) not in shown
    assert "llamacpp/absent.gguf" == provider.label
    asyncio.run(provider.close())


def test_a_line_of_somebody_else_is_asked_instead(tmp_path):
    made = []

    class Elsewhere:
        async def close(self):
            pass

    provider = LlamaCpp(
        f"llamacpp/{tmp_path}/absent.gguf", around=lambda make: made.append(make) or Elsewhere()
    )
    assert isinstance(provider.line, Elsewhere)
    assert 1 == len(made)


def test_it_asks_for_its_key_and_refuses_any_other(server):
    assert 401 == get(f"{server.address}/v1/models")[0]
    assert 401 == get(f"{server.address}/v1/models", key="Bearer wrong")[0]
    assert 200 == get(f"{server.address}/v1/models", key=f"Bearer {llama_server.key()}")[0]


def test_a_wrong_key_is_no_fault_to_try_again(server, chat):
    call = Call(path=chat.wire.path, body=chat.encode(request(user("Hi."))))

    async def asked():
        line = HttpLine(f"{server.address}/v1", headers=lambda: {"Authorization": "Bearer wrong"})
        heard = await line.ask(call, lambda: Hearing(chat.wire.parser()))
        await line.close()
        heard.reply()

    with pytest.raises(ProviderFault, match="HTTP 401") as raised:
        asyncio.run(asked())
    assert not raised.value.retryable


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "https://evil.example/localhost"],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_a_page_from_elsewhere_gets_no_leave_to_ask(server, origin, method):
    for path in ("/v1/chat/completions", "/health"):
        _, headers, _ = get(f"{server.address}{path}", origin=origin, method=method)
        assert "access-control-allow-origin" not in {name.lower() for name in headers}


def test_it_listens_on_loopback_alone(server):
    assert server.address.startswith("http://127.0.0.1:")


def test_the_key_is_masked_wherever_a_text_might_hold_it(server):
    assert "[llamacpp key]" == credentials.mask(llama_server.key())
    assert llama_server.key() not in repr(server) + repr(vars(server))


def up(address):
    try:
        return 200 == get(f"{address}/health")[0]
    except OSError:
        return False


def test_the_last_to_close_stops_the_server_and_it_starts_again_when_asked():
    """Two sessions share one server."""
    one, other = LlamaCpp(model_id(ctx=512)), LlamaCpp(model_id(ctx=512))
    hi = request(user("Hi."), max_output=1)

    async def asked():
        await one.send(one.encode(hi))
        await other.send(other.encode(hi))
        server = llama_server._servers[wanted(model_id(ctx=512))[0]]
        address = server.address
        await one.close()
        assert up(address)
        await one.close()
        assert up(address)
        await other.close()
        assert not up(address)
        reply = await one.send(one.encode(hi))
        await one.close()
        return reply

    assert 1 == asyncio.run(asked()).usage.output
    assert wanted(model_id(ctx=512))[0] not in llama_server._servers


def test_a_session_that_is_gone_without_a_word_holds_nothing():
    asked, _ = wanted(model_id(ctx=512))
    keeper = Keeper()
    address = llama_server.hold(asked, keeper).address
    assert up(address)
    del keeper
    gc.collect()
    assert not up(address)


def test_many_that_come_at_once_share_one_server():
    asked, _ = wanted(model_id(ctx=512))
    keepers = [Keeper() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        servers = set(pool.map(lambda keeper: llama_server.hold(asked, keeper), keepers))
    (server,) = servers
    for keeper in keepers[1:]:
        llama_server.release(asked, keeper)
    assert up(server.address)
    llama_server.release(asked, keepers[0])
    assert not up(server.address)


def test_a_server_that_everybody_left_while_it_loaded_is_stopped():
    asked, _ = wanted(model_id(ctx=512))
    keeper = Keeper()
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(llama_server.hold, asked, keeper)
        while asked not in llama_server._servers:
            time.sleep(0.001)
        llama_server.release(asked, keeper)
        server = loading.result()
    assert asked not in llama_server._servers
    assert not up(server.address)


def test_nothing_is_printed(capfd):
    send(LlamaCpp(model_id(ctx=512)), request(user("Hi."), max_output=1))
    assert ("", "") == capfd.readouterr()


# ---- what goes wrong


def refused(kind, model):
    with pytest.raises(kind) as raised:
        send(LlamaCpp(model), request(user("Hi.")))
    assert 1 == len(str(raised.value).splitlines())
    with pytest.raises(kind):
        facts(model)
    assert wanted(model)[0] not in llama_server._servers
    return str(raised.value)


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install 'ethang_nb[local]'" in refused(Missing, "llamacpp/x.gguf")


def test_a_file_that_is_not_there(tmp_path):
    model_file()
    assert "absent.gguf is not there" in refused(PathRefused, f"llamacpp/{tmp_path}/absent.gguf")


@pytest.mark.parametrize("content", [b"", b"GGU", b"PK\x03\x04", b"hello\n"])
def test_a_file_that_is_no_model(tmp_path, content):
    model_file()
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    assert "no GGUF file" in refused(PathRefused, f"llamacpp/{path}")


def test_a_download_that_was_cut_off(tmp_path):
    path = tmp_path / "cut.gguf"
    with model_file().open("rb") as whole:
        path.write_bytes(whole.read(2_500_000))
    assert "not within the file bounds" in refused(ProviderFault, f"llamacpp/{path}")


def test_what_ends_the_loader_ends_no_kernel():
    """llama.cpp aborts the process for a context of one token; that is found out elsewhere."""
    asked, _ = wanted(model_id())
    options = {**llama_server._options(asked), "ctx": 1}
    with pytest.raises(ProviderFault, match="signal"):
        llama_server._try_out(wanted(model_id(ctx=300))[0], options)


def test_a_context_longer_than_the_model_was_trained_for():
    assert "8,192" in refused(Misuse, model_id(ctx=8_193))


def test_a_template_that_cannot_be_read(tmp_path):
    path = tmp_path / "t.jinja"
    assert "t.jinja cannot be read" in refused(PathRefused, f"{model_id(tools=False)}&template={path}")
    path.write_bytes(b"\xff\xfe")
    assert "UTF-8" in refused(PathRefused, f"{model_id(tools=False)}&template={path}")
    path.write_text("{{ broken")
    assert "mend the template" in refused(ProviderFault, f"{model_id(tools=False)}&template={path}")


PROCESS = """
import asyncio, multiprocessing, os, threading
from ethang_nb.context.messages import user
from ethang_nb.providers.llamacpp import server as llama_server
from ethang_nb.providers.llamacpp.provider import LlamaCpp
from ethang_nb.providers.protocol import Request

provider, begun = LlamaCpp(os.environ["MODEL"]), threading.Event()
body = provider.encode(Request(model="m", messages=(user("Tell a story."),), max_output=400))

def work():
    asyncio.run(provider.send(body, on_text=lambda _: begun.set()))

threading.Thread(target=work, daemon=True).start()
begun.wait(40)
if "fork" in multiprocessing.get_all_start_methods():
    child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(len(llama_server._servers)))
    child.start()
    child.join(20)
    print("child", child.exitcode)
print("ends with", len(llama_server._servers))
"""


def test_a_process_ends_well_in_the_middle_of_an_answer_and_its_forks_have_no_part_in_it():
    environment = {**os.environ, "MODEL": model_id(ctx=512), "PYTHONPATH": str(Path(__file__).parents[3])}
    ended = subprocess.run(
        [sys.executable, "-c", PROCESS],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert 0 == ended.returncode, ended.stderr
    assert ended.stdout in {"child 0\nends with 1\n", "ends with 1\n"}


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("ctx=255", Misuse),
        ("ctx=0", Misuse),
        ("ctx=-1", Misuse),
        ("ctx=1e3", Misuse),
        ("ctx=", Misuse),
        ("threads=0", Misuse),
        ("threads=257", Misuse),
        ("seed=-1", Misuse),
        ("seed=4294967295", Misuse),
        ("wire=smoke", Misuse),
        ("context=512", Unknown),
    ],
)
def test_an_option_that_cannot_be(query, kind):
    with pytest.raises(kind, match=query.partition("=")[0]):
        LlamaCpp(f"llamacpp/x.gguf?{query}")


def test_an_id_without_a_path():
    with pytest.raises(Misuse, match="names no file"):
        LlamaCpp("llamacpp/?ctx=512")


def test_options_are_read():
    asked, wire = wanted(
        f"llamacpp/models/x.gguf?ctx=4_096&threads=2&seed=7&wire=anthropic&template={TEMPLATE}"
    )
    assert (4_096, 2, 7, str(TEMPLATE), "anthropic") == (
        asked.ctx,
        asked.threads,
        asked.seed,
        asked.template,
        wire,
    )
    assert (str(Path("models/x.gguf").absolute()), "x.gguf") == (asked.path, asked.name)
    assert (None, 1, None, "") == tuple(
        getattr(wanted("llamacpp/x.gguf")[0], name) for name in ("ctx", "threads", "seed", "template")
    )
