"""Afterwards: what became of the window, for a terminal: budget, the last cleanup's diff, answer, totals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ethang_nb.agent.run import Run
from ethang_nb.agent.session import Session
from ethang_nb.cli.terminal import Terminal
from ethang_nb.context import kinds
from ethang_nb.context.address import parse
from ethang_nb.context.snapshot import Diff, Fact
from ethang_nb.context.versions import total_of
from ethang_nb.views import budget as budget_view
from ethang_nb.views import diff as diff_view
from ethang_nb.views import run as run_view
from ethang_nb.views import words
from ethang_nb.views.chart import steps_of
from ethang_nb.views.numbers import count, grouped, numbered, tokens
from ethang_nb.views.plain import clip, line, opened

__all__ = ["tell"]

_LEFT, _NOTE = 2, 4  # ► rows shown; the rest is counted
_FACTS = {"lost": 5, "kept": 3, "invented": 5}
_DIGESTS = 14
_NAMED = 3  # ► files by name
_DIGEST = 8  # hex digits of a digest that tell two runs apart


def tell(terminal: Terminal, session: Session, run: Run, files: Collection[str]) -> None:
    """Budget, last cleanup, answer, totals. `files` are the paths that were there to be read."""
    if run.snapshot is not None:
        terminal.say("Budget at the end", "strong")
        for said in filter(None, budget_view.text(run.snapshot.budget).split("\n")):
            terminal.say(said)
        terminal.say()
    if run.diffs:
        _last_cleanup(terminal, run.diffs[-1])
    else:
        terminal.say("No cleanup took place", "strong")
    terminal.say()
    _answer(terminal, run)
    for said in words.text():
        terminal.say(said, "dim")
    terminal.say()
    _totals(terminal, session, run, files)


def _last_cleanup(terminal: Terminal, diff: Diff) -> None:
    terminal.say("The last cleanup", "strong")
    terminal.paragraph(f"{opened(diff_view.headline(diff))}.")
    terminal.say(opened(diff_view.gone(diff)) + ":")
    for item in diff.left[:_LEFT]:
        terminal.say(f"  {grouped(item.tokens):>6}  {line(item.title, 60)}")
    _more(terminal, len(diff.left) - _LEFT, "each with its address in the report")
    terminal.paragraph(_stands(diff))
    told = _told(diff.note)
    for own in told[:_NOTE]:
        terminal.say(f"  | {clip(own, 74)}")
    _more(terminal, len(told) - _NOTE, "and the whole note in the report")
    if diff.facts:
        terminal.paragraph(f"Facts: {diff_view.survival(diff)}. {_addressed(diff.of('lost'))}")
        for fate, most in _FACTS.items():
            _facts(terminal, diff.of(fate), most)


def _stands(diff: Diff) -> str:
    if not diff.note_tokens:
        return "No note stands for it: what left is one line each, with its address."
    by = f", written by {line(diff.note_author, 60)}" if diff.note_author else ""
    reference = f" ({line(diff.note_reference, 60)})" if diff.note_reference else ""
    return f"For it stands a handoff note of {tokens(diff.note_tokens)}{by}{reference}, generation {diff.generation}."


def _told(note: str) -> list[str]:
    """What a note says, without its headings and what it says nothing under."""
    return [
        line(own)
        for own in note.splitlines()[1:]
        if own.strip() and own.strip() != "none" and not own.startswith("#")
    ]


def _facts(terminal: Terminal, facts: Sequence[Fact], most: int) -> None:
    shown = _varied(facts, most)
    for fact in shown:
        where = line(fact.where, 100) if fact.fate == "lost" else f"in the {line(fact.where, 40)}"
        terminal.say(f"  {fact.fate:<8}  {line(fact.text, 20):<20}  {where}")
    _more(terminal, len(facts) - len(shown), shown[0].fate if shown else "")


def _varied(facts: Sequence[Fact], most: int) -> list[Fact]:
    """Up to `most` facts, one of each kind in turn: thirty file names in a row would tell little."""
    kinds: dict[str, list[Fact]] = {}
    for fact in facts:
        kinds.setdefault(fact.kind, []).append(fact)
    turns = max((len(found) for found in kinds.values()), default=0)
    return [found[at] for at in range(turns) for found in kinds.values() if at < len(found)][:most]


def _addressed(lost: Sequence[Fact]) -> str:
    missing = sum(not fact.where for fact in lost)
    if missing:
        return f"{count(missing, 'lost one has', 'lost ones have')} no address."
    return "Each lost one has its address." if lost else ""


def _more(terminal: Terminal, rest: int, what: str) -> None:
    if rest > 0:
        terminal.say(f"  … {rest} more, {what}", "dim")


def _answer(terminal: Terminal, run: Run) -> None:
    terminal.say("Answer" if run.answer else "No answer", "strong")
    if run.answer:
        terminal.paragraph(run_view.answer(run, 2_000), "  ", "good" if run.ok else "plain")
    if run.error:
        terminal.paragraph(f"{run.ending}: {run_view.fault(run)}", "  ", "stop")
    terminal.say()


def _totals(terminal: Terminal, session: Session, run: Run, files: Collection[str]) -> None:
    nudges = steps_of(run.snapshot.timeline if run.snapshot else (), "nudge")
    terminal.named("total", run_view.figures(run))
    terminal.named("read", _read(session, files))
    terminal.named("nudges", f"{len(nudges)}, at {numbered(nudges, 'step')}" if nudges else "none")
    for notice in run.notices:
        terminal.named("notice", line(notice, 200))
    if run.diffs:
        digests = [diff.digest[:_DIGEST] for diff in run.diffs]
        rest = f" and {len(digests) - _DIGESTS} more" if len(digests) > _DIGESTS else ""
        terminal.named("digests", " ".join(digests[:_DIGESTS]) + rest)


@dataclass(slots=True, kw_only=True)
class _Opened:
    """Which lines of a file were read, of how many."""

    lines: int
    read: set[int] = field(default_factory=set)

    @property
    def whole(self) -> bool:
        return len(self.read) >= self.lines


def _read(session: Session, files: Collection[str]) -> str:
    """Which of the files were read to their end, by the record, in how many calls; which in part, which not."""
    calls, found = _opened(session)
    whole = [path for path in files if path in found and found[path].whole]
    part = sorted(path for path in files if path in found and not found[path].whole)
    told, left = _left(session, sorted(set(files) - set(found)))
    said = [f"{grouped(len(whole))} of {count(len(files), 'file')} in {count(calls, 'call')}"]
    said += [f"only in part: {_names(part)}"] if part else []
    said += [f"not opened, as told: {_names(told)}"] if told else []
    said += [f"not opened: {_names(left)}"] if left else []
    return "; ".join(said)


def _opened(session: Session) -> tuple[int, dict[str, _Opened]]:
    """Calls of read_file, and the files that they opened."""
    calls, found = 0, dict[str, _Opened]()
    for event in session.recorded:
        calls += event.kind == kinds.TOOL_START and event.data["name"] == "read_file"
        if event.kind != kinds.MESSAGE:
            continue
        for part in event.data["message"]["parts"]:
            address = part.get("address", "") if part.get("name") == "read_file" else ""
            page, total = parse(address), total_of(part.get("text", ""), address)
            if page is not None and page.lines is not None and total is not None:
                first, last = page.lines
                opened = found.setdefault(page.place, _Opened(lines=total))
                opened.read.update(range(first, last + 1))
    return calls, found


def _left(session: Session, unread: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of the files that were not opened, those that a constraint names, and the others."""
    said = " ".join(pin.text for pin in session.pins if pin.kind == "constraint" and not pin.lifted)
    told = [path for path in unread if path.rpartition("/")[2].partition(".")[0] in said]
    return told, [path for path in unread if path not in told]


def _names(paths: Sequence[str]) -> str:
    names = ", ".join(path.rpartition("/")[2] for path in paths[:_NAMED])
    return names + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")
