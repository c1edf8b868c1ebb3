"""The reader: rules, not a language model. A stand-in that needs no key and gives the same reply every time.

It sees the bytes of the request and nothing else, and keeps nothing between two of them. What it understands
stands in `grammar`. A request is answered by the first of these that applies: a note, an offer to release old
results after a nudge, a list of a folder, the next page, the next source, an answer from the texts in view, a
search of the record, an answer from a handoff note (a claim, and called so), an admission that nothing answers.
Of a line that is longer than a page it reads 20 parts on, and says what is unread.

    reader?follow=no       never searches the record or reads anything back
    reader?nudge=ignore    does not react to a nudge
    reader?usage=report    reports tokens, as our own counter counts them
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ethang_nb.context.messages import Message, ToolCall, assistant
from ethang_nb.providers.offline import answers
from ethang_nb.providers.offline.grammar import content_words
from ethang_nb.providers.offline.handoff import note
from ethang_nb.providers.offline.names import Source
from ethang_nb.providers.offline.notes import claims
from ethang_nb.providers.offline.pages import page
from ethang_nb.providers.offline.sources import Gap
from ethang_nb.providers.offline.view import View, view
from ethang_nb.providers.offline.wire import decode, encode, tokens
from ethang_nb.providers.offline.work import Work, work
from ethang_nb.providers.options import options
from ethang_nb.providers.protocol import Body, Reply, Request, Usage
from ethang_nb.tokens.registry import counter

__all__ = ["OPTIONS", "Reader"]

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "follow": ("yes", "no"),
    "nudge": ("obey", "ignore"),
    "usage": ("none", "report"),
}
"""Options and their values, the default first."""

_LABEL = "reader (rules, not a language model)"
_GRAMMAR = (
    "I only understand Read, Find, Tell, Report and Never, as in: Read every file in data/contracts and tell me "
    "which order is affected. Never open contract_17."
)
_AROUND = (12, 12)  # ► lines opened before and after a hit of the record
_AROUND_DEFINITION = (2, 30)
_MOST_OPENED = 3  # ► hits


class Reader:
    """The provider. `name` is a model id with its options, e.g. `reader?follow=no`."""

    def __init__(self, name: str = "reader") -> None:
        options(name, OPTIONS)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def label(self) -> str:
        _, _, chosen = self._name.partition("?")
        return f"{_LABEL}, {chosen.replace('&', ', ')}" if chosen else _LABEL

    def encode(self, request: Request) -> Body:
        """The bytes of `request`; the options travel in the model id."""
        return encode(request, model=self._name)

    async def close(self) -> None:
        """Nothing is open here."""

    async def send(
        self,
        body: Body,
        *,
        on_text: Callable[[str], None] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Reply:
        """The reply to these bytes. Raises ProviderFault where they are no request."""
        del on_note  # nothing is tried again here
        await asyncio.sleep(0)  # a cancelled run stops here
        seen = view(decode(body))
        chosen = options(seen.model, OPTIONS)
        act = _act(seen, chosen)
        call = act.call(body)
        message = assistant(act.text, [call] if call else [])
        if on_text and act.text:
            on_text(act.text)
        usage = _usage(body, message) if chosen["usage"] == "report" else None
        return Reply(message=message, stop="calls" if call else "end", usage=usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act:
    """What the reader does: says a text, or calls the tool `tool`."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None

    def call(self, body: Body) -> ToolCall | None:
        """The call under an id made of the request, so that no two calls of a session share one."""
        if not self.tool:
            return None
        arguments = json.dumps(self.arguments or {}, ensure_ascii=False)
        number = hashlib.sha256(body.bytes).hexdigest()[:12]
        return ToolCall(id=f"call_{number}", name=self.tool, arguments=arguments)


def _act(seen: View, chosen: Mapping[str, str]) -> _Act:
    if seen.wants_note:
        return _Act(text=note(seen))
    if chosen["nudge"] == "obey" and (offer := _release(seen)):
        return offer
    now = work(seen)
    if now.answered:
        return _Act(text=f"Noted: I will not open {', '.join(now.said_since)}.")
    if now.task is None or now.task.empty:
        return _Act(text=_GRAMMAR)
    follows = chosen["follow"] == "yes"
    return _reading(now, follows=follows) or _answering(now, now.task.question, follows=follows)


def _release(seen: View) -> _Act | None:
    """After a nudge: offers every page in view but the newest."""
    if seen.newest is None or seen.newest.kind != "nudge" or "release_context" not in seen.tools:
        return None
    pages = (page(item.text) for item in seen.results("read_file", "read_spill"))
    addresses = list(dict.fromkeys(found.address for found in pages if found))[:-1]
    return _Act(tool="release_context", arguments={"addresses": addresses}) if addresses else None


