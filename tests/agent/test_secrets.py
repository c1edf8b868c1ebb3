"""Our own credentials are nowhere but on their way to the provider: not in records, reprs, errors, logs or outputs.

Every known key variable gets a value of its own, and model, tools, files, errors and people repeat all of them.
"""

import io
import json
import logging
import os
import threading
import time

import pytest

import ethang_nb as eth
from ethang_nb.agent.masking import masked, masked_message
from ethang_nb.context.messages import Message, Text, Thinking, ToolCall, ToolResult, assistant, user
from ethang_nb.errors import Misuse, Overflow, ProviderFault
from ethang_nb.providers.endpoints.table import ENDPOINTS
from ethang_nb.providers.protocol import Reply
from ethang_nb.views import run as run_view
from tests.agent import chatserver
from tests.agent.chatserver import ChatServer
from tests.agent.stage import Answers, asks, documents, kinds, reads

OWN = "MY_OWN_KEY"
"""A variable that only a model's id or a table names."""
NAMES = sorted({row.key for row in ENDPOINTS.values() if row.key})
KEYS = {
    name: "".join(["planted", str(number), "x" * 12, str(number * 7_919)])
    for number, name in enumerate([OWN, *NAMES])
}
ALL = " ".join(KEYS[name] for name in NAMES)
EVERY = f"{ALL} {KEYS[OWN]}"


