"""What the tests of the agent stand on: small folders of documents, scripts, and a provider that is watched."""

import json
import os
import random
import subprocess
import sys

import yaml

from ethang_nb.context.messages import Message, ToolCall, assistant, to_json
from ethang_nb.providers.protocol import Body, Reply

TASK = "Read every file in docs and tell me which order is affected and what its cap is. Never open docs/c_05.txt."
WINDOW = 3_600
"""Small enough that eight documents bring a nudge and a cleanup."""


def documents(folder, count=8, lines=12):
    """`folder/docs` with `count` contracts of about 300 tokens; the third holds the answer to TASK."""
    chance = random.Random(3)
    docs = folder / "docs"
    docs.mkdir()
    for number in range(1, count + 1):
        text = [f"CONTRACT {number:02d}"]
        text += [
            f"{number}.{line} The supplier ships goods under policy {chance.choice('ABC')}-{chance.randint(100, 999)}"
            f" by 2026-{chance.randint(1, 12):02d}-{chance.randint(10, 28)}."
            for line in range(lines)
        ]
        if number == 3:
            text.append("3.99 The affected order is ORD-88421 and its cap is 125,000 EUR.")
        (docs / f"c_{number:02d}.txt").write_text("\n".join(text) + "\n")
    return folder


def script(folder, *turns, **settings):
    """The model id of a script with these turns."""
    path = folder / f"turns-{len(list(folder.glob('turns-*')))}.yaml"
    path.write_text(yaml.safe_dump({**settings, "turns": list(turns)}))
    return f"script:{path}"


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def calls(*items):
    return {"call": [item if isinstance(item, dict) else call(item) for item in items]}


class Watched:
    """A provider that notes the bytes it was sent, and lets a test look in between."""

    def __init__(self, provider, before=None):
        self._provider, self._before = provider, before
        self.bodies = []

    @property
    def name(self):
        return self._provider.name

    @property
    def label(self):
        return self._provider.label

    def encode(self, request):
        return self._provider.encode(request)

    async def close(self):
        await self._provider.close()

    async def send(self, body, *, on_text=None, on_note=None):
        self.bodies.append(body.bytes)
        if self._before:
            self._before(body)
        return await self._provider.send(body, on_text=on_text, on_note=on_note)


def asks(name, **arguments):
    """An assistant message that calls a tool once."""
    return assistant(calls=[ToolCall(id="", name=name, arguments=json.dumps(arguments))])


def reads(*numbers):
    """Assistant messages that read these documents, one after the other."""
    return [asks("read_file", path=f"docs/c_{number:02d}.txt") for number in numbers]


class Answers:
    """A provider that gives what it was made with, in order; keeps requests and bodies, and knows if it was closed.

    An answer is a text, a message, a Reply, an exception to raise, or a function of (body, on_text, on_note) that gives
    one of these. The last one is given as often as it takes. `note` is the same for requests without tools.
    """

    name = "answers"

    def __init__(self, *answers, note="## Numbers\n7", label="answers (a test's)", notices=()):
        self._answers, self._note, self.label, self._notices = list(answers), note, label, notices
        self.requests, self.bodies, self.closed = [], [], 0

    def encode(self, request):
        self.requests.append(request)
        head = {
            "model": request.model,
            "max": request.max_output,
            "tools": [spec.name for spec in request.tools],
        }
        pieces = [json.dumps(to_json(message), ensure_ascii=False).encode() for message in request.messages]
        return Body((json.dumps(head).encode(), *pieces), notices=self._notices)

    async def close(self):
        self.closed += 1

    async def send(self, body, *, on_text=None, on_note=None):
        self.bodies.append(body.bytes)
        if not json.loads(body.pieces[0])["tools"]:
            answer = self._note
        else:
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if callable(answer) and not isinstance(answer, BaseException):
            answer = answer(body, on_text, on_note)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, str):
            answer = assistant(answer)
        if isinstance(answer, Message):
            answer = Reply(message=answer, stop="calls" if answer.calls else "end")
        return answer


def kinds(session):
    return [event.kind for event in session.recorded]


def texts(session, name=None):
    """The texts of all recorded results, oldest first; of the tool `name` alone where one is given."""
    return [
        part["text"]
        for event in session.recorded
        if event.kind == "message"
        for part in event.data["message"]["parts"]
        if part["type"] == "result" and (name is None or part["name"] == name)
    ]


def child(code, *arguments, flags=()):
    """A Python process that runs `code`; sessions in it record in their own folders."""
    command = [sys.executable, *flags, "-c", code, *(str(item) for item in arguments)]
    env = {name: value for name, value in os.environ.items() if name != "ETHANG_HOME"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, bufsize=1, env=env)
