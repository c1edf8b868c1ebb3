"""Toolbox: the tools of a session, and how one call becomes one result, whatever the tool does.

Each call's start and end are in the record. A call that was cut off says whether it never started or was
interrupted with unknown effects; a result that comes after that is recorded as late and never sent.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ethang_nb.agent.limits import Limits
from ethang_nb.agent.runner import MainThread, in_thread
from ethang_nb.agent.tool import Answer, Tool, arguments_of, as_answer
from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import ToolCall, ToolResult, clean
from ethang_nb.errors import EthangError, Misuse, Unknown

__all__ = ["INTERRUPTED", "NEVER_STARTED", "Toolbox", "refusal"]

NEVER_STARTED = "[never started: the run was stopped before this call]"
INTERRUPTED = "[interrupted: the run was stopped during this call; what it did is unknown]"
LONGEST_ERROR = 500  # characters of an exception's text that the model is told

Log = Callable[[str, dict[str, Any]], object]


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

    async def answer(self, call: ToolCall, main: MainThread) -> ToolResult:
        """Runs one call to its result. Raises only CancelledError."""
        self._log("tool start", {"id": call.id, "name": call.name, "arguments": call.arguments})
        try:
            given = await self._run(call, main)
        except asyncio.CancelledError:
            self._log("tool end", {"id": call.id, "how": "interrupted"})
            raise
        self._log("tool end", {"id": call.id, "how": "error" if given.error else "done"})
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
        try:
            found = self._tools.get(call.name)
            if found is None:
                raise Unknown("tool", call.name, self._tools)
            arguments = arguments_of(found, call.arguments)
            value = await asyncio.wait_for(
                self._call(found, arguments, call, main), self._limits.tool_seconds
            )
            return as_answer(found, value)
        except TimeoutError:
            return _failed(f"{call.name} ran longer than {self._limits.tool_seconds:g} s and was let go")
        except EthangError as error:
            return _failed(str(error))
        except Exception as error:  # whatever a tool raises is told to the model, and the run goes on
            return _failed(f"{call.name} raised {type(error).__name__}: {error}")

    async def _call(self, found: Tool, arguments: dict[str, Any], call: ToolCall, main: MainThread) -> Any:
        if inspect.iscoroutinefunction(found.run):
            return await found.run(**arguments)
        loop = asyncio.get_running_loop()
        work = partial(found.run, **arguments)
        on_main = found.in_notebook if found.own_thread is None else not found.own_thread
        if on_main and main.waiting:
            return await _on_main(work, main, loop)
        return await in_thread(work, loop, f"ethang-tool-{found.name}", partial(self._late, call))

    def _late(self, call: ToolCall, value: Any) -> None:
        text = clean(value if isinstance(value, str) else repr(value))
        self._log("late", {"id": call.id, "name": call.name, "text": text[:10_000]})


def refusal(call: ToolCall, text: str) -> ToolResult:
    """The result of a call that did not come to its end."""
    return ToolResult(call_id=call.id, name=call.name, text=text, error=True, again="lost")


def _failed(text: str) -> Answer:
    return Answer(text=f"[error] {clean(text)[:LONGEST_ERROR]}", error=True, again="run", paged=True)


async def _on_main(work: Callable[[], Any], main: MainThread, loop: asyncio.AbstractEventLoop) -> Any:
    """Runs `work` on the waiting main thread. An interrupt there ends the call, then reaches the waiter."""
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def call() -> None:
        try:
            result = work()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(settle, None, RuntimeError("interrupted by the person"))
            raise
        except BaseException as error:
            failed = RuntimeError(f"StopIteration: {error}") if isinstance(error, StopIteration) else error
            loop.call_soon_threadsafe(settle, None, failed)
        else:
            loop.call_soon_threadsafe(settle, result, None)

    main.post(call)
    return await future
