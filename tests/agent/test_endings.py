"""Every way a run can end is a record with its reason; the history stays legal and the next run works."""

import pytest

import ethang_nb as eth
from ethang_nb.agent.loop import MOST_CUTS
from ethang_nb.agent.toolbox import CUT_OFF
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.pairing import violations
from ethang_nb.errors import Misuse, RunEnded
from ethang_nb.providers.protocol import Reply
from tests.agent.stage import WINDOW, call, calls, documents, kinds, texts

LISTING = calls("list_files")


def goes_on(session):
    assert () == violations(session.live.assemble())
    assert [event.kind for event in session.recorded][-1] == "run end"
    run = session.run("Go on.")
    assert run.ending == "completed", run.error
    assert () == violations(session.sent)
    return run


def test_completed(play):
    run = play({"say": "the answer"}).run("Go.")
    assert (run.ending, run.answer, run.error, run.ok) == ("completed", "the answer", "", True)
    assert run.check() is run
    assert run.snapshot.state == "completed"


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"fail": "the server is on fire"}, "the server is on fire"),
        ({"rate_limit": True}, "429"),
        ({"cut_stream": "half an ans"}, "the stream ended after 11 characters"),
    ],
)
def test_provider_error(play, turn, said):
    session = play(LISTING, turn, {"say": "went on"})
    run = session.run("Go.")
    assert run.ending == "provider error"
    assert said in run.error
    assert run.answer == ""
    assert run.steps == 2
    with pytest.raises(RunEnded, match=f"provider error: .*{said}"):
        run.check()
    (event,) = [event for event in session.recorded if event.kind == "provider error"]
    assert event.data["text"] == run.error
    assert goes_on(session).answer == "went on"


def test_a_refusal_of_the_model_is_a_provider_error_with_its_words_kept(play):
    session = play({"say": "I must not."}, {"say": "went on"})
    send = session.provider.send

    async def refused(body, *, on_text=None, on_note=None):
        reply = await send(body, on_text=on_text, on_note=on_note)
        return Reply(message=reply.message, stop="refused")

    session.provider.send = refused
    run = session.run("Go.")
    assert (run.ending, run.answer) == ("provider error", "I must not.")


def test_truncated_keeps_what_came(play):
    session = play({"say": "half of", "length": True}, {"say": "went on"})
    run = session.run("Go.")
    assert (run.ending, run.answer) == ("truncated", "half of")
    assert "output limit" in run.error
    goes_on(session)


def test_a_call_cut_by_the_output_limit_is_not_run_and_said_once(play):
    """PRV-04. The calls before it were whole, and run."""
    cut = {"call": [call("list_files"), {"name": "read_file", "arguments": '{"path": "a'}], "length": True}
    session = play(cut, {"say": "done"})
    assert session.run("Go.").ok
    listed, refused = texts(session)
    assert listed.startswith("[")
    assert refused == CUT_OFF
    assert kinds(session).count("tool start") == 1


def test_a_model_that_is_cut_off_again_and_again_ends_truncated(play):
    cut = {
        "call": [{"name": "list_files", "arguments": '{"folder": "'}],
        "length": True,
        "repeat": MOST_CUTS + 1,
    }
    session = play(cut, {"say": "went on"})
    run = session.run("Go.")
    assert run.ending == "truncated"
    assert run.steps == MOST_CUTS + 1
    assert "cut inside a call" in run.error
    goes_on(session)


def test_a_whole_call_between_two_cut_ones_starts_the_count_anew(play):
    cut = {"call": [{"name": "list_files", "arguments": "{"}], "length": True, "repeat": MOST_CUTS}
    assert play(cut, LISTING, cut, {"say": "done"}).run("Go.").ok


