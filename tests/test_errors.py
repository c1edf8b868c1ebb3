"""Errors: one line, whatever was given; a guess only where a known word is close."""

import pytest

from ethang_nb.errors import Unknown, nearest


@pytest.mark.parametrize(
    ("name", "known", "close"),
    [
        ("stauts", ("status", "plan"), "status"),
        ("READER", ("reader",), "reader"),
        ("--polcy", ("--policy", "--tools"), "--policy"),
        ("--bogus", ("--out", "--tools"), None),
        ("nope", ("notebook",), None),
    ],
)
def test_only_a_close_word_is_suggested(name, known, close):
    assert close == nearest(name, known)


def test_without_a_close_word_the_known_ones_are_listed():
    assert "unknown model 'x'; known: reader, script" == str(Unknown("model", "x", ("reader", "script")))
    assert "unknown session 'x'; known: none yet" == str(Unknown("session", "x", ()))


@pytest.mark.parametrize("name", ["n" * 300, "a\nb"])
def test_long_and_broken_names_stay_one_short_line(name):
    for said in (
        str(Unknown("session", name, (name + "x",))),
        str(Unknown("session", "q", [name] * 500)),
        str(Unknown("session", "q", [f"session-{at}" for at in range(500)])),
    ):
        assert "\n" not in said
        assert len(said) < 400


def test_a_long_list_says_how_many_more_there_are():
    assert str(Unknown("session", "x", [f"number-{at:03}" for at in range(100)])).endswith(" and 80 more")
