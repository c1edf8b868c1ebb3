"""Snapshots to draw: a run over thirty contracts with six cleanups, an empty one, one too full, one of ten
thousand segments, and a hostile one. All made of plain integers, so that golden texts stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ethang_nb.agent.spending import Spent
from ethang_nb.context.budget import Budget, Slice, percentile
from ethang_nb.context.counting import How
from ethang_nb.context.plan import Plan, Price, Verdict
from ethang_nb.context.segments import Retention, Segment, Segments
from ethang_nb.context.snapshot import Diff, Fact, Left, Pin, Snapshot, StepRow
from ethang_nb.context.window import Window, levels

WINDOW = Window(total=6_000, reserve=1_200)
LEVELS = levels(WINDOW.size)
PRICE = Price(prefix=1_037, again=1_853, saved=1_397, pays_after=2, read_per_mille=100, write_per_mille=1_250)
HOSTILE = (
    '<img src=x onerror="window.p=1"></script></style></title></details><script>p=2</script>'
    "\u202etxt.exe\u2066b\u2069\x00\x07\x1b]0;title\x07 [x](javascript:alert(1)) &lt;b&gt; '\" onload=p=3"
)
NOTE = """## Decisions
Contracts are read in the order of their numbers; an order is affected where its cap is below 15.00.

## Constraints in the user's words
"never open contract_17"

## Current state
19 of 30 contracts read (contract_17 is left out).

## Numbers
contract_03: cap 14.27, order 8812; contract_11: cap 12.40, order 9034

## Next steps
Read contract_20, then contract_21.

## Open questions
none

References (where to read it again):
file:data/contracts/contract_14.txt#L1-31@1a2b3c4d contract_14, 31 lines
To search the record: find_in_record(query)"""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run as far as a view looks at it."""

    session: str = "contracts"
    task: str = (
        "Read every file in data/contracts and tell me which orders the cap affects. Never open contract_17."
    )
    ending: str = "completed"
    label: str = ""
    answer: str = ""
    partial: bool = False
    error: str = ""
    steps: int = 23
    tokens_in: int | None = 71_806
    tokens_out: int | None = 1_944
    p95: int | None = 781
    snapshot: Snapshot | None = None
    diffs: tuple[Diff, ...] = ()
    notices: tuple[str, ...] = ()
    usage: Spent = field(default_factory=Spent)
    notes_usage: Spent = field(default_factory=Spent)
    note_tokens: int = 0
    note_cost: int | None = None


def slices(how: How = "exact", **tokens: int) -> tuple[Slice, ...]:
    """Slices by name, underscores for spaces; `tools` counts six, `core` two."""
    counts = {"tools": 6, "core": 2}
    return tuple(
        Slice(name=name.replace("_", " "), tokens=size, how=how, count=counts.get(name, 0))
        for name, size in tokens.items()
    )


