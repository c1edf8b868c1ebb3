"""Numbers as people read them: grouped thousands, percent with one decimal, units written out.

One rounding everywhere: a share is an integer per mille, rounded down like `Budget.fill`, and shown as
percent with one decimal. No view formats a number by itself.
"""

from __future__ import annotations

__all__ = ["count", "dollars", "grouped", "numbered", "per_mille", "percent", "share", "tokens"]

SMALLEST = 100  # 10⁻⁶ USD: the last of four decimals


def grouped(value: int) -> str:
    """`3284` is "3,284"."""
    return f"{value:,}"


def percent(value: int) -> str:
    """Per mille as percent with one decimal: `684` is "68.4 %"."""
    sign = "-" if value < 0 else ""
    whole, tenth = divmod(abs(value), 10)
    return f"{sign}{whole:,}.{tenth} %"


def dollars(value: int) -> str:
    """10⁻⁶ USD as dollars with four decimals, rounded up: 12_300 is "$0.0123". Less than that is "under $0.0001"."""
    if 0 < value < SMALLEST:
        return "under $0.0001"
    whole, rest = divmod(-(-value // SMALLEST), 10_000)
    return f"${whole:,}.{rest:04d}"


def per_mille(part: int, whole: int) -> int:
    """`part` of `whole`, rounded down; 0 of nothing is 0."""
    return part * 1000 // whole if whole else 0


def share(part: int, whole: int) -> str:
    """`part` of `whole` as percent with one decimal."""
    return percent(per_mille(part, whole))


def count(value: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 segment", "2 segments"; `many` is the plural where it takes more than an s."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def tokens(value: int) -> str:
    """Tokens with their unit: "1 token", "3,284 tokens"."""
    return count(value, "token")


def numbered(values: tuple[int, ...], one: str, most: int = 12) -> str:
    """Places by number: "step 5", "steps 7, 10, 13 and 4 more"."""
    shown = ", ".join(grouped(value) for value in values[:most])
    rest = f" and {len(values) - most:,} more" if len(values) > most else ""
    return f"{one if len(values) == 1 else one + 's'} {shown}{rest}"