def _reading(now: Work, *, follows: bool) -> _Act | None:
    """The next list, page or source; None where everything is read, or cannot be."""
    question = now.task.question if now.task else ""
    if _searched(now.since, content_words(question)):
        return None  # the record is asked after the last source, so they are all read
    if (names := now.unlisted) and "list_files" in now.view.tools:
        return _names(names)
    if "read_file" not in now.view.tools:
        return None
    follows = follows and "read_spill" in now.view.tools
    if on := now.read_on(follows=follows):
        if on.ref:
            return _Act(tool="read_spill", arguments={"ref": on.ref})
        return _Act(text=now.left_line, tool="read_file", arguments={"path": on.path, "start": on.start})
    source = now.next(gaps=follows)
    if isinstance(source, Gap):
        return _names(source)
    return _Act(text=now.left_line, tool="read_file", arguments={"path": source}) if source else None


def _names(gap: Gap) -> _Act:
    """The call that brings the names of a gap."""
    if gap.ref:
        return _Act(tool="read_spill", arguments={"ref": gap.ref, "start": gap.start, "end": gap.end})
    start = {"start": gap.start} if gap.start > 1 else {}
    return _Act(tool="list_files", arguments={"folder": gap.folder} | start)


def _answering(now: Work, question: str, *, follows: bool) -> _Act:
    """An answer from what is in view, a look at the record, or the admission that nothing is there."""
    words = content_words(question)
    if not words:
        return _Act(text=_told(now, _summary(now, question)))
    found = _best(now, question, words)
    if found.coverage < 1000 and follows:
        looked = _search(now.since, words) or (None if found.enough else _open(now.since, question, words))
        if looked:
            return looked
    if found.enough:
        return _Act(text=_told(now, "\n".join(answers.quote(passage) for passage in found.passages)))
    claimed = answers.best(claims(now.view, question), words)
    if claimed.enough:
        return _Act(text=_told(now, "\n".join(answers.quote(passage) for passage in claimed.passages)))
    looked_in = "the context or the record" if _searched(now.since, words) else "the context"
    hint = "" if now.read else " No source was read; name one, as in: Read a.txt and tell me what its cap is."
    return _Act(text=_told(now, f"Nothing in {looked_in} answers: {question}.{hint}"))


def _best(now: Work, question: str, words: tuple[str, ...]) -> answers.Best:
    """The best of the task's own sources, unless another text in view covers more."""
    candidates = answers.passages(now.view, question)
    bases = {f"file:{path}" for path in now.read}
    own = answers.best([passage for passage in candidates if passage.base in bases], words)
    if own.coverage == 1000:
        return own
    other = answers.best(candidates, words)
    return other if other.coverage > own.coverage else own


def _search(seen: View, words: tuple[str, ...]) -> _Act | None:
    """One search of the record, where it was not searched for these words yet."""
    if "find_in_record" not in seen.tools or _searched(seen, words):
        return None
    return _Act(tool="find_in_record", arguments={"query": " ".join(words)})


def _searched(seen: View, words: tuple[str, ...]) -> bool:
    return bool(words) and any(call.text("query") == " ".join(words) for call in seen.calls("find_in_record"))


def _open(seen: View, question: str, words: tuple[str, ...]) -> _Act | None:
    """The lines around the next of that search's best hits that are not open yet."""
    query = " ".join(words)
    results = [
        item
        for item in seen.results("find_in_record")
        if item.answers and item.answers.text("query") == query
    ]
    if not results or "read_spill" not in seen.tools:
        return None
    spans: list[tuple[str, int, int]] = []
    for hit in answers.by_coverage(answers.hits(results[-1].text, question), words):
        if not any(base == hit.base and start <= hit.first <= end for base, start, end in spans):
            before, after = _AROUND_DEFINITION if hit.defines else _AROUND
            spans.append((hit.base, max(1, hit.first - before), hit.last + after))
    opened = {(call.text("ref"), call.arguments.get("start")) for call in seen.calls("read_spill")}
    for base, start, end in spans[:_MOST_OPENED]:
        if (base, start) not in opened:
            return _Act(tool="read_spill", arguments={"ref": base, "start": start, "end": end})
    return None


def _summary(now: Work, question: str) -> str:
    if question:
        return f"The question holds no word that I could look for: {question}."
    if now.task is None or not now.task.sources:
        return f"I see no source that I recognise. {_GRAMMAR}"
    if not now.read:
        return "Nothing was read."
    last = f", the last one {now.read[-1]}" if len(now.read) > 1 else f": {now.read[0]}"
    return f"Read {len(now.read)} source{'s' if len(now.read) > 1 else ''}{last}. The task asks no question."


def _told(now: Work, text: str) -> str:
    needed = _needed(now.task.sources) if now.task else ()
    missing = [f"I have no tool {name}." for name in needed if name not in now.view.tools]
    return "\n".join([text, *now.remarks, *missing])


def _needed(sources: tuple[Source, ...]) -> tuple[str, ...]:
    lists = ("list_files",) if any(source.folder for source in sources) else ()
    return (*lists, "read_file") if sources else ()


def _usage(body: Body, message: Message) -> Usage:
    said = "\n".join([message.text, *(call.arguments for call in message.calls)])
    return Usage(input=tokens(body), output=counter("reader").count(said))
