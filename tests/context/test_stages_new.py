"""Squeeze and reseed, and what lean, trim, compact and priority do otherwise than the pressure cycle.

Rules that turn on a single token are asked of the fold, in integers; the others of a context with texts.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from ethang_nb.context.counting import MESSAGE_OVERHEAD
from ethang_nb.context.decision import Decision
from ethang_nb.context.events import (
    Cooled,
    Event,
    MessageAdded,
    Pinned,
    RequestPoint,
    ResultAdded,
    Unpinned,
    UsageReported,
    WindowChanged,
    WorkBegun,
)
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import Ledger, Result
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.planner import cleanup, decide, new_work, uncertain
from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.policy import Policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.squeezing import squeeze
from ethang_nb.context.state import State
from ethang_nb.context.window import Levels, Window
from tests.context.builders import WORDS, fill_up, live, turn, watched, words

# ---- in integers


def fold(*events: Event, rules: str | Policy = "ethang", total: int = 6_000, **fields: object) -> State:
    """The state after these events; of a window of 6,000, 4,800 are usable."""
    return fold_on(State(Settings.of(Window.of(total), policy(rules)), Ledger(), **fields), *events)  # type: ignore[arg-type]


def fold_on(state: State, *events: Event) -> State:
    for event in events:
        state, _ = step(state, event)
    return state


def said(kind: str, tokens: int) -> Event:
    return MessageAdded(kind=kind, tokens=tokens)  # type: ignore[arg-type]


def answered(tokens: int, *, again: int = 0, line: int = 20, squeezed: int = 0) -> list[Event]:
    """A tool turn of 10 tokens and one result."""
    result = Result(tokens, line, again, "full", squeezed)
    return [MessageAdded(kind="turn", tokens=10, calls=1), ResultAdded(result=result)]


def outcome(state: State) -> str | None:
    decision = new_work(state)
    return None if decision is None else decision.outcome


# ---- reseed: when


@pytest.mark.parametrize(
    ("rules", "level"), [("ethang", 200), ("lean", 200), ("reseed", 300)]
)  # fmt: skip
def test_a_piece_of_work_starts_from_the_core_at_the_reseed_level_and_not_a_token_below(rules, level):
    assert level == POLICIES[rules].reseed
    at = 4_800 * level // 1000
    assert outcome(fold(said("user", 10), said("assistant", at - 11), rules=rules)) is None
    assert "reseed" == outcome(fold(said("user", 10), said("assistant", at - 10), rules=rules))


@pytest.mark.parametrize("rules", ["pressure", "trim", "compact", "priority"])
def test_a_policy_without_the_stage_never_starts_from_the_core_by_itself(rules):
    state = fold(said("user", 10), said("assistant", 3_000), rules=rules)
    assert outcome(state) is None
    assert not uncertain(state)


def test_a_level_without_the_stage_does_nothing():
    rules = Policy(name="level alone", stages=("evict",), reseed=200)
    assert outcome(fold(said("user", 10), said("assistant", 3_000), rules=rules)) is None


def test_only_between_pieces_of_work_never_at_a_request():
    state = fold(said("user", 10), *[event for _ in range(10) for event in answered(240)])
    assert "nothing" == decide(state).outcome
    assert "cleanup" == cleanup(state, asked=True).outcome
    assert "reseed" == outcome(state)


def test_a_start_that_frees_less_than_the_minimum_is_skipped_and_says_so_once():
    # 960 of 4,800 are the level, 720 the minimum: the first task, which stays, takes what there is.
    state = fold(said("user", 300), said("assistant", 700))
    decision = new_work(state)
    assert decision is not None
    assert ("idle", "reseed") == (decision.outcome, decision.cause)
    assert decision.after is decision.before
    found = []
    for _ in range(3):
        state, decision = step(state, WorkBegun())
        found.append(decision)
        state = fold_on(state, said("user", 5), RequestPoint())
    assert [None, None] == found[1:]
    assert 1_015 == state.total


def test_what_is_skipped_is_told_to_the_person_once():
    context, chronicle = watched()
    context.append(user(words(400)))
    context.append(assistant(words(600)))
    for _ in range(4):
        context.begin()
        context.append(user("go on"))
        context.request()
    (notice,) = chronicle.notices
    assert "720" in notice


def test_it_is_said_again_after_a_landing():
    state = fold(said("user", 1_200), said("assistant", 200), WorkBegun())
    assert outcome(state) is None
    state = fold_on(state, *[event for _ in range(70) for event in answered(30)], RequestPoint())
    assert (
        1_200 + 480 + 3 * 40 <= state.total < 1_200 + 80 + 720
    )  # as much as before would be freed: too little
    assert "idle" == outcome(state)


def test_at_least_the_minimum_to_the_token():
    assert "idle" == outcome(fold(said("user", 400), said("assistant", 719)))
    assert "reseed" == outcome(fold(said("user", 400), said("assistant", 720)))


# ---- reseed: uncertain


BELOW = (said("user", 10), said("assistant", 800))
"""810 of 4,800: below the level of 960, and a start from the core would free more than the minimum of 720."""


def test_below_the_level_and_certain_work_goes_on():
    state = fold(*BELOW, RequestPoint(), UsageReported(reported=810, own=810))
    assert not uncertain(state)
    assert outcome(state) is None


def test_uncertain_when_the_last_reports_were_phantoms_all():
    state = fold(*BELOW, RequestPoint(), UsageReported(reported=9_000, own=810))
    assert uncertain(state)
    assert "reseed" == outcome(state)
    assert not uncertain(fold_on(state, UsageReported(reported=820, own=810)))  # one good report is enough


def test_uncertain_when_a_report_is_missing_that_this_provider_had_given_before():
    state = fold(*BELOW, RequestPoint(), UsageReported(reported=810, own=810), WorkBegun(), said("user", 5))
    assert not uncertain(state)  # nothing was sent yet, so nothing is missing
    state = fold_on(state, RequestPoint())
    assert uncertain(state)
    assert "reseed" == outcome(state)


def test_a_provider_that_never_reports_is_no_reason_to_doubt():
    assert not uncertain(fold(*BELOW, RequestPoint()))


def test_uncertain_when_the_tokenizer_is_not_ours_no_report_came_and_the_band_straddles_the_level():
    # The estimate may be 1,300 ‰ of what we count: 810 may be 1,053, over the level; 730 may be 949, below it.
    assert not uncertain(fold(*BELOW, exact=True))
    state = fold(*BELOW, exact=False)
    assert uncertain(state)
    assert "reseed" == outcome(state)
    assert not uncertain(fold(said("user", 10), said("assistant", 720), exact=False))
    assert not uncertain(fold_on(state, RequestPoint(), UsageReported(reported=900, own=810)))


def test_what_one_piece_of_work_reported_is_not_held_against_the_next():
    state = fold(*BELOW, RequestPoint(), UsageReported(reported=9_000, own=810))
    state = fold_on(state, WorkBegun(), said("user", 5), RequestPoint(), UsageReported(reported=20, own=20))
    assert not uncertain(state)


# ---- reseed: cool


def test_cool_forces_the_next_start_from_the_core_whatever_the_fill_and_only_that_one():
    state = fold(said("user", 10), said("assistant", 100), Cooled())
    assert "reseed" == outcome(state)
    state = fold_on(state, WorkBegun(), said("user", 5), said("assistant", 100))
    assert [0, 2, 3] == state.numbers
    assert outcome(state) is None


@pytest.mark.parametrize("rules", sorted(POLICIES))
def test_cool_works_under_every_policy_and_a_cleanup_does_not_forget_it(rules):
    state = fold(
        said("user", 10), *[event for _ in range(30) for event in answered(200)], Cooled(), rules=rules
    )
    state = fold_on(state, RequestPoint(), RequestPoint())
    assert "reseed" == outcome(state)


# ---- reseed: what stands afterwards


def worked(rules: str = "ethang") -> LiveContext:
    """A context after a piece of work: the task, a rule in its words, a pin by hand, a nudge, many results."""
    context = live(rules=rules)
    context.append(user("the first task. Never open file9.txt."))
    context.pin("keep fact 7")
    fill_up(context, 300, 12)
    return context


def reseed(context: LiveContext) -> Decision:
    decision = context.begin()
    assert decision is not None and decision.outcome == "reseed"
    return decision


def test_all_but_the_first_task_leaves_and_the_next_user_message_is_the_task():
    context = worked()
    reseed(context)
    assert [0] == context.state.numbers
    context.append(user("the second task"))
    context.append(assistant("working"))
    assert [0, context.state.task] == [row.id for row in context.state.rows if row.task]
    fill_up(context, 300, 8)
    reseed(context)
    assert [0] == context.state.numbers  # the task of the piece that ended leaves, the first one stays
    assert "the first task" in context.assemble()[1].text


def test_every_pin_stands_in_the_core_word_for_word():
    context = worked()
    assert not any(pin.core for pin in context.pins if pin.segment)
    reseed(context)
    assert ["Never open file9.txt.", "keep fact 7"] == sorted(pin.text for pin in context.pins if pin.core)
    system = context.assemble()[0].text
    assert all(pin.text in system for pin in context.pins)


def test_a_pin_that_was_lifted_is_not_in_the_core_and_frees_its_message():
    context = worked()
    rule = next(pin for pin in context.pins if "file9" in pin.text)
    context.unpin(rule.id)
    reseed(context)
    assert "Never open" not in context.assemble()[0].text


def test_notes_and_nudges_are_gone_and_the_nudge_is_armed_again():
    context = worked()
    fill_up(context, 700, 12)
    assert context.state.notes
    reseed(context)
    assert ((), ()) == (context.state.notes, context.state.passing)
    assert context.state.armed
    assert context.pending is None
    assert not any(message.kind in ("note", "nudge") for message in context.assemble())


def test_the_core_points_to_the_newest_results_and_takes_no_more_than_was_reserved():
    context = worked()
    reseed(context)
    system = context.assemble()[0].text
    block = system.split("# Core", 1)[1]
    assert WORDS.count("# Core" + block) <= context.state.core
    pointed = [number for number in range(30) if f"file:f{number}.txt#L1-9@0a1b2c3d" in block]
    assert pointed and pointed == list(range(pointed[0], 13))  # the newest, without a gap
    assert len(pointed) <= 10
    # What is sent is no more than what the state says.
    assert (
        sum(MESSAGE_OVERHEAD + WORDS.count(message.text) for message in context.assemble())
        <= context.state.total
    )


def test_more_pointers_have_room_in_a_larger_window_and_ten_are_the_most():
    context = live(60_000)
    context.append(user("go"))
    fill_up(context, 900, 14)
    reseed(context)
    block = context.assemble()[0].text
    assert list(range(5, 15)) == [n for n in range(30) if f"file:f{n}.txt#L1-9@0a1b2c3d" in block]


def test_the_plan_is_an_upper_bound_also_for_results_without_an_address_of_their_own():
    context = live()
    context.append(user("go"))
    fill_up(context, 300, 8, address=False)
    decision = reseed(context)
    assert decision.after.total >= sum(MESSAGE_OVERHEAD + WORDS.count(m.text) for m in context.assemble())
    assert "log://" in context.assemble()[0].text


def test_a_start_that_would_not_fit_hard_is_not_made():
    pins = [Pinned(id=number, row=0, line=950) for number in range(1, 6)]
    state = fold(said("user", 100), *[event for _ in range(20) for event in answered(300)], *pins)
    assert (6_300, 4_800) == (state.total, state.hard)
    decision = new_work(state)
    assert decision is not None
    assert ("idle", "reseed", 0) == (decision.outcome, decision.cause, decision.lacks)
    assert "reseed" == outcome(fold_on(state, Unpinned(id=5)))


def test_by_hand_it_is_made_below_the_level_too():
    context = live()
    context.append(user("go"))
    turn(context, 1, 300)
    decision = context.reseed()
    assert decision is not None and decision.outcome == "reseed"
    assert [0] == context.state.numbers


# ---- squeeze

SQUEEZES = Policy(name="squeezes", stages=("intake", "squeeze", "collapse", "evict", "shrink"), entry_cap=900)


def noisy(context: LiveContext, number: int, lines: int = 70) -> None:
    """A tool turn whose result says one line of six words again and again."""
    turn(
        context, number, 0, text="\n".join([f"r{number} begins"] + ["the same line once again here"] * lines)
    )


def test_off_unless_a_policy_names_it():
    assert not any("squeeze" in item.stages for item in POLICIES.values())
    context = live()
    context.append(user("go"))
    for number in range(10):
        noisy(context, number)
    assert {0} == {result.squeezed for row in context.state.rows for result in row.results}
    assert "squeeze" not in {move.act for move in cleanup(context.state, asked=True).moves}


def test_old_output_is_rewritten_in_place_by_rule_and_keeps_its_address():
    context = live(rules=SQUEEZES)
    context.append(user("go"))
    for number in range(9):
        noisy(context, number)
    whole = context.entries[1].messages[1].results[0].text
    context.ask_cleanup()
    context.request()
    squeezed = context.state.row(1).results[0]
    assert ("squeezed", 0) == (squeezed.form, len(context.state.notes))
    shown = context.entries[1].forms(context.state.row(1), WORDS)[1].results[0]
    text, _, said = shown.text.rpartition("\n")
    assert squeeze(whole) == text and shown.address in said
    assert shown.address.startswith("log://")
    assert (
        squeezed.tokens == MESSAGE_OVERHEAD + WORDS.count(shown.text) < MESSAGE_OVERHEAD + WORDS.count(whole)
    )


def test_oldest_first_down_to_the_landing_level_and_never_a_segment_that_stays():
    events = [event for _ in range(10) for event in answered(300, squeezed=100)]
    state = fold(said("user", 100), *events, rules=SQUEEZES)  # 3,200; landing at 1,920
    decision = cleanup(state, asked=True)
    assert [("squeeze", row) for row in range(1, 8)] == [(move.act, move.row) for move in decision.moves][:7]
    few = fold(said("user", 100), *events[:14], rules=SQUEEZES)  # 2,270: two of them are enough
    decision = cleanup(few, asked=True)
    assert [1, 2] == [move.row for move in decision.moves]
    assert 1_870 == decision.after.total


def test_what_is_not_made_shorter_by_rule_stays_for_the_stages_after_it():
    plain, noise = answered(300), answered(300, squeezed=120)
    state = fold(
        said("user", 10),
        *plain,
        *noise,
        *plain,
        *noise,
        *[e for _ in range(4) for e in plain],
        rules=SQUEEZES,
    )
    decision = cleanup(state, asked=True)
    acts = {move.row: move.act for move in decision.moves}
    assert ("squeeze", "squeeze") == (acts[2], acts[4])
    assert acts.get(1, "collapse") == "collapse"


def test_a_squeezed_result_is_not_squeezed_again_but_may_become_its_line():
    events = [event for _ in range(13) for event in answered(300, squeezed=250)]
    state = fold(said("user", 10), *events, RequestPoint(), rules=SQUEEZES)
    forms = [row.results[0].form for row in state.rows[1:]]
    lines = forms.count("stub")
    assert ["stub"] * lines + ["squeezed"] * (10 - lines) + ["full"] * 3 == forms
    assert 0 < lines < 10  # what was squeezed first became a line after it, as far as the landing level asks
    state = fold_on(state, *events[:16])
    acts = {move.row: move.act for move in cleanup(state, asked=True).moves}
    assert {"collapse"} == {acts[row] for row in range(lines + 1, 11) if row in acts}
    assert not set(range(1, lines + 1)) & set(acts)


# ---- lean


def batch_level() -> int:
    """Where lean's batches begin: tokens of a usable 4,800."""
    return 4_800 * (POLICIES["lean"].collapse_at or 0) // 1000


