"""Line: the seams inside a provider that lies behind HTTP: a wire format writes and reads, a line carries.

A wire format knows no network, and a line no format: it hands what it receives to a Hearing, byte by byte, so that the
network and a cassette are heard alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.protocol import Body, Reply, Request, Usage

__all__ = ["Call", "Line", "Parser", "Wire"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request as it travels. `path` follows the base URL; no header in it is a secret."""

    path: str
    body: Body
    headers: Mapping[str, str] = field(default_factory=dict)


class Parser(Protocol):
    """Reads one answer of a wire format. Made anew for every answer."""

    @property
    def heard(self) -> bool:
        """Whether anything of the reply has come: text, thinking, a call. Then it must not be asked for again."""
        ...

    def event(self, name: str, data: str) -> None:
        """One event of the stream; `name` is "message" where the stream names none. Unknown ones are passed over.

        Raises Overflow or ProviderFault where the stream says so, or is broken.
        """
        ...

    def whole(self, data: Any) -> None:
        """The JSON of an answer that is no stream. Raises as `event` does."""
        ...

    def reply(self) -> Reply:
        """The answer, once its body has ended; of one without an end marker what has come, as `cut`.

        Raises ProviderFault where nothing at all had come, Overflow where its end says that the window is full.
        """
        ...

    def partial(self) -> dict[str, Any] | None:
        """What has come of the message so far, as plain JSON data (`to_json`); None: nothing."""
        ...

    def usage(self) -> Usage | None:
        """What has been reported of tokens so far, as far as it can stand for the whole; None: nothing."""
        ...


class Wire(Protocol):
    """A wire format. `path` follows the base URL; `headers` are those the format itself asks for."""

    @property
    def path(self) -> str: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def encode(self, request: Request, *, model: str) -> Body:
        """The bytes of `request` for the model called `model` there: same request, same bytes."""
        ...

    def parser(self, on_text: Callable[[str], None] | None = None) -> Parser: ...


class Line(Protocol):
    """Carries a call to whoever answers it."""

    async def ask(
        self,
        call: Call,
        hearing: Callable[[], Hearing],
        *,
        on_note: Callable[[str], None] | None = None,
    ) -> Hearing:
        """The hearing that has the final outcome; each try gets one of its own. Raises ProviderFault without any."""
        ...

    async def close(self) -> None: ...
