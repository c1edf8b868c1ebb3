"""One feed for all views of a source: whole frames, updates, their pace, their order, their end."""

import gc
import threading
import weakref

import pytest

import ethang_nb as eth
from ethang_nb.views.live import feed as feeds
from ethang_nb.views.live.document import Document
from ethang_nb.views.live.feed import INTERVAL, Feed
from ethang_nb.views.live.source import source_of
from tests.agent.stage import TASK, Watched, documents
from tests.views.live.applier import as_live
from tests.views.live.hosts import Host, fed, messages


@pytest.fixture
def context():
    made = eth.Context(3_000, system="Be brief.")
    made.append(messages(2))
    return made


def same(host, shown):
    """Whether the host shows what Python prints."""
    return host.document == as_live(shown.snapshot.to_json())


def test_nothing_is_sent_before_the_hello_and_a_whole_frame_after_it(context):
    feed, _, _ = fed(context)
    host = Host()
    view = feed.subscribe(host)
    assert [] == host.messages
    view.hello()
    assert [(1, None)] == host.frames()
    assert same(host, context)


def test_a_hello_of_who_has_it_already_is_answered_by_an_empty_frame(context):
    """So that the view knows that it was heard."""
    feed, clock, _ = fed(context)
    host = Host()
    view = feed.subscribe(host)
    view.hello()
    clock.advance(1)
    view.hello(1)
    assert [(1, None), (1, 1)] == host.frames()
    assert {"t": "frame", "rev": 1, "base": 1} == host.messages[-1]
    clock.advance(1)
    view.hello(7)
    assert [(1, None), (1, 1), (1, None)] == host.frames()


def test_a_hello_of_who_has_the_last_one_brings_what_changed_since_alone(context):
    feed, clock, _ = fed(context)
    first, second = Host(), Host()
    view = feed.subscribe(first)
    view.hello()
    feed.subscribe(second).hello()
    context.append(messages(1, start=2))
    clock.advance(1)
    view.hello(1)
    assert [(1, None), (2, 1)] == first.frames()
    assert same(first, context)