def test_lean_collapses_early_all_but_the_last_result_and_writes_no_note():
    context, chronicle = watched(rules="lean")
    context.append(user("go"))
    while context.state.total < batch_level():
        context.request()
        assert "nothing" == chronicle.last.outcome
        turn(
            context, context.state.next_row, 240, address=f"file:f{context.state.next_row}.txt#L1-9@0a1b2c3d"
        )
    before = context.state
    decision = context.request().decision
    assert ("cleanup", True) == (decision.outcome, decision.early)
    forms = [row.results[0].form for row in context.state.rows if row.results]
    assert ["stub"] * (len(forms) - 1) + ["full"] == forms
    assert () == context.state.notes
    assert before.numbers == context.state.numbers
    assert decision.gain >= before.settings.early_minimum


def test_lean_leaves_a_batch_that_frees_less_than_its_minimum_for_later():
    settings = fold(rules="lean").settings
    old = settings.early_minimum + 20  # its line takes 20
    few = [said("user", batch_level() - 200 - old), *answered(old - 1), *answered(189 + 2)]
    assert "nothing" == decide(fold(*few, rules="lean")).outcome
    enough = [said("user", batch_level() - 200 - old), *answered(old), *answered(189 + 2)]
    assert "cleanup" == decide(fold(*enough, rules="lean")).outcome


