"""Toolbox: the tools of a session, and how one call becomes one result, whatever the tool does.

Each call's start and end are in the record. A call that was cut off says how far it came: never started,
interrupted with unknown effects, or finished and unread; a result that comes after that is recorded as late and
never sent.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from ethang_nb.agent.limits import Limits
from ethang_nb.agent.masking import mask
from ethang_nb.agent.runner import MainThread, in_thread, on_main, plain
from ethang_nb.agent.tool import Answer, Tool, arguments_of, as_answer
from ethang_nb.context import kinds
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import ToolCall, ToolResult, clean
from ethang_nb.errors import EthangError, Misuse, Unknown

__all__ = [
    "BROKEN_OFF",
    "CUT_OFF",
    "FINISHED_UNREAD",
    "INTERRUPTED",
    "NEVER_STARTED",
    "REFUSED",
    "Toolbox",
    "refusal",
]

NEVER_STARTED = "[never started: the run was stopped before this call]"
INTERRUPTED = "[interrupted: the run was stopped during this call; what it did is unknown]"
FINISHED_UNREAD = "[no result was recorded: the call finished, and the run was stopped before it was read]"
CUT_OFF = "[error] your output was cut before this call was whole; it did not run"
BROKEN_OFF = "[error] your output ended without its end marker; no call of it was run"
REFUSED = "[error] you refused to answer; no call of that reply was run"
LONGEST_ERROR = 500  # characters of an exception's text that the model is told
SEARCH = "find_in_record"  # the tool that searches the record
LONGEST_LATE = 10_000  # ► characters kept of a result that came too late

Log = Callable[[kinds.EventKind, dict[str, Any]], object]


class Toolbox:
    """Tools by name, in a fixed order."""

    def __init__(self, tools: Iterable[Tool], limits: Limits, log: Log) -> None:
        self._tools: dict[str, Tool] = {}
        for item in tools:
            if item.name in self._tools:
                raise Misuse(f"two tools are called {item.name!r}; rename one with @tool(name=…)")
            self._tools[item.name] = item
        self._limits, self._log = limits, log

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(item.spec for item in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def searchable(self) -> bool:
        """Whether the model can search the record."""
        return SEARCH in self._tools

    async def answer(self, call: ToolCall, main: MainThread) -> ToolResult:
        """Runs one call to its result. Raises only CancelledError."""
        self._log(kinds.TOOL_START, {"id": call.id, "name": call.name, "arguments": call.arguments})
        try:
            given = await self._run(call, main)
        except asyncio.CancelledError:
            self._log(kinds.TOOL_END, {"id": call.id, "how": "interrupted"})
            raise
        self._log(kinds.TOOL_END, {"id": call.id, "how": "error" if given.error else "done"})
        return ToolResult(
            call_id=call.id,
            name=call.name,
            text=given.text,
            address=given.address,
            again=given.again,
            paged=given.paged,
            error=given.error,
        )

    async def _run(self, call: ToolCall, main: MainThread) -> Answer:
        seconds = self._limits.tool_seconds
        try:
            found = self._named(call.name)
            arguments = arguments_of(found, call.arguments)
            work = asyncio.ensure_future(self._call(found, arguments, call, main))
            work.add_done_callback(_looked_at)
            try:
                ended, _ = await asyncio.wait({work}, timeout=seconds)
            finally:
                work.cancel()
            if not ended:
                return _failed(f"{call.name} ran longer than {seconds:g} s and was let go")
            if work.cancelled():
                return _failed(f"{call.name} cancelled itself")
            return as_answer(found, work.result())
        except EthangError as error:
            return _failed(str(error))
        except Exception as error:  # whatever a tool raises is told to the model, and the run goes on
            return _failed(f"{call.name} raised {type(error).__name__}: {error}")

    def _named(self, name: str) -> Tool:
        if name not in self._tools:
            raise Unknown("tool", name, self._tools)
        return self._tools[name]

    async def _call(self, found: Tool, arguments: dict[str, Any], call: ToolCall, main: MainThread) -> Any:
        loop = asyncio.get_running_loop()
        work, late = partial(found.run, **arguments), partial(self._late, call)
        if inspect.iscoroutinefunction(found.run):
            return await _harmless(work())
        here = found.in_notebook if found.own_thread is None else not found.own_thread
        if here and main.waiting:
            value = await on_main(work, loop, main, late)
        else:
            value = await in_thread(work, loop, f"ethang-tool-{found.name}", late)
        return await _harmless(value) if inspect.isawaitable(value) else value

    def _late(self, call: ToolCall, value: Any) -> None:
        text = clean(value if isinstance(value, str) else repr(value))
        # Masked before it is cut: half a key would be known no more.
        self._log(kinds.LATE, {"id": call.id, "name": call.name, "text": mask(text)[:LONGEST_LATE]})


def refusal(call: ToolCall, text: str) -> ToolResult:
    """The result of a call that did not come to its end."""
    return ToolResult(call_id=call.id, name=call.name, text=text, error=True, again="lost")


async def _harmless(work: Awaitable[Any]) -> Any:
    """What `work` gives; an exit that would end our loop is a failure of the tool like any other."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise plain(error) from error


def _looked_at(work: asyncio.Future[Any]) -> None:
    """Of a call that was let go nobody reads how it failed; asyncio need not complain of that."""
    if not work.cancelled():
        work.exception()


def _failed(text: str) -> Answer:
    return Answer(text=f"[error] {mask(clean(text))[:LONGEST_ERROR]}", error=True, again="run", paged=True)