def test_step_limit(play):
    session = play({**LISTING, "repeat": 9}, {"say": "went on", "repeat": 9}, limits=eth.Limits(steps=3))
    run = session.run("Go.")
    assert (run.ending, run.steps) == ("step limit", 3)
    assert run.error == "3 steps taken; the limit is 3. Raise it with --steps N, or Limits(steps=N)"
    assert () == violations(session.live.assemble())
    assert session.run("Go on.").steps == 3


def test_budget_exhausted_counts_what_was_really_spent(play):
    session = play({**LISTING, "repeat": 9}, limits=eth.Limits(tokens=1_500))
    run = session.run("Go.")
    assert run.ending == "budget exhausted"
    assert 1_500 <= run.tokens_in + run.tokens_out < 2_600
    assert "the limit is 1,500" in run.error


def test_a_phantom_report_is_recorded_and_counts_nowhere(play):
    session = play({**LISTING, "phantom_usage": 900_000}, {"say": "done"}, limits=eth.Limits(tokens=10_000))
    run = session.run("Go.")
    assert run.ending == "completed"
    assert run.tokens_in < 3_000
    assert session.live.state.ratio == 1000
    reply = next(event for event in session.recorded if event.kind == "reply")
    assert reply.data["usage"]["input"] == 900_000


def test_usage_that_is_missing_is_our_own_count(play):
    session = play({"say": "done"})
    run = session.run("Go.")
    assert run.tokens_in == session.budget.used - message_tokens(session.live.assemble()[-1], session.counter)
    assert [event.data["usage"] for event in session.recorded if event.kind == "reply"] == [None]


def test_an_overflow_brings_one_cleanup_and_one_resend(tmp_path, play):
    documents(tmp_path, 4)
    session = play(
        *(calls(call("read_file", path=f"docs/c_0{n}.txt")) for n in range(1, 5)),
        {"say": "done", "overflow_at": 1_700},
        window=4_000,
    )
    run = session.run("Go.")
    assert run.ending == "completed", run.error
    assert kinds(session).count("overflow") == 1
    requests = [event.data["tokens"] for event in session.recorded if event.kind == "request"]
    assert requests[-2] > 1_700 >= requests[-1]
    assert len(run.diffs) == 1
    assert run.steps == len(requests)


def test_an_overflow_that_a_cleanup_does_not_cure_is_an_honest_error(tmp_path, play):
    documents(tmp_path, 4)
    session = play(
        *(calls(call("read_file", path=f"docs/c_0{n}.txt")) for n in range(1, 5)),
        {"say": "done", "overflow_at": 600},
        {"say": "went on", "repeat": 9},
        window=4_000,
    )
    run = session.run("Go.")
    assert run.ending == "provider error"
    assert "the request does not fit even after a cleanup" in run.error
    assert run.error.endswith("give a smaller window")
    assert kinds(session).count("overflow") == 2
    assert () == violations(session.live.assemble())


def test_an_overflow_with_nothing_to_free_says_so_and_sends_nothing_more(play):
    session = play({"say": "done", "overflow_at": 10})
    run = session.run("Go.")
    assert run.ending == "provider error"
    assert "the request does not fit its window, says the provider, and here" in run.error
    assert run.steps == 1


def test_an_overflow_of_the_note_leaves_one_by_rule(tmp_path, opened):
    """The summariser's request may be refused too; the run goes on."""
    documents(tmp_path, 11)
    session = opened("reader?nudge=ignore")
    send = session.provider.send

    async def narrow(body, *, on_text=None, on_note=None):
        if b'"tools"' not in body.bytes:
            raise eth.EthangError("SECRET-FAULT of the summariser")
        return await send(body, on_text=on_text, on_note=on_note)

    session.provider.send = narrow
    run = session.run("Read every file in docs.")
    assert run.ok
    assert run.diffs
    assert {diff.note_author for diff in run.diffs} == {"rules"}
    assert "SECRET-FAULT" not in "".join(diff.note for diff in run.diffs)
    assert "SECRET-FAULT" not in "".join(message.text for message in session.sent)
    assert kinds(session).count("note failed") == len(run.diffs)


