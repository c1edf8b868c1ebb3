"""Masking: what enters a session's context or record is without our own credentials, wherever they came from.

A model may repeat a key, a tool may read it from a file, an error may quote it. Only the exact values of keys that this
process uses are masked; what else looks like a secret is the person's own.
"""

from __future__ import annotations

import json
from typing import Any

from ethang_nb.context.messages import Message, from_json, to_json
from ethang_nb.providers.endpoints.credentials import mask

__all__ = ["mask", "masked", "masked_message"]


def masked(data: dict[str, Any]) -> dict[str, Any]:
    """Plain JSON data with every text in it masked; the very same where nothing is to be masked."""
    packed = json.dumps(data, ensure_ascii=False)
    clear = mask(packed)
    return data if clear == packed else json.loads(clear)


def masked_message(message: Message) -> Message:
    """The message with every text in it masked, arguments of calls included; the very same where nothing is."""
    data = to_json(message)
    clear = masked(data)
    return message if clear is data else from_json(clear)
