"""The referee itself: it lets legal requests through and catches what the types alone would not."""

import copy

import pytest

from tests.providers import referee

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
CHAT = {
    "model": "m",
    "max_tokens": 9,
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ],
}
MESSAGES = {
    "model": "m",
    "max_tokens": 9,
    "stream": True,
    "cache_control": {"type": "ephemeral"},
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "look", "description": "", "input_schema": SCHEMA}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "look", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
    ],
}
RESPONSES = {
    "model": "m",
    "max_output_tokens": 9,
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "tools": [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}],
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ],
}


def test_legal_requests_pass():
    referee.check_chat(CHAT)
    referee.check_messages(MESSAGES)
    referee.check_responses(RESPONSES)


def spoiled(body, change):
    body = copy.deepcopy(body)
    change(body)
    return body


@pytest.mark.parametrize(
    ("check", "body", "change"),
    [
        (referee.check_chat, CHAT, lambda one: one.update(max_output_tokens=3)),
        (referee.check_chat, CHAT, lambda one: one.update(max_completion_tokens=3)),
        (referee.check_chat, CHAT, lambda one: one.update(stream=False)),
        (referee.check_chat, CHAT, lambda one: one["messages"].pop()),
        (referee.check_chat, CHAT, lambda one: one["messages"].pop(1)),
        (referee.check_chat, CHAT, lambda one: one["messages"].extend(one["messages"][1:])),
        (referee.check_chat, CHAT, lambda one: one["messages"][1].update(reasoning_content="x")),
        (referee.check_chat, CHAT, lambda one: one["messages"][0].update(content=[{"type": "text"}])),
        (
            referee.check_chat,
            CHAT,
            lambda one: one["messages"][1]["tool_calls"][0]["function"].update(arguments="{"),
        ),
        (referee.check_messages, MESSAGES, lambda one: one.pop("max_tokens")),
        (referee.check_messages, MESSAGES, lambda one: one.update(max_completion_tokens=3)),
        (referee.check_messages, MESSAGES, lambda one: one["messages"].pop()),
        (referee.check_messages, MESSAGES, lambda one: one["messages"].pop(0)),
        (referee.check_messages, MESSAGES, lambda one: one["messages"].extend(one["messages"][1:])),
        (referee.check_messages, MESSAGES, lambda one: one["messages"][0]["content"][0].update(foo=1)),
        (referee.check_messages, MESSAGES, lambda one: one["tools"][0]["input_schema"].pop("type")),
        (referee.check_messages, MESSAGES, lambda one: one["messages"][1]["content"].reverse()),
        (referee.check_responses, RESPONSES, lambda one: one.update(max_tokens=3)),
        (referee.check_responses, RESPONSES, lambda one: one["input"].pop()),
        (referee.check_responses, RESPONSES, lambda one: one["input"].pop(1)),
        (referee.check_responses, RESPONSES, lambda one: one["input"][2].pop("call_id")),
        (referee.check_responses, RESPONSES, lambda one: one["input"][1].update(tool_calls=[])),
        (
            referee.check_responses,
            RESPONSES,
            lambda one: one["input"].append({"role": "user", "content": "x"}),
        ),
    ],
)
def test_what_an_api_would_refuse_is_caught(check, body, change):
    with pytest.raises((AssertionError, KeyError)):
        check(spoiled(body, change))


def test_a_fixture_with_a_field_that_no_sdk_knows_is_caught():
    chunk = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}],
    }
    referee.check_chat_event(chunk)
    chunk["choices"][0]["delta"]["reasoning_content"] = "y"
    referee.check_chat_event(chunk, also=("reasoning_content",))
    with pytest.raises(AssertionError, match="reasoning_content"):
        referee.check_chat_event(chunk)
