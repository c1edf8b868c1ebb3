"""Wording: the short texts that we ourselves put into a window, and the reasons that people read.

Kept in one place so that the same thing is always said the same way, and so that a reader of a record can
tell our words from a person's or a model's. What is made of more than one line stands with its maker: the core, a
note, what is left of a text that was cut or squeezed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ethang_nb.context.messages import Message, ToolCall, ToolResult

__all__ = [
    "CORE_HEAD",
    "REASONS",
    "STUB_HEAD",
    "core_line",
    "nudge",
    "percent",
    "pin_text",
    "pinned",
    "preview",
    "printable",
    "spilled",
    "squeezed",
    "stub",
    "title",
    "withdrawn_notice",
    "withdrawn_text",
]

CORE_HEAD = "# Core: kept word for word"
STUB_HEAD = "[left the window: "
"""How the line begins that stands for a result."""

REASONS: dict[str, str] = {
    "system": "system instructions never leave",
    "tools": "the tool catalogue is sent whole with every request",
    "project": "project instructions never leave",
    "core": "the protected core never leaves",
    "task": "the task is the only definition of success",
    "newest-user": "the newest user message stays",
    "newest": "the newest segment stays",
    "open": "its tool calls still wait for results",
    "recent": "among the last {keep} segments",
    "pin": "pinned: it leaves only when its sentence stands in the core",
    "note": "one note, rewritten from the record",
    "note-protected": "handoff notes are protected",
    "note-droppable": "it goes with the next cleanup that evicts, and the next note stands for it too",
    "memory": "recalled memory, kept before older turns",
    "user": "older user message",
    "assistant": "older turn",
    "turn": "older tool turn",
    "output": "old tool output",
    "passing": "taken out at the next landing",
    "collapsed": "already one line",
    "below": "stays: the landing level is reached without it",
    # codes of moves
    "read": "old tool output; it can be read again",
    "run": "old tool output; the tool can run again",
    "lost": "old tool output; only the record still has it",
    "exchange": "oldest exchange; leaves whole",
    "oversized": "large result; head and tail stay",
    "last-resort": "nothing else fits; cut to the last hundred tokens",
    "joint": "what arrived in one step would not fit together",
    "segment": "oldest segment that may leave",
    "reseed": "a new piece of work starts from the core; its pointers say where to read again",
    "withdrawn": "refused as too large and never answered",
    "squeezed": "old tool output; rewritten by rule in fewer tokens",
    "offered": "offered by the model, accepted by rule",
    "nudge": "says how full the window is",
}


def percent(per_mille: int) -> str:
    """People read percent with one decimal."""
    return f"{per_mille // 10}.{per_mille % 10} %"


def nudge(level: int, cleanup: int, *, offers: bool = True) -> str:
    """The nudge names the pressure, the tool that helps, and what happens otherwise (seed 000).

    It names the level that was reached, not the fill: so it is the same text, of the same size, every time. `offers`:
    whether the model has the tool to offer results.
    """
    if not offers:
        return (
            f"[context pressure] The window is more than {percent(level)} full. At {percent(cleanup)} a cleanup takes "
            f"old tool results out by rule, oldest first; say now, in your own words, what of them you still need."
        )
    return (
        f"[context pressure] The window is more than {percent(level)} full. If you no longer need some tool results, "
        f"call release_context with their addresses; each becomes one line that says where to read it again. "
        f"At {percent(cleanup)} a cleanup does this by rule, oldest first."
    )


def withdrawn_text(places: Sequence[tuple[str, int]], *, reader: str) -> str:
    """What the model is told of messages that were refused as too large: (address, tokens) of each."""
    listed = ", ".join(f"{address} ({tokens:,} tokens)" for address, tokens in places)
    one = len(places) == 1
    how = f"; {reader} reads {'it' if one else 'them'} in pieces" if reader else ""
    return (
        f"[context cleanup] {'A message' if one else f'{len(places)} messages'} of the person did not fit and got no "
        f"answer, so {'it was' if one else 'they were'} taken out: {listed}{how}."
    )


def withdrawn_notice(places: Sequence[tuple[str, int]]) -> str:
    """The same for the person who wrote them."""
    listed = ", ".join(f"{address}, {tokens:,} tokens" for address, tokens in places)
    one = len(places) == 1
    return (
        f"{'a task that did' if one else f'{len(places)} tasks that did'} not fit and got no answer left the window; "
        f"the record has {'it' if one else 'them'}: {listed}"
    )


def title(message: Message) -> str:
    """A line that names a message: the calls with their first argument, else the first words."""
    if message.calls:
        return ", ".join(call_title(call) for call in message.calls)
    return preview(message.text) or message.role


def call_title(call: ToolCall) -> str:
    """`read_file data/x.txt`: the tool and its first text argument."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        for value in arguments.values():
            if isinstance(value, str) and value:
                return f"{call.name} {preview(value, 60)}"
    return call.name


def preview(text: str, limit: int = 80) -> str:
    """The beginning of `text` on one line, at most `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def printable(name: str) -> str:
    """A name as a repr may hold it: what would turn or hide the text around it stands as an escape."""
    return repr(name)[1:-1]


def stub(name: str, result: ToolResult, tokens: int, address: str) -> str:
    """The one line that stands for a result that left: what it was, its size, where to read it again."""
    again = {"read": "read again", "run": "run it again, or read it", "lost": "read it"}[result.again]
    return f"{STUB_HEAD}{name}, {tokens:,} tokens; {again}: {address}]"


def spilled(name: str, text: str, head: int, address: str, reader: str) -> str:
    """What enters instead of a long result where a policy counts characters: its size, its beginning, its address."""
    lines = text.count("\n") + 1
    how = f", read it with {reader}" if reader else ""
    return (
        f"[{name}: {len(text):,} characters over {lines:,} lines; the whole text: {address}{how}]\n"
        f"{text[:head].rstrip()}"
    )


def squeezed(text: str, address: str) -> str:
    """A text rewritten by rule, with where the original can be read."""
    return f"{text}\n[rewritten by rule in fewer tokens; the whole text: {address}]"


def core_line(kind: str, text: str) -> str:
    return f"- {kind}: {' '.join(text.split())}"


def pin_text(kind: str, text: str) -> str:
    """A pin by hand, as the owner message it enters with."""
    return f"[pinned {kind}] {text}"


def pinned(text: str) -> tuple[str, str]:
    """Kind and sentence of a message made by `pin_text`."""
    head, _, sentence = text.partition("] ")
    return head.removeprefix("[pinned "), sentence
