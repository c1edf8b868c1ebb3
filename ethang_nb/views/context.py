"""A whole snapshot as text and HTML: who, how full, what is in it, what happens next, what happened."""

from __future__ import annotations

from ethang_nb.context.snapshot import Diff, Snapshot
from ethang_nb.views import budget, diff, pins, plan, segments, timeline
from ethang_nb.views.limits import PREVIEW
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import count, grouped, tokens
from ethang_nb.views.plain import indented, line, opened
from ethang_nb.views.stylesheet import output

__all__ = ["about", "cleanups", "coming", "html", "part", "state", "text"]

# ► what each part of a stored snapshot may take, in bytes; with the sheet and the bar they stay under 50 kB
SEGMENTS_BYTES, STEPS_BYTES, PLAN_BYTES, LEFT_BYTES, PINS_BYTES = 13_000, 7_000, 6_000, 2_500, 3_000
SEGMENTS, STEPS, DIFFS, NOTICES = 40, 24, 2, 10  # ► rows
TEXT_SEGMENTS, TEXT_STEPS = 16, 14  # ► rows in the text form


def about(snapshot: Snapshot) -> str:
    """Model, policy and window in one line."""
    window = snapshot.budget.window
    model = line(snapshot.model_label or snapshot.model, 100)
    return f"{model} · policy {line(snapshot.policy, 40)} · window {grouped(window.total)} ({line(window.source, 60)})"


def state(snapshot: Snapshot) -> str:
    """Where the session stands: "step 23, reading"."""
    return f"step {grouped(snapshot.step)}, {line(snapshot.state, 60) or 'no state'}"


def coming(snapshot: Snapshot) -> str:
    """When the next cleanup is due, and what it would do if it came now."""
    due, used = snapshot.budget.cleanup_at, snapshot.budget.used
    if not snapshot.plan.lands:
        return plan.headline(snapshot.plan)
    when = f"due at {tokens(due)}" if due > used else "due at the next request"
    return f"next cleanup {when}; if it came now: {plan.change(snapshot.plan)}"


def cleanups(snapshot: Snapshot) -> str:
    """How many cleanups there were."""
    return count(len(snapshot.diffs), "cleanup") if snapshot.diffs else "no cleanup yet"


def text(snapshot: Snapshot) -> str:
    """The snapshot for a terminal of 80 columns. Each part names the attribute that holds all of it."""
    blocks = [
        "\n".join([line(snapshot.name, 60), *indented(about(snapshot)), *indented(state(snapshot))]),
        budget.text(snapshot.budget),
        "\n".join(
            indented(f"{opened(coming(snapshot))}. {line(snapshot.plan.reason, PREVIEW)}".rstrip(), "")
        ),
        segments.text(snapshot.segments, TEXT_SEGMENTS, "snapshot.segments"),
        timeline.text(snapshot.timeline, TEXT_STEPS, "snapshot.timeline"),
    ]
    if snapshot.diffs:
        last = snapshot.diffs[-1]
        said = [f"{opened(cleanups(snapshot))}; the last, snapshot.diffs[-1]:"]
        said += indented(f"{diff.headline(last)}; {diff.gone(last)}.")
        blocks.append("\n".join(said + (indented(f"Facts: {diff.survival(last)}.") if last.facts else [])))
    if snapshot.pins:
        blocks.append(pins.text(snapshot.pins, NOTICES))
    if snapshot.notices:
        blocks.append("\n".join(f"notice: {line(item, PREVIEW)}" for item in snapshot.notices[-NOTICES:]))
    return "\n\n".join(blocks)


def part(snapshot: Snapshot, *, where: str = "snapshot") -> Markup:
    """The snapshot as a piece of a stored output; `where` is the Python expression that holds it."""
    return lines(
        [
            el("p", el("strong", line(snapshot.name, 60)), f" · {about(snapshot)} · {state(snapshot)}"),
            budget.part(snapshot.budget),
            *(
                el("p", f"notice: {line(item, PREVIEW)}", class_="eth-warn")
                for item in snapshot.notices[-NOTICES:]
            ),
            _folded(
                f"Segments: {segments.summary(snapshot.segments)}",
                segments.part(
                    snapshot.segments,
                    pins=snapshot.pins,
                    most=SEGMENTS,
                    allowance=SEGMENTS_BYTES,
                    where=f"{where}.segments",
                ),
            ),
            _steps(snapshot, where),
            _folded(
                opened(coming(snapshot)),
                plan.part(snapshot.plan, most=20, allowance=PLAN_BYTES, where=f"{where}.plan.verdicts"),
            ),
            _pins(snapshot, where),
            _earlier(snapshot, where),
            *(_cleanup(item) for item in snapshot.diffs[-DIFFS:]),
        ]
    )


def html(snapshot: Snapshot) -> str:
    """The snapshot as a stored output: budget in the open, everything long in closed `<details>`."""
    return output(part(snapshot), label=f"Context of {line(snapshot.name, 60)}")


def _folded(summary: str, body: Markup) -> Markup:
    return el("details", el("summary", summary), body)


def _steps(snapshot: Snapshot, where: str) -> Markup | None:
    rows = snapshot.timeline
    if not rows:
        return None
    drawn = timeline.part(
        rows, snapshot.budget.levels, most=STEPS, allowance=STEPS_BYTES, where=f"{where}.timeline"
    )
    return _folded(f"Fill, step by step: {timeline.summary(rows)}", drawn)


def _pins(snapshot: Snapshot, where: str) -> Markup | None:
    if not snapshot.pins:
        return None
    body = pins.part(snapshot.pins, most=NOTICES, allowance=PINS_BYTES, where=f"{where}.pins")
    return _folded(f"Pins: {pins.summary(snapshot.pins)}", body)


def _earlier(snapshot: Snapshot, where: str) -> Markup | None:
    hidden = len(snapshot.diffs) - DIFFS
    if hidden <= 0:
        return None
    return el(
        "p",
        f"{opened(cleanups(snapshot))}; the first {grouped(hidden)} in {where}.diffs[:{hidden}]",
        class_="eth-dim",
    )


def _cleanup(item: Diff) -> Markup:
    facts = f"; facts: {diff.survival(item)}" if item.facts else ""
    return _folded(
        f"{opened(diff.headline(item))}{facts}", diff.part(item, facts=6, rows=12, allowance=LEFT_BYTES)
    )
