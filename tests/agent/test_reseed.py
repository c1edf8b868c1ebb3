"""A start from the core: foretold, by hand, asked for by `cool`, by the policy; what the core does not hold is said."""

import threading

import pytest

import ethang_nb as eth
from ethang_nb.agent.reseeding import NOTHING_LEAVES, ReseedPlan
from ethang_nb.context.core import STATE_EMPTY
from ethang_nb.context.pairing import violations
from ethang_nb.errors import Misuse, SessionBusy
from tests.agent.stage import TASK, Watched, call, calls, documents, kinds
from tests.context.builders import picture

NEXT = "Read docs/c_04.txt and tell me its first line."


@pytest.fixture
def worked(tmp_path, opened):
    """A session that has read eight documents, under a policy that never starts from the core by itself."""
    documents(tmp_path)
    session = opened(policy="pressure")
    assert session.run(TASK).ok
    return session


def standing(session):
    return session.archive.record.last, picture(session.live.state), session.live.assemble()


def test_the_plan_changes_nothing_and_comes_true(worked):
    before = standing(worked)
    plan = worked.plan(reseed=True)
    str(plan), plan._repr_html_(), plan.digest
    sent = plan.apply().messages
    assert before == standing(worked)
    done = worked.reseed()
    assert ("reseed", plan.after, plan.core) == (done.outcome, done.after, done.core)
    assert plan.not_held == done.not_held
    assert sent == worked.live.assemble()
    assert () == violations(worked.live.assemble())
    assert "reseed" == kinds(worked)[-1]


def test_all_that_leaves_is_named_with_its_place_in_the_record(worked):
    segments = {item.title: item for item in worked.segments}
    plan = worked.plan(reseed=True)
    for item in plan.not_held.items:
        assert item.tokens == segments[item.title].tokens
        assert worked.archive.read(item.address, characters=9_000, fits=lambda _: True).text
    assert {item.title for item in plan.not_held.items} == {
        title for title, item in segments.items() if item.kind in ("turn", "assistant")
    }
    assert [item.address for item in plan.apply().removed]


def test_what_a_pin_says_is_held(play):
    session = play({"say": "done", "repeat": 9}, policy="pressure")
    session.run("Go on.")
    session.run("Never delete the folder data.")
    session.run("Never delete the folder docs. Tell me what is in it.")
    titles = [item.title for item in session.plan(reseed=True).not_held.items]
    assert "Never delete the folder data." not in titles  # a pin holds all of it
    assert "Never delete the folder docs. Tell me what is in it." in titles  # a later task leaves too


def test_an_empty_state_is_warned_of_before_and_after(play):
    session = play({"say": "done", "repeat": 9}, policy="pressure")
    session.run("Go on.")
    assert session.plan(reseed=True).not_held.warning == STATE_EMPTY
    session.reseed()
    assert any(STATE_EMPTY in notice for notice in session.snapshot.notices)
    session.pin("Amounts are in EUR.")
    session.run("Go on.")
    assert not session.plan(reseed=True).not_held.warning


def test_with_nothing_to_leave_behind_nothing_is_done(worked):
    worked.reseed()
    before = standing(worked)
    again = worked.reseed()
    assert ("nothing", NOTHING_LEAVES) == (again.outcome, again.reason)
    assert before == standing(worked)


def test_a_session_without_a_message_has_nothing_to_leave_behind(opened):
    session = opened()
    assert "nothing" == session.reseed().outcome
    assert "reseed" not in kinds(session)


def test_the_next_run_says_that_it_started_from_the_core(worked):
    assert worked.run(NEXT).reseed is None
    worked.reseed()
    rows = []
    worked.watch(lambda progress: rows.append(progress.row))
    run = worked.run(NEXT)
    assert run.ok
    assert isinstance(run.reseed, ReseedPlan)
    assert "reseed" in rows[0].events[0]
    assert "reseed" in [diff.outcome for diff in run.diffs]
    assert "goes on from the core after" in str(run)
    assert worked.run(NEXT).reseed is None


def test_a_policy_that_starts_from_the_core_says_so_too(tmp_path, opened):
    documents(tmp_path)
    session = opened(policy="reseed")
    assert session.run(TASK).reseed is None
    run = session.run(NEXT)
    assert "reseed" == run.reseed.outcome
    assert run.reseed.not_held.items


def test_a_named_piece_of_work_starts_from_the_core_as_well(tmp_path, opened):
    documents(tmp_path)
    session = opened(policy="reseed")
    session.run(TASK)
    session.begin("second")
    assert "reseed" == session.run(NEXT).reseed.outcome


