"""A run as text, HTML and data: how it ended and what it answered, then the context it left behind.

One stored output holds all three, so they share the bytes that it may take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from ethang_nb.context.snapshot import Diff, Snapshot
from ethang_nb.views import budget, context, diff, stored
from ethang_nb.views.excerpt import fitting, size
from ethang_nb.views.limits import ANSWER, BODY_BYTES, DATA_LEAST, PREVIEW
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import count, dollars, grouped, percent
from ethang_nb.views.plain import WIDTH, clip, indented, line, opened, visible
from ethang_nb.views.stylesheet import output

__all__ = [
    "RunLike",
    "answer",
    "data",
    "detail",
    "ending",
    "fault",
    "figures",
    "html",
    "model",
    "session",
    "spending",
    "text",
    "tone",
]

NOTICES = 4  # ►
DETAILS = 12  # ► lines
BROKE_OFF = "… (it broke off here; the model will not see what had come of it)"
ANSWER_BYTES = 20_000  # ► of a stored answer; one in a script of many bytes is cut further


class SpentLike(Protocol):
    """What requests took, in tokens and 10⁻⁶ USD; None: nobody said so."""

    @property
    def own_input(self) -> int: ...
    @property
    def own_output(self) -> int: ...
    @property
    def cached(self) -> int | None: ...
    @property
    def written(self) -> int | None: ...
    @property
    def reasoning(self) -> int | None: ...
    @property
    def predicted(self) -> int | None: ...
    @property
    def cost(self) -> int | None: ...
    @property
    def unpriced(self) -> str: ...
    @property
    def priced(self) -> int: ...


class RunLike(Protocol):
    """What is drawn of a run. `ending` is "" while it goes on; `error` says what a person should do about it.

    `label` names the model, "" where nobody knows it; `tokens_in` and `tokens_out` are None where nothing came of any
    request; `partial`: the answer had come so far when it broke off.
    """

    @property
    def session(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def ending(self) -> str: ...
    @property
    def answer(self) -> str | None: ...
    @property
    def partial(self) -> bool: ...
    @property
    def error(self) -> object: ...
    @property
    def steps(self) -> int: ...
    @property
    def tokens_in(self) -> int | None: ...
    @property
    def tokens_out(self) -> int | None: ...
    @property
    def p95(self) -> int | None: ...
    @property
    def snapshot(self) -> Snapshot | None: ...
    @property
    def diffs(self) -> Sequence[Diff]: ...
    @property
    def notices(self) -> Sequence[str]: ...
    @property
    def usage(self) -> SpentLike: ...
    @property
    def notes_usage(self) -> SpentLike: ...
    @property
    def note_tokens(self) -> int: ...
    @property
    def note_cost(self) -> int | None: ...


def ending(run: RunLike) -> str:
    """How it ended, in the word of the record; "running" while it goes on."""
    return line(run.ending or "running", 40)


def session(run: RunLike) -> str:
    """The session it worked in, how many steps that one had before this run, and whether it started from the core."""
    name = f"Session {line(run.session, 60)}"
    # Not all steps of a run send something, and one step may send twice: only the run itself knows where it began.
    before: int | None = getattr(run, "before", None)
    if before is None:
        before = len(run.snapshot.timeline) - run.steps if run.snapshot is not None else 0
    start = " from the core" if any(_is_reseed(item) for item in run.diffs) else ""
    return f"{name} goes on{start} after {count(before, 'step')}" if before > 0 else name


def model(run: RunLike) -> str:
    """Who answered, in the words of its provider; "" where nobody knows."""
    return f"Model: {line(run.label, 200)}." if run.label else ""


def _is_reseed(diff: Diff) -> bool:
    return diff.outcome == "reseed"


def figures(run: RunLike) -> str:
    """Steps, tokens in and out over all its requests, what they cost, cleanups and p95, in one line.

    What the provider did not say is not there; where our own count stands in for it, that is said.
    """
    spent = run.usage
    said = [
        count(run.steps, "step"),
        *_tokens(run),
        *([] if spent.cost is None else [dollars(spent.cost)]),
        count(sum(not _is_reseed(item) for item in run.diffs), "cleanup"),
    ]
    if run.p95 is not None:
        said.append(f"p95 {percent(run.p95)}")
    return ", ".join(said)


def _tokens(run: RunLike) -> list[str]:
    spent = run.usage
    if run.tokens_in is None or run.tokens_out is None:
        return ["no reply"]
    return [
        _sum(run.tokens_in, "tokens in", spent.own_input, spent.cached, "cached"),
        _sum(run.tokens_out, "out", spent.own_output, spent.reasoning, "reasoning"),
    ]


def _sum(whole: int, unit: str, own: int, part: int | None, word: str) -> str:
    """A number of tokens, how much of it is our own count, and how much is of a kind."""
    more = [] if not own else ["our count" if own == whole else f"{grouped(own)} by our count"]
    more += [] if part is None else [f"{grouped(part)} {word}"]
    about = "about " if own else ""
    return f"{about}{grouped(whole)} {unit}" + (f" ({', '.join(more)})" if more else "")


def spending(run: RunLike) -> tuple[str, ...]:
    """What more is known of what it took: the cache beside what was predicted, handoff notes, why there is no cost."""
    spent, said = run.usage, list[str]()
    if spent.cached is not None and spent.predicted:
        written = "" if spent.written is None else f"; {grouped(spent.written)} were put there"
        said.append(
            f"Cache: {grouped(spent.cached)} tokens read, {grouped(spent.predicted)} predicted{written}."
        )
    elif spent.written is not None:
        said.append(f"Cache: {grouped(spent.written)} tokens were put there.")
    if run.note_tokens:
        cost = "" if run.note_cost is None else f", {dollars(run.note_cost)}"
        about = "about " if run.notes_usage.own_input or run.notes_usage.own_output else ""
        said.append(f"Of all this, handoff notes took {about}{count(run.note_tokens, 'token')}{cost}.")
    if spent.cost is None and spent.priced:
        said.append(f"Cost unknown: {line(spent.unpriced, 200)}.")
    return tuple(said)


def fault(run: RunLike) -> str:
    """The error of a run that did not complete, on one line."""
    return line(str(run.error), 600) if run.error else ""


def detail(run: RunLike) -> list[str]:
    """Further lines of the error, such as how a request differs from the recorded one."""
    return [clip(visible(row), WIDTH - 2) for row in str(getattr(run, "detail", "")).splitlines()[:DETAILS]]


def answer(run: RunLike, limit: int) -> str:
    """The answer with at most `limit` characters, and how to see the rest; of one that broke off, that it did."""
    whole = run.answer or ""
    shown = visible(whole[:limit])[: limit + limit // 4]
    rest = len(whole) - limit
    shown += f"\n… {count(rest, 'more character')}; see run.answer" if rest > 0 else ""
    return f"{shown}\n{BROKE_OFF}" if run.partial and whole else shown


def text(run: RunLike) -> str:
    """The run for a terminal of 80 columns."""
    said = [*indented(f"{opened(ending(run))}: {figures(run)}.", ""), *indented(f"{session(run)}.", "")]
    said += indented(model(run), "") if run.label else []
    for more in spending(run):
        said += indented(more, "")
    if fault(run):
        said += indented(fault(run), "")
    said += [f"  {row}" for row in detail(run)]
    for notice in _notices(run):
        said += indented(notice, "")
    if run.answer:
        said += ["", next(form for form in _forms(run) if _bytes(form) <= ANSWER_BYTES)]
    if run.snapshot is not None:
        found = run.snapshot.budget
        said += ["", budget.bar(found), *indented(f"{budget.full(found)}: {budget.sentence(found)}", "")]
    said += ["", *(_cleanups(run))] if run.diffs else []
    return "\n".join(said)


def html(run: RunLike) -> str:
    """The run as a stored output: ending and answer in the open, the rest in closed `<details>`."""
    said = lines(
        [
            el("p", el("strong", opened(ending(run)), class_=tone(run)), f": {figures(run)}."),
            el("p", f"{session(run)}. {model(run)}".strip()),
            *(el("p", more, class_="eth-dim") for more in spending(run)),
            el("p", fault(run), class_="eth-stop") if fault(run) else None,
            el("pre", "\n".join(detail(run)), class_="eth-answer") if detail(run) else None,
            *(el("p", notice, class_="eth-warn") for notice in _notices(run)),
            _answer(run) if run.answer else None,
            el("p", f"Task: {line(run.task, PREVIEW)}", class_="eth-dim"),
        ]
    )
    snapshot = run.snapshot
    room = BODY_BYTES - DATA_LEAST - size(said)
    rest = _context(snapshot, room) if snapshot is not None else None
    return output(said, rest, label=f"Run of {line(run.session, 60)}")


def _notices(run: RunLike) -> list[str]:
    """The first of its notices, and how many more there are."""
    shown = [f"notice: {line(item, PREVIEW)}" for item in run.notices[:NOTICES]]
    rest = len(run.notices) - len(shown)
    return [*shown, f"{count(rest, 'more notice')}; see run.notices"] if rest > 0 else shown


def data(run: RunLike) -> dict[str, Any]:
    """The context it left behind, as data in what text and HTML leave of a stored output; {} where that is nothing."""
    if run.snapshot is None:
        return {}
    return stored.beside(run.snapshot, text(run), html(run))


def tone(run: RunLike) -> str:
    """The class that colours the ending, whose word says the same."""
    return {"completed": "eth-ok", "running": "eth-dim"}.get(ending(run), "eth-stop")


def _answer(run: RunLike) -> Markup:
    return fitting((el("pre", form, class_="eth-answer") for form in _forms(run)), ANSWER_BYTES)


def _forms(run: RunLike) -> Iterator[str]:
    """The answer as an output stores it, and shorter: characters take from one to six bytes."""
    return (answer(run, limit) for limit in (ANSWER, ANSWER // 4))


def _bytes(text: str) -> int:
    return len(text.encode())


def _context(snapshot: Snapshot, room: int) -> Markup:
    summary = f"Context at the end: {budget.full(snapshot.budget)}, {context.cleanups(snapshot)}"
    head = el("summary", summary)
    return el("details", head, context.part(snapshot, where="run.snapshot", room=room - size(head) - 50))


def _cleanups(run: RunLike) -> list[str]:
    return [said for item in run.diffs[-6:] for said in indented(f"{opened(diff.headline(item))}.", "")]
