"""Documents and frames that Python and TypeScript are tested on alike, the same bytes on every machine.

`python -m tests.views.live.examples` writes them to labextension/tests/examples; `--large FILE` writes a document
of ten thousand segments there.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ethang_nb as eth
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.journal import MemoryJournal
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.policies import policy
from ethang_nb.context.window import Window
from ethang_nb.lessons import contracts
from ethang_nb.testing import ManualClock, WordCounter
from ethang_nb.views.live.document import About, Document
from tests.views.live.applier import Applier

__all__ = ["COMMAND", "FOLDER", "LARGE", "examples", "large", "more", "text_of"]

FOLDER = Path(__file__).parents[3] / "labextension" / "tests" / "examples"
COMMAND = "python -m tests.views.live.examples"
HOSTILE = (
    '<img src=x onerror="window.p=1"></script></style><script>p=2</script> '
    "\u202etxt.exe\u2066b\u2069 \x1b[31mred\x1b]0;title\x07 &lt;b&gt; '\" [x](javascript:alert(1))"
)
LONG_WORD = "w" * 10_000
LARGE = 10_000
Json = dict[str, Any]


def examples() -> dict[str, Callable[[], Json]]:
    """By the name of the file."""
    return {
        "empty.json": empty,
        "small.json": small,
        "hostile.json": hostile,
        "frames.json": frames,
    }


def empty() -> Json:
    """A context in which nothing happened yet."""
    return eth.Context(6_000, name="empty").snapshot.to_json()


def small() -> Json:
    """The demo's session, then a second piece of work in it, with a pin by hand and one that is lifted."""
    with tempfile.TemporaryDirectory() as folder:
        contracts.write(Path(folder) / contracts.LESSON.folder)
        store = str(Path(folder) / "record")
        with eth.Session(
            "reader", name="demo", window=6_000, root=folder, store=store, clock=ManualClock()
        ) as session:
            session.run(contracts.LESSON.task)
            session.pin("Name the file beside every number.")
            session.unpin(session.pin("We decided to answer in euros.", kind="decision").id)
            session.run("Which contract names the order that is affected? Read it again.")
            return session.snapshot.to_json()


def hostile() -> Json:
    """Texts that would like to be markup, code or control characters, and words far too long."""
    context = eth.Context(6_000, name=HOSTILE, model=None, counter=WordCounter(), system=HOSTILE)
    context.append(user(f"{HOSTILE} Never open {HOSTILE}."))
    context.pin(f"Keep {HOSTILE}")
    for number in range(24):
        context.request()
        name = f"{HOSTILE}{LONG_WORD if number == 20 else number}"
        call = ToolCall(id=f"{HOSTILE}{number}", name=name, arguments=json.dumps({"path": HOSTILE * 3}))
        context.append(assistant(HOSTILE, [call]))
        text = f"{HOSTILE} {LONG_WORD if number == 20 else number} " + "word " * 230
        context.append(tool(ToolResult(call_id=call.id, name=call.name, text=text)))
    context.note(f"## Decisions\n- {HOSTILE}\n- {LONG_WORD}\n")
    context.request()
    return context.snapshot.to_json()


# ---- frames


def frames() -> Json:
    """A seeded run as it travels, and the document after each frame."""
    play = _Play(random.Random(4))
    applier = Applier()
    full = {"t": "frame", "rev": 0, "base": None, **play.document.full()}
    applier.apply(_body(full))
    documents, updates = [applier.document()], []
    for act in play.acts():
        act()
        body = play.document.update()
        if not body:
            continue
        revision = len(documents)
        updates.append({"t": "frame", "rev": revision, "base": revision - 1, **body})
        applier.apply(body)
        documents.append(applier.document())
    return {"full": full, "updates": updates, "documents": documents}


def _body(frame: Json) -> Json:
    return {key: value for key, value in frame.items() if key not in ("t", "rev", "base")}


