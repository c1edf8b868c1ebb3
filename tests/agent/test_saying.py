"""What a person sees of a reply while it comes and of how it came; cut streams; connections that are let go."""

import gc
import threading
from pathlib import Path

import pytest

import ethang_nb as eth
from ethang_nb.agent.loop import UNFINISHED
from ethang_nb.agent.notices import LONGEST, WAITS, Notices
from ethang_nb.agent.toolbox import BROKEN_OFF, REFUSED
from ethang_nb.context.messages import ToolCall, assistant
from ethang_nb.context.pairing import violations
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.errors import CassetteMiss
from ethang_nb.providers.http.waiting import Waits
from ethang_nb.providers.protocol import Reply
from tests.agent import chatserver
from tests.agent.chatserver import ChatServer
from tests.agent.stage import TASK, Answers, asks, child, documents, kinds, reads, texts


def heard(session):
    """What was being said at each piece of text."""
    said = []
    session.watch_changes(lambda change: said.append(session.saying) if change == "text" else None)
    return said


@pytest.fixture
def served(opened):
    """Sessions of a model that a loopback server plays."""

    def make(server, **options):
        return opened(f"vllm/demo?base_url={server.url}", window=8_000, **options)

    return make


# ---- text as it comes


def test_text_is_shown_as_it_comes_and_is_gone_when_the_reply_stands(served):
    going_on = threading.Event()
    with ChatServer(chatserver.texts("The cap ", "is 125,000.", wait=going_on)) as server:
        session = served(server)
        first = threading.Event()
        session.watch_changes(lambda change: first.set() if change == "text" else None)
        assert session.saying == ""
        run = session.start("Go.")
        assert first.wait(10)
        assert session.saying == "The cap "
        assert "The cap" not in "".join(message.text for message in session.live.assemble())
        going_on.set()
        assert run.wait(10).answer == "The cap is 125,000."
        assert session.saying == ""
        assert [message.text for message in session.live.assemble()][-1] == "The cap is 125,000."


def test_what_is_said_grows_piece_by_piece_and_starts_anew_with_each_request(tmp_path, opened):
    documents(tmp_path, 1)
    session = opened()

    def speaks(*pieces, then):
        def answer(_, on_text, __):
            for piece in pieces:
                on_text(piece)
            return then

        return answer

    session.provider = Answers(
        speaks("I ", "look.", then=asks("list_files")), speaks("D", "one.", then=assistant("Done."))
    )
    said = heard(session)
    assert session.run("Go.").answer == "Done."
    assert ["I ", "I look.", "D", "Done."] == said
    assert "text" not in kinds(session), "only the whole reply is recorded"


def test_what_was_said_of_a_reply_that_failed_is_gone_too(opened):
    session = opened()

    def breaks(_, on_text, __):
        on_text("half a")
        return ValueError("a bug of the provider")

    session.provider = Answers(breaks)
    assert session.run("Go.").error == "ValueError: a bug of the provider"
    assert session.saying == ""


# ---- what is noted while one waits


def waits(*lines, then="done"):
    def answer(_, __, on_note):
        for line in lines:
            on_note(line)
        return then

    return answer


def test_whoever_waits_is_told_why_and_the_record_knows_it(opened, tmp_path):
    session = opened()
    session.provider = Answers(waits("answers: 429, tried again in 2 s"))
    told = []
    session.watch_changes(told.append)
    run = session.run("Go.")
    assert "waited" in told
    assert ("step 1: answers: 429, tried again in 2 s",) == run.notices
    assert run.notices[0] in session.snapshot.notices
    assert kinds(session).index("request") < kinds(session).index("waited") < kinds(session).index("reply")
    session.close()
    with eth.open_session("t", tmp_path) as again:
        assert run.notices[0] in again.snapshot.notices
        assert () == again.drift


def test_why_nothing_comes_is_known_until_something_does(opened):
    session = opened()
    seen = []

    def answer(_, on_text, on_note):
        on_note("tried again in 2 s")
        seen.append((session.waiting, session.saying))
        on_text("Do")
        seen.append((session.waiting, session.saying))
        on_note("slow")
        return "Done."

    session.provider = Answers(answer)
    session.watch_changes(lambda change: seen.append(session.saying) if change == "message" else None)
    assert session.run("Go.").ok
    assert [("tried again in 2 s", ""), ("", "Do"), ""] == seen, "the text is gone when its message stands"
    assert session.waiting == ""


