"""LiveContext: the fold fed live, with the texts beside the integers.

It counts a message once when it enters, writes it to the journal, and feeds the fold; how a text stands in the window
follows from the state. It calls no model and reads no disk; a handoff note is handed out as a task (`pending`) and
handed back as text (`write_note`).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Protocol

from ethang_nb.context import kinds
from ethang_nb.context.arriving import Spill, SpillWording, arrive
from ethang_nb.context.assembly import Assembly, Standing
from ethang_nb.context.catalogue import ToolSpec, catalogue_tokens
from ethang_nb.context.core import (
    STATE_TOKENS,
    head_tokens,
    pointer_head_tokens,
)
from ethang_nb.context.coreblock import CoreBlock
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter, message_tokens
from ethang_nb.context.decision import Decision, told
from ethang_nb.context.digest import digest
from ethang_nb.context.entry import Entry, Turning
from ethang_nb.context.events import (
    CleanupAsked,
    Cooled,
    Event,
    MessageAdded,
    ModelChanged,
    NoteStood,
    NoteWritten,
    PartsChanged,
    PolicyChanged,
    ReleaseOffered,
    RequestPoint,
    Reseeded,
    ResultAdded,
    UsageReported,
    WindowChanged,
    Withdrawn,
    WorkBegun,
)
from ethang_nb.context.fold import landed, step
from ethang_nb.context.journal import Journal, MemoryJournal
from ethang_nb.context.ledger import Ledger, Result, RowKind
from ethang_nb.context.messages import PASSING, Message, ToolResult, to_json, user
from ethang_nb.context.notedesk import NoteDesk, Written
from ethang_nb.context.notes import NoteTask
from ethang_nb.context.pinboard import PinBoard
from ethang_nb.context.pinning import Pinning
from ethang_nb.context.planner import decide, new_work, release, reseeded
from ethang_nb.context.policy import Policy
from ethang_nb.context.pricing import Rates
from ethang_nb.context.settings import Settings
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.state import Reports, State
from ethang_nb.context.versions import Versions, total_of
from ethang_nb.context.window import Window
from ethang_nb.context.withdrawing import withdrawn
from ethang_nb.context.wording import nudge, pinned, spilled, withdrawn_notice, withdrawn_text
from ethang_nb.errors import BadMessage, Misuse

__all__ = ["LiveContext", "Observer"]

READS, OFFERS = "read_spill", "release_context"
"""The tools that texts of ours name; where a model lacks them, they do not."""
LARGER = "give a larger window (--window N), if the model has one"
"""The next step where what must stand takes too much."""


class Observer(Protocol):
    """Told of what is decided, and of notes and reports, as it happens, live and in a replay alike."""

    def requested(self, turning: Turning) -> None: ...

    def reseeded(self, turning: Turning) -> None: ...

    def noted(self, written: Written) -> None: ...

    def reported(self, reported: int, own: int, cached: int | None) -> None: ...

    def released(self, decision: Decision) -> None: ...


class LiveContext:
    """One context: what is in the window now, what left it, and the state the planner knows of it."""

    def __init__(
        self,
        *,
        window: Window,
        policy: Policy,
        counter: TokenCounter,
        system: str = "",
        project: str = "",
        tools: Sequence[ToolSpec] = (),
        journal: Journal | None = None,
        spill: Spill | None = None,
        searchable: bool = False,
        refuses: bool = True,
        ratio: int = 1000,
        wording: SpillWording = spilled,
    ) -> None:
        self.counter = counter
        self.journal: Journal = journal or MemoryJournal()
        self.state = State(
            Settings.of(window, policy, ratio),
            Ledger(),
            exact=counter.how == "exact",
            core_head=head_tokens(counter),
            pointers_head=pointer_head_tokens(counter) + STATE_TOKENS,
            reports=Reports(family=ratio),
        )
        self.system, self.project, self.tools = system, project, tuple(tools)
        self._assembly = Assembly()
        self.entries: dict[int, Entry] = {}
        """The texts of all segments, also of those that left: row number -> entry; below 0 what passes."""
        self.versions = Versions()
        """Which of what was read has moved since."""
        self.notes = NoteDesk(searchable=searchable, versions=self.versions)
        self.pinning = Pinning(self)
        self.block = CoreBlock(counter)
        self.step = 0
        self.sent: int | None = None
        """Tokens of the last request: what may lie in the provider's cache."""
        self.rates: Rates | None = None
        """The model's own cache prices, where they are known."""
        self.followed = False
        """Whether somebody else made the last request, and sends it however full it is."""
        self.observers: list[Observer] = []
        self._spill, self._wording = spill, wording
        self._model = ""
        self._refuses = refuses
        self.feed(
            PartsChanged(
                system=self._text_tokens(system) if system else 0,
                project=self._text_tokens(project) if project else 0,
                tools=catalogue_tokens(self.tools, counter),
            )
        )

    def copy(self) -> LiveContext:
        """A context that stands as this one does and goes its own way from here; nothing of it is recorded."""
        twin = LiveContext(
            window=self.state.settings.base,
            policy=self.state.policy,
            counter=self.counter,
            journal=MemoryJournal(self.journal.next),  # what enters there has the address it would have here
            refuses=self._refuses,
            wording=self._wording,
        )
        twin.state, twin.step, twin.block = self.state, self.step, self.block.copy()
        twin.sent, twin.rates, twin.followed = self.sent, self.rates, self.followed
        twin.system, twin.project, twin.tools = self.system, self.project, self.tools
        twin.entries = dict(self.entries)
        twin.versions = self.versions.copy()
        twin.notes, twin.pinning.board = self.notes.copy(twin.versions), self.board.copy()
        return twin

    # ---- what enters

    def append(self, message: Message, *, judge: bool = True) -> int:
        """Takes a message in and returns the number of its segment. A system message joins the system text.

        `judge=False`: what arrives in one step is not judged together; whoever replays does it later.
        """
        if message.role == "system":
            self.add_system(message.text)
            return -1
        if message.role == "tool":
            return [self._add_result(result, message, judge=judge) for result in message.results][-1]
        row = self.enter(message)
        if message.kind == "pin":
            kind, text = pinned(message.text)
            self.pinning.put(kind, text, "by hand", row)
        else:
            self.pinning.find(row, message)
        return row

    def stand(self, message: Message) -> None:
        """Takes a message in as it already stands in somebody's window: nothing is cut on entry.

        A handoff note and a pin by hand, as a request of ours holds them, stand here as what they are.
        """
        if message.kind == "note":
            self._stand_note(message)
            return
        if message.role == "tool":
            for result in message.results:
                self._add_result(result, message, stands=True, judge=False)
            return
        self.append(message)

    def _stand_note(self, message: Message) -> None:
        self.journal.write(kinds.MESSAGE, {"message": to_json(message)})
        self.notes.stand(self.state.next_note, message)
        self.feed(NoteStood(tokens=message_tokens(message, self.counter)))

    def add_system(self, text: str) -> None:
        self.journal.write(kinds.SYSTEM, {"text": text})
        self.system = f"{self.system}\n\n{text}" if self.system else text
        self.feed(PartsChanged(system=self._text_tokens(self.system)))

    def settle(
        self,
        *,
        window: Window,
        policy: Policy,
        system: int,
        project: int,
        tools: int,
        searchable: bool,
        model: str = "",
        ratio: int = 1000,
        exact: bool = True,
    ) -> None:
        """The settings from here on, which whoever calls writes to the journal.

        `system`, `project` and `tools` are tokens; `searchable`: whether a tool searches the record. Another `model`
        than the last one brings its own `ratio` and whether it is counted `exact`.
        """
        other = (ratio, exact) != (self.state.ratio, self.state.exact)
        if model != self._model and (self._model or other):
            self.feed(ModelChanged(ratio=ratio, exact=exact))
        self._model = model
        self.notes.searchable = searchable
        self.feed(PartsChanged(system=system, project=project, tools=tools))
        if window != self.state.settings.base:
            self.feed(WindowChanged(window=window))
        if policy != self.state.policy:
            self.feed(PolicyChanged(policy=policy))

    def usage(self, reported: int, own: int, cached: int | None = None) -> None:
        """What the provider counted for a request, what of it came from its cache, and our count of that request."""
        self.journal.write(kinds.USAGE, {"reported": reported, "own": own, "cached": cached})
        self.feed(UsageReported(reported=reported, own=own))
        for observer in self.observers:
            observer.reported(reported, own, cached)

    def enter(self, message: Message, *, tokens: int | None = None, own: bool = False) -> int:
        """Opens a segment with a message. `tokens`: as counted before; `own`: a text of ours."""
        kind = _row_kind(message)
        if tokens is None:
            tokens = message_tokens(message, self.counter)
            if kind == "user" and self._refuses:
                self._refuse_too_large(tokens)
        number = self.journal.write(
            kinds.MESSAGE, {"message": to_json(message), "tokens": tokens, "own": own}
        )
        row = self.state.next_passing if kind in PASSING else self.state.next_row
        address = f"log://{number}" if number >= 0 else ""
        self.entries[row] = Entry(row, [message], [address], self.step, reader=self.reader)
        self.feed(MessageAdded(kind=kind, tokens=tokens, calls=len(message.calls)))
        return row

    def _add_result(
        self, result: ToolResult, message: Message, *, stands: bool = False, judge: bool = True
    ) -> int:
        row = self._turn_of(result.call_id)
        arrived = arrive(
            result,
            call=self.entries[row].call_title(result),
            address=f"log://{self.journal.next}",
            settings=self.state.settings,
            counter=self.counter,
            spill=self._spill,
            wording=self._wording,
            reader=self.reader,
            stands=stands,
        )
        same = arrived.result is result and len(message.parts) == 1
        kept = message if same else replace(message, parts=(arrived.result,))
        at = self.entries[row].place_of(result.call_id)
        added = ResultAdded(result=arrived.counted, row=row, at=at, judged=not judge)
        state, judged = step(self.state, added)
        self._write_result(row, kept, arrived.counted, arrived.address, judged)
        self.state = state
        return row

    def join(self, row: int, message: Message, counted: Result, address: str) -> None:
        """A result joins its turn as it once did; whoever calls brings what intake decided (`judge`)."""
        at = self.entries[row].place_of(message.results[0].call_id)
        self._write_result(row, message, counted, address, None)
        self.feed(ResultAdded(result=counted, row=row, at=at, judged=True))

    def judge(self, decision: Decision) -> None:
        """Carries out what intake decided of the newest turn."""
        self.state = decision.after

    def _write_result(
        self, row: int, message: Message, counted: Result, address: str, judged: Decision | None
    ) -> None:
        number = self.journal.write(
            kinds.MESSAGE,
            {
                "message": to_json(message),
                "row": row,
                "result": list(counted),
                "address": address,
                "judged": None if judged is None else told(judged),
            },
        )
        # A new entry: who looked at this turn before, or at a copy of the context, does not see it change.
        self.entries[row] = self.entries[row].joined(message, address, counted.tokens)
        self._assembly.forget(row)
        self.versions.enter(number, address, total=total_of(message.text, address))

    def check(self, message: Message) -> None:
        """Raises Misuse for a message of the person that could never be sent. Changes nothing.

        Room for a note is no part of that: whether one is needed is decided at the request point.
        """
        if _row_kind(message) == "user" and message.role == "user" and self._refuses:
            self._refuse_too_large(message_tokens(message, self.counter))

    def _refuse_too_large(self, tokens: int) -> None:
        state = self.state
        fixed = state.fixed + state.core
        if fixed + tokens <= state.hard:
            return
        # Whatever takes most is to blame: a message of five tokens is not what does not fit.
        most, part, cure = max(
            (tokens, "this message", "Shorten it, or put it into a file and name the file"),
            (state.system, "the system text", f"Shorten it, or {LARGER}"),
            (state.project, "the project text", f"Shorten it, or {LARGER}"),
            (state.tools, f"the catalogue of {len(self.tools)} tools", f"Give fewer, or {LARGER}"),
            (state.core, "the core", f"Unpin what need not be kept, start anew with --new, or {LARGER}"),
            key=itemgetter(0),
        )
        if part == "this message":
            said = f"with {fixed:,} for the fixed parts it does"
        else:
            said = f"with {fixed - most + tokens:,} for the rest, {tokens:,} of it this message, it does"
        raise Misuse(
            f"{part} takes {most:,} tokens; {said} not fit the {state.hard:,} that can be sent. {cure}"
        )

    def _waiting(self) -> list[int]:
        """The segments whose calls still lack results, oldest first."""
        tail = self.state.tail
        waiting = [number for number, _ in self.state.opened]
        return [*waiting, tail.id] if tail is not None and tail.open else waiting

    def known(self) -> Mapping[int, Entry]:
        """The texts by row as they are now, whatever results join later."""
        waiting = self._waiting()
        return (
            ChainMap({row: self.entries[row] for row in waiting}, self.entries) if waiting else self.entries
        )

    def _turn_of(self, call_id: str) -> int:
        for number in reversed(self._waiting()):
            entry = self.entries[number]
            answered = {part.call_id for item in entry.messages for part in item.results}
            if call_id in {call.id for call in entry.messages[0].calls} - answered:
                return number
        raise BadMessage(f"a tool result names call {call_id!r}, which no open call has; add the call first")

    # ---- pieces of work

    def begin(self, name: str = "") -> Decision | None:
        """A new piece of work: the next user message is its task. Says so where it starts from the core."""
        return self.begun(name, new_work(self.state))

    def begun(self, name: str, decision: Decision | None) -> Decision | None:
        """Begins as was decided."""
        self.journal.write(
            kinds.WORK, {"name": name, "decision": None if decision is None else told(decision)}
        )
        self.feed(WorkBegun(decided=decision, again=True))
        self._started(decision)
        return decision

    def withdraw(self) -> Decision | None:
        """A task that was refused as too large leaves, before the next piece of work begins; None: nothing waits.

        Its pins move into the core, as with every message that leaves. One that has no room there is lifted, with that
        reason: else it would refuse everything that comes, as its message did.
        """
        while True:
            decision = withdrawn(self.state)
            if decision is None:
                return None
            after = decision.after
            moved = [pin for pin in after.pins if pin.core and not self.board.pins[pin.id - 1].core]
            if not moved or after.total + after.note_tokens < after.usable:
                break
            largest = max(moved, key=attrgetter("line"))
            self.unpin(
                largest.id, f"its message was withdrawn, and {largest.line:,} tokens have no room in the core"
            )
        return self.withdraw_as(decision, said=True)

    def withdraw_as(self, decision: Decision, *, said: bool = False) -> Decision:
        """It leaves as was decided. `said`: the model is told; a replay has that from its journal."""
        places = self.places(decision)
        self.journal.write(kinds.WITHDRAWN, {**told(decision), "notices": [withdrawn_notice(places)]})
        for start, stop in decision.evicted:
            for row in range(start, stop):
                self.entries[row] = replace(self.entries[row].copy(), withdrawn=True)
        self.feed(Withdrawn(decided=decision))
        self.render_core()
        turning = Turning(step=self.step + 1, decision=decision, entries=self.known())
        for observer in self.observers:
            observer.reseeded(turning)
        if said:
            self.say_withdrawn(decision)
        return decision

    def say_withdrawn(self, decision: Decision) -> None:
        """Tells the model what was taken out, and where it can be read."""
        text = withdrawn_text(self.places(decision), reader=self.reader)
        self.enter(user(text, source="ethang", kind="notice"), own=True)

    def places(self, decision: Decision) -> list[tuple[str, int]]:
        """Address and tokens of each segment that leaves."""
        return [
            (self.entries[row].address, decision.before.row(row).tokens)
            for start, stop in decision.evicted
            for row in range(start, stop)
        ]

    def reseed(self) -> Decision | None:
        """Starts from the core now, between two pieces of work; None where nothing can be left behind.

        Raises Misuse inside a tool turn.
        """
        if self._waiting():
            raise Misuse("a call still waits for its result; append that first, then start from the core")
        return self.reseed_as(reseeded(self.state))

    def reseed_as(self, decision: Decision | None) -> Decision | None:
        """Starts from the core as was decided."""
        self.journal.write(kinds.RESEED, {"decision": None if decision is None else told(decision)})
        if decision is not None:
            self.feed(Reseeded(decided=decision))
            self._started(decision)
        return decision

    def cool(self) -> None:
        """The next piece of work starts from the core, whatever the fill (seed 004's escape hatch)."""
        self.journal.write(kinds.COOL, {})
        self.feed(Cooled())

    def _started(self, decision: Decision | None) -> None:
        if decision is None:
            return
        if decision.lands:
            self._start_from(decision, self.state.work)
        turning = Turning(step=self.step + 1, decision=decision, entries=self.known())
        for observer in self.observers:
            observer.reseeded(turning)

    def _start_from(self, decision: Decision, works: int) -> None:
        """`works` is the number of the piece of work that starts."""
        self.notes.clear()
        after = decision.after._replace(work=works)
        self.block.point(after, self.entries, self.versions, searchable=self.notes.searchable)
        self.render_core()

    # ---- requests

    def request(self, *, sends: bool = True) -> Turning:
        """A request point: plans, carries the plan out, and says what was decided from which state.

        Without `sends` it is there for its cleanup alone, and no request follows.

        Where the plan writes a note, `pending` holds the task until `write_note`; until then one by rule stands in.
        """
        self.pinning.enter()
        turning = self.turn(decide(self.state), sends=sends)
        if turning.decision.outcome == "nudge":
            self.enter_nudge()
        self.tell(turning)
        return turning

    def enter_nudge(self) -> None:
        self.enter(self.nudge(self.state.settings), own=True)

    def nudge(self, settings: Settings) -> Message:
        """The nudge as it enters under these settings."""
        levels, offers = settings.levels, any(tool.name == OFFERS for tool in self.tools)
        return user(nudge(levels.nudge, levels.cleanup, offers=offers), source="ethang", kind="nudge")

    def turn(self, decision: Decision, *, sends: bool = True) -> Turning:
        """Carries out what was decided of the state as it is; nothing of ours enters, and nobody is told yet."""
        data = {"step": self.step + 1, **told(decision)}
        if not sends:
            data["sends"] = False
        if decision.outcome != "nothing" and self.journal.records:
            data["digest"] = digest(decision, self.entries, self.notes.hashes)
        self.journal.write(kinds.POINT, data)
        self.feed(RequestPoint(decided=decision))
        self.step += 1
        self.followed = decision.followed
        if decision.lands and not decision.followed:
            self._landed(decision)
        return Turning(step=self.step, decision=decision, entries=self.known(), sends=sends)

    def begin_again(self, state: State, system: str, board: PinBoard) -> None:
        """Back to an empty context in this state, its texts kept: for showing a request of a replay."""
        self.state, self.step, self.system = state, 0, system
        self.block, self.pinning.board = CoreBlock(self.counter), board
        self.render_core()
        self.notes = NoteDesk(searchable=self.notes.searchable, versions=self.versions)

    def follow(self, decision: Decision) -> None:
        """Takes over what was decided elsewhere of the same rows: for showing a request of a replay."""
        self.state = landed(decision)
        if decision.outcome == "reseed":
            self._start_from(decision, decision.after.work + 1)
        elif decision.lands:
            self._landed(decision)

    def _landed(self, decision: Decision) -> None:
        self.render_core()
        self.notes.check(decision.after.notes, self.counter)
        if not decision.writes_note:
            return
        departed = [
            self.entries[move.row].departed(self._whole_tokens(decision, move.row))
            for move in decision.moves
            if move.act == "evict"
        ]
        pins = [(pin.kind, pin.text) for pin in self.board.holding]
        self.notes.hand_out(decision, departed, self.task_text, pins)

    def _whole_tokens(self, decision: Decision, number: int) -> int:
        """Tokens of a segment as it entered."""
        return decision.before.row(number).base + sum(self.entries[number].sizes)

    def tell(self, turning: Turning) -> None:
        for observer in self.observers:
            observer.requested(turning)
        self.sent = self.state.total

    def assemble(self) -> tuple[Message, ...]:
        """The messages of a request, most stable first: system, project and core | task, notes | the rest."""
        return tuple(chain.from_iterable(self.parts()))

    def parts(self) -> list[Standing]:
        """The same, segment by segment. What stands as it did at the last request is the very same tuple."""
        text = "\n\n".join(part for part in (self.system, self.project, self.block.text) if part)
        notes = [self.notes.message(note.id, self.counter) for note in self.state.notes]
        return self._assembly.parts(self.state, self.entries, self.counter, system=text, notes=notes)

    def ask_cleanup(self, *, refused: bool = False) -> None:
        """Asks for a cleanup; it is taken at the next request point. `refused`: the provider's refusal asks for it."""
        self.journal.write(kinds.ASKED, {"refused": True} if refused else {})
        self.feed(CleanupAsked(refused=refused))

    def release(self, offered: Sequence[tuple[int, int]]) -> Decision:
        """Collapses the offered results that rules let go."""
        return self.let_go(release(self.state, offered))

    def let_go(self, decision: Decision) -> Decision:
        """Carries out what was decided of an offer."""
        self.journal.write(kinds.RELEASE, told(decision))
        self.feed(ReleaseOffered(results=(), decided=decision))
        for observer in self.observers:
            observer.released(decision)
        return decision

    # ---- notes and pins

    @property
    def pending(self) -> NoteTask | None:
        """The task of a note that is due; until it is written one by rule stands in, of the size reserved for it."""
        return self.notes.pending

    def write_note(self, text: str | None, *, reference: str = "", author: str = "") -> Message:
        """Puts the note in place, or another text in place of the newest one. None or blank: by rule."""
        written = self.notes.settle(text, reference, author, self.counter)
        return self.place_note(written)

    def place_note(self, written: Written) -> Message:
        """Puts a note in place as it was written."""
        self.journal.write(
            kinds.NOTE,
            {
                "message": to_json(written.message),
                "text": written.text,
                "prose": written.prose,
                "reference": written.reference,
                "author": written.author,
            },
        )
        self.notes.put(written)
        message = written.message
        self.feed(NoteWritten(tokens=message_tokens(message, self.counter), id=written.task.id))
        if self.sent is not None:
            self.sent = self.state.total
        for observer in self.observers:
            observer.noted(written)
        return message

    @property
    def board(self) -> PinBoard:
        return self.pinning.board

    @property
    def pins(self) -> list[Pin]:
        return self.pinning.board.pins

    def pin(self, text: str, kind: str = "constraint") -> Pin:
        """Keeps a text verbatim; see Pinning.pin."""
        return self.pinning.pin(text, kind)

    def unpin(self, number: int, reason: str = "lifted by hand") -> Pin:
        """Lifts a pin; see Pinning.unpin."""
        return self.pinning.unpin(number, reason)

    def render_core(self) -> None:
        """The core as it stands when the prefix breaks anyway."""
        self.board.move_to_core({pin.id for pin in self.state.pins if pin.core})
        self.block.render(self.pins, pointed=bool(self.state.pointers), searchable=self.notes.searchable)

    # ---- small things

    @property
    def core(self) -> str:
        """The core block as it was last rendered."""
        return self.block.text

    @property
    def task_text(self) -> str:
        """The task of the current piece of work."""
        task = self.state.task
        return self.entries[task].messages[0].text if task >= 0 else ""

    @property
    def reader(self) -> str:
        """The tool that reads addresses, "" where the model has none."""
        return READS if any(tool.name == READS for tool in self.tools) else ""

    def feed(self, event: Event) -> Decision | None:
        self.state, decision = step(self.state, event)
        return decision

    def _text_tokens(self, text: str) -> int:
        return MESSAGE_OVERHEAD + self.counter.count(text)


def _row_kind(message: Message) -> RowKind:
    match message.kind:
        case "nudge" | "notice" | "memory" | "pin" as kind:
            return kind
        case _:
            pass
    if message.role == "user":
        return "user"
    return "turn" if message.calls else "assistant"
