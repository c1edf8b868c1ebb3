"""The thin public functions, and Context: the fold's public face for an agent that runs elsewhere.

`messages` may be ethang Messages or OpenAI- or Anthropic-style dicts; `window` is a number of tokens, a model
id or a Window. For the same input `plan(...).fill_before == budget(...).fill`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any, cast

from ethang_nb.agent.departures import Departure, Departures
from ethang_nb.agent.watchers import Change, Watchers
from ethang_nb.config import named_policy
from ethang_nb.context import kinds
from ethang_nb.context.address import parse
from ethang_nb.context.arriving import Spill
from ethang_nb.context.budget import Budget
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.decision import Decision
from ethang_nb.context.following import Following, same
from ethang_nb.context.journal import MemoryJournal
from ethang_nb.context.kept import Kept, kept
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.occupancy import budget as live_budget
from ethang_nb.context.outline import segments as live_segments
from ethang_nb.context.pairing import Mending, mend
from ethang_nb.context.plan import Plan, kept_at
from ethang_nb.context.policy import Policy
from ethang_nb.context.rehearsal import foretold
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.retold import TOLD, Retold, retold
from ethang_nb.context.segments import Segments
from ethang_nb.context.settings import Settings
from ethang_nb.context.snapshot import Pin, Snapshot
from ethang_nb.context.tape import Tape
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Window
from ethang_nb.context.wording import preview, printable
from ethang_nb.errors import BadMessage, Misuse, NoSuchAddress, Stuck
from ethang_nb.formats.detect import reading, to_tools
from ethang_nb.formats.sending import Sender, Sending, Shape, shape_of
from ethang_nb.providers.windows import window_of
from ethang_nb.tokens.registry import counter as find_counter
from ethang_nb.tokens.registry import family_ratio

__all__ = ["Context", "Followed", "Sending", "budget", "counter", "plan", "replay", "segments", "window"]

_MOST_SAID = 20  # ► lines in the notices of whoever feeds a context


def counter(model_or_encoding: str | None = None) -> TokenCounter:
    """A counter of tokens: exact where the model's tokenizer is ours (`.how`), else labelled estimated."""
    return find_counter(model_or_encoding)


def window(
    int_or_model: int | str | Window,
    *,
    reserve: int | None = None,
    effective: int | None = None,
    max_input: int | None = None,
) -> Window:
    """A Window from tokens or a model id. Raises BadWindow where the model's window is unknown."""
    return window_of(int_or_model, reserve=reserve, effective=effective, max_input=max_input)


def segments(messages: Any, window: int | str | Window = 200_000, **options: Any) -> Segments:
    """The segments of `messages`, oldest first, each with retention, droppable and the reason; `.repairs`."""
    live, repairs = _standing(messages, window, **options)
    return live_segments(live, repairs)


def plan(messages: Any, window: int | str | Window, **options: Any) -> Plan:
    """What the policy does to these messages now, as the context they stand for, without any history."""
    live, _ = _standing(messages, window, **options)
    return foretold(live)


def replay(
    messages: Any, window: int | str | Window, *, begins: Sequence[int] = (), **options: Any
) -> Timeline:
    """Every step of a transcript under a policy and a window, with no model call.

    A request is made before every assistant message, and one at the end. `begins`: positions of the messages before
    which a piece of work begins, from 0.
    """
    read = reading(messages)
    begins = _begins(begins, 1 + max(read.positions, default=-1))
    mended = mend(read.messages, positions=read.positions, said=read.unread)
    asked = _asked(window, **options)
    # A message may have been left out, or moved up to its call.
    works = [sum(position < begin for position in mended.positions) for begin in begins]

    def tape(settings: Settings) -> Tape:
        journal = MemoryJournal()
        numbers = _numbers(mended.positions)
        return Tape(
            asked.live(settings, journal=journal),
            mended.messages,
            works,
            before=lambda at: journal.go_to(numbers[at]),
        )

    settings = asked.settings
    return Timeline(tape(settings), settings, tape, mended.repairs)


