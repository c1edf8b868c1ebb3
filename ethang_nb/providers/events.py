"""Events: the JSON of one event of a stream, or of a whole answer; what tells of a fault is raised as one."""

from __future__ import annotations

import json
from typing import Any

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.faults.faults import fault_in

__all__ = ["DONE", "event_of", "nothing_said", "object_of"]

DONE = "[DONE]"
"""The data of the event that ends a stream of OpenAI's formats, and of those that follow them."""

_SHOWN = 120  # ► characters of broken data that an error shows


def event_of(name: str, data: str) -> dict[str, Any]:
    """The object that an event carries. Raises Overflow or ProviderFault where it tells of one, or is no JSON object.

    `name` is the event's; one called `error` is a fault whatever it carries.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        if name == "error":
            raise _failed(data, data) from None
        raise ProviderFault(
            f"the stream is broken: {_short(data)!r} is no JSON; ask again", retryable=True
        ) from None
    found = object_of(value)
    if name == "error":
        raise _failed(found, data)
    return found


def object_of(value: object) -> dict[str, Any]:
    """The value, where it is an object and no fault. Raises as `event_of` does."""
    fault = fault_in(value)
    if fault is not None:
        raise fault
    if not isinstance(value, dict):
        raise ProviderFault(
            f"the answer is broken: it is JSON of type {type(value).__name__}, no object; ask again",
            retryable=True,
        )
    return value


def nothing_said() -> ProviderFault:
    """The fault of a stream that ended, with status 200, before anything of a reply had come."""
    return ProviderFault(
        "the answer is an empty stream (nothing was said in it); ask again, and if it stays so look at the server's "
        "log or send less",
        retryable=True,
    )


def _failed(said: object, data: str) -> Overflow | ProviderFault:
    """What an event called `error` is that no rule for errors knows; its words may tell an overflow."""
    fault = fault_in({"error": said})
    if isinstance(fault, Overflow) or (fault is not None and fault.retryable):
        return fault  # its words and its code tell what it is
    return ProviderFault(f"the server failed: {_short(data)}", retryable=True)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
