"""A request that is refused as too long: the numbers are believed, one thing is tried once, then it is said."""

import json
from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.agent.recovery import OUTPUT, SOURCE, Corrections, advice, lesson, note_room
from ethang_nb.context.messages import Image, Message, Text, Thinking, assistant, from_json, user
from ethang_nb.context.pairing import violations
from ethang_nb.context.shortening import surely_read
from ethang_nb.context.window import Window
from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.protocol import Reply, Usage
from tests.agent.stage import TASK, Answers, asks, documents, kinds, reads

LLAMA = "request (3021 tokens) exceeds the available context size (2048 tokens), try increasing it"
GIVEN = f"{SOURCE}; 8,000 was given"


@pytest.fixture
def asked(tmp_path, opened):
    """A session over eight documents whose model gives these answers."""

    def make(*answers, window=8_000, lines=12, note=None, **options):
        documents(tmp_path, 11, lines)
        session = opened(window=window, **options)
        session.provider = Answers(*answers, **({} if note is None else {"note": note}))
        return session

    return make


def data(session, kind):
    return [event.data for event in session.recorded if event.kind == kind]


# ---- what is learnt, as values

WINDOW = Window.of(8_000)


def learnt(base=WINDOW, own=2_600, asked=1_600, **numbers):
    return lesson(Overflow("too long", **numbers), base=base, hard=base.hard, own=own, asked=asked)


def test_a_limit_below_the_window_corrects_it_and_says_so():
    found = learnt(tokens=3_021, limit=2_048)
    assert Window.of(2_048, source=SOURCE).total == found.window.total
    assert (409, GIVEN) == (found.window.reserve, found.window.source)
    assert (3_021, None) == (found.counted, found.room)
    assert ("the provider says the window is 2,048 tokens; it was taken for 8,000 (given)",) == found.notices


def test_a_limit_that_is_no_smaller_says_only_that_the_count_was_off():
    found = learnt(tokens=8_400, limit=8_000, own=6_300)
    assert found.window is None
    assert 8_400 == found.counted
    assert "the provider counts 8,400 tokens in a request where we count 6,300" in found.notices[0]


def test_a_limit_that_is_the_known_largest_input_is_no_news():
    base = Window.of(400_000, max_input=272_000)
    assert learnt(base, own=270_000, tokens=280_000, limit=272_000).window is None
    assert 200_000 == learnt(base, own=270_000, tokens=280_000, limit=200_000).window.total


def test_a_reserve_that_was_given_stays_where_the_window_can_hold_it():
    base = Window.of(8_000, reserve=1_000)
    assert 1_000 == learnt(base, limit=4_000).window.reserve
    narrow = learnt(base, limit=1_500).window
    assert (300, False) == (narrow.reserve, narrow.reserve_given)


def test_a_window_below_the_smallest_is_not_believed_to_be_one():
    found = learnt(limit=100)
    assert (None, ()) == (found.window, found.notices)


def test_without_numbers_the_provider_counts_at_least_all_that_can_be_sent():
    assert WINDOW.hard == learnt(own=6_000).counted
    assert learnt(own=1_000).counted is None  # six times as much would be phantom


def test_without_a_count_but_a_limit_that_our_count_fits_the_same_holds_of_the_new_window():
    found = learnt(own=3_000, limit=4_000)
    assert (3_200, 4_000) == (found.counted, found.window.total)


@pytest.mark.parametrize(("room", "used"), [(1_599, 1_599), (800, 800), (799, None), (1_600, None)])
def test_half_of_the_output_is_still_worth_asking_for(room, used):
    found = learnt(tokens=8_000 - room + 1_600, limit=8_000, room=room)
    assert found.room == used
    assert found.counted == 8_000 - room


