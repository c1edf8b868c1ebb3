"""Unasked: stands for the model of a session that is only looked at, so that it need not be there any more."""

from __future__ import annotations

from collections.abc import Callable

from ethang_nb.errors import EthangError, Misuse
from ethang_nb.providers.protocol import Body, Reply, Request
from ethang_nb.providers.registry import provider

__all__ = ["Unasked"]


class Unasked:
    """Has the label of `model` where that can be had, and is never asked anything."""

    def __init__(self, model: str) -> None:
        self.name = model
        try:
            self.label = provider(model).label
        except EthangError:
            self.label = model

    def encode(self, request: Request) -> Body:
        raise Misuse(
            f"model {self.name} is not asked for {len(request.messages)} messages here; open the session"
        )

    async def close(self) -> None:
        """Nothing is open here."""

    async def send(
        self,
        body: Body,
        *,
        on_text: Callable[[str], None] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> Reply:
        del body, on_text, on_note
        raise Misuse(f"model {self.name} is not asked anything here; open the session to go on")