def test_lean_says_little_and_cleans_as_ethang_does_where_that_is_not_enough():
    """Early batches are below the levels: a nudge and a cleanup with its note come as they come in ethang."""
    talk = [event for _ in range(40) for event in (said("assistant", 85), *answered(5, line=9))]
    state = fold(said("user", 10), *talk, rules="lean")
    assert state.total >= state.cleanup_at
    decision = decide(state)
    assert ("cleanup", False, True) == (decision.outcome, decision.early, decision.writes_note)
    nudged = fold(said("user", 10), *talk[:111], rules="lean")
    assert "nudge" == decide(nudged).outcome


@pytest.mark.parametrize("number", [1, 2, 3])
def test_after_a_batch_the_next_request_plans_nothing(number):
    events = [event for _ in range(6 * number) for event in (*answered(230), RequestPoint())]
    state = fold(said("user", 10), *events, rules="lean")
    assert "nothing" == decide(state).outcome


# ---- trim


def trimmed(turns: int = 20) -> LiveContext:
    context, _ = watched(rules="trim")
    context.append(user("the task"))
    fill_up(context, 500, turns)
    context.request()
    return context


def test_trim_acts_where_it_does_not_fit_and_stops_where_it_does():
    events = [event for _ in range(20) for event in answered(230)]
    fits = fold(said("user", 0), *events, rules="trim")
    assert (4_800, "nothing") == (fits.total, decide(fits).outcome)
    over = fold(said("user", 1), *events, rules="trim")
    decision = decide(over)
    # One segment frees 240, the line that says so is reserved with 60.
    assert ("cleanup", [1]) == (decision.outcome, [move.row for move in decision.moves])
    assert 4_801 - 240 + 60 == decision.after.total


