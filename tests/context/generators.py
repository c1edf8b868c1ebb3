"""Transcripts, policies and windows at random, for the tests that compare one way of planning with another.

All texts are of plain words, so that with `WordCounter` a text's size is its number of words; a result's first words
name it, so that no two texts are the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from ethang_nb.context.messages import Again, Message, ToolCall, ToolResult, assistant, system, tool, user
from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Levels, Window
from ethang_nb.errors import BadPolicy

__all__ = [
    "CUES",
    "Script",
    "budgeted",
    "patient",
    "policies",
    "scripts",
    "shipped",
    "transcript",
    "windows",
    "words",
]

NIGHTLY = int(os.environ.get("ETHANG_EXAMPLES", "0"))
"""How many random transcripts a nightly run plays; 0: as many as a run of all tests has time for."""


patient = pytest.mark.timeout(3_600 if NIGHTLY else 300)
"""For modules whose tests take a night's time where they are given it."""


def budgeted(share: int, *, nightly: int = 1_000) -> settings:
    """`share` examples; in a nightly run so many per mille of what was asked for, where that is more."""
    return settings(
        max_examples=max(share, NIGHTLY * nightly // 1000),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


# ---- transcripts


CUES = (
    "Never open file{0}.txt.",
    "Use at most {0} lines for the answer.",
    "Don't touch folder{0}/.",
    "We decided to keep the version {0} of the schema.",
    "Forget the rule about file{0}.txt.",
    "You may open file{0}.txt now.",
)
"""Sentences that pin, and some that lift what another has pinned; `{0}` is a small number, so that they meet."""


def words(count: int, name: str) -> str:
    """`count` words, at least one, the first of them `name`."""
    return " ".join([name, *["word"] * (count - 1)])


@dataclass(frozen=True)
class Act:
    """One thing that happens: its kind, sizes in words, and what else that kind needs."""

    kind: str
    sizes: tuple[int, ...] = (1,)
    again: str = "read"
    cue: int = -1
    number: int = 0
    order: tuple[int, ...] = ()


class Script:
    """A transcript: its messages, the positions before which a piece of work begins, and the pins given at the start.

    It shows as the acts it is made of, which is what somebody wants to see who looks at a failure.
    """

    def __init__(self, acts: Sequence[Act], *, pins: Sequence[str] = (), begins: bool = True) -> None:
        messages: list[Message] = []
        positions: list[int] = []
        for number, act in enumerate(acts):
            if act.kind == "work" and begins:
                positions.append(len(messages))
            messages += _messages(number, act)
        self.acts, self.pins = tuple(acts), tuple(pins)
        self.messages, self.begins = tuple(messages), tuple(positions)

    def __repr__(self) -> str:
        return f"Script({list(self.acts)}, pins={self.pins})"


SIZE = st.one_of(st.integers(1, 60), st.integers(60, 300), st.integers(300, 2_500))
SAY = st.one_of(st.integers(1, 40), st.integers(40, 260))
_TURN = st.builds(
    Act,
    kind=st.just("turn"),
    sizes=st.lists(SIZE, min_size=1, max_size=4).map(tuple),
    again=st.sampled_from(["read", "read", "run", "lost", "mixed"]),
    number=st.integers(0, 3),
)
_ONE = st.builds(
    Act,
    kind=st.just("turn"),
    sizes=st.tuples(st.integers(30, 160)),
    again=st.sampled_from(["read", "run", "lost"]),
)
_SAY = st.builds(Act, kind=st.just("say"), sizes=st.tuples(SAY))
_USER = st.builds(
    Act,
    kind=st.just("user"),
    sizes=st.tuples(SAY),
    cue=st.integers(-3, len(CUES) - 1),
    number=st.integers(1, 4),
)
_WORK = st.builds(Act, kind=st.just("work"), sizes=st.tuples(st.integers(1, 40)), cue=st.integers(-3, 1))
_SYSTEM = st.builds(Act, kind=st.just("system"), sizes=st.tuples(st.integers(1, 30)))
_HUGE = st.builds(Act, kind=st.just("user"), sizes=st.tuples(st.integers(200, 900)))
_MANY = st.builds(Act, kind=st.just("many"), sizes=st.tuples(st.integers(30, 160)), number=st.integers(3, 12))
ACTS = st.one_of(_TURN, _ONE, _ONE, _MANY, _SAY, _USER, _USER, _WORK, _SYSTEM, _HUGE)


@st.composite
def scripts(draw: st.DrawFn, *, least: int = 3, most: int = 30) -> Script:
    """A legal transcript as a context would have been fed with it."""
    acts = draw(st.lists(ACTS, min_size=least, max_size=most))
    if draw(st.integers(0, 9)):  # seldom somebody else speaks first
        acts.insert(0, Act("user", (draw(st.integers(1, 60)),)))
    pins = draw(st.lists(st.sampled_from(["Keep fact 1.", "Never open file2.txt."]), max_size=2, unique=True))
    return Script(acts, pins=pins if draw(st.booleans()) else ())


def _messages(number: int, act: Act) -> Iterator[Message]:
    match act.kind:
        case "turn":
            yield from turn(f"{number}", act.sizes, again=act.again, shift=act.number)
        case "many":
            for at in range(act.number):
                yield from turn(f"{number}.{at}", act.sizes)
        case "say":
            yield assistant(words(act.sizes[0], f"s{number}"))
        case "system":
            yield system(words(act.sizes[0], f"y{number}"))
        case _:
            cue = CUES[act.cue].format(act.number) + " " if act.cue >= 0 else ""
            yield user(cue + words(act.sizes[0], f"u{number}"))


def turn(name: str, sizes: tuple[int, ...], *, again: str = "read", shift: int = 0) -> Iterator[Message]:
    """A tool turn; its results come in another order than its calls where `shift` says so."""
    calls = [
        ToolCall(id=f"c{name}.{at}", name="read_file", arguments=f'{{"path": "f{name}.{at}.txt"}}')
        for at in range(len(sizes))
    ]
    yield assistant("", calls)
    kinds: tuple[Again, ...] = ("read", "run", "lost")
    for step in range(len(sizes)):
        at = (step + shift) % len(sizes)
        kind = kinds[at % 3] if again == "mixed" else again
        yield tool(
            ToolResult(
                call_id=calls[at].id,
                name="read_file",
                text=words(sizes[at], f"r{name}.{at}"),
                address=f"file:f{name}.{at}.txt#L1-9@0a1b2c3d" if kind == "read" else "",
                again=kind,  # type: ignore[arg-type]
            )
        )


def transcript(seed: int, length: int = 60) -> Script:
    """A transcript from a seed, for tests that want the same one every time."""
    rng = random.Random(seed)
    acts = [Act("user", (20,))]
    while len(acts) < length:
        kind = rng.choices(("turn", "say", "user", "work"), (12, 3, 2, 1))[0]
        if kind == "turn":
            sizes = tuple(rng.choice((20, 60, 120, 300)) for _ in range(rng.choice((1, 1, 1, 2, 3))))
            acts.append(
                Act("turn", sizes, again=rng.choice(("read", "read", "run", "lost")), number=rng.randrange(3))
            )
        else:
            acts.append(Act(kind, (rng.randint(5, 60),), cue=rng.randint(-4, 1), number=rng.randint(1, 4)))
    return Script(acts)


# ---- what plans them

windows = st.one_of(
    st.sampled_from([800, 1_000, 1_500, 2_500, 6_000]).map(Window.of),
    st.builds(
        Window.of,
        st.sampled_from([1_200, 3_000]),
        reserve=st.integers(20, 400),
        effective=st.integers(700, 3_000),
    ),
)
shipped = st.sampled_from(sorted(POLICIES))
_STAGES = ("intake", "nudge", "squeeze", "collapse", "evict", "shrink", "reseed")


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """A policy of somebody's own, as odd as the checks let it be."""
    chosen = draw(st.permutations(_STAGES))[: draw(st.integers(2, 7))]
    landing = draw(st.integers(50, 700))
    cleanup = draw(st.integers(landing + 1, 1000))
    nudge = draw(st.integers(1, cleanup))
    or_none = draw(st.booleans())
    try:
        return Policy(
            name="own",
            stages=tuple(chosen),
            levels=Levels(nudge=nudge, cleanup=cleanup, landing=landing),
            denominator=draw(st.sampled_from(["usable", "usable", "total"])),
            reserve=draw(st.sampled_from([None, None, 100])),
            keep=draw(st.integers(1, 5)),
            slack=draw(st.sampled_from([0, 100, 200, 1000])),
            minimum=draw(st.sampled_from([0, 50, 150, 300])),
            collapse_at=None if or_none else draw(st.integers(landing + 1, 1000)),
            collapse_to=draw(st.one_of(st.none(), st.integers(0, landing))),
            collapse_keep=draw(st.sampled_from([None, 1, 2])),
            evict_at=draw(st.one_of(st.none(), st.integers(cleanup, 1000))),
            evict_to=draw(st.one_of(st.none(), st.integers(0, landing))),
            unit=draw(st.sampled_from(["exchange", "segment"])),
            order=draw(st.sampled_from(["age", "rank"])),
            notes=draw(st.sampled_from(["one", "protected", "droppable", "line", "none"])),
            notes_cap=draw(st.sampled_from([50, 150, 400])),
            note=draw(st.sampled_from([50, 100, 200])),
            note_least=draw(st.sampled_from([60, 100, 200])),
            nudge_once=draw(st.booleans()),
            reseed=draw(st.one_of(st.none(), st.integers(1, nudge))),
            entry_least=draw(st.sampled_from([100, 400, 1000])),
            entry_cap=draw(st.sampled_from([150, 400, 1000])),
            entry_chars=draw(st.sampled_from([None, None, 900])),
            head_chars=200,
            shrink_tokens=draw(st.sampled_from([60, 120, 200])),
        )
    except BadPolicy:
        return Policy(name="own", keep=draw(st.integers(1, 5)))
