"""Chronicle: what happened to a live context, step by step: fills, cleanups with their diffs, notices.

It watches; it decides nothing and nothing of it ever enters the window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ethang_nb.context.address import parse
from ethang_nb.context.core import core_share
from ethang_nb.context.cutting import pieces
from ethang_nb.context.decision import Decision
from ethang_nb.context.diffing import Gone, compare
from ethang_nb.context.entry import Entry, Turning
from ethang_nb.context.explain import as_plan, moves_by_row, next_cleanup, strongest
from ethang_nb.context.fold import PHANTOM
from ethang_nb.context.leaving import cuts
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.notedesk import Written
from ethang_nb.context.notes import RULE_AUTHOR, RULE_REFERENCE, NoteTask
from ethang_nb.context.occupancy import Outputs, budget, task_tokens
from ethang_nb.context.outline import segments
from ethang_nb.context.plan import Plan
from ethang_nb.context.regret import Regret, RegretWatch, Seen
from ethang_nb.context.shortening import Reading, fell_short, surely_read
from ethang_nb.context.snapshot import Diff, Left, Snapshot, StepRow
from ethang_nb.context.state import State

__all__ = ["Chronicle", "with_regrets"]

UNSENT = "unsent"
"""The kind of a step at which nothing is sent."""
TOP = 3  # lines among which the header of a page stands


class _Said(NamedTuple):
    """What happened before a request, in words, and of which kinds it is."""

    text: str
    kinds: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Landing:
    """A cleanup or reseed, with what its diff is made from; texts are compared only when somebody looks."""

    turning: Turning
    plan: Plan
    released: tuple[Gone, ...]
    """What left before, when the model offered it."""
    core: str
    state: State
    """What stands beside the note."""
    entries: Mapping[int, Entry]
    """The texts of it."""
    task: NoteTask | None
    """Of the note that it wrote."""
    written: Written | None = None
    """None: nobody wrote it, one by rule stands in."""
    note_tokens: int = 0
    served: int | None = None
    """Tokens, by our count, that the next call read from the provider's cache."""
    head: Diff | None = None
    """The diff without what it takes long to work out."""
    diff: Diff | None = None


