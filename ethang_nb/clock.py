"""The one place that knows the time.

Nothing that is compared, stored as a plan or sent to a model may read a clock; what needs one (the record's
`at` column, a lease's heartbeat, a timeout) takes a Clock as an argument.
"""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """Seconds since the epoch, and seconds that only go forward."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """The real clock."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()
