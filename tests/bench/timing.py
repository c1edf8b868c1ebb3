"""Times of several pieces of code in turns, so that a busy moment of the machine meets all of them alike."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Spread", "interleave", "milliseconds", "once", "ratio", "spread", "times"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and quartiles of a few values."""

    low: float
    median: float
    high: float


def interleave(
    tasks: Mapping[str, Callable[[], object]], *, rounds: int = 7, warm: int = 1
) -> dict[str, list[float]]:
    """Seconds of each task, one value a round: A B C, A B C, … after `warm` rounds that do not count.

    The garbage collector rests meanwhile. A task that must see something new each time keeps its own place.
    """
    for _ in range(warm):
        for task in tasks.values():
            task()
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    with _no_collection():
        for _ in range(rounds):
            for name, task in tasks.items():
                taken[name].append(_seconds(task))
    return taken


def once(task: Callable[[], object]) -> float:
    """Seconds of one call, for what is only slow the first time."""
    with _no_collection():
        return _seconds(task)


def spread(values: Sequence[float]) -> Spread:
    low, median, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (*values,) * 3
    )
    return Spread(low=low, median=median, high=high)


def ratio(slow: Sequence[float], fast: Sequence[float]) -> Spread:
    """How many times the second fits into the first: of the ratios within each round, not of the medians."""
    return spread([a / b for a, b in zip(slow, fast, strict=True)])


def milliseconds(seconds: Sequence[float]) -> str:
    """`1.23 ms [1.10-1.50]`."""
    found = spread(seconds)
    return f"{found.median * 1e3:.3g} ms [{found.low * 1e3:.3g}-{found.high * 1e3:.3g}]"


def times(found: Spread) -> str:
    """`20.5x [18.1-22.0]`; whole numbers from 100 on."""
    digits = 0 if found.median >= 100 else 1
    return f"{found.median:,.{digits}f}x [{found.low:,.{digits}f}-{found.high:,.{digits}f}]"


def _seconds(task: Callable[[], object]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


@contextmanager
def _no_collection():
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
