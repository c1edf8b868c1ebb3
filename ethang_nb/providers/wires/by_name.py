"""The wire formats by name; the module of one is loaded when a model that speaks it is made."""

from __future__ import annotations

from ethang_nb.providers.endpoints.table import WireName
from ethang_nb.providers.line import Wire
from ethang_nb.providers.models.quirks import Quirks

__all__ = ["wire"]


def wire(name: WireName, quirks: Quirks) -> Wire:
    """The wire format of that name, for a model that differs as `quirks` say."""
    match name:
        case "anthropic":
            from ethang_nb.providers.wires.anthropic import MessagesWire

            return MessagesWire(quirks)
        case "responses":
            from ethang_nb.providers.wires.openai_responses import ResponsesWire

            return ResponsesWire(quirks)
        case "chat":
            from ethang_nb.providers.wires.openai_chat import ChatWire

            return ChatWire(quirks)
