"""Runner: a session's worker thread with its own event loop, and the ways to wait for it.

The caller waits on a queue, so that ■ works at once; functions defined in the notebook are run for the worker
on the waiting main thread, so that their prints, plots and interrupts behave as in any cell.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

__all__ = ["MainThread", "Runner", "in_thread"]


class Runner:
    """One daemon thread with an event loop; started with the first coroutine, ended by `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        loop = self._started()
        return asyncio.run_coroutine_threadsafe(work, loop)

    def call(self, function: Callable[[], object]) -> None:
        """Runs `function` in the loop's thread as soon as it is free; nothing if the runner never started."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            if self._thread is not threading.current_thread():
                self._thread.join(timeout=2)
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._run, args=(self._loop,), name=self._name, daemon=True
            )
            self._thread.start()
        return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.close()


class MainThread:
    """Calls that the worker hands to a waiting main thread. `None` in the queue means: the run has ended."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.waiting = False

    def post(self, call: Callable[[], None] | None) -> None:
        self._calls.put(call)

    def serve(self, timeout: float | None = None) -> bool:
        """Waits for the end and runs what is handed over meanwhile; False if `timeout` seconds pass first."""
        while True:
            try:
                call = self._calls.get(timeout=timeout)
            except queue.Empty:
                return False
            if call is None:
                return True
            call()


def in_thread(
    function: Callable[[], Any], loop: asyncio.AbstractEventLoop, name: str, late: Callable[[Any], None]
) -> asyncio.Future[Any]:
    """Runs `function` in a daemon thread. Cancelling the future lets go of it; the thread cannot be ended.

    `late(result)` is called in the loop with what comes after the future was let go.

    Daemon threads of our own, not an executor's: a tool that hangs must not keep the kernel from shutting down.
    """
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            late(error if error is not None else result)
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def work() -> None:
        result, failed = None, None
        try:
            result = function()
        except BaseException as error:
            # StopIteration cannot be set on a future; as any other failure of a tool it is told by its text.
            failed = RuntimeError(f"StopIteration: {error}") if isinstance(error, StopIteration) else error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=work, name=name, daemon=True).start()
    return future
