"""Events: everything that can happen to a context, with the token counts that were made when it happened.

The fold needs nothing else: same events, same plans, same digests.
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.context.decision import Decision
from ethang_nb.context.ledger import Result, RowKind
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Window

__all__ = [
    "CleanupAsked",
    "Cooled",
    "CoreRendered",
    "Event",
    "Followed",
    "MessageAdded",
    "ModelChanged",
    "NoteStood",
    "NoteWritten",
    "PartsChanged",
    "Pinned",
    "PolicyChanged",
    "ReleaseOffered",
    "RequestPoint",
    "Reseeded",
    "ResultAdded",
    "Unpinned",
    "UsageReported",
    "WindowChanged",
    "Withdrawn",
    "WorkBegun",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsChanged:
    """Tokens of the parts that stand before the conversation; None leaves one as it is."""

    system: int | None = None
    tools: int | None = None
    project: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowChanged:
    window: Window


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged:
    """Another model: reports of the last one say nothing of it. `exact`: whether its tokenizer is ours."""

    ratio: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanged:
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkBegun:
    """A new piece of work; the next user message is its task. Where the policy says so it starts from the core.

    `decided` is what was decided when this happened before; `again`: take it, even where it is None.
    """

    decided: Decision | None = None
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """A task that was refused as too large leaves, as was decided (`withdrawing`)."""

    decided: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooled:
    """A person asked that the next piece of work starts from the core."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reseeded:
    """A person asked to start from the core now."""

    decided: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAdded:
    """A message that opens a segment. `calls` is how many tool calls wait for a result."""

    kind: RowKind
    tokens: int
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAdded:
    """A result that joins the newest tool turn, or row `row` where that is given.

    `judged`: intake has had its say already, or must not: the message stands as it is.
    """

    result: Result
    row: int | None = None
    at: int | None = None
    """Which of the turn's results it is, in the order of their calls; None: the last so far."""
    judged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """`row` holds the message the pin came from; `line` is what its line takes in the core."""

    id: int
    row: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpinned:
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreRendered:
    """The core was rendered outside a landing: at session start, or with another state of the work."""

    pins: tuple[int, ...] = ()
    """Numbers of the pins that stand in it from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteStood:
    """A handoff note that somebody's window already holds."""

    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWritten:
    """A note as it really is, the newest where none is named; the plan had reserved for it."""

    tokens: int
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupAsked:
    """A person, the model or its provider asked for a cleanup; it is taken at the next request point.

    `refused`: the provider did, by refusing a request as too long; then oversized results are cut first.
    """

    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOffered:
    """Results the model can do without, as (row, index); rules accept or refuse each, unless it is `decided`."""

    results: tuple[tuple[int, int], ...]
    decided: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported:
    """What the provider counted for the last request, and our own count of that very request."""

    reported: int
    own: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """Somebody else is about to send a request.

    `system` and `tools` are what stands before the conversation in it, in tokens, with no project text and no core;
    None leaves these parts as they are. The rows `taken` enter again right after it, at another place. `task`, `first`:
    whether the next user message is the task of the piece of work, and that of the session, because the one that was
    is not sent any more.
    """

    system: int | None
    tools: int
    taken: tuple[int, ...] = ()
    task: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPoint:
    """A request is about to be assembled: the moment at which plans are made.

    `decided` is what was decided when this happened before; None: the rules decide now.
    """

    decided: Decision | None = None


Event = (
    PartsChanged
    | WindowChanged
    | PolicyChanged
    | ModelChanged
    | WorkBegun
    | Withdrawn
    | Cooled
    | Reseeded
    | MessageAdded
    | ResultAdded
    | Pinned
    | Unpinned
    | CoreRendered
    | NoteStood
    | NoteWritten
    | CleanupAsked
    | ReleaseOffered
    | UsageReported
    | Followed
    | RequestPoint
)
