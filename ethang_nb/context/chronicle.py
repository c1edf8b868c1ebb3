"""Chronicle: what happened to a live context, step by step: fills, cleanups with their diffs, notices.

It watches; it decides nothing and nothing of it ever enters the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ethang_nb.context.decision import Decision
from ethang_nb.context.diffing import Gone, compare
from ethang_nb.context.entry import Turning
from ethang_nb.context.explain import as_plan, next_cleanup
from ethang_nb.context.fold import PHANTOM
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.notedesk import Written
from ethang_nb.context.notes import NoteTask
from ethang_nb.context.occupancy import budget
from ethang_nb.context.outline import segments
from ethang_nb.context.plan import Plan
from ethang_nb.context.snapshot import Diff, Fact, Left, Snapshot, StepRow
from ethang_nb.context.state import State

__all__ = ["Chronicle"]


class _Noting(NamedTuple):
    """A cleanup that wrote a note: the texts that left in it, the note's task, and what stood beside the note."""

    gone: tuple[Gone, ...]
    task: NoteTask
    core: str
    state: State


class Chronicle:
    """Watches one live context and keeps its timeline, diffs and notices."""

    def __init__(self, context: LiveContext) -> None:
        self.context = context
        self.steps: list[StepRow] = []
        self._diffs: list[Diff] = []
        self.notices: list[str] = []
        self.last: Plan | None = None
        """The plan of the last request point."""
        self._noting: dict[int, _Noting] = {}
        """Position of a diff whose cleanup wrote a note -> what its facts are compared from."""
        self._unwritten: set[int] = set()
        """Of these, where nobody wrote the note; the one by rule that stands in was not looked at yet."""
        self._doubted: set[str] = set()
        self._noted_in: dict[int, int] = {}
        """Note number -> the diff of the cleanup that wrote it."""
        self._released: list[str] = []
        self._let_go: list[Gone] = []
        context.observers.append(self)

    # ---- what the live context tells

    def requested(self, turning: Turning) -> None:
        plan = as_plan(self.context, turning.decision)
        self.last = plan
        events = [*self._released, *self._events(turning, plan)]
        self._released = []
        before = plan.fill_before if plan.lands else None
        self.steps.append(self._row(turning.step, tuple(events), before, self.what()))
        if plan.lands:
            self._land(turning, plan)
        elif plan.outcome in ("idle", "stuck") and turning.before.said != plan.outcome:
            self.notices.append(f"step {turning.step}: {plan.outcome}: {plan.reason}")

    def noted(self, written: Written) -> None:
        """A note is written, or written anew: the diff of the cleanup it belongs to is whole now."""
        at = self._noted_in.get(written.task.id)
        if at is None:
            return
        self._unwritten.discard(at)
        state = self.context.state
        tokens = next((note.tokens for note in state.notes if note.id == written.task.id), 0)
        self._put_note(at, written, tokens, self.context.core, state)
        row = self.steps[-1]
        self.steps[-1] = self._row(row.step, row.events, row.before, row.what)

    def released(self, decision: Decision) -> None:
        """Results that the model offered and rules let go: the next request's row says so.

        A release has no diff of its own, so their facts are accounted for in that of the next cleanup.
        """
        if decision.moves:
            count = len(decision.moves)
            self._released.append(f"release: {count} to one line, {decision.gain:,} tokens freed")
        for move in decision.moves:
            entry = self.context.entries[move.row]
            self._let_go.append(_gone(entry.messages[move.index + 1], entry.addresses[move.index + 1]))

    def reseeded(self, turning: Turning) -> None:
        """A piece of work started from the core, or could not: the next request's row says so."""
        plan = as_plan(self.context, turning.decision)
        if plan.lands:
            self._released.append("reseed")
            self._land(turning, plan)
        else:
            self.notices.append(f"step {turning.step}: {plan.reason}")

    def reported(self, reported: int, own: int, cached: int | None) -> None:
        """A report that can hardly be right is said, once a kind (seed 000: "phantom pressure")."""
        del cached
        if own > 0 and reported > PHANTOM * own:
            kind, said = "phantom", f"over {PHANTOM} times our own count of {own:,}; it is ignored"
        elif own > 0 and reported * 2 < own:
            kind, said = "low", f"less than half of the {own:,} that were sent; it may have cut the request"
        else:
            return
        if kind not in self._doubted:
            self._doubted.add(kind)
            self.notices.append(f"step {self.context.step}: {reported:,} input tokens were reported, {said}")

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
            timeline=tuple(self.steps),
            diffs=tuple(self.diffs),
            pins=tuple(context.pins),
            notices=(*self.notices, *notices),
        )

    @property
    def diffs(self) -> list[Diff]:
        """Every cleanup. Where nobody wrote its note, the one by rule that stands in is compared only now."""
        for at in sorted(self._unwritten):
            noting = self._noting[at]
            written = self.context.notes.by_rule(noting.task, self.context.counter)
            self._put_note(at, written, noting.task.tokens, noting.core, noting.state)
        self._unwritten.clear()
        return self._diffs

    @property
    def fills(self) -> tuple[int, ...]:
        return tuple(row.fill for row in self.steps)

    def what(self) -> str:
        """What the newest message is: the line that says what happened at a step."""
        state = self.context.state
        newest = next((number for number in reversed(state.numbers) if state.kind(number) != "pin"), None)
        return "" if newest is None else self.context.entries[newest].title

    # ---- inside

    def _put_note(self, at: int, written: Written, tokens: int, core: str, state: State) -> None:
        """The diff at `at` with its note, which takes `tokens`, beside this core and what stands in this state."""
        whole, task = self._diffs[at], written.task
        after = whole.after - whole.note_tokens + tokens
        self._diffs[at] = replace(
            whole,
            after=after,
            fill_after=after * 1000 // state.usable,
            note=written.message.text,
            note_tokens=tokens,
            note_reference=written.reference,
            note_author=written.author,
            generation=task.generation,
            facts=compare(
                self._noting[at].gone,
                note=written.prose,
                core=core,
                window=self._window_texts(state),
                sources="\n".join([*task.lines, *(text for _, text in task.texts)]),
            ),
        )

    def _land(self, turning: Turning, plan: Plan) -> None:
        decision, entries = turning.decision, turning.entries
        gone, self._let_go = self._let_go, []
        whole = {move.row for move in decision.moves if move.act in ("evict", "remove")}
        counter = self.context.counter
        left = tuple(
            Left(title=verdict.title, tokens=verdict.before, how=verdict.act, address=verdict.address)
            for verdict in plan.verdicts
            if verdict.act in ("squeeze", "collapse", "shrink", "evict", "remove")
        )
        for move in decision.moves:
            entry = entries[move.row]
            if move.act == "remove":
                continue
            forms = entry.forms(turning.before.row(move.row), counter)
            if move.index < 0:
                gone += [
                    _gone(message, entry.addresses[min(at, len(entry.addresses) - 1)])
                    for at, message in enumerate(forms)
                    if message.text and not _is_stub(message)
                ]
            elif move.row not in whole:
                gone.append(_gone(forms[move.index + 1], entry.addresses[move.index + 1]))
        # Where a note is due, facts are compared once it is written.
        facts: tuple[Fact, ...] = ()
        context = self.context
        if decision.writes_note and context.pending is not None:
            at = self._noted_in[context.pending.id] = len(self._diffs)
            self._noting[at] = _Noting(tuple(gone), context.pending, context.core, context.state)
            self._unwritten.add(at)
        else:
            window = self._window_texts(context.state)
            facts = compare(gone, note="", core=context.core, window=window, sources="")
        state = self.context.state
        self._diffs.append(
            Diff(
                step=turning.step,
                outcome=plan.outcome,
                forced=plan.forced,
                before=plan.before,
                after=state.total,
                fill_before=plan.fill_before,
                fill_after=state.fill,
                left=left,
                facts=facts,
                note_tokens=decision.note_tokens,
                price=plan.price,
                digest=plan.digest,
                reason=plan.reason,
            )
        )

    def _row(self, step: int, events: tuple[str, ...], before: int | None, what: str) -> StepRow:
        state = self.context.state
        rows = state.rows
        task = sum(row.tokens for row in rows if row.task)
        output = sum(result.tokens for row in rows for result in row.results)
        fixed = state.fixed + state.core
        return StepRow(
            step=step,
            fill=state.fill,
            tokens=state.total,
            events=events,
            before=before,
            what=what,
            fixed=fixed,
            task=task,
            history=state.total - fixed - task - output,
            output=output,
            headroom=state.window.total - state.total,
        )

    def _events(self, turning: Turning, plan: Plan) -> list[str]:
        match plan.outcome:
            case "nothing":
                return []
            case "cleanup":
                acts = [verdict.act for verdict in plan.verdicts]
                counts = [
                    (acts.count("collapse"), "to one line"),
                    (acts.count("evict"), "left"),
                    (acts.count("shrink"), "shrunk"),
                ]
                said = ", ".join(f"{count} {word}" for count, word in counts if count)
                return [f"{'forced ' if plan.forced else ''}cleanup: {said}"]
            case "idle" | "stuck" if turning.before.said == plan.outcome:
                return []
            case other:
                return [other]

    def _window_texts(self, state: State) -> list[str]:
        context = self.context
        return [
            message.text
            for row in state.rows
            for message in context.entries[row.id].forms(row, context.counter)
        ]


def _gone(message: Message, address: str) -> Gone:
    # The header line that a tool puts before a text with an address of its own only says that address.
    headed = message.results and message.text.startswith("[") and not address.startswith("log://")
    return Gone(text=message.text.partition("\n")[2] if headed else message.text, address=address)


def _is_stub(message: Message) -> bool:
    return bool(message.results) and message.text.startswith("[left the window: ")
