"""The feeds of this process and the sources that a panel may show: found again, listed in order, kept from nobody."""

import gc
import weakref

import pytest

import ethang_nb as eth
from ethang_nb.agent.watchers import Register
from ethang_nb.errors import Unknown
from ethang_nb.views.live.hub import HUB, Hub, feed_of
from ethang_nb.views.live.source import source_of
from tests.agent.stage import call, calls
from tests.views.live.hosts import Host, messages


@pytest.fixture
def hub(monkeypatch):
    """One that knows nothing of what other tests have opened or shown."""
    opened = Register()
    monkeypatch.setattr("ethang_nb.agent.session.OPEN", opened)
    return Hub(opened)


def ids(hub):
    return [one.id for one in hub.listed()]


def test_the_same_session_or_context_has_the_same_feed(hub, play):
    session, context = play({"say": "done"}), eth.Context(3_000)
    for shown in (session, context):
        feed = hub.feed_of(shown)
        assert hub.feed_of(shown) is feed
        assert hub.feed_of(source_of(shown)) is feed
        assert feed.source.shown is shown
    assert hub.feed_of(session) is not hub.feed_of(context)


def test_messages_have_a_feed_of_their_own_each_time(hub):
    given = messages(2)
    first, second = source_of(given, window=3_000), source_of(given, window=3_000)
    assert hub.feed_of(first) is not hub.feed_of(second)


def test_a_feed_or_context_that_nobody_holds_is_not_kept(hub):
    context = eth.Context(3_000)
    feed = weakref.ref(hub.feed_of(context))
    view = hub.feed_of(context).subscribe(Host())
    view.hello()
    kept = weakref.ref(context)
    assert ["context:1"] == ids(hub)
    view.close()
    del view
    gc.collect()
    assert feed() is None
    del context
    gc.collect()
    assert kept() is None
    assert [] == hub.listed()
    again = eth.Context(3_000)
    hub.feed_of(again)
    assert ["context:2"] == ids(hub)  # never one that a view may still know as another


def test_what_may_be_shown_stands_in_the_order_in_which_it_was_opened(hub, play):
    context = eth.Context(3_000, name="mine")
    first = play({"say": "done"}, name="contracts")
    hub.feed_of(context)
    second = play({"say": "done"}, name="letters")
    assert [tuple(one) for one in hub.listed()] == [
        ("session:contracts", "contracts", "session", "idle"),
        ("context:1", "mine", "context", "live"),
        ("session:letters", "letters", "session", "idle"),
    ]
    assert hub.find("session:letters") is hub.feed_of(second)
    assert hub.find("context:1").source.shown is context
    assert hub.find("session:contracts") is hub.feed_of(first)
    first.close()
    assert ["context:1", "session:letters"] == ids(hub)
    with pytest.raises(Unknown, match="unknown source 'session:contracts'"):
        hub.find("session:contracts")


def test_a_session_opened_again_under_its_name_has_its_id_and_one_in_another_folder_another(
    hub, play, tmp_path, monkeypatch
):
    monkeypatch.delenv("ETHANG_HOME")
    session = play({"say": "done"}, name="contracts")
    session.close()
    again = play({"say": "done"}, name="contracts")
    assert ["session:contracts"] == ids(hub)
    assert hub.find("session:contracts").source.shown is again
    (tmp_path / "b").mkdir()
    with eth.Session("reader", name="contracts", window=3_600, root=tmp_path / "b") as other:
        assert ["session:contracts", "session:contracts:2"] == ids(hub)
        assert hub.find("session:contracts:2").source.shown is other


def test_one_that_takes_the_place_of_an_open_one_is_the_one_that_is_shown(hub, play):
    play({"say": "done"}, name="contracts")
    second = play({"say": "done"}, name="contracts")
    assert ["session:contracts"] == ids(hub)
    assert hub.find("session:contracts").source.shown is second


def test_a_watcher_is_told_of_each_list_that_is_another(hub, play):
    lists = []
    stop = hub.watch(lambda _: lists.append([(one.id, one.state) for one in hub.listed()]))
    session = play(calls(call("list_files")), {"say": "done"}, {"say": "done", "repeat": 9}, name="a")
    context = eth.Context(3_000)
    hub.feed_of(context)
    hub.feed_of(context)
    session.run("Go.")
    session.pin("Keep it.")
    session.close()
    assert lists == [
        [("session:a", "idle")],
        [("session:a", "idle"), ("context:1", "live")],
        [("session:a", "running"), ("context:1", "live")],
        [("session:a", "idle"), ("context:1", "live")],
        [("context:1", "live")],
    ]
    other = play({"say": "done"}, name="b")
    assert 6 == len(lists)
    stop()
    other.run("Go.")
    other.close()
    assert 6 == len(lists)
    assert not other._desk.changes


def test_the_hub_of_this_process_knows_every_open_session(play):
    session = play({"say": "done"}, name="here")
    assert HUB.find("session:here") is feed_of(session)
