"""A context that follows requests shows each exactly as it was sent, whatever its owner did to the history."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context.following import same
from ethang_nb.context.messages import (
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool,
    user,
)
from ethang_nb.testing import WordCounter

TOOLS = [{"name": "read", "description": "reads", "input_schema": {"type": "object"}}]


def context(window=4_000, **options):
    return eth.Context(window, counter=WordCounter(), **options)


def call(number, arguments="{}"):
    return assistant("", [ToolCall(id=f"c{number}", name="read", arguments=arguments)])


def result(number, text):
    return tool(ToolResult(call_id=f"c{number}", name="read", text=text))


def texts(ctx):
    return [message.text for message in ctx.live.assemble()]


def sent(ctx):
    return [message for message in ctx.live.assemble() if message.role != "system"]


HISTORY = [
    user("read a"),
    call(1),
    result(1, "a is one"),
    assistant("a was read"),
    user("read b"),
    call(2),
    result(2, "b is two"),
]


# ---- the window is what was sent


@st.composite
def turns(draw):
    """A unit of a history: a user's or model's text, or a tool turn whose ids come from its text."""
    word = draw(st.sampled_from(["red", "green", "blue", "red and green"]))
    match draw(st.sampled_from(["user", "assistant", "turn"])):
        case "user":
            return (user(word),)
        case "assistant":
            return (assistant(word),)
        case _:
            number = f"{word}-{draw(st.integers(0, 2))}"
            return (call(number), result(number, f"{word} was read"))


@given(
    histories=st.lists(st.lists(turns(), min_size=1, max_size=7), min_size=1, max_size=6),
    systems=st.lists(st.sampled_from(["", "be brief", "be long and wordy"]), min_size=6, max_size=6),
    replies=st.lists(st.booleans(), min_size=6, max_size=6),
)
@settings(max_examples=150, deadline=None)
def test_after_every_request_the_window_is_that_request_and_counts_as_it_would_alone(
    histories, systems, replies
):
    ctx = context()
    for history, text, replied in zip(histories, systems, replies, strict=False):
        seen, messages = set(), []
        for unit in history:  # an id stands once in a history
            ids = {one.id for one in unit[0].calls}
            if not ids & seen:
                seen |= ids
                messages += unit
        followed = ctx.follow(messages, system=text, tools=TOOLS)
        assert [(m.role, m.parts) for m in sent(ctx)] == [(m.role, m.parts) for m in messages]
        alone = eth.budget(messages, 4_000, counter=WordCounter(), system=text or None, tools=TOOLS)
        assert alone.used == ctx.live.state.total == followed.tokens
        assert ctx.live.system == text
        assert "\n".join(texts(ctx)) == "\n".join(message.text for message in ctx.as_sent(followed.step))
        ctx.plan()
        ctx.segments  # noqa: B018 - must not fail
        for diff in ctx.snapshot.diffs:
            for left in diff.left:
                assert ctx.removed(left.address)
        if replied:
            ctx.heard(followed, assistant("a reply"))
            assert "a reply" == sent(ctx)[-1].text


def test_what_was_known_keeps_its_place_and_its_address():
    ctx = context()
    ctx.follow(HISTORY[:1])
    ctx.follow(HISTORY[:4])
    assert ["0", "1", "2"] == [item.id for item in ctx.segments]
    assert ["log://0", "log://2", "log://3"] == [item.address for item in ctx.segments]
    assert [()] * 2 == [row.events for row in ctx.snapshot.timeline]


def test_what_is_sent_no_longer_leaves_with_its_address_and_the_step_says_so():
    ctx = context()
    ctx.follow(HISTORY)
    ctx.follow([*HISTORY[:1], *HISTORY[3:]])
    row = ctx.snapshot.timeline[-1]
    assert ("1 segment not sent any more (log://2)",) == row.events
    assert ("cleanup",) == row.kinds
    [diff] = ctx.snapshot.diffs
    assert [("read", "evict", "log://2")] == [(left.title, left.how, left.address) for left in diff.left]
    assert "a is one" == ctx.removed("log://2")
    assert "the policy had no say" in diff.reason


def test_an_edited_result_is_the_one_that_stands():
    ctx = context()
    ctx.follow(HISTORY)
    edited = [*HISTORY]
    edited[2] = result(1, "[cleared]")
    ctx.follow(edited)
    assert ["read a", "", "[cleared]", "a was read", "read b", "", "b is two"] == texts(ctx)
    # All behind it stands where it stood before, with the addresses of then.
    assert ["log://0", "log://8", "log://3", "log://4", "log://6"] == [item.address for item in ctx.segments]
    assert ["log://2"] == [left.address for left in ctx.snapshot.diffs[-1].left]


def test_a_compaction_of_their_own_leaves_what_it_keeps_at_its_addresses():
    ctx = context()
    ctx.follow(HISTORY)
    ctx.follow([user("Summary: a was read"), *HISTORY[4:]])
    assert ["Summary: a was read", "read b", "", "b is two"] == texts(ctx)
    assert ["log://7", "log://4", "log://6"] == [item.address for item in ctx.segments]
    left = {left.address for left in ctx.snapshot.diffs[-1].left}
    assert {"log://0", "log://2", "log://3"} == left


def test_a_request_that_shares_nothing_is_a_new_piece_of_work_with_a_task_of_its_own():
    ctx = context()
    ctx.follow(HISTORY)
    ctx.follow([user("something else")])
    assert ["something else"] == texts(ctx)
    assert "a new piece of work" in ctx.snapshot.timeline[-1].events[0]
    assert "something else" == ctx.live.task_text
    assert 2 == ctx.live.state.work
    ctx.follow([*HISTORY, assistant("b was read")])
    assert ["log://0", "log://2", "log://3", "log://4", "log://6", "log://8"] == [
        item.address for item in ctx.segments
    ]


def test_the_first_task_of_what_is_sent_now_stays_in_later_pieces_of_work():
    ctx = context()
    ctx.follow(HISTORY)
    ctx.follow([user("something else")])
    ctx.begin("more")
    ctx.follow([user("something else"), assistant("done"), user("one thing more")])
    live = ctx.live
    assert "something else" == live.entries[live.state.first_task].messages[0].text
    assert "one thing more" == live.task_text
    assert [False, True, False] == [item.droppable for item in ctx.segments]


def test_a_core_that_is_sent_stands_as_it_is_sent_whatever_was_unpinned_since():
    ctx = context(system="be brief", pins=["Amounts are in euros.", "Dates are days."])
    ctx.append([user("read"), assistant("done"), user("go on")])
    given = ctx.request()
    ctx.unpin(1)
    ctx.follow([given[0], given[1], given[3]])
    assert given[0].text == texts(ctx)[0] and "euros" in given[0].text
    assert ["read", "go on"] == texts(ctx)[1:]


def test_system_text_and_tools_are_those_of_the_request():
    ctx = context(system="by hand", project="a project", tools=TOOLS)
    ctx.follow([system("be brief"), user("hello")], tools=[])
    assert ["be brief", "hello"] == texts(ctx)
    assert 0 == ctx.live.state.tools == ctx.live.state.project
    ctx.follow([user("hello")], system="be long", tools=TOOLS)
    assert ("another system text", "another catalogue: 1 tools, 0 before") == ctx.snapshot.timeline[-1].events
    assert "be brief" == ctx.removed("log://0")


def test_system_and_project_that_are_sent_as_the_context_has_them_stay_apart():
    ctx = context(system="by hand", project="a project")
    ctx.follow([user("hello")], system="by hand\n\na project")
    assert ("by hand", "a project") == (ctx.live.system, ctx.live.project)


# ---- nothing is done to it


def test_nothing_is_cut_spilled_or_evicted_however_full_it_is():
    ctx = context(window=400, policy="ethang")
    long = result(1, "word " * 900)
    followed = ctx.follow([user("read a"), call(1), long])
    assert long.text == sent(ctx)[-1].text
    assert followed.tokens > ctx.live.state.hard
    for number in range(2, 5):
        ctx.follow(
            [user("read a"), call(1), long, *[assistant(f"n {at}") for at in range(2, number)], user("on")]
        )
    assert long.text in texts(ctx)
    assert not ctx.snapshot.diffs
    foretold = ctx.snapshot.timeline[-1].events
    assert len(foretold) == 1 and foretold[0].startswith("ethang would clean up: 9")
    assert "cleanup" == ctx.plan().outcome


def test_a_person_s_message_of_any_size_is_taken_in():
    ctx = context(window=300)
    ctx.follow([user("word " * 500)])
    assert 500 < ctx.live.state.total


def test_a_cleanup_that_was_asked_for_waits_until_the_context_plans_itself():
    ctx = context()
    ctx.follow(HISTORY)
    ctx.compact()
    ctx.follow([*HISTORY, assistant("b was read"), user("go on")])
    assert ctx.live.state.asked
    assert 7 == len([m for m in sent(ctx) if m in HISTORY])


def test_pins_found_in_what_is_sent_hold_and_those_that_leave_enter_again_when_the_context_plans():
    ctx = context()
    rule = user("Read a. Never open b.txt.")
    ctx.follow([rule, call(1), result(1, "a is one"), assistant("done")])
    [pin] = ctx.live.pins
    assert "0" == pin.segment
    ctx.follow([user("Summary"), assistant("done")])
    assert ("", False, "") == (ctx.live.pins[0].segment, ctx.live.pins[0].core, ctx.live.pins[0].lifted)
    assert not any("b.txt" in text for text in texts(ctx))
    assert 0 == ctx.live.state.core
    given = ctx.request()
    assert any("Never open b.txt." in message.text for message in given)
    assert any("Never open b.txt." in text for text in texts(ctx))


def test_pins_in_the_core_are_not_sent_by_somebody_else():
    ctx = context(pins=["Amounts are in euros."])
    assert ctx.live.state.core
    ctx.follow([user("hello")])
    assert 0 == ctx.live.state.core
    assert any("in euros" in message.text for message in ctx.request())


# ---- replies


def test_a_reply_enters_and_is_known_again_when_the_next_request_brings_it():
    ctx = context()
    followed = ctx.follow([user("read a")])
    ctx.heard(followed, call(1, '{"path": "a"}'), usage=9, cached=4)
    ctx.follow([user("read a"), call(1, '{"path":"a"}'), result(1, "a is one")])
    assert ["log://0", "log://2"] == [item.address for item in ctx.segments]
    assert [(), ()] == [row.events for row in ctx.snapshot.timeline]


def test_a_reply_that_comes_back_otherwise_is_replaced_without_a_word():
    ctx = context()
    followed = ctx.follow([user("read a")])
    ctx.heard(
        followed, Message(role="assistant", parts=(Thinking(text="hm"), Text(text="yes")), source="model")
    )
    ctx.follow([user("read a"), assistant("yes"), user("go on")])
    assert ["read a", "yes", "go on"] == texts(ctx)
    assert not any(part for message in sent(ctx) for part in message.parts if isinstance(part, Thinking))
    assert () == ctx.snapshot.timeline[-1].events
    assert ["read a", "yes", "go on"] == [message.text for message in ctx.retold().messages]


def test_a_reply_that_is_not_kept_by_its_owner_leaves():
    ctx = context()
    followed = ctx.follow([user("read a")])
    ctx.heard(followed, assistant("no"))
    ctx.follow([user("read a"), user("again")])
    assert ["read a", "again"] == texts(ctx)
    assert ("1 segment not sent any more (log://1)",) == ctx.snapshot.timeline[-1].events


def test_a_reply_to_an_older_request_does_not_enter_but_its_usage_counts():
    ctx = context()
    first = ctx.follow([user("one")])
    second = ctx.follow([user("two")])
    ctx.heard(first, assistant("to one"), usage=2 * first.tokens)
    assert ["two"] == texts(ctx)
    assert (2_000,) == ctx.live.state.reports.last
    ctx.heard(second, assistant("to two"))
    assert ["two", "to two"] == texts(ctx)


def test_results_that_are_appended_by_hand_answer_a_call_that_was_heard():
    ctx = context()
    followed = ctx.follow([user("read a")])
    ctx.heard(followed, call(1))
    ctx.append(result(1, "a is one"))
    ctx.follow([user("read a"), call(1), result(1, "a is one")])
    assert 3 == len(sent(ctx))
    assert () == ctx.snapshot.timeline[-1].events == ctx.segments.repairs


def test_results_join_a_turn_that_waited_for_them():
    ctx = context()
    both = assistant("", [ToolCall(id="c1", name="read"), ToolCall(id="c2", name="read")])
    ctx.append([user("read"), both, result(2, "two")])
    ctx.follow([user("read"), both, result(1, "one"), result(2, "two")])
    assert ["read", "", "one", "two"] == texts(ctx)
    assert 2 == len(ctx.segments)


# ---- together with the context's own requests


def test_what_request_gave_is_the_context_s_own():
    ctx = context(system="be brief")
    ctx.append(HISTORY[:3])
    given = ctx.request()
    followed = ctx.follow(given)
    assert followed.own
    assert 1 == ctx.live.step == followed.step
    ctx.heard(followed, assistant("not for us"), usage=followed.tokens)
    assert "not for us" not in texts(ctx)
    assert (1_000,) == ctx.live.state.reports.last


def test_after_a_cleanup_the_loop_may_go_on_with_what_request_gave():
    ctx = context(window=700)
    ctx.append([user("read all"), *[part for n in range(9) for part in (call(n), result(n, f"{n} " * 60))]])
    ctx.compact()
    given = ctx.request()
    assert ctx.snapshot.diffs
    tokens = ctx.live.state.total
    ctx.follow([*given, user("and now?")])
    assert tokens < ctx.live.state.total < tokens + 10
    assert () == tuple(said for said in ctx.snapshot.timeline[-1].events if "would" not in said)
    ctx.follow([user("read all"), *[part for n in range(9) for part in (call(n), result(n, f"{n} " * 60))]])
    assert 19 == len(sent(ctx)) and "0 " * 60 == sent(ctx)[2].text


def test_views_and_what_if_can_be_had_of_a_context_that_was_followed():
    ctx = context(window=2_000)
    ctx.follow(HISTORY)
    ctx.follow([user("Summary"), *HISTORY[4:]])
    assert ["read a", "", "a is one", "a was read", "read b", "", "b is two", "Summary"] == [
        message.text for message in ctx.retold().messages
    ]
    assert "Summary" in str(ctx) and "Summary" in ctx._repr_html_()
    eth.ContextView(ctx)


# ---- what is the same on the wire


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        (user("a"), user("a"), True),
        (user("a"), assistant("a"), False),
        (call(1, '{"a": 1, "b": 2}'), call(1, '{"b":2,"a":1}'), True),
        (call(1, '{"a": 1}'), call(1, '{"a": 2}'), False),
        (call(1, '{"a": '), call(1, '{"a": '), True),
        (call(1), call(2), False),
        (call(1, ""), call(1, "{}"), True),
        (Message(role="user", parts=(Text(text="a"), Text(text="b"))), user("ab"), True),
        (result(1, "x"), tool(ToolResult(call_id="c1", text="x", error=True, address="file:x")), True),
        (result(1, "x"), result(1, "y"), False),
        (result(1, "x"), result(2, "x"), False),
    ],
)
def test_messages_are_the_same_where_the_wire_cannot_tell_them_apart(one, other, are):
    assert are == same(one, other)
