"""Settlement: what brings a session into order before it works: its record, settings, open calls, fixed cost.

What is decided here is recorded before the context changes, as everywhere.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, NamedTuple

from ethang_nb.agent.desk import Desk
from ethang_nb.agent.given import check_room
from ethang_nb.agent.masking import masked
from ethang_nb.agent.toolbox import FINISHED_UNREAD, INTERRUPTED, NEVER_STARTED, refusal
from ethang_nb.context import kinds
from ethang_nb.context.address import event_of
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import clean, tool
from ethang_nb.context.pairing import mend
from ethang_nb.context.policy import Policy
from ethang_nb.context.replaying import replay_into
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.window import Window
from ethang_nb.tokens.registry import family_ratio

__all__ = [
    "Resumed",
    "dear_parts",
    "resume",
    "settle",
    "settle_open_calls",
    "take_window",
    "under",
    "unsent",
]

DEAR_PER_MILLE = 600  # fixed parts above this share of usable are said at the start (DESIGN 6)
_CAME = {kinds.TOOL_START: INTERRUPTED, kinds.TOOL_END: FINISHED_UNREAD}
"""The last that the record says of a call, and what its result says then."""


class Resumed(NamedTuple):
    """What a record said of its session.

    `drift`: where the rules of today would have decided otherwise. `begun`: a piece of work was begun by name, and
    its run has not come yet.
    """

    drift: tuple[str, ...]
    begun: bool


def resume(desk: Desk, *, look: bool) -> Resumed:
    """Feeds the context what is recorded, and goes on under the settings it has before.

    What a crash cut off is brought to its end, unless it is only to `look`; then nothing is recorded. Raises
    RecordDamaged.
    """
    wanted = desk.live.state
    entries = desk.archive.entries()
    drift = replay_into(desk.live, entries, look=look)
    desk.notices.recall(entries)
    desk.corrections.recall(entries, desk.model)
    if not look:
        settle(desk, _believed(desk, wanted))
        settle_open_calls(desk)
    came = [entry.kind for entry in entries if entry.kind in (kinds.WORK, kinds.MESSAGE)]
    return Resumed(drift=drift, begun=came[-1:] == [kinds.WORK])


def under(desk: Desk, window: int | str | Window | None, policy: Policy | None) -> State:
    """The state as it would be under another window or policy; None: as they are.

    Raises BadWindow, also where less room than now is too little.
    """
    state = desk.live.state
    given = None if window is None else desk.reach.window(window, desk.model)
    settings = Settings.of(
        state.settings.base if given is None else desk.corrections.of(given),
        state.policy if policy is None else policy,
        state.ratio,
    )
    wanted = state._replace(settings=settings)
    if wanted.usable < state.usable:
        check_room(wanted)
    return wanted


def _believed(desk: Desk, wanted: State) -> State:
    """The state that was wanted, under the window that its provider has corrected before."""
    settings = wanted.settings
    base = desk.corrections.of(settings.base)
    return wanted._replace(settings=Settings.of(base, settings.policy, settings.ratio))


def take_window(desk: Desk, window: Window) -> None:
    """Goes on under a window that the provider itself named; whether all that must stand has room will show."""
    state = desk.live.state
    settle(desk, state._replace(settings=Settings.of(window, state.policy, state.ratio)))


def settle(desk: Desk, wanted: State) -> None:
    """Goes on under the settings of `wanted`; where they are new they are recorded first.

    So a replay meets every request under the settings it was made under.
    """
    live = desk.live
    parts: dict[str, Any] = {
        "system": wanted.system,
        "project": wanted.project,
        "tools": wanted.tools,
        "searchable": desk.toolbox.searchable,
        "model": desk.model,
        "ratio": family_ratio(desk.model),
        "exact": desk.counter.how == "exact",
    }
    settings = {
        "model": desk.model,
        "policy": wanted.policy.knobs(),
        "window": asdict(wanted.settings.base),
        "system": clean(live.system),
        "project": clean(live.project),
        "params": dict(desk.params),
        "tools": list(desk.toolbox.names),
        "parts": parts,
        "prompts": [desk.note_prompt.reference],
    }
    if desk.given.recorded:
        settings["given"] = desk.given.recorded
    settings = masked(settings)  # as it is recorded
    known = desk.archive.record.events(kinds=(kinds.SETTINGS,))
    if not known or known[-1].data != json.loads(json.dumps(settings)):
        desk.log(kinds.SETTINGS, settings)
    live.settle(window=wanted.settings.base, policy=wanted.policy, **parts)


def settle_open_calls(desk: Desk) -> None:
    """After a crash inside a tool turn: each open call gets the result that says how far it came."""
    live = desk.live
    for row in live.state.rows:
        if not row.open:
            continue
        entry = live.entries[row.id]
        events = desk.archive.record.events(after=event_of(entry.addresses[0]), kinds=tuple(_CAME))
        came = {event.data["id"]: _CAME[event.kind] for event in events}
        answered = {result.call_id for message in entry.messages for result in message.results}
        for call in entry.messages[0].calls:
            if call.id not in answered:
                live.append(tool(refusal(call, came.get(call.id, NEVER_STARTED))))


def unsent(live: LiveContext) -> tuple[str, ...]:
    """What stands in the window and no request can hold, such as a reply of thinking alone; one line each."""
    mended = mend(live.assemble(), still_open=True)
    return tuple(f"in the request, {line}" for line in mended.repairs)


def dear_parts(state: State) -> tuple[str, ...]:
    """The notice that fixed parts leave little room, part by part; none where they leave enough."""
    parts = {"system": state.system, "tools": state.tools, "project": state.project, "core": state.core}
    parts["a handoff note"] = state.note_tokens
    taken = sum(parts.values())
    if taken * 1000 <= state.usable * DEAR_PER_MILLE:
        return ()
    listed = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
    return (f"fixed parts take {taken:,} of {state.usable:,} usable tokens on every request: {listed}",)