def test_trim_takes_the_oldest_segment_that_may_leave_whatever_it_is_and_keeps_task_and_newest():
    state = fold(
        said("user", 50), said("assistant", 1_500), said("user", 1_500), *answered(1_500), said("user", 400),
        *answered(300), rules="trim",
    )  # fmt: skip
    decision = decide(state)
    assert [1] == [move.row for move in decision.moves]
    later = fold_on(decision.after, said("assistant", 1_500))
    assert [2] == [move.row for move in decide(later).moves]
    assert {0, 4} <= set(decide(later).after.numbers)


def test_trim_leaves_one_line_that_says_what_left_and_no_note():
    context = trimmed()
    (note,) = context.state.notes
    message = next(message for message in context.assemble() if message.kind == "note")
    assert "\n" not in message.text
    left = 20 - sum(row.kind == "turn" for row in context.state.rows)
    assert f"[{left} segments left the window" in message.text and "log://" in message.text
    assert MESSAGE_OVERHEAD + WORDS.count(message.text) <= note.tokens <= 60
    assert context.pending is not None and context.pending.rule_only


def test_the_line_of_trim_counts_also_what_left_before():
    context = trimmed(15)
    first = next(message.text for message in context.assemble() if message.kind == "note")
    fill_up(context, 500, 10)
    context.request()
    second = next(message.text for message in context.assemble() if message.kind == "note")
    assert first != second
    assert 1 == sum(message.kind == "note" for message in context.assemble())
    left = 25 - sum(row.kind == "turn" for row in context.state.rows)
    assert f"[{left} segments" in second