class _Play:
    """Something of everything: nudges, cleanups, pins, a result that comes late, a reseed, another window."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.live = LiveContext(
            window=Window.of(1_800),
            policy=policy("ethang"),
            counter=WordCounter(),
            system="You are an agent.",
            journal=MemoryJournal(),
        )
        self.chronicle = Chronicle(self.live)
        self.state = "live"
        self.document = Document(self.live, self.chronicle, self.about)
        self.number = 0

    def about(self) -> About:
        return About("frames", "words", "words, counted", self.state)

    def acts(self) -> list[Callable[[], object]]:
        live, turn, request = self.live, self.turn, self.live.request
        begin = [lambda: live.append(user("Read the files. Never open f9.txt.")), request]
        first = [turn, request, self.many, request, lambda: live.pin("Keep the names."), request]
        offered = [turn, lambda: live.release([(2, 0)])]  # of three results one is a line from here on
        work = [*offered, request, *[step for _ in range(5) for step in (turn, request)]]
        late = [self.half, self.say, self.late, lambda: live.append(user("Go on.")), request, self.repeat]
        talk = [step for _ in range(4) for step in (self.say, request)]
        lift = [self.note, lambda: live.unpin(1), turn, request]
        again = [live.cool, live.begin, lambda: live.append(user("Now the next file.")), request]
        end = [turn, live.ask_cleanup, request, self.wider, self.over]
        return [*begin, *first, *work, *late, *talk, *lift, *again, *end]

    def say(self) -> None:
        self.number += 1
        self.live.append(assistant(" ".join([f"So far {self.number}", *["word"] * 190])))

    def repeat(self) -> None:
        """The first file is read again, which a cleanup took out."""
        self.number, before = 0, self.number
        self.turn()
        self.number = before

    def turn(self) -> None:
        self._answer(self._call(1))

    def many(self) -> None:
        self._answer(self._call(3))

    def half(self) -> None:
        """A turn of two calls; the result of the second comes after the next message."""
        self._waiting = self._call(2)
        self._answer(self._waiting[:1])

    def late(self) -> None:
        self._answer(self._waiting[1:])

    def _call(self, count: int) -> list[ToolCall]:
        self.number += 1
        names = [f"f{self.number}.{at}.txt" for at in range(count)]
        calls = [
            ToolCall(id=f"c {name}", name="read_file", arguments=json.dumps({"path": name})) for name in names
        ]
        self.live.append(assistant("", calls))
        return calls

    def _answer(self, calls: list[ToolCall]) -> None:
        for call in calls:
            name = json.loads(call.arguments)["path"]
            text = " ".join([name, *["word"] * self.chance.randint(60, 180)])
            result = ToolResult(
                call_id=call.id, name=call.name, text=text, address=f"file:{name}#L1-9@0a1b2c3d", again="read"
            )
            self.live.append(tool(result))

    def note(self) -> None:
        if self.live.pending is not None:
            self.live.write_note("## Numbers\n- 7", author="a model", reference="compaction@v2")

    def wider(self) -> None:
        state = self.live.state
        self.live.settle(
            window=Window.of(6_000), policy=policy("lean"), system=state.system, project=state.project,
            tools=state.tools, searchable=False,
        )  # fmt: skip

    def over(self) -> None:
        self.state = "completed"


# ---- one of ten thousand segments


def large(segments: int = LARGE, *, window: int = 2_000_000, seed: int = 7) -> tuple[LiveContext, Chronicle]:
    """A long run of a coding agent: users and talk between tool turns whose results can be had again in every way."""
    chance = random.Random(seed)
    live = LiveContext(
        window=Window.of(window),
        policy=policy("ethang"),
        counter=WordCounter(),
        system="You are a coding agent.",
    )
    chronicle = Chronicle(live)
    live.append(user("Fix the failing tests. Never touch migrations/."))
    while live.state.next_row < segments:
        more(live, chance)
    return live, chronicle


def more(live: LiveContext, chance: random.Random) -> None:
    """One segment more, with the request before it."""
    number, kind = live.state.next_row, chance.random()
    live.request()
    if kind < 0.03:
        live.append(user(" ".join([f"u{number}", *["word"] * chance.randint(5, 60)])))
    elif kind < 0.1:
        live.append(assistant(" ".join([f"s{number}", *["word"] * chance.randint(20, 120)])))
    else:
        _work(live, number, chance)


_TOOLS = (
    ("read_file", "read"),
    ("read_file", "read"),
    ("grep", "run"),
    ("run_tests", "run"),
    ("ask", "lost"),
)


def _work(live: LiveContext, number: int, chance: random.Random) -> None:
    used = [chance.choice(_TOOLS) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    calls = [
        ToolCall(id=f"c{number}.{at}", name=name, arguments=json.dumps({"path": f"src/mod_{number}.{at}.py"}))
        for at, (name, _) in enumerate(used)
    ]
    live.append(assistant("", calls))
    for at, (call, (name, again)) in enumerate(zip(calls, used, strict=True)):
        live.append(
            tool(
                ToolResult(
                    call_id=call.id,
                    name=name,
                    text=" ".join([f"r{number}.{at}", *["word"] * chance.randint(5, 200)]),
                    address=f"file:src/mod_{number}.{at}.py#L1-90@0a1b2c3d" if again == "read" else "",
                    again=again,  # type: ignore[arg-type]
                )
            )
        )


def text_of(data: Json) -> str:
    """As it stands in the file."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"), sort_keys=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--large", type=Path, metavar="FILE", help=f"a document of {LARGE:,} segments, there alone"
    )
    found = parser.parse_args()
    if found.large:
        live, chronicle = large()
        about = About("large", "words", "words, counted", "live")
        applier = Applier()
        applier.apply(Document(live, chronicle, lambda: about).full())
        found.large.write_text(text_of(applier.document()))
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in examples().items():
        (FOLDER / name).write_text(text_of(make()))


if __name__ == "__main__":
    main()