def test_a_task_that_can_never_fit_is_refused_before_anything_is_recorded_of_it(play):
    session = play({"say": "done"}, window=2_000)
    with pytest.raises(Misuse, match=r"takes [\d,]+ tokens; .* does not fit the 1,600 that can be sent"):
        session.run("word " * 2_000)
    assert not session.running
    assert "run" not in kinds(session)
    assert session.run("Go.").ok
    session.close()
    session = eth.open_session("t", session.root)
    assert session.drift == ()
    session.close()


def test_stuck_names_the_part_that_is_too_big_and_sends_nothing(play):
    """A result can always be cut; what the model itself wrote into a call cannot."""
    huge = {"name": "list_files", "arguments": '{"folder": "' + "x" * 9_000 + '"}'}
    session = play({"call": [huge]}, window=2_000)
    run = session.run("Go.")
    assert run.ending == "stuck"
    assert "do not fit the 1,600 that can be sent" in run.error
    assert "newest segment list_files" in run.error
    assert kinds(session).count("request") == run.steps == 1
    assert () == violations(session.live.assemble())
    assert session.compact().outcome == "stuck"
    assert session.run("Go on.").ending == "completed"


def test_a_window_filled_by_the_task_alone_still_answers(play):
    session = play({"say": "word " * 1_200}, {"say": "went on", "repeat": 9}, window=2_600)
    assert session.run("Go.").ok
    goes_on(session)


def test_what_is_sent_always_fits_hard(tmp_path, opened):
    documents(tmp_path, 11)
    for name, model in (("a", "reader"), ("b", "reader?nudge=ignore")):
        for policy in eth.policies:
            session = opened(model, name=f"{name}-{policy}", policy=policy, window=2_400)
            run = session.run("Read every file in docs and tell me the cap.")
            assert run.ending in ("completed", "stuck", "step limit"), run.error
            hard = session.window.hard
            sizes = [event.data["tokens"] for event in session.recorded if event.kind == "request"]
            assert max(sizes) <= hard
            assert () == violations(session.sent)


def test_the_large_window_never_cleans_up(tmp_path, opened):
    documents(tmp_path, 11)
    run = opened(window=200_000).run("Read every file in docs and tell me the cap.")
    assert run.ok
    assert run.diffs == ()
    assert "125,000" in run.answer


def test_an_empty_answer_completes_and_leaves_no_empty_message(play):
    session = play({"say": ""}, {"say": "went on"})
    run = session.run("Go.")
    assert (run.ending, run.answer) == ("completed", "")
    goes_on(session)


def test_call_ids_that_come_twice_or_not_at_all_are_made_different(play):
    """Some servers leave ids out or repeat them; the results still find their calls."""
    session = play(calls("list_files", "list_files"), {"say": "done"})
    send = session.provider.send

    async def careless(body, *, on_text=None, on_note=None):
        from dataclasses import replace

        reply = await send(body, on_text=on_text, on_note=on_note)
        parts = tuple(
            replace(part, id="") if hasattr(part, "arguments") else part for part in reply.message.parts
        )
        return replace(reply, message=replace(reply.message, parts=parts))

    session.provider.send = careless
    assert session.run("Go.").ok
    assert len(texts(session)) == 2
    assert () == violations(session.sent)


def test_runs_differ_in_their_diffs(tmp_path, opened):
    """A run shows the cleanups that happened in it, and none of those before."""
    documents(tmp_path, 11)
    session = opened("reader?nudge=ignore")
    first = session.run("Read every file in docs.")
    second = session.run("Tell me the cap.")
    assert first.diffs
    assert {diff.step for diff in first.diffs}.isdisjoint(diff.step for diff in second.diffs)
    assert len(first.diffs) + len(second.diffs) == len(session.chronicle.diffs)


def test_the_run_of_a_small_window_shows_its_window(opened):
    assert opened().window.total == WINDOW
