"""The referee: what the official SDKs' types allow in a request, and in the answers that our fixtures pretend to be.

`check_chat`, `check_responses` and `check_messages` take a request body (Body, bytes or dict) and raise
AssertionError where the types forbid it, an unknown field included, or where calls and results do not pair.
`check_*_event` and `check_*_answer` do so for one event of a stream, or a whole answer, that a fixture made up.

The types say `Iterable`, which is read lazily, and unions of theirs let any field through; so what is validated is
drained, and the blocks that we send have a table of their own.
"""

import json
import sys
from functools import cache

import pytest

from ethang_nb.providers.protocol import Body

__all__ = [
    "check_chat",
    "check_chat_answer",
    "check_chat_event",
    "check_messages",
    "check_messages_answer",
    "check_messages_event",
    "check_responses",
    "check_responses_answer",
    "check_responses_event",
]

# Fields of the content blocks that we send. The SDK's unions hold response models too, which take any field.
_BLOCKS = {
    "text": {"type", "text", "cache_control"},
    "image": {"type", "source"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input"},
    "tool_result": {"type", "tool_use_id", "content", "is_error"},
}
_MOST_MARKS = 4  # `cache_control` in one request of Anthropic's


def check_chat(body, *, also=()):
    """A streaming Chat Completions request. `also`: fields of assistant messages that are a server's own."""
    data = _data(body)
    assert data["stream"] is True, "not a stream"
    messages = [{key: value for key, value in one.items() if key not in also} for one in data["messages"]]
    _validate(_adapters()["chat"], data | {"messages": messages})
    assert not {"max_tokens", "max_completion_tokens"} <= data.keys(), "two limits of the output"
    due, seen = [], set()
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            assert message["tool_call_id"] in due, f"{at}: answers {message['tool_call_id']!r}, due are {due}"
            due.remove(message["tool_call_id"])
            continue
        assert not due, f"{at}: calls {due} are unanswered"
        due = _new_ids(at, [call["id"] for call in message.get("tool_calls", ())], seen)
        for call in message.get("tool_calls", ()):
            _assert_object(at, call["function"]["arguments"])
    assert not due, f"end: calls {due} are unanswered"
    return data


def check_responses(body):
    """A streaming Responses request."""
    data = _data(body)
    assert data["stream"] is True, "not a stream"
    _validate(_adapters()["responses"], data)
    due, seen = [], set()
    for at, item in enumerate(data["input"]):
        assert item.get("type"), f"{at}: an item without a type, which llama.cpp refuses"
        if item["type"] == "function_call":
            due += _new_ids(at, [item["call_id"]], seen)
            _assert_object(at, item["arguments"])
        elif item["type"] == "function_call_output":
            assert item["call_id"] in due, f"{at}: answers {item['call_id']!r}, due are {due}"
            due.remove(item["call_id"])
        elif item["type"] == "message" and item["role"] != "assistant":  # what the model says may go on
            assert not due, f"{at}: calls {due} are unanswered"
    assert not due, f"end: calls {due} are unanswered"
    return data


def check_messages(body):
    """A streaming Anthropic Messages request."""
    data = _data(body)
    assert data["stream"] is True, "not a stream"
    _validate(_adapters()["messages"], data)
    due, seen = [], set()
    for at, message in enumerate(data["messages"]):
        assert message["role"] == ("user", "assistant")[at % 2], f"{at}: role {message['role']}"
        blocks = message["content"]
        assert isinstance(blocks, list) and blocks, f"{at}: content {blocks!r}"
        for block in blocks:
            more = block.keys() - _BLOCKS[block["type"]]
            assert not more, f"{at}: a block of type {block['type']} has {sorted(more)}"
            assert block["type"] != "text" or block["text"].strip(), f"{at}: a blank text"
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        first = [block["type"] for block in blocks][: len(answers)]
        assert sorted(answers) == sorted(due), f"{at}: answers {answers}, due are {due}"
        assert first == ["tool_result"] * len(answers), f"{at}: results stand behind other blocks"
        due = _new_ids(at, [block["id"] for block in blocks if block["type"] == "tool_use"], seen)
        assert blocks[-1]["type"] not in ("thinking", "redacted_thinking"), f"{at}: ends in thinking"
    assert not due, f"end: calls {due} are unanswered"
    for tool in data.get("tools", ()):
        assert tool["input_schema"]["type"] == "object", f"tool {tool['name']}: its schema is no object"
        assert not tool["input_schema"].keys() & {"anyOf", "oneOf", "allOf"}, tool["name"]
    assert json.dumps(data).count('"cache_control":') <= _MOST_MARKS, "more marks than the API takes"
    return data


def check_chat_event(data, *, also=()):
    _answer("chat event", data, also)


def check_chat_answer(data, *, also=()):
    _answer("chat answer", data, also)


def check_responses_event(data, *, also=()):
    _answer("responses event", data, also)


def check_responses_answer(data, *, also=()):
    _answer("responses answer", data, also)


def check_messages_event(data, *, also=()):
    _answer("messages event", data, also)


def check_messages_answer(data, *, also=()):
    _answer("messages answer", data, also)


def _data(body):
    if isinstance(body, Body):
        body = body.bytes
    return json.loads(body) if isinstance(body, bytes | str) else body


def _new_ids(at, ids, seen):
    for one in ids:
        assert one, f"{at}: a call without an id"
        assert one not in seen, f"{at}: the id {one!r} comes twice"
        seen.add(one)
    return list(ids)


def _assert_object(at, arguments):
    """Servers that fill a template with the arguments fail on what is no JSON object (llama.cpp: 500)."""
    try:
        value = json.loads(arguments, parse_constant=_refuse)
    except ValueError:
        value = None
    assert isinstance(value, dict), f"{at}: arguments {arguments!r}"


def _refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def _validate(adapter, data):
    from pydantic import ValidationError

    try:
        return _drained(adapter.validate_python(data))
    except ValidationError as error:
        first = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]]
        raise AssertionError(f"{error.error_count()} faults by the SDK's types: {'; '.join(first)}") from None


