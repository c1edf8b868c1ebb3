"""Packing: JSON as it is sent: compact, keys in the order they were put in, no lone surrogate, no NaN."""

from __future__ import annotations

import json
from typing import Any

from ethang_nb.context.messages import clean
from ethang_nb.errors import Misuse

__all__ = ["packed"]


def packed(value: Any, what: str = "the request") -> bytes:
    """The bytes of `value`: same value, same bytes. Raises Misuse, which names `what`, for what JSON cannot hold."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Misuse(f"{what} cannot be sent as JSON ({error}); give plain values") from None
    return clean(text).encode()
