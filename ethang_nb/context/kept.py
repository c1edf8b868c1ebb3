"""Kept: a request as it was made, so small that all of them can be kept, and made again when somebody looks.

It holds the state of that moment and the few texts that change; everything else is shared with the context.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ethang_nb.context.assembly import Assembly, Standing
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.entry import Entry
from ethang_nb.context.live import LiveContext
from ethang_nb.context.messages import Message
from ethang_nb.context.state import State

__all__ = ["Kept", "kept"]


class Kept(NamedTuple):
    """Request `step` of a context. `texts` are system, project and core."""

    step: int
    state: State
    entries: Mapping[int, Entry]
    texts: tuple[str, str, str]
    notes: tuple[Message, ...]

    def parts(self, counter: TokenCounter) -> list[Standing]:
        """The messages that it sent, segment by segment."""
        system = "\n\n".join(text for text in self.texts if text)
        return Assembly().parts(self.state, self.entries, counter, system=system, notes=self.notes)


def kept(live: LiveContext) -> Kept:
    """The request that was just made of `live`."""
    notes = tuple(live.notes.message(note.id, live.counter) for note in live.state.notes)
    return Kept(live.step, live.state, live.known(), (live.system, live.project, live.core), notes)