def budget(messages: Any, window: int | str | Window, **options: Any) -> Budget:
    """Where the window goes for these messages."""
    live, _ = _standing(messages, window, **options)
    return live_budget(live)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Followed:
    """A request that somebody else sent: its step, its tokens by our count, and whether `Context.request` gave it."""

    step: int
    tokens: int
    own: bool = False


class Context:
    """A context for an agent that runs elsewhere: messages in, what to send out, everything in view.

        context = eth.Context(8_000, model="gpt-4o", system="You are …", tools=TOOLS)
        context.append({"role": "user", "content": task})
        reply = client.chat.completions.create(messages=context.request(), …)
        context.append(reply.choices[0].message)
        context.append({"role": "tool", "tool_call_id": …, "content": …})

    `request()` answers in the shape of what was appended. Where a first dict could be of either, a Claude model
    or tools with an `input_schema` make it Anthropic's. `spill(tool, text) -> address` may keep large results
    outside; without it they are kept in memory under `log://<i>`, the number of the message (from 0, system
    messages and pins by hand among them, nudges not).
    """

    standing = False
    """Whether it was made `of` messages that stand already: there is no next request of it."""

    def __init__(
        self,
        window: int | str | Window,
        *,
        policy: str | Policy = "ethang",
        system: str | None = None,
        project: str | None = None,
        tools: Sequence[Any] = (),
        model: str | None = None,
        counter: TokenCounter | None = None,
        pins: Iterable[str] = (),
        spill: Spill | None = None,
        name: str = "context",
    ) -> None:
        asked = _asked(
            window, policy=policy, system=system, project=project, tools=tools, model=model, counter=counter,
            pins=pins,
        )  # fmt: skip
        self.name = name
        self.model = model or (window if isinstance(window, str) else "")
        self._journal = _Journal()
        self._elsewhere: set[str] = set()
        """The addresses that the caller's spill gave."""
        self._whole: dict[tuple[int, int], str] = {}
        """What was cut on entry, whole: by number of the message and place of the text in it."""
        keeps = self._kept_by(spill) if spill else self._keep
        self._live = asked.live(journal=self._journal, spill=keeps, refuses=not self.standing)
        self._chronicle = Chronicle(self._live)
        self._departures = Departures(self._live)
        self._changes: Watchers[Change] = Watchers()
        self._requests: list[tuple[Kept, Shape]] = []
        self._sender = Sender()
        self._shape: Shape = "ethang"
        self._plain: Shape = _plain_shape(self.model, tools)
        self._sent: int | None = None  # our own count of the last request
        self._mending = Mending()
        self._following = Following(self._live)
        self._followed: Followed | None = None
        """The last request, where somebody else made it."""
        self._unsound: tuple[str, ...] = ()
        """What was mended of it."""
        self._repairs: list[str] = []  # of what came in
        self._said: dict[object, str] = {}
        """What whoever feeds it has to say, by what it is about."""
        self._last: Sending | None = None
        self._lock = threading.RLock()

    @staticmethod
    def of(messages: Any, window: int | str | Window, *, name: str = "messages", **options: Any) -> Context:
        """A context in which these messages stand as they are: nothing was cut, nothing has left.

        Each answer counts as a request that was made before it, so the timeline shows how it came about; what the
        policy would do of it, show `plan()` and a replay. `options` are those of Context.
        """
        context = _Standing(window, name=name, **options)
        context.stand(messages)
        return context

    def append(self, message: Any) -> None:
        """Takes in one message or a list of them, also as an SDK's own objects.

        In ethang's shape, OpenAI's (messages, or items of the Responses API: give those of one answer together, as in
        `context.append(response.output)`) or Anthropic's.

        All of them or, where one is refused, none. What cannot stand in a legal history (a result that no open
        call asked for, a message with nothing in it) is left out, and said in `segments.repairs`.
        """
        read = reading(message)
        with self._lock:
            for item in read.messages:
                self._live.check(item)
            if len(read.messages) > 1 and any(item.role == "system" for item in read.messages):
                # A system text counts against what follows it, so the list is tried on a copy first.
                twin = self._live.copy()
                for item in mend(read.messages, still_open=True).messages:
                    with suppress(BadMessage):
                        twin.append(item)
            self._shape = shape_of(message, self._shape, plain=self._plain)
            self._followed = None
            mended = self._mending.take(read.messages, positions=read.positions, said=read.unread)
            self._repairs += mended.repairs
            for number, item in zip(mended.positions, mended.messages, strict=True):
                self._journal.go_to(max(number, self._journal.next))
                try:
                    self._live.append(item)
                except BadMessage as error:
                    self._repairs.append(f"left out: {error}")
        self._changes.tell("message")

    def begin(self, name: str = "") -> None:
        """A new piece of work: the next user message is its task. Where the policy says so it starts from the core."""
        with self._lock:
            self._live.begin(name)
        self._changes.tell("begin")

    def reseed(self) -> None:
        """Starts from the core now, between two pieces of work."""
        with self._lock:
            self._live.reseed()
        self._changes.tell("reseed")

    def cool(self) -> None:
        """The next piece of work starts from the core, whatever the fill."""
        with self._lock:
            self._live.cool()
        self._changes.tell("cool")

    def request(self) -> Sending:
        """What to send now, after the policy had its say. Raises Stuck where it cannot fit.

        The result is a list in the shape of the messages appended; `.system` has the system text where that
        shape keeps it apart, `.plan` what was done.
        """
        try:
            return self._request()
        finally:
            self._changes.tell("request")

    def _request(self) -> Sending:
        with self._lock:
            self._live.request()
            plan = self._chronicle.last
            if plan is not None and plan.outcome == "stuck":
                raise Stuck(plan.reason)
            # A call that still waits is answered in what is sent, not in what stands here.
            sending = self._sender.send(self._live.parts(), self._shape, plan)
            self._last, self._followed, self._unsound = sending, None, ()
            self._requests.append((kept(self._live), self._shape))
            self._sent = self._live.state.total
            return sending

    def follow(
        self, messages: Any, *, system: str = "", tools: Sequence[Any] = (), shape: Shape | None = None
    ) -> Followed:
        """Takes in a request that your own loop sends, whole: from here on the window is what this request holds.

        For a loop that plans for itself; `eth.watch` calls it for every request of a client. What stands in the window
        already is known by its content; what is not sent any more leaves with its address, what is new enters uncut,
        however large. The policy evicts nothing: what it would do is said beside the step. A request that shares no
        message with the one before is a new piece of work. System messages among `messages` join `system`. What
        `request()` has just given is known as the context's own, and nothing changes. `shape`: that of the messages,
        where they do not tell.
        """
        read = reading(messages)
        texts = [system, *(item.text for item in read.messages if item.role == "system")]
        whole = "\n\n".join(text for text in texts if text)
        with self._lock:
            if self._is_own(read.messages, whole):
                return Followed(step=self._live.step, tokens=self._sent or 0, own=True)
            mended = mend(read.messages, positions=read.positions, said=read.unread, still_open=True)
            legal = [item for item in mended.messages if item.role != "system"]
            self._following.follow(legal, system=whole, tools=to_tools(tools))
            self._shape = shape or shape_of(messages, self._shape, plain=self._plain)
            self._mending = Mending()  # results that are appended by hand answer the calls of this request
            self._mending.take(legal)
            self._last, self._unsound = None, mended.repairs
            self._requests.append((kept(self._live), self._shape))
            self._sent = self._live.state.total
            self._followed = Followed(step=self._live.step, tokens=self._sent)
            followed = self._followed
        self._changes.tell("request")
        return followed

    def heard(
        self, followed: Followed, reply: Any = None, *, usage: int | None = None, cached: int | None = None
    ) -> None:
        """What came of a request that was followed: the reply, and the input tokens that the provider counted.

        A reply enters the window unless another request was made, or anything appended, meanwhile: it then comes with
        the request that holds it. Of the context's own requests the replies are appended by whoever made them.
        """
        with self._lock:
            if usage is not None:
                self._live.usage(usage, followed.tokens, cached)
            items = reading(reply).messages if reply is not None and followed is self._followed else ()
            for item in self._mending.take(items).messages:
                self._following.hear(item)
            if items:
                self._followed = None
        if usage is not None:
            self._changes.tell("usage")
        if items:
            self._changes.tell("message")

    def _is_own(self, messages: Sequence[Message], system: str) -> bool:
        """Whether these are what the last `request()` gave, and nothing has happened since."""
        if self._last is None or self._live.step != self._requests[-1][0].step:
            return False
        given = reading(list(self._last)).messages
        texts = [self._last.system, *(item.text for item in given if item.role == "system")]
        return (
            len(given) == len(messages)
            and "\n\n".join(text for text in texts if text) == system
            and all(same(one, other) for one, other in zip(given, messages, strict=True))
        )

    def as_sent(self, step: int) -> Sending:
        """What `request()` gave at step `step`, from 1, once more. Raises NoSuchAddress."""
        with self._lock:
            found = next(((one, shape) for one, shape in self._requests if one.step == step), None)
            if found is None:
                steps = [one.step for one, _ in self._requests]
                known = f"there are steps {steps[0]} to {steps[-1]}" if steps else "no request was made yet"
                raise NoSuchAddress(f"no request of step {preview(repr(step), 40)} in {self.name}; {known}")
            one, shape = found
            return Sender().send(one.parts(self._live.counter), shape, None)

    def usage(self, report: int, cached: int | None = None) -> None:
        """The input tokens the provider counted for the last request; calibrates the limits, never the counts."""
        if type(report) is not int or report < 0:
            raise Misuse(f"usage {report!r} is no number of tokens; give the provider's input tokens")
        if self._sent is None:
            raise Misuse("no request was made yet; report the usage of one after request()")
        with self._lock:
            self._live.usage(report, self._sent, cached)
        self._changes.tell("usage")

    def note(self, text: str) -> None:
        """Puts a text of yours in place of the newest handoff note."""
        with self._lock:
            self._live.write_note(text, reference="given", author="the caller")
        self._changes.tell("note")

    def pin(self, text: str, kind: str = "constraint") -> Pin:
        """Keeps a sentence verbatim from the next request on."""
        with self._lock:
            pin = self._live.pin(text, kind)
        self._changes.tell("pin")
        return pin

    def unpin(self, number: int) -> Pin:
        """Lifts a pin."""
        with self._lock:
            pin = self._live.unpin(number)
        self._changes.tell("unpin")
        return pin

    def compact(self) -> None:
        """Asks for a cleanup; it is taken at the next request."""
        with self._lock:
            self._live.ask_cleanup()
        self._changes.tell("compact")

    def watch(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Calls `callback` after every change, in the thread that made it; returns how to stop that.

        One that fails is no longer called; the snapshot's notices say so.
        """
        return self._changes.add(callback)

    def plan(self) -> Plan:
        """What the policy does at the next request. Changes nothing."""
        with self._lock:
            return foretold(self._live)

    def removed(self, address: str) -> str:
        """The text at `log://<i>`: message i as it came, also where it has left the window; or the lines it names."""
        place = parse(address)
        if (str(address).strip() if place is None else place.base) in self._elsewhere:
            raise NoSuchAddress(
                f"{str(address)[:80]!r} is kept by the spill that you gave this context; read it there"
            )
        texts = () if place is None else self._journal.texts(place.number)
        if place is None or not texts:
            known = self._journal.next - 1
            raise NoSuchAddress(f"{str(address)[:80]!r} is no address here; log://0 to log://{known} are")
        text = "\n".join(self._whole.get((place.number, at), part) for at, part in enumerate(texts))
        if place.lines is None:
            return text
        first, last = place.lines
        return "\n".join(text.split("\n")[first - 1 : last])

    def _kept_by(self, spill: Spill) -> Spill:
        """The caller's spill; a text it fails on is kept here, so that a failing store costs nobody a result."""

        def keep(tool: str, text: str) -> str:
            try:
                returned: object = spill(tool, text)
                fault = f"it returned {preview(repr(returned), 80)}, which names no address"
            except Exception as error:  # whatever the caller's store does; it is said
                returned, fault = None, f"{type(error).__name__}: {preview(str(error), 160)}"
            if address := kept_at(tool, returned):
                self._elsewhere.add(address)
                return address
            address = self._keep(tool, text)
            self._repairs.append(f"spill failed, kept at {address}: {fault}")
            return address

        return keep

    def _all_repairs(self) -> tuple[str, ...]:
        """What was mended as it came in, then what the last request could not hold."""
        unsent = () if self._last is None else self._last.repairs
        return (*self._repairs, *(f"in the request, {line}" for line in (*unsent, *self._unsound)))

    def _keep(self, _tool: str, text: str) -> str:
        number = self._journal.next
        self._whole[number, len(self._journal.texts(number))] = text
        return f"log://{number}"

    @property
    def segments(self) -> Segments:
        with self._lock:
            return live_segments(self._live, self._all_repairs())

    @property
    def budget(self) -> Budget:
        with self._lock:
            return live_budget(self._live, self._chronicle.fills)

    @property
    def snapshot(self) -> Snapshot:
        with self._lock:
            return self._chronicle.snapshot(**self.about())

    def about(self) -> dict[str, Any]:
        """What a snapshot says beside the context itself."""
        return {
            "name": self.name,
            "model": self.model,
            "model_label": self.model or "no model named",
            "state": "live",
            "repairs": self._all_repairs(),
            "notices": (*self._said.values(), *self._changes.failures),
        }

    def retold(self) -> Retold:
        """What it went through, to be told once more under other settings."""
        with self._lock:
            return retold(self._live, self._journal.told)

    def departed(self, row: int, index: int) -> tuple[Departure, ...]:
        """How segment `row` and its result `index` (-1: its first message) left the window or was made shorter."""
        with self._lock:
            return self._departures.of(row, index)

    def report(self, failure: str) -> None:
        """Says in the notices that a view failed."""
        self._changes.failures.append(failure)

    def say(self, what: object, line: str) -> None:
        """Puts a line of whoever feeds it into the notices, in place of the last one about `what`; "" takes it out."""
        with self._lock:
            self._said.pop(what, None)
            if line:
                self._said[what] = line
            for old in list(self._said)[:-_MOST_SAID]:
                del self._said[old]

    @property
    def live(self) -> LiveContext:
        """The context that stands behind it. Whoever looks at it holds `lock`."""
        return self._live

    @property
    def chronicle(self) -> Chronicle:
        return self._chronicle

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while the context changes or is looked at."""
        return self._lock

    def _repr_html_(self) -> str:
        return self.snapshot._repr_html_()

    def __str__(self) -> str:
        return str(self.snapshot)

    def __repr__(self) -> str:
        state = self._live.state
        return f"Context({printable(self.name)}: {state.total:,} of {state.usable:,} usable tokens)"


class _Standing(Context):
    """A context of messages that stand already, however large they are."""

    standing = True

    def stand(self, messages: Any) -> None:
        """Takes these in, with the request that was made before each answer."""
        live, read = self._live, reading(messages)
        mended = mend(read.messages, positions=read.positions, said=read.unread)
        self._repairs += mended.repairs
        self._shape = shape_of(messages, self._shape, plain=self._plain)
        for number, message in zip(_numbers(mended.positions), mended.messages, strict=True):
            if message.role == "assistant":
                state = live.state.closed()
                live.tell(live.turn(Decision(outcome="nothing", before=state, after=state)))
                self._requests.append((kept(live), self._shape))
            self._journal.go_to(number)
            live.stand(message)


class _Journal(MemoryJournal):
    """It remembers besides what a person did, and the numbers of results, so that all of it can be told once more."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[JournalEntry] = []

    def write(self, kind: str, data: dict[str, Any]) -> int:
        number = super().write(kind, data)
        if kind in TOLD and (kind != kinds.MESSAGE or "row" in data):
            self.told.append(JournalEntry(number, kind, _of_result(data) if kind == kinds.MESSAGE else data))
        return number


def _of_result(data: dict[str, Any]) -> dict[str, Any]:
    """Which result it is, without its text."""
    return {
        "row": data["row"],
        "message": {"parts": [{"call_id": data["message"]["parts"][0]["call_id"]}]},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the public functions take beside messages, found and checked."""

    settings: Settings
    counter: TokenCounter
    system: str
    project: str
    tools: tuple[ToolSpec, ...]
    pins: tuple[str, ...]

    def live(
        self,
        settings: Settings | None = None,
        *,
        journal: MemoryJournal | None = None,
        spill: Spill | None = None,
        refuses: bool = False,
    ) -> LiveContext:
        """An empty context, the pins in its core."""
        chosen = settings or self.settings
        live = LiveContext(
            window=chosen.base,
            policy=chosen.policy,
            ratio=chosen.ratio,
            counter=self.counter,
            system=self.system,
            project=self.project,
            tools=self.tools,
            journal=journal,
            spill=spill,
            refuses=refuses,
        )
        for text in self.pins:
            live.pin(text)
        live.pinning.enter()
        return live


def _asked(
    window_given: int | str | Window,
    *,
    policy: str | Policy = "ethang",
    system: str | None = None,
    project: str | None = None,
    tools: Sequence[Any] = (),
    model: str | None = None,
    counter: TokenCounter | None = None,
    pins: Iterable[str] = (),
) -> _Asked:
    for what, text in (("system", system), ("project", project), ("model", model)):
        if text is not None and not isinstance(text, str):
            raise Misuse(f"{what}={text!r} is a {type(text).__name__}; give a text")
    if isinstance(pins, str):
        raise Misuse(f"pins={pins[:60]!r} is one text; give a list of sentences")
    if counter is not None and not hasattr(counter, "how"):  # a text has a `count` too
        raise Misuse(
            f"counter={preview(repr(counter), 60)} is a {type(counter).__name__}; counter takes a TokenCounter, "
            "such as eth.counter(name) gives; model= names a model"
        )
    named = model or (window_given if isinstance(window_given, str) else "")
    base = window_of(window_given, model=named)
    return _Asked(
        settings=Settings.of(base, named_policy(policy), 1000 if counter else family_ratio(named or None)),
        counter=counter or find_counter(named or None),
        system=system or "",
        project=project or "",
        tools=tuple(to_tools(tools)),
        pins=tuple(pins),
    )


def _begins(begins: object, messages: int) -> tuple[int, ...]:
    """Positions at which work begins, checked: from 0 up to the number of messages."""
    if not isinstance(begins, Iterable) or isinstance(begins, str | bytes):
        raise Misuse(
            f"begins={preview(repr(begins), 60)} is no list; give positions of messages such as [0, 12]"
        )
    given: tuple[object, ...] = tuple(begins)
    for begin in given:
        if type(begin) is not int or not 0 <= begin <= messages:
            raise Misuse(
                f"begins has {preview(repr(begin), 60)}, which is no position among {messages:,} messages; "
                f"give whole numbers from 0 to {messages:,}"
            )
    return cast("tuple[int, ...]", given)


def _standing(
    messages: Any, window_given: int | str | Window, **options: Any
) -> tuple[LiveContext, tuple[str, ...]]:
    """A context in which these messages stand as they are: nothing is spilled, nothing has happened yet."""
    journal = MemoryJournal()
    live = _asked(window_given, **options).live(journal=journal)
    read = reading(messages)
    mended = mend(read.messages, positions=read.positions, said=read.unread)
    for number, message in zip(_numbers(mended.positions), mended.messages, strict=True):
        journal.go_to(number)
        live.stand(message)
    return live, mended.repairs


def _numbers(positions: Sequence[int]) -> list[int]:
    """The number of each message, as it was given: its position, or the next free one where a message held several."""
    numbers: dict[int, int] = {}
    free = 0
    for at in sorted(range(len(positions)), key=lambda at: (positions[at], at)):
        numbers[at] = free = max(free, positions[at])
        free += 1
    return [numbers[at] for at in range(len(positions))]


def _plain_shape(model: str, tools: Sequence[Any]) -> Shape:
    """What model and tools say of the shape in which a first message of plain text is to be sent."""
    given = [item for item in tools if isinstance(item, Mapping)]
    if "claude" in model or any("input_schema" in item for item in given):
        return "anthropic"
    # Chat Completions has a function tool's name inside "function", Responses beside its type.
    flat = any(item.get("type") == "function" and "function" not in item for item in given)
    return "responses" if flat else "openai"
