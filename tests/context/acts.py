"""Everything that can happen to a context, at random, one act at a time: for tests of what follows a context along."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Image, Message, Text, ToolCall, ToolResult, assistant, tool, user
from ethang_nb.context.pairing import LOST
from ethang_nb.context.policies import POLICIES, policy
from ethang_nb.context.window import Window
from ethang_nb.errors import Misuse
from tests.context.generators import words

__all__ = ["Player", "acts"]

Act = tuple[str, int, tuple[int, ...]]
"""What happens, a number that says which, and sizes in words."""

WINDOWS = (1_000, 1_600, 3_000, 9_000)
_SIZE = st.one_of(st.integers(1, 30), st.integers(30, 200), st.integers(200, 1_200))
_OFTEN = [
    "turn",
    "turn",
    "turn",
    "turn",
    "turn",
    "half",
    "late",
    "user",
    "say",
    "request",
    "request",
    "request",
]
_SOMETIMES = ["pin", "unpin", "rule", "release", "note", "compact", "begin", "reseed", "policy", "shrink"]
_SELDOM = ["memory", "notice", "picture", "lost", "usage", "cool", "window", "withdraw"]
_ACT = st.tuples(
    st.sampled_from([*_OFTEN * 3, *_SOMETIMES * 2, *_SELDOM]),
    st.integers(0, 11),
    st.lists(_SIZE, min_size=1, max_size=3).map(tuple),
)
acts = st.lists(_ACT, min_size=15, max_size=60)


class Player:
    """Does acts to a context; one that cannot be done now is left out."""

    def __init__(self, live: LiveContext) -> None:
        self.live = live
        self.number = 0
        self.waiting: list[tuple[int, ToolResult]] = []
        live.append(user("the task"))

    def do(self, act: Act) -> None:
        kind, which, sizes = act
        self.number += 1
        try:
            getattr(self, f"_{kind}")(which, sizes)
        except Misuse:
            return

    # ---- what comes

    def _turn(self, which: int, sizes: tuple[int, ...]) -> None:
        for result in self._called(which, sizes):
            self.live.append(tool(result))

    def _half(self, which: int, sizes: tuple[int, ...]) -> None:
        """Some results come later, or never."""
        first, *rest = self._called(which, (*sizes, 20))
        self.live.append(tool(first))
        row = self.live.state.next_row - 1
        self.waiting += [(row, result) for result in rest]

    def _late(self, which: int, sizes: tuple[int, ...]) -> None:
        for _ in range(min(len(sizes), len(self.waiting))):
            row, result = self.waiting.pop(which % len(self.waiting))
            if self.live.state.is_live(row):
                self.live.append(tool(result))

    def _called(self, which: int, sizes: tuple[int, ...]) -> Iterator[ToolResult]:
        calls = [
            ToolCall(id=f"c{self.number}.{at}", name="look", arguments=f'{{"path": "f{which}"}}')
            for at in range(len(sizes))
        ]
        self.live.append(assistant("", calls))
        for at, (call, size) in enumerate(zip(calls, sizes, strict=True)):
            again = ("read", "run", "lost")[(which + at) % 3]
            repeated = "\n".join(["same line again"] * size) if which == 7 else words(size, f"r{call.id}")
            yield ToolResult(
                call_id=call.id,
                name="look",
                text=repeated,
                address=f"file:f{which}#L1-9@0a1b2c3d" if again == "read" else "",
                again=again,  # type: ignore[arg-type]
                images=(Image(url="u"),) if which == 5 and at == 0 else (),
            )

    def _lost(self, which: int, sizes: tuple[int, ...]) -> None:
        """A result that was never recorded, as whoever mends a history puts it in."""
        for result in list(self._called(which, sizes)):
            lost = ToolResult(call_id=result.call_id, name="look", text=LOST, error=True, again="lost")
            self.live.append(tool(lost))

    def _user(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.append(user(words(min(300, sizes[0]), f"u{self.number}") + "?" * (which % 2)))

    def _say(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.append(assistant(words(sizes[0], f"s{self.number}")))

    def _rule(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.append(user(f"Never open file{which}.txt. " + words(min(200, sizes[0]), "x")))

    def _picture(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.append(Message(role="user", parts=(Text(text="see"), Image(url=f"u{which}"))))

    def _memory(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.append(user(words(min(200, sizes[0]), "remembered"), kind="memory", trust="agent"))

    def _notice(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.append(user(f"notice {which}", source="ethang", kind="notice"))

    # ---- what somebody does

    def _request(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.request()

    def _pin(self, which: int, sizes: tuple[int, ...]) -> None:
        """A sentence of its own, or one that somebody said before."""
        said = [row.id for row in self.live.state.rows if row.kind == "user"]
        held = self.live.entries[said[which % len(said)]].messages[0].text[:9] if said and which % 3 else ""
        self.live.pin(held or f"keep fact {which}", "decision" if which % 2 else "constraint")

    def _unpin(self, which: int, sizes: tuple[int, ...]) -> None:
        holding = self.live.board.holding
        if holding:
            self.live.unpin(holding[which % len(holding)].id)

    def _release(self, which: int, sizes: tuple[int, ...]) -> None:
        rows = [row for row in self.live.state.rows if row.results]
        self.live.release([(row.id, which % 2) for row in rows[: which + 1]])

    def _note(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.write_note(f"## Numbers\n- {which}\n" * (which + 1), author="a model", reference="x")

    def _usage(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.usage(self.live.state.total * which // 3, self.live.state.total, cached=which * 100)

    def _shrink(self, which: int, sizes: tuple[int, ...]) -> None:
        """More than fits beside what stays."""
        self._turn(which, (self.live.state.usable // 2, self.live.state.usable // 3))
        self.live.request()

    def _compact(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.ask_cleanup(refused=which % 2 == 1)

    def _begin(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.begin()

    def _withdraw(self, which: int, sizes: tuple[int, ...]) -> None:
        """As often as not with a message that nothing answered."""
        if which % 2:
            self._rule(which, sizes)
        self.live.withdraw()
        self.live.begin()

    def _reseed(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.reseed()

    def _cool(self, which: int, sizes: tuple[int, ...]) -> None:
        self.live.cool()

    def _window(self, which: int, sizes: tuple[int, ...]) -> None:
        self._settle(Window.of(WINDOWS[which % len(WINDOWS)]), self.live.state.policy.name)

    def _policy(self, which: int, sizes: tuple[int, ...]) -> None:
        self._settle(self.live.state.settings.base, sorted(POLICIES)[which % len(POLICIES)])

    def _settle(self, window: Window, rules: str) -> None:
        state = self.live.state
        self.live.settle(
            window=window, policy=policy(rules), system=state.system, project=state.project, tools=state.tools,
            searchable=False,
        )  # fmt: skip
