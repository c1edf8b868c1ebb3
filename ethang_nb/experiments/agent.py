"""The agent of the reading experiment: it reads every document in turn, then is asked. By rule; no model is called.

It is the same for every policy: only what stands in the window differs. It answers what it sees. One that follows
addresses searches the record once where it does not see the answer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message, ToolCall, ToolResult, assistant, user
from ethang_nb.context.messages import tool as result_message
from ethang_nb.context.notedesk import Written
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import Window
from ethang_nb.experiments.bill import Bill
from ethang_nb.experiments.configuration import Configuration, Setting
from ethang_nb.experiments.reading import Reading
from ethang_nb.experiments.sources import PROMPT, SourceCounter, notice, p95, summarise

__all__ = ["Outcome", "read"]

MOST_HITS = 3  # ► lines that a search of the record shows
_ENDLESS = Window.of(1_000_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one reading took, and what was in view in the last request. `seed_total`: the reading calls alone."""

    calls: int
    helper_calls: int
    seed_total: int
    main: int
    helpers: int
    p95: int
    cached: int
    cost: int
    answer: bool
    constraint: bool

    @property
    def all_in(self) -> int:
        return self.main + self.helpers


def read(
    reading: Reading, way: Configuration, setting: Setting, counter: SourceCounter, *, extended: bool = False
) -> Outcome:
    """Runs one configuration in a setting. `extended`: with the person's constraint on the way."""
    return _Agent(reading, way, setting, counter).run(extended=extended)


class _Agent:
    def __init__(
        self, reading: Reading, way: Configuration, setting: Setting, counter: SourceCounter
    ) -> None:
        self.reading, self.way, self.setting, self.counter = reading, way, setting, counter
        self.context = self._context(way.policy)
        self.bill = Bill(counter, limit=setting.window.hard, fixed=setting.fixed)
        self.record: dict[str, str] = {}
        """All that was read, by address."""
        self._calls = 0

    def _context(self, policy: Policy) -> LiveContext:
        setting = self.setting
        policy = policy if setting.spills else replace(policy, entry_chars=None)
        window = _ENDLESS if self.way.endless else setting.window
        context = LiveContext(
            window=window, policy=policy, counter=self.counter, spill=_address, wording=notice
        )
        context.settle(
            window=window,
            policy=policy,
            system=0,
            project=0,
            tools=setting.fixed,
            searchable=self.way.follows,
        )
        return context

    def run(self, *, extended: bool) -> Outcome:
        reading, bill = self.reading, self.bill
        self.context.append(user(reading.task))
        seed_total = 0
        for number in range(len(reading.documents)):
            if extended and number == reading.constrained:
                self._constrain()
            self._begin(f"document {number}")
            if self.way.delegates:
                self._delegate(number)
            else:
                self._open(number)
            seed_total += self._call()
        self._begin("report")
        self.context.append(user(reading.question))
        self._call()
        if self.way.follows and reading.answer not in self._view():
            self._search()
            self._call()
        view = self._view()
        return Outcome(
            calls=bill.calls,
            helper_calls=bill.helper_calls,
            seed_total=seed_total,
            main=bill.sent,
            helpers=bill.helper_read,
            p95=p95(bill.fills),
            cached=bill.cached_share,
            cost=bill.cost,
            answer=reading.answer in view,
            constraint=reading.constraint in view,
        )

    def _view(self) -> str:
        return "\n".join(message.text for message in self.context.assemble())

    def _begin(self, name: str) -> None:
        if self.way.begins:
            self.context.begin(name)

    def _constrain(self) -> None:
        text = self.reading.constraint
        # Where nothing is pinned it is an old segment like any other, which is what a recalled text is here.
        said = user(text) if self.way.pins else user(text, kind="memory", trust="agent")
        self.context.append(said)

    # ---- calls

    def _call(self) -> int:
        """One call of the model. Returns its tokens."""
        if self.way.cleans == "before":
            self.context.request()
            return self.bill.call(self.context.assemble())
        tokens = self.bill.call(self.context.assemble())
        self._clean_up()
        return tokens

    def _clean_up(self) -> None:
        """The source's order: a cleanup after the call, its note written by its own summariser."""
        context = self.context
        stood = _segments(context)
        context.request()
        task = context.pending
        if task is None:
            return
        left = {id(message) for segment in _segments(context) for message in segment}
        leaving = [segment for segment in stood if id(segment[0]) not in left]
        summary = summarise(leaving, self.counter)
        self.bill.help(summary.read, summary.written)
        context.place_note(
            Written(
                task=task,
                message=user(summary.text, source=PROMPT, kind="note", trust="agent"),
                text=summary.text,
                prose=summary.text,
                reference=PROMPT,
                author="the source",
            )
        )

    def _turn(self, context: LiveContext, said: str, tool: str, text: str) -> str:
        """A tool turn. Returns where its result can be read again."""
        self._calls += 1
        call = ToolCall(id=f"call-{self._calls}", name=tool)
        context.append(assistant(said, [call]))
        row = context.append(result_message(ToolResult(call_id=call.id, name=tool, text=text)))
        return context.entries[row].addresses[-1]

    def _open(self, number: int) -> None:
        text = self.reading.documents[number]
        place = self._turn(self.context, f"reading document {number}", f"read_document_{number}", text)
        self.record[place] = text

    def _delegate(self, number: int) -> None:
        """A sub-agent reads the document whole, in a window of its own; one line of it comes back."""
        reading = self.reading
        child = self._context(replace(self.way.policy, entry_chars=None))
        child.append(user(f"{reading.task} Read document {number}."))
        self._turn(child, f"reading document {number}", f"read_document_{number}", reading.documents[number])
        child.request()
        finding = reading.finding(number)
        fixed = self.setting.fixed
        sent = Bill(self.counter, limit=self.setting.window.hard, fixed=fixed).call(child.assemble())
        self.bill.help(sent, self.counter.count(finding), fixed=fixed)
        self._turn(self.context, f"delegating doc {number}", "delegate", finding)

    def _search(self) -> None:
        """One search of all that was read."""
        sought = self.reading.sought
        hits = [
            f"{place} | {line}" for place, text in self.record.items() for line in self.reading.lines(text)
        ]
        head = f"[{min(len(hits), MOST_HITS)} lines of the record match: {sought}]"
        self._turn(self.context, f'find("{sought}")', "find", "\n".join([head, *hits[:MOST_HITS]]))


def _segments(context: LiveContext) -> list[list[Message]]:
    """The notes and segments in the window, oldest first."""
    state = context.state
    notes = [[context.notes.message(note.id, context.counter)] for note in state.notes]
    return notes + [list(context.entries[row.id].forms(row, context.counter)) for row in state.rows]


def _address(_tool: str, text: str) -> str:
    """The source's address of a spilled text: by its content."""
    return f"spill://{hashlib.sha256(text.encode()).hexdigest()[:12]}"
