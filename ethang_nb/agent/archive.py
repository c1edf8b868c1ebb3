"""Archive: one session's record as the context's journal, and the way back to everything that left the window.

Every entry is in the database before the context changes. Texts are indexed under the address the model sees,
so that searching the record and reading an address agree.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ethang_nb.agent.jail import Jail
from ethang_nb.clock import Clock
from ethang_nb.context.messages import clean, from_json
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.errors import NoSuchAddress, PathRefused
from ethang_nb.store.page import Place, page
from ethang_nb.store.record import Record
from ethang_nb.store.spill import SpillStore, spill_folder

__all__ = ["Archive", "Line"]

ECHOES = ("read_spill", "find_in_record", "release_context")
"""Tools whose answers only repeat the record; indexing them would make every search find itself."""


class Line:
    """A line found in the record: where it can be read, what it says, and which event holds it."""

    __slots__ = ("address", "number", "text")

    def __init__(self, address: str, text: str, number: int) -> None:
        self.address, self.text, self.number = address, text, number


class Archive:
    """The record of a session and its spilled texts. Satisfies the context's Journal."""

    def __init__(self, root: Path, session: str, jail: Jail, clock: Clock, page_characters: int) -> None:
        self.record = Record.open(root, session, clock=clock)
        self.spills = SpillStore(spill_folder(root, session), limit=page_characters)
        self._jail = jail
        self._page = page_characters

    # ---- the journal

    @property
    def next(self) -> int:
        return self.record.last + 1

    def write(self, kind: str, data: dict[str, Any]) -> int:
        if kind == "message" and not data.get("own"):
            message = from_json(data["message"])
            if message.source not in ECHOES:
                address = data.get("address", "")
                cut = data.get("result", {}).get("form") == "spilled" and address.startswith("spill://")
                # The whole of a spilled text was indexed when it was spilled.
                text = None if cut else message.text
                place = "" if address.startswith("log://") else address
                return self.record.append(kind, data, text=text, address=place).seq
        return self.record.append(kind, data).seq

    def spill(self, tool: str, text: str) -> str:
        """Keeps a whole text on disk, then says so in the record, where it is searched."""
        address = self.spills.keep(text)
        self.record.append(
            "spilled", {"tool": tool, "address": address, "characters": len(text)}, text=text, address=address
        )
        return address

    def entries(self) -> list[JournalEntry]:
        return [JournalEntry(event.seq, event.kind, event.data) for event in self.record.events()]

    # ---- the way back

    def read(self, address: str, start: int = 1, end: int = 0) -> tuple[str, str]:
        """A page of the text at `address`, and the address it has. Raises NoSuchAddress, PathRefused."""
        place = Place.of(address.strip())
        first, last, character = start, end, 1
        if start == 1 and place.first is not None:
            first, last, character = place.first, end or place.last or 0, place.character or 1
        if place.base.startswith("spill://"):
            shown = self.spills.read(address.strip(), start, end)
        elif place.base.startswith("log://"):
            shown = page(
                place.base, [self._logged(place.base)], first, last, character=character, limit=self._page
            )
        elif place.base.startswith("file:"):
            text, note = self._file(place)
            shown = note + page(place.base, [text], first, last, character=character, limit=self._page)
        else:
            raise NoSuchAddress(
                f"{address[:80]!r} is no address; one looks like spill://…, log://12 or file:a.txt#L1-9"
            )
        return shown, address.strip()

    def find(self, query: str, limit: int, hidden: frozenset[int] = frozenset()) -> list[Line]:
        """Lines of the record that match, best first; those of the events in `hidden` are left out."""
        hits = self.record.find(query, limit + 20 if hidden else limit)
        return [Line(hit.address, hit.text, hit.seq) for hit in hits if hit.seq not in hidden][:limit]

    def _logged(self, base: str) -> str:
        number = base.removeprefix("log://")
        if not number.isdigit():
            raise NoSuchAddress(f"{base[:80]!r} is no address of the record; one looks like log://12")
        return self.record.text(int(number))

    def _file(self, place: Place) -> tuple[str, str]:
        name = place.base.removeprefix("file:")
        try:
            text = clean(self._jail.file(name).read_bytes().decode("utf-8", "replace"))
        except PathRefused as error:
            raise NoSuchAddress(f"{place.base}: {error}") from None
        if place.hash and place.first:
            lines = text.replace("\r\n", "\n").split("\n")
            body = "\n".join(lines[place.first - 1 : place.last or place.first])
            if not hashlib.sha256(body.encode()).hexdigest().startswith(place.hash):
                return text, f"[stale: {name} has changed since it was read]\n"
        return text, ""

    def close(self) -> None:
        self.record.close()
