"""Streams of the Responses API: the events of an answer, as OpenAI sends them and as servers differ."""

import asyncio
import json

from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.wires.responses_parser import ResponsesParser

USAGE = {
    "input_tokens": 1_200,
    "input_tokens_details": {"cached_tokens": 1_024, "cache_write_tokens": 100},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 25},
    "total_tokens": 1_240,
}
NOTHING = object()


def response(output=(), *, status="completed", **fields):
    """A whole Response, with all that the SDK's type asks for."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "status": status,
        "output": list(output),
        **fields,
    }


def said(item_id, *texts):
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []} for text in texts]
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}


def refused(item_id, text):
    content = [{"type": "refusal", "refusal": text}]
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}


def thought(item_id, *summaries, sealed="c2VhbGVk"):
    summary = [{"type": "summary_text", "text": text} for text in summaries]
    return {"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": sealed}


def called(item_id, call_id, name, arguments):
    return {
        "type": "function_call",
        "id": item_id,
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def patched(item_id, call_id, name, words):
    return {"type": "custom_tool_call", "id": item_id, "call_id": call_id, "name": name, "input": words}


_WORDS = {
    "message": [
        ("content", "output_text", "text", "output_text"),
        ("content", "refusal", "refusal", "refusal"),
    ],
    "reasoning": [("summary", "summary_text", "text", "reasoning_summary_text")],
}
_WHOLE = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}


def of_item(index, item, cut=lambda text: [text]):
    """The events of one item, its texts in the pieces that `cut` makes of them."""
    place = {"output_index": index, "item_id": item["id"]}
    empty = {
        "message": {"content": []},
        "reasoning": {"summary": [], "encrypted_content": None},
        "function_call": {"arguments": ""},
        "custom_tool_call": {"input": ""},
    }
    begun = {**item, **empty.get(item["type"], {})}
    if "status" in item:
        begun["status"] = "in_progress"
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if item["type"] in _WHOLE:
        field, event = _WHOLE[item["type"]]
        for piece in cut(item[field]):
            yield {"type": f"response.{event}.delta", **place, "delta": piece}
        yield {"type": f"response.{event}.done", **place, field: item[field]}
    for where, kind, field, event in _WORDS.get(item["type"], ()):
        for at, part in enumerate(item[where]):
            if part["type"] != kind:
                continue
            spot = {**place, "summary_index" if where == "summary" else "content_index": at}
            more = {"logprobs": []} if kind == "output_text" else {}
            opened = {**part, field: ""}
            name = "reasoning_summary_part" if where == "summary" else "content_part"
            yield {"type": f"response.{name}.added", **spot, "part": opened}
            for piece in cut(part[field]):
                yield {"type": f"response.{event}.delta", **spot, "delta": piece, **more}
            yield {"type": f"response.{event}.done", **spot, field: part[field], **more}
            yield {"type": f"response.{name}.done", **spot, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def stream(*items, usage=USAGE, cut=lambda text: [text], end="completed", **fields):
    """All events of an answer with these items, one item after the other."""
    events = [{"type": "response.created", "response": response(status="in_progress")}]
    events.append({"type": "response.in_progress", "response": response(status="in_progress")})
    for index, item in enumerate(items):
        events += of_item(index, item, cut)
    if end:
        whole = response(items, status=end, usage=usage, **fields)
        events.append({"type": f"response.{end}", "response": whole})
    return numbered(events)


def numbered(events):
    return [{"sequence_number": at, **event} for at, event in enumerate(events)]


def as_bytes(events):
    return "".join(f"event: {one.get('type')}\ndata: {json.dumps(one)}\n\n" for one in events).encode()


def heard(events, *, on_text=None, kind="text/event-stream"):
    """What came of a stream, as the hearing has it."""
    body = events if isinstance(events, bytes) else as_bytes(events)

    async def chunks():
        yield body

    hearing = Hearing(ResponsesParser(on_text))
    asyncio.run(hearing.listen(200, {"content-type": kind}, chunks()))
    return hearing


def reply(events, **options):
    return heard(events, **options).reply()
