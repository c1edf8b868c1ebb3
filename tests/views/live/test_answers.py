"""What a view may ask: each ask answered once, wrong ones in one line, stop at once, a newer what-if first."""

import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.views.live import answers
from ethang_nb.views.live.answers import ASKS, Answers
from ethang_nb.views.live.source import source_of
from tests.agent.stage import TASK, call, calls, documents
from tests.views.live.hosts import Host, messages

PATIENCE = 30  # seconds until a test gives up


def asking(source):
    """A function that asks and gives the reply back."""
    host, greeted = Host(), []
    view = Answers(source, host, hello=greeted.append)

    def ask(what, **arguments):
        known = len(host.replies())
        view.ask({"id": known, "ask": what, **arguments})
        assert len(host.replies()) == known + 1
        reply = host.replies()[-1]
        assert reply["id"] == known
        return reply

    ask.view, ask.host, ask.greeted = view, host, greeted
    return ask


@pytest.fixture
def ask(worked):
    return asking(source_of(worked))


@pytest.fixture
def act(tmp_path, opened):
    """The same over a session of its own, for asks that change it."""
    documents(tmp_path)
    session = opened("reader?nudge=ignore", window=2_700)
    assert session.run(TASK).ok
    return asking(source_of(session))


def test_every_ask_is_answered_with_the_fields_that_views_know(act):
    ask, session = act, act.view.source.shown
    fields = {
        "stop": ({}, {"done"}),
        "pin": ({"text": "Keep it.", "kind": "decision"}, {"said"}),
        "unpin": ({"pin": 1}, {"said"}),
        "segment": ({"segment": "0"}, {"title", "address", "parts", "cut"}),
        "request": ({"step": 1}, {"step", "text", "how"}),
        "diff": ({"index": 0}, set(session.snapshot.to_json()["diffs"][0])),
        "whatif": ({"second": {"policy": "lean"}}, {"a", "b"}),
        "trace": ({"text": "ORD-88421"}, {"text", "places"}),
        "read": ({"address": session.snapshot.diffs[0].left[0].address}, {"address", "text"}),
        "compact": ({}, {"said"}),
        "reseed": ({}, {"said"}),
        "cool": ({}, {"said"}),
    }
    assert {*fields, "policies"} == set(ASKS)
    for what, (arguments, names) in fields.items():
        reply = ask(what, **arguments)
        assert reply["ok"], reply
        assert names == set(reply["data"])
        assert all("\n" not in text for name, text in reply["data"].items() if name in ("said", "done"))


def test_policies_are_those_that_ship_and_the_projects_own_with_the_levels_of_this_window(ask, worked):
    (worked.root / "ethang.toml").write_text("[policies.mine]\nlevels = [500, 600, 300]\n")
    found = {one["name"]: one for one in ask("policies")["data"]}
    assert [*eth.policies, "mine"] == list(found)
    assert found["ethang"]["levels"] == {"nudge": 700, "cleanup": 800, "landing": 400}
    assert found["mine"]["levels"] == {"nudge": 500, "cleanup": 600, "landing": 300}
    assert all(one["short"] for one in found.values())
    assert ask("whatif", policy="mine")["data"]["a"]["policy"] == "mine"


def test_a_what_if_is_a_run_and_perhaps_another_one_beside_it(ask):
    data = ask("whatif")["data"]
    assert data["b"] is None
    assert set(data["a"]) == {
        "policy", "window", "usable", "levels", "fills", "p95", "counts", "events", "tokens", "over",
    }  # fmt: skip
    session = ask.view.source.shown
    assert data["a"]["fills"] == list(session.replay().fills)
    data = ask("whatif", levels=[300, 400, 200], second={"window": 9_000, "policy": "trim"})["data"]
    assert (300, 400, 200) == tuple(data["a"]["levels"].values())
    assert (data["b"]["window"], data["b"]["policy"]) == (9_000, "trim")


def test_a_place_of_a_trace_says_how_it_left(ask):
    places = ask("trace", text="ORD-88421")["data"]["places"]
    left = [departure for place in places for departure in place["left"]]
    assert left
    assert set(left[0]) == {"step", "how", "by"}


