"""Remote: a model behind HTTP: its wire format writes the request and reads the answer, its line carries both.

Whatever goes wrong names the model; no text that leaves here holds a credential.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ethang_nb.errors import Overflow, ProviderFault
from ethang_nb.providers.endpoints.credentials import mask
from ethang_nb.providers.hearing import Hearing
from ethang_nb.providers.line import Call, Line, Wire
from ethang_nb.providers.protocol import Body, Reply, Request

__all__ = ["Remote"]

_KEYLESS = {401, 403}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """`model` is the id as it was given, `source` the same without options, `name` what the server calls it.

    `key` is the NAME of the variable that holds the key; "" where there is none, and then `keyless` is what to
    say where the server wants one.
    """

    model: str
    source: str
    name: str
    label: str
    wire: Wire
    line: Line
    key: str = ""
    keyless: str = ""

    def encode(self, request: Request) -> Body:
        return self.wire.encode(request, model=self.name)

    async def send(
        self,
        body: Body,
        *,
        on_text: Callable[[str], None] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Reply:
        """The answer, its message marked as this model's. Raises Overflow, ProviderFault, KeyMissing, CassetteMiss."""
        call = Call(path=self.wire.path, body=body, headers=self.wire.headers)

        def noted(line: str) -> None:
            if on_note is not None:
                on_note(self._told(line) if line else "")

        status = 0
        try:
            heard = await self.line.ask(call, lambda: Hearing(self.wire.parser(on_text)), on_note=noted)
            status = heard.status
            reply = heard.reply()
        except (Overflow, ProviderFault) as fault:
            fault.args = (self._told(str(fault)) + self._about_key(status),)
            raise
        return replace(
            reply,
            message=replace(reply.message, source=self.source),
            notices=tuple(mask(line) for line in reply.notices),
        )

    async def close(self) -> None:
        await self.line.close()

    def _told(self, text: str) -> str:
        return mask(f"{self.source}: {text}")

    def _about_key(self, status: int) -> str:
        if status not in _KEYLESS:
            return ""
        if self.keyless:
            return f"; {self.keyless}"
        if not self.key:
            return "; no variable is named for its key: name one as `key` in the provider's table"
        return f"; the key comes from {self.key}: is it this server's, and may it use this model?"
