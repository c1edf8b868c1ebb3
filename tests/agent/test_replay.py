"""session.replay: the session's own messages under another policy, window or levels, with no model call."""

from dataclasses import replace

import pytest

import ethang_nb as eth
from ethang_nb.context.pairing import violations
from ethang_nb.errors import BadPolicy, BadWindow, Unknown
from tests.agent.stage import TASK, WINDOW, Watched, calls, documents
from tests.context.builders import picture

SECOND = "Read docs/c_04.txt and tell me its first line. Answer in one sentence."


def ran(opened, folder, policy, **options):
    documents(folder)
    session = opened("reader?nudge=ignore", policy=policy, **options)
    assert session.run(TASK).ok
    assert session.run(SECOND).ok
    return session


@pytest.mark.parametrize("policy", ["lean", "priority", "trim"])
def test_under_its_own_settings_it_is_what_happened(tmp_path, opened, policy):
    """Where no note was written by a model and nobody did anything by hand."""
    session = ran(opened, tmp_path, policy)
    timeline = session.replay()
    steps = len(session.timeline)
    assert steps + 1 == len(timeline)  # one more request at the end
    if policy != "trim":  # its one line is reserved at 60 tokens and takes fewer
        assert [row.fill for row in session.timeline] == list(timeline.fills[:steps])
    happened = [row.step for row in session.timeline if row.before is not None]
    assert happened == [step.step for step in timeline if step.before is not None]
    reseeds = [
        row.step for row in session.timeline if any(event.startswith("reseed") for event in row.events)
    ]
    assert reseeds == [step.step for step in timeline if step.reseed]
    assert bool(reseeds) == (policy == "lean")


@pytest.mark.parametrize("policy", ["ethang", "compact", "pressure", "reseed"])
def test_up_to_the_first_note_it_is_what_happened(tmp_path, opened, policy):
    """A note counts as what was reserved for it, until a model has written it."""
    session = ran(opened, tmp_path, policy)
    first = next(row.step for row in session.timeline if row.before is not None)
    assert [row.fill for row in session.timeline[: first - 1]] == list(session.replay().fills[: first - 1])
    assert session.replay()[first - 1].before == session.timeline[first - 1].before


def test_nothing_is_asked_of_a_model_and_nothing_recorded(tmp_path, opened):
    session = ran(opened, tmp_path, "ethang")
    session.provider = watched = Watched(session.provider)
    before = session.archive.record.last, picture(session.live.state), session.live.assemble()
    for policy in eth.policies:
        timeline = session.replay(policy=policy, window=2_500)
        str(timeline), timeline._repr_html_(), timeline.rows(), timeline.at(-1)
    assert before == (session.archive.record.last, picture(session.live.state), session.live.assemble())
    assert [] == watched.bodies


def test_every_request_is_legal_and_its_addresses_are_those_of_the_record(tmp_path, opened):
    session = ran(opened, tmp_path, "pressure", window=9_000)
    timeline = session.replay(policy="lean", window=2_600)
    addresses, collapsed = set(), set()
    for index in range(len(timeline)):
        request = timeline.at(index)
        assert () == violations(request)
        addresses |= {result.address for message in request for result in message.results if result.address}
        collapsed |= {line.rpartition(": ")[2].rstrip("]") for line in _stubs(request)}
    assert collapsed
    for address in addresses | collapsed:
        assert session.archive.read(address, characters=9_000, fits=lambda _: True).text


def _stubs(request):
    return [
        result.text
        for message in request
        for result in message.results
        if result.text.startswith("[left the window: ")
    ]


