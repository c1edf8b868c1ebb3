"""Runner: a session's worker thread with its own event loop, and the ways to wait for it.

The caller waits on a queue, so that ■ works at once; functions defined in the notebook are run for the worker
on the waiting main thread, so that their prints, plots and interrupts behave as in any cell.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

__all__ = ["MainThread", "Runner", "in_thread", "on_main", "on_main_thread", "plain"]

CLOSING = 2.0  # ► seconds that connections and servers get to be closed in

Late = Callable[[Any], None]
"""Told, in the loop, what a function gave back after nobody waited for it any more."""


class Runner:
    """One daemon thread with an event loop; started with the first coroutine, ended by `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._last: Callable[[], Awaitable[None]] | None = None

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        loop = self._started()
        return asyncio.run_coroutine_threadsafe(work, loop)

    def call(self, function: Callable[[], object]) -> None:
        """Runs `function` in the loop's thread as soon as it is free; nothing if the runner never started."""
        if self._loop is not None:
            _call_in(self._loop, function)

    @property
    def inside(self) -> bool:
        """Whether the caller is the worker thread itself."""
        return self._thread is threading.current_thread()

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Ends the thread; `last` is awaited in its loop before that, for a bounded time."""
        self._last = last
        if last is not None:
            with suppress(RuntimeError):  # no thread can be started any more: the interpreter ends
                self._started()
        if self._loop is not None and self._thread is not None:
            _call_in(self._loop, self._loop.stop)
            if not self.inside:
                self._thread.join(timeout=CLOSING + 2)
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=self._run, args=(loop,), name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                loop.close()
                raise
            self._loop, self._thread = loop, thread
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            rest = asyncio.all_tasks(loop)
            for task in rest:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
            if self._last is not None:
                with suppress(TimeoutError):
                    loop.run_until_complete(asyncio.wait_for(self._last(), CLOSING))
            loop.run_until_complete(loop.shutdown_asyncgens())
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
                self._calls.put(None)  # for whoever else waits
                return True
            call()

    def wait_for(self, done: Callable[[], bool], *, stop: Callable[[], object], grace: float) -> None:
        """Serves the worker until `done`. ■ calls `stop` and waits up to `grace` seconds; a second ■ lets go."""
        self.waiting = on_main_thread()
        asked = False
        try:
            while not self._served(done, grace if asked else None):
                if asked:
                    break
                asked = True
                stop()
        finally:
            self.waiting = False

    def _served(self, done: Callable[[], bool], timeout: float | None) -> bool:
        """False where ■ or `timeout` (seconds) came before the end."""
        try:
            return done() or self.serve(timeout)
        except KeyboardInterrupt:
            return False


def on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def in_thread(
    function: Callable[[], Any], loop: asyncio.AbstractEventLoop, name: str, late: Late
) -> asyncio.Future[Any]:
    """Runs `function` in a daemon thread. Cancelling the future lets go of it; the thread cannot be ended.

    Daemon threads of our own, not an executor's: a tool that hangs must not keep the kernel from shutting down.
    """
    future: asyncio.Future[Any] = loop.create_future()

    def work() -> None:
        try:
            result = function()
        except BaseException as error:
            _settle(loop, future, None, plain(error), late)
        else:
            _settle(loop, future, result, None, late)

    threading.Thread(target=work, name=name, daemon=True).start()
    return future


def on_main(
    function: Callable[[], Any], loop: asyncio.AbstractEventLoop, main: MainThread, late: Late
) -> asyncio.Future[Any]:
    """Runs `function` on the waiting main thread."""
    future: asyncio.Future[Any] = loop.create_future()

    def call() -> None:
        if future.done():
            return
        try:
            result = function()
        except KeyboardInterrupt:
            raise  # whoever waits stops the run, which ends this call as interrupted
        except BaseException as error:
            _settle(loop, future, None, plain(error), late)
        else:
            _settle(loop, future, result, None, late)

    main.post(call)
    return future


def plain(error: BaseException) -> Exception:
    """What a future may carry: an exception that ends neither a loop nor an iteration."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")


def _settle(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    result: Any,
    error: Exception | None,
    late: Late,
) -> None:
    def settle() -> None:
        if future.done():
            late(result if error is None else error)
        elif error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    _call_in(loop, settle)


def _call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    """Nothing where the loop has ended meanwhile."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)
