"""Replaying: a context rebuilt from its journal, and the check that it comes out as it was recorded.

The context is fed what was decided, not asked to decide again, so that a record can be opened under other rules
than it was written with. Entries of other kinds (requests, tool runs) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ethang_nb.context import kinds
from ethang_nb.context.decision import Decision, recalled
from ethang_nb.context.digest import digest
from ethang_nb.context.entry import Turning
from ethang_nb.context.ledger import Result
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, from_json
from ethang_nb.context.notedesk import Written
from ethang_nb.context.planner import decide
from ethang_nb.context.policies import from_knobs
from ethang_nb.context.window import Window
from ethang_nb.errors import Misuse, RecordDamaged

__all__ = ["JournalEntry", "replay_into"]


class JournalEntry(NamedTuple):
    number: int
    kind: str
    data: dict[str, Any]


class _Playback:
    """The journal of a replay: hands back the number of the entry that is being fed, and writes nothing."""

    records = False

    def __init__(self) -> None:
        self.number = 0

    @property
    def next(self) -> int:
        return self.number

    def write(self, kind: str, data: dict[str, Any]) -> int:
        del kind, data  # it is in the record already
        return self.number


def replay_into(
    context: LiveContext, entries: Iterable[JournalEntry], *, look: bool = False
) -> tuple[str, ...]:
    """Feeds recorded entries to an empty context, as they were decided then: no rule is asked again.

    What a crash cut off in the middle is brought to its end, in the journal too; unless it is only to `look`.

    Returns where the rules of today would have decided otherwise (empty: nowhere). Raises RecordDamaged for an
    entry that does not fit what came before it.
    """
    replay = _Replay(context)
    after, context.journal = context.journal, replay.journal
    try:
        for entry in entries:
            if entry.kind in kinds.REPLAYED:
                replay.feed(entry)
    finally:
        context.journal = after
    replay.settle(look=look)
    return tuple(replay.drift)


class _Replay:
    def __init__(self, context: LiveContext) -> None:
        self.context = context
        self.journal = _Playback()
        self.drift: list[str] = []
        self._untold: Turning | None = None
        self._unsaid: Decision | None = None
        """A task was withdrawn, and the model has not been told yet."""
        self._newest: tuple[int, Message] | None = None
        """The message that came last, while nothing but what it pins and lifts has come after it."""

    def feed(self, entry: JournalEntry) -> None:
        self.journal.number = entry.number
        if entry.kind not in (kinds.PIN, kinds.UNPIN):
            self._newest = None
        try:
            self._feed(entry.kind, entry.data)
        except (KeyError, IndexError, StopIteration, TypeError, ValueError, Misuse) as error:
            raise RecordDamaged(
                f"entry {entry.number} of the record ({entry.kind}) does not fit what came before it: {error}; "
                f"open another session, or fork this one before that entry"
            ) from error

    def settle(self, *, look: bool) -> None:
        """What a crash cut off inside a request point, or between a message and its pins, is brought to its end."""
        if self._untold is not None:
            if not look:
                self.context.enter_nudge()
            self.context.tell(self._untold)
        if self._unsaid is not None and not look:
            self.context.say_withdrawn(self._unsaid)
        if self._newest is not None and not look:
            self.context.pinning.find(*self._newest)

    def _feed(self, kind: str, data: dict[str, Any]) -> None:
        context = self.context
        match kind:
            case kinds.MESSAGE if "row" in data:
                counted = Result(*data["result"])
                context.join(data["row"], from_json(data["message"]), counted, data["address"])
                if data["judged"] is not None:
                    context.judge(recalled(context.state, data["judged"]))
            case kinds.MESSAGE:
                self._message(from_json(data["message"]), data["tokens"], own=data["own"])
            case kinds.SETTINGS:
                window, policy = Window(**data["window"]), from_knobs(data["policy"])
                context.settle(window=window, policy=policy, **data["parts"])
            case kinds.SYSTEM:
                context.add_system(data["text"])
            case kinds.WORK:
                told = data["decision"]
                context.begun(data["name"], None if told is None else recalled(context.state, told))
            case kinds.WITHDRAWN:
                self._unsaid = context.withdraw_as(recalled(context.state, data))
            case kinds.RESEED:
                told = data["decision"]
                context.reseed_as(None if told is None else recalled(context.state, told))
            case kinds.COOL:
                context.cool()
            case kinds.CORE:
                context.pinning.start_core([context.board.pins[number - 1] for number in data["pins"]])
            case kinds.ASKED:
                context.ask_cleanup(refused=data.get("refused", False))
            case kinds.RELEASE:
                context.let_go(recalled(context.state, data))
            case kinds.POINT:
                self._point(data)
            case kinds.NOTE:
                self._note(data)
            case kinds.USAGE:
                context.usage(data["reported"], data["own"], data["cached"])
            case kinds.PIN:
                context.pinning.put(data["kind"], data["text"], data["rule"], data["row"])
            case kinds.UNPIN:
                context.unpin(data["id"], data["reason"])

    def _message(self, message: Message, tokens: int, *, own: bool) -> None:
        row = self.context.enter(message, tokens=tokens, own=own)
        if not own:
            self._newest = row, message
        pin = self.context.board.enters_with(message.text) if own and message.kind == "pin" else None
        if pin is not None:
            self.context.pinning.hold(pin, row)
        if message.kind == "notice":
            self._unsaid = None
        if message.kind == "nudge" and self._untold is not None:
            self.context.tell(self._untold)
            self._untold = None

    def _point(self, data: dict[str, Any]) -> None:
        context = self.context
        decision = recalled(context.state, data)
        now, known = decide(context.state), data.get("digest")
        same = (
            now.outcome == "nothing"
            if known is None
            else digest(now, context.entries, context.notes.hashes) == known
        )
        if not same:
            self.drift.append(
                f"step {data['step']} was decided as {decision.outcome}; today's rules decide otherwise"
            )
        turning = context.turn(decision, sends=data.get("sends", True))
        if decision.outcome == "nudge":
            self._untold = turning  # its text is the next entry
        else:
            context.tell(turning)

    def _note(self, data: dict[str, Any]) -> None:
        notes = self.context.notes
        task = notes.pending or notes.last
        if task is None:
            raise Misuse("a note where none was due")
        written = Written(
            task=task,
            message=from_json(data["message"]),
            text=data["text"],
            prose=data["prose"],
            reference=data["reference"],
            author=data["author"],
        )
        self.context.place_note(written)