def test_where_only_the_reserve_was_too_large_nothing_need_leave():
    """vLLM: 500 tokens in a window of 4,096, and 20,000 asked for, because 100,000 were assumed."""
    base = Window.of(100_000)
    found = learnt(base, own=480, asked=20_000, tokens=20_500, limit=4_096, room=3_596)
    assert (4_096, 819, 819) == (found.window.total, found.window.reserve, found.room)
    assert learnt(base, own=3_400, asked=20_000, tokens=23_500, limit=4_096, room=596).room is None


def test_the_same_of_a_quota_whose_count_has_the_output_in_it():
    base = Window.of(131_072, max_output=65_536)
    found = learnt(base, own=2_000, asked=26_214, tokens=28_300, limit=12_000, limits="quota")
    assert 2_400 == found.room
    alone = learnt(base, own=14_000, asked=26_214, tokens=14_137, limit=12_000, limits="quota")
    assert alone.room is None, "this one counts the input alone"


def test_a_quota_is_no_window_but_limits_what_is_sent():
    base = Window.of(131_072, max_output=65_536)
    found = learnt(base, own=11_000, tokens=14_137, limit=12_000, limits="quota")
    assert (131_072, 2_400, 9_600) == (found.window.total, found.window.reserve, found.window.effective)
    assert found.counted is None
    assert "12,000 tokens at once, answer included; from now on at most 9,600 are sent" in found.notices[0]
    assert learnt(found.window, own=9_000, tokens=12_100, limit=12_000, limits="quota").window is None


def test_a_limit_of_the_output_shrinks_the_reserve_and_nothing_else():
    base = Window.of(200_000)
    found = learnt(base, own=600, asked=32_000, limit=16_384, room=16_384, limits="output")
    assert (200_000, 16_384, None, None) == (
        found.window.total,
        found.window.reserve,
        found.window.effective,
        found.counted,
    )
    assert 16_384 == found.room
    assert f"given, {OUTPUT}" == found.window.source
    assert ("the provider puts out at most 16,384 tokens; 32,000 were asked for",) == found.notices


@pytest.mark.parametrize("limit", [None, 0, 32_000, 40_000])
def test_a_limit_of_the_output_that_explains_nothing_teaches_nothing(limit):
    found = learnt(Window.of(200_000), asked=32_000, limit=limit, room=limit, limits="output")
    assert (None, None, ()) == (found.window, found.room, found.notices)


def test_thinking_tools_and_images_are_not_surely_read():
    said = assistant("word")
    thought = replace(said, parts=(Thinking(text="x" * 100, signature="y" * 20), *said.parts))
    seen = Message(role="user", parts=(Text(text="look"), Image(url="http://127.0.0.1/a.png")))
    assert 5_000 - 300 - 120 - 1_000 == surely_read((thought, seen), 5_000, 300)
    assert 0 == surely_read((thought,), 100, 90)


def test_the_second_try_of_a_note_takes_less_than_the_first():
    assert 500 == note_room(Overflow("x"), tokens=1_000, prose=100)
    assert 900 == note_room(Overflow("x", tokens=900, limit=5_000), tokens=1_000, prose=100)
    assert 450 == note_room(Overflow("x", tokens=2_000, limit=1_000), tokens=1_000, prose=100)
    assert note_room(Overflow("x", tokens=2_000, limit=80), tokens=1_000, prose=100) <= 0


def test_a_window_that_is_corrected_twice_keeps_what_was_given_first():
    first = learnt(tokens=3_021, limit=2_048).window
    second = learnt(first, tokens=2_000, limit=1_024).window
    assert (1_024, GIVEN) == (second.total, second.source)
    known = Window.of(8_000, source="the list of models")
    assert f"{SOURCE}; 8,000 was taken" == learnt(known, tokens=3_021, limit=2_048).window.source


def test_advice_names_fewer_tools_only_where_there_are_some():
    assert "fewer tools" in advice(Overflow("x", limit=2_048))
    assert "fewer tools" not in advice(Overflow("x", limit=2_048), tools=False)