def test_a_wait_is_over_when_the_next_try_begins(opened):
    session = opened()
    seen = []

    def answer(_, __, on_note):
        on_note("try 2 of 4 in 3 s")
        on_note("")
        return "Done."

    session.provider = Answers(answer)
    session.watch_changes(lambda change: seen.append(session.waiting) if change == "waited" else None)
    run = session.run("Go.")
    assert ["try 2 of 4 in 3 s", ""] == seen
    assert ("step 1: try 2 of 4 in 3 s",) == run.notices
    assert 1 == kinds(session).count("waited"), "that it is over is no event of its own"


def test_notices_stand_in_the_order_in_which_it_happened(opened, tmp_path):
    documents(tmp_path, 1)
    session = opened()
    late = Reply(message=assistant("done"), stop="end", notices=("answered at try 2; before that: 429",))
    session.provider = Answers(
        asks("list_files"), waits("429; try 2 of 4 in 1 s", then=late), notices=("temperature is left out",)
    )
    run = session.run("Go.")
    assert (
        "step 1: temperature is left out",
        "step 2: 429; try 2 of 4 in 1 s",
        "step 2: answered at try 2; before that: 429",
    ) == run.notices
    session.close()
    with eth.open_session("t", tmp_path) as again:
        assert list(run.notices) == [line for line in again.snapshot.notices if line in run.notices]


def test_of_many_waits_the_newest_are_shown_and_the_others_counted(opened):
    session = opened()
    session.provider = Answers(waits(*(f"try {number}" for number in range(1, 8))))
    run = session.run("Go.")
    assert (
        "4 earlier waits; the record has them",
        "step 1: try 5",
        "step 1: try 6",
        "step 1: try 7",
    ) == run.notices
    assert 7 == kinds(session).count("waited")
    assert WAITS == 3


# ---- what could not be sent or read as it was asked for


def test_what_a_request_leaves_out_and_how_a_reply_came_is_said_once(opened, tmp_path):
    documents(tmp_path, 1)
    session = opened()
    asked_twice = Reply(message=assistant("done"), stop="end", notices=("it was asked for twice",))
    session.provider = Answers(asks("list_files"), asked_twice, notices=("temperature is left out",))
    run = session.run("Go.")
    assert ("step 1: temperature is left out", "step 2: it was asked for twice") == run.notices
    said = [line for line in session.snapshot.notices if "left out" in line or "twice" in line]
    assert list(run.notices) == said
    session.close()
    with eth.open_session("t", tmp_path) as again:
        assert said == [line for line in again.snapshot.notices if "left out" in line or "twice" in line]


def test_old_records_have_no_notices_and_are_read():
    notices = Notices()
    notices.recall(
        [JournalEntry(1, "reply", {"stop": "end", "usage": None}), JournalEntry(2, "point", {"step": 1})]
    )
    assert () == notices.lines


def test_a_notice_of_any_length_is_one_line():
    notices = Notices()
    notices.say(3, "a\nb " * 500)
    (line,) = notices.lines
    assert "\n" not in line
    assert len(line) <= LONGEST + len("step 3: ")


# ---- streams without an end


def test_a_stream_without_its_end_marker_is_kept_as_truncated(served):
    with ChatServer(chatserver.texts("half of the ans", done=False), chatserver.texts("whole")) as server:
        session = served(server)
        run = session.run("Go.")
        assert (run.ending, run.answer, run.error) == ("truncated", "half of the ans", UNFINISHED)
        assert session.live.assemble()[-1].text == "half of the ans"
        assert ["cut"] == [event.data["stop"] for event in session.recorded if event.kind == "reply"]
        assert session.run("Go on.").answer == "whole"
        assert "half of the ans" in str(server.asked[-1][2]["messages"])


def test_no_call_of_a_cut_reply_is_run_and_each_is_answered(served):
    """PRV: nobody knows whether the arguments are whole, or what would have followed."""
    cut = chatserver.calls(("list_files", "{}"), ("read_file", '{"path": "do'), done=False, text="I look.")
    with ChatServer(cut, chatserver.texts("whole")) as server:
        session = served(server)
        run = session.run("Go.")
        assert (run.ending, run.answer) == ("truncated", "I look.")
        assert [BROKEN_OFF, BROKEN_OFF] == texts(session)
        assert "tool start" not in kinds(session)
        assert () == violations(session.live.assemble())
        assert session.run("Go on.").ok
        assert () == violations(session.sent)


