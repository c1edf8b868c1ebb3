"""Cache marks: which prefixes of a request are long enough that a provider keeps them in its prompt cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ethang_nb.context.catalogue import catalogue_tokens
from ethang_nb.context.counting import message_tokens
from ethang_nb.providers.protocol import Request
from ethang_nb.tokens.registry import counter

__all__ = ["Worth", "worth_marking"]


class Worth(NamedTuple):
    """Whether tools and system text alone, and whether the whole request, reach the tokens that are cached."""

    head: bool
    whole: bool


def worth_marking(request: Request, cached_from: int) -> Worth:
    """By our own count, which is an estimate for most models; a mark on too short a prefix does no harm."""
    ours = counter(request.model)
    system = [message for message in request.messages if message.role == "system"]
    rest = (message for message in request.messages if message.role != "system")
    head = catalogue_tokens(request.tools, ours) if request.tools else 0
    head += sum(_tokens(message.text, request.model) for message in system)
    if head >= cached_from:
        return Worth(head=True, whole=True)
    return Worth(head=False, whole=_reach(cached_from - head, (message_tokens(one, ours) for one in rest)))


@lru_cache(maxsize=32)
def _tokens(text: str, model: str) -> int:
    return counter(model).count(text)


def _reach(limit: int, numbers: Iterable[int]) -> bool:
    """Whether they add up to `limit`; no more of them are asked for than that takes."""
    return any(total >= limit for total in _sums(numbers))


def _sums(numbers: Iterable[int]) -> Iterator[int]:
    total = 0
    for number in numbers:
        total += number
        yield total
