"""A server on loopback that speaks Chat Completions as it is told to, and keeps what it was asked."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def texts(*pieces, usage=None, done=True, wait=None):
    """A stream of these pieces of text. `done=False`: it ends without its marker; `wait`: an Event between them."""

    def answer(handler, _):
        handler.begin("text/event-stream")
        for at, piece in enumerate(pieces):
            if at and wait is not None:
                wait.wait(10)
            handler.event({"choices": [{"index": 0, "delta": {"content": piece}}]})
        if done:
            handler.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            if usage is not None:
                handler.event({"choices": [], "usage": usage})
            handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def calls(*items, done=True, text=""):
    """A stream that calls (name, arguments as JSON text)."""

    def answer(handler, _):
        handler.begin("text/event-stream")
        if text:
            handler.event({"choices": [{"index": 0, "delta": {"content": text}}]})
        for index, (name, arguments) in enumerate(items):
            call = {"index": index, "id": f"c{index}", "type": "function"}
            call["function"] = {"name": name, "arguments": arguments}
            handler.event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        if done:
            handler.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
            handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def refuses(status, data, **headers):
    """An error answer; names of headers with `_` for `-`."""

    def answer(handler, _):
        body = json.dumps(data).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.open += 1

    def finish(self):
        super().finish()
        with self.server.lock:
            self.server.open -= 1
            if not self.server.open:
                self.server.alone.set()

    def begin(self, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, data):
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["content-length"]))
        with server.lock:
            server.alone.clear()
            server.asked.append(
                (self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(body))
            )
            answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
        answer(self, json.loads(body))

    def log_message(self, *_):
        """Says nothing."""


class ChatServer(ThreadingHTTPServer):
    """Gives `answers` in order, the last one as often as it takes. A context manager; `url` ends in /v1."""

    daemon_threads = True

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers, self.asked, self.open = list(answers), [], 0
        self.lock, self.alone = threading.Lock(), threading.Event()
        self.alone.set()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """A client that went away is no fault of the test."""