def test_calls_of_a_reply_that_was_refused_are_not_run(opened):
    session = opened()
    message = assistant("I must not.", [ToolCall(id="a", name="list_files", arguments="{}")])
    session.provider = Answers(Reply(message=message, stop="refused"), "went on")
    run = session.run("Go.")
    assert (run.ending, run.answer) == ("provider error", "I must not.")
    assert [REFUSED] == texts(session)
    assert session.run("Go on.").ok


def test_an_empty_stream_is_an_error_and_leaves_nothing(served):
    with ChatServer(chatserver.texts(done=False)) as server:
        session = served(server)
        session.provider.line._waits = Waits(tries=1)
        run = session.run("Go.")
        assert run.ending == "provider error"
        assert session.live.assemble()[-1].text == "Go."


# ---- what is not on the cassette


def test_a_request_that_is_not_on_the_cassette_ends_the_run_by_name(opened):
    session = opened()
    session.provider = Answers(CassetteMiss("segment 3 differs; record it anew", diff="- old\n+ new"))
    run = session.run("Go.")
    assert (run.ending, run.error) == ("provider error", "segment 3 differs; record it anew")
    assert run.detail == "- old\n+ new"
    (event,) = [event for event in session.recorded if event.kind == "provider error"]
    assert event.data == {"text": run.error, "detail": run.detail}


def test_a_note_that_is_not_on_the_cassette_ends_the_run_too(tmp_path, opened):
    """One by rules would make every request after it another one than was recorded."""
    documents(tmp_path, 11)
    session = opened()
    session.provider = Answers(*reads(*range(1, 12)), "done", note=CassetteMiss("not on it", diff="- a\n+ b"))
    run = session.run(TASK)
    assert (run.ending, run.error, run.detail) == ("provider error", "not on it", "- a\n+ b")
    assert session.live.pending is None, "the context is whole all the same"


# ---- connections are let go


def test_the_provider_is_closed_with_its_session_and_when_another_takes_its_place(opened):
    session = opened()
    first, second = Answers("one"), Answers("two")
    session.provider = first
    session.run("Go.")
    assert first.closed == 0
    session.provider = first
    assert first.closed == 0, "it is the same"
    session.provider = second
    assert (first.closed, second.closed) == (1, 0)
    session.run("Go.")
    session.close()
    session.close()
    assert (first.closed, second.closed) == (1, 1)


def test_a_provider_that_cannot_be_closed_keeps_no_session_open(opened):
    session = opened()

    class Stuck(Answers):
        async def close(self):
            raise OSError("no")

    session.provider = Stuck("one")
    session.run("Go.")
    session.close()
    assert session.closed


def test_no_connection_is_left_open(served):
    """After the session is closed nobody is connected, and nothing complains of a socket."""
    with ChatServer(chatserver.refuses(404, {"error": {"message": "no such model"}})) as server:
        session = served(server)
        session.run("Go.")
        assert server.open == 1, "a connection is kept for the next request"
        session.close()
        assert server.alone.wait(5)
    gc.collect()


CHILD = """
import sys, warnings
sys.path.insert(0, sys.argv[2])
import ethang_nb as eth
from tests.agent import chatserver
with chatserver.ChatServer(chatserver.texts("one"), chatserver.refuses(404, {"error": {"message": "none"}})) as server:
    session = eth.Session(f"vllm/demo?base_url={server.url}", window=8_000, root=sys.argv[1])
    print(session.run("Go.").answer)
    session.provider = session._desk.reach.provider(session.model)
    session.run("Go.")
    session.close()
    never = eth.Session(f"vllm/demo?base_url={server.url}", window=8_000, root=sys.argv[1], name="never")
    never.close()
"""


def test_nothing_warns_of_a_socket_or_a_loop_that_was_left_open(tmp_path):
    root = Path(__file__).resolve().parents[2]
    process = child(CHILD, tmp_path, root, flags=("-X", "dev", "-W", "error::ResourceWarning"))
    out, errors = process.communicate(timeout=60)
    assert out.strip() == "one", errors
    assert "ResourceWarning" not in errors
    assert "Task was destroyed" not in errors


def test_what_a_run_of_the_task_says_never_enters_the_context(tmp_path, opened):
    """Looking changes nothing: request bytes are equal with and without somebody who watches."""
    documents(tmp_path, 3)
    quiet = opened(name="quiet")
    quiet.run(TASK)
    watched = opened(name="watched")
    heard(watched)
    watched.run(TASK)
    steps = len(quiet.timeline)
    assert [quiet.request(step) for step in range(1, steps + 1)] == [
        watched.request(step) for step in range(1, steps + 1)
    ]
