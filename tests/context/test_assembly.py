"""What is kept or summed up from one request to the next is what would be worked out anew."""

import pytest
from hypothesis import given

from ethang_nb.context.assembly import Assembly
from ethang_nb.context.explain import price_of
from ethang_nb.context.messages import system
from ethang_nb.context.occupancy import Outputs, task_tokens
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.pricing import price
from tests.context.builders import live
from tests.context.generators import budgeted
from tests.context.test_invariants import Play, acts, windows


def assembled(context):
    """The request in the words of DESIGN 5: system with project and core | task, notes | the rest, oldest first."""
    text = "\n\n".join(part for part in (context.system, context.project, context.core) if part)
    rows = list(context.state.rows)
    head = [system(text)] if text else []
    if rows and rows[0].task:
        head += context.entries[rows.pop(0).id].messages
    head += [context.notes.message(note.id, context.counter) for note in context.state.notes]
    return (
        *head,
        *(message for row in rows for message in context.entries[row.id].forms(row, context.counter)),
    )


def parts(state):
    """What a request is made of, result by result."""
    yield "fixed", state.fixed
    yield ("core", tuple(pin.id for pin in state.pins if pin.core)), state.core
    rows = list(state.rows)
    if rows and rows[0].task:
        task = rows.pop(0)
        yield task.id, task.tokens
    yield from ((("note", note.id), note.tokens) for note in state.notes)
    for row in rows:
        yield row.id, row.base
        yield from (((row.id, at, result.form), result.tokens) for at, result in enumerate(row.results))


def unchanged(before, after):
    """Tokens of the parts that two requests have in common from the start."""
    common = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        common += old[1]
    return common


class Recount(Play):
    """Counts after every act what the context says."""

    def do(self, act):
        super().do(act)
        self.check()

    def request(self):
        super().request()
        self.check()

    def check(self):
        context, state = self.context, self.context.state
        assert assembled(context) == context.assemble()
        assert sum(row.tokens for row in state.rows if row.task) == task_tokens(state)
        assert sum(result.tokens for row in state.rows for result in row.results) == Outputs().tokens(state)

    def requested(self, turning):
        self.priced(turning.decision)

    def reseeded(self, turning):
        self.priced(turning.decision)

    def released(self, decision):
        self.priced(decision)

    def priced(self, decision):
        before, after = decision.before, decision.after
        if before is not after:
            same = unchanged(parts(before), parts(after))
            assert price(before.total, after.total, same) == price_of(decision)


@pytest.mark.parametrize("rules", sorted(POLICIES))
@given(script=acts, total=windows)
@budgeted(10)
def test_requests_sums_and_prices_are_those_worked_out_anew(rules, script, total):
    Recount(live(total, rules=rules)).run(script)


def test_what_stands_as_it_did_is_the_very_same_segment():
    context = live(2_000)
    play = Play(context)
    play.run([])
    before = context.parts()
    context.append(system("more"))
    after = context.parts()
    assert before[-1] is after[-1]
    assert before[0] != after[0]


def test_an_assembly_that_was_not_asked_before_gives_the_same():
    context = live(2_000)
    Play(context).run([])
    fresh = Assembly().parts(context.state, context.entries, context.counter, system=context.system, notes=())
    assert fresh == context.parts()