# ---- compact


def test_compact_turns_all_but_the_last_four_segments_into_one_note_at_750():
    events = [event for _ in range(14) for event in answered(240)]
    below = fold(said("user", 99), *events, rules="compact")
    assert (3_599, "nothing") == (below.total, decide(below).outcome)
    state = fold(said("user", 100), *events, rules="compact")
    decision = decide(state)
    assert ("cleanup", True) == (decision.outcome, decision.writes_note)
    assert [0, 11, 12, 13, 14] == decision.after.numbers
    assert 100 + 480 + 4 * 250 == decision.after.total


def test_the_note_of_compact_is_droppable_and_the_next_stands_for_it_too():
    context, _ = watched(rules="compact")
    context.append(user("go"))
    fill_up(context, 340, 13)
    context.request()
    (first,) = context.state.notes
    context.write_note("## Decisions\nWe take the blue one.", reference="t", author="t")
    turns = 13
    while context.state.notes[-1].id == first.id:
        fill_up(context, 340, 1)
        context.request()
        turns += 1
    (second,) = context.state.notes
    assert (first.id + 1, first.generation + 1) == (second.id, second.generation)
    text = next(message.text for message in context.assemble() if message.kind == "note")
    assert "blue" not in text  # rewritten from the record, never from a note
    assert context.pending is not None
    gone = turns - sum(row.kind == "turn" for row in context.state.rows)
    assert gone == len(context.pending.departed)