class Chronicle:
    """Watches one live context and keeps its timeline, diffs and notices.

    `judged`: whoever sends the requests judges whether they were read to their end; nothing is said of that here.
    """

    def __init__(self, context: LiveContext, *, judged: bool = False) -> None:
        self.context = context
        self._judged = judged
        self._reading: Reading | None = None
        """The last request that both sides counted, without a sign that it was cut."""
        self.steps: list[StepRow] = []
        self._landings: list[_Landing] = []
        self.notices: list[str] = []
        self.last: Plan | None = None
        """The plan of the last request point."""
        self._doubted: set[str] = set()
        self._would = False
        """Whether the policy would have cleaned up the last request that was followed."""
        self._released: list[_Said] = []
        self._let_go: list[Gone] = []
        self._outputs = Outputs()
        self._watch = RegretWatch()
        self._regrets: list[Regret] = []
        self._looked = (0, 0)
        """How many rows and landings were looked at for regret."""
        context.observers.append(self)

    # ---- what the live context tells

    def requested(self, turning: Turning) -> None:
        plan = as_plan(self.context, turning.decision)
        if turning.decision.followed:
            plan = replace(plan, reason="whoever sends it made the request; the policy had no say in it")
        self.last = plan
        said = [*self._released, *self._events(turning, plan)]
        if not turning.sends:
            said.append(_Said("asked for between two runs, nothing is sent", (UNSENT,)))
        self._released = []
        before = plan.fill_before if plan.lands else None
        row = StepRow(
            step=turning.step,
            fill=0,
            tokens=0,
            events=tuple(one.text for one in said),
            kinds=tuple(dict.fromkeys(kind for one in said for kind in one.kinds)),
            before=before,
            what=self.what(),
        )
        self.steps.append(self._measured(row))
        if plan.lands:
            self._land(turning, plan)
        elif plan.outcome in ("idle", "stuck") and turning.before.said != plan.outcome:
            self.notices.append(f"step {turning.step}: {plan.outcome}: {plan.reason}")

    def noted(self, written: Written) -> None:
        """A note is written, or written anew: the diff of the cleanup it belongs to is another now."""
        number, state = written.task.id, self.context.state
        landing = next(
            (one for one in reversed(self._landings) if one.task is not None and one.task.id == number), None
        )
        if landing is None:
            return
        landing.written, landing.core, landing.state = written, self.context.core, state
        landing.entries = self.context.known()
        landing.note_tokens = next((note.tokens for note in state.notes if note.id == number), 0)
        landing.head = landing.diff = None
        self.steps[-1] = self._measured(self.steps[-1])

    def released(self, decision: Decision) -> None:
        """Results that the model offered and rules let go: the next request's row says so.

        A release has no diff of its own, so their facts are accounted for in that of the next cleanup.
        """
        if decision.moves:
            count = len(decision.moves)
            freed = f"release: {count} to one line, {decision.gain:,} tokens freed"
            self._released.append(_Said(freed, ("release",)))
        for move in decision.moves:
            entry = self.context.entries[move.row]
            self._let_go += _gone(entry.messages[move.index + 1], entry.addresses[move.index + 1])

    def reseeded(self, turning: Turning) -> None:
        """A piece of work started from the core, or could not; or a task left before it. The next row says so."""
        plan = as_plan(self.context, turning.decision)
        if plan.lands:
            reseeds = plan.outcome == "reseed"
            said = _Said("reseed", ("reseed",)) if reseeds else _Said("a task withdrawn", ("cleanup",))
            self._released.append(said)
            self._land(turning, plan)
        else:
            self.notices.append(f"step {turning.step}: {plan.reason}")

    def reported(self, reported: int, own: int, cached: int | None) -> None:
        """A report that can hardly be right is said, once a kind (seed 000: "phantom pressure")."""
        last = self._landings[-1] if self._landings else None
        if last is not None and last.turning.step == self.context.step and cached is not None:
            # The first call after a cleanup: what the cache held stands beside what was predicted.
            last.served = cached * own // reported if reported > 0 else 0
            last.diff = None
        if own > 0 and reported > PHANTOM * own:
            self._doubt("phantom", reported, f"over {PHANTOM} times our own count of {own:,}; it is ignored")
        elif not self._judged and reported >= (cached or 0):
            surely = surely_read(self.context.assemble(), own, self.context.state.tools)
            if fell_short(reported, surely, self._reading):
                text = f"of about {surely:,} that were surely sent; the server may have cut the request"
                self._doubt("low", reported, text)
            else:
                self._reading = Reading(own=surely, input=reported)

    # ---- what people ask

    def snapshot(
        self,
        *,
        name: str,
        model: str,
        model_label: str,
        state: str,
        repairs: Sequence[str] = (),
        notices: Sequence[str] = (),
    ) -> Snapshot:
        context = self.context
        share = core_share(context.pins, context.state.usable, context.counter)
        return Snapshot(
            name=name,
            model=model,
            model_label=model_label,
            policy=context.state.policy.name,
            state=state,
            step=context.step,
            budget=budget(context, self.fills),
            segments=segments(context, repairs),
            plan=next_cleanup(context),
            timeline=self.timeline,
            diffs=tuple(self.diffs),
            regrets=self.regrets,
            pins=tuple(context.pins),
            # As long as they take it: pins that take much room with every request.
            notices=(*self.notices, *([] if share is None else [share]), *notices),
        )

    @property
    def diffs(self) -> list[Diff]:
        """Every cleanup, worked out when first asked for. Where nobody wrote its note, the one by rule stands in it."""
        return [self.diff(index) for index in range(len(self._landings))]

    def diff(self, index: int) -> Diff:
        """That of cleanup `index`, from 0, alone."""
        landing = self._landings[index]
        if landing.diff is None:
            landing.diff = self._diff(landing)
        return landing.diff

    @property
    def heads(self) -> list[Diff]:
        """Every cleanup without what left, note, facts, price and digest: what is known of it at once."""
        found = []
        for landing in self._landings:
            if landing.head is None:
                landing.head = _head(landing)
            found.append(landing.head)
        return found

    @property
    def regrets(self) -> tuple[Regret, ...]:
        """What was done again because a cut took it away, by step. What came since somebody looked is looked at now."""
        return tuple(self.regrets_from(0))

    def regrets_from(self, first: int, *, most: int | None = None) -> list[Regret]:
        """The same, those from number `first` on; a list only grows at its end.

        At most `most` rows are looked at now, where that is given; `unseen` says how many are left.
        """
        if not self._landings:  # nothing was cut that could be missed
            return []
        context = self.context
        state, opened = context.state, {row for row, _ in context.state.opened}
        row, landed = self._looked
        stop = state.n if most is None else min(state.n, row + most)
        while row < stop:
            entry = context.entries[row]
            if row in opened and entry.step >= context.step:
                break  # its results are still to come
            while landed < len(self._landings) and self._landings[landed].turning.step <= entry.step:
                turning = self._landings[landed].turning
                for cut in cuts(turning.step, turning.decision, turning.entries):
                    self._watch.cut(cut)
                landed += 1
            for message in entry.messages:
                self._regrets += self._watch.see(Seen(step=entry.step, message=message))
            row += 1
        self._looked = (row, landed)
        return self._regrets[first:]

    @property
    def unseen(self) -> int:
        """How many rows were not yet looked at for regret."""
        return self.context.state.n - self._looked[0] if self._landings else 0

    @property
    def timeline(self) -> tuple[StepRow, ...]:
        """The steps; a regret is said in the row of the request whose answer shows it."""
        said: dict[int, list[Regret]] = {}
        for one in self.regrets:
            said.setdefault(one.step, []).append(one)
        return tuple(with_regrets(row, said.get(row.step, ())) for row in self.steps)

    @property
    def fills(self) -> tuple[int, ...]:
        return tuple(row.fill for row in self.steps)

    def what(self) -> str:
        """What the newest message is: the line that says what happened at a step."""
        state = self.context.state
        for start, stop in reversed(state.live):
            for number in range(min(stop, state.next_row) - 1, start - 1, -1):
                if state.kind(number) != "pin":
                    return self.context.entries[number].title
        return ""

    # ---- inside

    def _doubt(self, kind: str, reported: int, said: str) -> None:
        if kind not in self._doubted:
            self._doubted.add(kind)
            self.notices.append(f"step {self.context.step}: {reported:,} input tokens were reported, {said}")

    def _land(self, turning: Turning, plan: Plan) -> None:
        context = self.context
        released, self._let_go = tuple(self._let_go), []
        self._landings.append(
            _Landing(
                turning=turning,
                plan=plan,
                released=released,
                core=context.core,
                state=context.state,
                entries=turning.entries,
                task=context.pending if turning.decision.writes_note else None,
                note_tokens=turning.decision.note_tokens,
            )
        )

    def _diff(self, landing: _Landing) -> Diff:
        context, plan, task = self.context, landing.plan, landing.task
        written = landing.written
        if task is not None and written is None:
            written = context.notes.by_rule(task, context.counter)
        return replace(
            _head(landing) if landing.head is None else landing.head,
            left=tuple(
                Left(title=verdict.title, tokens=verdict.before, how=verdict.act, address=verdict.address)
                for verdict in plan.verdicts
                if verdict.act in ("squeeze", "collapse", "shrink", "evict", "remove")
            ),
            note="" if written is None else written.message.text,
            facts=compare(
                [*landing.released, *self._gone(landing.turning)],
                note="" if written is None else written.prose,
                core=landing.core,
                window=self._window_texts(landing),
                sources=""
                if task is None
                else "\n".join(
                    [*task.lines, *(text for _, text in task.texts), context.system, context.project]
                    + [f"{spec.name} {spec.description}" for spec in context.tools]
                ),
            ),
            price=None if plan.price is None else plan.price.reported(landing.served),
            digest=plan.digest,
        )

    def _gone(self, turning: Turning) -> Iterator[Gone]:
        """The texts that left, as they stood before."""
        decision, entries = turning.decision, turning.entries
        for move in decision.moves:
            if move.act == "remove":
                continue
            entry, row = entries[move.row], turning.before.row(move.row)
            forms = entry.forms(row, self.context.counter)
            if move.index < 0:
                for at, message in enumerate(forms):
                    left_before = at > 0 and row.results[at - 1].form == "stub"
                    if message.text and not left_before:
                        yield from _gone(message, entry.addresses[at])
            else:
                yield from _gone(forms[move.index + 1], entry.addresses[move.index + 1])

    def _measured(self, row: StepRow) -> StepRow:
        """The row with the numbers of the window as it is now."""
        state = self.context.state
        task, output = task_tokens(state), self._outputs.tokens(state)
        fixed = state.fixed + state.core
        return replace(
            row,
            fill=state.fill,
            tokens=state.total,
            fixed=fixed,
            task=task,
            history=state.total - fixed - task - output,
            output=output,
            headroom=state.window.total - state.total,
        )

    def _events(self, turning: Turning, plan: Plan) -> list[_Said]:
        if turning.decision.followed:
            return self._followed(turning)
        match plan.outcome:
            case "nothing":
                return []
            case "cleanup":
                acts = Counter(map(strongest, moves_by_row(turning.decision).values()))
                counts = [
                    (acts["collapse"], "to one line"),
                    (acts["evict"], "left"),
                    (acts["shrink"], "shrunk"),
                    (acts["squeeze"], "squeezed"),
                ]
                said = ", ".join(f"{count} {word}" for count, word in counts if count)
                kinds = ("cleanup", "shrink") if acts["shrink"] else ("cleanup",)
                return [_Said(f"{'forced ' if plan.forced else ''}cleanup{said and f': {said}'}", kinds)]
            case "idle" | "stuck" if turning.before.said == plan.outcome:
                return []
            case other:
                return [_Said(other, (other,))]

    def _followed(self, turning: Turning) -> list[_Said]:
        """What is to be said of a request that somebody else made, and what the policy would have done with it."""
        kinds = ("cleanup",) if turning.decision.lands else ()
        said = [_Said(one, kinds) for one in turning.said]
        before, self._would = self._would, turning.foretold is not None and turning.foretold.lands
        if turning.foretold is None or turning.foretold.outcome == "nothing":
            return said
        foretold, name = turning.foretold, self.context.state.policy.name
        match foretold.outcome:
            case "cleanup":
                would = f"clean up: {foretold.before.total:,} to {foretold.after.total:,} tokens"
            case "nudge":
                would = "nudge"
            case "stuck":
                would = "be stuck: it does not fit what can be sent"
            case _:
                would = "clean up, but too little may leave"
        # Nobody cleaned up, so it would at every step from there on; the first is what counts.
        marked = ("foretold",) if self._would and not before else ()
        return [*said, _Said(f"{name} would {would}", marked)]

    def _window_texts(self, landing: _Landing) -> list[str]:
        return [
            message.text
            for row in landing.state.rows
            for message in landing.entries[row.id].forms(row, self.context.counter)
        ]


