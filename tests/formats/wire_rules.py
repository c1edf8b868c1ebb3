"""What the two APIs refuse, written down apart from the code under test: their own 400 texts as rules."""

import json
import re

_OPENAI_ROLES = {"system", "developer", "user", "assistant", "tool"}


def openai_faults(wire):
    """What Chat Completions would refuse about these messages."""
    faults, due, seen = [], [], set()
    for at, message in enumerate(wire):
        role, content = message["role"], message.get("content")
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
        if role not in _OPENAI_ROLES:
            faults.append(f"{at}: role {role}")
        if role == "tool":
            if not due or message["tool_call_id"] != due.pop(0):
                faults.append(f"{at}: tool message answers nothing, or out of order")
            if not isinstance(content, str):
                faults.append(f"{at}: tool content {content!r}")
            continue
        if due:
            faults.append(f"{at}: calls {due} unanswered")
        calls = message.get("tool_calls", [])
        due = [call["id"] for call in calls]
        faults += (
            f"{at}: id {call_id!r}" for call_id in due if call_id in seen or not 0 < len(call_id) <= 40
        )
        seen.update(due)
        if "tool_calls" in message and not (calls and role == "assistant"):
            faults.append(f"{at}: tool_calls {calls}")
        if content is None and not calls:
            faults.append(f"{at}: content null without calls")
        faults += (f"{at}: part {part}" for part in _parts(content) if not _openai_part_ok(part, role))
    return [*faults, *(f"end: {call_id} unanswered" for call_id in due)]


def anthropic_faults(system, messages):
    """What the Messages API would refuse about these messages."""
    faults, due, seen = [], [], set()
    json.dumps([system, messages], ensure_ascii=False, allow_nan=False).encode()
    faults += (f"system: {block}" for block in system if block["type"] != "text" or not block["text"].strip())
    for at, message in enumerate(messages):
        role, blocks = message["role"], message["content"]
        if role != ("user", "assistant")[at % 2]:
            faults.append(f"{at}: role {role} does not alternate")
        if not blocks:
            faults.append(f"{at}: empty")
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if results != due or kinds[: len(results)] != ["tool_result"] * len(results):
            faults.append(f"{at}: results {results}, wanted first of all {due}")
        due = [block["id"] for block in blocks if block["type"] == "tool_use"]
        faults += (
            f"{at}: id {one!r}" for one in due if one in seen or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one)
        )
        seen.update(due)
        if kinds and kinds[-1] in ("thinking", "redacted_thinking"):
            faults.append(f"{at}: ends in thinking")
        faults += (f"{at}: block {block}" for block in blocks if not _anthropic_block_ok(block, role))
    return [*faults, *(f"end: {call_id} unanswered" for call_id in due)]


def _parts(content):
    if content is None:
        return []
    return (
        [{"type": "text", "text": content}] if isinstance(content, str) else content or [{"type": "no part"}]
    )


def _openai_part_ok(part, role):
    match part["type"]:
        case "text":
            return bool(part["text"])
        case "refusal":
            return role == "assistant" and bool(part["refusal"])
        case "image_url":
            return role == "user" and bool(part["image_url"]["url"])
    return False


def _anthropic_block_ok(block, role):
    match block["type"]:
        case "text":
            return bool(block["text"].strip())
        case "image":
            return role == "user"
        case "thinking":
            return role == "assistant" and bool(block["signature"])
        case "redacted_thinking":
            return role == "assistant" and bool(block["data"])
        case "tool_use":
            return role == "assistant" and isinstance(block["input"], dict)
        case "tool_result":
            content = block.get("content", "")
            if block.get("is_error") and not content:
                return False
            return role == "user" and all(
                _anthropic_block_ok(part, "user") for part in content if isinstance(part, dict)
            )
    return False


def responses_faults(items):
    """What the Responses API would refuse about these items, asked with `store=false`."""
    faults, due, seen, names = [], [], set(), set()
    json.dumps(items, ensure_ascii=False, allow_nan=False).encode()
    for at, item in enumerate(items):
        name = item.get("id")
        if name in names:
            faults.append(f"{at}: duplicate item {name}")
        names |= {name} - {None}
        match item["type"]:
            case "function_call":
                call_id = item["call_id"]
                if call_id in seen or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call_id):
                    faults.append(f"{at}: id {call_id!r}")
                seen.add(call_id)
                due.append(call_id)
            case "function_call_output":
                if not due or item["call_id"] != due.pop(0):
                    faults.append(f"{at}: answers nothing, or out of order")
                faults += (f"{at}: {part}" for part in _listed(item["output"]) if not _input_ok(part))
            case "message":
                if item["role"] != "assistant" and due:
                    faults.append(f"{at}: calls {due} unanswered")
                faults += (f"{at}: {part}" for part in item["content"] if not _content_ok(part, item["role"]))
                if not item["content"] or ("id" in item) != (item["role"] == "assistant"):
                    faults.append(f"{at}: {item}")
            case "reasoning":
                follows = items[at + 1]["type"] if at + 1 < len(items) else None
                own = (
                    follows in ("function_call", "reasoning")
                    or items[at + 1 : at + 2][0].get("role") == "assistant"
                )
                if not item["encrypted_content"] or not own:
                    faults.append(f"{at}: {item} followed by {follows}")
            case other:
                faults.append(f"{at}: type {other}")
    return [*faults, *(f"end: {call_id} unanswered" for call_id in due)]


def _listed(output):
    return output if isinstance(output, list) else []


def _content_ok(part, role):
    if role == "assistant":
        return part["type"] in ("output_text", "refusal") and bool(part.get("text") or part.get("refusal"))
    return _input_ok(part)


def _input_ok(part):
    match part["type"]:
        case "input_text":
            return bool(part["text"])
        case "input_image":
            return bool(part["image_url"])
    return False
