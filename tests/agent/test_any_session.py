"""Whatever happens in a session, it is legal, fits, and comes back from its record as it was."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.agent.run import Ending
from ethang_nb.context.kinds import EventKind
from ethang_nb.context.pairing import violations
from ethang_nb.errors import BadWindow, Misuse
from tests.agent.stage import call, script
from tests.agent.test_reopen import shape

SIZES = st.sampled_from([0, 1, 40, 160, 400, 4_000])
CALLS = st.one_of(
    st.builds(lambda words: call("look", words=words), SIZES),
    st.builds(lambda words: call("look", words=words), SIZES),
    st.sampled_from(
        [
            call("list_files"),
            call("find_in_record", query="word ORD-1"),
            call("read_spill", ref="log://5"),
            call("release_context"),
            call("release_context", addresses=["log://8", "log://12", "log://20"]),
            call("fails"),
            call("nobody"),
            {"name": "look", "arguments": '{"words": '},
        ]
    ),
)
TURNS = st.one_of(
    st.builds(lambda items: {"call": items}, st.lists(CALLS, min_size=1, max_size=3)),
    st.builds(lambda items: {"call": items}, st.lists(CALLS, min_size=1, max_size=3)),
    st.builds(lambda words: {"say": "Said. " + "word " * words}, st.sampled_from([0, 30, 200])),
    st.builds(lambda words: {"note": "## Decisions\n" + "word " * words}, st.sampled_from([0, 20, 900])),
    st.sampled_from(
        [
            {"rate_limit": True},
            {"fail": "down"},
            {"say": "much", "phantom_usage": 900_000},
            {"say": "more", "phantom_usage": 2_500},
            {"say": "half", "length": True},
            {"call": [call("look", words=3)], "length": True},
            {"say": "tight", "overflow_at": 900},
        ]
    ),
)
ACTS = st.one_of(
    st.just(("run", "Go on. Never call before noon.")),
    st.builds(lambda words: ("run", f"Do this. {'word ' * words}"), st.sampled_from([1, 60, 300])),
    st.builds(lambda number: ("pin", f"Always keep {number}."), st.integers(1, 3)),
    st.builds(lambda number: ("unpin", number), st.integers(1, 4)),
    st.just(("compact", None)),
    st.builds(lambda total: ("window", total), st.sampled_from([1_800, 2_600, 5_000])),
    st.builds(lambda name: ("policy", name), st.sampled_from(sorted(eth.policies))),
    st.sampled_from([("reopen", None), ("begin", None), ("cool", None), ("reseed", None)]),
)


def look(words: int) -> str:
    """Look."""
    return f"seen ORD-{words} " + "word " * words


def fails() -> str:
    """Fail."""
    raise ValueError("as told")


class Bench:
    """A session in a folder of its own, and the acts on it."""

    def __init__(self, turns, policy):
        self.folder = Path(tempfile.mkdtemp(prefix="ethang-any-"))
        model = script(self.folder, *turns, usage="report")
        self.open = lambda **changes: eth.open_session("t", self.folder, tools=[look, fails], **changes)
        self.session = eth.Session(
            model,
            name="t",
            window=2_600,
            policy=policy,
            root=self.folder,
            tools=[look, fails],
            limits=eth.Limits(steps=12),
        )

    def do(self, kind, value):
        session = self.session
        match kind:
            case "run":
                with suppress(Misuse):  # the task alone may be too large
                    self.check(session.run(value))
            case "pin" | "unpin":
                with suppress(Misuse):  # no room for one more, or no such pin
                    session.pin(value) if kind == "pin" else session.unpin(value)
            case "compact":
                session.compact()
            case "begin" | "cool" | "reseed":
                getattr(session, kind)()
            case "window":
                with suppress(BadWindow):  # by what the provider counts it may be too small
                    session.change(window=value)
            case "policy":
                with suppress(BadWindow):  # its note may need more room than is left then
                    session.change(policy=value)
            case "reopen":
                self.reopen()

    def check(self, run):
        session = self.session
        assert run.ending in Ending.__args__
        assert run.done
        assert {event.kind for event in session.recorded} <= set(EventKind.__args__)
        assert () == violations(session.sent)
        assert () == violations(session.live.assemble())
        for event in session.recorded:
            if event.kind == "request" and event.data["step"] > session.live.step - run.steps:
                assert session.archive.record.body(event.data["pieces"]) == session.request(
                    event.data["step"]
                )

    def reopen(self):
        before, count = shape(self.session), len(self.session.recorded)
        self.session.close()
        self.session = self.open()
        self.session.limits = eth.Limits(steps=12)
        assert self.session.drift == ()
        after = shape(self.session)
        assert {name for name in before if before[name] != after[name]} == set()
        assert len(self.session.recorded) == count

    def close(self):
        self.session.close()
        shutil.rmtree(self.folder)


@settings(max_examples=12, deadline=None)
@given(
    turns=st.lists(TURNS, min_size=4, max_size=25),
    acts=st.lists(ACTS, min_size=2, max_size=8),
    policy=st.sampled_from(sorted(eth.policies)),
)
def test_whatever_happens_comes_back_as_it_was(turns, acts, policy):
    bench = Bench(turns, policy)
    try:
        for kind, value in acts:
            bench.do(kind, value)
        bench.reopen()
    finally:
        bench.close()
