"""LiveContext: the fold fed live, with the texts beside the integers.

It counts a message once when it enters, writes it to the journal, feeds the fold, and carries out on the
texts what the fold decided. It calls no model and reads no disk; a handoff note is handed out as a task
(`pending`) and handed back as text (`write_note`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, replace
from typing import Protocol

from ethang_nb.context.catalogue import ToolSpec, catalogue_tokens
from ethang_nb.context.core import core_text, core_tokens, head_tokens, line_tokens
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter, message_tokens, result_tokens
from ethang_nb.context.cutting import cut
from ethang_nb.context.digest import digest
from ethang_nb.context.draft import Move
from ethang_nb.context.entry import Entry, Turning
from ethang_nb.context.events import (
    CleanupAsked,
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
    ResultAdded,
    ResultChanged,
    Unpinned,
    UsageReported,
    WindowChanged,
    WorkBegun,
)
from ethang_nb.context.fold import step
from ethang_nb.context.journal import Journal, MemoryJournal
from ethang_nb.context.messages import Message, Text, ToolResult, to_json, user
from ethang_nb.context.notedesk import NoteDesk, Written
from ethang_nb.context.notes import Departed, NoteTask
from ethang_nb.context.pinboard import PinBoard
from ethang_nb.context.pins import find
from ethang_nb.context.planner import Decision, decide, release, told
from ethang_nb.context.policy import Policy
from ethang_nb.context.snapshot import Pin
from ethang_nb.context.state import AGAIN_RANK, Form, ResultRow, RowKind, State
from ethang_nb.context.window import Window
from ethang_nb.context.wording import nudge, pin_text, pinned, stub, title
from ethang_nb.errors import BadMessage, Misuse

__all__ = ["LiveContext", "Observer", "Spill"]

Spill = Callable[[str, str], str]
"""`spill(tool, text) -> address`: keeps a text outside the window."""


class Observer(Protocol):
    """Told of request points, notes and releases as they happen, live and in a replay alike."""

    def requested(self, turning: Turning) -> None: ...

    def noted(self, written: Written) -> None: ...

    def reported(self, reported: int, own: int) -> None: ...

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
    ) -> None:
        self.counter = counter
        self.journal: Journal = journal or MemoryJournal()
        self.state = State(window=window, policy=policy, core_head=head_tokens(counter))
        self.system, self.project, self.tools = system, project, tuple(tools)
        self.entries: dict[int, Entry] = {}
        self.notes = NoteDesk(searchable=searchable)
        self.board = PinBoard()
        self.step = 0
        self.observers: list[Observer] = []
        self.core = ""
        """The core block as it was last rendered."""
        self._spill = spill
        self._refuses = refuses
        self._feed(
            PartsChanged(
                system=self._text_tokens(system) if system else 0,
                project=self._text_tokens(project) if project else 0,
                tools=catalogue_tokens(self.tools, counter),
            )
        )

    # ---- what enters

    def append(self, message: Message) -> int:
        """Takes a message in and returns the number of its segment. A system message joins the system text."""
        if message.role == "system":
            self.add_system(message.text)
            return -1
        if message.role == "tool":
            return [self._add_result(result, message) for result in message.results][-1]
        row = self.enter(message)
        self.pin_cues(row, message)
        return row

    def pin_cues(self, row: int, message: Message) -> None:
        """Pins what the cue rules find in an owner's message and what is not pinned yet."""
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
                self._add_result(result, message, stands=True)
            return
        row = self.append(message)
        if message.kind == "pin":
            kind, text = pinned(message.text)
            self.put_pin(kind, text, "by hand", row)

    def _stand_note(self, message: Message) -> None:
        self.journal.write("message", {"message": to_json(message)})
        self.notes.stand(self.state.next_note, message)
        self._feed(NoteStood(tokens=message_tokens(message, self.counter), hash=message.hash))

    def copy(self) -> LiveContext:
        """A context that stands as this one does and goes its own way from here; nothing of it is recorded."""
        twin = LiveContext(
            window=self.state.window,
            policy=self.state.policy,
            counter=self.counter,
            journal=MemoryJournal(self.journal.next),  # what enters there has the address it would have here
            refuses=self._refuses,
        )
        twin.state, twin.step, twin.core = self.state, self.step, self.core
        twin.system, twin.project, twin.tools = self.system, self.project, self.tools
        twin.entries = {row: entry.copy() for row, entry in self.entries.items()}
        twin.notes, twin.board = self.notes.copy(), self.board.copy()
        return twin

    def begin(self, name: str = "") -> None:
        """A new piece of work: the next user message is its task."""
        self.journal.write("work", {"name": name})
        self._feed(WorkBegun())

    def add_system(self, text: str) -> None:
        self.journal.write("system", {"text": text})
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
        if window != self.state.window:
            self._feed(WindowChanged(window=window))
        if policy != self.state.policy:
            self._feed(PolicyChanged(policy=policy))

    def usage(self, reported: int, own: int) -> None:
        """What the provider counted for a request, and our count of that very request."""
        self.journal.write("usage", {"reported": reported, "own": own})
        self._feed(UsageReported(reported=reported, own=own))
        for observer in self.observers:
            observer.reported(reported, own)

    def enter(self, message: Message, *, tokens: int | None = None, own: bool = False) -> int:
        """Opens a segment with a message. `tokens`: as counted before; `own`: a text of ours."""
        kind = _row_kind(message)
        if tokens is None:
            tokens = message_tokens(message, self.counter)
            if kind == "user" and self._refuses:
                self._refuse_too_large(tokens)
        address = self.journal.write("message", {"message": to_json(message), "tokens": tokens, "own": own})
        row = self.state.next_row
        self.entries[row] = Entry(row, title(message), [message], [message], [f"log://{address}"], self.step)
        self._feed(MessageAdded(kind=kind, tokens=tokens, calls=len(message.calls), hash=message.hash))
        return row

    def _add_result(self, result: ToolResult, message: Message, *, stands: bool = False) -> int:
        row = self._turn_of(result.call_id)
        kept, form, address = self._intake(result, stands=stands)
        line = stub(self.entries[row].call_title(kept), kept, result_tokens(kept, self.counter), address)
        counted = ResultRow(
            tokens=result_tokens(kept, self.counter),
            stub=MESSAGE_OVERHEAD + self.counter.count(line),
            again=AGAIN_RANK[kept.again],
            form=form,
        )
        added = ResultAdded(result=counted, row=row, hash=replace(message, parts=(kept,)).hash, judged=stands)
        _, decision = step(self.state, added)
        self.join(row, replace(message, parts=(kept,)), counted, address, decision.moves if decision else ())
        return row

    def join(
        self, row: int, message: Message, counted: ResultRow, address: str, judged: Sequence[Move]
    ) -> None:
        """A result joins its turn. `judged`: what intake decided of the turn's results as this one came."""
        self.journal.write(
            "message",
            {
                "message": to_json(message),
                "row": row,
                "result": asdict(counted),
                "address": address,
                "judged": [list(astuple(move)) for move in judged],
            },
        )
        entry = self.entries[row]
        entry.messages.append(message)
        entry.originals.append(message)
        entry.addresses.append(address)
        self._feed(ResultAdded(result=counted, row=row, hash=message.hash, judged=True))
        for move in judged:
            self._feed(ResultChanged(row=row, index=move.index, tokens=move.after, form="stub"))
        self._carry_out_results(judged)

    def _intake(self, result: ToolResult, *, stands: bool) -> tuple[ToolResult, Form, str]:
        """The result as it enters: cut to the entry limit, its whole text kept at an address first."""
        address = self._address(result)
        limit = self.state.entry_tokens - MESSAGE_OVERHEAD
        if stands or "intake" not in self.state.policy.stages or not self.counter.over(result.text, limit):
            return result, "full", address
        if not result.address and self._spill is not None:
            address = self._spill(result.name or "tool", result.text)
        text = cut(result.text, limit, self.counter, address)
        again = result.again if result.address else "read"
        return replace(result, text=text, address=address, again=again), "spilled", address

    def _address(self, result: ToolResult) -> str:
        return result.address or f"log://{self.journal.next}"

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
        for row in reversed(self.state.rows):
            if row.kind == "turn" and row.open:
                entry = self.entries[row.id]
                answered = {part.call_id for item in entry.messages for part in item.results}
                if call_id in {call.id for call in entry.messages[0].calls} - answered:
                    return row.id
        raise BadMessage(f"a tool result names call {call_id!r}, which no open call has; add the call first")

    # ---- requests

    def request(self) -> Turning:
        """A request point: plans, carries the plan out on the texts, and says what was decided from which state.

        Where the plan writes a note, `pending` holds the task until `write_note`, or until the next assembly
        writes it by rule.
        """
        self.enter_pins()
        before = self.state
        turning = self.turn(decide(before))
        if turning.decision.outcome == "nudge":
            text = nudge(before.fill, before.levels.cleanup)
            self.enter(user(text, source="ethang", kind="nudge"), own=True)
        self.tell(turning)
        return turning

    def turn(self, decision: Decision) -> Turning:
        """Carries out what was decided of the state as it is; nothing of ours enters, and nobody is told yet."""
        before = self.state
        data = {"step": self.step + 1, **told(decision)}
        if decision.outcome != "nothing":
            data["digest"] = digest(before, decision, self.entries)
        moved = {move.row for move in decision.moves}
        entries = {row: entry.copy() if row in moved else entry for row, entry in self.entries.items()}
        self.journal.write("point", data)
        self.state, _ = step(before, RequestPoint(decided=decision))
        self.step += 1
        if decision.lands:
            self._carry_out(decision)
        return Turning(step=self.step, before=before, decision=decision, entries=entries)

    def tell(self, turning: Turning) -> None:
        for observer in self.observers:
            observer.requested(turning)

    def assemble(self) -> tuple[Message, ...]:
        """The messages of a request, most stable first: system, project and core | task, notes | the rest."""
        if self.pending is not None:
            self.write_note(None)
        text = "\n\n".join(part for part in (self.system, self.project, self.core) if part)
        head: list[Message] = (
            [Message(role="system", parts=(Text(text=text),), source="system")] if text else []
        )
        rows = list(self.state.rows)
        if rows and rows[0].task:
            head += self.entries[rows.pop(0).id].messages
        head += [self.notes.messages[note.id] for note in self.state.notes]
        for row in rows:
            head += self.entries[row.id].in_call_order
        return tuple(head)

    def ask_cleanup(self) -> None:
        """Asks for a cleanup; it is taken at the next request point."""
        self.journal.write("asked", {})
        self._feed(CleanupAsked())

    def release(self, offered: Sequence[tuple[int, int]]) -> Decision:
        """Collapses the offered results that rules let go."""
        return self.let_go(release(self.state, offered))

    def let_go(self, decision: Decision) -> Decision:
        """Carries out what was decided of an offer."""
        self.journal.write("release", told(decision))
        self._feed(ReleaseOffered(results=(), decided=decision))
        self._carry_out_results(decision.moves)
        for observer in self.observers:
            observer.released(decision)
        return decision

    def _carry_out(self, decision: Decision) -> None:
        leaving = [move for move in decision.moves if move.index < 0]
        self._carry_out_results([move for move in decision.moves if move.index >= 0])
        departed: list[Departed] = []
        for move in leaving:
            entry = self.entries.pop(move.row)
            if move.act == "evict":
                departed.append(
                    entry.departed(sum(message_tokens(item, self.counter) for item in entry.originals))
                )
        self._render_core(decision)
        if decision.writes_note:
            pins = [(pin.kind, pin.text) for pin in self.board.holding]
            self.notes.hand_out(decision, departed, self.task_text, pins)

    def _carry_out_results(self, moves: Sequence[Move]) -> None:
        """Collapses and shrinks on the texts. A shrunk text may be shorter than the plan bounds it by."""
        for move in moves:
            entry = self.entries[move.row]
            at = move.index + 1
            result = entry.messages[at].results[0]
            address = entry.addresses[at]
            if move.act == "collapse":
                whole = result_tokens(entry.originals[at].results[0], self.counter)
                text = stub(entry.call_title(result), result, whole, address)
                new = replace(result, text=text, images=(), address=address)
            else:
                text = cut(result.text, move.after - MESSAGE_OVERHEAD, self.counter, address)
                new = replace(result, text=text, address=address)
                tokens = result_tokens(new, self.counter)
                if any(row.id == move.row for row in self.state.rows):
                    self._feed(ResultChanged(row=move.row, index=move.index, tokens=tokens, form="shrunk"))
            entry.messages[at] = replace(entry.messages[at], parts=(new,))

    # ---- notes and pins

    @property
    def pending(self) -> NoteTask | None:
        """The task of a note that is due; it is written by rule if nobody does before the next assembly."""
        return self.notes.pending

    def write_note(self, text: str | None, *, reference: str = "", author: str = "") -> Message:
        """Puts the note in place, or another text in place of the newest one. None or blank: by rule."""
        written = self.notes.settle(text, reference, author, self.counter)
        return self.place_note(written)

    def place_note(self, written: Written) -> Message:
        """Puts a note in place as it was written."""
        self.journal.write(
            "note",
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
        self._feed(NoteWritten(tokens=message_tokens(message, self.counter), hash=message.hash))
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
        for row in self.state.rows:
            if row.kind in ("user", "pin") and text in self.entries[row.id].messages[0].text:
                return self.put_pin(kind, text, rule, row.id)
        return self.put_pin(kind, text, rule, -1)

    def _refuse_large_pin(self, pin: Pin) -> None:
        """Pins are never cut, so one that leaves no room beside what must stay is refused."""
        state = self.state
        line = line_tokens(pin.kind, pin.text, self.counter)
        held = sum(item.line for item in state.pins if not item.core)
        held += sum(line_tokens(item.kind, item.text, self.counter) for item in self.board.entering)
        tasks = sum(row.tokens for row in state.rows if row.task)
        rest = state.fixed + state.core + held + tasks + state.note_tokens
        if rest + line >= state.usable:
            raise Misuse(
                f"this pin takes {line:,} tokens; with {rest:,} for what stays it leaves nothing of the "
                f"{state.usable:,} usable. Pin a shorter sentence, or unpin another"
            )

    def unpin(self, number: int, reason: str = "lifted by hand") -> Pin:
        """Lifts a pin: its message may leave at once, the core loses the line at its next rendering."""
        self.board.find(number)
        self.journal.write("unpin", {"id": number, "reason": reason})
        self._feed(Unpinned(id=number))
        return self.board.lift(number, reason)

    def put_pin(self, kind: str, text: str, rule: str, row: int) -> Pin:
        """A new pin, held by the message of row `row`; -1: it still has to enter."""
        pin = self.board.new(kind, text, rule, row)
        self.journal.write("pin", {"kind": pin.kind, "text": pin.text, "rule": rule, "row": row})
        self.board.add(pin)
        if row >= 0:
            self.hold_pin(pin, row)
        return self.board.pins[pin.id - 1]

    def hold_pin(self, pin: Pin, row: int) -> None:
        """The message of row `row` holds the pin from now on."""
        self.board.bind(pin, row)
        self._feed(Pinned(id=pin.id, row=row, line=line_tokens(pin.kind, pin.text, self.counter)))

    def enter_pins(self) -> None:
        """Pins by hand whose text stands nowhere yet enter as owner messages."""
        for pin in self.board.entering:
            row = self.enter(user(pin_text(pin.kind, pin.text), kind="pin"), own=True)
            self.hold_pin(pin, row)

    def _render_core(self, decision: Decision) -> None:
        self.board.move_to_core({pin.id for pin in decision.pins if pin.core})
        self.core = core_text(self.pins)
        self._feed(CoreRendered(tokens=core_tokens(self.pins, self.counter)))

    # ---- small things

    @property
    def task_text(self) -> str:
        """The task of the current piece of work."""
        tasks = [row.id for row in self.state.rows if row.task]
        return self.entries[tasks[-1]].messages[0].text if tasks else ""

    def _feed(self, event: Event) -> Decision | None:
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
