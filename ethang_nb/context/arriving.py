"""Arriving: a tool result as it enters a context: cut to the entry limit, its whole text kept at an address first.

Seed 003: "truncating the output before counting it, or writing it to a file and returning the path". A page that was
read back has an address of its own and is only cut; it is never spilled again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter, result_tokens
from ethang_nb.context.cutting import cut
from ethang_nb.context.ledger import Form, Result
from ethang_nb.context.messages import AGAINS, ToolResult
from ethang_nb.context.settings import Settings
from ethang_nb.context.squeezing import squeeze
from ethang_nb.context.wording import spilled, stub
from ethang_nb.context.wording import squeezed as squeezed_text

__all__ = ["Arrived", "Spill", "SpillWording", "arrive"]

LONGEST_LINE = 65_535  # what a ledger has room for; a line that long is never shorter than its result
SHORT = 4  # ► characters per token of the entry limit, up to which a text is counted at once
SpillWording = Callable[[str, str, int, str, str], str]
"""`wording(tool, text, head, address, reader) -> str`: what enters instead of a text over a limit of characters."""
Spill = Callable[[str, str], str]
"""`spill(tool, text) -> address`: keeps a text outside the window."""


class Arrived(NamedTuple):
    """The result as it stands in the window, what the planner knows of it, and where it can be read again."""

    result: ToolResult
    counted: Result
    address: str


def arrive(
    result: ToolResult,
    *,
    call: str,
    address: str,
    settings: Settings,
    counter: TokenCounter,
    spill: Spill | None,
    wording: SpillWording = spilled,
    reader: str = "",
    stands: bool = False,
) -> Arrived:
    """`call` names the call in words, `address` is its place in the record; `stands`: nothing is cut any more.

    `reader` names the tool that reads addresses, "" where there is none.
    """
    kept, address = result, result.address or address
    form: Form = "full"
    short = len(result.text) <= settings.entry_tokens * SHORT
    text_tokens = counter.count(result.text) if short else None
    if (
        not stands
        and "intake" in settings.policy.stages
        and _over(result.text, settings, counter, text_tokens)
    ):
        kept = _spilled(result, address, settings, counter, spill, wording, reader)
        form, text_tokens, address = "spilled", None, kept.address
    tokens = result_tokens(kept, counter, text_tokens)
    line = MESSAGE_OVERHEAD + counter.count(stub(call, kept, tokens, address))
    squeezed = tokens
    if "squeeze" in settings.policy.stages:
        shorter = squeezed_text(squeeze(kept.text), address)
        squeezed = result_tokens(replace(kept, text=shorter), counter)
    counted = Result(
        tokens, min(line, LONGEST_LINE), AGAINS.index(kept.again), form, squeezed if squeezed < tokens else 0
    )
    return Arrived(kept, counted, address)


def _spilled(
    result: ToolResult,
    address: str,
    settings: Settings,
    counter: TokenCounter,
    spill: Spill | None,
    wording: SpillWording,
    reader: str,
) -> ToolResult:
    if not result.address and spill is not None:
        address = spill(result.name or "tool", result.text)
    if settings.policy.entry_chars is None:
        text = cut(result.text, settings.entry_tokens - MESSAGE_OVERHEAD, counter, address, reader=reader)
    else:
        text = wording(result.name or "tool", result.text, settings.policy.head_chars, address, reader)
    again = result.again if result.address else "read"
    return replace(result, text=text, address=address, again=again)


def _over(text: str, settings: Settings, counter: TokenCounter, text_tokens: int | None) -> bool:
    if settings.policy.entry_chars is not None:
        return len(text) > settings.policy.entry_chars
    limit = settings.entry_tokens - MESSAGE_OVERHEAD
    return counter.over(text, limit) if text_tokens is None else text_tokens > limit
