"""Whatever a provider answers: what is sent is recorded first, one thing is tried once, and the record tells it all."""

import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.agent.run import Ending
from ethang_nb.context.messages import Message, Thinking, ToolCall, assistant, to_json
from ethang_nb.context.pairing import violations
from ethang_nb.errors import Misuse, Overflow, ProviderFault
from ethang_nb.providers.protocol import Reply, Usage
from tests.agent.stage import Answers
from tests.agent.test_any_session import look
from tests.agent.test_reopen import shape

NUMBERS = st.none() | st.sampled_from([0, 1, 90, 700, 1_100, 1_900, 2_599, 2_600, 2_601, 6_000, 90_000])
USAGES = st.none() | st.builds(
    Usage, input=NUMBERS, output=NUMBERS, cached=NUMBERS, written=NUMBERS, reasoning=NUMBERS
)
PARTIAL = to_json(assistant("It begi"))
FAULTS = st.one_of(
    st.builds(
        Overflow,
        st.just("too long"),
        tokens=NUMBERS,
        limit=NUMBERS,
        room=NUMBERS,
        limits=st.sampled_from(["window", "window", "quota"]),
        partial=st.sampled_from([None, PARTIAL]),
    ),
    st.builds(ProviderFault, st.just("it broke"), partial=st.sampled_from([None, PARTIAL])),
    st.builds(ValueError, st.just("a bug")),
)
STOPS = st.sampled_from(["end", "end", "length", "cut", "refused"])
TEXTS = st.builds(lambda words: "Said. " + "word " * words, st.sampled_from([0, 30, 300]))
REPLIES = st.builds(
    lambda text, stop, usage: Reply(message=assistant(text), stop=stop, usage=usage, notices=("as told",)),
    TEXTS | st.just(""),
    STOPS,
    USAGES,
)
THOUGHTS = st.builds(
    lambda usage: Reply(
        message=Message(role="assistant", parts=(Thinking(text="hm " * 40),)), stop="end", usage=usage
    ),
    USAGES,
)
CALLS = st.builds(
    lambda sizes, stop, usage: Reply(
        message=assistant(
            "", calls=[ToolCall(id="", name="look", arguments=json.dumps({"words": n})) for n in sizes]
        ),
        stop=stop,
        usage=usage,
    ),
    st.lists(st.sampled_from([1, 60, 200, 500]), min_size=1, max_size=3),
    st.sampled_from(["calls", "calls", "calls", "calls", "length", "cut", "refused"]),
    USAGES,
)
ANSWERS = st.one_of(CALLS, CALLS, CALLS, REPLIES, THOUGHTS, FAULTS)
NOTES = st.one_of(TEXTS.map(lambda text: f"## Decisions\n{text}"), REPLIES, FAULTS)


class Checked(Answers):
    """Says of each request whether the record had its very bytes before it was sent."""

    session = None
    unrecorded = 0

    def __init__(self, answers, notes):
        super().__init__("unused")
        self._script, self._of_notes = iter(answers), iter(notes)

    async def send(self, body, *, on_text=None, on_note=None):
        newest = self.session.recorded[-1]
        if newest.kind not in ("request", "note request") or body.bytes != self.session.archive.record.body(
            newest.data["pieces"]
        ):
            self.unrecorded += 1
        on_note("tried again in 2 s")
        if on_text is not None:
            on_text("It beg")
        of_note = newest.kind == "note request"
        self._answers = [next(self._script, "done")]
        self._note = next(self._of_notes, "## Numbers\n7") if of_note else ""
        return await super().send(body, on_text=on_text, on_note=on_note)


def per_step(session):
    """Of each stretch between two answers or messages: how many requests were sent, and cleanups asked for."""
    sent = asked = 0
    for event in session.recorded:
        match event.kind:
            case "request":
                sent += 1
            case "asked":
                asked += 1
            case "message" | "run end" if event.kind == "run end" or not event.data.get("own"):
                yield sent, asked
                sent = asked = 0


def legal(messages):
    """A reply of thinking alone stands in the window; the wire formats leave it out, and say so."""
    return all(fault.endswith("thinking alone") for fault in violations(messages))


def seen(session):
    return {
        **shape(session),
        "said": session._desk.notices.lines,
        "window": session.window,
        "corrections": session._desk.corrections._of,
    }


def assert_goes_on(session):
    """A provider that takes what fits is asked again, whatever was refused before."""
    session.provider = Answers("done")
    try:
        run = session.run("Say hi.")
    except Misuse:  # the window that the provider named does not hold the fixed parts
        return
    assert run.ok or "--new" in run.error, run.error


@settings(max_examples=15, deadline=None)
@given(
    answers=st.lists(ANSWERS, min_size=3, max_size=25),
    notes=st.lists(NOTES, max_size=6),
    policy=st.sampled_from(sorted(eth.policies)),
    sizes=st.tuples(*[st.sampled_from([0, 0, 40, 500, 1_100])] * 3),
)
def test_whatever_a_provider_answers(answers, notes, policy, sizes):
    folder = Path(tempfile.mkdtemp(prefix="ethang-any-"))
    options = {"limits": eth.Limits(steps=12), "tools": [look]}
    session = eth.Session(name="t", window=2_600, policy=policy, root=folder, **options)
    try:
        session.provider = provider = Checked(answers, notes)
        provider.session = session
        tasks = ("Do this. Never call before noon.", "And now that.", "Go on.")
        for task, words in zip(tasks, sizes, strict=True):
            try:
                run = session.run(task + " word" * words)
            except Misuse:  # the window that the provider named holds no task
                continue
            assert run.ending in Ending.__args__
            assert run.ending != "running"
            assert legal(session.live.assemble())
            assert legal(session.sent)
        assert 0 == provider.unrecorded
        assert all(sent <= 2 and asked <= 1 for sent, asked in per_step(session))
        assert len(provider.bodies) == sum(
            event.kind in ("request", "note request") for event in session.recorded
        )
        before, events = seen(session), session.recorded
        session.close()
        session = eth.open_session("t", folder, window=2_600, **options)
        after = seen(session)
        assert () == session.drift
        assert {name: (before[name], after[name]) for name in before if before[name] != after[name]} == {}
        assert events == session.recorded
        assert_goes_on(session)
    finally:
        session.close()
        shutil.rmtree(folder)
