"""Each stage's rule, on small contexts whose tokens can be counted by eye."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.events import WindowChanged
from ethang_nb.context.explain import as_plan, next_cleanup
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.outline import segments
from ethang_nb.context.planner import cleanup, decide
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import STAGES, Policy
from ethang_nb.context.stages import registry
from ethang_nb.context.stages.nudge import NUDGE_MOST
from ethang_nb.context.window import Window
from ethang_nb.context.wording import nudge
from ethang_nb.errors import Misuse
from ethang_nb.tokens.registry import counter
from tests.context.builders import fill_up, live, picture, turn, watched, words


def acts(context, act):
    return [move for move in cleanup(context.state, asked=True).moves if move.act == act]


def test_every_stage_a_policy_may_name_acts_at_some_moment():
    tables = (registry.AT_ENTRY, registry.AT_REQUEST, registry.AT_CLEANUP, registry.AT_WORK)
    assert sorted(STAGES) == sorted(name for table in tables for name in table)
    assert set(registry.EARLY) <= set(registry.AT_CLEANUP)


# ---- intake


def test_a_result_over_the_entry_limit_is_cut_and_its_whole_text_is_kept_at_an_address_first():
    kept = []
    context = live(spill=lambda tool, text: kept.append(text) or "spill://0123456789ab")
    context.append(user("go"))
    turn(context, 1, 2_000)
    result = context.entries[1].messages[1].results[0]
    assert [words(2_000, "w1")] == kept
    assert context.state.rows[1].results[0].tokens <= context.state.entry_tokens
    assert ("spill://0123456789ab", "read") == (result.address, result.again)
    assert result.text.startswith("w1 w1") and result.text.rstrip().endswith("w1")
    assert "the whole text: spill://0123456789ab" in result.text


def test_a_page_that_has_an_address_is_cut_but_never_spilled_again():
    kept = []
    context = live(spill=lambda tool, text: kept.append(text) or "spill://0123456789ab")
    context.append(user("go"))
    turn(context, 1, 2_000, address="file:big.txt#L1-900@0a1b2c3d")
    assert [] == kept
    assert "file:big.txt#L1-900@0a1b2c3d" == context.entries[1].messages[1].results[0].address


def test_four_parallel_results_under_the_limit_that_would_jump_over_the_window_are_caught_together():
    """Seed 003: the single jump that skips both thresholds."""
    context = live(rules=Policy(name="wide", entry_least=1_200, entry_cap=900))
    context.append(user("go"))
    fill_up(context, 700, 4)
    calls = [ToolCall(id=f"p{number}", name="run", arguments="{}") for number in range(4)]
    context.append(assistant("", calls))
    for number, call in enumerate(calls):
        context.append(tool(ToolResult(call_id=call.id, name="run", text=words(1_150 + number, "x"))))
    assert ["full", "full", "full", "stub"] == [result.form for result in context.state.rows[-1].results]
    context.request()
    assert context.state.total <= context.state.usable


def test_the_largest_results_become_one_line_first_ties_in_call_order():
    context = live(1_600, rules=Policy(name="wide", entry_cap=900, entry_least=800))
    context.append(user("go"))
    calls = [ToolCall(id=f"p{number}", name="run", arguments="{}") for number in range(3)]
    context.append(assistant("", calls))
    for call, size in zip(calls, (500, 600, 600), strict=True):
        context.append(tool(ToolResult(call_id=call.id, name="run", text=words(size, "x"))))
    assert ["full", "stub", "full"] == [result.form for result in context.state.rows[-1].results]


def test_a_message_of_the_person_is_never_cut_but_refused_with_value_and_limit():
    context = live(2_000)
    with pytest.raises(Misuse, match=r"this message takes 3,004 tokens; .* does not fit the 1,600"):
        context.append(user(words(3_000)))
    assert () == context.state.rows


# ---- nudge


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("offers", [True, False])
def test_a_nudge_takes_no_more_than_is_kept_free_for_it(encoding, offers):
    message = user(nudge(1_000, 1_000, offers=offers), kind="nudge")
    assert message_tokens(message, counter(encoding)) <= NUDGE_MOST


def test_the_nudge_comes_once_between_its_level_and_the_cleanup_level_and_is_counted():
    context, chronicle = watched()
    context.append(user("go"))
    fill_up(context, 700, 5)
    context.request()
    assert "nudge" == context.state.rows[-1].kind
    tokens = context.state.total
    context.request()
    assert tokens == context.state.total
    assert [("nudge",)] == [row.events for row in chronicle.steps if row.events]


@pytest.mark.parametrize("tools", [(), (ToolSpec(name="release_context"),)])
def test_the_nudge_names_the_level_reached_what_happens_otherwise_and_the_tool_where_there_is_one(tools):
    """The level, not the fill: so it has the same tokens every time, and a replay need not write it anew."""
    context, _ = watched(tools=tools)
    context.append(user("go"))
    fill_up(context, 700, 5)
    context.request()
    assert context.state.fill > 700
    text = context.entries[context.state.rows[-1].id].messages[0].text
    assert "more than 70.0 % full" in text and "At 80.0 % a cleanup" in text
    assert bool(tools) == ("release_context" in text)


def test_a_nudge_is_no_segment_of_the_conversation_and_has_a_number_of_its_own():
    context, _ = watched()
    context.append(user("go"))
    fill_up(context, 700, 5)
    before = context.state.next_row
    context.request()
    assert (before, -1) == (context.state.next_row, context.state.rows[-1].id)
    assert "nudge:1" == segments(context)[-1].id


def test_a_landing_takes_the_nudge_out_and_arms_it_again_only_below_its_level():
    context, chronicle = watched()
    context.append(user("go"))
    fill_up(context, 700, 30)
    kinds = [row.kind for row in context.state.rows]
    assert kinds.count("nudge") <= 1
    assert sum("nudge" in row.events for row in chronicle.steps) >= 2


def test_pressure_sends_its_nudge_once_per_session():
    context, chronicle = watched(rules="pressure")
    context.append(user("go"))
    fill_up(context, 700, 40)
    assert 1 == sum("nudge" in row.events for row in chronicle.steps)


# ---- collapse


def test_collapse_takes_what_can_be_read_again_first_then_run_again_last_what_only_the_record_has():
    context = live()
    context.append(user("go"))
    for number, again in enumerate(("lost", "run", "read", "lost", "run", "read", "read", "read")):
        call = ToolCall(id=f"c{number}", name="t", arguments="{}")
        context.append(assistant("", [call]))
        context.append(tool(ToolResult(call_id=call.id, text=words(480), again=again)))
    order = [move.code for move in acts(context, "collapse")]
    assert order == sorted(order, key=["read", "run", "lost"].index)
    assert "read" == order[0]


def test_collapse_stops_at_the_landing_level_and_never_touches_segments_that_stay():
    context = live()
    context.append(user("go"))
    for number in range(9):
        turn(context, number, 420, address=f"file:f{number}.txt#L1-9@0a1b2c3d")
    decision = cleanup(context.state, asked=True)
    collapsed = {move.row for move in decision.moves}
    assert collapsed == set(range(1, 1 + len(collapsed)))
    assert collapsed.isdisjoint({row.id for row in context.state.rows[-3:]})
    assert decision.after.total <= context.state.landing_at
    assert decision.after.total + 420 > context.state.landing_at


def test_a_collapsed_result_says_what_it_was_its_size_and_how_to_get_it_back_and_is_left_alone_after():
    context, _ = watched()
    context.append(user("go"))
    for number in range(9):
        turn(context, number, 420, address=f"file:f{number}.txt#L1-9@0a1b2c3d")
    context.request()
    line = context.entries[1].forms(context.state.row(1), context.counter)[1].text
    assert "[left the window: read_file f0.txt, 424 tokens; read again: file:f0.txt#L1-9@0a1b2c3d]" == line
    assert 0 not in [move.index for move in acts(context, "collapse") if move.row == 1]


# ---- evict


def test_whole_exchanges_leave_oldest_first_and_the_task_stays():
    context, _ = watched(rules="pressure")
    context.append(user("the task"))
    for number in range(8):
        context.append(user(f"question {number}"))
        turn(context, number, 560)
    context.request()
    titles = [context.entries[row.id].title for row in context.state.rows]
    assert "the task" == titles[0]
    # An exchange is gone whole: its question with its tool turn.
    for number in range(8):
        assert (f"question {number}" in titles) == (f"read_file f{number}.txt" in titles)
    assert "question 0" not in titles and "question 7" in titles


def test_inside_the_newest_exchange_segments_leave_oldest_first_and_its_question_stays():
    context, _ = watched(rules="pressure")
    context.append(user("the task"))
    context.append(user("the question"))
    for number in range(8):
        turn(context, number, 560)
    context.request()
    titles = [context.entries[row.id].title for row in context.state.rows]
    assert ["the task", "the question"] == titles[:2]
    assert [f"read_file f{number}.txt" for number in (5, 6, 7)] == titles[2:][-3:]


def test_ethang_has_ever_one_note_and_counts_its_generation():
    context, chronicle = watched()
    context.append(user("go"))
    fill_up(context, 700, 60)
    assert 1 == len(context.state.notes)
    assert context.state.notes[0].generation == len([diff for diff in chronicle.diffs if diff.note]) >= 3


def test_pressure_keeps_its_notes_up_to_their_cap_and_the_newest_stands_for_those_that_go():
    context, _ = watched(rules="pressure")
    context.append(user("go"))
    fill_up(context, 700, 80)
    notes = context.state.notes
    cap = context.state.usable * POLICIES["pressure"].notes_cap // 1000
    assert 1 <= len(notes) and (len(notes) == 1 or sum(note.tokens for note in notes) <= cap)
    turns_left = 80 - sum(row.kind == "turn" for row in context.state.rows)
    assert turns_left == sum(len(items) for items in context.notes._covered.values())


def test_a_step_that_does_not_pay_for_its_note_is_skipped():
    context = live(rules=Policy(name="slow", stages=("evict",), slack=1_000))
    context.append(user(words(3_000)))
    turn(context, 1, 100)
    turn(context, 2, 100)
    for number in range(3, 6):
        turn(context, number, 190)
    assert [] == acts(context, "evict")


# ---- shrink, minimum, forced, stuck


def test_a_shrunk_result_counts_as_what_it_was_cut_to_and_takes_no_more():
    context, _ = watched(rules=Policy(name="wide", entry_cap=900, entry_least=4_000, keep=2, slack=1_000))
    context.append(user("go"))
    turn(context, 1, 1_500)
    turn(context, 2, 3_200)
    context.request()
    row = context.state.row(2)
    shown = context.entries[2].forms(row, context.counter)[1]
    assert "shrunk" == row.results[0].form
    assert row.results[0].tokens - 20 < message_tokens(shown, context.counter) <= row.results[0].tokens
    assert words(3_200, "w2") == context.entries[2].messages[1].text


def test_results_that_stay_are_shrunk_largest_first_only_as_far_as_needed():
    context = live(rules=Policy(name="wide", entry_cap=900, entry_least=4_000, keep=2, slack=1_000))
    context.append(user("go"))
    turn(context, 1, 1_500)
    turn(context, 2, 3_200)
    decision = decide(context.state)
    shrunk = [move for move in decision.moves if move.act == "shrink"]
    assert [2] == [move.row for move in shrunk]
    assert decision.after.total == context.state.cleanup_at - 1


def test_a_cleanup_that_would_free_less_than_the_minimum_does_nothing_and_says_so_once():
    context, chronicle = watched(rules=Policy(name="few", stages=("evict",), note_least=400, note_most=400))
    context.append(user(words(3_350)))
    for number in range(5):
        turn(context, number, 130)
    before = context.state.rows
    plan = as_plan(context, decide(context.state))
    assert "idle" == plan.outcome and "less than the minimum of 720 tokens" in plan.reason
    context.request()
    context.request()
    assert before == context.state.rows
    assert 1 == len(chronicle.notices)


def test_when_it_does_not_fit_the_minimum_is_waived_and_the_plan_is_marked_forced():
    context = live(rules=Policy(name="tight", minimum=900))
    context.append(user("go"))
    for number in range(14):
        turn(context, number, 380)
    assert context.state.total > context.state.hard
    decision = decide(context.state)
    assert ("cleanup", True) == (decision.outcome, decision.forced)
    assert decision.after.total <= context.state.hard


def test_asked_for_the_minimum_is_waived_too():
    context = live()
    context.append(user("go"))
    for number in range(5):
        turn(context, number, 400, address=f"file:f{number}.txt#L1-9@0a1b2c3d")
    assert "nothing" == decide(context.state).outcome
    context.ask_cleanup()
    decision = decide(context.state)
    assert ("cleanup", True, False) == (decision.outcome, decision.asked, decision.forced)
    assert 0 < decision.gain < context.state.usable * 150 // 1000


def test_a_refusal_cuts_what_entered_under_a_larger_window_before_anything_else_leaves():
    context = live(64_000)
    context.append(user("go"))
    for number in range(4):
        turn(context, number, 2_400, address=f"file:f{number}.txt#L1-9@0a1b2c3d")
    context.feed(WindowChanged(window=Window.of(20_000)))
    limit = context.state.settings.entry_tokens
    before = [result.tokens for row in context.state.rows for result in row.results]
    assert min(before) > limit
    context.ask_cleanup()
    asked = decide(context.state)
    assert {"stub", "full"} == {result.form for row in asked.after.rows for result in row.results}
    context.ask_cleanup(refused=True)
    refused = decide(context.state)
    assert {("shrunk", limit)} == {(r.form, r.tokens) for row in refused.after.rows for r in row.results}
    assert {"oversized"} == {move.code for move in refused.moves}
    context.request()
    assert not context.state.refused, "it is answered"
    assert "nothing" == context.request().decision.outcome


def test_asked_for_below_the_landing_level_there_is_nothing_to_do():
    context = live()
    context.append(user("go"))
    turn(context, 1, 300)
    plan = next_cleanup(context)
    assert "idle" == plan.outcome
    assert "landing level of 40.0 % is not even reached" in plan.reason


def test_what_cannot_fit_is_stuck_names_the_part_and_changes_nothing():
    context, chronicle = watched(2_000, refuses=False)
    context.append(user(words(1_700, "big")))
    before = context.state.rows
    context.request()
    assert "stuck" == chronicle.last.outcome
    assert "the task big big" in chronicle.last.reason and "1,704" in chronicle.last.reason
    assert before == context.state.rows
    context.request()
    assert 1 == len(chronicle.notices)


def test_the_last_resort_shrinks_the_newest_results_before_it_is_stuck():
    context, chronicle = watched(2_000, rules=Policy(name="wide", entry_cap=1_000, entry_least=100_000))
    context.append(user("go"))
    calls = [ToolCall(id=f"p{number}", name="run", arguments="{}") for number in range(4)]
    context.append(assistant(words(600), calls))
    for call in calls:
        context.append(tool(ToolResult(call_id=call.id, name="run", text=words(230, "x"))))
    context.append(assistant(words(300)))
    context.request()
    assert "cleanup" == chronicle.last.outcome
    assert context.state.total <= context.state.hard


# ---- release


def test_release_collapses_what_is_offered_refuses_the_newest_and_arms_no_nudge():
    context, _ = watched()
    context.append(user("go"))
    fill_up(context, 700, 5)
    context.request()
    armed = context.state.armed
    decision = context.release([(1, 0), (2, 0), (5, 0)])
    assert {1, 2} == {move.row for move in decision.moves}
    assert armed == context.state.armed
    assert "stub" == context.state.rows[1].results[0].form


def test_the_next_cleanup_can_be_looked_at_without_changing_anything():
    context = live()
    context.append(user("go"))
    for number in range(9):
        turn(context, number, 420, address=f"file:f{number}.txt#L1-9@0a1b2c3d")
    state, sent = context.state, context.assemble()
    plan = next_cleanup(context)
    assert plan.verdicts and plan.digest and plan.price
    assert picture(state) == picture(context.state)
    assert sent == context.assemble()


# ---- reseed


def working(rules="ethang", *, size=400, turns=4, **options):
    """A context in which a piece of work was done: a task with a rule, tool turns, a pin that entered by hand."""
    context, chronicle = watched(rules=rules, **options)
    context.append(user("Read everything. Never open x.txt."))
    fill_up(context, size, turns)
    context.pin("report in EUR")
    context.request()
    return context, chronicle


@pytest.mark.parametrize(("rules", "size", "starts"), [
    ("ethang", 200, False), ("ethang", 260, True), ("lean", 260, False), ("reseed", 320, False),
    ("reseed", 400, True), ("pressure", 700, False), ("priority", 700, False),
])  # fmt: skip
def test_a_new_piece_of_work_starts_from_the_core_at_the_policys_level(rules, size, starts):
    """What collapsed early leaves `lean` below it."""
    context, _ = working(rules, size=size)
    decision = context.begin("next")
    assert starts == (decision is not None and decision.lands)
    assert starts == (1 == len(context.state.rows))


def test_what_stays_is_the_first_task_and_the_core_says_the_rest_and_where_to_read_it():
    context, chronicle = working()
    assert context.begin("next").lands
    task, core = context.assemble()[1], context.assemble()[0].text
    assert "Read everything. Never open x.txt." == task.text
    for line in (
        "- constraint: Never open x.txt.",
        "- constraint: report in EUR",
        "file:f4.txt#L1-9@0a1b2c3d",
    ):
        assert line in core
    diff = chronicle.diffs[-1]
    assert "reseed" == diff.outcome and diff.left and all(item.address for item in diff.left)
    context.append(user("The second task."))
    context.request()
    assert ["task", "task"] == [item.kind for item in segments(context) if item.kind != "core"][1:]


def test_a_note_leaves_with_a_reseed_since_the_record_holds_what_it_stood_for():
    context, _ = watched(rules=replace(POLICIES["pressure"], stages=("evict", "reseed"), reseed=200))
    context.append(user("go"))
    fill_up(context, 600, 8)
    assert context.state.notes
    assert context.begin("next").lands
    assert () == context.state.notes
    assert context.pending is None
    assert "[handoff note" not in "".join(message.text for message in context.assemble())


def test_cool_starts_the_next_piece_of_work_from_the_core_whatever_the_fill_and_once():
    context, _ = working("pressure", size=40)
    context.cool()
    assert context.begin("next").lands
    context.append(user("The second task."))
    turn(context, 90, 40)
    assert context.begin("after that") is None


def test_a_start_that_frees_less_than_the_minimum_is_skipped_and_said_once():
    context, chronicle = watched()
    context.append(user(words(900)))
    turn(context, 1, 300)
    for _ in range(2):
        context.begin("next")
    assert 2 == len(context.state.rows)
    assert 1 == len(chronicle.notices)
    assert "a start from the core would free less than the minimum of 720 tokens" in chronicle.notices[0]


@pytest.mark.parametrize(("reported", "starts"), [(10, True), (1, False)])
def test_reports_that_can_hardly_be_right_make_the_fill_uncertain_and_tip_toward_the_core(reported, starts):
    """Seed 004: "any uncertainty should tip toward rebuilding"; what is freed must still be worth it."""
    context, _ = watched(rules=replace(POLICIES["reseed"], reseed=500, minimum=10))
    context.append(user("go"))
    turn(context, 1, 300)
    context.request()
    context.usage(context.state.total * reported, context.state.total)
    decision = context.begin("next")
    assert starts == (decision is not None and decision.lands)
