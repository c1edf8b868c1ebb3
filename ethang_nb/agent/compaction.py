"""Compaction: asks a model for the handoff note that a plan reserved room for.

Rules decided what left; the model only writes the prose, in at most the tokens reserved. If it fails or says
nothing, the note is written by rule and says so; an error text is never a note.
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.agent.prompt import Prompt
from ethang_nb.context.counting import MESSAGE_OVERHEAD, TokenCounter
from ethang_nb.context.messages import system, user
from ethang_nb.context.notes import NoteTask
from ethang_nb.context.window import Window
from ethang_nb.providers.protocol import Request

__all__ = ["NoteRequest", "note_request"]

TEXTS_HEAD = "=== leaving now, word for word ==="
LEAST_ROOM = 200  # ► tokens below which no departed text is worth adding


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRequest:
    """The request for a note's prose, and its size by our own count."""

    request: Request
    tokens: int


def note_request(
    task: NoteTask, *, prompt: Prompt, model: str, window: Window, counter: TokenCounter
) -> NoteRequest | None:
    """What the summariser is sent: prompt, extract, then departed texts, newest first, as far as they fit.

    None where not even the extract fits; the note is written by rule then.
    """
    # The head line and the reference list are ours; the prose gets the rest.
    prose_tokens = max(50, task.tokens * 6 // 10)
    instructions = f"{prompt.text}\n\nWrite at most {prose_tokens * 7 // 10} words."
    used = 2 * MESSAGE_OVERHEAD + counter.count(instructions) + counter.count(TEXTS_HEAD)
    lines = list(task.lines)
    used += sum(counter.count(line) + 1 for line in lines)
    room = window.hard - used
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