def test_window_levels_and_policy_can_be_others(tmp_path, opened):
    session = ran(opened, tmp_path, "ethang")
    own = session.replay()
    assert own.settings.policy.name == "ethang"
    assert own.settings.base == session.window
    low = session.replay(
        levels=(300, 400, 200), window=2 * WINDOW, policy=replace(eth.policies["trim"], name="mine")
    )
    assert ("mine", 2 * WINDOW, 400) == (
        low.settings.policy.name, low.settings.window.total, low.settings.levels.cleanup
    )  # fmt: skip
    assert session.replay(window=50_000).count("cleanup") == 0


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"policy": "presure"}, Unknown, "did you mean 'pressure'"),
        ({"levels": (700, 800)}, BadPolicy, "give three per mille"),
        ({"levels": (700, "x", 400)}, BadPolicy, "give three per mille"),
        ({"levels": (700, 300, 400)}, BadPolicy, "must rise"),
        ({"window": 12}, BadWindow, "too small"),
        ({"window": "no-such-model"}, BadWindow, "is unknown"),
    ],
)
def test_what_cannot_be_is_one_line(play, options, error, said):
    session = play({"say": "done"})
    session.run("Go.")
    with pytest.raises(error, match=said) as caught:
        session.replay(**options)
    assert "\n" not in str(caught.value)


def test_a_result_that_was_cut_on_entry_stays_cut(play):
    def long_text() -> str:
        """Much."""
        return "\n".join(f"line {n} of the long text" for n in range(2_000))

    session = play(calls("long_text"), {"say": "done"}, tools=[long_text], window=8_000)
    session.run("Go.")
    kept = session.live.entries[1].messages[1].text
    wide, narrow = session.replay(window=200_000), session.replay(window=4_000)
    assert wide.at(-1)[-2].text == kept
    assert len(narrow.at(-1)[-2].text) < len(kept)
    assert "spill://" in narrow.at(-1)[-2].text


def test_pins_by_hand_hold_from_where_they_were_made_until_they_were_lifted(play):
    session = play({"say": "done", "repeat": 20}, policy="pressure")
    session.pin("Amounts are in EUR.")
    session.run("Go on with the folder data.")
    session.pin("Go on with the folder data.", "decision")  # its own message holds it
    session.run("Never open docs/c_05.txt.")
    session.pin("Answer in one line.")
    session.run("And on.")
    session.unpin(1)
    session.run("And on.")
    timeline = session.replay()

    def held(request):
        text = "\n".join(message.text for message in request)
        return [
            text.count(part) for part in ("Amounts are in EUR.", "[pinned constraint] Answer in one line.")
        ]

    assert [1, 0] == held(timeline.at(0))
    assert [1, 1] == held(timeline.at(-1))  # what is in the core stays there until it is rendered again
    pins = [(pin.kind, pin.text, bool(pin.lifted)) for pin in session.pins]
    again = timeline._context(len(timeline) - 1)
    assert sorted(pins) == sorted((pin.kind, pin.text, bool(pin.lifted)) for pin in again.pins)
    assert timeline.fills[: len(session.timeline)] == tuple(row.fill for row in session.timeline)


def test_a_session_without_a_message_replays_one_request(opened):
    timeline = opened().replay()
    assert 1 == len(timeline)
    str(timeline), timeline._repr_html_()


def test_a_session_that_is_only_looked_at_is_replayed(tmp_path, opened):
    session = ran(opened, tmp_path, "ethang")
    fills = session.replay(policy="trim").fills
    session.close()
    with eth.open_session("t", tmp_path, look=True) as looked:
        assert fills == looked.replay(policy="trim").fills


def test_a_replay_of_a_session_says_in_one_line_how_it_differs_from_what_happened(tmp_path, opened):
    session = ran(opened, tmp_path, "lean")
    said = "releases by the model are not replayed, and a model's note counts as what was reserved for it."
    for timeline in (session.replay(), session.replay(policy="trim"), session.replay().move(window=9_000)):
        assert said in " ".join(str(timeline).split())
        assert said in timeline._repr_html_()
    assert said not in " ".join(str(eth.replay([{"role": "user", "content": "Go."}], 2_000)).split())
    assert "releases by the model are not replayed" in " ".join(eth.Session.replay.__doc__.split())


def test_a_replay_that_is_moved_is_the_one_made_so(tmp_path, opened):
    session = ran(opened, tmp_path, "lean")
    moved, made = session.replay().move(policy="trim"), session.replay(policy="trim")
    assert moved.fills == made.fills
    assert type(moved) is type(made)