@pytest.mark.parametrize(
    ("what", "arguments", "said"),
    [
        ("nothing", {}, "unknown ask 'nothing'; known: stop"),
        ("__class__", {}, "unknown ask"),
        (["stop"], {}, "unknown ask"),
        (None, {}, "unknown ask"),
        ("pin", {}, "text None is no text; give one that is not blank"),
        ("pin", {"text": "  "}, "is no text"),
        ("pin", {"text": "..."}, "nothing to pin in '...'"),
        ("pin", {"text": "x" * 30_000}, "text has 30,000 characters; give at most 20,000"),
        (
            "pin",
            {"text": "Keep it.", "kind": "rule"},
            "'rule' is no kind of pin; give constraint or decision",
        ),
        ("pin", {"text": "Keep it.", "kind": ["x"]}, "is no kind of pin"),
        ("unpin", {"pin": 77}, "no pin 77; pins now: 1"),
        ("unpin", {"pin": True}, "pin True is no number here; give a whole one from 0 on"),
        ("unpin", {"pin": 10**40}, "is no number here"),
        ("segment", {"segment": "x\n" * 50}, "no segment"),
        ("segment", {"segment": {"a": 1}}, "is no text"),
        ("request", {"step": 99}, "no request of step 99 in session t; it has steps 1 to"),
        ("request", {"step": "1"}, "step '1' is no number here"),
        ("diff", {"index": 99}, "no cleanup 99; there are 0 to"),
        ("whatif", {"window": 12}, "window 12 is too small; give at least 256 tokens"),
        ("whatif", {"window": -1}, "window -1 is no number here"),
        ("whatif", {"window": 1.5}, "window 1.5 is no number here"),
        ("whatif", {"window": "no-such"}, "the window of model 'no-such' is unknown"),
        ("whatif", {"levels": [1, 2]}, "give three such as (700, 800, 400)"),
        ("whatif", {"levels": "700"}, "levels '700' are no list"),
        ("whatif", {"levels": [700, 300, 400]}, "must rise"),
        ("whatif", {"levels": [None, {}, []]}, "whole per mille"),
        ("whatif", {"policy": "presure"}, "did you mean 'pressure'"),
        ("whatif", {"policy": 5}, "policy 5 is no text"),
        ("whatif", {"second": [1]}, "second [1] is no setting"),
        ("whatif", {"second": {"window": 3}}, "too small"),
        ("trace", {"text": "\n"}, "is no text"),
        ("read", {"address": "nowhere"}, "is no address"),
        ("read", {"address": "file:../../etc/passwd"}, "leads out of the root"),
        ("read", {"address": "log://999999"}, "999"),
    ],
)
def test_what_is_wrong_is_answered_in_one_clear_line(ask, what, arguments, said):
    before = ask.view.source.shown.archive.record.last, len(ask.view.source.live.pins)
    reply = ask(what, **arguments)
    assert not reply["ok"]
    assert said in reply["error"]
    assert "\n" not in reply["error"]
    assert "Traceback" not in reply["error"]
    assert len(reply["error"]) < 400
    assert before == (ask.view.source.shown.archive.record.last, len(ask.view.source.live.pins))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["text", "kind", "pin", "segment", "step", "index", "window", "levels", "policy", "second", "address"]
)
CONTEXT = eth.Context(3_000)
CONTEXT.append(messages(4))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([*ASKS, "hello", "x"]), st.dictionaries(NAMES, JUNK, max_size=4), JUNK)
def test_whatever_a_view_sends_is_answered_once_and_never_raises(what, arguments, number):
    host = Host()
    view = Answers(source_of(CONTEXT), host, hello=lambda _: None)
    view.ask({**arguments, "id": number, "ask": what})
    assert (what != "hello") == len(host.replies())
    view.ask(arguments.get("text"))
    assert host.replies()[-1]["ok"] is False or what != "hello"


def test_a_hello_goes_to_the_feed_and_has_no_reply(ask):
    ask.view.ask({"ask": "hello", "rev": 7, "id": 1})
    assert [7] == ask.greeted
    assert [] == ask.host.replies()


