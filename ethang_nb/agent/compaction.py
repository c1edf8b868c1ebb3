"""Compaction: asks a model for the handoff note that a plan reserved room for.

Rules decided what left; the model only writes the prose, in at most the tokens reserved. If it fails or says
nothing, the note is written by rule and says so; an error text is never a note.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from ethang_nb.agent.breaking import came_of
from ethang_nb.agent.desk import Desk
from ethang_nb.agent.masking import mask
from ethang_nb.agent.notices import by_rules
from ethang_nb.agent.prompt import Prompt
from ethang_nb.agent.recovery import fault_data, note_room
from ethang_nb.agent.run import Run
from ethang_nb.agent.writers import Writer, writer_of
from ethang_nb.context import kinds
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter
from ethang_nb.context.messages import system, user
from ethang_nb.context.notes import NoteTask, usable_note
from ethang_nb.context.wording import preview
from ethang_nb.errors import CassetteMiss, Overflow
from ethang_nb.providers.protocol import Reply, Request, Stop

__all__ = ["NoteRequest", "note_request", "write_note"]

TEXTS_HEAD = "=== leaving now, word for word ==="
EXTRACT_PER_MILLE = 500  # ► of the room, what the extract may take
OLDER_MAY_GO = ("TURN ", "AGENT: ")
LEFT_OUT_TOKENS = 20  # room for the line that says how many are left out
LEAST_PROSE = 50  # ► tokens that a summariser is given at the least, whatever a policy reserves
NO_NOTE: dict[Stop, str] = {
    "cut": "the stream ended without its end marker",
    "refused": "the model refused to write it",
}
"""Why a reply that ended so is no note."""
LEAST_ROOM = 200  # ► tokens below which no departed text is worth adding


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRequest:
    """The request for a note's prose, and its size by our own count."""

    request: Request
    tokens: int


async def write_note(desk: Desk, task: NoteTask, run: Run | None = None) -> None:
    """Puts the note in place; whatever goes wrong, it is written by rule and the fault is recorded.

    What asking for it took is counted in `run`. Raises CassetteMiss, when the note stands: a replay that goes on with
    another note than was recorded would ask for other things, too.
    """
    text, author = "", ""
    try:
        if not task.rule_only:
            writer = writer_of(desk, task)
            author = writer.provider.label
            text = mask(await _asked_note(desk, task, writer, run))
        if text.strip() and not usable_note(text):
            text = _by_rules(desk, kinds.NOTE_FAILED, f"what came back is no note: {preview(text)}", run)
    except CassetteMiss:
        raise
    except Exception as error:
        text = _by_rules(desk, kinds.NOTE_FAILED, f"{type(error).__name__}: {error}", run)
    finally:
        # Also where the run is stopped meanwhile: the plan already counts on the note.
        with desk.lock:
            desk.live.write_note(text.strip() or None, reference=desk.note_prompt.reference, author=author)


async def _asked_note(desk: Desk, task: NoteTask, writer: Writer, run: Run | None) -> str:
    """The model's text for the note, "" where not even the extract fits its window.

    One that says its window is smaller is sent less text, once; one that puts out less is asked for less.
    """
    asked = _request(desk, task, writer, writer.hard)
    if asked is None:
        return _by_rules(desk, kinds.NOTE_BY_RULE, "the person's own words leave no room to ask a model", run)
    try:
        reply = await _send(desk, asked, writer, run)
    except Overflow as fault:
        desk.log(kinds.OVERFLOW, fault_data(fault, asked.tokens) | {"model": writer.model})
        if fault.limits == "output":
            less = _request(desk, task, writer, writer.hard, most_output=fault.limit)
        else:
            room = note_room(fault, tokens=asked.tokens, prose=asked.request.max_output)
            less = _request(desk, task, writer, room)
        if less is None:
            why = f"not even the extract fits the window of {writer.model}: {fault}"
            return _by_rules(desk, kinds.NOTE_BY_RULE, why, run)
        reply = await _send(desk, less, writer, run)
    if reply.stop in NO_NOTE:
        return _by_rules(desk, kinds.NOTE_FAILED, reply.why or NO_NOTE[reply.stop], run)
    if not reply.message.text.strip():
        return _by_rules(desk, kinds.NOTE_FAILED, "the model wrote nothing", run)
    return reply.message.text


