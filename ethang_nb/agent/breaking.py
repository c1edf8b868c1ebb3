"""Breaking: what had come of a reply before a fault or a stop, as far as it can be counted and shown.

It is no reply: it never enters the context.
"""

from __future__ import annotations

from ethang_nb.context.messages import Message, assistant, from_json
from ethang_nb.providers.protocol import Reply, Usage

__all__ = ["came_of", "came_of_text"]


def came_of(error: Exception) -> Reply | None:
    """What had come and was reported by the time of `error`; None: nothing."""
    partial, reported = getattr(error, "partial", None), getattr(error, "usage", None)
    message, usage = _message(partial), _usage(reported)
    if message is None and usage is None:
        return None
    return Reply(message=message or Message(role="assistant", parts=()), stop="cut", usage=usage)


def came_of_text(text: str) -> Reply | None:
    """The same where nothing but the text is known; None: there is none."""
    return Reply(message=assistant(text), stop="cut") if text else None


def _message(data: object) -> Message | None:
    """The message that a provider left with its error, which may be one of somebody else's making."""
    try:
        return from_json(data) if isinstance(data, dict) else None
    except (KeyError, TypeError, ValueError):
        return None


def _usage(data: object) -> Usage | None:
    try:
        return Usage(**data) if isinstance(data, dict) else None
    except TypeError:
        return None
