"""Settings: which place wins, and what is said of a value that cannot be right."""

import pytest

from ethang_nb.config import FILE, checked, settings
from ethang_nb.errors import BadWindow, EthangError, Misuse, Unknown

PLACES = ("argument", "%config", FILE, "ETHANG_WINDOW", "default")


@pytest.mark.parametrize("place", PLACES)
def test_the_first_place_that_says_something_wins(tmp_path, place):
    """argument > %config > project TOML > environment > default."""
    first = PLACES.index(place)
    (tmp_path / FILE).write_text("[ethang]\nwindow = 3003\n" if first <= 2 else "")
    found = settings(
        {"window": 1001} if first <= 0 else {},
        {"window": 2002} if first <= 1 else {},
        tmp_path,
        {"ETHANG_WINDOW": "4004"} if first <= 3 else {},
    )
    assert (1001, 2002, 3003, 4004, None)[first] == found.window
    assert place == found.sources["window"]


def test_each_value_knows_its_own_place(tmp_path):
    (tmp_path / FILE).write_text('[ethang]\npolicy = "pressure"\n')
    found = settings({"window": "6_000"}, {}, tmp_path, {"ETHANG_MODEL": "reader?follow=no"})
    assert ("reader?follow=no", 6000, "pressure") == (found.model, found.window, found.policy)
    assert {"model": "ETHANG_MODEL", "window": "argument", "policy": FILE, "home": "default"} == found.sources


def test_none_and_blank_count_as_not_given(tmp_path):
    found = settings({"model": None}, {"policy": None}, tmp_path, {"ETHANG_MODEL": " ", "ETHANG_HOME": ""})
    assert ("reader", "ethang", None, None) == (found.model, found.policy, found.window, found.home)


def test_the_home_is_the_environments(tmp_path):
    found = settings({}, {}, tmp_path, {"ETHANG_HOME": str(tmp_path / "new")})
    assert tmp_path / "new" == found.home
    assert "ETHANG_HOME" == found.sources["home"]
    assert not found.home.exists()


def test_reading_makes_nothing(tmp_path):
    settings({}, {}, tmp_path, {})
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["6000", " 6000 ", "6,000", "6_000"])
def test_a_window_may_be_grouped(text):
    assert 6000 == checked("window", text, "argument")


@pytest.mark.parametrize(
    "value", ["x", "", "-6000", "6000.5", 6000.0, True, 12, 0, 10**12, "9" * 5000, "６０００", None]
)
def test_a_window_that_is_none_is_named(value):
    with pytest.raises(BadWindow, match=r"a whole number of tokens from 256") as caught:
        checked("window", value, "argument")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("environ", "error", "said"),
    [
        ({"ETHANG_WINDOW": "big"}, BadWindow, "ETHANG_WINDOW is 'big'; give a whole number of tokens"),
        (
            {"ETHANG_POLICY": "presure"},
            Unknown,
            "unknown policy in ETHANG_POLICY 'presure'; did you mean 'pressure'?",
        ),
        ({"ETHANG_HOME": __file__}, Misuse, "ETHANG_HOME is "),
    ],
)
def test_a_wrong_variable_is_named(tmp_path, environ, error, said):
    with pytest.raises(error) as caught:
        settings({}, {}, tmp_path, environ)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("[ethang]\nwindow = 'x'", BadWindow, "window in ethang.toml is 'x'"),
        ("[ethang]\nwindow = true", BadWindow, "window in ethang.toml is True"),
        ("[ethang]\nmodel = 5", Misuse, "model in ethang.toml is 5; give a name in quotes"),
        ("[ethang]\npolicy = 'none'", Unknown, "unknown policy in ethang.toml 'none'"),
        ("[ethang]\nwindws = 1", Unknown, "unknown setting in ethang.toml 'windws'; did you mean 'window'?"),
        ("ethang = 3", Misuse, "ethang.toml: ethang is 3; it must be a table"),
        (
            "window = 5",
            Misuse,
            "ethang.toml: 'window' stands outside of the table [ethang]; put a line [ethang]",
        ),
        ("nope = 5", Misuse, "ethang.toml: 'nope' stands outside of the table [ethang]"),
        ("window = 5\n[ethang]\npolicy = 'ethang'", Misuse, "ethang.toml: 'window' stands outside"),
        ("[ethan]\nwindow = 5000", Misuse, "ethang.toml has a table [ethan] and none called [ethang]"),
        ("[ethang\n", Misuse, "ethang.toml is not TOML: "),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, error, said):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(error) as caught:
        settings({}, {}, tmp_path, {})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(Misuse, match=r"ethang\.toml cannot be read: not UTF-8"):
        settings({}, {}, tmp_path, {})


def test_other_tables_are_no_matter(tmp_path):
    (tmp_path / FILE).write_text("[tool]\nwindow = 'x'\n[ethang]\n")
    assert "default" == settings({}, {}, tmp_path, {}).sources["window"]


def test_a_wrong_value_below_a_good_one_is_not_looked_at(tmp_path):
    assert 6000 == settings({"window": 6000}, {}, tmp_path, {"ETHANG_WINDOW": "big"}).window


def test_all_of_it_is_one_kind_of_error():
    with pytest.raises(EthangError):
        checked("model", " ", "argument")
