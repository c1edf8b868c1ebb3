"""Messages as JSON text in parts: small enough, cut between characters, the same every time."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.views.live.wire import MOST, parts, to_text

CHARS = st.sampled_from(['"', "\\", "a", "\n", "é", "→", "😀", "\u202e", "\x00", "<"])


def joined(pieces):
    assert [(piece["t"], piece["i"], piece["n"]) for piece in pieces] == [
        ("part", at, len(pieces)) for at in range(len(pieces))
    ]
    assert len({piece["m"] for piece in pieces}) == 1
    return "".join(piece["s"] for piece in pieces)


def fits(piece):
    """As the host writes it: the text inside a JSON string of a message."""
    written = json.dumps(piece, ensure_ascii=False).encode()
    return len(written) <= 64_000 and len(piece["s"].encode("utf-16-le")) // 2 <= MOST


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CHARS, st.integers(1, 30_000)), max_size=8))
def test_every_part_fits_and_they_join_to_the_text(runs):
    text = to_text({"text": "".join(char * count for char, count in runs)})
    pieces = parts(text)
    assert text == joined(pieces)
    assert all(map(fits, pieces))
    for piece in pieces:
        piece["s"].encode()  # no half of a character


@pytest.mark.parametrize(
    ("text", "count"), [("", 1), ("a" * MOST, 1), ("a" * (MOST + 1), 2), ("😀" * MOST, 4), ('"' * MOST, 2)]
)
def test_a_text_takes_as_few_parts_as_it_can(text, count):
    assert count == len(parts(text))


def test_each_message_has_a_number_of_its_own():
    numbers = [parts("{}")[0]["m"] for _ in range(5)]
    assert numbers == sorted(set(numbers))


def test_the_same_message_is_the_same_compact_text():
    message = {"b": [1, None, True], "a": "<é→😀>"}
    assert to_text(message) == '{"b":[1,null,true],"a":"<é→😀>"}' == to_text(dict(message))


def test_a_lone_surrogate_arrives_as_a_visible_escape():
    text = to_text({"t": "a\udc80b\ud83d", "\ud800": 1, "whole": "😀"})
    assert json.loads(text) == {"t": "a\\udc80b\\ud83d", "\\ud800": 1, "whole": "😀"}
    text.encode()


def test_what_is_no_json_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_text({"x": float("nan")})
