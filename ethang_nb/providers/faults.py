"""Faults: an error answer, or an error inside an answer that began well, as what the loop understands.

Rules only: nothing is asked again here, and no text is masked. Texts are one line: what happened, the status, and the
provider's own words, shortened.
"""

from __future__ import annotations

from collections.abc import Mapping

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.complaint import Complaint, complaint_in, complaint_of, one_line
from ethang_nb.providers.overflow import is_rate_limit, overflow_of

__all__ = ["fault_in", "fault_of"]

TEXT = 600  # ► characters of a fault's text

_STATUS_OF = {
    # What an error in a stream is called instead of a status.
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "authentication_error": 401,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "throttlingexception": 429,
    "api_error": 500,
    "internal": 500,
    "internal_server_error": 500,
    "internalserverexception": 500,
    "server_error": 500,
    "modelstreamerrorexception": 500,
    "overloaded": 503,
    "server_is_overloaded": 503,
    "service_unavailable": 503,
    "serviceunavailableexception": 503,
    "slow_down": 503,
    "unavailable": 503,
    "unavailable_error": 503,
    "deadline_exceeded": 504,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_PASSING = {408, 429}  # and 5xx, but for those of the next line
_LASTING = {501, 505, 511}
_UNSURE = {200, 400, 413}  # Bedrock and Groq say with these, too, that it was too much in too short a time
_UNPAID = {
    # A 429 that no waiting helps over.
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota_error",
    "insufficient_balance",
    "insufficient_quota",
    "quota_exceeded",
}
_SAME_AGAIN = (
    # llama.cpp's 500 for what the same request would only bring about again.
    "does not match the expected",
    "failed to parse tool call arguments",
)


def fault_of(status: int, headers: Mapping[str, str], text: str) -> Overflow | ProviderFault:
    """The fault that an answer with `status` >= 400 is, on any wire. Names of `headers` in small letters.

    `after` is left to who knows the clock.
    """
    complaint = complaint_of(text)
    told = _told(f"the request does not fit (HTTP {status})", complaint)
    if overflow := overflow_of(status, complaint, text=told):
        return overflow
    retryable = _retryable(status, complaint)
    if headers.get("x-should-retry") in {"true", "false"}:  # OpenAI's and Anthropic's own word on it
        retryable = headers["x-should-retry"] == "true"
    what = "failed" if status >= 500 else "refused"
    return ProviderFault(_told(f"the server {what} (HTTP {status})", complaint), retryable=retryable)


def fault_in(data: object) -> Overflow | ProviderFault | None:
    """The fault that JSON inside an answer with status 200 holds; None: it holds none.

    That is an `error` event, a chunk or a body with `error`, `response.failed`.
    """
    complaint = complaint_in(data)
    if complaint is None:
        return None
    told = _told("the request does not fit", complaint)
    if overflow := overflow_of(complaint.status or 200, complaint, text=told):
        return overflow
    status = complaint.status or _STATUS_OF.get(complaint.code) or _STATUS_OF.get(complaint.kind) or 200
    return ProviderFault(_told("the server failed", complaint), retryable=_retryable(status, complaint))


def _retryable(status: int, complaint: Complaint) -> bool:
    low = complaint.text.lower()
    if {complaint.code, complaint.kind} & _UNPAID or any(words in low for words in _SAME_AGAIN):
        return False
    passing = status in _PASSING or (500 <= status < 600 and status not in _LASTING)
    return passing or (status in _UNSURE and is_rate_limit(complaint))


def _told(what: str, complaint: Complaint) -> str:
    words = complaint.text or "it does not say why"
    code = complaint.code or complaint.kind
    shown = f" [{code}]" if code and code not in words.lower() else ""
    return one_line(f"{what}: {words}", TEXT - len(shown)) + shown