def test_cool_starts_the_next_piece_from_the_core_whatever_the_fill(play):
    session = play({"say": "done", "repeat": 9}, policy="pressure", window=50_000)
    session.run("Go on.")
    session.cool()
    assert "reseed" == session.run("And on.").reseed.outcome
    assert session.run("And on.").reseed is None


def test_cool_outlives_a_cleanup(worked):
    worked.cool()
    assert worked.compact().lands
    assert "reseed" == worked.run(NEXT).reseed.outcome


def test_cool_after_begin_is_for_the_piece_that_waits(worked):
    worked.begin("second")
    worked.cool()
    assert "reseed" == worked.run(NEXT).reseed.outcome
    assert worked.run(NEXT).reseed is None


def test_during_a_run_a_reseed_is_refused_in_one_line_and_cool_waits_for_its_end(play):
    session = play(calls("list_files"), {"say": "done"}, {"say": "again"}, policy="pressure")
    inside, go_on = threading.Event(), threading.Event()

    def hold(_):
        inside.set()
        go_on.wait(10)

    session.provider = Watched(session.provider, before=hold)
    run = session.start("Go on.")
    assert inside.wait(10)
    recorded = session.archive.record.last
    with pytest.raises(
        SessionBusy, match=r"between pieces of work; wait for its end, or cool\(\) it"
    ) as caught:
        session.reseed()
    assert "\n" not in str(caught.value)
    assert recorded == session.archive.record.last
    session.cool()
    go_on.set()
    assert run.wait(10).ok
    assert run.reseed is None
    assert "reseed" == session.run("Once more.").reseed.outcome


def test_both_come_back_from_the_record(worked, tmp_path):
    worked.reseed()
    worked.run(NEXT)
    worked.cool()
    before = standing(worked)
    worked.close()
    with eth.open_session("t", tmp_path) as again:
        assert () == again.drift
        assert before == standing(again)
        assert "reseed" == again.run(NEXT).reseed.outcome


def test_a_session_that_is_only_looked_at_takes_neither(worked, tmp_path):
    worked.close()
    with eth.open_session("t", tmp_path, look=True) as session:
        assert session.plan(reseed=True).lands
        for act in (session.reseed, session.cool):
            with pytest.raises(Misuse, match="opened only to be looked at"):
                act()


def test_cleanup_and_reseed_are_two_plans(worked):
    with pytest.raises(Misuse, match="two plans"):
        worked.plan(cleanup=True, reseed=True)


def test_a_reseed_that_was_called_for_leaves_legal_history(worked):
    worked.reseed()
    run = worked.run("Tell me which order is affected and what its cap is.")
    assert run.ok
    assert "125,000" in run.answer  # found through the record
    assert () == violations(worked.live.assemble())
    assert call("find_in_record")["name"] in worked.live.core


# ---- what a plan says of the next piece of work


def full(play, **options):
    """A session whose one answer fills more than a fifth of the window."""
    session = play({"say": "word " * 900, "repeat": 9}, window=6_000, **options)
    session.run("Say it.")
    return session


def test_a_plan_says_that_the_next_piece_of_work_starts_from_the_core(play):
    session = full(play)
    plan = session.plan()
    assert plan.outcome == "nothing"
    foretold = session.plan(reseed=True)
    freed = foretold.before - foretold.after
    said = f"The next piece of work starts from the core: frees {freed:,} tokens; see %ethang plan --reseed"
    assert plan.next_work == said
    assert said in " ".join(str(plan).split())
    assert said in plan._repr_html_()
    reseed = session.run("Again.").reseed
    assert freed == reseed.before - reseed.after


def test_a_plan_says_nothing_of_the_next_piece_of_work_where_that_goes_on(play):
    session = play({"say": "short", "repeat": 9}, window=6_000)
    session.run("Say it.")
    assert session.plan().next_work == ""
    assert "core" not in str(session.plan())


def test_what_a_cleanup_would_do_says_nothing_of_it(play):
    assert "next piece of work" not in str(full(play).plan(cleanup=True))


def test_once_a_piece_of_work_is_begun_its_start_is_over(play):
    session = full(play)
    session.begin("next")
    assert session.plan().next_work == ""


def test_after_cool_plan_and_snapshot_say_so_until_it_is_done(play):
    session = play({"say": "short", "repeat": 9}, window=6_000)
    session.run("Say it.")
    said = "cooled: the next piece of work starts from the core"
    assert said not in session.snapshot.notices
    session.cool()
    assert session.plan().next_work.startswith(said.capitalize())
    assert said in session.snapshot.notices
    assert said in " ".join(str(session.snapshot).split())
    session.run("Again.")
    assert said not in session.snapshot.notices


def test_a_plan_of_a_session_can_be_applied_as_any(play):
    session = full(play)
    assert session.plan().apply().messages == session.live.copy().assemble()
