"""The views of a context that follows somebody else's requests: live, replayed and traced, they say what happened."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.context.messages import assistant, user
from ethang_nb.testing import WordCounter
from ethang_nb.views.live.document import About, Document
from ethang_nb.views.live.source import source_of
from tests.context.test_following import HISTORY, call, result, turns
from tests.views.live.applier import Applier, as_live

SAID = {"name": "n", "model": "m", "model_label": "a model", "state": "live"}


def travelled(body):
    return json.loads(json.dumps(body))


@given(
    histories=st.lists(st.lists(turns(), min_size=1, max_size=6), min_size=1, max_size=6),
    replies=st.lists(st.booleans(), min_size=6, max_size=6),
    asks=st.lists(st.sampled_from(["", "", "request", "compact"]), min_size=6, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_a_live_view_is_the_snapshot_after_every_request_that_was_followed(histories, replies, asks):
    ctx = eth.Context(600, counter=WordCounter())
    document = Document(ctx.live, ctx.chronicle, lambda: About(**SAID, notices=(), repairs=()))
    view = Applier()
    view.apply(travelled(document.full()))
    for history, replied, ask in zip(histories, replies, asks, strict=False):
        seen, messages = set(), []
        for unit in history:
            ids = {one.id for one in unit[0].calls}
            if not ids & seen:
                seen |= ids
                messages += unit
        followed = ctx.follow(messages, system="be brief")
        if replied:
            ctx.heard(followed, assistant("a reply"), usage=followed.tokens + 9)
        if ask:
            getattr(ctx, ask)()
        view.apply(travelled(document.update()))
        wanted = as_live(travelled(ctx.chronicle.snapshot(**SAID).to_json()))
        shown = view.document()
        for key, value in wanted.items():
            assert value == shown[key], key


def test_a_replay_of_what_was_followed_tells_each_message_once():
    ctx = eth.Context(2_000, counter=WordCounter())
    followed = ctx.follow(HISTORY)
    ctx.heard(followed, assistant("b was read"))
    ctx.follow([user("Summary"), *HISTORY[4:], assistant("b was read"), user("go on")])
    told = ctx.retold()
    assert [message.text for message in told.messages].count("b is two") == 1
    tape = told.tape(told.settings)
    assert len(told.messages) == sum(len(entry.messages) for entry in tape.context.entries.values())


def test_a_text_that_its_owner_left_out_is_traced_to_the_step_at_which_it_left():
    ctx = eth.Context(2_000, counter=WordCounter())
    ctx.follow([user("read"), call(1), result(1, "the cap is 48,250 euros"), user("and?")])
    ctx.follow([user("read"), user("and?")])
    [place] = source_of(ctx).trace("48,250").places
    assert ("log://2", False, "the cap is 48,250 euros") == (place.address, place.in_window, place.excerpt)
    [departure] = ctx.departed(1, 0)
    assert (2, "evict", "cleanup") == (departure.step, departure.how, departure.by)


def test_a_text_that_its_owner_moved_is_traced_once():
    ctx = eth.Context(2_000, counter=WordCounter())
    ctx.follow([user("the cap is 48,250 euros"), user("read"), user("and?")])
    ctx.follow([user("read"), user("and?"), user("the cap is 48,250 euros")])
    [place] = source_of(ctx).trace("48,250").places
    assert place.in_window
    ctx.follow([user("read"), user("and?")])
    [place] = source_of(ctx).trace("48,250").places
    assert not place.in_window


def test_what_the_policy_would_have_cleaned_up_first_is_marked_once_until_it_would_not_any_more():
    ctx = eth.Context(600, counter=WordCounter())
    large = [user("task"), *(unit for at in range(1, 30) for unit in (call(at), result(at, "word " * 40)))]
    said = []
    for messages in (large[:3], large, [*large, user("go on")], large[:3], large):
        ctx.follow(messages)
        row = ctx.snapshot.timeline[-1]
        said.append(("foretold" in row.kinds, any("would clean up" in event for event in row.events)))
    assert [(False, False), (True, True), (False, True), (False, False), (True, True)] == said


def test_a_request_that_somebody_else_sends_is_sent_however_full_it_is():
    ctx = eth.Context(600, counter=WordCounter())
    assert not ctx.budget.followed
    ctx.follow([user("word " * 900)])
    assert ctx.budget.followed
    assert ctx.budget.over
    assert ctx.snapshot.to_json()["budget"]["followed"] is True