def test_compact_spills_over_4_000_characters_and_keeps_the_first_600():
    kept: list[str] = []
    context = live(
        200_000, rules="compact", spill=lambda _tool, text: kept.append(text) or "spill://0a1b2c3d4e5f"
    )
    context.append(user("go"))
    turn(context, 1, 0, text="x" * 4_000)
    turn(context, 2, 0, text="y" * 4_001)
    first, second = (context.entries[row].messages[1].results[0].text for row in (1, 2))
    assert "x" * 4_000 == first
    assert ["y" * 4_001] == kept
    assert "y" * 600 in second and "y" * 601 not in second and "spill://0a1b2c3d4e5f" in second


def test_compact_does_nothing_with_four_segments_or_fewer():
    """Seed 002: "a fill ratio and a minimum amount of history"."""
    state = fold(said("user", 100), *[event for _ in range(4) for event in answered(900)], rules="compact")
    assert state.total >= state.cleanup_at
    assert "idle" == decide(state).outcome


# ---- priority


def ranked(*sizes: int) -> list[Event]:
    """Recalled memory, talk, then tool turns of these sizes."""
    memory = [said("memory", 150), said("assistant", 150), said("user", 150)]
    return [said("user", 50), *memory, *[event for size in sizes for event in answered(size)]]


def test_priority_collapses_from_700_and_evicts_nothing_below_900():
    sizes = [270] * 10
    below = fold(*ranked(*sizes, 49), rules="priority")
    assert (3_359, "nothing") == (below.total, decide(below).outcome)
    state = fold(*ranked(*sizes, 50), rules="priority")
    decision = decide(state)
    assert {"collapse"} == {move.act for move in decision.moves}
    assert () == decision.after.notes
    # Nothing but talk is old: between the two levels there is nothing to do.
    talk = fold(said("user", 50), *[said("assistant", 400)] * 10, rules="priority")
    assert 700 <= talk.fill < 900
    assert "idle" == decide(talk).outcome


def test_from_900_on_what_collapse_does_not_free_is_evicted_and_a_note_stands_for_it():
    talk = [said("assistant", 427)] * 10
    assert "idle" == decide(fold(said("user", 49), *talk, rules="priority")).outcome
    decision = decide(fold(said("user", 50), *talk, rules="priority"))
    assert ("cleanup", True) == (decision.outcome, decision.writes_note)
    assert {"evict"} == {move.act for move in decision.moves}
    assert decision.after.total <= decision.before.landing_at


