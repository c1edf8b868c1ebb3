"""Status: one session at a glance: its settings and where they came from, how full it is, where its record lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ethang_nb.agent.session import Session
from ethang_nb.context import kinds
from ethang_nb.context.budget import Budget
from ethang_nb.notebook.outputs import Rows
from ethang_nb.store.journal_mode import journal_mode
from ethang_nb.views.numbers import count, grouped, percent, tokens
from ethang_nb.views.plain import line

__all__ = ["status"]

OURS = 1000  # per mille: the provider counts as we do


def status(
    session: Session, sources: Mapping[str, str], notices: Sequence[str] = (), *, stop: str = "%ethang stop"
) -> Rows:
    """The status of a session; `sources` says where its model, window and policy came from. Changes nothing.

    `stop` is the line that ends a run of it that no cell waits for.
    """
    snapshot = session.snapshot
    budget = snapshot.budget
    p95 = "no request yet" if budget.p95 is None else f"p95 {percent(budget.p95)}"
    rows = (
        ("model", f"{snapshot.model_label}{_from(sources, 'model')}"),
        *_reach(session),
        ("policy", f"{snapshot.policy}{_from(sources, 'policy')}"),
        ("window", f"{_window(budget)}{_from(sources, 'window')}"),
        ("fill", f"{percent(budget.fill)}, {tokens(budget.used)}, {p95}"),
        ("room", f"for one more result of {tokens(budget.room)} before the next cleanup"),
        ("state", _state(session, stop)),
        ("record", _record(session)),
        *(("notice", notice) for notice in (*snapshot.notices, *notices)),
    )
    return Rows(title=f"Session {session.name}", rows=rows)


def _window(budget: Budget) -> str:
    """Total, usable as the budget has it, and who said that this is the window, where it is not who set it."""
    window = budget.window
    said = f"{tokens(window.total)}, {grouped(budget.usable)} of them usable"
    if budget.ratio != OURS:
        said += f" (this model is taken to count {percent(budget.ratio)} of ours)"
    return said if window.source == "given" else f"{said}; {line(window.source, 60)}"


def _from(sources: Mapping[str, str], name: str) -> str:
    source = sources.get(name, "")
    return f" (from {source})" if source else ""


def _reach(session: Session) -> Iterator[tuple[str, str]]:
    """What else answers, where that was given: who writes the notes, and the cassette with its mode.

    A session that is only looked at has no mode.
    """
    given, cassette = session.given, session.cassette
    if given.summariser is not None:
        yield "summariser", given.summariser
    elif given.models:
        yield "models", f"{', '.join(given.models)}: the cheapest that can hold the text writes a note"
    if cassette is not None:
        yield "cassette", f"{cassette.name}, mode {cassette.mode}"
    elif given.cassette is not None:
        yield "cassette", str(given.cassette)


def _state(session: Session, stop: str) -> str:
    if session.running:
        how = "■" if session.main.waiting else stop
        return f"running, at step {grouped(session.live.step)}; {how} ends the run"
    record = session.archive.record
    ended = record.events(kinds=(kinds.RUN_END,))
    sent = len(record.events(kinds=(kinds.REQUEST,)))  # as runs count: a cleanup alone is no step of theirs
    said = f"the last run ended {ended[-1].data['ending']}" if ended else "nothing was run yet"
    return f"at rest after {count(sent, 'step')}; {said}"


def _record(session: Session) -> str:
    path = session.archive.record.path
    kept = journal_mode(path)
    # Which local file system it is differs from machine to machine and matters to nobody.
    why = "on a local file system" if kept.mode == "WAL" else kept.why
    return f"{_near(path)}, {count(session.archive.record.last, 'event')}, journal {kept.mode}: {why}"


def _near(path: Path) -> str:
    """The path as seen from the current folder, so that a stored output names no machine."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()
