"""Segments as text and HTML: what is in the window, whether it may leave and why, what the next cleanup would do."""

from __future__ import annotations

from collections.abc import Sequence

from ethang_nb.context.segments import Segment, SegmentKind, Segments
from ethang_nb.context.snapshot import Pin
from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.limits import ADDRESS, OPEN_ROWS, ROWS, TITLE
from ethang_nb.views.markup import Markup, address, breakable, el, lines
from ethang_nb.views.numbers import count, grouped, tokens
from ethang_nb.views.palette import swatch
from ethang_nb.views.plain import Column, indented, line, opened, table
from ethang_nb.views.stylesheet import output

__all__ = ["allowed", "html", "leaves", "origin", "part", "summary", "text", "title"]

ALLOWANCE = 30_000  # ► bytes of the table when it is an output of its own
LINE, _WITHOUT_NOTE = "line that says what left", " tokens, without a note"
REPAIRS = 8  # ► of what was mended
_TRUST = {"agent": "a claim of the agent", "outside": "outside", "owner": "owner"}
_SLICES: dict[SegmentKind, str] = {
    "system": "system",
    "tools": "tools",
    "project": "project",
    "core": "core",
    "task": "task",
    "note": "handoff notes",
    "memory": "recalled memory",
    "turn": "tool output",
}
"""The slice whose colour a segment's bar has; history for all others."""
_STAY = frozenset({"", "stay", "stays"})


def summary(segments: Sequence[Segment]) -> str:
    """How many, how large, how many may leave, how many would."""
    droppable = sum(item.droppable for item in segments)
    leaving = sum(leaves(item) for item in segments)
    total = sum(item.tokens for item in segments)
    said = f"{count(len(segments), 'segment')}, {tokens(total)}; droppable {grouped(droppable)}"
    return f"{said}; the next cleanup changes {grouped(leaving)}"


def leaves(segment: Segment) -> bool:
    """Whether the next cleanup would change it."""
    return segment.verdict not in _STAY


def title(segment: Segment) -> str:
    """What it is; where a policy writes no note, the one line in its place is no handoff note."""
    alone = segment.messages[0].text if segment.kind == "note" and segment.messages else ""
    return LINE if _WITHOUT_NOTE in alone.partition(":")[0] else segment.title


def allowed(segment: Segment) -> str:
    """Whether it may leave, in the word of the design; what may leave and is spared by rule says so."""
    if not segment.droppable:
        return "not droppable"
    spared = bool(segment.why) and segment.why == segment.reason and not leaves(segment)
    return "droppable, but stays for now" if spared else "droppable"


def origin(segment: Segment) -> str:
    """Source and trust: "read_file, outside"."""
    trust = _TRUST[segment.trust]
    source = line(segment.source, 40)
    return trust if source in ("", segment.trust) else f"{source}, {trust}"


def _reasons(segment: Segment) -> str:
    """Why it may or may not leave, and why the next cleanup would or would not change it."""
    reason, why = line(segment.reason, 160), line(segment.why, 160)
    if why.startswith(reason):
        return why
    return f"{reason}; {why}" if why else reason


def text(segments: Segments, most: int = ROWS, where: str = "segments") -> str:
    """The segments for a terminal of 80 columns: one line each, and one with origin and reason under it."""
    columns = (
        Column(head="#", width=6, align=">"),
        Column(head="segment", width=43),
        Column(head="tokens", width=9, align=">"),
        Column(head="next cleanup", width=12),
    )
    shown = excerpt(segments, most)
    if not segments:
        return "\n".join(["Nothing is in the window yet.", *_repairs(segments)])
    said = indented(opened(summary(segments)) + ".", "")
    said += table(columns, [], indent="")
    for item in shown.head:
        said += _text_rows(item, columns)
    if shown.hidden:
        said.append(shown.gap(where))
    for item in shown.tail:
        said += _text_rows(item, columns)
    return "\n".join(said + _repairs(segments))