def test_priority_lets_tool_turns_leave_first_then_older_turns_last_recalled_memory():
    def left(landing: int) -> set[int]:
        rules = replace(POLICIES["priority"], levels=Levels(nudge=700, cleanup=700, landing=landing))
        lost = [event for _ in range(10) for event in answered(375, line=375)]  # no line is shorter
        state = fold(*ranked(), *lost, rules=rules)
        assert state.fill >= 900
        return {move.row for move in decide(state).moves if move.act == "evict"}

    turns = {4, 5, 6, 7, 8, 9, 10}
    assert left(600) < turns and min(left(600)) == 4  # some, the oldest
    assert turns == left(460)
    assert turns | {2} == left(420)  # then what the model said, the oldest of its rank
    assert turns | {1, 2} == left(395)  # then what was recalled


def test_priority_keeps_the_last_three_turns_verbatim():
    state = fold(*ranked(*[400] * 11), rules="priority")
    assert state.fill >= 900
    after = decide(state).after
    assert [("full", 400)] * 3 == [(row.results[0].form, row.results[0].tokens) for row in after.rows[-3:]]


def test_priority_over_hard_does_not_wait_for_900_of_a_smaller_usable():
    """What does not fit hard is evicted at any level."""
    rules = replace(POLICIES["priority"], evict_at=1000, denominator="total")
    state = fold(said("user", 50), *[said("assistant", 480)] * 10, rules=rules)
    assert state.hard < state.total < state.settings.evict_at
    assert ("cleanup", True) == (decide(state).outcome, decide(state).forced)


# ---- every policy


@pytest.mark.parametrize("rules", sorted(POLICIES))
def test_a_window_or_policy_that_changes_is_looked_at_afresh(rules):
    state = fold(said("user", 10), said("assistant", 4_700), RequestPoint(), rules=rules)
    state = fold_on(state, WindowChanged(window=Window.of(60_000)))
    assert ("", True) == (state.said, state.armed)
    assert "nothing" == decide(state).outcome


@pytest.mark.parametrize("rules", sorted(POLICIES))
def test_the_last_resort_is_every_policys(rules):
    """The newest results are cut to no less than 100 tokens before anything is stuck."""
    call = MessageAdded(kind="turn", tokens=1_000, calls=8)
    results = [ResultAdded(result=Result(700, 20, 0), judged=True) for _ in range(8)]
    state = fold(said("user", 3_000), call, *results, rules=rules)
    decision = decide(state)
    assert ("cleanup", True, True) == (decision.outcome, decision.forced, decision.last_resort)
    assert 4_800 == decision.after.total
    assert all(result.tokens >= 100 for result in decision.after.rows[-1].results)


@pytest.mark.parametrize("rules", sorted(POLICIES))
def test_stuck_only_where_not_even_that_helps(rules):
    call = MessageAdded(kind="turn", tokens=1_001, calls=8)
    results = [ResultAdded(result=Result(700, 20, 0), judged=True) for _ in range(8)]
    state = fold(said("user", 3_000), call, *results, rules=rules)
    decision = decide(state)
    assert "stuck" == decision.outcome
    assert decision.after is decision.before


@pytest.mark.parametrize("rules", sorted(POLICIES))
def test_parallel_results_that_jump_over_all_levels_are_caught_as_they_arrive(rules):
    """Seed 003: four results, each under the limit, from 62 % to over 100 %."""
    context = live(rules=replace(policy(rules), entry_least=1_000, entry_cap=300, entry_chars=None))
    context.append(user("go"))
    while context.state.fill < 620:
        turn(context, context.state.next_row, 500)
    calls = [ToolCall(id=f"p{number}", name="run", arguments="{}") for number in range(4)]
    context.append(assistant("", calls))
    for call in calls:
        context.append(tool(ToolResult(call_id=call.id, name="run", text=words(900, "x"))))
    context.request()
    assert context.state.total <= context.state.usable
