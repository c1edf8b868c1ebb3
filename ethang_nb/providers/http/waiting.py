"""Waiting: how long a request may take in each phase, how often and how soon it goes again, and what a server asks for.

All of it is data in seconds; nothing here waits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

__all__ = ["TIMEOUTS", "WAITS", "Timeouts", "Waits", "lasting", "retry_after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """The longest each phase of a request may take, in seconds."""

    pool: float = 60.0  # ► for one of the connections to become free
    connect: float = 10.0  # ► name, TCP and TLS together
    write: float = 120.0  # ► the whole request: images over a slow uplink
    first: float = (
        600.0  # ► from the request to the first byte of an answer; a model may think that long, unseen
    )
    idle: float = 180.0  # ► between two pieces of an answer; a heartbeat is a piece
    grace: float = (
        2.0  # ► for the connection to end after the answer has; longer would only keep a person waiting
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How a request that failed goes again: at most `tries` in all, none begun later than `patience`.

    Before the second one `first` seconds are waited, then twice as long each time, up to `most`; `jitter` is the most
    that chance adds, so that a class of thirty does not come back in the same instant. A wait that a server asks for is
    kept, up to `longest`; a longer one is not waited for.
    """

    tries: int = 4  # ►
    first: float = 1.0  # ►
    most: float = 8.0  # ►
    jitter: float = 1.0  # ►
    longest: float = 60.0  # ►
    patience: float = 120.0  # ►


TIMEOUTS = Timeouts()
WAITS = Waits()

_NUMBER = re.compile(r"\d{1,12}(?:\.\d{0,12})?|\.\d{1,12}", re.ASCII)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that an answer asks to wait; None where it does not, or says nothing that could be understood.

    `retry-after-ms`, else `retry-after` as a number or as a date: counted from the answer's own `date` where it has
    one, since clocks differ, else from `now` (seconds since the epoch). Names in any case. 0 for a date gone by; never
    nan, infinite or negative.
    """
    low = {name.lower(): value.strip() for name, value in headers.items()}
    if (milliseconds := _number(low.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    asked = low.get("retry-after", "")
    if (seconds := _number(asked)) is not None:
        return seconds
    until = _date(asked)
    if until is None:
        return None
    since = _date(low.get("date", ""))
    return max(0.0, until - (now if since is None else since))


def lasting(seconds: float) -> str:
    """Seconds as people say them, rounded up: `3 s`, `5 min`, `2 h`."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds > 2 * size:
            return f"{math.ceil(seconds / size):,} {unit}"
    return f"{math.ceil(seconds)} s"


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _date(text: str) -> float | None:
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