def test_advice_names_the_number_that_would_help():
    assert "more than 2,048 tokens" in advice(Overflow("x", limit=2_048))
    assert "more than 12,000 tokens a minute" in advice(Overflow("x", limit=12_000, limits="quota"))


# ---- in a run


def test_the_messages_own_limit_corrects_the_window_then_one_cleanup_and_one_resend(asked, tmp_path):
    session = asked(*reads(1, 2, 3, 4, 5, 6), Overflow(LLAMA, tokens=3_021, limit=2_048), "done")
    run = session.run(TASK)
    assert run.ending == "completed", run.error
    assert (2_048, GIVEN) == (session.window.total, session.window.source)
    assert 8 == kinds(session).count("request")
    assert 409 == session.provider.requests[-1].max_output
    assert data(session, "request")[-1]["tokens"] <= session.live.state.hard
    (overflow,) = data(session, "overflow")
    assert {"tokens": 3_021, "limit": 2_048, "limits": "window"}.items() <= overflow.items()
    said = [line for line in session.snapshot.notices if "the provider says the window is" in line]
    assert said == ["step 7: the provider says the window is 2,048 tokens; it was taken for 8,000 (given)"]
    assert said[0] in run.notices
    after = kinds(session)[kinds(session).index("overflow") :]
    assert after[:4] == ["overflow", "settings", "usage", "asked"]
    session.close()
    again = eth.open_session("t", tmp_path)
    assert () == again.drift
    assert (2_048, GIVEN) == (again.window.total, again.window.source)
    assert said == [line for line in again.snapshot.notices if "the provider says the window is" in line]
    again.close()


def test_who_names_the_same_window_again_does_not_run_into_it_again(asked, opened, tmp_path):
    """A cell says `--window 8000` each time it is run; another number is believed."""
    session = asked(*reads(1, 2, 3, 4, 5, 6), Overflow(LLAMA, tokens=3_021, limit=2_048), "done")
    assert session.run(TASK).ok
    session.change(window=8_000)
    assert 2_048 == session.window.total
    session.change(window=1_500)
    assert 1_500 == session.window.total
    session.close()
    session = opened(window=8_000)
    assert (2_048, GIVEN) == (session.window.total, session.window.source)
    session.change(window=6_000)
    assert 6_000 == session.window.total
    session.close()
    assert 8_000 == opened("reader?follow=no", window=8_000).window.total, "another model, another window"


def test_a_correction_that_changes_the_total_alone_is_kept_too(asked, opened):
    session = asked(*reads(1, 2, 3, 4, 5, 6), Overflow("too long", limit=7_999), "done")
    assert session.run(TASK).ok
    session.close()
    assert 7_999 == opened(window=8_000).window.total


