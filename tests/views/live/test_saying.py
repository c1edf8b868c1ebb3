"""The reply as it comes, in a live view: its end, whole words of it, gone when the reply stands."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.views.live.document import About, Document
from ethang_nb.views.live.saying import LONGEST, MOVES, ending
from ethang_nb.views.live.source import source_of
from tests.agent import chatserver
from tests.agent.chatserver import ChatServer
from tests.agent.stage import Answers
from tests.context.builders import watched
from tests.views.live.applier import Applier
from tests.views.live.hosts import Host, fed

WORDS = " ".join(f"word{number}" for number in range(400))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("The cap is 125,000.", "The cap is 125,000."),
        ("one\n\n\n two\r\nthree \n\n", "one\n two\nthree"),
        ("a\x1b[31mred\x07\u202etxt\ud83d", "a\\x1b[31mred\\x07\\u202etxt\\ud83d"),
        ("x" * LONGEST, "x" * LONGEST),
    ],
)
def test_a_short_text_stands_as_it_is_but_for_what_nobody_sees(text, shown):
    assert ending(text) == shown


def test_a_long_text_begins_with_a_word_and_ends_where_it_ends():
    shown = ending(WORDS)
    assert LONGEST - 2 * MOVES < len(shown) <= LONGEST
    assert shown.startswith("…word")
    assert WORDS.endswith(shown[1:])
    assert WORDS[-len(shown)] == " ", "the first word is whole"


def test_it_begins_with_a_line_where_one_begins_near():
    lines = "\n".join(f"line {number} of a long list" for number in range(60))
    assert ending(lines).startswith("…line ")


def test_a_character_is_never_cut_from_what_belongs_to_it():
    """A letter with its accent, a family of joined faces."""
    for piece in ("e\u0301", "\U0001f469\u200d\U0001f467"):
        for more in range(5):
            assert ending("x" * more + piece * 300)[1] == piece[0]


def test_what_is_shown_begins_at_one_place_while_the_text_grows():
    """Else all its lines would be broken anew with every word."""
    begins = [ending(WORDS[:size])[:20] for size in range(LONGEST + 1, len(WORDS))]
    moves = sum(one != other for one, other in pairwise(begins))
    assert moves <= len(begins) / MOVES + 1


@given(st.text(max_size=1_500))
def test_whatever_comes_it_is_short_and_safe(text):
    shown = ending(text)
    assert len(shown) <= LONGEST
    assert all(char in "\n\t" or char >= " " for char in shown)
    shown.encode()


# ---- on its way to a view


def test_it_travels_alone_and_a_document_without_it_has_no_trace_of_it():
    live, chronicle = watched(6_000, rules="ethang")
    said = {"saying": "", "waiting": ""}
    document = Document(live, chronicle, lambda: About("n", "m", "l", "running", **said))
    view = Applier()
    view.apply(document.full())
    assert not {"saying", "waiting"} & set(view.document())
    said["waiting"] = "tried again"
    assert document.update() == {"set": {"waiting": "tried again"}}
    said |= {"saying": "The", "waiting": ""}
    assert document.update() == {"set": {"saying": "The", "waiting": ""}}
    said["saying"] = ""
    assert document.update() == {"set": {"saying": ""}}
    assert document.update() == {}
    assert not {"saying", "waiting"} & set(document.full()["set"])


def speaks(*pieces, between, then="Done."):
    def answer(_, on_text, __):
        for piece in pieces:
            on_text(piece)
            between()
        return then

    return answer


def test_a_view_shows_it_piece_by_piece_and_no_more_when_the_reply_stands(opened):
    session, host, shown = opened(), Host(), []
    feed, clock, timers = fed(session)
    view = feed.subscribe(host)
    view.hello()

    def between():
        clock.advance(1)
        timers.go_off()
        shown.append(host.document.get("saying"))

    session.provider = Answers(speaks("The cap ", "is ", "\x1b125,000.", between=between))
    session.run("Go.")
    clock.advance(1)
    timers.go_off()
    assert ["The cap", "The cap is", "The cap is \\x1b125,000."] == shown
    assert not host.document.get("saying")
    assert host.document["segments"][-1]["title"].startswith("Done.")


def test_why_nothing_comes_is_said_until_something_does(opened):
    session, host, shown = opened(), Host(), []
    feed, clock, timers = fed(session)
    view = feed.subscribe(host)
    view.hello()

    def look():
        clock.advance(1)
        timers.go_off()
        shown.append((host.document.get("waiting", ""), host.document.get("saying", "")))

    def answer(_, on_text, on_note):
        on_note("demo answers 429: waits 2 s, then asks again")
        look()
        on_text("Here.")
        look()
        return "Here."

    session.provider = Answers(answer)
    session.run("Go.")
    look()
    why = "demo answers 429: waits 2 s, then asks again"
    assert [(why, ""), ("", "Here."), ("", "")] == shown
    assert f"step 1: {why}" in host.document["notices"], "afterwards it is a notice among the others"


def test_it_is_not_shown_beside_the_message_that_it_became(opened):
    """A view is told of the message, and then of nothing while a tool runs, for a minute perhaps."""
    with ChatServer(chatserver.texts("I looked.")) as server:
        session = opened(f"vllm/demo?base_url={server.url}", window=8_000)
        source, told = source_of(session), []
        source.watch(lambda change: told.append((change, source.about().saying)))
        assert session.run("Go.").ok
    assert ("text", "I looked.") in told
    assert {"message": ""} == {change: said for change, said in told if change == "message"}