def _request(
    desk: Desk, task: NoteTask, writer: Writer, hard: int, *, most_output: int | None = None
) -> NoteRequest | None:
    return note_request(
        task,
        prompt=desk.note_prompt,
        model=writer.model,
        hard=hard,
        counter=writer.counter,
        most_output=most_output,
    )


async def _send(desk: Desk, asked: NoteRequest, writer: Writer, run: Run | None) -> Reply:
    """Sends, and counts what it took. Raises as a provider does."""
    body = desk.encoded(writer.provider, asked.request)
    desk.log_request(
        kinds.NOTE_REQUEST, body, {"tokens": asked.tokens, "model": writer.model, "why": writer.why}
    )
    desk.say(body.notices, run)
    try:
        reply = await writer.provider.send(body, on_text=None, on_note=partial(desk.noted, run=run))
    except asyncio.CancelledError:
        _spend(None, asked, writer, run)
        raise
    except Exception as error:
        _spend(came_of(error), asked, writer, run)
        raise
    data: dict[str, Any] = {"stop": reply.stop, "usage": reply.usage and asdict(reply.usage)}
    if reply.notices:
        data["notices"] = list(reply.notices)
    desk.log(kinds.NOTE_REPLY, data)
    desk.say(reply.notices, run)
    _spend(reply, asked, writer, run)
    return reply


def _spend(reply: Reply | None, asked: NoteRequest, writer: Writer, run: Run | None) -> None:
    """Counts what the request took, by the reply or what had come of it; None: nothing had."""
    if run is None:
        return
    if reply is None:
        run.miss(note=True)
    else:
        run.spend(reply, asked.tokens, writer.counter, model=writer.model, prices=writer.prices, note=True)


def _by_rules(desk: Desk, kind: kinds.EventKind, why: str, run: Run | None) -> str:
    """Records and says why rules write the note: a model failed at it, or none was asked. Returns no text."""
    why = mask(why)
    desk.log(kind, {"text": why})
    desk.say([by_rules(why)], run)
    return ""


def note_request(
    task: NoteTask,
    *,
    prompt: Prompt,
    model: str,
    hard: int,
    counter: TokenCounter,
    most_output: int | None = None,
) -> NoteRequest | None:
    """What the summariser is sent: prompt, extract, then departed texts, newest first, as far as they fit `hard`.

    On a long run the extract keeps what the person said and the newest turns, and counts the older ones. None
    where not even the person's words fit; the note is written by rule then. `most_output`: what the model puts out at
    most, in tokens, where that is known.
    """
    prose_tokens = max(LEAST_PROSE, task.prose_tokens)
    if most_output is not None:
        prose_tokens = min(prose_tokens, most_output)
    instructions = f"{prompt.text}\n\nWrite at most {prose_tokens * 7 // 10} words."
    used = 2 * MESSAGE_OVERHEAD + counter.count(instructions) + counter.count(TEXTS_HEAD)
    room = hard - used
    lines, taken = _within(task.lines, room * EXTRACT_PER_MILLE // 1000, counter)
    used += taken
    room -= taken
    if room < 0:
        return None
    texts: list[str] = []
    for address, text in task.texts:
        shown = f"[{address}]\n{text}"
        cost = counter.count(shown) + 2
        if room - cost < LEAST_ROOM:
            break
        texts.append(shown)
        room -= cost
        used += cost
    body = "\n".join([*lines, TEXTS_HEAD, *texts]) if texts else "\n".join(lines)
    return NoteRequest(
        request=Request(
            model=model, messages=(system(instructions), user(body, source="ethang")), max_output=prose_tokens
        ),
        tokens=used,
    )


def _within(lines: Sequence[str], limit: int, counter: TokenCounter) -> tuple[list[str], int]:
    """The person's words and the newest other lines within `limit` tokens, in their order, and what they take."""
    costs = [counter.count(line) + 1 for line in lines]
    if sum(costs) <= limit:
        return list(lines), sum(costs)
    kept = {at for at, line in enumerate(lines) if not line.startswith(OLDER_MAY_GO)}
    used = sum(costs[at] for at in kept)
    for at in reversed(range(len(lines))):
        if at in kept:
            continue
        if used + costs[at] > limit - LEFT_OUT_TOKENS:
            break
        kept.add(at)
        used += costs[at]
    shown = [line for at, line in enumerate(lines) if at in kept]
    if len(shown) < len(lines):
        shown.insert(0, f"({len(lines) - len(shown)} older lines are left out; the record has them)")
        used += LEFT_OUT_TOKENS
    return shown, used
