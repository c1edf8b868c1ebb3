"""What the tests of cassettes record: the three wire formats, and a server in their shapes that says what it is told.

It stands where HTTP would: what it says is heard byte by byte like anything else.
"""

import asyncio
import json

from ethang_nb.providers.cassettes.cassette import opened
from ethang_nb.providers.hearing import STREAM
from ethang_nb.providers.models.quirks import PLAIN
from ethang_nb.providers.protocol import Request
from ethang_nb.providers.remote import Remote
from ethang_nb.providers.wires.anthropic import MessagesWire
from ethang_nb.providers.wires.openai_chat import ChatWire
from ethang_nb.providers.wires.openai_responses import ResponsesWire
from ethang_nb.testing import ManualClock

WIRES = {"chat": ChatWire(PLAIN), "messages": MessagesWire(PLAIN), "responses": ResponsesWire(PLAIN)}
MODEL = "lab/model-1"


def sse(*events, end="\n"):
    rows = [
        f"event: {event['type']}{end}data: {json.dumps(event)}{end}{end}"
        if "type" in event
        else f"data: {json.dumps(event)}{end}{end}"
        for event in events
    ]
    return "".join(rows)


def chat(*texts, calls=(), input=20, cached=4):  # noqa: A002 - as the field is called
    rows = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]} for text in texts]
    for at, (name, *pieces) in enumerate(calls):
        begun = {
            "index": at,
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        rows.append({"choices": [{"index": 0, "delta": {"tool_calls": [begun]}}]})
        for piece in pieces:
            more = {"index": at, "function": {"arguments": piece}}
            rows.append({"choices": [{"index": 0, "delta": {"tool_calls": [more]}}]})
    rows.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]})
    usage = {
        "prompt_tokens": input,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return sse(*rows, {"choices": [], "usage": usage}) + "data: [DONE]\n\n"


def messages(*texts, calls=(), input=20, cached=4):  # noqa: A002
    usage = {"input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": 1}
    begun = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": usage,
    }
    rows = [{"type": "message_start", "message": begun}]
    blocks = (
        [({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in texts])]
        if texts
        else []
    )
    for at, (name, *pieces) in enumerate(calls):
        block = {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]))
    for index, (block, deltas) in enumerate(blocks):
        rows.append({"type": "content_block_start", "index": index, "content_block": block})
        rows += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        rows.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    return sse(
        *rows,
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    )


def responses(*texts, calls=(), input=20, cached=4):  # noqa: A002
    rows, output = [], []
    if texts:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        rows.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        rows += [{"type": "response.output_text.delta", **place, "delta": text} for text in texts]
        part = {"type": "output_text", "text": "".join(texts), "annotations": []}
        output.append({**item, "status": "completed", "content": [part]})
        rows.append({"type": "response.output_item.done", "output_index": 0, "item": output[-1]})
    for at, (name, *pieces) in enumerate(calls):
        index, known = (
            len(output),
            {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{at}", "name": name},
        )
        rows.append(
            {"type": "response.output_item.added", "output_index": index, "item": {**known, "arguments": ""}}
        )
        rows += [
            {
                "type": "response.function_call_arguments.delta",
                "item_id": f"fc_{at}",
                "output_index": index,
                "delta": piece,
            }
            for piece in pieces
        ]
        output.append({**known, "arguments": "".join(pieces), "status": "completed"})
        rows.append({"type": "response.output_item.done", "output_index": index, "item": output[-1]})
    usage = {"input_tokens": input, "output_tokens": 3, "input_tokens_details": {"cached_tokens": cached}}
    whole = {"id": "resp_1", "status": "completed", "output": output, "usage": usage}
    return sse(*rows, {"type": "response.completed", "response": whole})


BODIES = {"chat": chat, "messages": messages, "responses": responses}


class Server:
    """A line whose `answer(body)` gives what is said to a request: a body, or (status, content type, body)."""

    def __init__(self, answer, *, size=7):
        self._answer, self._size = answer, size
        self.asked, self.closed = [], 0

    async def ask(self, call, hearing, *, on_note=None):
        self.asked.append(json.loads(call.body.bytes))
        said = self._answer(self.asked[-1])
        status, kind, text = said if isinstance(said, tuple) else (200, f"{STREAM}; charset=utf-8", said)
        body = text if isinstance(text, bytes) else text.encode()

        async def chunks():
            for at in range(0, len(body), self._size):
                yield body[at : at + self._size]

        heard = hearing()
        await heard.listen(status, {"content-type": kind, "x-request-id": "secret-less"}, chunks())
        return heard

    async def close(self):
        self.closed += 1


def never():
    raise AssertionError("a line was made")


def remote(tape, wire="chat", make=never, model=MODEL):
    """A provider whose line goes through the cassette."""
    return Remote(
        model=model,
        source=model.partition("?")[0],
        name=model.partition("?")[0].partition("/")[2],
        label=model,
        wire=WIRES[wire],
        line=tape.line(make, origin=model),
    )


def ask(provider, *messages, on_text=None, **more):
    """The reply to these messages."""
    request = Request(model=MODEL, messages=messages, max_output=100, **more)
    return asyncio.run(provider.send(provider.encode(request), on_text=on_text))


def cassette(folder, mode, name="demo", at=1_700_000_000.9):
    return opened(name, folder, mode, clock=ManualClock(at))
