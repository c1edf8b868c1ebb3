"""What a server asks for is understood in each form, and makes nobody wait for ever (field faults PRV-01, -03)."""

import math
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.providers.http.waiting import WAITS, lasting, retry_after

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30.0),
        ({"Retry-After": " 2 "}, 2.0),
        ({"RETRY-AFTER": "0"}, 0.0),
        ({"retry-after": "0.75"}, 0.75),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Monday, 30-Nov-26 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon Nov 30 12:00:30 2026"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        # The server's own clock is five minutes ahead.
        ({"retry-after": "Mon, 30 Nov 2026 12:05:30 GMT", "date": "Mon, 30 Nov 2026 12:05:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", "date": "yesterday"}, 30.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after": "3600"}, 3600.0),
    ],
)
def test_each_form_is_understood(headers, seconds):
    assert retry_after(headers, NOON) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value",
    [
        "nan",
        "inf",
        "-inf",
        "-1",
        "1e9",
        "1,5",
        "½",
        "٣",
        "",
        "soon",
        "9" * 400,
        "Mon, 99 Nov 2026 12:00:30 GMT",
        "0x10",
    ],
)
def test_what_is_no_time_is_none(value):
    assert retry_after({"retry-after": value}, NOON) is None
    assert retry_after({"retry-after-ms": value}, NOON) is None


def test_a_date_is_never_in_the_time_zone_of_this_machine(monkeypatch):
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "America/New_York")
        time.tzset()
        assert retry_after({"retry-after": "Mon Nov 30 12:00:30 2026"}, NOON) == 30.0
    time.tzset()


def test_silence_is_none():
    assert retry_after({}, NOON) is None


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "Retry-After", "retry-after-ms", "date"]),
        st.one_of(
            st.text(max_size=40), st.floats().map(str), st.datetimes().map(lambda at: at.strftime("%c"))
        ),
    ),
    st.floats(min_value=0, max_value=1e11),
)
def test_no_header_makes_a_wait_that_is_no_number_of_seconds(headers, now):
    seconds = retry_after(headers, now)
    assert seconds is None or (math.isfinite(seconds) and seconds >= 0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.2, "1 s"),
        (2.0, "2 s"),
        (120, "120 s"),
        (121, "3 min"),
        (7_201, "3 h"),
        (3_600_000, "1,000 h"),
    ],
)
def test_seconds_are_told_as_people_say_them_rounded_up(seconds, words):
    assert lasting(seconds) == words


def test_no_wait_is_ever_longer_than_a_minute_or_so():
    assert WAITS.longest <= 60 and WAITS.most <= WAITS.longest <= WAITS.patience