def test_what_follows_does_not_run_into_it_again(asked):
    """The count was off, not the window: from then on limits follow the provider's count."""
    session = asked(
        *reads(1, 2, 3, 4, 5, 6), Overflow("too long", tokens=5_200, limit=4_000), "done", window=4_000
    )
    own = None
    run = session.run(TASK)
    assert run.ok, run.error
    own = data(session, "overflow")[0]["own"]
    assert session.window.total == 4_000
    assert session.live.state.ratio == -(-5_200 * 1000 // own)
    sent = data(session, "request")[-1]["tokens"]
    assert sent * 5_200 // own <= 4_000 - session.window.reserve


def test_where_less_output_has_room_the_same_request_goes_again_without_a_cleanup(asked):
    fault = Overflow(
        "input length and `max_tokens` exceed context limit", tokens=8_400, limit=8_000, room=1_200
    )
    session = asked(*reads(1, 2), fault, *reads(3), "done")
    run = session.run(TASK)
    assert run.ok, run.error
    first, second = session.provider.requests[2], session.provider.requests[3]
    assert (1_600, 1_200) == (first.max_output, second.max_output)
    assert first.messages == second.messages
    assert session.request(3) == session.provider.bodies[3], (
        "of a step that was sent twice the second is shown"
    )
    assert 1 == kinds(session).count("overflow")
    assert "asked" not in kinds(session)
    # 6,800 tokens by the provider's count is phantom beside ours, so nothing is learnt of how it counts.
    assert session.live.state.ratio == 1_000


def test_a_reserve_that_was_too_large_costs_no_context(asked):
    fault = Overflow("max_tokens is too large", tokens=20_900, limit=4_096, room=3_196)
    session = asked(*reads(1), fault, "done", window=Window.of(100_000))
    run = session.run(TASK)
    assert run.ok, run.error
    assert [20_000, 20_000, 819] == [request.max_output for request in session.provider.requests]
    assert "asked" not in kinds(session)
    assert 4_096 == session.window.total


def test_after_less_output_the_next_request_has_room_for_all_of_it(asked):
    """The provider's count of that request divides every limit from then on, so the next one is cleaned up first."""
    documents_read = reads(1, 2, 3, 4, 5, 6)
    fault = Overflow("too long", tokens=4_600, limit=4_000, room=500)
    session = asked(*documents_read, fault, *reads(7), "done", window=4_000)
    run = session.run(TASK)
    assert run.ok, run.error
    sent = [request.max_output for request in session.provider.requests if request.tools]
    assert [800, 500, 800] == sent[6:9]
    assert 1 == len(run.diffs)
    assert session.live.state.hard < session.window.hard


def test_a_quota_makes_requests_smaller_from_then_on(asked):
    fault = Overflow("Request too large on tokens per minute", tokens=5_000, limit=3_000, limits="quota")
    session = asked(*reads(1, 2, 3, 4, 5, 6), fault, "done")
    run = session.run(TASK)
    assert run.ok, run.error
    assert (8_000, 600, 2_400) == (session.window.total, session.window.reserve, session.window.effective)
    assert 600 == session.provider.requests[-1].max_output
    assert data(session, "request")[-1]["tokens"] <= 2_400


def test_the_second_overflow_ends_the_run_with_numbers_and_the_next_step(asked):
    session = asked(
        *reads(1, 2, 3, 4, 5, 6), Overflow(LLAMA, tokens=3_021, limit=2_048), Overflow(LLAMA, limit=1_024)
    )
    run = session.run(TASK)
    assert run.ending == "provider error"
    assert run.error.startswith(
        "the request does not fit even after a cleanup: request (3021 tokens) exceeds"
    )
    assert "take a model with a window of more than 1,024 tokens" in run.error
    assert "\n" not in run.error
    assert 8 == kinds(session).count("request")
    assert 2 == kinds(session).count("overflow")
    assert 1_024 == session.window.total, "what the second one says is learnt, too"
    assert () == violations(session.live.assemble())


LONG_SAID = "llamacpp: the request does not fit (HTTP 400): " + "request exceeds the context size, " * 20


@pytest.mark.parametrize("tools", [["read_file"], ["none"]])
def test_an_overflow_that_nothing_helped_is_short_and_says_each_advice_once(opened, tools):
    session = opened(window=4_000, tools=tools)
    session.provider = Answers(Overflow(LONG_SAID, tokens=1_900, limit=1_024), note="unused")
    if tools == ["none"]:  # without tools the stand-in takes the request for one of a note
        session.provider = Answers(note=Overflow(LONG_SAID, tokens=1_900, limit=1_024))
    run = session.run("Explain: " + "alpha beta gamma " * 500)
    assert "provider error" == run.ending
    assert run.error.startswith("the request does not fit")
    assert "nothing more can leave" in run.error
    assert len(run.error) < 560, "a view shows 600 characters of it"
    assert 1 == run.error.count("larger window")
    assert "take a model" not in run.error
    assert "fewer tools" not in run.error
    assert run.error.endswith(" …)")


def test_a_window_that_cannot_hold_the_fixed_parts_is_an_honest_error(asked):
    session = asked(Overflow(LLAMA, tokens=900, limit=300))
    run = session.run("Go.")
    assert run.ending == "provider error"
    assert "300 tokens" in "".join(run.notices)
    assert 1 == len(session.provider.bodies)
    assert "tokens do not fit the 164 that can be sent" in run.error
    assert "the largest part that stays is the tool catalogue" in run.error
    assert "Make it smaller, or give a larger window, if the model has one" in run.error
    session.close()
    with eth.open_session("t", session.root, look=True) as seen:
        assert 300 == seen.window.total, "it can be looked at, though not gone on with"


def test_the_newest_result_is_made_shorter_where_it_alone_is_too_large(asked, tmp_path):
    """Its whole text lies at its address, so nothing is lost by it."""
    (tmp_path / "big.txt").write_text("\n".join(f"line {n} says number {n * n}" for n in range(300)))
    session = asked(
        asks("read_file", path="big.txt"), Overflow(LLAMA, tokens=1_800, limit=1_500), "done", window=16_000
    )
    run = session.run(TASK)
    assert run.ok, run.error
    assert data(session, "request")[-1]["tokens"] <= session.live.state.hard < 1_500
    shrunk = session.sent[-1].results[0]
    assert shrunk.text.count("\n") < 100
    assert "file:big.txt" in shrunk.text


def test_oversized_results_are_cut_before_anything_leaves(asked):
    """What came in under a larger window becomes what it would have been under the real one; then what is missing."""
    fault = Overflow("too long", tokens=16_200, limit=16_000)
    session = asked(*reads(1, 2, 3, 4, 5, 6), fault, "done", window=64_000, lines=85)
    run = session.run(TASK)
    assert run.ok, run.error
    state = session.live.state
    results = [result for row in state.rows for result in row.results]
    assert 6 == len(results), "nothing was evicted"
    assert {"stub", "shrunk"} == {result.form for result in results}
    assert max(result.tokens for result in results) == state.settings.entry_tokens
    assert state.total > state.settings.landing_at - state.settings.entry_tokens, "no more than had to"
    assert "file:docs/c_06.txt" in session.sent[-1].results[0].text
    (asked_for,) = data(session, "asked")
    assert asked_for == {"refused": True}


def test_a_cleanup_that_a_person_asks_for_cuts_no_result_that_it_need_not(asked):
    session = asked(*reads(1, 2, 3, 4, 5, 6), "done", window=64_000, lines=85)
    assert session.run(TASK).ok
    session.change(window=20_000)
    session.compact()
    forms = {result.form for row in session.live.state.rows for result in row.results}
    assert "shrunk" not in forms


def test_a_window_that_was_corrected_twice_is_the_smaller_one_wherever_the_first_is_named():
    corrections, window = Corrections(), Window.of(8_000)
    first = learnt(window, tokens=6_500, limit=4_096).window
    second = learnt(first, tokens=3_900, limit=2_048).window
    corrections.put(window, first)
    corrections.put(first, second)
    assert second == corrections.of(window) == corrections.of(first)
    assert Window.of(9_000) == corrections.of(Window.of(9_000))


def test_no_numbers_at_all_bring_one_cleanup_and_one_resend(asked):
    session = asked(*reads(1, 2, 3, 4, 5, 6), Overflow("Input is too long for requested model"), "done")
    run = session.run(TASK)
    assert run.ok, run.error
    assert (1, 8) == (kinds(session).count("asked"), kinds(session).count("request"))
    assert 8_000 == session.window.total


OUTPUT_FAULT = "max_tokens is too large: 32000. This model supports at most 16384"


def too_much(most=16_384):
    return Overflow(OUTPUT_FAULT, limit=most, room=most, limits="output")


def test_more_output_than_the_model_gives_is_asked_for_once(asked, opened, tmp_path):
    session = asked(*reads(1), too_much(), *reads(2), "done", window=Window.of(200_000))
    run = session.run(TASK)
    assert run.ok, run.error
    assert [32_000, 32_000, 16_384, 16_384] == [item.max_output for item in session.provider.requests]
    assert "asked" not in kinds(session), "nothing has to leave"
    after = kinds(session)[kinds(session).index("overflow") :]
    assert after[:3] == ["overflow", "settings", "request"]
    said = "step 2: the provider puts out at most 16,384 tokens; 32,000 were asked for"
    assert (said,) == run.notices
    assert session.provider.requests[1].messages == session.provider.requests[2].messages
    session.change(window=Window.of(200_000))
    assert (200_000, 16_384) == (session.window.total, session.window.reserve)
    session.change(window=Window.of(20_000))
    assert (20_000, 4_000) == (session.window.total, session.window.reserve), "its own is small enough"
    session.change(window=Window.of(200_000))
    session.close()
    again = opened(window=Window.of(200_000))
    assert 16_384 == again.window.reserve, "who names it again does not run into it again"
    again.close()
    with eth.open_session("t", tmp_path, look=True) as seen:
        assert said in seen.snapshot.notices
        assert () == seen.drift


def test_after_that_the_window_may_still_be_too_large(asked):
    narrow = Overflow(LLAMA, tokens=3_021, limit=2_048)
    session = asked(*reads(1, 2, 3, 4, 5, 6), too_much(), narrow, "done", window=Window.of(200_000))
    run = session.run(TASK)
    assert run.ok, run.error
    assert 2_048 == session.window.total
    assert 409 == session.provider.requests[-1].max_output


def test_a_limit_of_the_output_that_helps_nobody_ends_the_run_at_once(asked):
    session = asked(too_much(40_000), window=Window.of(200_000))
    run = session.run(TASK)
    assert (run.ending, run.error) == ("provider error", OUTPUT_FAULT)
    assert len(session.provider.bodies) == 1


def test_a_note_is_asked_for_in_what_its_model_puts_out(asked):
    class Small(Answers):
        async def send(self, body, *, on_text=None, on_note=None):
            head = json.loads(body.pieces[0])
            if not head["tools"] and head["max"] > 60:
                raise too_much(60)
            return await super().send(body, on_text=on_text, on_note=on_note)

    session = asked("x", window=4_200)
    session.provider = Small(*reads(*range(1, 12)), "done")
    run = session.run(TASK)
    assert run.ok, run.error
    assert session.chronicle.diffs
    assert {"answers (a test's)"} == {
        diff.note_author for diff in session.chronicle.diffs if diff.note_author
    }
    asked_for = [item.max_output for item in session.provider.requests if not item.tools]
    assert asked_for[0] > 60 == asked_for[1]


# ---- servers that say nothing


def shortened(text, read):
    return Reply(message=assistant(text), stop="end", usage=Usage(input=read, output=20))


def test_a_reply_to_a_request_that_the_server_shortened_is_no_answer(asked):
    """Ollama: it read the end of the request alone. The reply is in the record, and nowhere else."""
    session = asked(
        *reads(1, 2, 3, 4, 5, 6), shortened("What was I to do?", 2_050), "The cap is 125,000.", lines=30
    )
    run = session.run(TASK)
    assert (run.ending, run.answer) == ("completed", "The cap is 125,000.")
    assert "What was I to do?" not in "".join(message.text for message in session.live.assemble())
    (overflow,) = data(session, "overflow")
    assert overflow["silent"]
    assert "What was I to do?" == from_json(overflow["partial"]).text
    assert (2_050, GIVEN) == (session.window.total, session.window.source)
    assert data(session, "request")[-1]["tokens"] <= 1_640
    (said,) = [line for line in run.notices if "shortened the request" in line]
    assert "the server read 2,050 of about" in said
    assert said.endswith("from now on it is taken for 2,050")


def test_the_report_of_a_shortened_request_says_nothing_of_how_the_provider_counts(asked):
    """It would push out a good report, of which the highest of the last three counts."""
    first = Reply(message=reads(1)[0], stop="calls", usage=Usage(input=660, output=20))
    session = asked(first, *reads(2, 3, 4, 5, 6), shortened("What?", 2_050), "The cap.", lines=30)
    run = session.run(TASK)
    assert run.ok, run.error
    (usage,) = data(session, "usage")
    assert 660 == usage["reported"]
    replies = [item["usage"] for item in data(session, "reply") if item["usage"]]
    assert [660, 2_050] == [item["input"] for item in replies], "both are on record"


def test_a_server_that_goes_on_shortening_is_an_honest_error(asked):
    session = asked(
        *reads(*range(1, 12)),
        shortened("What was I to do?", 6_000),
        shortened("And now?", 600),
        window=32_000,
        lines=45,
    )
    run = session.run(TASK)
    assert (run.ending, run.answer) == ("provider error", "")
    assert "the request does not fit even after a cleanup: the server read 600 of about" in run.error
    assert 13 == kinds(session).count("request")


def test_an_answer_that_the_windows_end_cut_off_is_asked_for_again_after_a_cleanup(asked):
    """llama.cpp's Responses route says `completed` even then."""
    cut = Reply(message=assistant("The cap is 125"), stop="end", usage=Usage(input=3_900, output=100))
    session = asked(*reads(1, 2, 3, 4, 5, 6), cut, "The cap is 125,000.", window=4_000)
    run = session.run(TASK)
    assert (run.ending, run.answer) == ("completed", "The cap is 125,000.")


def test_where_nothing_can_leave_it_is_a_truncated_answer(asked):
    cut = Reply(message=assistant("The cap is 125"), stop="end", usage=Usage(input=1_900, output=100))
    session = asked(cut, window=2_000)
    run = session.run("Go.")
    assert (run.ending, run.answer) == ("truncated", "The cap is 125")


# ---- notes

TURNS = (*reads(*range(1, 12)), "done")


def authors(run):
    return {diff.note_author for diff in run.diffs} - {""}


def test_a_summariser_whose_window_is_smaller_is_sent_less_text_once(asked):
    sizes = []

    def note(body, *_):
        sizes.append(len(body.bytes))
        return Overflow("too long", tokens=2_000, limit=900) if len(sizes) == 1 else "## Numbers\n7"

    session = asked(*TURNS, note=note, window=3_600)
    run = session.run(TASK)
    assert run.ok, run.error
    assert sizes[1] < sizes[0]
    assert "note failed" not in kinds(session)
    assert {"answers (a test's)"} == authors(run)
    assert [2_000] == [item["tokens"] for item in data(session, "overflow")]


def test_where_that_does_not_fit_either_the_note_is_written_by_rules(asked):
    session = asked(*TURNS, note=Overflow("too long", tokens=2_000, limit=900), window=3_600)
    run = session.run(TASK)
    assert run.ok, run.error
    assert {"rules"} == authors(run)
    failed = kinds(session).count("note failed")
    assert failed > 0
    assert 2 * failed == kinds(session).count("note request") == kinds(session).count("overflow") + failed


@pytest.mark.parametrize("stop", ["cut", "refused"])
def test_a_note_that_did_not_come_to_its_end_is_none(asked, stop):
    note = Reply(message=assistant("## Decisions\nWe de"), stop=stop)
    session = asked(*TURNS, note=note, window=3_600)
    run = session.run(TASK)
    assert run.ok
    assert {"rules"} == authors(run)
    assert "We de" not in "".join(diff.note for diff in run.diffs)


# ---- other faults


def test_what_had_come_of_a_reply_stays_in_the_record(asked):
    partial = {"role": "assistant", "parts": [{"type": "text", "text": "half a sent"}]}
    session = asked(ProviderFault("the connection was lost", partial=partial), "went on")
    run = session.run("Go.")
    assert run.ending == "provider error"
    assert [{"text": "the connection was lost", "partial": partial}] == data(session, "provider error")
    assert [user("Go.").text] == [message.text for message in session.live.assemble()[1:]]
    assert session.run("Go on.").ok
