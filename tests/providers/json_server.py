"""A server on this machine that answers with JSON by path, and keeps what it was asked."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["JsonServer", "json_servers"]


@dataclass(frozen=True)
class Asked:
    path: str
    headers: Message
    body: str


class JsonServer:
    """`answers` by path, data or bytes; any other path gets `status` and `missing`."""

    def __init__(self, answers, *, status=404, missing="not here"):
        self.answers, self.asked = dict(answers), []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                outer.asked.append(Asked(self.path, self.headers, body))
                known = self.path in outer.answers
                found = outer.answers.get(self.path, missing)
                answer = found if isinstance(found, bytes) else json.dumps(found).encode()
                self.send_response(200 if known else status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_):
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def json_servers():
    """Starts servers as it is called, and stops them all at the end."""
    servers = []

    def start(answers, **how):
        servers.append(JsonServer(answers, **how))
        return servers[-1]

    try:
        yield start
    finally:
        for server in servers:
            server.close()
