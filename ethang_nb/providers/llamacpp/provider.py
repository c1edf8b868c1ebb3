"""llama.cpp in this process: `llamacpp/PATH.gguf` is a model file on this machine, served on loopback.

The server starts with the first request, or when somebody asks how large its window is; a cassette that answers instead
starts none and looks at no file. Nothing of the path but the file's name is sent, shown or recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from ethang_nb.providers.endpoints.table import ENDPOINTS
from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.http.line import HttpLine
from ethang_nb.providers.line import Call, Line
from ethang_nb.providers.llamacpp.options import Wanted, wanted
from ethang_nb.providers.llamacpp.server import hold, key, release
from ethang_nb.providers.models.facts import ModelFacts
from ethang_nb.providers.models.quirks import quirks_of
from ethang_nb.providers.remote import Remote
from ethang_nb.providers.wires.by_name import wire as wire_named

__all__ = ["LlamaCpp", "facts"]

SOURCE = "llama.cpp's server, /props"


class LlamaCpp(Remote):
    """The provider of a model file. Raises Unknown for an option nobody knows, Misuse for a bad value."""

    __slots__ = ()

    def __init__(self, model: str, *, around: Callable[[Callable[[], Line]], Line] | None = None) -> None:
        asked, named = wanted(model)

        def line() -> Line:
            return _LocalLine(asked)

        super().__init__(
            model=model,
            source=f"llamacpp/{asked.name}",
            name=asked.name,
            label=f"llamacpp/{asked.name}",
            wire=wire_named(named, quirks_of(replace(ENDPOINTS["llama-server"], wire=named), asked.name)),
            line=around(line) if around else line(),
        )


class _LocalLine:
    """The line to a server in this process; it holds the server from the first call to `close`."""

    def __init__(self, asked: Wanted) -> None:
        self._asked = asked
        self._address = ""
        self._http = HttpLine(lambda: f"{self._address}/v1", headers=_headers)
        self._toolless = False

    async def ask(
        self,
        call: Call,
        hearing: Callable[[], Hearing],
        *,
        on_note: Callable[[str], None] | None = None,
    ) -> Hearing:
        """Raises what `hold` raises, too."""
        server = await asyncio.to_thread(hold, self._asked, self)
        self._address = server.address
        if not server.takes_tools and not self._toolless and b'"tools":[' in call.body.pieces[0]:
            self._toolless = True
            if on_note is not None:
                on_note(
                    "its chat template leaves tools out, so it will call none; give one as template=FILE.jinja, or no "
                    "tools (--tools none) so that they take no room"
                )
        return await self._http.ask(call, hearing, on_note=on_note)

    async def close(self) -> None:
        """Closes the connections, and stops the server unless somebody else holds it."""
        await self._http.close()
        release(self._asked, self)


def facts(model: str) -> ModelFacts:
    """What the server says of its window; it is started for that. Raises as `LlamaCpp` and its first request do."""
    server = hold(wanted(model)[0])
    return ModelFacts(total=server.window, max_output=None, source=SOURCE)


def _headers() -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key()}"}
