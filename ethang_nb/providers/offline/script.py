"""The script: plays turns and faults out of a YAML file, for lessons and tests. It understands nothing.

    overflow_at: 5000              # refuses every request of more tokens than this, as our own counter counts
    usage: report                  # reports tokens with every reply
    turns:
      - call: [{name: read_file, arguments: {path: a.txt}}]
      - rate_limit: true           # refused, may be sent again
      - say: done
        phantom_usage: 900000      # reports this as its input
      - note: What the answer to a request for a note is; "" makes it empty.

Turns are played in order, `note` turns for requests of a note, all others for the rest. Which turn is next is
read off the request, so that a session resumed in another process goes on where it was: a call's id carries the
number of its turn, and answers after the newest call in view are counted. Beside it stands a count of the turns
played in this process, because a fault leaves no message, and plain answers that left the window no number; the
further of the two holds.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ethang_nb.context.messages import Message, ToolCall, assistant
from ethang_nb.errors import Misuse, Overflow, PathRefused, ProviderFault
from ethang_nb.providers.offline.script_schema import checked
from ethang_nb.providers.offline.view import View, view
from ethang_nb.providers.offline.wire import decode, encode, tokens
from ethang_nb.providers.protocol import Body, Reply, Request, Stop, Usage
from ethang_nb.tokens.registry import counter

__all__ = ["END", "Script"]

END = "end of script"
_FAULTS = ("rate_limit", "cut_stream", "fail")  # turns that end in an error and leave no message
_ID = re.compile(r"call_t(\d+)_\d+$")
_LARGEST = 1_000_000  # ► bytes of a script file

Turn = Mapping[str, Any]


class Script:
    """The provider. `turns` are as in the file's list; `settings` what stands beside it."""

    def __init__(
        self, turns: Sequence[Turn], *, name: str = "script", settings: Mapping[str, Any] | None = None
    ) -> None:
        data = checked({**(settings or {}), "turns": list(turns)}, where=name)
        repeated = [turn for turn in data["turns"] for _ in range(turn.get("repeat", 1))]
        self._turns = [turn for turn in repeated if "note" not in turn]
        self._notes = [turn for turn in repeated if "note" in turn]
        self._name, self._settings = name, data
        self._played = self._noted = 0

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """The script in a YAML file. Raises PathRefused or Misuse, one line that names the place."""
        file = Path(path)
        try:
            if file.stat().st_size > _LARGEST:
                raise PathRefused(
                    f"script {file} has {file.stat().st_size:,} bytes; the most is {_LARGEST:,}"
                )
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise PathRefused(
                f"script {file} cannot be read: {error.strerror}; give the path of a YAML file"
            ) from None
        except UnicodeDecodeError as error:
            raise Misuse(f"script {file} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
        data = _parsed(text, file)
        settings = dict(data) if isinstance(data, dict) else {"turns": data}
        return cls(checked(settings, where=str(file))["turns"], name=f"script:{path}", settings=settings)

    @property
    def name(self) -> str:
        return self._name

    @property
    def label(self) -> str:
        return f"{self._name} (a script, not a language model)"

    def encode(self, request: Request) -> Body:
        return encode(request, model=self._name)

    async def close(self) -> None:
        """Nothing is open here."""

    async def send(
        self,
        body: Body,
        *,
        on_text: Callable[[str], None] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Reply:
        """Plays the next turn. Raises Overflow or ProviderFault where the script says so."""
        del on_note  # nothing is tried again here
        seen = view(decode(body))
        _refuse_over(self._settings.get("overflow_at"), body)
        if seen.wants_note:
            turn, number = self._note(), self._noted
            self._noted += 1
        else:
            number = max(self._played, _position(seen, self._turns))
            turn = self._turns[number] if number < len(self._turns) else {"say": END}
            _refuse_over(turn.get("overflow_at"), body)  # the same turn again, for a request that fits
            self._played = number + 1
        return await self._play(turn, number, body, on_text)

    def _note(self) -> Turn:
        """The next note; after the last one that again, without any an empty one."""
        return self._notes[min(self._noted, len(self._notes) - 1)] if self._notes else {"note": ""}

    async def _play(
        self, turn: Turn, number: int, body: Body, on_text: Callable[[str], None] | None
    ) -> Reply:
        if delay := turn.get("delay"):
            await asyncio.sleep(delay)
        _fail(turn, on_text)
        text = turn.get("say", turn.get("note", ""))
        if text and on_text:
            on_text(text)
        calls = [_call(call, f"call_t{number}_{at}", turn) for at, call in enumerate(turn.get("call", ()))]
        message = assistant(text, calls, source="script")
        return Reply(message=message, stop=_stop(turn), usage=self._usage(turn, body, message))

    def _usage(self, turn: Turn, body: Body, message: Message) -> Usage | None:
        output = counter("reader").count(message.text + "".join(call.arguments for call in message.calls))
        if "phantom_usage" in turn:
            return Usage(input=turn["phantom_usage"], output=output)
        if self._settings.get("usage") == "report":
            return Usage(input=tokens(body), output=output)
        return None


def _parsed(text: str, file: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise Misuse(f"script {file}{where}: {error.problem or 'not YAML'}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise Misuse(f"script {file}: not YAML ({' '.join(str(error).split())[:120]})") from None


def _position(seen: View, turns: Sequence[Turn]) -> int:
    """The turn after those that the request shows, 0 where it shows none."""
    position = 0
    for item in seen.of("assistant"):
        numbers = [int(match[1]) for call in item.calls if (match := _ID.match(call.id))]
        if numbers:
            position = numbers[0] + 1
            continue
        while position < len(turns) and any(fault in turns[position] for fault in _FAULTS):
            position += 1
        position += 1
    return position


def _call(call: Mapping[str, Any], call_id: str, turn: Turn) -> ToolCall:
    given = call.get("arguments", {})
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    if turn.get("garbage"):
        arguments = arguments[: max(1, len(arguments) // 2)]  # an object cut in half is no JSON
    return ToolCall(id=call_id, name=call["name"], arguments=arguments)


def _stop(turn: Turn) -> Stop:
    if turn.get("length"):
        return "length"
    return "calls" if turn.get("call") else "end"


def _fail(turn: Turn, on_text: Callable[[str], None] | None) -> None:
    if turn.get("rate_limit"):
        raise ProviderFault("429: too many requests; the script says to send it again", retryable=True)
    if "cut_stream" in turn:
        if on_text:
            on_text(turn["cut_stream"])
        got = len(turn["cut_stream"])
        raise ProviderFault(
            f"the stream ended after {got} characters, without an end of the answer", retryable=True
        )
    if "fail" in turn:
        raise ProviderFault(turn["fail"])


def _refuse_over(limit: int | None, body: Body) -> None:
    if limit is not None and (counted := tokens(body)) > limit:
        raise Overflow(f"{counted:,} tokens do not fit the {limit:,} that the script allows; send less")
