from typing import get_args

from ethang_nb.context import kinds

CONSTANTS = {name: value for name, value in vars(kinds).items() if name.isupper() and name != "REPLAYED"}


def test_every_kind_has_a_name_and_every_name_is_a_kind():
    assert set(get_args(kinds.EventKind)) == set(CONSTANTS.values())
    assert set(kinds.__all__) == {*CONSTANTS, "REPLAYED", "EventKind"}


def test_what_a_replay_feeds_are_kinds():
    assert set(kinds.REPLAYED) <= set(get_args(kinds.EventKind))
