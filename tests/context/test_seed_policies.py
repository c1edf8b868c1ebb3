"""The policies that are faithful to a source, against the cases of that source and the numbers it names.

`B<n>` numbers the cases of aimai's manager, compaction and spill. What the sources do that we do not (fill above 1,
silent loss, a summary that is not counted) is tested as ours, with the reason.
"""

from __future__ import annotations

import pytest

import ethang_nb as eth
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, system, tool, user
from ethang_nb.context.pairing import violations
from ethang_nb.context.policies import policy as policy_named
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy, Stuck
from ethang_nb.testing import WordCounter
from tests.context.shapes import read_back, shown

COUNTER = WordCounter()


def words(count, word="w"):
    return " ".join([word] * count)


def say(name, size):
    """A message of the assistant of `size` tokens."""
    return assistant(f"{name} " + words(size - 5))


def ask(name, size):
    return user(f"{name} " + words(size - 5))


def looked(name, size, again="lost"):
    """A tool turn of `size` tokens, its call of 10 among them."""
    address = f"file:{name}.txt#L1-9@0a1b2c3d" if again == "read" else ""
    result = ToolResult(
        call_id=name, name="look", text=f"{name} " + words(size - 15), again=again, address=address
    )
    return [assistant("", [ToolCall(id=name, name="look")]), tool(result)]


def names(messages):
    """The first word of each text."""
    return [message.text.split(" ")[0] for message in messages if message.text and message.kind == "message"]


def live(policy, total, **options):
    return LiveContext(window=Window.of(total), policy=policy_named(policy), counter=COUNTER, **options)


# ---- trim: the oldest droppable segment goes until it fits


def test_trim_measures_against_the_window_without_its_reserve_of_4000():
    """002: `ContextManager(window=200_000, output_reserve=4_000)`; what just fits is left alone."""
    task = user(words(190_996))
    fits = [task, say("old", 2_000), say("newest", 3_000)]

    plan = eth.plan(fits, 200_000, policy="trim", counter=COUNTER)
    assert (plan.window.reserve, plan.window.usable) == (4_000, 196_000)
    assert (plan.before, plan.fill_before, plan.outcome) == (196_000, 1_000, "nothing")

    plan = eth.plan([task, say("old", 2_001), say("newest", 3_000)], 200_000, policy="trim", counter=COUNTER)
    assert plan.outcome == "cleanup"
    assert [verdict.title.split(" ")[0] for verdict in plan.verdicts if verdict.act == "evict"] == ["old"]


@pytest.mark.parametrize(
    ("over", "gone"),
    [(0, []), (1, ["a"]), (40, ["a"]), (100, ["a", "b"]), (400, ["a", "b", "c", "d", "e"])],
)
def test_trim_stops_at_the_first_segment_with_which_it_fits(over, gone):
    """B7: 1,600 usable; segments of 100, a line of at most 60 says what left."""
    messages = [user(words(1_600 - 600 + over - 4)), *(say(name, 100) for name in "abcdef")]
    plan = eth.plan(messages, 2_000, policy="trim", counter=COUNTER)

    assert plan.before == 1_600 + over
    assert [verdict.title.split(" ")[0] for verdict in plan.verdicts if verdict.act == "evict"] == gone
    assert plan.after <= 1_600
    sent = plan.apply().messages
    assert names(sent)[1:] == [name for name in "abcdef" if name not in gone]


def test_trim_takes_a_later_message_of_the_person_like_any_other_segment():
    """B3: later constraints age out there; here a rule among them is pinned and moves into the core (DESIGN 10)."""
    messages = [
        user("task"),
        ask("later", 300),
        say("a", 300),
        ask("newest", 300),
        *looked("t", 300),
        say("z", 450),
    ]

    sent = eth.plan(messages, 2_000, policy="trim", counter=COUNTER).apply().messages

    assert "later" not in names(sent)
    assert names(sent)[-1] == "z"
    kept = eth.plan(
        [user("task"), user("Never open x.txt. " + words(300)), *messages[2:]],
        2_000,
        policy="trim",
        counter=COUNTER,
    ).apply()
    assert "Never open x.txt." in shown(kept.messages)


