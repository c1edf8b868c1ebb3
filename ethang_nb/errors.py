"""Every error of ethang_nb, in one tree.

EthangError                     one line: the value, the limit, the next step
├── Misuse                      you can fix it: the call, the flag or the file was wrong
│   ├── BadMessage              a message that is in none of the known shapes
│   ├── BadWindow               a window that is unknown, or smaller than what must stand in it
│   ├── BadPolicy               a policy whose field is out of its range
│   ├── CassetteMiss            a request that is not on the cassette, which must answer it
│   ├── EmptyTask               a task without a word in it
│   ├── KeyMissing              a model that needs a key, and none is in the environment
│   ├── NoSuchAddress           an address that names nothing in this record
│   ├── PathRefused             a path that leads out of the root, or is not a readable file
│   └── Unknown                 a name nobody knows (model, policy, tool, session, subcommand)
├── Blocked                     another run or process holds what you asked for; wait or stop it
│   ├── SessionBusy             a run of this session is going on
│   └── SessionHeld             another process writes this session
├── Installation                the installation is not whole; the message says what to install
│   ├── Missing                 a package that this feature needs
│   └── RanksMissing            the token ranks are absent or not the published ones
├── RecordFault                 the record on disk cannot be read or written as it should
│   ├── RecordDamaged           the file is not a database, or its rows contradict each other
│   ├── RecordNewer             written by a newer ethang_nb
│   └── RecordUnwritable        locked, full or read-only
├── ModelFault                  the model or its server failed; the run ends as a record
│   ├── Overflow                the provider says that the request does not fit its window
│   └── ProviderFault           anything else the provider refused or broke
├── Stuck                       the context does not fit its window and nothing more can leave
├── ToolFault                   a tool's arguments or its run failed; the model is told, the run goes on
└── RunEnded                    --raise: a run that ended other than `completed`

Expected failures of a run are records (`Run.ending`), not exceptions; these are for misuse, for faults of
the installation, and for what the caller asked to have raised.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Literal

__all__ = [
    "BadMessage",
    "BadPolicy",
    "BadWindow",
    "Blocked",
    "CassetteMiss",
    "EmptyTask",
    "EthangError",
    "Installation",
    "KeyMissing",
    "Missing",
    "Misuse",
    "ModelFault",
    "NoSuchAddress",
    "Overflow",
    "PathRefused",
    "ProviderFault",
    "RanksMissing",
    "RecordDamaged",
    "RecordFault",
    "RecordNewer",
    "RecordUnwritable",
    "RunEnded",
    "SessionBusy",
    "SessionHeld",
    "Stuck",
    "ToolFault",
    "Unknown",
    "nearest",
    "nearest_few",
]


class EthangError(Exception):
    """Base of all errors here. Its text is one line that names the value, the limit and the next step.

    `diff`: how a request differs from the one on the cassette that is most like it, in a few lines; "": none is told.
    """

    diff: str = ""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints: one line instead of a traceback, and a diff; name and value stay those of the class."""
        return [f"{type(self).__name__}: {self}", *self.diff.splitlines()]


class Misuse(EthangError):
    """The call was wrong; whoever wrote it can fix it."""


class BadMessage(Misuse):
    """A message that is in none of the known shapes."""


class BadWindow(Misuse):
    """A window that is unknown, not positive, or smaller than what must stand in it."""


class BadPolicy(Misuse):
    """A policy whose field is out of its range."""


class CassetteMiss(Misuse):
    """A request that is not on the cassette, while nothing else may answer it."""

    def __init__(self, text: str, *, diff: str = "") -> None:
        super().__init__(text)
        self.diff = diff


class KeyMissing(Misuse):
    """A model needs a key, and its variable is not set in the environment."""


class EmptyTask(Misuse):
    """A task without a word in it."""


class NoSuchAddress(Misuse):
    """An address that names nothing in this record."""


class PathRefused(Misuse):
    """A path that leads out of the root, or that is not a file or folder that can be read."""


