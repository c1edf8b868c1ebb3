import pytest

from ethang_nb.store.record import Record


class HandClock:
    """A clock that moves when it is told to."""

    def __init__(self, now=1_000_000.0):
        self.time = now

    def now(self):
        return self.time

    def monotonic(self):
        return self.time


@pytest.fixture(autouse=True)
def no_home(monkeypatch):
    monkeypatch.delenv("ETHANG_HOME", raising=False)


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def record(tmp_path, clock):
    with Record.open(tmp_path, "analysis", clock=clock) as opened:
        yield opened