def test_trim_keeps_call_and_result_together_and_one_line_says_what_left():
    """B8, and 003: "The loss is silent"; ours is one line with tokens and where to read it."""
    messages = [user("task"), *looked("a", 400), *looked("b", 400), *looked("c", 400), *looked("d", 600)]

    plan = eth.plan(messages, 2_000, policy="trim", counter=COUNTER)
    applied = plan.apply()

    assert violations(applied.messages) == ()
    (line,) = [message for message in applied.messages if message.kind == "note"]
    assert "\n" not in line.text
    assert "left the window" in line.text
    assert "log://" in line.text
    assert COUNTER.count(line.text) + 4 <= 60
    assert [item.how for item in applied.removed] == ["evict"] * len(applied.removed)


def test_trim_says_stuck_where_the_source_reports_a_fill_above_one():
    """B9-B11: the fixed parts alone are too large."""
    plan = eth.plan([user("task"), say("a", 100)], 2_000, policy="trim", counter=COUNTER, system=words(1_900))

    assert plan.outcome == "stuck"
    assert "system" in plan.reason
    context = eth.Context(2_000, policy="trim", counter=COUNTER)
    context.append([user("task"), say("a", 100), say("newest", 1_700)])
    with pytest.raises(Stuck, match="newest"):
        context.request()


def test_trim_over_forty_turns_drops_some_and_always_fits():
    """B7-B10: 40 turns, 4,000 with 500 kept."""
    context = eth.Context(eth.window(4_000, reserve=500), policy="trim", counter=COUNTER, system="s")
    context.append(user("task"))
    dropped = 0
    for number in range(40):
        sending = context.request()
        dropped += sending.plan.lands
        sent = read_back(sending)
        assert [message.text for message in sent[:2]] == ["s", "task"]
        assert violations(sent) == ()
        assert context.budget.used <= 3_500
        context.append(looked(f"t{number}", 250))

    assert dropped >= 3
    assert names(read_back(context.request()))[-1] == "t39"


# ---- compact: at 75 % all but the last four become one droppable note


@pytest.mark.parametrize(
    ("fill", "segments", "due"),
    [
        pytest.param(900, 4, False, id="B24"),
        pytest.param(300, 14, False, id="B25"),
        pytest.param(900, 14, True, id="B26"),
        pytest.param(750, 14, True, id="at-the-level"),
        pytest.param(749, 14, False, id="below-the-level"),
    ],
)
def test_compact_is_due_at_75_percent_with_more_than_four_segments_to_leave(fill, segments, due):
    """002: `trigger_ratio=0.75, keep_recent=4`."""
    total = 16_000 * fill // 1_000
    size = total // (segments + 2)
    messages = [user(words(total - segments * size - 4)), *(say(f"s{n}", size) for n in range(segments))]

    plan = eth.plan(messages, 20_000, policy="compact", counter=COUNTER)

    assert plan.window.usable == 16_000
    assert plan.fill_before == fill
    assert plan.lands == due
    if due:
        sent = plan.apply("## Decisions\n- none").messages
        assert [message.kind for message in sent] == ["message", "note", *["message"] * 4]
        assert names(sent)[1:] == [f"s{n}" for n in range(segments - 4, segments)]


def test_compact_counts_its_note_which_the_source_does_not():
    """B19: tokens fall, the note among them."""
    messages = [user("task"), *(say(f"s{n}", 1_000) for n in range(14))]
    plan = eth.plan(messages, 20_000, policy="compact", counter=COUNTER)
    applied = plan.apply("## Decisions\n- none")

    again = eth.budget(applied.messages, 20_000, policy="compact", counter=COUNTER)

    assert plan.after < plan.before
    assert plan.note_tokens
    assert 4_000 + 5 < again.used <= plan.after
    assert again.slice("handoff notes").tokens > 0


def test_the_note_of_compact_is_droppable_and_the_next_one_stands_for_it_too():
    """B22: their summary is the first thing trimmed, and what it held is lost; ours is rewritten from the record."""
    context = eth.Context(8_000, policy="compact", counter=COUNTER)
    context.append(user("task"))
    landings, titles = 0, []
    for number in range(60):
        plan = context.request().plan
        if plan.lands:
            landings += 1
            context.note(f"## Numbers\n- MARK{landings} is the number of this note")
            notes = [item for item in context.segments if item.kind == "note"]
            assert len(notes) == 1
            assert notes[0].droppable
            titles.append(notes[0].title)
            assert f"MARK{landings}" in shown(context.request())
            assert landings == 1 or f"MARK{landings - 1}" not in shown(context.request())
        context.append(say(f"s{number}", 300))

    assert landings >= 2
    assert len(set(titles)) == landings