class Unknown(Misuse):
    """A name nobody knows. The text names the nearest known one, or the one that `meant` says it must be."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, meant: str = "") -> None:
        self.kind, self.name, self.known, self.meant = kind, name, tuple(known), meant
        super().__init__(_unknown_text(kind, name, self.known, meant))


class Blocked(EthangError):
    """Another run or process holds what was asked for."""


class SessionBusy(Blocked):
    """A run of this session is going on; wait for it or stop it."""


class SessionHeld(Blocked):
    """Another process writes this session; read it, or close it there."""


class Installation(EthangError):
    """The installation is not whole."""


class Missing(Installation):
    """A package that this feature needs is not installed."""


class RanksMissing(Installation):
    """The token ranks are absent, or their bytes are not the published ones."""


class RecordFault(EthangError):
    """The record on disk cannot be read or written as it should."""


class RecordDamaged(RecordFault):
    """The file is not a database, or its rows contradict each other."""


class RecordNewer(RecordFault):
    """The record was written by a newer ethang_nb."""


class RecordUnwritable(RecordFault):
    """The record is locked by another program, read-only, or the disk is full."""


class ModelFault(EthangError):
    """The model or its server failed."""


class Overflow(ModelFault):
    """The provider says that the request does not fit its window.

    Numbers in tokens, None where it does not tell: it counted `tokens` and takes at most `limit`, the output asked for
    counted in where `room` is given: so much output would have fitted, the request being what it is. `limits` says
    what the limit is of: the model's window; a quota that no waiting helps over; or the output that may be asked for,
    whatever the input is, with `limit` and `room` both the most there is. `partial` and `usage`: the reply that had
    come by then and what was reported of it, as plain JSON data.
    """

    def __init__(
        self,
        text: str,
        *,
        tokens: int | None = None,
        limit: int | None = None,
        room: int | None = None,
        limits: Literal["window", "quota", "output"] = "window",
        partial: dict[str, Any] | None = None,
        usage: dict[str, int | None] | None = None,
    ) -> None:
        super().__init__(text)
        self.tokens, self.limit, self.room = tokens, limit, room
        self.limits, self.partial, self.usage = limits, partial, usage


class ProviderFault(ModelFault):
    """Anything else the provider refused or broke.

    `retryable` says whether the same request may go again, `after` how many seconds the provider asks to wait before
    that (None: it does not say). `partial` and `usage`: what of the reply had come and what was reported of it, as
    plain JSON data.
    """

    def __init__(
        self,
        text: str,
        *,
        retryable: bool = False,
        after: float | None = None,
        partial: dict[str, Any] | None = None,
        usage: dict[str, int | None] | None = None,
    ) -> None:
        super().__init__(text)
        self.retryable, self.after, self.partial, self.usage = retryable, after, partial, usage


class Stuck(EthangError):
    """The context does not fit its window and nothing more can leave; nothing is sent. The text names the part."""


class ToolFault(EthangError):
    """A tool's arguments or its run failed. The text is what the model is told."""


class RunEnded(EthangError):
    """A run ended other than `completed`, and the caller asked for an error then."""


_CLOSE = 0.7  # ► similarity from which a word is taken for a slip of another; below, a guess would mislead
_LISTED = 200  # ► characters of the known names that a message lists


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known word closest to `name`, or None where none is close."""
    return next(iter(nearest_few(name, known, 1)), None)


def nearest_few(name: str, known: Iterable[str], most: int) -> list[str]:
    """The known words close to `name`, at most so many, the closest first."""
    return difflib.get_close_matches(name.lower(), list(known), n=most, cutoff=_CLOSE)


def _unknown_text(kind: str, name: str, known: tuple[str, ...], meant: str) -> str:
    close = meant or nearest(name, known)
    hint = f"did you mean {_short(close)!r}?" if close else f"known: {_listed(known) or 'none yet'}"
    return f"unknown {kind} {_short(name)!r}; {hint}"


def _listed(known: tuple[str, ...]) -> str:
    """The first of the names, as many as a line can carry, and how many more there are."""
    shown: list[str] = []
    for name in known:
        if sum(map(len, shown)) + len(name) > _LISTED and shown:
            break
        shown.append(" ".join(_short(name).split()))
    rest = len(known) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
