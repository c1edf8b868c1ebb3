"""A task that is refused as too large, and that nothing answers, leaves before the next piece of work begins."""

import asyncio

import pytest

import ethang_nb as eth
from ethang_nb.context.messages import assistant
from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.protocol import Reply, Usage
from tests.agent.stage import Answers, kinds
from tests.agent.test_reopen import shape

LARGE = "Explain: " + "alpha beta gamma " * 900
RULE = "Never write to the production database."


def refusal(tokens=9_000, limit=4_096):
    return Overflow("it is too long", tokens=tokens, limit=limit)


def answered(text="done", tokens=700):
    return Reply(message=assistant(text), stop="end", usage=Usage(input=tokens, output=2))


@pytest.fixture
def asked(opened):
    """A session whose model gives these answers."""

    def make(*answers, window=16_000, **options):
        session = opened(window=window, **options)
        session.provider = Answers(*answers)
        return session

    return make


class Stopped(Answers):
    """Is stopped while it answers."""

    session = None

    async def send(self, body, *, on_text=None, on_note=None):
        self.session.stop()
        await asyncio.Event().wait()


@pytest.mark.parametrize("policy", sorted(eth.policies))
def test_after_a_task_that_did_not_fit_a_smaller_one_is_answered(asked, policy):
    session = asked(refusal(), answered(), policy=policy)
    large = session.run(LARGE)
    assert "provider error" == large.ending
    small = session.run("Say hi.")
    assert small.ok, small.error
    assert 2 == kinds(session).count("request"), "it was sent as it stood, and fitted at once"
    (event,) = [event for event in session.recorded if event.kind == "withdrawn"]
    assert event.seq < [event.seq for event in session.recorded if event.kind == "work"][-1]
    address = session.live.entries[0].address
    assert any("got no answer left the window" in line and address in line for line in small.notices)
    assert LARGE.strip() == session.archive.record.text(int(address.removeprefix("log://"))).strip()
    state = session.live.state
    assert (1, 1) == (state.first_task, state.task)
    assert not state.is_live(0)
    assert session.run("And again.").ok


def test_the_model_is_told_what_left_and_where_it_can_be_read(asked):
    session = asked(refusal(), answered())
    session.run(LARGE)
    session.run("Say hi.")
    texts = [message.text for message in session.sent]
    assert not any(LARGE in text for text in texts)
    (notice,) = [text for text in texts if text.startswith("[context cleanup]")]
    assert f"{session.live.entries[0].address} (" in notice
    assert "read_spill reads it in pieces" in notice


def test_the_views_show_that_it_left(asked):
    session = asked(refusal(), answered())
    session.run(LARGE)
    run = session.run("Say hi.")
    (diff,) = run.diffs
    assert [(session.live.entries[0].address, "evict")] == [(left.address, left.how) for left in diff.left]
    (place,) = session.trace("alpha beta gamma").out
    assert ["evict"] == [left.how for left in place.left]


def test_what_was_learnt_from_it_alone_does_not_narrow_what_comes(asked):
    """One odd text that counts 3.4 times ours: what is left of a window of 4,096 would not hold a request."""
    odd = Overflow("it is too long", tokens=11_400, limit=4_096)
    session = asked(answered(tokens=660), odd, odd, answered(tokens=690), window=16_000)
    session.run("Say hi.")
    before = session.live.state.ratio
    session.run(LARGE)
    assert session.live.state.ratio > 3_000
    assert session.run("Say hi again.").ok
    assert session.live.state.ratio <= max(before, 1_100)


def test_with_no_report_before_it_the_ratio_of_the_family_holds_again(asked):
    session = asked(Overflow("it is too long", tokens=12_000, limit=4_096), "done")
    family = session.live.state.ratio
    session.run(LARGE)
    assert session.live.state.ratio > family
    assert session.run("Say hi.").ok
    assert family == session.live.state.ratio


def test_what_was_answered_before_stays(asked):
    session = asked(answered("The cap is 125,000 EUR."), refusal(), refusal(), answered())
    session.run("What is the cap?")
    stood = session.sent
    session.run(LARGE)
    assert session.run("And in USD?").ok
    assert stood == session.sent[: len(stood)]
    assert 0 == session.live.state.first_task