def test_a_hello_off_the_main_thread_waits_for_nobody(context):
    """In that thread a stop may come next."""
    feed, _, timers = fed(context)
    host = Host()
    view = feed.subscribe(host)
    with feed.source.lock:
        thread = threading.Thread(target=view.hear, args=({"ask": "hello"},), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
    assert [] == host.messages
    assert [0] == [seconds for seconds, _ in timers.waiting]
    timers.go_off()
    assert [(1, None)] == host.frames()
    assert same(host, context)


def test_changes_are_sent_as_updates_to_all_and_worked_out_once(context, monkeypatch):
    feed, clock, _ = fed(context)
    hosts = [Host(), Host(), Host()]
    for host in hosts:
        feed.subscribe(host).hello()
        clock.advance(1)
    made = []
    update = Document.update
    monkeypatch.setattr(Document, "update", lambda self: made.append(1) or update(self))
    for number in range(2, 8):
        context.request()
        clock.advance(1)
        context.append(messages(1, start=number))
        clock.advance(1)
    assert len(made) == 12
    for host in hosts:
        assert same(host, context)
        assert 0 == host.missed
        assert [base for _, base in host.frames()][1:] == [rev - 1 for rev, _ in host.frames()][1:]


def test_one_who_joins_between_updates_gets_the_whole_alone(context):
    feed, clock, _ = fed(context)
    first, second = Host(), Host()
    feed.subscribe(first).hello()
    clock.advance(1)
    context.append(messages(1, start=2))
    clock.advance(1)
    view = feed.subscribe(second)
    view.hello()
    assert [(1, None), (2, 1)] == first.frames()
    assert [(2, None)] == second.frames()
    clock.advance(1)
    context.request()
    assert first.frames()[-1] == second.frames()[-1] == (3, 2)
    assert same(first, context)
    assert same(second, context)


def test_a_change_nobody_sees_is_no_update(context):
    feed, clock, _ = fed(context)
    host = Host()
    feed.subscribe(host).hello()
    clock.advance(1)
    feed.changed("message")
    assert [(1, None)] == host.frames()


def test_the_first_change_is_sent_at_once_and_the_last_when_the_interval_is_over(context):
    feed, clock, timers = fed(context)
    host = Host()
    feed.subscribe(host).hello()
    for number in range(2, 6):
        context.append(messages(1, start=number))
    assert [(1, None)] == host.frames()
    assert [INTERVAL] == [seconds for seconds, _ in timers.waiting]  # one timer for all of them
    clock.advance(INTERVAL)
    timers.go_off()
    assert [(1, None), (2, 1)] == host.frames()
    assert same(host, context)
    clock.advance(INTERVAL / 2)
    context.request()
    assert len(host.frames()) == 2
    assert INTERVAL / 2 == pytest.approx(timers.waiting[0][0])
    clock.advance(INTERVAL)
    timers.go_off()
    assert same(host, context)


def test_there_are_never_more_than_twenty_updates_a_second(context):
    feed, clock, timers = fed(context)
    times = []
    view = feed.subscribe(lambda part: times.append(clock.monotonic()))
    view.hello()
    due = None
    for number in range(200):
        clock.advance(1 / 97)
        if timers.waiting and due is not None and clock.monotonic() >= due:
            timers.go_off()
            due = None
        context.pin(f"Keep {number} of them.") if number % 2 else context.unpin(context.snapshot.pins[-1].id)
        if timers.waiting and due is None:
            due = clock.monotonic() + timers.waiting[0][0]
    assert 20 < len(times)
    for at, time in enumerate(times):
        assert sum(time <= other < time + 1 for other in times[at:]) <= 20


def test_one_that_knows_a_revision_is_told_from_there_on(context):
    feed, clock, _ = fed(context)
    host = Host()
    first = feed.first()
    host({"t": "part", "m": 0, "i": 0, "n": 1, "s": first})
    assert same(host, context)
    feed.subscribe(host, at=host.revision)
    context.append(messages(1, start=2))
    clock.advance(1)
    assert [(1, None), (2, 1)] == host.frames()
    assert same(host, context)


def test_a_first_frame_that_is_large_is_not_stored():
    feed, _, _ = fed(messages(3), window=3_000)
    assert feed.first().startswith('{"t":"frame","rev":1,"base":null,')
    feed, _, _ = fed(messages(700), window=300_000)
    assert "" == feed.first()
    long = [{"role": "user", "content": f"{number} " + "é" * 400} for number in range(500)]
    feed, _, _ = fed(long, window=300_000)
    assert "" == feed.first()


def test_a_first_frame_made_between_updates_breaks_nobodys_row(context):
    feed, clock, _ = fed(context)
    host = Host()
    feed.subscribe(host).hello()
    context.append(messages(1, start=2))
    assert '"rev":2,"base":null' in feed.first()
    clock.advance(1)
    context.request()
    assert [(1, None), (2, 1), (3, 2)] == host.frames()
    assert same(host, context)


def test_a_subscriber_that_fails_is_dropped_and_said_and_the_others_go_on(context):
    feed, clock, _ = fed(context)
    host, parts = Host(), []

    def broken(part):
        parts.append(part)
        raise ConnectionError("the view is gone")

    feed.subscribe(broken).hello()
    clock.advance(1)
    feed.subscribe(host).hello()
    clock.advance(1)
    context.append(messages(1, start=2))
    clock.advance(1)
    context.request()
    assert 1 == len(parts)
    assert 1 == feed.subscribers
    assert same(host, context)
    assert [line for line in context.snapshot.notices if "ConnectionError: the view is gone" in line]


def test_a_subscriber_may_leave_or_act_from_within(context):
    feed, clock, _ = fed(context)
    host = Host()

    def acting(part):
        host(part)
        if host.count("frame") == 1:
            context.pin("Keep it from within.")
        if host.count("frame") == 3:
            view.close()

    view = feed.subscribe(acting)
    view.hello()
    for number in range(2, 6):
        clock.advance(1)
        context.append(messages(1, start=number))
    assert 3 == host.count("frame")
    assert 0 == feed.subscribers


def test_one_thread_sends_at_a_time_in_order_and_nobody_waits_for_it(context):
    feed, clock, _ = fed(context)
    host, inside, go_on = Host(), threading.Event(), threading.Event()

    def slow(part):
        inside.set()
        assert go_on.wait(60)
        host(part)

    view = feed.subscribe(slow, at=0)
    feed.first()
    clock.advance(1)
    thread = threading.Thread(target=lambda: context.append(messages(1, start=2)), daemon=True)
    view.at = 1
    thread.start()
    assert inside.wait(60)
    for number in range(3, 6):  # while the other thread is sending
        clock.advance(1)
        context.append(messages(1, start=number))
    assert [] == host.messages
    go_on.set()
    thread.join(60)
    assert [(2, 1), (3, 2), (4, 3), (5, 4)] == host.frames()


def test_after_the_last_has_left_nobody_watches_and_no_timer_runs(context):
    feed, clock, timers = fed(context)
    hosts = [Host(), Host()]
    views = [feed.subscribe(host) for host in hosts]
    for view in views:
        view.hello()
        clock.advance(1)
    context.request()
    context.append(messages(1, start=2))
    assert timers.waiting
    views[0].close()
    views[0].close()
    assert context._changes
    views[1].close()
    assert not context._changes
    assert not timers.waiting
    assert feed._document is None
    views[1].hello()
    clock.advance(1)
    again = Host()
    feed.subscribe(again).hello()
    assert again.revision > hosts[0].revision
    assert same(again, context)


def test_a_feed_and_its_source_go_when_nobody_holds_them():
    context = eth.Context(3_000)
    kept = weakref.ref(context)
    feed = Feed(source_of(context))
    view = feed.subscribe(Host())
    view.hello()
    known = weakref.ref(feed)
    del feed, view
    gc.collect()
    assert known() is None
    context.append(messages(1))
    assert not context._changes  # it was let go with the next change
    del context
    gc.collect()
    assert kept() is None


def test_a_subscription_keeps_its_feed():
    context = eth.Context(3_000)
    host = Host()
    view = Feed(source_of(context)).subscribe(host)
    gc.collect()
    view.hello()
    assert same(host, context)


def test_a_document_that_cannot_be_made_ends_the_views_and_breaks_no_run(context, monkeypatch):
    feed, clock, _ = fed(context)
    host = Host()
    feed.subscribe(host).hello()

    def broken(_):
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(feeds.Document, "update", broken)
    clock.advance(1)
    context.append(messages(1, start=2))
    assert len(context.request()) == 8
    assert host.messages[-1] == {"t": "end"}
    assert 0 == feed.subscribers
    assert [line for line in context.snapshot.notices if "ZeroDivisionError: a bug of ours" in line]


# ---- with a session


def test_a_run_is_followed_to_its_last_state(tmp_path, opened):
    documents(tmp_path)
    session = opened()
    feed, clock, timers = fed(session)
    host = Host()
    feed.subscribe(host).hello()
    session.watch(lambda _: clock.advance(1))
    session.run(TASK)
    timers.go_off()
    assert host.document["state"] == "idle"
    assert same(host, session)
    assert 0 == host.missed
    assert len(host.frames()) > session.live.step
    states = [one["set"]["state"] for one in host.messages if "state" in one.get("set", {})]
    assert ["idle", "running", "idle"] == states


def test_the_end_comes_after_the_last_state_once_and_without_waiting(play):
    session = play({"say": "done"})
    feed, _, timers = fed(session)
    host = Host()
    view = feed.subscribe(host)
    view.hello()
    session.run("Go.")
    assert timers.waiting
    session.close()
    session.close()
    assert not timers.waiting
    assert host.messages[-1] == {"t": "end"}
    assert 1 == host.count("end")
    assert host.document["state"] == "closed"
    assert [row["step"] for row in host.document["timeline"]] == [1]
    late = Host()
    feed.subscribe(late).hello()
    timers.go_off()
    assert ["frame", "end"] == [one["t"] for one in late.messages]
    assert 1 == host.count("end")


def test_the_requests_of_a_run_are_the_same_with_views_that_ask_all_the_time(tmp_path, monkeypatch):
    monkeypatch.delenv("ETHANG_HOME")
    asks = ["whatif", "policies", "trace", "segment", "request", "diff", "read", "hello", "nonsense"]
    arguments = {
        "text": "ORD-88421", "segment": "1", "step": 1, "index": 0, "address": "log://3", "levels": [500, 600, 300],
    }  # fmt: skip
    bodies, digests = [], []
    for looking in (False, True):
        folder = tmp_path / str(looking)
        folder.mkdir()
        documents(folder, 9)
        with eth.Session("reader", name="t", window=3_600, root=folder) as session:
            session.provider = watched = Watched(session.provider)
            if looking:
                feed = Feed(source_of(session))
                views = [feed.subscribe(Host()) for _ in range(2)]

                def look(*_, views=views):
                    for view in views:
                        for number, ask in enumerate(asks):
                            view.hear({"id": number, "ask": ask, **arguments})

                look()
                session.watch(look)
                session.watch_changes(look)
            session.run(TASK)
            session.run("Tell me the cap once more.")
            bodies.append(watched.bodies)
            digests.append([event.data.get("digest") for event in session.recorded if event.kind == "point"])
            kinds = {event.kind for event in session.recorded}
    assert bodies[0] == bodies[1]
    assert digests[0] == digests[1]
    assert len(bodies[0]) > 10
    assert "pin" in kinds


def test_threads_that_change_ask_join_and_leave_end_with_the_same_state():
    """No deadlock, no frame out of its order, and all who stay show how it stands."""
    context = eth.Context(100_000)
    feed = Feed(source_of(context))
    hosts = [Host() for _ in range(3)]
    views = [feed.subscribe(host) for host in hosts]
    for view in views:
        view.hello()
    faults = []

    def guarded(work):
        try:
            for number in range(40):
                work(number)
        except Exception as error:
            faults.append(error)

    def passing(_):
        host = Host()
        view = feed.subscribe(host)
        view.hello()
        view.close()
        faults.extend([host] * (host.missed > 0))

    def held(number):
        with feed.source.lock:  # as who makes several changes at once
            context.pin(f"Keep number {number} for me.")
            views[0].hello()

    jobs = [
        lambda number: context.append(messages(1, start=number + 1)),
        lambda _: context.request(),
        held,
        passing,
        lambda number: views[number % 3].hear({"id": 1, "ask": "segment", "segment": "0"}),
        lambda _: feed.first(),
    ]
    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not [thread for thread in threads if thread.is_alive()]
    assert [] == faults
    for timer in [thread for thread in threading.enumerate() if thread.name == "ethang-feed"]:
        timer.join(60)
    feed.due()
    for host in hosts:
        assert same(host, context)
        assert 0 == host.missed
