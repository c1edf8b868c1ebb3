"""Overflow, told from everything else that a provider refuses.

What is judged, in this order: a quota smaller than the request; rate limits, which are never an overflow; limits of
something else than the window; codes; words; the words for too much output. Words count only where the provider itself
speaks, not where it quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ethang_nb.errors import Overflow
from ethang_nb.providers.faults.complaint import READ, Complaint
from ethang_nb.providers.faults.wordings import NO_NUMBER, OUTPUTS, QUOTA, ROWS, Row

__all__ = ["is_rate_limit", "of_output", "overflow_of"]

_PREFIX = 240  # ► characters that proxies put before the provider's words; later, it is somebody else's text

_CODES = {
    "1261",  # Z.ai
    "context_length_exceeded",
    "context_window_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "request_too_large",
}
_OTHER_CODES = {"string_above_max_length", "array_above_max_length"}  # OpenAI: one field, whatever the window
_RATE_CODES = {
    "rate_limit_error",
    "rate_limit_exceeded",
    "requests",
    "resource_exhausted",
    "throttlingexception",
    "throttling_error",
    "tokens",
    "too_many_requests",
}
_RATE_WORDS = re.compile(r"\brate.?limit|too many requests|\bthrottl|too many tokens, please wait")
_ABOUT_INPUT = re.compile(  # other parameters have limits of their own, worded alike
    r"(?:messages?|input|inputs|prompt|contents?|input_(?:tokens|text)|max_(?:completion_|output_|new_)?tokens|system)?(?:\W|$)"
)
_ELSEWHERE = {401, 402, 403, 404, 405, 408, 429}  # statuses that are about something else, whatever they say


def overflow_of(status: int, complaint: Complaint) -> Overflow | None:
    """The Overflow that an error answer is, with the numbers it names; None: it is something else.

    `status` 200 is a complaint inside an answer that had begun well. Its text are the provider's words.
    """
    said, told = _lower(complaint.text), complaint.text
    if quota := _quota(status, said, told):
        return quota
    if status in _ELSEWHERE or is_rate_limit(complaint) or complaint.code in _OTHER_CODES:
        return None
    numbers = max(_spoken(said, ROWS), key=len, default=None)
    if {complaint.code, complaint.kind} & _CODES or status == 413:
        return _overflow(complaint, numbers or {}, told)
    if status == 400 and complaint == Complaint():
        # Cerebras gives no reason; to shrink and to send once more costs little, if it was another one.
        return _overflow(complaint, {}, told)
    if not _ABOUT_INPUT.match(complaint.param):
        return None
    if numbers is not None:
        return _overflow(complaint, numbers, told)
    # MiMo's words stand where the parameter's name should.
    return _output(said, told) or _output(complaint.param, told)


def of_output(complaint: Complaint) -> bool:
    """Whether more output was asked for than the model gives, whether the words say how much that is or not."""
    said = _lower(complaint.text)
    found = NO_NUMBER.search(said)
    unnumbered = found is not None and found.start() <= _PREFIX and not _quoted(said, found.start())
    return unnumbered or any(True for _ in _spoken(said, OUTPUTS))


def is_rate_limit(complaint: Complaint) -> bool:
    """Whether it is about how much in how short a time, so that waiting helps."""
    words = {complaint.code, complaint.kind}
    if words & _CODES:
        return False
    said = _lower(complaint.text)
    return bool(words & _RATE_CODES) or any(
        not _quoted(said, it.start()) for it in _RATE_WORDS.finditer(said)
    )


def _lower(text: str) -> str:
    return text[:READ].lower().replace("\u2019", "'")


def _quota(status: int, said: str, told: str) -> Overflow | None:
    """The request alone is over what a minute or a day allows: no waiting helps over that, but shrinking does."""
    if "request too large for" not in said[:_PREFIX]:
        return None
    found = QUOTA.pattern.search(said)
    numbers = QUOTA.numbers(found) if found else {}
    asked, limit = numbers.get("input"), numbers.get("limit")
    never = asked > limit if asked and limit else status == 413 and "tokens per" in said
    return Overflow(told, tokens=asked, limit=limit, limits="quota") if never else None


def _output(said: str, told: str) -> Overflow | None:
    """The output that was asked for is more than the model ever gives."""
    numbers = max(_spoken(said, OUTPUTS), key=len, default={})
    limit, asked = numbers.get("limit"), numbers.get("output")
    if not limit or (asked is not None and asked <= limit):
        return None
    return Overflow(told, limit=limit, room=limit, limits="output")


def _spoken(said: str, rows: tuple[Row, ...]) -> Iterator[dict[str, int]]:
    """The numbers of each row that the text holds, in the table's order."""
    for row in rows:
        found = row.pattern.search(said)
        if found and found.start() <= _PREFIX and not _quoted(said, found.start()):
            yield row.numbers(found)


def _quoted(text: str, place: int) -> bool:
    """Whether a quotation is open there: then these are not the provider's words but somebody's that it repeats."""
    before = text[:place]
    single = len(re.findall(r"(?<!\w)'|'(?!\w)", before))
    return (
        any(before.count(mark) % 2 for mark in '"`')
        or single % 2 == 1
        or before.count("“") > before.count("”")
    )


def _overflow(complaint: Complaint, numbers: dict[str, int], told: str) -> Overflow:
    limit = complaint.limit or numbers.get("limit")
    output, total = numbers.get("output"), numbers.get("tokens")
    read = complaint.tokens or numbers.get("input")
    if read is None and total is not None and output is not None:
        read = total - output
    if limit and read and output and 0 < read < limit:
        return Overflow(told, tokens=read + output, limit=limit, room=limit - read)
    return Overflow(told, tokens=read, limit=limit)