def part(
    segments: Segments,
    *,
    pins: Sequence[Pin] = (),
    most: int = ROWS,
    allowance: int = ALLOWANCE,
    where: str = "segments",
    drawn: bool = False,
    caption: str = "",
) -> Markup:
    """The table as a piece of a larger view. `drawn` adds a small bar per segment, beside its tokens.

    `caption` stands where the summary has been said already.
    """
    head = el(
        "tr",
        el("th", "#", scope="col", class_="eth-n"),
        *(el("th", name, scope="col") for name in ("segment", "source")),
        el("th", "tokens", scope="col", class_="eth-n"),
        *(el("th", name, scope="col") for name in ("next cleanup", "may it leave, and why")),
    )
    largest = max((item.tokens for item in segments), default=0) if drawn else 0
    pinned = {pin.segment: pin for pin in pins if not pin.lifted}
    body = rows_within(
        segments,
        lambda item: _row(item, pinned.get(item.id), largest),
        lambda said: el("tr", el("td", said, colspan=6, class_="eth-dim")),
        where=where,
        most=most,
        allowance=allowance,
    )
    repairs = [el("p", f"mended: {line(item, 200)}", class_="eth-dim") for item in segments.repairs[:REPAIRS]]
    told = el("caption", caption or f"{summary(segments)}; oldest first")
    return lines([el("table", told, el("thead", head), el("tbody", body), class_="eth-cards"), *repairs])


def html(segments: Segments) -> str:
    """The segments as a stored output: the summary, and the table in `<details>`, open where it is short."""
    table = part(segments, caption="oldest first")
    box = el("details", el("summary", summary(segments)), table, open=len(segments) <= OPEN_ROWS)
    return output(box, label="Segments")


def _verdict(segment: Segment) -> Markup:
    """The verdict as a small sign: what the next cleanup would do."""
    name = "eth-v eth-leaves" if leaves(segment) else "eth-v"
    return el("span", line(segment.verdict, 24) or "stays", class_=name)


def _lock(segment: Segment) -> Markup:
    """A closed or an open lock with its word."""
    return el("span", allowed(segment), class_="eth-open" if segment.droppable else "eth-lock")


def _mini(segment: Segment, largest: int) -> Markup | None:
    """A bar of at most 3.2 em in the colour of the segment's slice."""
    if not largest:
        return None
    width = segment.tokens * 320 // largest
    look = swatch(_SLICES.get(segment.kind, "history"))
    bar = el("i", class_=f"eth-mini eth-c-{look.slug}", style=f"width:{width // 100}.{width % 100:02d}em")
    return el("span", bar, class_="eth-mini-box")


def _row(segment: Segment, pin: Pin | None, largest: int) -> Markup:
    pinned = el("span", f"pinned {pin.kind}", class_="eth-v eth-pinned") if pin else None
    why = [_lock(segment), f": {_reasons(segment)}" if _reasons(segment) else None]
    where = [el("br"), address(segment.address)] if segment.address else []
    return el(
        "tr",
        el("td", grouped(segment.position), class_="eth-n eth-dim"),
        el("th", breakable(line(title(segment), TITLE)), pinned and " ", pinned, *where, scope="row"),
        el("td", origin(segment), class_="eth-w eth-src"),
        el("td", _mini(segment, largest), grouped(segment.tokens), class_="eth-n"),
        el("td", _verdict(segment)),
        el("td", *why, class_="eth-w eth-dim"),
    )


def _text_rows(segment: Segment, columns: Sequence[Column]) -> list[str]:
    cells = (
        grouped(segment.position),
        line(title(segment), TITLE),
        grouped(segment.tokens),
        line(segment.verdict, 24),
    )
    why = f"{origin(segment)}; {allowed(segment)}: {_reasons(segment)}".removesuffix(": ")
    under = indented(why, " " * 8)
    if segment.address:
        under.append(" " * 8 + line(segment.address, ADDRESS))
    return table(columns, [cells], indent="")[1:] + under


def _repairs(segments: Segments) -> list[str]:
    return [f"mended: {line(item, 200)}" for item in segments.repairs[:REPAIRS]]
