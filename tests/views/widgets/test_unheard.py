"""A view of which nothing was heard is sent the whole, once an interval and only if it changed, until it speaks."""

import pytest

import ethang_nb as eth
from ethang_nb.views.live.hub import feed_of
from ethang_nb.views.widgets.unheard import Unheard
from tests.views.live.hosts import Host, Timers, messages


class Timer(Timers):
    daemon = False

    def start(self):
        pass


@pytest.fixture
def stage():
    """A context, a host that cannot ask, and what sends it the whole."""
    context = eth.Context(3_000)
    context.append(messages(2))
    feed, host, timer = feed_of(context), Host(), Timer()

    def send(part):
        host(part)
        unheard.told()

    subscription = feed.subscribe(send)
    unheard = Unheard(feed, subscription, timer)
    return context, host, timer, unheard, feed, subscription


def wholes(host):
    return sum(base is None for _, base in host.frames())


def test_the_whole_is_sent_once_an_interval_and_then_no_more(stage):
    context, host, timer, unheard, *_ = stage
    context.append({"role": "user", "content": "one more"})
    unheard.told()
    unheard.told()
    assert 1 == len(timer.waiting)
    timer.go_off()
    assert 1 == wholes(host)
    assert context.snapshot.to_json()["segments"] == host.document["segments"]
    timer.go_off()
    assert (1, []) == (wholes(host), timer.waiting)


def test_who_has_spoken_asks_for_itself(stage):
    context, host, timer, unheard, *_ = stage
    context.append({"role": "user", "content": "one more"})
    unheard.told()
    unheard.heard()
    assert (1, []) == (timer.cancelled, timer.waiting)
    context.append({"role": "user", "content": "and one"})
    unheard.told()
    assert (0, []) == (wholes(host), timer.waiting)


def test_a_large_document_is_not_sent_unasked():
    context = eth.Context(400_000)
    context.append(messages(700))
    feed, host, timer = feed_of(context), Host(), Timer()
    unheard = Unheard(feed, feed.subscribe(host), timer)
    context.append({"role": "user", "content": "one more"})
    feed.revision += 1
    unheard.told()
    timer.go_off()
    assert 0 == wholes(host)
