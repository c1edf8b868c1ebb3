"""Logs of the libraries below: no credential in what they write of requests, no retry of ours printed into a notebook.

Filters on their loggers; levels, handlers and everybody else's records stay as they are.
"""

from __future__ import annotations

import logging
from functools import cache

__all__ = ["AskAgain", "tame"]

_CARRIERS = (
    # httpx tells each URL at INFO, and httpcore each answer's headers at DEBUG; either may hold a key.
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.proxy",
    "httpcore.socks",
)


class AskAgain(Exception):
    """Inside a line only: what stamina is told of a try that may be made again. It shows no words of a server."""


@cache
def tame() -> None:
    """Puts the filters in place, once a process."""
    for name in _CARRIERS:
        logging.getLogger(name).addFilter(_masked)
    logging.getLogger("stamina").addFilter(_wanted)


def _masked(record: logging.LogRecord) -> bool:
    from ethang_nb.providers.endpoints.credentials import mask

    text = record.getMessage()
    if (masked := mask(text)) != text:
        record.msg, record.args = masked, ()
    return True


def _wanted(record: logging.LogRecord) -> bool:
    """Whether a retry is logged: ours only where somebody set up logging.

    stamina's hooks belong to the whole process, so they are not ours to change; without a handler the record would go
    to Python's handler of last resort, which prints it below the cell. Our own notes say more.
    """
    ours = str(getattr(record, "stamina.caused_by", "")).startswith(AskAgain.__name__)
    return not ours or logging.getLogger("stamina").hasHandlers()
