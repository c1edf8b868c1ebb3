"""Pricing: what a change to the window costs at the provider's cache, and what the fixed parts cost over a task.

Integers only. Costs are in thousandths of a fresh input token. They inform; nothing is decided by them. Seed 002: "A
trim that recovers 2,000 tokens can cost 40,000 in reprocessing"; seed 003: "Saving 8K tokens of window can cost
more than keeping them".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["RATES", "FixedCost", "Price", "Rates", "fixed_cost", "note_cost", "price"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a token costs, per mille of a fresh input token: read from the cache, written to it, put out."""

    read: int = 100  # ►
    write: int = 1_250  # ►
    output: int = 5_000  # ►


RATES = Rates()


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a change costs against the next call's cache. Tokens, where nothing else is said.

    `prefix`: tokens before the first changed position, still served from the cache: what the next call is
    predicted to read there. `again`: tokens that were in the cache and are processed again. `saved`: tokens every
    later request is shorter by. `cost`: thousandths of an input token that the next call costs more than without
    the change (below 0: less). `pays_after`: calls, the next one among them, until the saving has paid for the
    reprocessing; None where nothing is saved or it never pays. `served`: what the provider says it really read
    from its cache, None until it said so.
    """

    prefix: int
    again: int
    saved: int
    pays_after: int | None
    read_per_mille: int = RATES.read
    write_per_mille: int = RATES.write
    cost: int = 0
    served: int | None = None

    @property
    def usual(self) -> bool:
        """Whether it was reckoned with the usual cache prices, and not with other ones of the model's own."""
        return (self.read_per_mille, self.write_per_mille) == (RATES.read, RATES.write)

    @property
    def missed(self) -> int | None:
        """Tokens that the cache held less than predicted (below 0: more); None until the provider reported."""
        return None if self.served is None else self.prefix - self.served

    def over(self, calls: int) -> int:
        """Thousandths of an input token that the change costs over `calls` calls; above 0, keeping is cheaper."""
        return self.cost - (calls - 1) * self.saved * self.read_per_mille if calls > 0 else 0

    def reported(self, cached: int | None, ratio: int = 1_000) -> Price:
        """With what the provider read from its cache, of its own tokens; `ratio`: per mille by which it counts more."""
        return replace(self, served=None if cached is None else cached * 1_000 // ratio)


def price(
    before: int, after: int, unchanged: int, *, cached: int | None = None, rates: Rates = RATES, once: int = 0
) -> Price:
    """The price of sending `after` tokens instead of `before`, of which the first `unchanged` are the same.

    `cached`: how many tokens from the start of `before` the cache holds, which is what was sent last; None: all.
    `once`: thousandths of an input token paid beside it, such as the writing of a note.

    Without the change the next call reads `cached` tokens and writes the rest; with it, it reads what is both
    unchanged and cached and writes the rest. Every later call reads `saved` tokens less.
    """
    held = before if cached is None else max(0, min(cached, before))
    prefix = max(0, min(unchanged, after, held))
    saved = before - after
    kept = held * rates.read + (before - held) * rates.write
    changed = prefix * rates.read + (after - prefix) * rates.write
    cost = changed - kept + once
    return Price(
        prefix=prefix,
        again=max(0, held - prefix - saved),
        saved=saved,
        pays_after=_pays_after(cost, saved * rates.read, saved),
        read_per_mille=rates.read,
        write_per_mille=rates.write,
        cost=cost,
    )


def _pays_after(cost: int, every_call: int, saved: int) -> int | None:
    """The first number of calls over which the change costs nothing more: 0 where the next call pays for nothing."""
    if saved <= 0:
        return None
    due = cost + every_call
    if due <= 0:
        return 0
    return -(-due // every_call) if every_call else None


def note_cost(read: int, written: int, rates: Rates = RATES) -> int:
    """Thousandths of an input token that a handoff note costs its writer: `read` tokens in, `written` tokens out."""
    return read * 1_000 + written * rates.output


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCost:
    """Tokens of the fixed parts: in one request, in all that were sent, and in all that the task will take."""

    fixed: int
    so_far: int
    projected: int

    def __str__(self) -> str:
        return f"{self.so_far:,} so far / {self.projected:,} projected"


def fixed_cost(fixed: int, iterations_so_far: int, iterations_projected: int) -> FixedCost:
    """What `fixed` tokens, resent with every request, come to. Seed 003: 27K in 30 iterations are 810K.

    A projection below what was done already is that.
    """
    return FixedCost(
        fixed=fixed,
        so_far=fixed * iterations_so_far,
        projected=fixed * max(iterations_so_far, iterations_projected),
    )