@pytest.mark.parametrize(("size", "spills"), [(4_000, False), (4_001, True), (30_000, True)])
def test_compact_spills_over_4000_characters_and_shows_the_first_600(size, spills):
    """B28-B30: strictly over; the notice names tool, characters, lines, reference, and how to read on."""
    kept = []
    text = "".join(chr(97 + at % 26) if at % 50 else "\n" for at in range(1, size + 1))
    context = eth.Context(
        40_000,
        policy="compact",
        spill=lambda name, whole: kept.append((name, whole)) or "spill://0123456789ab",
    )
    context.append([user("task"), assistant("", [ToolCall(id="a", name="look")])])
    context.append(tool(ToolResult(call_id="a", name="look", text=text)))

    (result,) = [message for message in read_back(context.request()) if message.results]

    assert kept == ([("look", text)] if spills else [])
    if not spills:
        assert result.text == text
    else:
        assert text[:600].strip() in result.text
        assert text[:700].strip() not in result.text
        assert "look" in result.text
        assert f"{size:,}" in result.text
        assert f"{text.count(chr(10)) + 1:,} lines" in result.text
        assert "spill://0123456789ab" in result.text
        assert len(result.text) < len(text) / 4


# ---- priority: collapse at 70 %, evict at 90 %, the last three verbatim


