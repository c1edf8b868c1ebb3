"""A whole snapshot as text and HTML: who, how full, what is in it, what happens next, what happened."""

from __future__ import annotations

from collections.abc import Iterator

from ethang_nb.context.snapshot import Diff, Snapshot
from ethang_nb.views import budget, diff, pins, plan, segments, timeline
from ethang_nb.views.excerpt import size
from ethang_nb.views.limits import BODY_BYTES, PREVIEW, WORKED_OUT
from ethang_nb.views.markup import Markup, el, lines
from ethang_nb.views.numbers import count, grouped, tokens
from ethang_nb.views.plain import indented, line, opened
from ethang_nb.views.stylesheet import output

__all__ = ["about", "cleanups", "coming", "html", "part", "reason", "state", "text"]

# ► bytes that the table of each part may take; what then does not fit together is named instead
SEGMENTS_BYTES, STEPS_BYTES, PLAN_BYTES, LEFT_BYTES, PINS_BYTES = 13_000, 7_000, 6_000, 2_500, 3_000
SEGMENTS, STEPS, CHANGES, DIFFS, NOTICES = 40, 24, 20, 2, 10  # ► rows
CLEANUP_FACTS, CLEANUP_ROWS = 6, 12  # ► of one cleanup
TEXT_SEGMENTS, TEXT_STEPS = 16, 14  # ► rows in the text form


def about(snapshot: Snapshot) -> str:
    """Model, policy and window in one line."""
    window = snapshot.budget.window
    model = line(snapshot.model_label or snapshot.model, 100)
    return f"{model} · policy {line(snapshot.policy, 40)} · window {grouped(window.total)} ({line(window.source, 60)})"


def state(snapshot: Snapshot) -> str:
    """Where the session stands: "step 23, idle". What is stored is live no more, so that is not said."""
    now = "" if snapshot.state == "live" else line(snapshot.state, 60)
    return f"step {grouped(snapshot.step)}" + (f", {now}" if now else "")


def coming(snapshot: Snapshot) -> str:
    """When the next cleanup is due, and what it would do if it came now."""
    due, used = snapshot.budget.cleanup_at, snapshot.budget.used
    if snapshot.plan.outcome == "nothing":
        return "it would change nothing now"
    if not snapshot.plan.lands:
        return plan.headline(snapshot.plan)
    when = f"due at {tokens(due)}" if due > used else "due at the next request"
    return f"{when}; if it came now: {plan.change(snapshot.plan)}"


def reason(snapshot: Snapshot) -> str:
    """Why the plan is what it is; "" for a cleanup that was only asked for in order to be shown."""
    return "" if snapshot.plan.lands and snapshot.plan.asked else snapshot.plan.reason


def cleanups(snapshot: Snapshot) -> str:
    """How many cleanups there were, and how many starts from the core."""
    reseeds = sum(item.outcome == "reseed" for item in snapshot.diffs)
    said = [count(len(snapshot.diffs) - reseeds, "cleanup")] if len(snapshot.diffs) > reseeds else []
    said += [count(reseeds, "reseed")] if reseeds else []
    return ", ".join(said) or "no cleanup yet"


def text(snapshot: Snapshot, *, where: str = "snapshot") -> str:
    """The snapshot for a terminal of 80 columns. Each part names the attribute that holds all of it.

    `where` is the Python expression that holds the snapshot.
    """
    blocks = [
        "\n".join([line(snapshot.name, 60), *indented(about(snapshot)), *indented(state(snapshot))]),
        budget.text(snapshot.budget),
        "\n".join(
            indented(
                f"Next cleanup: {coming(snapshot)}. {opened(line(reason(snapshot), PREVIEW))}".rstrip(), ""
            )
        ),
        segments.text(snapshot.segments, TEXT_SEGMENTS, f"{where}.segments"),
        timeline.text(snapshot.timeline, TEXT_STEPS, f"{where}.timeline"),
    ]
    if snapshot.diffs:
        last = snapshot.diffs[-1]
        said = [f"{opened(cleanups(snapshot))}; the last, {where}.diffs[-1]:"]
        said += indented(f"{diff.headline(last)}; {diff.gone(last)}.")
        blocks.append("\n".join(said + (indented(f"Facts: {diff.survival(last)}.") if last.facts else [])))
    if snapshot.pins:
        blocks.append(pins.text(snapshot.pins, NOTICES))
    if snapshot.notices:
        blocks.append("\n".join(f"notice: {line(item, PREVIEW)}" for item in snapshot.notices[-NOTICES:]))
    return "\n\n".join(blocks)


