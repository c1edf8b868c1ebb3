"""Archive: one session's record as the context's journal, and the way back to everything that left the window.

Every entry is in the database before the context changes. Texts are indexed under the address the model sees,
so that searching the record and reading an address agree.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ethang_nb.agent.jail import Jail
from ethang_nb.agent.textfile import TextFile
from ethang_nb.clock import Clock
from ethang_nb.context import kinds
from ethang_nb.context.address import Address, logged, parse
from ethang_nb.context.ledger import Result
from ethang_nb.context.messages import PASSING, from_json
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.errors import Misuse, NoSuchAddress, PathRefused
from ethang_nb.store.page import page
from ethang_nb.store.record import Record
from ethang_nb.store.spill import SpillStore, spill_folder
from ethang_nb.store.texts import Hit

__all__ = ["Archive", "Reading"]

ECHOES = ("read_spill", "find_in_record", "release_context")
"""Tools whose answers only repeat the record; indexing them would make every search find itself."""
LEAST_PAGE = 400  # ► characters below which a page is not made smaller
_HEADER = re.compile(r" lines? (\d+)(?:-(\d+))? of \d+(?:, characters (\d+)-\d+ of \d+)?")


class Reading(NamedTuple):
    """A page of a text, and the address of that very page."""

    text: str
    address: str


class Archive:
    """The record of a session and its spilled texts. Satisfies the context's Journal."""

    records = True

    def __init__(
        self,
        root: Path,
        session: str,
        jail: Jail,
        clock: Clock,
        *,
        write: bool = True,
        fresh: bool = False,
        beats: Clock | None = None,
    ) -> None:
        self.record = Record.open(root, session, clock=clock, beats=beats, write=write, fresh=fresh)
        self._open = f"eth.open_session({session!r})"
        self._only_read = not write
        self._last = self.record.last
        self._writing = threading.Lock()
        self._spills = spill_folder(root, session)
        self._jail = jail

    # ---- the journal

    @property
    def next(self) -> int:
        return self._last + 1

    def write(self, kind: str, data: dict[str, Any]) -> int:
        if kind != kinds.MESSAGE:
            return self._append(kind, data)
        message = from_json(data["message"])
        if message.kind in PASSING or message.source in ECHOES:
            return self._append(kind, data)
        address = data.get("address", "")
        place = parse(address)
        scheme = "" if place is None else place.scheme
        spilled = "result" in data and Result(*data["result"]).form == "spilled"
        # The whole of a spilled text was indexed when it was spilled.
        text = None if spilled and scheme == "spill" else message.text
        return self._append(kind, data, text=text, address="" if scheme == "log" else address)

    def spill(self, tool: str, text: str) -> str:
        """Keeps a whole text on disk, then says so in the record, where it is searched."""
        address = SpillStore(self._spills).keep(text)
        data = {"tool": tool, "address": address, "characters": len(text)}
        self._append(kinds.SPILLED, data, text=None if tool in ECHOES else text, address=address)
        return address

    def _append(self, kind: str, data: dict[str, Any], *, text: str | None = None, address: str = "") -> int:
        if self._only_read:
            raise Misuse(f"this session was opened only to be looked at; {self._open} opens it to go on")
        with self._writing:
            self._last = self.record.append(kind, data, text=text, address=address).seq
            return self._last

    def entries(self) -> list[JournalEntry]:
        return [JournalEntry(event.seq, event.kind, event.data) for event in self.record.events()]

    # ---- the way back

    def read(
        self, address: str, start: int = 1, end: int = 0, *, characters: int, fits: Callable[[str], bool]
    ) -> Reading:
        """A page of the text at `address`, at most `characters` long and no longer than `fits` allows.

        Raises NoSuchAddress.
        """
        place = parse(address)
        if place is None:
            raise _no_address(address)
        first, last, character = start, end, 1
        if start == 1 and place.first is not None:
            first, last, character = place.first, end or place.last or 0, place.character or 1
        file: TextFile | None = None
        stale = ""
        if place.scheme == "file":
            with suppress(NoSuchAddress):
                file = self._file(place)
            kept = self._as_read(place, first)
            # An address of one line has no version of its own: that of the page it was read on tells.
            by_page = not place.version and place.first is not None
            sealed = kept[1] if kept is not None and by_page else place
            if file is None or (sealed.version and _changed(file, sealed)):
                if kept is not None:
                    number, known = kept
                    # The kept text has one header line before its first line.
                    shift = 2 - (known.first or 1)
                    first, last = max(1, first + shift), max(0, last + shift) if last else 0
                    return self._read_kept(place, number, (first, last, character), characters, fits)
                file = self._file(place)
                stale = f"[stale: {file.name} has changed since it was read]\n"
        while True:
            text = stale + self._page(place, file, first, last, character, characters)
            if characters <= LEAST_PAGE or fits(text):
                return Reading(text, _address(place, text, file))
            characters = characters * 3 // 4

    def _as_read(self, place: Address, line: int) -> tuple[int, Address] | None:
        """The newest event that holds line `line` of a file as it was read then, and its address there."""
        for event in reversed(self.record.events(kinds=(kinds.MESSAGE,))):
            known = parse(event.data.get("address", ""))
            # What was read again from the record has other header lines; the reading itself is there too.
            echo = event.data["message"].get("source") in ECHOES
            if echo or known is None or known.base != place.base or known.first is None:
                continue
            held = known.first <= line <= (known.last or 0)
            same = known.version == place.version if place.version else held
            if same:
                return event.seq, known
        return None

    def _read_kept(
        self,
        place: Address,
        number: int,
        where: tuple[int, int, int],
        characters: int,
        fits: Callable[[str], bool],
    ) -> Reading:
        """What a file said when it was read, from the record: the file is gone or says something else now."""
        entry = logged(number)
        note = (
            f"[stale: {place.base} is gone or has changed since it was read; this is what it said then, "
            f"kept at {entry}: read on with that ref]"
        )
        while True:
            text = f"{note}\n{self._page(entry, None, *where, characters)}"
            if characters <= LEAST_PAGE or fits(text):
                return Reading(text, _address(entry, text, None))
            characters = characters * 3 // 4

    def request(self, step: int) -> bytes:
        """The bytes of the request of step `step`, exactly as they were sent; of one sent twice the second.

        Raises NoSuchAddress.
        """
        sent = self.record.events(kinds=(kinds.REQUEST,))
        of_step = [event for event in sent if event.data["step"] == step]
        if of_step:
            return self.record.body(of_step[-1].data["pieces"])
        steps = [event.data["step"] for event in sent]
        points = self.record.events(kinds=(kinds.POINT,))
        if any(point.data["step"] == step and not point.data.get("sends", True) for point in points):
            raise NoSuchAddress(
                f"nothing was sent at step {step} of session {self.record.name}: a cleanup was asked for there, "
                "between two runs"
            )
        known = f"it has steps {steps[0]} to {steps[-1]}" if steps else "nothing was sent yet"
        raise NoSuchAddress(f"no request of step {step} in session {self.record.name}; {known}")

    def find(self, query: str, limit: int, hidden: frozenset[int] = frozenset()) -> list[Hit]:
        """Lines of the record that match, best first; those of the events in `hidden` are left out."""
        hits = self.record.find(query, limit + MOST_HIDDEN if hidden else limit)
        return [hit for hit in hits if hit.seq not in hidden][:limit]

    def _page(
        self, place: Address, file: TextFile | None, first: int, last: int, character: int, limit: int
    ) -> str:
        base = place.base
        if file is not None:
            return page(base, [file.text], first, last, character=character, limit=limit)
        if place.scheme == "spill":
            within = replace(place, first=first, last=None, character=character, version="")
            ref, start = (str(within), 1) if character > 1 else (base, first)
            return SpillStore(self._spills, limit=limit).read(ref, start, last)
        if place.scheme == "log":
            return page(base, [self._logged(place.number)], first, last, character=character, limit=limit)
        raise _no_address(base)

    def _logged(self, number: int) -> str:
        try:
            return self.record.text(number)
        except NoSuchAddress:
            # Echoes of the record, our own messages and notes are not searched, so only their event has the text.
            event = self.record.event(number)
            if event.kind not in (kinds.MESSAGE, kinds.NOTE):
                raise
            return from_json(event.data["message"]).text

    def _file(self, place: Address) -> TextFile:
        try:
            real = self._jail.file(place.place)
            return TextFile.read(real, self._jail.name(real))
        except PathRefused as error:
            raise NoSuchAddress(f"{place.base[:80]}: {error}") from None

    def close(self) -> None:
        self.record.close()


MOST_HIDDEN = 20  # ► hits that are looked through behind those wanted, for the ones in view to be left out


def _no_address(text: str) -> NoSuchAddress:
    return NoSuchAddress(
        f"{text[:80]!r} is no address; one looks like spill://0123456789ab, log://12 or file:a.txt#L1-9"
    )


def _changed(file: TextFile, place: Address) -> bool:
    first, last = place.lines or (1, 1)
    return file.hash(first, last) != place.version


def _address(place: Address, text: str, file: TextFile | None) -> str:
    """The address of the page of `place` whose header `text` has: its lines, and of a file's their hash."""
    base = place.base
    at = text.find(base)
    found = _HEADER.match(text, at + len(base)) if at >= 0 else None
    if found is None:
        return base
    first, last = int(found[1]), int(found[2] or found[1])
    return str(
        replace(
            place,
            first=first,
            last=last if found[2] else None,
            character=int(found[3]) if found[3] and found[3] != "1" else None,
            version="" if file is None else file.hash(first, last),
        )
    )