def _answer(kind, data, also):
    found = _validate(_adapters()[kind], data)
    more = [name for name in _extras(found) if name.rpartition(".")[2] not in also]
    assert not more, f"fields that the SDK does not know: {more}"


def _extras(value, where=""):
    """The fields that a response model let through without knowing them."""
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        # What one event may add to another, and what a schema or the arguments hold, are free.
        yield from (f"{where}.{name}" for name in value.model_extra or ())
        for name in type(value).model_fields:
            yield from _extras(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _extras(item, f"{where}.{at}")


def _drained(value):
    if isinstance(value, dict):
        return {key: _drained(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple) or type(value).__name__ == "ValidatorIterator":
        return [_drained(inner) for inner in value]
    return value


@cache
def _adapters():
    reason = "the official SDK's types are the referee; install the group peers"
    pytest.importorskip("openai", reason=reason)
    pytest.importorskip("anthropic", reason=reason)
    import anthropic.types.message_create_params as of_messages
    import openai.types.chat.completion_create_params as of_chat
    import openai.types.responses.response_create_params as of_responses
    from anthropic.types import Message, RawMessageStreamEvent
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import ConfigDict, TypeAdapter
    from typing_extensions import is_typeddict

    for name, module in list(sys.modules.items()):
        if not name.startswith(("openai.types", "anthropic.types")):
            continue
        for found in vars(module).values():
            if is_typeddict(found) and "__pydantic_config__" not in found.__dict__:
                found.__pydantic_config__ = ConfigDict(extra="forbid")
    types = {
        "chat": of_chat.CompletionCreateParamsStreaming,
        "responses": of_responses.ResponseCreateParamsStreaming,
        "messages": of_messages.MessageCreateParamsStreaming,
        "chat event": ChatCompletionChunk,
        "chat answer": ChatCompletion,
        "responses event": ResponseStreamEvent,
        "responses answer": Response,
        "messages event": RawMessageStreamEvent,
        "messages answer": Message,
    }
    return {name: TypeAdapter(one) for name, one in types.items()}
