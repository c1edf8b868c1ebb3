"""Counting: the TokenCounter seam, and what one message costs beyond its text.

A count is made once, when a message enters, and kept; nothing here counts a text twice. Overheads are ours
(the rough size of role and separators in chat formats), so totals are exact per text and fixed per message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from ethang_nb.context.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, tool

__all__ = [
    "CALL_OVERHEAD",
    "MESSAGE_OVERHEAD",
    "How",
    "TokenCounter",
    "WholeCounter",
    "message_tokens",
    "result_tokens",
]

How = Literal["exact", "estimated", "provider"]

MESSAGE_OVERHEAD = 4  # ► role and separators of one message
CALL_OVERHEAD = 4  # ► name, id and brackets around one tool call
IMAGE_TOKENS = 1_000  # ► an image of unknown size; providers bill 85 to 1,600


class TokenCounter(Protocol):
    """Counts text in tokens. `how` says whether the tokenizer is really the model's."""

    @property
    def name(self) -> str: ...

    @property
    def how(self) -> Literal["exact", "estimated"]: ...

    def count(self, text: str) -> int:
        """Tokens of `text`; never raises, whatever the text."""
        ...

    def over(self, text: str, limit: int) -> bool:
        """Whether `text` has more than `limit` tokens, without counting all of a huge text."""
        ...


class WholeCounter(TokenCounter, Protocol):
    """A counter that knows what a whole message takes in another system's books; ours are not asked then."""

    def whole(self, message: Message) -> int:
        """Tokens of the message, overheads included."""
        ...


def result_tokens(result: ToolResult, counter: TokenCounter, text_tokens: int | None = None) -> int:
    """Tokens of one tool result as a message of its own. `text_tokens`: of its text, where it was counted already."""
    whole = _whole(counter)
    if whole is not None:
        return whole(tool(result))
    text = counter.count(result.text) if text_tokens is None else text_tokens
    return MESSAGE_OVERHEAD + text + IMAGE_TOKENS * len(result.images)


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Tokens of a whole message, tool results included; each result stands as a message of its own."""
    whole = _whole(counter)
    if whole is not None:
        return whole(message)
    results = sum([result_tokens(part, counter) for part in message.parts if isinstance(part, ToolResult)])
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    if not rest and results:
        return results
    return results + MESSAGE_OVERHEAD + sum([_part_tokens(part, counter) for part in rest])


def _whole(counter: TokenCounter) -> Callable[[Message], int] | None:
    # To ask whether it is a WholeCounter would take as long as counting a short text.
    return getattr(counter, "whole", None)


def _part_tokens(part: Text | Image | Thinking | ToolCall | ToolResult, counter: TokenCounter) -> int:
    match part:
        case Text():
            return counter.count(part.text)
        case Thinking():
            return sum(counter.count(text) for text in (part.text, part.signature, part.redacted))
        case ToolCall():
            return CALL_OVERHEAD + counter.count(part.name) + counter.count(part.arguments)
        case Image():
            return IMAGE_TOKENS
        case ToolResult():
            return result_tokens(part, counter)
