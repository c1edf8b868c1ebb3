"""Hand-made requests: a conversation is built message by message and handed to a provider."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Message, ToolCall, ToolResult, assistant, system, tool, user
from ethang_nb.providers.offline.reader import Reader
from ethang_nb.providers.protocol import Provider, Reply, Request

TOOLS = ("read_file", "list_files", "read_spill", "find_in_record", "release_context")


class Talk:
    """A conversation. `turn` adds a call and its result, `play` lets the provider answer with them."""

    def __init__(
        self, task: str = "", *, system_text: str = "You work.", tools: tuple[str, ...] = TOOLS
    ) -> None:
        self.messages: list[Message] = [system(system_text)] + ([user(task)] if task else [])
        self.tools = tools
        self.max_output = 1000

    def user(self, text: str) -> "Talk":
        self.messages.append(user(text))
        return self

    def says(self, text: str) -> "Talk":
        self.messages.append(assistant(text))
        return self

    def turn(self, name: str, text: str, **arguments: object) -> "Talk":
        call = ToolCall(id=f"call_{len(self.messages)}", name=name, arguments=json.dumps(arguments))
        self.messages.append(assistant(calls=[call]))
        self.messages.append(tool(ToolResult(call_id=call.id, name=name, text=text)))
        return self

    def read(self, path: str, *lines: str, start: int = 1, total: int | None = None) -> "Talk":
        """A page of a file as read_file shows it."""
        return self.turn("read_file", file_page(path, lines, start, total), path=path, start=start)

    def listed(self, folder: str, *names: str) -> "Talk":
        return self.turn(
            "list_files", "\n".join([f"[{len(names)} files in {folder}]", *names]), folder=folder
        )

    def request(self, model: str = "reader") -> Request:
        specs = tuple(ToolSpec(name=name) for name in self.tools)
        return Request(model=model, messages=tuple(self.messages), tools=specs, max_output=self.max_output)

    def reply(self, model: str | Provider = "reader", on_text: Callable[[str], None] | None = None) -> Reply:
        provider = Reader(model) if isinstance(model, str) else model
        return asyncio.run(provider.send(provider.encode(self.request()), on_text=on_text))

    def next(self, model: str | Provider = "reader") -> tuple[str, dict[str, object]] | str:
        """What comes next: (tool, arguments), or the text of an answer."""
        message = self.reply(model).message
        if not message.calls:
            return message.text
        (call,) = message.calls
        return call.name, json.loads(call.arguments)

    def answer(self, reply: Reply, text: str) -> None:
        """The reply and what its call brought, as they would stand in the next request."""
        self.messages.append(replace(reply.message))
        for call in reply.message.calls:
            self.messages.append(tool(ToolResult(call_id=call.id, name=call.name, text=text)))


def file_page(path: str, lines: tuple[str, ...], start: int = 1, total: int | None = None) -> str:
    body = "\n".join(lines)
    end = start + len(lines) - 1
    of = total or end
    mark = hashlib.sha256(body.encode()).hexdigest()[:8]
    more = f"; read on with start={end + 1}" if end < of else ""
    return f"[file:{path}#L{start}-{end}@{mark} of {of} lines{more}]\n{body}"


@pytest.fixture
def talk() -> type[Talk]:
    return Talk


@pytest.fixture
def page_of():
    return file_page