def budget(window: Window = WINDOW, *, p95: int | None = 781, how: How = "exact", **tokens: int) -> Budget:
    band = levels(window.size)
    return Budget(
        window=window,
        levels=band,
        slices=slices(how, **tokens),
        how=how,
        p95=p95,
        cleanup_at=-(-window.usable * band.cleanup // 1_000),
    )


def contract(number: int) -> str:
    return f"file:data/contracts/contract_{number:02d}.txt#L1-31@{number * 2_654_435_761 % 2**32:08x}"


def turn(
    number: int,
    position: int,
    *,
    verdict: str = "one line",
    why: str = "old tool output; it can be read again",
) -> Segment:
    stays = verdict == "stays"
    return Segment(
        id=str(position),
        kind="turn",
        title=f"read_file data/contracts/contract_{number:02d}.txt",
        messages=(),
        tokens=501,
        retention=Retention.RECENT if stays else Retention.TOOL_OUTPUT,
        droppable=not stays,
        reason="among the last 3 segments" if stays else "older tool turn",
        source="read_file",
        trust="outside",
        position=position,
        step=number,
        address=contract(number),
        verdict=verdict,
        why=why,
    )


def fixed(kind: str, title: str, tokens: int, position: int, reason: str) -> Segment:
    return Segment(
        id=f"fixed:{kind}",
        kind=kind,
        title=title,
        messages=(),
        tokens=tokens,
        retention=Retention.SYSTEM,
        droppable=False,
        reason=reason,
        source="owner",
        trust="owner",
        position=position,
        why=reason,
    )


def contract_segments() -> Segments:
    tools = "6 tools: read_file, list_files, read_spill, find_in_record, release_context, python"
    head = (
        fixed(
            "system",
            "You read contracts and report which orders a rule affects.",
            250,
            0,
            "system instructions never leave",
        ),
        fixed("tools", tools, 600, 1, "the tool catalogue is sent whole with every request"),
        fixed("core", "# Core: kept word for word", 142, 2, "the protected core never leaves"),
        fixed("task", Run().task, 45, 3, "the task is the only definition of success"),
        Segment(
            id="note:6",
            kind="note",
            title="handoff note, generation 6",
            messages=(),
            tokens=431,
            retention=Retention.NOTE,
            droppable=False,
            reason="one note, rewritten from the record",
            source="reader",
            trust="agent",
            position=4,
            verdict="rewritten",
            why="one note, rewritten from the record",
        ),
    )
    stubs = tuple(
        Segment(
            id=str(number),
            kind="turn",
            title=f"read_file data/contracts/contract_{number:02d}.txt",
            messages=(),
            tokens=52,
            retention=Retention.TOOL_OUTPUT,
            droppable=True,
            reason="older tool turn",
            source="read_file",
            trust="outside",
            position=number - 11,
            step=number,
            address=contract(number),
            collapsed=True,
            verdict="leaves",
            why="oldest exchange; leaves whole",
        )
        for number in (16, 18)
    )
    last = [
        turn(number, number - 11, verdict="stays", why="among the last 3 segments") for number in (20, 21, 22)
    ]
    nudge = Segment(
        id="30",
        kind="nudge",
        title="[context pressure] The window is 71.0 % full.",
        messages=(),
        tokens=92,
        retention=Retention.NOTICE,
        droppable=True,
        reason="taken out at the next landing",
        source="ethang",
        trust="owner",
        position=12,
        verdict="taken out",
        why="taken out at the next landing",
    )
    return Segments(
        (*head, *stubs, turn(19, 8), *last, nudge), repairs=("call call_7 had no result; one was added",)
    )


def contract_plan() -> Plan:
    verdicts = (
        *(
            Verdict(
                segment=item.id,
                title=item.title,
                act="collapse"
                if item.verdict == "one line"
                else "evict"
                if item.verdict == "leaves"
                else "stay",
                before=item.tokens,
                after={"one line": 52, "leaves": 0}.get(item.verdict, item.tokens),
                code={"one line": "read", "leaves": "exchange"}.get(item.verdict, "below"),
                reason=item.why,
                address=item.address,
            )
            for item in contract_segments()[5:]
        ),
        Verdict(
            segment="note:7",
            title="handoff note, generation 7",
            act="rewrite",
            before=431,
            after=480,
            code="note",
            reason="one note, rewritten from the record",
        ),
    )
    return Plan(
        outcome="cleanup",
        policy="ethang",
        window=WINDOW,
        levels=LEVELS,
        before=3_284,
        after=2_780,
        fill_before=684,
        fill_after=579,
        reason="asked for; frees 504 tokens",
        asked=True,
        kept=3,
        note_tokens=480,
        price=PRICE,
        _verdicts=lambda: verdicts,
        _digest=lambda: "5f0c" * 16,
    )


def contract_steps() -> tuple[StepRow, ...]:
    """Each file adds 97 per mille; the landing after each cleanup ends at 587."""
    rows, fill = [], 300
    for step in range(1, 24):
        before, events = None, ()
        if step > 1:
            fill += 97
        if fill >= 800:
            before, fill, events = fill, 587, ("cleanup: 3 to one line",)
        elif step == 6:
            events = ("nudge",)
        rows.append(
            StepRow(
                step=step,
                fill=fill,
                tokens=fill * 48 // 10,
                events=events,
                kinds=tuple(event.partition(":")[0] for event in events),
                before=before,
                what=f"read_file data/contracts/contract_{step:02d}.txt",
                fixed=992,
                task=45,
                history=312,
                output=fill * 48 // 10 - 1_349,
                headroom=6_000 - fill * 48 // 10,
            )
        )
    return tuple(rows)


def contract_diff(step: int, generation: int) -> Diff:
    numbers = (step - 6, step - 5, step - 4)
    return Diff(
        step=step,
        outcome="cleanup",
        forced=False,
        before=4_214,
        after=2_817,
        fill_before=878,
        fill_after=587,
        left=tuple(
            Left(
                title=f"read_file data/contracts/contract_{number:02d}.txt",
                tokens=501,
                how="collapse",
                address=contract(number),
            )
            for number in numbers
        ),
        note=NOTE,
        note_tokens=431,
        note_reference="compaction@v2+1a2b3c4d",
        note_author="reader",
        generation=generation,
        facts=(
            Fact(text="contract_18", kind="identifier", fate="kept", where="note"),
            Fact(text="never open contract_17", kind="constraint", fate="kept", where="core"),
            Fact(text="14.27", kind="number", fate="lost", where=f"{contract(numbers[0]).split('#')[0]}#L28"),
            Fact(
                text="2026-03-01", kind="date", fate="lost", where=f"{contract(numbers[1]).split('#')[0]}#L9"
            ),
            Fact(text="9034", kind="number", fate="invented", where="note"),
        ),
        price=PRICE,
        digest="a1b2c3d4" * 8,
        reason="87.8 % full, over the cleanup level of 80.0 %",
    )


def contracts() -> Snapshot:
    """Thirty contracts in a window of 6,000, six cleanups, at step 23."""
    steps = contract_steps()
    landed = [row.step for row in steps if row.before is not None]
    return Snapshot(
        name="contracts",
        model="reader",
        model_label="reader (rules, not a language model)",
        policy="ethang",
        state="reading",
        step=23,
        budget=budget(
            system=250, tools=600, core=142, task=45, handoff_notes=431, history=312, tool_output=1_504
        ),
        segments=contract_segments(),
        plan=contract_plan(),
        timeline=steps,
        diffs=tuple(contract_diff(step, at + 1) for at, step in enumerate(landed)),
        pins=(
            Pin(
                id=1,
                kind="constraint",
                text="Never open contract_17.",
                rule="never + verb",
                segment="fixed:task",
                core=True,
            ),
            Pin(id=2, kind="decision", text="Amounts are in euros.", rule="by hand", segment="7", core=True),
            Pin(
                id=3,
                kind="constraint",
                text="Answer in French.",
                rule="always + verb",
                segment="3",
                lifted="the user took it back at step 12",
            ),
        ),
        notices=("step 9: idle: a cleanup would free 412 tokens, less than the least of 720",),
    )


def run() -> Run:
    snapshot = contracts()
    return Run(
        answer="Two orders are affected:\n\n  8812  contract_03  cap 14.27\n  9034  contract_11  cap 12.40\n\n"
        "I read 29 of 30 contracts; contract_17 was left out as you asked.",
        snapshot=snapshot,
        diffs=snapshot.diffs,
    )


def nothing(window: Window, policy: str = "ethang", *, used: int = 0) -> Plan:
    fill = used * 1_000 // window.usable
    return Plan(
        outcome="nothing",
        policy=policy,
        window=window,
        levels=levels(window.size),
        before=used,
        after=used,
        fill_before=fill,
        fill_after=fill,
        reason="nothing is in the window yet" if not used else "below every level",
    )


def empty() -> Snapshot:
    """A session that has not begun."""
    window = Window(total=200_000, reserve=32_000, source="catalogue of 2026-11-01")
    return Snapshot(
        name="fresh",
        model="gpt-5",
        model_label="gpt-5",
        policy="ethang",
        state="",
        step=0,
        budget=budget(window, p95=None),
        segments=Segments(),
        plan=nothing(window),
    )


def over() -> Snapshot:
    """More in the window than fits, on a large window that is trusted only in part."""
    window = Window(total=8_000, reserve=1_000, max_input=6_500, effective=5_000)
    held = budget(
        window, p95=1_210, how="estimated", system=400, tools=900, project=350, core=210, task=120, handoff_notes=600,
        recalled_memory=240, history=1_180, tool_output=2_900, images=1_000,
    )  # fmt: skip
    steps = tuple(
        StepRow(
            step=step,
            fill=fill,
            tokens=fill * 5,
            events=events,
            kinds=tuple(event.partition(":")[0] for event in events),
            before=before,
            what="run_tests",
            fixed=1_860,
            task=120,
            history=1_180,
            output=fill * 5 - 3_160,
            headroom=8_000 - fill * 5,
        )
        for step, fill, before, events in (
            (1, 410, None, ()),
            (2, 720, None, ("nudge",)),
            (3, 640, 905, ("forced cleanup: 2 to one line, 1 left, 1 shrunk",)),
            (4, 790, None, ("release",)),
            (5, 880, None, ("idle",)),
            (6, 420, 1_120, ("reseed",)),
            (7, 1_580, None, ("stuck",)),
        )
    )
    plan = Plan(
        outcome="stuck",
        policy="ethang",
        window=window,
        levels=levels(window.size),
        before=7_900,
        after=7_900,
        fill_before=1_580,
        fill_after=1_580,
        reason="tool output of 2,900 tokens in the newest segment is too big; read it in parts",
        forced=True,
    )
    return Snapshot(
        name="too-full",
        model="local",
        model_label="local model, tokenizer unknown",
        policy="ethang",
        state="stuck",
        step=7,
        budget=held,
        segments=contract_segments(),
        plan=plan,
        timeline=steps,
    )


def large() -> Snapshot:
    """Ten thousand segments and as many steps in a window of a million."""
    window = Window(total=1_000_000, reserve=32_000)
    band = levels(window.size)
    segments = Segments(tuple(turn(at % 90 + 1, at) for at in range(10_000)))
    rows, fill = [], 30
    for step in range(1, 10_001):
        before, events = None, ()
        fill += 7
        if fill >= band.cleanup:
            before, fill, events = fill, 298, (f"cleanup: {40 + step % 9} to one line",)
        elif fill - 7 < band.nudge <= fill:
            events = ("nudge",)
        kinds = tuple(event.partition(":")[0] for event in events)
        rows.append(
            StepRow(
                step=step,
                fill=fill,
                tokens=fill * 968,
                events=events,
                kinds=kinds,
                before=before,
                what="search",
            )
        )
    return Snapshot(
        name="a-long-one",
        model="big",
        model_label="big",
        policy="lean",
        state="working",
        step=10_000,
        budget=budget(
            window, p95=percentile(tuple(row.fill for row in rows)), system=4_000, tools=18_000, history=220_000,
            tool_output=150_000,
        ),
        segments=segments,
        plan=nothing(window, "lean", used=392_000),
        timeline=tuple(rows),
        diffs=tuple(contract_diff(step, step) for step in range(7, 40)),
    )  # fmt: skip


def hostile(text: str = HOSTILE) -> Snapshot:
    """Data that tries to become markup, or to disguise itself, in every field that holds text."""
    item = Segment(
        id=text, kind="turn", title=text, messages=(), tokens=10, retention=Retention.OLDER, droppable=True,
        reason=text, source=text, trust="outside", position=0, address=text, verdict=text, why=text,
    )  # fmt: skip
    verdict = Verdict(
        segment=text, title=text, act="collapse", before=9, after=1, code=text, reason=text, address=text
    )
    window = Window(total=6_000, reserve=1_200, source=text)
    plan = Plan(
        outcome="cleanup", policy=text, window=window, levels=LEVELS, before=9, after=1, fill_before=1, fill_after=0,
        reason=text, price=PRICE, _verdicts=lambda: (verdict,), _digest=lambda: text,
    )  # fmt: skip
    cleanup = Diff(
        step=1, outcome=text, forced=True, before=9, after=1, fill_before=1, fill_after=0,
        left=(Left(title=text, tokens=9, how="evict", address=text),), note=f"## {text}\n{text}", note_tokens=3,
        note_reference=text, note_author=text, generation=1, price=PRICE, digest=text, reason=text,
        facts=tuple(Fact(text=text, kind=text, fate=fate, where=text) for fate in ("kept", "lost", "invented")),
    )  # fmt: skip
    return Snapshot(
        name=text, model=text, model_label=text, policy=text, state=text, step=1,
        budget=budget(window, system=10), segments=Segments((item,), repairs=(text,)), plan=plan,
        timeline=(StepRow(step=1, fill=2, tokens=10, events=(text,), what=text),), diffs=(cleanup,),
        pins=(Pin(id=1, kind="constraint", text=text, rule=text, segment=text, lifted=text),), notices=(text,),
    )  # fmt: skip


def hostile_run(text: str = HOSTILE) -> Run:
    snapshot = hostile(text)
    return Run(
        session=text, task=text, ending=text, answer=text, error=text, snapshot=snapshot, diffs=snapshot.diffs
    )
