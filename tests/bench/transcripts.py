"""Long transcripts of a coding agent, seeded, in the shape of OpenAI's messages.

A system text, a first request, then turns: an assistant message with one to three calls and their results; now
and then the assistant only talks, or the user says something more. The texts are pieces of the standard
library's own documentation and source and of rows of JSON. The same arguments give the same transcript on the
same version of Python.
"""

import json
import random
from functools import cache

from tests.tokens.corpora import code, english, rows

__all__ = ["transcript"]

RULE = "Do not touch migrations/."
USER_SHARE, TALK_SHARE = 0.03, 0.05
CALLS = (1, 1, 1, 2, 3)
TOOLS = ("read_file", "grep", "run_tests", "bash")
HUGE_EVERY, HUGE_TOKENS = 211, 22_000
LARGEST = 4_000  # tokens of a result that is not huge
# Characters a token of o200k, measured on these very texts.
WIDTH = {"prose": 4.2, "code": 4.7, "rows": 2.15}


def transcript(messages, *, seed=7, mean=300):
    """A list of `messages` dicts with about `mean` tokens each. It ends with complete turns: no call is open."""
    source = random.Random(seed)
    history = [
        {"role": "system", "content": f"You are a coding agent. {_text(source, 900, 'prose')}"},
        {
            "role": "user",
            "content": f"Fix the failing tests in payments.py. {RULE} {_text(source, 120, 'prose')}",
        },
    ]
    results = 0
    while len(history) < messages:
        kind = source.random()
        room = messages - len(history)
        if kind < USER_SHARE:
            history.append({"role": "user", "content": _text(source, source.randint(10, 80), "prose")})
        elif kind < USER_SHARE + TALK_SHARE or room == 1:
            history.append({"role": "assistant", "content": _text(source, source.randint(40, 300), "prose")})
        else:
            count = min(source.choice(CALLS), room - 1)
            history += _turn(source, range(results + 1, results + count + 1), mean)
            results += count
    return history[:messages]


def _turn(source, numbers, mean):
    calls = [_call(source, number) for number in numbers]
    said = _text(source, source.randint(10, 60), "prose")
    results = [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "name": call["function"]["name"],
            "content": _text(source, _size(source, number, mean)),
        }
        for number, call in zip(numbers, calls, strict=True)
    ]
    return [{"role": "assistant", "content": said, "tool_calls": calls}, *results]


def _call(source, number):
    arguments = {"path": f"src/mod_{source.randrange(400)}.py", "line": source.randrange(2_000)}
    function = {"name": source.choice(TOOLS), "arguments": json.dumps(arguments)}
    return {"id": f"call_{number:06d}", "type": "function", "function": function}


def _size(source, number, mean):
    if number % HUGE_EVERY == 0:
        return HUGE_TOKENS
    return min(LARGEST, 20 + int(source.expovariate(1 / (mean * 1.25))))


def _text(source, tokens, kind=None):
    kind = kind or source.choice(("prose", "code", "code", "rows"))
    text, size = _texts()[kind], max(8, int(tokens * WIDTH[kind]))
    start = source.randrange(len(text) - size)
    return text[start : start + size]


@cache
def _texts():
    return {"prose": english(), "code": code(), "rows": rows(400_000, seed=99)}