def test_a_fault_of_ours_is_said_to_the_view_and_raised_to_nobody(ask, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("a bug\nof ours")

    monkeypatch.setattr(ask.view.source, "trace", broken)
    assert ask("trace", text="x")["error"] == "ZeroDivisionError: a bug of ours"


def test_a_view_that_is_gone_is_said_and_breaks_nothing(ask):
    def gone(_):
        raise ConnectionError("closed")

    view = Answers(ask.view.source, gone, hello=lambda _: None)
    view.ask({"id": 1, "ask": "policies"})
    notices = ask.view.source.shown.snapshot.notices
    assert [line for line in notices if "a view could not be answered: ConnectionError: closed" in line]


def test_hostile_text_arrives_as_it_was_and_half_a_character_as_an_escape():
    text = '</script><img src=x onerror=1> \u202e "quoted" \\ 😀 '
    context = eth.Context(100_000)
    context.append([{"role": "user", "content": text + "\x00"}])
    ask = asking(source_of(context))
    assert ask("segment", segment="0")["data"]["parts"][0]["text"].startswith(text)
    assert ask("trace", text="\ud83d")["data"]["text"] == "\\ud83d"
    for part in ask.host.parts:
        json.dumps(part, ensure_ascii=False).encode()


def test_a_reply_larger_than_a_part_comes_in_parts():
    context = eth.Context(900_000)
    context.append([{"role": "user", "content": "word " * 30_000}])
    ask = asking(source_of(context))
    assert ask("segment", segment="0")["data"]["parts"][0]["text"] == "word " * 30_000
    assert 3 == len(ask.host.parts)


# ---- threads


def waited(condition):
    assert condition.wait(PATIENCE)


def in_thread(work):
    """As a message that comes over a subshell."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()


class Held:
    """A source whose trace waits until it is let go."""

    def __init__(self, source, monkeypatch):
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.threads = []
        self._trace = source.trace
        monkeypatch.setattr(source, "trace", self.trace)

    def trace(self, text):
        self.threads.append(threading.current_thread().name)
        self.begun.set()
        waited(self.go_on)
        return self._trace(text)


def test_stop_is_done_at_once_in_the_thread_it_comes_in_also_behind_what_takes_long(play, monkeypatch):
    session = play({"say": "never heard", "delay": PATIENCE})
    source = source_of(session)
    held = Held(source, monkeypatch)
    host = Host()
    view = Answers(source, host, hello=lambda _: None)
    run = session.start("Go.")
    in_thread(lambda: view.ask({"id": 1, "ask": "trace", "text": "x"}))
    waited(held.begun)
    with session.lock:  # whoever holds it does not hold up a stop
        in_thread(lambda: view.ask({"id": 2, "ask": "stop"}))
        assert [2] == [reply["id"] for reply in host.replies()]
    assert "asked to stop" in host.replies()[0]["data"]["done"]
    assert run.wait(PATIENCE).ending == "interrupted"
    held.go_on.set()
    in_thread(lambda: done(host, 2))
    assert ["ethang-views"] == held.threads


def test_an_act_does_not_wait_for_a_look_that_takes_long_nor_a_look_for_an_act(ask, monkeypatch):
    held = Held(ask.view.source, monkeypatch)
    in_thread(lambda: ask.view.ask({"id": 1, "ask": "trace", "text": "x"}))
    waited(held.begun)
    in_thread(lambda: ask.view.ask({"id": 2, "ask": "pin", "text": "Never open it."}))
    in_thread(lambda: done(ask.host, 1))
    assert [2] == [reply["id"] for reply in ask.host.replies()]
    held.go_on.set()
    in_thread(lambda: done(ask.host, 2))
    assert {1, 2} == {reply["id"] for reply in ask.host.replies()}


def done(host, replies):
    """Waits until the views' thread has answered so often."""
    for _ in range(PATIENCE * 100):
        if len(host.replies()) >= replies:
            return
        threading.Event().wait(0.01)


def test_a_what_if_that_waits_gives_way_to_a_newer_one_of_the_same_view(ask, monkeypatch):
    held = Held(ask.view.source, monkeypatch)
    other = asking(ask.view.source)

    def come():
        ask.view.ask({"id": "held", "ask": "trace", "text": "x"})
        waited(held.begun)
        for number in range(4):
            ask.view.ask({"id": number, "ask": "whatif", "window": 3_000 + number})
        other.view.ask({"id": "other", "ask": "whatif"})
        ask.view.ask({"id": "policies", "ask": "policies"})

    in_thread(come)
    superseded = {reply["id"]: reply for reply in ask.host.replies()}
    assert [0, 1, 2] == list(superseded)
    assert all("superseded: a newer what-if has come" in reply["error"] for reply in superseded.values())
    held.go_on.set()
    in_thread(lambda: done(ask.host, 6))
    in_thread(lambda: done(other.host, 1))
    assert ["held", 3, "policies"] == [reply["id"] for reply in ask.host.replies() if reply["ok"]]
    assert ["other"] == [reply["id"] for reply in other.host.replies() if reply["ok"]]


def test_asks_from_many_threads_are_answered_one_after_the_other_by_one_thread(ask):
    threads = [
        threading.Thread(target=ask.view.ask, args=({"id": number, "ask": "policies"},), daemon=True)
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    done(ask.host, 20)
    assert sorted(reply["id"] for reply in ask.host.replies()) == list(range(20))
    assert 1 == sum(thread.name == "ethang-views" for thread in threading.enumerate())
    assert answers._LOOKING._thread.daemon


def test_acts_while_a_run_goes_on_wait_for_its_next_step_and_a_reseed_is_refused_with_the_reason(play):
    session = play(calls(call("list_files")), {"say": "done"})
    source, replies = source_of(session), []
    ask = asking(source)

    def acting(progress):
        if progress.row.step == 1:
            for what, arguments in (
                ("pin", {"text": "Keep it."}),
                ("compact", {}),
                ("reseed", {}),
                ("cool", {}),
            ):
                ask.view.ask({"id": what, "ask": what, **arguments})
            done(ask.host, 4)
            replies.extend(ask.host.replies())

    session.watch(acting)
    assert session.run("Go.").ok
    by_id = {reply["id"]: reply for reply in replies}
    assert by_id["pin"]["ok"]
    assert by_id["compact"]["data"]["said"].startswith("asked for a cleanup before the next request")
    assert "a start from the core comes between pieces of work" in by_id["reseed"]["error"]
    assert by_id["cool"]["ok"]
    kinds = [event.kind for event in session.recorded]
    assert kinds.index("asked") < [at for at, kind in enumerate(kinds) if kind == "point"][1]
    assert "Keep it." in [pin.text for pin in session.pins]


def test_a_session_that_is_closed_refuses_acts_and_answers_what_it_still_knows(act):
    ask = act
    ask.view.source.shown.close()
    assert not ask("pin", text="Keep it.")["ok"]
    assert not ask("compact")["ok"]
    assert ask("segment", segment="0")["ok"]
    assert ask("policies")["ok"]
    assert ask("stop")["data"] == {"done": "no run is going on"}