@pytest.mark.parametrize("fault", [ProviderFault("no such key"), ValueError("a bug"), "stop"])
def test_a_task_that_failed_otherwise_stays(asked, fault):
    session = asked(fault)
    if fault == "stop":
        session.provider = Stopped()
        session.provider.session = session
    session.run("Read the third contract.")
    session.provider = Answers(answered())
    assert session.run("Go on.").ok
    assert "withdrawn" not in kinds(session)
    assert session.live.state.is_live(0)


def test_a_task_that_a_cleanup_made_room_for_is_not_withdrawn(asked):
    session = asked("word " * 2_500, refusal(tokens=4_500), "done", policy="pressure")
    assert session.run("Tell me all.").ok
    run = session.run("And in short?")
    assert run.ok, run.error
    assert 1 == kinds(session).count("overflow")
    assert session.run("Next.").ok
    assert "withdrawn" not in kinds(session)


def test_its_constraints_were_said_and_hold(asked):
    session = asked(refusal(), answered())
    session.run(f"{RULE} {LARGE}")
    session.run("Say hi.")
    (pin,) = session.live.pins
    assert (RULE, True, "") == (pin.text, pin.core, pin.lifted)
    assert RULE in session.sent[0].text


def test_a_constraint_as_large_as_the_message_is_lifted_with_the_reason(asked):
    session = asked(refusal(), answered())
    session.run("Never open " + "the file of the order and " * 500 + "the rest.")
    run = session.run("Say hi.")
    assert run.ok, run.error
    assert all("have no room in the core" in pin.lifted for pin in session.live.pins)


def test_the_same_window_named_again_keeps_the_correction(asked):
    session = asked(refusal(), answered())
    session.run(LARGE)
    session.change(window=16_000)
    assert 4_096 == session.window.total
    assert session.run("Say hi.").ok
    session.change(window=20_000)
    assert 20_000 == session.window.total


@pytest.mark.parametrize("again", ["before", "after"])
def test_opened_again_it_is_the_same(asked, opened, again):
    session = asked(refusal(), answered())
    session.run(f"{RULE} {LARGE}")
    if again == "after":
        session.run("Say hi.")
    before, said = shape(session), session._desk.notices.lines
    session.close()
    session = opened(window=16_000)
    session.provider = Answers(answered())
    assert () == session.drift
    assert (before, said) == (shape(session), session._desk.notices.lines)
    assert session.run("Once more.").ok
    assert 1 == kinds(session).count("withdrawn")


def test_a_crash_before_the_model_was_told(asked, opened, monkeypatch):
    session = asked(refusal(), answered())
    session.run(LARGE)
    with monkeypatch.context() as patch:
        patch.setattr(type(session.live), "say_withdrawn", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            session.run("Say hi.")
    session.close()
    session = opened(window=16_000)
    session.provider = Answers(answered())
    assert session.run("Say hi.").ok
    assert 1 == sum(message.text.startswith("[context cleanup]") for message in session.sent)
    assert 1 == kinds(session).count("withdrawn")


def test_who_is_stuck_with_a_task_is_told_that_the_next_run_starts_without_it(asked):
    session = asked("done", window=4_096)
    session.run("First, " + "word " * 1_500)
    run = session.run("Then, " + "word " * 1_500)
    assert "stuck" == run.ending
    assert run.error.endswith("; the next run starts without this task, which stays in the record")
    assert session.run("Say hi.").ok
    assert 0 == session.live.state.first_task


def test_who_is_stuck_with_what_an_earlier_run_left_is_told_how_to_leave_it_behind(asked):
    session = asked("done", window=16_000)
    session.run("First, " + "word " * 2_500)
    session.change(window=3_000)
    run = session.run("Say hi.")
    assert "stuck" == run.ending
    assert run.error.endswith("; or start without what this session holds: --new")
    session.change(window=16_000)
    assert session.run("Say hi.").ok


def test_told_again_under_other_rules_it_is_left_out(asked):
    session = asked(refusal(), answered())
    session.run(LARGE)
    session.run("Say hi.")
    session.run("And again.")
    for policy in eth.policies:
        assert all(step.outcome != "stuck" for step in session.replay(policy=policy))


def test_the_first_refused_request_belongs_to_a_new_session(asked):
    session = asked(Overflow("too long"))
    run = session.run("hi")
    assert "Session t." in str(run)
    assert "landing level" not in run.error
    assert "goes on after 2 steps" in str(session.run("hi"))
