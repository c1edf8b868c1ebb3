"""A server on the loopback with the three interfaces and the faults that a test asks for. It keeps what it was sent."""

import gzip
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHAT, RESPONSES, MESSAGES = "chat", "responses", "messages"
KINDS = (CHAT, RESPONSES, MESSAGES)
CALL = ("call_1", "read", '{"path": "a.txt"}')
USAGE = (40, 24, 7)
"""Tokens read in all, of them from the cache, and written."""


class Peer:
    """`acts` are taken in turn, one a request, each a dict of: text, call, status, headers, after (seconds), cut
    (events of a stream after which the connection ends), hold (an Event the stream waits for after `cut`), packed."""

    def __init__(self):
        self.acts, self.seen = [], []
        self.asked = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.peer = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def bodies(self):
        return [body for _, _, body in self.seen]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        self.close_connection = True
        body = self.rfile.read(int(self.headers["content-length"]))
        peer = self.server.peer
        peer.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        peer.asked.set()
        act = peer.acts.pop(0) if peer.acts else {}
        with suppress(BrokenPipeError, ConnectionResetError):
            self._answer(act, json.loads(body))

    def _answer(self, act, asked):
        time.sleep(act.get("after", 0))
        kind = next(kind for kind in KINDS if kind in self.path)
        if act.get("status", 200) != 200:
            error = {"type": "invalid_request_error", "message": act.get("text", "no"), "code": None}
            self._whole(act, {"type": "error", "error": error})
        elif asked.get("stream"):
            self._stream(act, _events(kind, act, asked))
        else:
            self._whole(act, _answer(kind, act, asked))

    def _start(self, act, kind, *more):
        self.send_response(act.get("status", 200))
        for name, value in [
            ("content-type", kind),
            *more,
            ("connection", "close"),
            *act.get("headers", {}).items(),
        ]:
            self.send_header(name, str(value))
        self.end_headers()

    def _whole(self, act, data):
        body = json.dumps(data).encode()
        packed = [("content-encoding", "gzip")] if act.get("packed") else []
        body = gzip.compress(body) if packed else body
        self._start(act, "application/json", ("content-length", len(body)), *packed)
        self.wfile.write(body)

    def _stream(self, act, events):
        self._start(act, "text/event-stream", ("transfer-encoding", "chunked"))
        for number, event in enumerate(events):
            if number == act.get("cut"):
                if "hold" in act:
                    act["hold"].wait(10)
                return
            for piece in (event[:9], event[9:]):  # network chunks keep to no event
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


def _answer(kind, act, asked):
    text, called = act.get("text", "Hello there."), act.get("call")
    read, cached, wrote = USAGE
    if kind == CHAT:
        message = {"role": "assistant", "content": None if called else text}
        if called:
            function = {"name": called[1], "arguments": called[2]}
            message["tool_calls"] = [{"id": called[0], "type": "function", "function": function}]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if called else "stop"}
        usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked.get("model")}
        return {**head, "choices": [choice], "usage": usage}
    if kind == RESPONSES:
        return _response("completed", [_item(text, called, "completed")], asked, act)
    block = {"type": "text", "text": text}
    if called:
        block = {"type": "tool_use", "id": called[0], "name": called[1], "input": json.loads(called[2])}
    usage = {"input_tokens": read - cached, "cache_read_input_tokens": cached, "output_tokens": wrote}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model"), "content": [block],
        "stop_reason": "tool_use" if called else "end_turn", "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _item(text, called, status):
    if called:
        return {"type": "function_call", "id": "fc_1", "call_id": called[0], "name": called[1],
                "arguments": called[2], "status": status}  # fmt: skip
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": [part]}


def _response(status, output, asked, act):
    read, cached, wrote = USAGE
    usage = {
        "input_tokens": read, "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": wrote, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": read + wrote,
    }  # fmt: skip
    return {
        "id": act.get("id", "resp_1"), "object": "response", "created_at": 1, "status": status, "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "model": asked.get("model"), "output": output,
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "usage": usage if status == "completed" else None,
    }  # fmt: skip


def _events(kind, act, asked):
    """The answer as the bytes of its events: the text in three pieces, usage at the end."""
    whole, text, called = _answer(kind, act, asked), act.get("text", "Hello there."), act.get("call")
    pieces = [text[:3], text[3:5], text[5:]] if not called else [called[2][:4], called[2][4:]]
    if kind == CHAT:
        return [*_chat_events(whole, pieces, called), b"data: [DONE]\n\n"]
    events = (
        _response_events(asked, act, text, called, pieces)
        if kind == RESPONSES
        else _message_events(whole, pieces)
    )
    return [f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode() for data in events]


def _chat_events(whole, pieces, called):
    def chunk(delta, ends=None):
        choice = {"index": 0, "delta": delta, "finish_reason": ends}
        return {**whole, "object": "chat.completion.chunk", "choices": [choice], "usage": None}

    chunks = [chunk({"role": "assistant", "content": None})]
    if called:
        function = {"name": called[1], "arguments": ""}
        chunks.append(
            chunk({"tool_calls": [{"index": 0, "id": called[0], "type": "function", "function": function}]})
        )
        chunks += [
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces
        ]
    else:
        chunks += [chunk({"content": piece}) for piece in pieces]
    chunks.append(chunk({}, "tool_calls" if called else "stop"))
    chunks.append({**whole, "object": "chat.completion.chunk", "choices": []})
    return [f"data: {json.dumps(data)}\n\n".encode() for data in chunks]


def _response_events(asked, act, text, called, pieces):
    at = {"output_index": 0, "item_id": "fc_1" if called else "msg_1"}
    events = [{"type": "response.created", "response": _response("in_progress", [], asked, act)}]
    started = _item("", (called[0], called[1], "") if called else None, "in_progress")
    if called:
        events.append({"type": "response.output_item.added", "output_index": 0, "item": started})
        kind = "response.function_call_arguments"
        events += [{"type": f"{kind}.delta", **at, "delta": piece} for piece in pieces]
        events.append({"type": f"{kind}.done", **at, "name": called[1], "arguments": called[2]})
    else:
        events.append(
            {"type": "response.output_item.added", "output_index": 0, "item": {**started, "content": []}}
        )
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        events.append({"type": "response.content_part.added", **at, "content_index": 0, "part": part})
        kind, more = "response.output_text", {**at, "content_index": 0, "logprobs": []}
        events += [{"type": f"{kind}.delta", **more, "delta": piece} for piece in pieces]
        events.append({"type": f"{kind}.done", **more, "text": text})
        events.append(
            {"type": "response.content_part.done", **at, "content_index": 0, "part": {**part, "text": text}}
        )
    item = _item(text, called, "completed")
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": _response("completed", [item], asked, act)})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _message_events(whole, pieces):
    [block] = whole["content"]
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    else:
        yield {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    yield from ({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {
        "type": "message_delta",
        "delta": delta,
        "usage": {"output_tokens": whole["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}
