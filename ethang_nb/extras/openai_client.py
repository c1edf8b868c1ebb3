"""What the official `openai` client asks, and any that speaks its two interfaces. Nothing of it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethang_nb.extras.interfaces import Asked, Interface, catalogue

__all__ = ["CHAT", "RESPONSES"]


def _chat(data: Mapping[str, Any]) -> Asked | None:
    messages = data.get("messages")
    if not isinstance(messages, list):
        return None
    return Asked(messages=messages, tools=catalogue(data.get("tools") or data.get("functions")))


def _responses(data: Mapping[str, Any]) -> Asked | None:
    items = data.get("input")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list):
        return None
    before, system = data.get("previous_response_id"), data.get("instructions")
    return Asked(
        messages=items,
        system=system if isinstance(system, str) else "",
        tools=catalogue(data.get("tools")),
        after=before if isinstance(before, str) else "",
    )


CHAT = Interface(end="/chat/completions", shape="openai", read=_chat, wire="chat")
RESPONSES = Interface(end="/responses", shape="responses", read=_responses, wire="responses")
