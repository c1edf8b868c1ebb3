"""Kinds: what an event of a record can be. Each says what it is, and who writes it.

Another kind is a name here and in EventKind. A record may hold kinds of later versions, so what is read back is
plain text, and whoever reads passes over what it does not know.
"""

from __future__ import annotations

from typing import Final, Literal

__all__ = [
    "ASKED",
    "COOL",
    "CORE",
    "LATE",
    "MESSAGE",
    "NOTE",
    "NOTE_BY_RULE",
    "NOTE_FAILED",
    "NOTE_REPLY",
    "NOTE_REQUEST",
    "OVERFLOW",
    "PIN",
    "POINT",
    "PROVIDER_ERROR",
    "RELEASE",
    "REPLAYED",
    "REPLY",
    "REQUEST",
    "RESEED",
    "RUN",
    "RUN_END",
    "SETTINGS",
    "SPILLED",
    "SYSTEM",
    "TOOL_END",
    "TOOL_START",
    "UNPIN",
    "USAGE",
    "WAITED",
    "WITHDRAWN",
    "WORK",
    "EventKind",
]

EventKind = Literal[
    "message", "system", "work", "withdrawn", "reseed", "cool", "core", "asked", "release", "point", "note",
    "usage", "pin", "unpin", "settings",
    "run", "run end", "request", "waited", "reply", "overflow", "provider error",
    "note request", "note reply", "note failed", "note by rule",
    "tool start", "tool end", "late", "spilled",
]  # fmt: skip

# ---- what the live context writes before it changes

MESSAGE: Final = "message"
"""A message opened a segment, or a tool result joined its turn; live context."""
SYSTEM: Final = "system"
"""A text joined the system text; live context."""
WORK: Final = "work"
"""A piece of work began, perhaps by name, and whether it starts from the core; live context."""
WITHDRAWN: Final = "withdrawn"
"""A task that was refused as too large left before the next piece of work, and what was said of it; live context."""
RESEED: Final = "reseed"
"""A person asked to start from the core now, and what came of it; live context."""
COOL: Final = "cool"
"""A person asked that the next piece of work starts from the core; live context."""
CORE: Final = "core"
"""The core was rendered for the first time, with the pins that were there before anything was sent; live context."""
ASKED: Final = "asked"
"""A cleanup was asked for, by a person or a tool, or by a provider that refused a request; live context."""
RELEASE: Final = "release"
"""Results were offered for release, and what rules decided of them; live context."""
POINT: Final = "point"
"""A request point: what the policy decided, with its digest; live context."""
NOTE: Final = "note"
"""A handoff note stands, by a model or by rule; live context."""
USAGE: Final = "usage"
"""What the provider counted for a request beside our own count of it; live context."""
PIN: Final = "pin"
"""A pin was set, by a rule or by hand; live context."""
UNPIN: Final = "unpin"
"""A pin was lifted; live context."""

# ---- what the agent writes

SETTINGS: Final = "settings"
"""Model, window, policy, texts and tools from here on, where they are new; session."""
RUN: Final = "run"
"""A run starts, with its task; worker."""
RUN_END: Final = "run end"
"""A run has ended, with its ending, error and answer; worker."""
REQUEST: Final = "request"
"""A request for the work itself, byte for byte as pieces, before it is sent; loop."""
WAITED: Final = "waited"
"""What a person who waited for a reply was told meanwhile, such as that it is tried again; loop, compaction."""
REPLY: Final = "reply"
"""A reply came: how it stopped and what it cost. Its message is an event of its own; loop."""
OVERFLOW: Final = "overflow"
"""A request does not fit the window of who was asked: what that one said, and what came of it; loop, compaction."""
PROVIDER_ERROR: Final = "provider error"
"""A request failed, and the run with it; what of the reply had come by then; loop."""
NOTE_REQUEST: Final = "note request"
"""A request for the prose of a handoff note, as pieces, before it is sent, and who is asked; compaction."""
NOTE_REPLY: Final = "note reply"
"""The prose of a handoff note came: how it stopped and what it cost; compaction."""
NOTE_FAILED: Final = "note failed"
"""The prose of a note could not be had, and why; compaction."""
NOTE_BY_RULE: Final = "note by rule"
"""No model was asked for a note, and why; compaction."""
TOOL_START: Final = "tool start"
"""A call begins, with its arguments; toolbox."""
TOOL_END: Final = "tool end"
"""A call has ended: done, error or interrupted. Its result is a message; toolbox."""
LATE: Final = "late"
"""A result that came when nobody waited for it any more; never sent; toolbox."""
SPILLED: Final = "spilled"
"""A text was too large to enter whole and lies at its address; archive."""

REPLAYED: Final[tuple[EventKind, ...]] = (
    MESSAGE, SYSTEM, WORK, WITHDRAWN, RESEED, COOL, CORE, ASKED, RELEASE, POINT, NOTE, USAGE, PIN, UNPIN, SETTINGS,
)  # fmt: skip
"""The kinds a replay feeds to a context: all that a context writes, and `settings`, which its owner writes for it."""