def part(snapshot: Snapshot, *, where: str = "snapshot", room: int = BODY_BYTES) -> Markup:
    """The snapshot as a piece of a stored output of at most `room` bytes.

    `where` is the Python expression that holds it: a part that does not fit is named by it instead.
    """
    head = lines(
        [
            el("p", el("strong", line(snapshot.name, 60)), f" · {about(snapshot)} · {state(snapshot)}"),
            budget.part(snapshot.budget),
        ]
    )
    left = room - size(head)
    drawn: list[Markup] = [head]
    for name, body in _parts(snapshot, where):
        fits = size(body) <= left
        drawn.append(body if fits else el("p", f"{name}: see {where}.{name}", class_="eth-dim"))
        left -= size(drawn[-1])
    return lines(drawn)


def html(snapshot: Snapshot, *, where: str = "snapshot") -> str:
    """The snapshot as a stored output: budget in the open, everything long in closed `<details>`."""
    return output(part(snapshot, where=where), label=f"Context of {line(snapshot.name, 60)}")


def _parts(snapshot: Snapshot, where: str) -> Iterator[tuple[str, Markup]]:
    """Each part below the budget with the attribute it draws, in the order they are shown and room is given."""
    if snapshot.notices:
        yield "notices", _notices(snapshot)
    yield "segments", _segments(snapshot, where)
    if snapshot.timeline:
        yield "timeline", _steps(snapshot, where)
    yield "plan", _next(snapshot, where)
    if snapshot.pins:
        yield "pins", _pins(snapshot, where)
    if snapshot.diffs:
        yield "diffs", _cleanups(snapshot, where)


def _notices(snapshot: Snapshot) -> Markup:
    return lines(
        el("p", f"notice: {line(item, PREVIEW)}", class_="eth-warn") for item in snapshot.notices[-NOTICES:]
    )


def _segments(snapshot: Snapshot, where: str) -> Markup:
    body = segments.part(
        snapshot.segments,
        pins=snapshot.pins,
        most=SEGMENTS,
        allowance=SEGMENTS_BYTES,
        where=f"{where}.segments",
        caption="oldest first",
    )
    return _folded(f"Segments: {segments.summary(snapshot.segments)}", body)


def _steps(snapshot: Snapshot, where: str) -> Markup:
    rows = snapshot.timeline
    body = timeline.part(
        rows, snapshot.budget.levels, most=STEPS, allowance=STEPS_BYTES, where=f"{where}.timeline"
    )
    return _folded(f"Fill, step by step: {timeline.summary(rows)}", body)


def _next(snapshot: Snapshot, where: str) -> Markup:
    said = f"Next cleanup: {coming(snapshot)}"
    if len(snapshot.segments) > WORKED_OUT:
        return el("p", f"{said}; what it does to each segment: {where}.plan")
    body = plan.part(
        snapshot.plan,
        most=CHANGES,
        allowance=PLAN_BYTES,
        where=f"{where}.plan.verdicts",
        reason=bool(reason(snapshot)),
    )
    return _folded(said, body)


def _pins(snapshot: Snapshot, where: str) -> Markup:
    body = pins.part(snapshot.pins, most=NOTICES, allowance=PINS_BYTES, where=f"{where}.pins")
    return _folded(f"Pins: {pins.summary(snapshot.pins)}", body)


def _cleanups(snapshot: Snapshot, where: str) -> Markup:
    """The last cleanups, each folded, after a line that says where the earlier ones are."""
    hidden = max(0, len(snapshot.diffs) - DIFFS)
    earlier = f"{opened(cleanups(snapshot))}; the first {grouped(hidden)} in {where}.diffs[:{hidden}]"
    folded = (_cleanup(item) for item in snapshot.diffs[-DIFFS:])
    return lines([el("p", earlier, class_="eth-dim") if hidden else None, *folded])


def _cleanup(item: Diff) -> Markup:
    facts = f"; facts: {diff.survival(item)}" if item.facts else ""
    body = diff.part(item, facts=CLEANUP_FACTS, rows=CLEANUP_ROWS, allowance=LEFT_BYTES)
    return _folded(f"{opened(diff.headline(item))}{facts}", body)


def _folded(summary: str, body: Markup) -> Markup:
    return el("details", el("summary", summary), body)
