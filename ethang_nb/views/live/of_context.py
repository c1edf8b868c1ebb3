"""The source over an eth.Context: it has no record, so its own messages and what it kept answer for the past."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Literal

from ethang_nb.agent.trace import Place, Trace, check_text, excerpt
from ethang_nb.agent.watchers import Change
from ethang_nb.api import Context, Sending
from ethang_nb.context.address import event_of
from ethang_nb.context.entry import Entry
from ethang_nb.context.messages import Message, ToolCall, to_json
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse, NoSuchAddress
from ethang_nb.views.live.document import About
from ethang_nb.views.live.source import LONGEST, Source

__all__ = ["ContextSource"]


class ContextSource(Source):
    """A context as views see it. Where it was made of messages that stand already, there is no next request."""

    kind: Literal["session", "context"] = "context"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._context = context

    @property
    def state(self) -> str:
        return "live"

    def about(self) -> About:
        return About(**self._context.about())

    def watch(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        return self._context.watch(callback)

    # ---- acts

    def stop(self) -> str:
        raise Misuse(f"{self.name} is a context of an agent that runs elsewhere; stop it there, or press ■")

    def compact(self) -> str:
        self._refuse_standing("a cleanup")
        self._context.compact()
        return "asked for a cleanup; it is taken at the next request()"

    def reseed(self) -> str:
        self._refuse_standing("a start from the core")
        before = self.live.state.total
        self._context.reseed()
        after = self.live.state.total
        return (
            f"started from the core: {before:,} to {after:,} tokens"
            if after != before
            else "nothing could leave"
        )

    def cool(self) -> str:
        self._refuse_standing("cooling")
        self._context.cool()
        return "cooled: the next piece of work, which begin(name) starts, starts from the core"

    def _refuse_standing(self, act: str) -> None:
        if self._context.standing:
            raise Misuse(
                f"{act} needs a next request, and these are messages as they stand; feed them to an eth.Context, "
                "or see what would be with a plan or a what-if"
            )

    # ---- what can be read

    def request(self, step: int) -> tuple[str, Literal["as sent", "as planned"]]:
        sending = self._context.as_sent(step)
        return _as_text(sending), "as planned" if self._context.standing else "as sent"

    def read(self, address: str) -> str:
        with self.lock:
            text = self._context.removed(address)
        left = len(text) - LONGEST
        return text if left <= 0 else f"{text[:LONGEST]}\n[{left:,} characters more]"

    def trace(self, text: str) -> Trace:
        """Its segments, those that left among them, and what stands before them."""
        check_text(text)
        with self.lock:
            places = (*self._before(text), *self._segments(text))
            return Trace(text=text.strip(), session=self.name, places=places, events=len(self.live.entries))

    def _before(self, wanted: str) -> Iterator[Place]:
        live = self.live
        tools = " ".join(f"{tool.name}: {tool.description}" for tool in live.tools)
        fixed = {"system text": live.system, "project text": live.project, "tool catalogue": tools}
        for title, text in fixed.items():
            if found := excerpt(text, wanted):
                yield Place(where="fixed", title=title, in_window=True, excerpt=found)
        for line in live.core.splitlines():
            if found := excerpt(line, wanted):
                yield Place(where="core", title="core", in_window=True, excerpt=found)
        for note in live.state.notes:
            text = live.notes.message(note.id, live.counter).text
            if found := excerpt(text, wanted):
                title = preview(text.partition("\n")[0].strip("[]"))
                yield Place(where="note", title=title, in_window=True, excerpt=found)

    def _segments(self, wanted: str) -> Iterator[Place]:
        entries, state = self.live.entries, self.live.state
        # A row that was sent again elsewhere has the addresses of the row it was before, which has left.
        newest = {entry.addresses[0]: row for row, entry in entries.items() if entry.addresses[0]}
        for row, entry in entries.items():
            if not state.is_live(row) and newest.get(entry.addresses[0], row) != row:
                continue
            for nth, message in enumerate(entry.messages):
                address = entry.addresses[nth]
                found = excerpt(_text(message), wanted) or self._whole(address, wanted)
                if found:
                    yield self._place(row, entry, nth, found, wanted)

    def _whole(self, address: str, wanted: str) -> str:
        """Where it was cut as it entered, the whole of it is kept."""
        with suppress(NoSuchAddress):
            return excerpt(self._context.removed(address), wanted)
        return ""

    def _place(self, row: int, entry: Entry, nth: int, found: str, wanted: str) -> Place:
        state, message = self.live.state, entry.messages[nth]
        stands = state.is_live(row)
        forms: tuple[Message, ...] = tuple(entry.messages)
        form: Any = ""
        if stands and row >= 0:
            counted = state.row(row)
            forms = entry.forms(counted, self.live.counter)
            form = counted.results[nth - 1].form if nth else ""
        title = entry.call_title(message.results[0]) if message.results else entry.title
        return Place(
            where="segment",
            title=title,
            in_window=stands and bool(excerpt(_text(forms[nth]), wanted)),
            excerpt=found,
            segment=str(row),
            logged=entry.addresses[nth] if event_of(entry.addresses[nth]) >= 0 else "",
            address=entry.addresses[nth],
            step=entry.step,
            form=form,
            left=self._context.departed(row, nth - 1),
        )


def _text(message: Message) -> str:
    calls = [f"{part.name} {part.arguments}" for part in message.parts if isinstance(part, ToolCall)]
    return "\n".join([message.text, *calls])


def _as_text(sending: Sending) -> str:
    """A request in the shape in which it was given, as JSON."""
    items = [to_json(item) if isinstance(item, Message) else item for item in sending]
    body: dict[str, Any] = {"system": sending.system} if sending.system else {}
    return json.dumps(body | {"messages": items}, ensure_ascii=False, indent=1)
