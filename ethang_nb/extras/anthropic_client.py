"""What the official `anthropic` client asks, and every client that speaks its interface. Nothing of it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethang_nb.extras.interfaces import Asked, Interface, catalogue, text_of

__all__ = ["MESSAGES"]


def _messages(data: Mapping[str, Any]) -> Asked | None:
    messages = data.get("messages")
    if not isinstance(messages, list):  # a message of a thread, say, which ends in the same word
        return None
    return Asked(messages=messages, system=text_of(data.get("system")), tools=catalogue(data.get("tools")))


MESSAGES = Interface(end="/messages", shape="anthropic", read=_messages, wire="anthropic")
