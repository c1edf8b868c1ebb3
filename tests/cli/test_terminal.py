import io

import pytest

from ethang_nb.cli.terminal import Terminal


class Stream(io.TextIOWrapper):
    def __init__(self, encoding="utf-8", tty=False):
        super().__init__(io.BytesIO(), encoding=encoding)
        self.tty = tty

    def isatty(self):
        return self.tty

    def said(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_colours_on_a_terminal():
    stream = Stream(tty=True)
    Terminal(stream).say("nudge", "warn")
    assert "\x1b[33mnudge\x1b[0m\n" == stream.said()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_does_not_colour_where_the_person_asked_not_to(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    stream = Stream(tty=True)
    Terminal(stream).say("nudge", "warn")
    assert "nudge\n" == stream.said()


def test_does_not_colour_a_pipe():
    stream = Stream()
    Terminal(stream).say("nudge", "warn")
    assert "nudge\n" == stream.said()


def test_prints_what_the_encoding_holds():
    """A window of a system whose pipes are ASCII or Latin gets signs of its own, never an error."""
    stream = Stream("ascii")
    Terminal(stream).say("███▏·· 4,000 → 2,000 Pécs …")
    assert "###... 4,000 -> 2,000 P\\xe9cs ...\n" == stream.said()


def test_a_paragraph_is_wrapped_behind_its_name():
    stream = Stream()
    Terminal(stream).named("task", "word " * 30)
    lines = stream.said().splitlines()
    assert lines[0].startswith("  task     word")
    assert all(line.startswith(" " * 11 + "word") for line in lines[1:])
    assert max(map(len, lines)) <= 80