@pytest.fixture(autouse=True)
def planted(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def logs():
    """All that is logged at any level, formatted; the loggers of the libraries below are on."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    names = ["", "httpx", "httpcore", "stamina", "asyncio", "ethang_nb"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def found(text):
    """The variables whose value stands in `text`, as it is or as JSON has it."""
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return {name for name, value in KEYS.items() if value in text}


def files(folder):
    """All that lies below a folder, as bytes, by name."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def nowhere(session, run, folder, *, but=()):
    """No key in anything that is kept or shown of a session and its run."""
    shown = {
        "repr": f"{session!r} {run!r} {session.provider!r} {session._desk.reach.tables!r}",
        "error": run.error,
        "answer": run.answer,
        "notices": "\n".join([*run.notices, *session.snapshot.notices]),
        "text": run_view.text(run),
        "html": run_view.html(run),
        "data": json.dumps(run_view.data(run)),
        "snapshot": json.dumps(session.snapshot.to_json()),
        "messages": repr(session.live.assemble()) + repr(session.sent),
        "events": repr(session.recorded),
        "about": repr(session.about()),
        "pins": repr(session.pins),
        "saying": session.saying,
    }
    session.close()
    shown |= {name: text for name, text in files(folder).items() if not name.endswith(tuple(but))}
    assert {} == {name: names for name, text in shown.items() if (names := found(text))}


# ---- the parts


def test_every_text_of_a_message_is_masked():
    message = Message(
        role="assistant",
        parts=(
            Text(text=f"it is {KEYS['OPENAI_API_KEY']}."),
            Thinking(text=KEYS["GROQ_API_KEY"], signature="c2ln"),
            ToolCall(id="a", name="f", arguments=json.dumps({"key": KEYS["XAI_API_KEY"]})),
            ToolResult(call_id="a", text=KEYS["ANTHROPIC_API_KEY"]),
        ),
        trust="agent",
    )
    clear = masked_message(message)
    assert set() == found(repr(clear))
    assert clear.parts[0].text == "it is [OPENAI_API_KEY]."
    assert {"key": "[XAI_API_KEY]"} == json.loads(clear.parts[2].arguments)
    assert (clear.parts[1].signature, clear.trust) == ("c2ln", "agent")


def test_what_holds_no_key_is_the_very_same():
    message, data = user("sk-just-looks-like-one 0123456789"), {"text": "plain", "n": [1, None]}
    assert masked_message(message) is message
    assert masked(data) is data


# ---- a run in which everything that can repeats every key


@pytest.fixture
def leaky(tmp_path, opened):
    """A session whose tools give keys away, in a folder whose files hold them."""
    documents(tmp_path, 3)
    (tmp_path / "secrets.env").write_text(
        "\n".join(f"{name}={value}" for name, value in KEYS.items() if name != OWN)
    )

    @eth.tool
    def environment() -> str:
        """What is in the environment."""
        return json.dumps({name: os.environ[name] for name in NAMES})

    @eth.tool
    def everything() -> str:
        """Much of it."""
        return "\n".join(f"{number}: {ALL}" for number in range(200))

    @eth.tool
    def fails() -> str:
        """Fails."""
        raise RuntimeError(ALL)

    def make(**options):
        return opened(window=8_000, tools=[environment, everything, fails, "read_file"], **options)

    return make


def test_model_tools_files_errors_and_people_may_repeat_them(leaky, tmp_path, logs):
    session = leaky(system=f"Be brief. {ALL}", project=f"Ours: {ALL}")
    said = []

    def speaks(_, on_text, on_note):
        for at in range(0, len(ALL), 7):
            on_text(ALL[at : at + 7])
            said.append(session.saying)
        on_note(f"tried again: {ALL}")
        return asks("environment")

    bad = assistant(ALL, [ToolCall(id="z", name=f"no-{KEYS['XAI_API_KEY']}", arguments=f'{{"x": "{ALL}"')])
    session.provider = Answers(
        speaks,
        asks("everything"),
        asks("fails"),
        asks("read_file", path="secrets.env"),
        bad,
        Reply(message=assistant(ALL), stop="end", notices=(f"noticed {ALL}",)),
        note=f"## Decisions\n{ALL}",
        notices=(f"left out {ALL}",),
    )
    session.pin(f"Never say {KEYS['OPENAI_API_KEY']}.")
    session.begin(f"work {ALL}")
    run = session.run(f"Say it all: {ALL}")
    assert run.ok, run.error
    assert "[OPENAI_API_KEY]" in run.answer
    assert {"tool end", "spilled", "waited"} <= set(kinds(session))
    assert set() == found("".join(bytes_.decode() for bytes_ in session.provider.bodies))
    assert set() == set().union(*map(found, said))
    assert "[OPENAI_API_KEY]" in said[-1]
    assert set() == found(logs.getvalue())
    nowhere(session, run, tmp_path, but=["secrets.env"])


def test_faults_and_what_had_come_by_then(leaky, tmp_path):
    partial = {"role": "assistant", "parts": [{"type": "text", "text": ALL}]}
    session = leaky()
    session.provider = Answers(
        Overflow(f"too long {ALL}", partial=partial), ProviderFault(ALL, partial=partial)
    )
    run = session.run("Go.")
    assert run.ending == "provider error"
    session.provider = Answers(ProviderFault(f"no: {ALL}", partial=partial))
    run = session.run("Go.")
    assert "no: [" in run.error
    session.provider = Answers(ValueError(f"a bug: {ALL}"))
    run = session.run("Go.")
    assert "a bug: [" in run.error
    nowhere(session, run, tmp_path, but=["secrets.env"])


def test_a_summariser_may_repeat_them_and_fail_with_them(tmp_path, opened):
    documents(tmp_path, 11)
    notes = iter([f"## Numbers\n{ALL}", ProviderFault(ALL), "## Numbers\n7"])
    session = opened(window=3_600)
    session.provider = Answers(
        *reads(*range(1, 12)), *reads(*range(1, 12)), "done", note=lambda *_: next(notes)
    )
    run = session.run("Read every file in docs.")
    assert run.ok, run.error
    assert next(notes, None) is None or "note reply" in kinds(session)
    nowhere(session, run, tmp_path)


def test_a_key_that_a_tool_or_params_would_send_ends_the_run_before_anything_is_sent(opened, tmp_path):
    session = opened(params={"user": KEYS["OPENAI_API_KEY"]})

    class Whole(Answers):
        def encode(self, request):
            body = super().encode(request)
            return type(body)((json.dumps(dict(request.params)).encode(), *body.pieces))

    session.provider = Whole("done")
    run = session.run("Go.")
    assert run.ending == "provider error"
    assert "holds the value of one of your keys" in run.error
    assert [] == session.provider.bodies
    nowhere(session, run, tmp_path)


def test_a_key_is_masked_before_a_text_is_cut_where_it_stands(opened, tmp_path):
    """Half a key would be known as one no more."""
    key = KEYS["OPENAI_API_KEY"]
    half, gate = key[: len(key) // 2], threading.Event()
    (tmp_path / "long.txt").write_text("".join(f"{'a ' * number}{key}" for number in range(400, 440)))

    @eth.tool
    def fails() -> str:
        """Fails."""
        start = "fails raised RuntimeError: "
        raise RuntimeError("x" * (500 - len(start) - len(half)) + key)

    @eth.tool(thread=True)
    def late() -> str:
        """Comes late."""
        gate.wait(5)
        return "x" * (10_000 - len(half)) + key

    session = opened(
        window=8_000, tools=[fails, late, "read_file"], limits=eth.Limits(tool_seconds=0.05), policy="ethang"
    )
    session.provider = Answers(asks("fails"), asks("late"), asks("read_file", path="long.txt"), "done")
    assert session.run("Go.").ok
    gate.set()
    for _ in range(500):
        if "late" in kinds(session):
            break
        time.sleep(0.01)
    events = repr(session.recorded)
    assert "late" in kinds(session)
    assert "[OPENAI_API_KEY]" in events
    assert half not in events


def test_a_view_may_fail_with_one_and_a_wrong_argument_may_be_one(opened):
    session = opened()

    def fails(_):
        raise ValueError(ALL)

    session.watch(fails)
    session.watch_changes(fails)
    assert session.run("Read every file.").ok
    assert "a view failed" in "".join(session.snapshot.notices)
    assert set() == found("".join(session.snapshot.notices))
    for wrong in (
        {"providers": KEYS["OPENAI_API_KEY"]},
        {"tools": KEYS["OPENAI_API_KEY"]},
        {"system": [ALL]},
    ):
        with pytest.raises(Misuse) as refused:
            opened(**wrong)
        assert set() == found(str(refused.value))


# ---- over HTTP, with a cassette


def remote(server, **query):
    options = "&".join(f"{name}={value}" for name, value in query.items())
    return f"vllm/demo?base_url={server.url}&key=MY_OWN_KEY{options and '&'}{options}"


def test_the_key_reaches_the_server_and_nothing_else(opened, tmp_path, logs):
    echo = chatserver.texts(*(EVERY[at : at + 11] for at in range(0, len(EVERY), 11)))
    with ChatServer(chatserver.calls(("read_file", f'{{"path": "{EVERY}"}}')), echo) as server:
        session = opened(remote(server), window=8_000, cassette="demo")
        run = session.run(f"Say {EVERY}")
        assert run.ok, run.error
        assert f"Bearer {KEYS['MY_OWN_KEY']}" == server.asked[0][1]["authorization"]
        assert set() == found(json.dumps([body for _, _, body in server.asked]))
    assert (tmp_path / "demo.cassette.jsonl").exists()
    assert "httpcore" in logs.getvalue() or "HTTP Request" in logs.getvalue(), "the libraries did log"
    assert set() == found(logs.getvalue())
    nowhere(session, run, tmp_path)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_error_answer_may_repeat_them_in_body_and_headers(opened, tmp_path, logs, status):
    error = {
        "error": {
            "message": f"Incorrect API key provided: {EVERY}",
            "type": "x",
            "code": KEYS["GROQ_API_KEY"],
        }
    }
    refused = chatserver.refuses(status, error, retry_after="0", x_request_id=EVERY)
    with ChatServer(refused) as server:
        session = opened(remote(server), window=8_000)
        run = session.run("Go.")
    assert run.ending == "provider error"
    assert "MY_OWN_KEY" in run.error or "[" in run.error
    assert set() == found(logs.getvalue())
    nowhere(session, run, tmp_path)


def test_a_variable_in_a_header_or_in_the_address_is_no_exception(opened, tmp_path, logs):
    tables = {}
    with ChatServer(chatserver.texts("done")) as server:
        tables["mine"] = {
            "base_url": server.url,
            "key": "MY_OWN_KEY",
            "headers": {"x-second-token": "${GROQ_API_KEY}"},
        }
        session = opened("mine/demo", window=8_000, providers=tables)
        run = session.run("Go.")
        assert run.ok, run.error
        assert KEYS["GROQ_API_KEY"] == server.asked[0][1]["x-second-token"]
    assert set() == found(logs.getvalue())
    nowhere(session, run, tmp_path)
    with eth.open_session("t", tmp_path, look=True) as looked:
        assert tables == eth.agent.opening.settings_of("t", tmp_path)["providers"]
        assert looked.name == "t"


def test_a_key_in_a_table_is_refused_and_not_repeated(opened):
    with pytest.raises(Misuse) as refused:
        opened(
            "mine/demo",
            window=8_000,
            providers={"mine": {"base_url": "http://127.0.0.1:9/v1", "key": KEYS["OPENAI_API_KEY"]}},
        )
    assert set() == found(str(refused.value))
