"""Live: a session's steps as they happen, a line each; the first cleanup with its plan, later ones in a line."""

from __future__ import annotations

from collections.abc import Iterator

from ethang_nb.agent.run import Progress, Run
from ethang_nb.agent.session import Session
from ethang_nb.cli.terminal import WIDTH, Terminal, Tone
from ethang_nb.context.address import parse
from ethang_nb.context.plan import SHOWN_ACTS, Plan, Verdict
from ethang_nb.context.snapshot import Diff, StepRow
from ethang_nb.views import diff as diff_view
from ethang_nb.views import plan as plan_view
from ethang_nb.views.chart import kinds
from ethang_nb.views.numbers import grouped, percent
from ethang_nb.views.plain import clip, line, middle
from ethang_nb.views.timeline import GAUGE, gauge

__all__ = ["Live"]

_TONES: dict[str, Tone] = {
    "stuck": "stop",
    "idle": "warn",
    "cleanup": "cut",
    "nudge": "warn",
    "release": "good",
}
_MOST_LEFT = 14  # ► rows of the first cleanup's plan
_LEAST = 16  # ► cells below which a title tells nothing
_INDENT = " " * 6


class Live:
    """A watcher of `session`: called after each request point, from the session's thread."""

    def __init__(self, terminal: Terminal, session: Session) -> None:
        self._terminal, self._session = terminal, session
        self._digits = len(grouped(session.window.total))
        self._planned = False
        head = f"step {'tokens':>{self._digits}}    fill {'':{GAUGE}}  what this request brings"
        terminal.say(head, "dim")

    def __call__(self, progress: Progress) -> None:
        if progress.ending != "running":
            return
        row, chronicle = progress.row, self._session.chronicle
        if row.before is None:
            self._step(row, row.tokens, row.fill)
            return
        diff = chronicle.diffs[-1]
        self._step(row, diff.before, row.before)
        self._landed(row, diff)
        if not self._planned and chronicle.last is not None:
            self._planned = True
            for said in _plan(chronicle.last):
                self._terminal.say(_INDENT + said)

    def finish(self, run: Run) -> None:
        """How it ended."""
        self._terminal.say(f"     {run.ending}", "good" if run.ok else "stop")
        self._terminal.say()

    def _step(self, row: StepRow, held: int, fill: int) -> None:
        """What came in, then what happened before it was sent; a cleanup has a line of its own."""
        marks = [] if row.before is not None else [line(event, 60) for event in row.events]
        room = WIDTH - self._digits - 5 - 8 - 3 - GAUGE - sum(len(mark) + 3 for mark in marks)
        what = "the task" if row.step == 1 else middle(line(row.what, 120), room) if room > _LEAST else ""
        tone: Tone = next((_TONES[kind] for kind in kinds(row) if kind in _TONES), "plain")
        self._line(grouped(row.step), held, fill, " · ".join(filter(None, [what, *marks])), tone)

    def _landed(self, row: StepRow, diff: Diff) -> None:
        said = ", ".join(line(event, 60) for event in row.events)
        taken = diff_view.passing(diff)
        also = f" and {taken}" if taken else ""
        note = f", note: {grouped(diff.note_tokens)} tokens" if diff.note_tokens else ""
        self._line("", diff.after, diff.fill_after, said + also + note, "cut")

    def _line(self, step: str, held: int, fill: int, what: str, tone: Tone) -> None:
        said = f"{step:>4} {grouped(held):>{self._digits}} {percent(fill):>7} {gauge(fill)}  {what}"
        self._terminal.say(said.rstrip(), tone)


def _plan(plan: Plan) -> Iterator[str]:
    """What leaves, by which rule, and where it can be read again."""
    rows = sorted(
        (item for item in plan_view.changes(plan) if item.address), key=lambda item: (item.act, item.reason)
    )
    yield f"its plan: {clip(plan.reason, 62)}"
    before = ""
    for item in rows[:_MOST_LEFT]:
        rule = _rule(item)
        if rule != before:
            yield f"{rule}; read again at"
            before = rule
        yield f"{grouped(item.before):>7}  {_place(item)}"
    if len(rows) > _MOST_LEFT:
        yield f"      … and {len(rows) - _MOST_LEFT} more, each with its address"
    newest = "segment" if plan.kept == 1 else f"{plan.kept} segments"
    yield f"the task and the newest {newest} stay"


def _rule(item: Verdict) -> str:
    """The act and its rule: "leaves: older tool turn"."""
    act = SHOWN_ACTS[item.act]
    return item.reason if item.reason.startswith(act) else f"{act}: {item.reason}"


def _place(item: Verdict) -> str:
    """The address; with what it is where the address does not say that."""
    place = parse(item.address)
    if place is not None and place.scheme == "file":
        return line(item.address, 120)
    return f"{line(item.address, 80)}  {clip(line(item.title, 120), 46)}"
