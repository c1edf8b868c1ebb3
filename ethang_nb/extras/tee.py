"""Tee: a response's stream that whoever reads it reads as it was, at the same time, while we are given a copy.

The stream's own class is the base, so that a client that looks at it sees what it expects; no HTTP library is imported.
What goes wrong in our copy is ours: `Ear` never raises.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from functools import lru_cache
from typing import Any, Protocol, cast

__all__ = ["Ear", "teed"]


class Ear(Protocol):
    """Is given a copy. `end` is called once the stream is read to its end, `close` whenever nobody reads on."""

    def take(self, chunk: bytes) -> None: ...

    def end(self) -> None: ...

    def close(self) -> None: ...


def teed(stream: Any, ear: Ear) -> Any:
    """`stream`, which one reader reads, with a copy of it for `ear`."""
    kind = _synchronous if hasattr(stream, "__iter__") else _asynchronous
    base: Any = type(stream)
    # One that is a tee already, because two contexts look at it, is of a class that will do.
    made: Any = object.__new__(base if isinstance(stream, _Tee) else kind(base))
    object.__setattr__(made, "_teed", (stream, ear))
    return made


class _Tee:
    """What both kinds share: everything that is not reading is asked of the stream itself."""

    _teed: tuple[Any, Ear]

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_teed")[0], name)


@lru_cache(maxsize=8)
def _synchronous(base: type) -> type:
    class Tee(_Tee, base):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            stream, ear = self._teed
            for chunk in stream:
                ear.take(chunk)
                yield chunk
            ear.end()

        def close(self) -> None:
            stream, ear = self._teed
            try:
                stream.close()
            finally:
                ear.close()

    return cast("type", Tee)


@lru_cache(maxsize=8)
def _asynchronous(base: type) -> type:
    class Tee(_Tee, base):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            stream, ear = self._teed
            chunks = stream.__aiter__()
            if not hasattr(chunks, "aclose"):
                async for chunk in chunks:
                    ear.take(chunk)
                    yield chunk
            else:
                async with aclosing(chunks):
                    async for chunk in chunks:
                        ear.take(chunk)
                        yield chunk
            ear.end()

        async def aclose(self) -> None:
            stream, ear = self._teed
            try:
                await stream.aclose()
            finally:
                ear.close()

    return cast("type", Tee)
