"""LiveContext: the fold fed live, with the texts beside the integers.

It counts a message once when it enters, writes it to the journal, and feeds the fold; how a text stands in the window
follows from the state. It calls no model and reads no disk; a handoff note is handed out as a task (`pending`) and
handed back as text (`write_note`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

from ethang_nb.context import kinds
from ethang_nb.context.arriving import Spill, arrive
from ethang_nb.context.catalogue import ToolSpec, catalogue_tokens
from ethang_nb.context.core import (
    STATE_TOKENS,
    Recorded,
    core_text,
    head_tokens,
    line_tokens,
    pointer_head_tokens,
    state_lines,
)
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter, message_tokens
from ethang_nb.context.decision import Decision, told
from ethang_nb.context.digest import digest
from ethang_nb.context.entry import Entry, Turning
from ethang_nb.context.events import (
    CleanupAsked,
    Cooled,
    CoreRendered,
    Event,
    MessageAdded,
    NoteStood,
    NoteWritten,
    PartsChanged,
    Pinned,
    PolicyChanged,
    ReleaseOffered,
    RequestPoint,
    Reseeded,
    ResultAdded,
    Unpinned,
    UsageReported,
    WindowChanged,
    WorkBegun,
)
from ethang_nb.context.fold import landed, step
from ethang_nb.context.journal import Journal, MemoryJournal
from ethang_nb.context.ledger import Ledger, Result, RowKind
from ethang_nb.context.messages import Message, Text, ToolResult, to_json, user
from ethang_nb.context.notedesk import NoteDesk, Written
from ethang_nb.context.notes import NoteTask
from ethang_nb.context.pinboard import PinBoard
from ethang_nb.context.pins import find
from ethang_nb.context.planner import decide, new_work, release, reseeded
from ethang_nb.context.pointers import MOST, Pointer, choose, how_to_search
from ethang_nb.context.policy import Policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.state import State
from ethang_nb.context.versions import Versions, total_of
from ethang_nb.context.window import Window
from ethang_nb.context.wording import nudge, pin_text, pinned
from ethang_nb.errors import BadMessage, Misuse

__all__ = ["LiveContext", "Observer"]


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
    ) -> None:
        self.counter = counter
        self.journal: Journal = journal or MemoryJournal()
        self.state = State(
            Settings.of(window, policy, ratio),
            Ledger(),
            exact=counter.how == "exact",
            core_head=head_tokens(counter),
            pointers_head=pointer_head_tokens(counter) + STATE_TOKENS,
        )
        self.system, self.project, self.tools = system, project, tuple(tools)
        self.entries: dict[int, Entry] = {}
        """The texts of all segments, also of those that left: row number -> entry; below 0 what passes."""
        self.versions = Versions()
        """Which of what was read has moved since."""
        self.notes = NoteDesk(searchable=searchable, versions=self.versions)
        self.board = PinBoard()
        self.step = 0
        self.observers: list[Observer] = []
        self.core = ""
        """The core block as it was last rendered."""
        self._pointers: tuple[Pointer, ...] = ()
        self._recorded: tuple[str, ...] = ()
        self._spill = spill
        self._refuses = refuses
        self._feed(
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
        )
        twin.state, twin.step, twin.core = self.state, self.step, self.core
        twin.system, twin.project, twin.tools = self.system, self.project, self.tools
        twin.entries = dict(self.entries)
        twin.versions = self.versions.copy()
        twin._pointers, twin._recorded = self._pointers, self._recorded
        twin.notes, twin.board = self.notes.copy(twin.versions), self.board.copy()
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
        self.pin_cues(row, message)
        return row

    def pin_cues(self, row: int, message: Message) -> None:
        """Lifts and pins what the cue rules find in an owner's message, where it is not done yet."""
        for found in find(message):
            if self.board.same(found.text, found.kind) is None:
                self.put_pin(found.kind, found.text, found.rule, row)

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
        row = self.append(message)
        if message.kind == "pin":
            kind, text = pinned(message.text)
            self.put_pin(kind, text, "by hand", row)

    def _stand_note(self, message: Message) -> None:
        self.journal.write(kinds.MESSAGE, {"message": to_json(message)})
        self.notes.stand(self.state.next_note, message)
        self._feed(NoteStood(tokens=message_tokens(message, self.counter)))

    def add_system(self, text: str) -> None:
        self.journal.write(kinds.SYSTEM, {"text": text})
        self.system = f"{self.system}\n\n{text}" if self.system else text
        self._feed(PartsChanged(system=self._text_tokens(self.system)))

    def settle(
        self, *, window: Window, policy: Policy, system: int, project: int, tools: int, searchable: bool
    ) -> None:
        """The settings from here on, which whoever calls writes to the journal.

        `system`, `project` and `tools` are tokens; `searchable`: whether a tool searches the record.
        """
        self.notes.searchable = searchable
        self._feed(PartsChanged(system=system, project=project, tools=tools))
        if window != self.state.settings.base:
            self._feed(WindowChanged(window=window))
        if policy != self.state.policy:
            self._feed(PolicyChanged(policy=policy))

    def usage(self, reported: int, own: int, cached: int | None = None) -> None:
        """What the provider counted for a request, what of it came from its cache, and our count of that request."""
        self.journal.write(kinds.USAGE, {"reported": reported, "own": own, "cached": cached})
        self._feed(UsageReported(reported=reported, own=own))
        for observer in self.observers:
            observer.reported(reported, own, cached)

    def enter(self, message: Message, *, tokens: int | None = None, own: bool = False) -> int:
        """Opens a segment with a message. `tokens`: as counted before; `own`: a text of ours."""
        kind = _row_kind(message)
        if tokens is None:
            tokens = message_tokens(message, self.counter)
            if kind == "user" and self._refuses:
                self._refuse_too_large(tokens)
        number = self.journal.write(kinds.MESSAGE, {"message": to_json(message), "tokens": tokens, "own": own})
        row = self.state.next_passing if kind in ("nudge", "notice") else self.state.next_row
        address = f"log://{number}" if number >= 0 else ""
        self.entries[row] = Entry(row, [message], [address], self.step)
        self._feed(MessageAdded(kind=kind, tokens=tokens, calls=len(message.calls)))
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
            stands=stands,
        )
        same = arrived.result is result and len(message.parts) == 1
        kept = message if same else replace(message, parts=(arrived.result,))
        state, judged = step(self.state, ResultAdded(result=arrived.counted, row=row, judged=not judge))
        self._write_result(row, kept, arrived.counted, arrived.address, judged)
        self.state = state
        return row

    def join(self, row: int, message: Message, counted: Result, address: str) -> None:
        """A result joins its turn as it once did; whoever calls brings what intake decided (`judge`)."""
        self._write_result(row, message, counted, address, None)
        self._feed(ResultAdded(result=counted, row=row, judged=True))

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
        entry = self.entries[row]
        entry.messages.append(message)
        entry.addresses.append(address)
        entry.sizes.append(counted.tokens)
        self.versions.enter(number, address, total=total_of(message.text, address))

    def check(self, message: Message) -> None:
        """Raises Misuse for a message of the person that could never be sent. Changes nothing."""
        if _row_kind(message) == "user" and message.role == "user" and self._refuses:
            self._refuse_too_large(message_tokens(message, self.counter))

    def _refuse_too_large(self, tokens: int) -> None:
        fixed = self.state.fixed + self.state.core + self.state.note_tokens
        if fixed + tokens > self.state.hard:
            raise Misuse(
                f"this message takes {tokens:,} tokens; with {fixed:,} for the fixed parts and a note it does not "
                f"fit the {self.state.hard:,} that can be sent. Shorten it, or put it into a file and name the file"
            )

    def _turn_of(self, call_id: str) -> int:
        tail = self.state.tail
        waiting = [number for number, _ in self.state.opened]
        if tail is not None and tail.open:
            waiting.append(tail.id)
        for number in reversed(waiting):
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
        self.journal.write(kinds.WORK, {"name": name, "decision": None if decision is None else told(decision)})
        self._feed(WorkBegun(decided=decision, again=True))
        self._started(decision)
        return decision

    def reseed(self) -> Decision | None:
        """Starts from the core now, between two pieces of work; None where nothing can be left behind."""
        return self.reseed_as(reseeded(self.state))

    def reseed_as(self, decision: Decision | None) -> Decision | None:
        """Starts from the core as was decided."""
        self.journal.write(kinds.RESEED, {"decision": None if decision is None else told(decision)})
        if decision is not None:
            self._feed(Reseeded(decided=decision))
            self._started(decision)
        return decision

    def cool(self) -> None:
        """The next piece of work starts from the core, whatever the fill (seed 004's escape hatch)."""
        self.journal.write(kinds.COOL, {})
        self._feed(Cooled())

    def _started(self, decision: Decision | None) -> None:
        if decision is None:
            return
        if decision.lands:
            self._start_from(decision)
        turning = Turning(step=self.step + 1, decision=decision, entries=self.entries)
        for observer in self.observers:
            observer.reseeded(turning)

    def _start_from(self, decision: Decision) -> None:
        self.notes.clear()
        self._point(decision)
        self._render_core()

    # ---- requests

    def request(self) -> Turning:
        """A request point: plans, carries the plan out, and says what was decided from which state.

        Where the plan writes a note, `pending` holds the task until `write_note`; until then one by rule stands in.
        """
        self.enter_pins()
        turning = self.turn(decide(self.state))
        if turning.decision.outcome == "nudge":
            self.enter_nudge()
        self.tell(turning)
        return turning

    def enter_nudge(self) -> None:
        levels = self.state.levels
        self.enter(user(nudge(levels.nudge, levels.cleanup), source="ethang", kind="nudge"), own=True)

    def turn(self, decision: Decision) -> Turning:
        """Carries out what was decided of the state as it is; nothing of ours enters, and nobody is told yet."""
        data = {"step": self.step + 1, **told(decision)}
        if decision.outcome != "nothing":
            data["digest"] = digest(decision, self.entries, self.notes.hashes)
        self.journal.write(kinds.POINT, data)
        self._feed(RequestPoint(decided=decision))
        self.step += 1
        if decision.lands:
            self._landed(decision)
        return Turning(step=self.step, decision=decision, entries=self.entries)

    def begin_again(self, state: State) -> None:
        """Back to an empty context in this state, its texts kept: for showing a request of a replay."""
        self.state, self.step, self.core = state, 0, ""
        self.board = PinBoard()
        self.notes = NoteDesk(searchable=self.notes.searchable, versions=self.versions)
        self._pointers, self._recorded = (), ()

    def follow(self, decision: Decision) -> None:
        """Takes over what was decided elsewhere of the same rows: for showing a request of a replay."""
        self.state = landed(decision)
        if decision.outcome == "reseed":
            self._start_from(decision)
        elif decision.lands:
            self._landed(decision)

    def _landed(self, decision: Decision) -> None:
        self._render_core()
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

    def assemble(self) -> tuple[Message, ...]:
        """The messages of a request, most stable first: system, project and core | task, notes | the rest."""
        text = "\n\n".join(part for part in (self.system, self.project, self.core) if part)
        head: list[Message] = (
            [Message(role="system", parts=(Text(text=text),), source="system")] if text else []
        )
        rows = list(self.state.rows)
        if rows and rows[0].task:
            head += self.entries[rows.pop(0).id].messages
        head += [self.notes.message(note.id, self.counter) for note in self.state.notes]
        for row in rows:
            head += self.entries[row.id].standing(row, self.counter)
        return tuple(head)

    def ask_cleanup(self) -> None:
        """Asks for a cleanup; it is taken at the next request point."""
        self.journal.write(kinds.ASKED, {})
        self._feed(CleanupAsked())

    def release(self, offered: Sequence[tuple[int, int]]) -> Decision:
        """Collapses the offered results that rules let go."""
        return self.let_go(release(self.state, offered))

    def let_go(self, decision: Decision) -> Decision:
        """Carries out what was decided of an offer."""
        self.journal.write(kinds.RELEASE, told(decision))
        self._feed(ReleaseOffered(results=(), decided=decision))
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
        self._feed(NoteWritten(tokens=message_tokens(message, self.counter), id=written.task.id))
        for observer in self.observers:
            observer.noted(written)
        return message

    @property
    def pins(self) -> list[Pin]:
        return self.board.pins

    def pin(self, text: str, kind: str = "constraint", *, rule: str = "by hand") -> Pin:
        """Pins a text: its own message holds it where it stands there word for word.

        Else it enters at the next request as an owner message. A sentence that is pinned already is that pin.
        Raises Misuse where it would leave no room to work.
        """
        new = self.board.new(kind, text, rule, -1)
        same = self.board.same(new.text, new.kind)
        if same is not None:
            return same
        self._refuse_large_pin(new)
        for number in self.state.numbers:
            if self.state.kind(number) in ("user", "pin") and text in self.entries[number].messages[0].text:
                return self.put_pin(kind, text, rule, number)
        return self.put_pin(kind, text, rule, -1)

    def _refuse_large_pin(self, pin: Pin) -> None:
        """Pins are never cut, so one that leaves no room beside what must stay is refused."""
        state = self.state
        line = line_tokens(pin.kind, pin.text, self.counter)
        held = sum(item.line for item in state.pins if not item.core)
        held += sum(line_tokens(item.kind, item.text, self.counter) for item in self.board.entering)
        tasks = sum(state.row(number).tokens for number in {state.first_task, state.task} - {-1})
        rest = state.fixed + state.core + held + tasks + state.note_tokens
        if rest + line >= state.usable:
            raise Misuse(
                f"this pin takes {line:,} tokens; with {rest:,} for what stays it leaves nothing of the "
                f"{state.usable:,} usable. Pin a shorter sentence, or unpin another"
            )

    def unpin(self, number: int, reason: str = "lifted by hand") -> Pin:
        """Lifts a pin: its message may leave at once, the core loses the line at its next rendering."""
        self.board.find(number)
        self.journal.write(kinds.UNPIN, {"id": number, "reason": reason})
        self._feed(Unpinned(id=number))
        return self.board.lift(number, reason)

    def put_pin(self, kind: str, text: str, rule: str, row: int) -> Pin:
        """A new pin, held by the message of row `row`; -1: it still has to enter."""
        pin = self.board.new(kind, text, rule, row)
        self.journal.write(kinds.PIN, {"kind": pin.kind, "text": pin.text, "rule": rule, "row": row})
        self.board.add(pin)
        if row >= 0:
            self.hold_pin(pin, row)
        return self.board.pins[pin.id - 1]

    def hold_pin(self, pin: Pin, row: int) -> None:
        """The message of row `row` holds the pin from now on; -1: the core does."""
        self.board.bind(pin, row)
        self._feed(Pinned(id=pin.id, row=row, line=line_tokens(pin.kind, pin.text, self.counter)))

    def enter_pins(self) -> None:
        """Pins by hand whose text stands nowhere yet enter: into the core at session start, else as messages."""
        waiting = self.board.entering
        if waiting and not self.step:
            self.journal.write(kinds.CORE, {"pins": [pin.id for pin in waiting]})
            self.start_core(waiting)
            return
        for pin in waiting:
            row = self.enter(user(pin_text(pin.kind, pin.text), kind="pin"), own=True)
            self.hold_pin(pin, row)

    def start_core(self, pins: Sequence[Pin]) -> None:
        """The first rendering of the core, before anything was sent."""
        for pin in pins:
            self.hold_pin(pin, -1)
        self._feed(CoreRendered(pins=tuple(pin.id for pin in pins)))
        self._render_core()

    def _render_core(self) -> None:
        self.board.move_to_core({pin.id for pin in self.state.pins if pin.core})
        pointed = bool(self.state.pointers)
        self.core = core_text(
            self.pins,
            self._pointers if pointed else (),
            self._recorded if pointed else (),
            searchable=self.notes.searchable,
        )

    def _point(self, decision: Decision) -> None:
        """Where the newest results can be read again, and what the record says of the work, for the core."""
        state = decision.after
        every = (
            (number, index)
            for number in range(state.n - 1, -1, -1)
            for index in range(len(self.entries[number].sizes) - 1, -1, -1)
        )
        newest = list(islice(every, MOST))
        places = [
            Pointer.of(
                what=self.entries[number].call_title(self.entries[number].messages[index + 1].results[0]),
                stub=self.entries[number].line(index),
                address=self.entries[number].addresses[index + 1],
                tokens=state.row(number).results[index].stub,
            )
            for number, index in reversed(newest)
        ]
        self._pointers = choose(
            places, state.pointers - state.pointers_head, self.counter, versions=self.versions, most=MOST
        )
        said = state_lines(
            Recorded(
                works=state.work,
                results=sum(len(column.row) for column in state.ledger.results),
                stale=self.versions.moved,
                last=places[-1].address if places else "",
                last_log=_number(self.entries[newest[0][0]].addresses[0]) if newest else -1,
            ),
            self.counter,
        )
        self._recorded = said or (how_to_search(searchable=self.notes.searchable),)

    # ---- small things

    @property
    def task_text(self) -> str:
        """The task of the current piece of work."""
        task = self.state.task
        return self.entries[task].messages[0].text if task >= 0 else ""

    def _feed(self, event: Event) -> Decision | None:
        self.state, decision = step(self.state, event)
        return decision

    def _text_tokens(self, text: str) -> int:
        return MESSAGE_OVERHEAD + self.counter.count(text)


def _number(address: str) -> int:
    return int(address.removeprefix("log://"))


def _row_kind(message: Message) -> RowKind:
    match message.kind:
        case "nudge" | "notice" | "memory" | "pin" as kind:
            return kind
        case _:
            pass
    if message.role == "user":
        return "user"
    return "turn" if message.calls else "assistant"
