"""Cassettes: what a model answered, kept beside the notebook, so that it runs again with no key and no network.

    auto      what is on the tape is answered from it; the rest is asked, and recorded behind it
    record    begins the tape anew, once in a process, with the first exchange
    replay    answers from the tape alone: nothing is asked, no key is read, no server is started

A request is found by what it says, whatever its place. The same request again gets its recorded answers in turn, the
last one as often as it takes. Kept is what a line finally heard, where that was a reply or an overflow; other faults
pass. An answer from the tape is heard byte by byte like one from the network, only at once.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from threading import RLock
from typing import Any, Literal, get_args

from ethang_nb.clock import Clock, SystemClock
from ethang_nb.errors import CassetteMiss, EthangError, Misuse, Overflow, PathRefused, ProviderFault, Unknown
from ethang_nb.providers.cassettes.file import Tape
from ethang_nb.providers.cassettes.lines import Answer, Asked
from ethang_nb.providers.cassettes.miss import difference, miss
from ethang_nb.providers.cassettes.names import beside, machineless, place, portless
from ethang_nb.providers.cassettes.scrub import scrub
from ethang_nb.providers.cassettes.scrub_stream import scrub_stream
from ethang_nb.providers.hearing import STREAM, Hearing
from ethang_nb.providers.line import Call, Line
from ethang_nb.providers.models.facts import ModelFacts, Prices
from ethang_nb.providers.protocol import Reply

__all__ = ["VARIABLE", "Cassette", "Mode", "mode_of", "opened", "refuse_without"]

Mode = Literal["auto", "record", "replay"]
MODES: tuple[Mode, ...] = get_args(Mode)
VARIABLE = "ETHANG_CASSETTE"
_REMOTE = re.compile(r"[^:/?]+/")
_begun: set[Path] = set()
"""The files that this process began anew: a second session of a notebook that records goes on with them."""
_waiting: dict[Path, dict[str, Mapping[str, Any] | None]] = {}
"""Facts of models that are found and on no tape yet: the file is made by the first exchange."""
_lock = RLock()


def mode_of(given: str | None = None, environ: Mapping[str, str] | None = None) -> Mode:
    """The mode: the one given, else that of the environment, else auto. Raises Unknown."""
    found = (os.environ if environ is None else environ).get(VARIABLE, "")
    name, kind = (found.strip(), f"mode in {VARIABLE}") if given is None else (given, "mode of a cassette")
    for mode in MODES:
        if name == mode:
            return mode
    if given is None and not name:
        return "auto"
    raise Unknown(kind, name, MODES)


def refuse_without(model: str) -> None:
    """Raises CassetteMiss in replay: a session without a cassette could only be answered from there."""
    if mode_of() == "replay":
        raise CassetteMiss(
            f"{VARIABLE}=replay asks no model, and this session of {model[:80]} has no cassette; give it one with "
            "--cassette NAME, or Session(cassette=…)"
        )


def opened(
    name: str | Path, folder: str | Path, mode: str | None = None, *, clock: Clock | None = None
) -> Cassette:
    """The cassette of that name in `folder` (NAME.cassette.jsonl), or in the file of that path.

    Makes nothing before the first exchange. Raises Unknown for a mode, PathRefused for a path, Misuse for a file that
    is no cassette, CassetteMiss for one that is not there in replay.
    """
    path, shown = place(name, Path(folder))
    return Cassette(path, shown, mode_of(mode), clock or SystemClock())


class Cassette:
    """The cassette of one session; what else that session asks, for notes and in children, goes through it, too."""

    def __init__(self, path: Path, name: str, mode: Mode, clock: Clock) -> None:
        self.path, self.name, self.mode = path, name, mode
        self._clock = clock
        self._tape = Tape(path, name)
        self._facts = _waiting.setdefault(path, {})
        self._turns: Counter[str] = Counter()
        self._recorded: Counter[str] = Counter()
        self._texts: dict[bytes, str] = {}
        self.missed: CassetteMiss | None = None
        """The last request that had no answer while nothing else may answer; None: there was none."""
        with _lock:
            if mode == "record":
                self._tape.check_ours()
            self._read()
        if mode == "replay" and self._tape.at is None:
            raise CassetteMiss(
                f"cassette {name} is {'empty' if path.exists() else 'not there'}, and in replay nothing else answers; "
                f"{f'{others} else ' if (others := self._others()) else ''}record it first, with {VARIABLE}=record"
            )

    @property
    def needs_network(self) -> bool:
        """Whether a model is sure to be asked. On a tape that is there, all that is needed may stand."""
        return self.mode == "record" or (self.mode == "auto" and self._tape.at is None)

    def line(self, make: Callable[[], Line], *, origin: str) -> Line:
        """A line that is answered from here; `make` is called where it must ask `origin`, which is a model id."""
        return _CassetteLine(self, make, machineless(origin))

    def facts(self, model: str, find: Callable[[str], ModelFacts | None]) -> ModelFacts | None:
        """What is known of a model: as recorded, else what `find` says. Raises CassetteMiss in replay.

        Stand-ins such as `reader`, which no endpoint serves, are known without a tape.
        """
        if not _REMOTE.match(model):
            return find(model)
        key = scrub(machineless(model, options=True))
        with _lock:
            known = {**self._read().facts, **self._facts}
            if key not in known:
                if self.mode == "replay":
                    raise CassetteMiss(
                        f"cassette {self.name} holds nothing of the model {key[:80]!r}, but of "
                        f"{', '.join(sorted(known))[:200] or 'none'}; name that one, or record it anew with "
                        f"{VARIABLE}=record"
                    )
                try:
                    found = find(model)
                except EthangError as error:
                    self._mention(error)
                    raise
                self._facts[key] = None if found is None else _packed(found)
                if self._goes_on() and self._tape.at is not None:
                    self._tape.append(self._tape.at, self._facts)
                    self._facts.clear()
                return found
            return _facts(known[key], self.name)

    def clock(self, real: Clock) -> Clock:
        """The clock of what is recorded: in replay it stands still where the recording began."""
        at = self._tape.at
        return _Still(at, real) if self.mode == "replay" and at is not None else real

    def asked(self, call: Call, origin: str) -> Asked:
        """A call as it stands on the tape."""
        pieces = tuple(self._text(piece) for piece in call.body.pieces)
        return Asked(scrub(origin), scrub(call.path.lstrip("/")), pieces)

    def answer(self, asked: Asked) -> Answer | None:
        """The answer whose turn it is; None: it must be asked. Raises CassetteMiss in replay."""
        with _lock:
            tape, key = self._read(), asked.key
            known = tape.answers.get(key, [])
            turn = self._turns[key]
            if not known and self.mode == "replay":
                found = miss(asked, tape)
                self.missed = CassetteMiss(
                    str(found), diff=found.diff
                )  # one that was raised would hold its frames
                raise found
            # What is being recorded is asked again, so that the tape has all its answers.
            recording = self.mode == "record" or self._recorded[key] > 0
            if not known or (recording and turn >= len(known)):
                return None
            self._turns[key] += 1
            return known[min(turn, len(known) - 1)]

    def refuse_unwritable(self) -> None:
        """Raises PathRefused before anything is paid for that could not be kept."""
        target = self.path if self.path.exists() else self.path.parent
        if not os.access(target, os.W_OK):
            why = "it is read-only" if target.exists() else "its folder is not there"
            raise PathRefused(
                f"cassette {self.name} cannot be written: {why}; mend that, or give another name"
            )

    def explain(self, error: EthangError, asked: Asked) -> None:
        """Adds to what went wrong with a request why it was asked at all: the tape has others, but not this one.

        Not where the session is recording: then nobody expects an answer from the tape.
        """
        with _lock:
            if self._recorded or self.mode == "record":
                return
            if not self._tape.places:
                self._mention(error)
                return
            said, diff = difference(asked, self._tape)
        text = f"{error}; it was asked since cassette {self.name} has no answer to this request: {said}"
        error.args, error.diff = (text,), diff

    def _mention(self, error: EthangError) -> None:
        """Adds to what went wrong that the cassette is not there, where its name may have a slip."""
        if self.mode == "auto" and self._tape.at is None and (others := self._others()):
            error.args = (f"{error}; cassette {self.name} is not there either: {others}",)

    def _others(self) -> str:
        """Which other cassette may be meant, as a question; "": none is spelt nearly so."""
        others = () if self.path.exists() else beside(self.path)
        return f"did you mean {' or '.join(others)}?" if others else ""

    def keep(self, asked: Asked, heard: Hearing, notes: Sequence[str] = ()) -> None:
        """Records what was heard, and the `notes` that were told meanwhile. Raises PathRefused."""
        kind = heard.headers.get("content-type", "")
        text = heard.raw.decode("utf-8", "replace")
        clean = scrub_stream(text) if kind.startswith(STREAM) else scrub(text)
        told = tuple(scrub(line) for line in notes)
        answer = Answer(status=heard.status, type=scrub(kind), text=clean, notes=told)
        at = int(self._clock.now())
        with _lock:
            write = self._tape.append if self._goes_on() else self._tape.begin
            write(at, self._facts, asked, answer)
            if self.mode == "record":
                _begun.add(self.path)
            self._facts.clear()
            self._recorded[asked.key] += 1
            self._turns[asked.key] += 1

    def _goes_on(self) -> bool:
        """Whether what is in the file counts: always, but for one that is to be recorded anew."""
        return self.mode != "record" or self.path in _begun

    def _read(self) -> Tape:
        """The tape, with what others wrote meanwhile."""
        if self._goes_on():
            self._tape.read()
        return self._tape

    def _text(self, piece: bytes) -> str:
        if piece not in self._texts:
            self._texts[piece] = scrub(piece.decode("utf-8", "backslashreplace"))
        return self._texts[piece]

    def __repr__(self) -> str:
        return f"Cassette({self.name}, {self.mode})"


class _CassetteLine:
    """The line. It closes what it made."""

    def __init__(self, cassette: Cassette, make: Callable[[], Line], origin: str) -> None:
        self._cassette, self._make, self._origin = cassette, make, origin
        self._line: Line | None = None

    async def ask(
        self,
        call: Call,
        hearing: Callable[[], Hearing],
        *,
        on_note: Callable[[str], None] | None = None,
    ) -> Hearing:
        """As a line does; raises CassetteMiss in replay, and PathRefused for a cassette that cannot be written.

        Notes are on the tape, too: a session records them, and its addresses count what it has recorded.
        """
        notes: list[str] = []

        def noted(line: str) -> None:
            if line:
                notes.append(line)
            if on_note is not None:
                on_note(line)

        asked = self._cassette.asked(call, self._origin)
        if (answer := self._cassette.answer(asked)) is not None:
            for line in answer.notes:
                noted(line)
            heard = hearing()
            await heard.listen(answer.status, {"content-type": answer.type}, _at_once(answer.text))
            return heard
        self._cassette.refuse_unwritable()
        try:
            if self._line is None:
                self._line = self._make()
            heard = await self._line.ask(call, hearing, on_note=noted)
        except EthangError as error:  # no key, no model file
            self._cassette.explain(error, asked)
            raise
        if isinstance(heard.outcome, ProviderFault):
            self._cassette.explain(heard.outcome, asked)
        if isinstance(heard.outcome, Reply | Overflow):
            try:
                self._cassette.keep(asked, heard, notes)
            except EthangError as error:  # the answer is there and paid for; only the tape lacks it
                _say(heard, f"{error}; this answer is not on it")
        return heard

    async def close(self) -> None:
        if self._line is not None:
            await self._line.close()


@dataclass(frozen=True, slots=True)
class _Still:
    """A clock that stands still; what is measured goes on."""

    at: int
    real: Clock

    def now(self) -> float:
        return float(self.at)

    def monotonic(self) -> float:
        return self.real.monotonic()


async def _at_once(text: str) -> AsyncIterator[bytes]:
    if text:
        yield text.encode("utf-8", "replace")


def _say(heard: Hearing, line: str) -> None:
    if isinstance(heard.outcome, Reply):
        heard.outcome = replace(heard.outcome, notices=(*heard.outcome.notices, line))


def _packed(facts: ModelFacts) -> dict[str, Any]:
    """Facts as JSON data, where they come from without the port of a server that is new every time."""
    row = {field.name: getattr(facts, field.name) for field in fields(facts)}
    for name, value in row.items():
        if isinstance(value, Prices):
            row[name] = asdict(value)
        elif isinstance(value, Mapping):
            row[name] = dict(value)
    return row | {"source": portless(scrub(facts.source))}


def _facts(known: Mapping[str, Any] | None, name: str) -> ModelFacts | None:
    if known is None:
        return None
    wanted = {field.name for field in fields(ModelFacts)}
    try:
        kept = {key: value for key, value in known.items() if key in wanted}
        prices = kept.get("prices")
        return ModelFacts(**(kept | {"prices": None if prices is None else Prices(**prices)}))
    except TypeError:
        raise Misuse(
            f"cassette {name}: the facts of a model are not whole; record it anew with {VARIABLE}=record"
        ) from None
