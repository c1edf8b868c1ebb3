"""Marks: followed from state to state they are those of the outline, and only what can have changed is looked at."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.explain import moves_by_row
from ethang_nb.context.marks import Marking, sizes_of
from ethang_nb.context.messages import user
from ethang_nb.context.outline import segments
from ethang_nb.context.planner import cleanup
from ethang_nb.context.policies import POLICIES
from tests.context.acts import WINDOWS, Player, acts
from tests.context.builders import live
from tests.context.generators import budgeted
from tests.views.live.examples import large, more

MARKED = ("retention", "droppable", "reason", "verdict", "why", "collapsed")


class Followed:
    """The marks of a context as somebody has them who is told of changes alone."""

    def __init__(self, context):
        self.context = context
        self.marking = Marking()
        self.codes, self.sizes = {}, {}

    def follow(self):
        found = self.marking.follow(self.context.state)
        self.codes |= {number: self.marking.codes[number] for number in found.rows}
        for number, tokens in found.sizes:
            self.sizes[number] = tokens
        return found

    def shown(self):
        state = self.context.state.closed()
        return {number: self.marking.table[self.codes[number]] for number in state.numbers}


@pytest.mark.parametrize("rules", sorted(POLICIES))
@budgeted(30)
@given(script=acts, total=st.sampled_from(WINDOWS))
def test_marks_followed_are_those_of_the_outline_after_every_act(rules, script, total):
    followed = Followed(live(total, rules=rules))
    player = Player(followed.context)
    for act in script:
        player.do(act)
        followed.follow()
        shown, state = followed.shown(), followed.context.state.closed()
        rows = {int(item.id): item for item in segments(followed.context) if item.id.isdigit()}
        assert set(rows) == set(shown)
        for number, item in rows.items():
            mark = shown[number]
            assert [getattr(item, name) for name in MARKED] == [getattr(mark, name) for name in MARKED], (
                number
            )
            assert item.kind == (mark.kind or state.row(number).kind)
            whole, short = sizes_of(state.ledger, number)
            assert item.tokens == (short if mark.collapsed else followed.sizes.get(number) or whole), number


@pytest.mark.parametrize("rules", sorted(POLICIES))
@budgeted(20)
@given(script=acts, total=st.sampled_from(WINDOWS))
def test_the_moves_of_a_row_alone_are_those_that_all_moves_have_of_it(rules, script, total):
    context = live(total, rules=rules)
    player = Player(context)
    for act in script:
        player.do(act)
        for decision in (cleanup(context.state, asked=True), cleanup(context.state)):
            moves = moves_by_row(decision)
            for number in decision.before.numbers:
                assert moves.get(number, []) == decision.of_row(number)
            changed = [(move.row, move.index) for move in decision.moves if move.row >= 0]
            assert min(changed, default=None) == decision.first


def test_a_segment_more_in_a_long_context_is_looked_at_with_few_others():
    context, _ = large(2_000, window=300_000)
    marking, chance = Marking(), random.Random(1)
    marking.follow(context.state)
    for _ in range(50):
        more(context, chance)
        assert len(marking.follow(context.state).looked) < 60


def test_a_task_that_is_one_no_longer_is_marked_anew_though_it_stays_for_another_reason():
    followed = Followed(live(6_000))
    context = followed.context
    for text in ("the session's task", "go"):
        context.append(user(text))
    context.begin()
    for text in ("the second task", "go on"):
        context.append(user(text))
    followed.follow()
    assert ["task", None, "task", None] == [mark.kind for mark in followed.shown().values()]
    context.begin()
    context.append(user("the third task"))
    followed.follow()
    assert ["task", None, None, None, "task"] == [mark.kind for mark in followed.shown().values()]
