"""What had come of a reply when it broke off: shown as what it is, counted as far as known, never in the context."""

import asyncio
import json
import threading

import pytest

from ethang_nb.agent.asking import Asking
from ethang_nb.agent.breaking import came_of
from ethang_nb.context.messages import assistant, to_json
from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.http.waiting import Waits
from ethang_nb.providers.protocol import Reply, Usage
from ethang_nb.views import run as run_view
from tests.agent import chatserver
from tests.agent.chatserver import ChatServer
from tests.agent.stage import TASK, Answers, documents, reads
from tests.views.reading import Reading


@pytest.fixture
def served(opened):
    """Sessions of a model that a loopback server plays, in one of the three wire formats."""

    def make(server, wire="chat", **options):
        table = {"base_url": server.url, "wire": wire}
        session = opened("mine/m", providers={"mine": table}, window=100_000, **options)
        session.provider.line._waits = Waits(tries=1)
        return session

    return make


def streams(*events):
    """An event stream of (name, data); then the connection ends."""

    def answer(handler, _):
        handler.begin("text/event-stream")
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            handler.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        handler.wfile.flush()

    return answer


def chunk(text):
    return "", {"choices": [{"index": 0, "delta": {"content": text}}]}


CHAT = (chunk("half of "), chunk("the answer"))
MESSAGES = (
    (
        "message_start",
        {
            "type": "message_start",
            "message": {"content": [], "usage": {"input_tokens": 40, "output_tokens": 1}},
        },
    ),
    (
        "content_block_start",
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ),
    (
        "content_block_delta",
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "half of the answer"},
        },
    ),
)
RESPONSES = (
    (
        "response.output_item.added",
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "message", "id": "i", "role": "assistant", "content": []},
        },
    ),
    (
        "response.output_text.delta",
        {
            "type": "response.output_text.delta",
            "output_index": 0,
            "content_index": 0,
            "item_id": "i",
            "delta": "half of the answer",
        },
    ),
)
BUSY = ("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
BROKEN = ("", {"error": {"message": "boom", "type": "server_error", "code": 500}})
FAILED = {
    "status": "failed",
    "error": {"code": "server_error", "message": "bang"},
    "usage": {"input_tokens": 44, "output_tokens": 3},
}
GAVE_UP = ("response.failed", {"type": "response.failed", "response": FAILED})


@pytest.mark.parametrize(
    ("wire", "events", "reported"),
    [
        ("chat", (*CHAT, BROKEN), (None, None)),
        ("anthropic", (*MESSAGES, BUSY), (40, None)),
        ("responses", (*RESPONSES, GAVE_UP), (44, 3)),
    ],
)
def test_what_had_come_before_an_error_is_shown_counted_and_kept_out_of_the_context(
    served, wire, events, reported
):
    with ChatServer(streams(*events), chatserver.refuses(404, {"error": {"message": "none"}})) as server:
        session = served(server, wire)
        run = session.run("Go.")
        assert (run.ending, run.answer, run.partial) == ("provider error", "half of the answer", True)
        assert (1, 0) == (run.usage.requests, run.usage.unanswered)
        read, wrote = reported
        sent = next(event.data["tokens"] for event in session.recorded if event.kind == "request")
        assert (read or sent, 0 if read else sent) == (run.tokens_in, run.usage.own_input)
        assert run.usage.own_output == (0 if wrote else run.tokens_out)
        assert run.tokens_out == wrote if wrote else run.tokens_out >= 4
        text, html = run_view.text(run), Reading(run._repr_html_()).text
        for shown in (text, html):
            assert f"half of the answer {run_view.BROKE_OFF}" in " ".join(shown.split())
            assert " 0 tokens in" not in shown
            assert " 0 out" not in shown
        assert session.live.assemble()[-1].text == "Go."
        session.run("Go on.")
        assert "half of the answer" not in json.dumps(server.asked[-1][2])
        (event, *_) = [event.data for event in session.recorded if event.kind == "provider error"]
        assert "half of the answer" in json.dumps(event["partial"])
        assert event.get("usage", {}).get("input") == read


def test_a_connection_that_breaks_in_the_middle_leaves_what_had_come(served):
    def breaks(handler, _):
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("content-length", "9999")
        handler.end_headers()
        handler.event(CHAT[0][1])
        handler.close_connection = True

    with ChatServer(breaks) as server:
        run = served(server).run("Go.")
    assert (run.ending, run.answer, run.partial) == ("provider error", "half of ", True)
    assert 1 == run.usage.requests


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_request_that_was_refused_has_no_reply_and_no_number(served, status):
    with ChatServer(chatserver.refuses(status, {"error": {"message": "no"}})) as server:
        run = served(server).run("Go.")
    assert (run.answer, run.partial) == ("", False)
    assert (0, 1, None, None) == (run.usage.requests, run.usage.unanswered, run.tokens_in, run.tokens_out)
    assert run_view.figures(run).startswith("1 step, no reply, 0 cleanups")
    assert "1 step, no reply" in Reading(run._repr_html_()).text


def test_a_stop_keeps_what_whoever_stopped_has_read(served):
    going_on = threading.Event()
    with ChatServer(chatserver.texts("half a ", "story", wait=going_on)) as server:
        session = served(server)
        first = threading.Event()
        session.watch_changes(lambda change: first.set() if change == "text" else None)
        run = session.start("Go.")
        assert first.wait(10)
        session.stop()
        run.wait(10)
        going_on.set()
    assert (run.ending, run.answer, run.partial) == ("interrupted", "half a ", True)
    assert (1, run.tokens_in) == (run.usage.requests, run.usage.own_input)
    assert "half a " not in "".join(message.text for message in session.live.assemble())
    (end,) = [event.data for event in session.recorded if event.kind == "run end"]
    assert "half a " == end["answer"]


def test_a_stop_before_a_word_has_no_reply(opened):
    session = opened()
    session.provider = Answers(lambda *_: session.stop() or "done")
    session._desk.provider.send = _never(session)
    run = session.run("Go.")
    assert (run.ending, run.answer, run.partial) == ("interrupted", "", False)
    assert "no reply" in run_view.figures(run)


def _never(session):
    async def send(body, *, on_text=None, on_note=None):
        session.stop()
        await asyncio.sleep(60)

    return send


def test_what_a_refused_request_was_answered_with_counts_beside_the_one_that_went_well(opened, tmp_path):
    """The window ended under the reply; after a cleanup the same was asked once more, and that is the answer."""
    documents(tmp_path, 11)
    full = Overflow(
        "the reply filled the window",
        partial=to_json(assistant("half")),
        usage={"input": 900, "output": 30, "cached": None, "written": None, "reasoning": None},
    )
    session = opened(window=8_000)
    session.provider = Answers(*reads(1, 2, 3, 4, 5, 6), full, "done")
    run = session.run(TASK)
    assert (run.answer, run.partial) == ("done", False)
    assert 8 + run.notes_usage.requests == run.usage.requests
    (overflow,) = [event.data for event in session.recorded if event.kind == "overflow"]
    assert 900 == overflow["usage"]["input"]


def test_a_note_that_broke_off_is_counted_as_one(opened, tmp_path):
    documents(tmp_path, 11)
    usage = {"input": 700, "output": 20, "cached": 0, "written": 0, "reasoning": None}
    broken = ProviderFault("broke off", partial=to_json(assistant("## Dec")), usage=usage)
    session = opened()
    session.provider = Answers(*reads(*range(1, 12)), "done", note=broken)
    run = session.run(TASK)
    assert run.ok, run.error
    notes = run.notes_usage
    assert notes.requests > 0
    assert (700 * notes.requests, 20 * notes.requests) == (notes.input, notes.output)
    assert "## Dec" not in "".join(message.text for message in session.live.assemble())
    assert "done" == run.answer


@pytest.mark.parametrize(
    "partial", [{"text": "half"}, {"role": "assistant", "parts": [{"type": "?"}]}, "half", 3]
)
def test_what_somebody_elses_provider_leaves_is_no_reason_to_fail(opened, partial):
    fault = ProviderFault("broken", partial=partial)
    fault.usage = {"tokens": 3}
    session = opened()
    session.provider = Answers(fault)
    run = session.run("Go.")
    assert (run.ending, run.error, run.answer) == ("provider error", "broken", "")
    assert came_of(fault) is None


def test_a_report_without_a_word_is_a_reply_all_the_same():
    fault = ProviderFault("broken", usage={"input": 40, "output": None})
    assert Usage(input=40) == came_of(fault).usage
    assert () == came_of(fault).message.parts
    assert came_of(ValueError("a bug")) is None


def test_an_answer_of_thinking_alone_says_so(served):
    thought = ("", {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]})
    end = ("", {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    with ChatServer(streams(thought, end)) as server:
        session = served(server)
        run = session.run("Go.")
    said = "step 1: the model thought and then said nothing; ask again, or ask for it in other words"
    assert (run.ending, run.answer, run.notices) == ("completed", "", (said,))
    assert said in session.snapshot.notices


@pytest.mark.parametrize(
    ("read", "wrote", "why"),
    [
        (
            1_671,
            400,
            "for: the server's window ends at 2,071 and not at 8,000, or the model puts out no more; ask for less",
        ),
        (7_600, 400, "for: the window of 8,000 tokens ends there; ask for less"),
        (7_900, 400, "for: the model puts out no more; ask for less"),
        (1_671, 1_600, "the answer reached the output limit of 1,600 tokens"),
    ],
)
def test_why_an_answer_was_cut_is_what_its_report_says(opened, read, wrote, why):
    session = opened(window=8_000)
    session.provider = Answers("whole")
    asking = Asking(session._desk, session.run("Go."))
    asking._asked = 1_600
    cut = Reply(message=assistant("half"), stop="length", usage=Usage(input=read, output=wrote))
    assert why in asking.at_its_limit(cut)
