"""One face over a session, a context and plain messages: what each of them gives, and what it refuses."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ethang_nb as eth
from ethang_nb.agent.settlement import unsent
from ethang_nb.context.messages import Image, Message, Text, Thinking, assistant, user
from ethang_nb.errors import BadMessage, BadWindow, Misuse, NoSuchAddress
from ethang_nb.views.live.source import LONGEST, source_of
from ethang_nb.views.live.whatif import as_run
from tests.agent.stage import call, calls
from tests.views.live.hosts import messages


def cleaned(turns=14):
    """A context with cleanups behind it."""
    context = eth.Context(3_000, system="Be brief.")
    given_messages = messages(turns, words=160)
    for message in given_messages:
        if message["role"] == "assistant":
            context.request()
        context.append(message)
    context.request()
    assert context.snapshot.diffs
    return context


# ---- what may be shown


def test_a_session_a_context_messages_and_a_source_have_a_source(play):
    session, context = play({"say": "done"}), eth.Context(3_000, name="mine")
    of_messages = source_of(messages(2), window=3_000)
    found = [source_of(session), source_of(context), of_messages, source_of(of_messages)]
    assert [(one.kind, one.name, one.state) for one in found] == [
        ("session", "t", "idle"),
        ("context", "mine", "live"),
        ("context", "messages", "live"),
        ("context", "messages", "live"),
    ]
    assert found[0].shown is session
    assert found[1].shown is context
    assert found[3] is of_messages


@pytest.mark.parametrize(
    ("shown", "options", "error", "said"),
    [
        (
            [{"role": "user", "content": "x"}],
            {},
            Misuse,
            "messages alone have no window; give its tokens, as in window=8_000",
        ),
        ("contracts", {"window": 3_000}, Misuse, "eth.open_session(name) opens a session"),
        (None, {}, Misuse, "a view shows a session, an eth.Context or messages, not None"),
        (12, {"window": 3_000}, Misuse, "not 12"),
        ([{"role": "nobody"}], {"window": 3_000}, BadMessage, "message 0"),
        ([], {"window": "no-such-model"}, BadWindow, "is unknown"),
        (eth.Context(3_000), {"window": 4_000}, Misuse, "window belongs to messages; a Context has its own"),
        (eth.Context(3_000), {"system": "x"}, Misuse, "system belongs to messages"),
    ],
)
def test_what_cannot_be_shown_is_one_line(shown, options, error, said):
    with pytest.raises(error) as caught:
        source_of(shown, **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_source_says_of_its_own_is_what_the_snapshot_says(worked):
    for source in (source_of(worked), source_of(cleaned()), source_of(messages(3), window=2_000)):
        about, snapshot = source.about(), source.shown.snapshot
        assert (about.name, about.model, about.model_label, about.state) == (
            snapshot.name, snapshot.model, snapshot.model_label, snapshot.state,
        )  # fmt: skip
        assert set(about.notices) <= set(snapshot.notices)
        assert about.repairs == snapshot.segments.repairs


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                user("word"),
                assistant("said"),
                Message(role="assistant", parts=(Thinking(text="hm"),)),
                Message(role="user", parts=(Text(text=""),)),
                "turn",
                "request",
                "half",
            ]
        ),
        max_size=12,
    )
)
def test_what_cannot_be_sent_is_known_without_looking_at_all_again(events):
    """As `unsent`, which looks at everything, after each event."""
    from ethang_nb.views.live.of_session import _Unsent

    context = eth.Context(1_200, policy="lean")
    watching = _Unsent(context.live)
    for number, event in enumerate(events, 1):
        if event == "request":
            context.request()
        elif isinstance(event, str):
            asked, told = messages(1, words=90, start=number)
            context.append([asked, told] if event == "turn" else asked)
        else:
            context.append(event)
        assert watching.lines() == unsent(context.live)


# ---- texts


@pytest.mark.parametrize("make", [lambda worked: worked, lambda _: cleaned()])
def test_every_segment_of_the_window_can_be_read_as_it_stands(worked, make):
    shown = make(worked)
    source = source_of(shown)
    for segment in shown.segments:
        found = source.segment(segment.id)
        assert 0 == found["cut"]
        text = "\n".join(part["text"] for part in found["parts"])
        for message in segment.messages:
            assert message.text in text
            for asked in message.calls:
                assert {"role": "call", "name": asked.name, "text": asked.arguments} in found["parts"]
    assert source.segment("fixed:tools")["parts"][0]["role"] == "tool" if shown is worked else True


def test_a_segment_that_left_is_shown_as_it_entered(worked):
    source = source_of(worked)
    here = {segment.id for segment in worked.segments}
    gone = next(number for number in sorted(worked.live.entries) if number >= 0 and str(number) not in here)
    parts = source.segment(str(gone))["parts"]
    assert [part["text"] for part in parts if part["role"] == "result"] == [
        message.results[0].text for message in worked.live.entries[gone].messages[1:]
    ]


def test_thinking_and_pictures_are_said_in_words_and_a_long_text_is_cut_and_counted():
    picture = Image(media_type="image/png", data="aGk=")
    source = source_of(
        [
            Message(role="user", parts=(Text(text="x" * (LONGEST + 5)), picture)),
            Message(role="assistant", parts=(Thinking(text="hm"), Text(text="so"))),
        ],
        window=100_000,
    )
    first = source.segment("0")
    assert [len(part["text"]) for part in first["parts"]] == [LONGEST, 0]
    assert first["cut"] == 5 + len("[picture image/png]")
    assert source.segment("1")["parts"] == [
        {"role": "thinking", "text": "hm"},
        {"role": "assistant", "text": "so"},
    ]


@pytest.mark.parametrize(
    "number", ["99", "-1", "fixed:nothing", "note:9", "nudge:4", "", "²", "0 ", "9" * 400]
)
def test_a_segment_that_is_none_is_one_line(number):
    with pytest.raises(NoSuchAddress, match="no segment"):
        source_of(messages(2), window=3_000).segment(number)


def test_addresses_are_read_where_they_lie(worked):
    source = source_of(worked)
    left = worked.snapshot.diffs[0].left[0]
    assert "c_05.txt" in source.read(left.address)
    context = cleaned()
    item = next(item for item in context.snapshot.diffs[0].left if item.address)
    assert "ORD-" in source_of(context).read(item.address)
    for one in (source, source_of(context)):
        with pytest.raises(NoSuchAddress):
            one.read("nowhere")


# ---- requests


def test_a_request_of_a_session_is_the_bytes_of_its_record(worked):
    text, how = source_of(worked).request(3)
    assert how == "as sent"
    assert text.encode() == worked.request(3)


def test_a_request_of_a_context_is_what_it_gave_then():
    context = eth.Context(3_000)
    context.append(messages(1))
    given_then = list(context.request())
    context.append(messages(3, start=1))
    context.request()
    text, how = source_of(context).request(1)
    assert how == "as sent"
    assert json.loads(text)["messages"] == given_then
    text, how = source_of(messages(3), window=3_000).request(2)
    assert how == "as planned"
    assert len(json.loads(text)["messages"]) == 3
    with pytest.raises(NoSuchAddress, match="there are steps 1 to 2"):
        source_of(context).request(9)


# ---- diffs


@pytest.mark.parametrize("index", [-1, 99])
def test_a_diff_is_that_of_the_snapshot_and_one_that_is_none_is_one_line(worked, index):
    source = source_of(worked)
    snapshot = worked.snapshot.to_json()
    for number, diff in enumerate(snapshot["diffs"]):
        assert json.loads(json.dumps(source.diff(number))) == json.loads(json.dumps(diff))
    with pytest.raises(NoSuchAddress, match="no cleanup"):
        source.diff(index)


# ---- what-if


def test_the_replay_of_a_session_is_the_one_that_python_gives(worked):
    source = source_of(worked)
    assert source.replay().fills == worked.replay().fills
    for options in ({"levels": (300, 400, 200)}, {"window": 9_000}, {"policy": "lean"}):
        moved = source.replay().move(**options)
        known = worked.replay(**options)
        assert moved.fills == known.fills
        assert moved.digests == known.digests


def test_the_replay_of_a_context_is_that_of_its_messages():
    given_messages = messages(14, words=160)
    known = eth.replay(given_messages, 3_000, system="Be brief.")
    for source in (source_of(cleaned()), source_of(given_messages, window=3_000, system="Be brief.")):
        assert source.replay().fills == known.fills
        assert source.replay().digests == known.digests


def test_a_replay_is_kept_until_something_comes():
    context = cleaned()
    source = source_of(context)
    kept = source.replay()
    assert source.replay() is kept
    context.request()
    context.compact()
    assert source.replay() is kept
    for change in (
        lambda: context.append(messages(1, start=50)[:1]),
        lambda: context.append(messages(1, start=50)[1:]),
        lambda: context.pin("Keep it."),
        lambda: context.unpin(1),
        lambda: context.begin("more"),
        lambda: context.append({"role": "system", "content": "Be kind."}),
        lambda: context.append(user("More.")),
    ):
        change()
        assert source.replay() is not kept
        kept = source.replay()


@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(st.integers(1, 900), min_size=1, max_size=16),
    window=st.sampled_from([1_200, 3_000, 20_000]),
    policy=st.sampled_from(sorted(eth.policies)),
    levels=st.sampled_from([None, (300, 400, 200), (700, 800, 400)]),
)
def test_a_what_if_is_the_replay_with_those_settings_also_after_others(words, window, policy, levels):
    """Tapes are shared by settings under which results enter the same way."""
    given_messages = messages(0)
    for number, count in enumerate(words):
        given_messages += messages(1, words=count, start=number + 1)
    source = source_of(given_messages, window=4_000)
    for other in (50_000, 900, window):
        moved = source.replay().move(window=eth.window(other), policy=policy, levels=levels)
    rules = eth.policies[policy] if levels is None else eth.policies[policy].with_levels(eth_levels(levels))
    known = eth.replay(given_messages, window, policy=rules)
    assert list(moved) == list(known)
    run = as_run(moved)
    counted = Counter(step.outcome for step in known)
    assert run["counts"] == {
        "nudge": counted["nudge"],
        "cleanup": counted["cleanup"],
        "reseed": sum(step.reseed for step in known),
        "idle": counted["idle"],
        "stuck": counted["stuck"],
    }
    assert (run["fills"], run["p95"]) == (list(known.fills), known.p95)
    assert (run["tokens"], run["usable"]) == (sum(known.tokens), known.settings.usable)
    assert run["over"] == sum(tokens > known.settings.usable for tokens in known.tokens)
    happened = {step: (outcome, before) for step, outcome, before in run["events"] if outcome != "reseed"}
    for step in known:
        if step.outcome not in ("nothing", "idle"):
            assert happened[step.step] == (step.outcome, step.before)


def eth_levels(levels):
    from ethang_nb.context.window import Levels

    return Levels(nudge=levels[0], cleanup=levels[1], landing=levels[2])


# ---- trace


def test_a_trace_of_a_session_is_its_own(worked):
    assert source_of(worked).trace("ORD-88421").places == worked.trace("ORD-88421").places


def test_a_trace_of_a_context_finds_what_stands_and_what_left_and_how():
    context = cleaned()
    context.append(user("What of ORD-2?"))
    found = source_of(context).trace("ord-2")
    assert len(found.in_window) >= 1
    gone = next(place for place in found.places if place.left)
    assert gone.left[0].how in ("collapse", "evict")
    assert not gone.in_window
    assert "ORD-2" in context.removed(gone.address)
    assert {place.where for place in source_of(context).trace("brief").places} == {"fixed"}
    assert source_of(context).trace("never open c_05").in_window
    assert () == source_of(context).trace("not there at all").places
    with pytest.raises(Misuse, match="nothing to look for"):
        source_of(context).trace("  ")


def test_a_trace_of_a_context_finds_what_was_cut_as_it_entered():
    context = eth.Context(3_000)
    asked, told = messages(1, start=1)
    context.append([user("Look."), asked, {**told, "content": "head " * 900 + "ORD-77 " + "tail " * 900}])
    (place,) = source_of(context).trace("ORD-77").places
    assert not place.in_window
    assert "ORD-77" in context.removed(place.address)


# ---- acts


def test_acts_on_a_session_are_its_own(play):
    session = play(calls(call("list_files")), {"say": "done"})
    source = source_of(session)
    assert source.stop() == "no run is going on"
    session.run("Never open c. Go.")
    assert source.pin("Keep  it.", "decision") == "decision 2 is pinned from the next request on"
    assert session.pins[1].text == "Keep it."
    assert source.unpin(2) == "decision 2 is lifted"
    assert source.compact().startswith("idle: ")
    assert source.reseed().startswith(("reseed: ", "nothing: "))
    assert source.cool() == "cooled: the next piece of work starts from the core"
    assert "cooled: the next piece of work starts from the core" in source.about().notices


def test_acts_on_a_context_wait_for_its_next_request():
    context = cleaned()
    source = source_of(context)
    known = len(context.snapshot.diffs)
    assert "taken at the next request()" in source.compact()
    context.request()
    assert len(context.snapshot.diffs) >= known
    assert source.reseed().startswith(("started from the core: ", "nothing could leave"))
    assert source.cool().startswith("cooled")
    with pytest.raises(Misuse, match="runs elsewhere; stop it there, or press ■"):
        source.stop()


def test_messages_that_stand_have_no_next_request_and_say_so():
    source = source_of(messages(3), window=3_000)
    for act in (source.compact, source.reseed, source.cool):
        with pytest.raises(Misuse, match="needs a next request, and these are messages as they stand"):
            act()
    assert source.pin("Read all files.", "constraint").startswith("constraint 2 is pinned")
