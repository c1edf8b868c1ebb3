"""Faults: an error answer, or an error inside an answer that began well, as what the loop understands.

Rules only: nothing is asked again here, and no text is masked. Texts are one line: what happened, the status, the
provider's own words, shortened, and behind a semicolon the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.faults.complaint import Complaint, complaint_in, complaint_of, one_line
from ethang_nb.providers.faults.overflow import is_rate_limit, of_output, overflow_of

__all__ = ["fault_in", "fault_of", "without_step"]

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
_UNKNOWN = {404, 405, 410}  # no such model, or no such address
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
Kind = Literal["key", "output", "passing", "rate", "same", "unable", "unknown", "unpaid"]
_WHAT: dict[Kind, str] = {
    "rate": "the server's rate limit is reached",
    "unpaid": "the account has nothing left at this server",
}
_NEXT: dict[Kind, str] = {
    "key": "",  # whose key it was, is told by who knows it
    "output": 'set its total and max_output in [models."PROVIDER/MODEL"] of ethang.toml',
    "passing": "ask again later, or take another model",
    "rate": "wait before you ask again, or send less",
    "same": "the same would be refused again: change what it names, or take another model",
    "unable": "are base_url and wire right for this server?",
    "unknown": "is that the server's own name for the model? `%ethang models` shows which address is asked",
    "unpaid": "no waiting helps: see the plan and the balance there, or take another model",
}


def fault_of(status: int, headers: Mapping[str, str], text: str) -> Overflow | ProviderFault:
    """The fault that an answer with `status` >= 400 is, on any wire. Names of `headers` in small letters.

    `after` is left to who knows the clock.
    """
    complaint = complaint_of(text)
    if overflow := overflow_of(status, complaint):
        return _unfit(overflow, f" (HTTP {status})", complaint)
    retryable = _retryable(status, complaint)
    if headers.get("x-should-retry") in {"true", "false"}:  # OpenAI's and Anthropic's own word on it
        retryable = headers["x-should-retry"] == "true"
    kind = _kind(status, complaint)
    what = f"{_WHAT.get(kind) or _by_status(status)} (HTTP {status})"
    return ProviderFault(_told(what, complaint, _NEXT[kind]), retryable=retryable)


def fault_in(data: object) -> Overflow | ProviderFault | None:
    """The fault that JSON inside an answer with status 200 holds; None: it holds none.

    That is an `error` event, a chunk or a body with `error`, `response.failed`.
    """
    complaint = complaint_in(data)
    if complaint is None:
        return None
    if overflow := overflow_of(complaint.status or 200, complaint):
        return _unfit(overflow, "", complaint)
    status = complaint.status or _STATUS_OF.get(complaint.code) or _STATUS_OF.get(complaint.kind) or 200
    kind = _kind(status, complaint)
    what = _WHAT.get(kind) or _by_status(status)
    return ProviderFault(_told(what, complaint, _NEXT[kind]), retryable=_retryable(status, complaint))


def without_step(text: str) -> str:
    """A fault's text without the next step at its end, for who knows a better one."""
    ends = (f"; {step}" for step in _NEXT.values() if step)
    return next((text.removesuffix(end) for end in ends if text.endswith(end)), text)


def _kind(status: int, complaint: Complaint) -> Kind:
    """What a fault is of, for the words about it."""
    low = complaint.text.lower()
    if status == 402 or {complaint.code, complaint.kind} & _UNPAID:
        return "unpaid"
    if status == 429 or (status in _UNSURE and is_rate_limit(complaint)):
        return "rate"
    if status in {401, 403}:
        return "key"
    if of_output(complaint):
        return "output"
    if status in _UNKNOWN or complaint.code == "model_not_found":
        return "unknown"
    if any(words in low for words in _SAME_AGAIN):
        return "same"
    if status in _LASTING:
        return "unable"
    return "passing" if status < 400 or status == 408 or status >= 500 else "same"


def _by_status(status: int) -> str:
    return "the server refused" if 400 <= status < 500 else "the server failed"


def _unfit(overflow: Overflow, where: str, complaint: Complaint) -> Overflow:
    """The overflow with our words before the provider's."""
    if overflow.limits == "output":
        told = _told(f"more output is asked for than the model gives{where}", complaint, _NEXT["output"])
    else:
        told = _told(f"the request does not fit{where}", complaint)
    overflow.args = (told,)
    return overflow


def _retryable(status: int, complaint: Complaint) -> bool:
    low = complaint.text.lower()
    if {complaint.code, complaint.kind} & _UNPAID or any(words in low for words in _SAME_AGAIN):
        return False
    passing = status in _PASSING or (500 <= status < 600 and status not in _LASTING)
    return passing or (status in _UNSURE and is_rate_limit(complaint))


def _told(what: str, complaint: Complaint, step: str = "") -> str:
    words = complaint.text or "it does not say why"
    if " " in complaint.param:
        words += f": {complaint.param}"
    code = complaint.code or complaint.kind
    shown = f" [{code}]" if code and code not in words.lower() else ""
    end = shown + (f"; {step}" if step else "")
    return one_line(f"{what}: {words}", TEXT - len(end)) + end