def filled(fill, *turns, total=200_000, reserve=40_000):
    """A plan of `priority` over these messages, the task making up what is missing to `fill` per mille."""
    usable = total - reserve
    size = sum(
        eth.budget([message], total, counter=COUNTER).used if not message.results else 0 for message in turns
    )
    size = eth.budget([user("x"), *turns], total, counter=COUNTER).used - 5
    task = user("task " + words(usable * fill // 1_000 - size - 5))
    return eth.plan([task, *turns], eth.window(total, reserve=reserve), policy="priority", counter=COUNTER)


OLD = [message for n in range(8) for message in looked(f"t{n}", 10_000, "read")]
NEW = [*looked("r0", 1_000, "read"), *looked("r1", 1_000, "read"), say("last", 1_000)]


@pytest.mark.parametrize(
    ("fill", "outcome", "acts"),
    [
        (699, "nothing", set()),
        (700, "cleanup", {"collapse"}),
        (899, "cleanup", {"collapse"}),
    ],
)
def test_priority_does_nothing_below_70_percent_and_collapses_from_there(fill, outcome, acts):
    """003: "Up to around 70% occupancy there's nothing worth doing": 112,000 of 160,000 usable (DESIGN 10)."""
    plan = filled(fill, *OLD, *NEW)

    assert plan.before == 160_000 * fill // 1_000
    assert plan.outcome == outcome
    assert {verdict.act for verdict in plan.verdicts} - {"stay"} == acts
    sent = plan.apply().messages
    assert names(sent)[-3:] == ["r0", "r1", "last"]
    assert violations(sent) == ()


def test_priority_evicts_only_from_90_percent():
    """003: "Near 90% there's nothing cheap left to drop, and compaction takes over": 144,000 of 160,000."""
    prose = [say(f"s{n}", 20_000) for n in range(6)]
    below, at = filled(899, *prose, *NEW), filled(900, *prose, *NEW)

    assert (below.before, at.before) == (143_840, 144_000)
    assert "evict" not in {verdict.act for verdict in below.verdicts}
    assert "evict" in {verdict.act for verdict in at.verdicts}
    assert names(at.apply().messages)[-3:] == ["r0", "r1", "last"]


def test_priority_lets_old_tool_output_go_before_older_turns():
    """003, the order of leaving: tool output, then older turns, oldest first in each."""
    turns = [
        say("s0", 15_000),
        say("s1", 15_000),
        *looked("t0", 15_000),
        *looked("t1", 15_000),
        say("s2", 15_000),
    ]
    plan = filled(950, *turns, *NEW)
    acts = {verdict.title.split(" ")[0]: verdict.act for verdict in plan.verdicts}
    left = [verdict for verdict in plan.verdicts if verdict.act in ("collapse", "evict")]

    assert plan.outcome == "cleanup"
    assert [verdict.act for verdict in plan.verdicts if verdict.title.startswith("look")][:2] != [
        "stay",
        "stay",
    ]
    assert left
    if acts["s1"] == "evict":
        assert acts["s0"] == "evict"


def test_priority_keeps_the_slots_of_constraints_and_decisions():
    """003: rank 3 and 4 leave last; ours are pins."""
    turns = [user("Never open x.txt."), say("s0", 30_000), say("s1", 30_000), say("s2", 30_000)]

    plan = filled(950, *turns, *NEW)

    assert plan.lands
    assert "Never open x.txt." in shown(plan.apply().messages)


def test_priority_catches_the_single_jump_before_it_is_counted():
    """003: one result that goes from below 70 % to over 90 % lies at an address before it is counted."""
    kept = []
    context = eth.Context(
        10_000,
        policy="priority",
        counter=COUNTER,
        spill=lambda name, text: kept.append(text) or "spill://0123456789ab",
    )
    context.append([user("task"), *(say(f"s{n}", 1_000) for n in range(4))])
    context.append(looked("big", 4_000))
    plan = context.request().plan

    assert len(kept) == 1
    assert plan.outcome == "nothing"
    assert 600 < context.budget.fill < 700


# ---- reseed: a new piece of work starts from the core


def worked(policy, size, *, total=10_000, counter=COUNTER, **options):
    context = eth.Context(total, policy=policy, counter=counter, **options)
    context.append(user("The first task. Never open x.txt."))
    context.request()
    results = size // 2 // 800 + 1
    for number in range(results):
        context.append(looked(f"a{number}", max(16, size // 2 // results), "read"))
    context.append(say("done", max(6, size - context.budget.used)))
    return context


@pytest.mark.parametrize(("policy", "level"), [("reseed", 300), ("ethang", 200), ("lean", 200)])
@pytest.mark.parametrize("short", [False, True])
def test_a_new_piece_of_work_is_measured_before_it_begins(policy, level, short):
    """004: "set well below the point where the automatic summary would kick in"; the level itself counts."""
    context = worked(policy, 8_000 * level // 1_000 - (200 if short else 0))
    before = context.budget.used

    context.begin("next")
    context.append(user("The second task."))
    sent = read_back(context.request())

    if short:
        assert context.budget.used > before
        assert context.snapshot.diffs == ()
    else:
        assert context.budget.used < before - 8_000 * 150 // 1_000
        assert [message.text for message in sent[1:]] == [
            "The first task. Never open x.txt.",
            "The second task.",
        ]
        assert "- constraint: Never open x.txt." in sent[0].text
        assert "file:a0.txt#L1-9@0a1b2c3d" in sent[0].text
        (diff,) = context.snapshot.diffs
        assert diff.outcome == "reseed"
        assert all(item.address for item in diff.left if item.how != "remove")


@pytest.mark.parametrize("policy", ["reseed", "ethang", "lean"])
def test_within_a_piece_of_work_nothing_starts_from_the_core(policy):
    """004: only before a new piece of work."""
    context = worked(policy, 4_000)
    for number in range(6):
        context.request()
        context.append(say(f"s{number}", 20))

    assert [diff for diff in context.snapshot.diffs if diff.outcome == "reseed"] == []


def test_what_frees_too_little_is_skipped_and_said_once():
    """Ours: 15 % or nothing, here too."""
    context = eth.Context(10_000, policy="reseed", counter=COUNTER, system=words(3_000))
    context.append([user("task"), say("done", 100)])
    used = context.budget.used
    for number in range(3):
        context.begin(f"piece {number}")
        context.request()

    assert context.budget.used == used
    assert context.snapshot.diffs == ()
    assert len([notice for notice in context.snapshot.notices if "start" in notice or "core" in notice]) == 1


def test_a_report_that_cannot_be_true_makes_the_next_piece_start_from_the_core():
    """004: "any uncertainty should tip toward rebuilding"; below the level too."""
    context = worked("reseed", 1_600)
    context.request()
    context.usage(90_000)
    before = context.budget.used

    context.begin("next")

    assert context.budget.used < before


def test_a_count_that_may_be_far_off_makes_the_next_piece_start_from_the_core():
    """004: no report yet, a tokenizer that is not ours, and a band that reaches over the level."""
    context = worked("reseed", 0, counter=None, model="claude-x")
    context.append(say("more", 1_560))
    assert context.budget.how == "estimated"
    assert 200 < context.budget.fill < 300
    before = context.budget.used

    context.begin("next")

    assert (context.budget.used < before) == (
        before * 1_300 // 1_000 * 1_000 // context.budget.window.usable >= 300
    )


def test_the_same_record_gives_the_same_core_to_the_byte_and_it_stands_still_between():
    """004: fixed order, caps, no clock."""
    bodies = []
    for _ in range(2):
        context = worked("reseed", 4_000)
        context.begin("next")
        context.append(user("The second task."))
        texts = []
        for number in range(5):
            texts.append(read_back(context.request())[0].text)
            context.append(looked(f"b{number}", 100, "read"))
        assert len(set(texts)) == 1
        bodies.append(texts[0])

    assert bodies[0] == bodies[1]


def test_a_reseed_level_above_the_nudge_is_refused():
    """004: "set well below": checked where the policy is made."""
    with pytest.raises(BadPolicy, match="reseed"):
        eth.Policy(name="mine", stages=("intake", "collapse", "evict", "reseed"), reseed=750)


def test_a_person_may_cool_a_session_so_that_it_starts_from_the_core_at_any_fill():
    """004: "evicting the session"."""
    context = worked("reseed", 1_400)
    before = context.budget.used
    context.cool()
    context.begin("next")

    assert context.budget.used < before


# ---- lean: collapses early, in batches


def test_lean_collapses_from_25_percent_down_to_5_and_leaves_the_newest_whole():
    """Ours, for long runs in one piece."""
    context = live("lean", 10_000)
    context.append(user("task"))
    for number in range(6):
        for message in looked(f"t{number}", 333, "read"):
            context.append(message)
    context.append(system("s"))
    assert 1_990 <= context.state.total < 2_020
    while context.state.total < 2_000:
        context.append(assistant("x"))

    turning = context.request()
    sent = context.assemble()

    assert turning.decision.outcome == "cleanup"
    results = [message.text for message in sent if message.results]
    assert all(text.startswith("[left the window") for text in results[:-1])
    assert "evict" not in {move.act for move in turning.decision.moves}


def test_lean_cleans_in_batches_that_each_free_the_minimum():
    """Each batch breaks the cached prefix once."""
    context = eth.Context(10_000, policy="lean", counter=COUNTER)
    context.append(user("task"))
    freed = []
    for number in range(60):
        plan = context.request().plan
        if plan.lands:
            freed.append(plan.before - plan.after)
        assert context.budget.fill < 350
        context.append(looked(f"t{number}", 300, "read"))

    least = getattr(eth.policies["lean"], "collapse_minimum", None) or eth.policies["lean"].minimum
    assert 5 <= len(freed) <= 30
    assert min(freed) >= 8_000 * least // 1_000


# ---- squeeze, which no policy names


def test_squeeze_takes_out_what_a_terminal_added_and_keeps_the_whole_at_its_address():
    """SPL-13: escape codes, a progress bar, charset codes; the kept text has the raw bytes."""
    raw = "\x1b[31mFAIL\x1b[0m a.test\n\x1b]8;;http://x.example\x07link\x1b]8;;\x07\n\x1b[?25l10%\r50%\r100%\n\x1b(B"
    rules = eth.Policy(
        name="mine", stages=("squeeze",), levels=Levels(nudge=100, cleanup=100, landing=10), minimum=0
    )
    context = eth.Context(5_000, policy=rules)
    context.append([user("task"), assistant("", [ToolCall(id="a", name="look")])])
    context.append(tool(ToolResult(call_id="a", name="look", text=raw * 40)))
    context.append([say("x", 20), say("y", 20), say("z", 20)])
    address = context.segments[1].address

    sent = read_back(context.request())
    (text,) = [message.text for message in sent if message.results]

    assert "\x1b" not in text
    assert "FAIL a.test" in text
    assert "link" in text
    assert "100%" in text
    assert "10%\r" not in text
    assert context.removed(address) == raw * 40


def test_no_shipped_policy_squeezes():
    """Off unless named (DESIGN 5)."""
    assert [name for name, policy in eth.policies.items() if "squeeze" in policy.stages] == []
