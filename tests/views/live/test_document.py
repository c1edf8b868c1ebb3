"""The document of a live view: whole frame and updates together are the snapshot, whatever happens."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.context.policies import POLICIES
from ethang_nb.views.live.document import About, Document
from ethang_nb.views.live.wire import to_text
from tests.context.acts import WINDOWS, Player, acts
from tests.context.builders import watched
from tests.context.generators import budgeted
from tests.views.live.applier import Applier, as_live
from tests.views.live.examples import COMMAND, FOLDER, LARGE, examples, large, more, text_of

SAID = {"name": "n", "model": "m", "model_label": "a model", "state": "live"}


class Following:
    """A document beside its context, and what a view makes of its frames."""

    def __init__(self, total, rules):
        self.live, self.chronicle = watched(total, rules=rules)
        self.notices = []
        self.document = Document(
            self.live, self.chronicle, lambda: About(**SAID, notices=tuple(self.notices), repairs=("mended",))
        )
        self.view = Applier()
        self.view.apply(travelled(self.document.full()))

    def update(self):
        body = travelled(self.document.update())
        self.view.apply(body)
        return body

    def wanted(self):
        snapshot = self.chronicle.snapshot(**SAID, notices=self.notices, repairs=("mended",))
        return as_live(travelled(snapshot.to_json()))

    def check(self):
        wanted, shown = self.wanted(), self.view.document()
        for key, value in wanted.items():
            assert value == shown[key], key
        assert set(wanted) == set(shown)


def travelled(body):
    return json.loads(json.dumps(body))


@pytest.mark.parametrize("rules", sorted(POLICIES))
@budgeted(15)
@given(script=acts, total=st.sampled_from(WINDOWS))
def test_frames_applied_are_the_snapshot_after_every_act(rules, script, total):
    following = Following(total, rules)
    player = Player(following.live)
    for act in script:
        player.do(act)
        following.update()
        following.check()
        assert {} == following.update()
    following.view = Applier()
    following.view.apply(travelled(following.document.full()))
    following.check()


def test_nothing_that_happened_is_no_update():
    following = Following(6_000, "ethang")
    assert {} == following.update()


def test_notices_repairs_and_state_of_the_host_travel_too():
    following = Following(6_000, "ethang")
    following.notices.append("a watcher failed")
    assert {"set": {"notices": ["a watcher failed"]}} == following.update()
    following.check()


def test_the_whole_document_again_numbers_its_marks_as_before():
    """So a view that asks for the whole does not upset another one that goes on with updates."""
    following = Following(6_000, "ethang")
    player, other = Player(following.live), Applier()
    for number in range(30):
        player.do(("turn", number % 12, (200,)))
        player.do(("request", 0, (1,)))
        following.update()
        other.apply(travelled(following.document.full()))
        following.check()
    assert following.view.document() == other.document()


def test_what_a_diff_holds_travels_only_when_it_is_asked_for():
    following = Following(3_000, "ethang")
    player = Player(following.live)
    for number in range(20):
        player.do(("turn", number % 12, (200,)))
        player.do(("request", 0, (1,)))
    heads = following.update()["diffs"]["rows"]
    assert heads
    assert all({"left", "note", "facts", "price"}.isdisjoint(head) for head in heads)


# ---- sizes: DESIGN 8 and the issue; of the frames' texts as they travel


def size(body, revision=1_000):
    return len(to_text({"t": "frame", "rev": revision, "base": revision - 1, **body}).encode())


def test_a_long_run_its_appended_segments_and_its_cleanups_stay_within_their_sizes():
    live, chronicle = large(1, window=1_500_000)
    document = Document(live, chronicle, lambda: About(**SAID))
    chance, told, landings, one, stage = random.Random(7), size(document.full()), 0, 0, 0
    while live.state.next_row < LARGE:
        near = live.state.cleanup_at - live.state.total < 3_000  # a cleanup is told of alone
        for _ in range(1 if near or live.state.next_row > LARGE - 100 else 10):
            more(live, chance)
        body = document.update()
        told += size(body)
        if len(chronicle.heads) > landings:
            landings, stage = len(chronicle.heads), max(stage, size(body))
        elif live.state.next_row > LARGE - 90:
            one = max(one, size(body))
    live.ask_cleanup()
    live.request()
    stage = max(stage, size(document.update()))
    assert landings == 3
    assert 500 < one <= 2_000
    assert 2_000 < stage <= 16_000
    assert told <= 5_000_000


@pytest.mark.parametrize("name", examples())
def test_the_examples_are_what_their_generator_makes(name):
    kept = (FOLDER / name).read_text()
    assert kept == text_of(examples()[name]()), f"write them anew: {COMMAND}"
