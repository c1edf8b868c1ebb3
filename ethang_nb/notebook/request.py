"""A request as it was sent: the very bytes, and a view of them that leaves nothing out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ethang_nb.notebook.outputs import Output

__all__ = ["SentRequest"]

SHOWN = 20_000  # ► characters of one form in a stored output


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SentRequest(Output):
    """The bytes of one request, `body`, exactly as they were sent.

    Shown message by message with role and text; with `raw` as they are. Invisible characters stand as escapes.
    What is too long for an output is cut there and said to be; `.body` has all of it.
    """

    session: str
    step: int
    body: bytes
    raw: bool = False

    def text(self) -> str:
        from ethang_nb.views.plain import visible

        lines = [self.body.decode("utf-8", "replace")] if self.raw else [self._headline(), *_lines(self.body)]
        whole = visible("\n".join(lines))
        rest = len(whole) - SHOWN
        if rest <= 0:
            return whole
        again = f"eth.open_session({self.session!r}).request({self.step})"
        return f"{whole[:SHOWN]}\n… {rest:,} more characters; {again} has all"

    def html(self) -> str:
        from ethang_nb.views.markup import el
        from ethang_nb.views.stylesheet import output

        return output(el("pre", self.text()), label=self._headline())

    def _headline(self) -> str:
        return f"Request of step {self.step}, session {self.session}: {len(self.body):,} bytes"


def _lines(body: bytes) -> list[str]:
    """Every key and value of a JSON body; text stands as it is, everything else as JSON."""
    try:
        data = json.loads(body)
    except ValueError:
        return [body.decode("utf-8", "replace")]
    said: list[str] = []
    for key, value in data.items():
        if key == "messages" and isinstance(value, list):
            for number, message in enumerate(value, start=1):
                said += ["", *_message(number, message)]
        elif key == "tools" and isinstance(value, list):
            said += [f"tool: {_packed(item)}" for item in value]
        else:
            said.append(f"{key}: {value if isinstance(value, str) else _packed(value)}")
    return said


def _message(number: int, message: Any) -> list[str]:
    if not isinstance(message, dict):
        return [f"[{number}] {_packed(message)}"]
    named = {key: value for key, value in message.items() if key not in ("role", "content")}
    said = [
        f"[{number}] {message.get('role', 'no role')}",
        *(f"{key}: {_packed(item)}" for key, item in named.items()),
    ]
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return said + [part if isinstance(part, str) else _packed(part) for part in parts if part is not None]


def _packed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