def with_regrets(row: StepRow, regrets: Sequence[Regret]) -> StepRow:
    """The row with the regrets that the answer to its request shows."""
    if not regrets:
        return row
    said = [f"regret: {one.what} (left at step {one.cut})" for one in regrets]
    return replace(row, events=(*row.events, *said), kinds=(*row.kinds, "regret"))


def _head(landing: _Landing) -> Diff:
    plan, written, task = landing.plan, landing.written, landing.task
    # A note takes other than was reserved for it, and other things may have happened until it came.
    after = landing.turning.decision.after.total - landing.turning.decision.note_tokens + landing.note_tokens
    head = Diff(
        step=landing.turning.step,
        outcome=plan.outcome,
        forced=plan.forced,
        before=plan.before,
        after=after,
        fill_before=plan.fill_before,
        fill_after=after * 1000 // landing.state.usable,
        left=(),
        note_tokens=landing.note_tokens,
        reason=plan.reason,
    )
    if task is None:
        return head
    # What nobody wrote yet, a note by rule stands for.
    return replace(
        head,
        note_reference=RULE_REFERENCE if written is None else written.reference,
        note_author=RULE_AUTHOR if written is None else written.author,
        generation=task.generation,
    )


def _gone(message: Message, address: str) -> Iterator[Gone]:
    """Without the header that a page begins with, and the marker of a cut: they only say where lines stand."""
    place, lines = parse(address), message.text.split("\n")
    headed = 0
    if place is not None and message.results:
        of_ours = (
            line.startswith("[") and not line.startswith("[…") and place.base in line for line in lines[:TOP]
        )
        headed = next((number for number, is_header in enumerate(of_ours, 1) if is_header), 0)
    for text, before in pieces("\n".join(lines[headed:])):
        if text:
            yield Gone(text=text, address=address, offset=-before)
