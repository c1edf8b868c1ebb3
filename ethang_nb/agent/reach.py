"""Reach: how a session reaches models: by which tables of providers, and through which cassette.

What is known of a model is asked once and kept. Nothing here is asked before somebody needs it, and no key is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ethang_nb.clock import Clock
from ethang_nb.context.pricing import Rates
from ethang_nb.context.window import Window
from ethang_nb.errors import CassetteMiss, EthangError, KeyMissing
from ethang_nb.providers import registry
from ethang_nb.providers.endpoints.model_ids import named
from ethang_nb.providers.models.facts import ModelFacts, Prices
from ethang_nb.providers.protocol import Provider
from ethang_nb.providers.windows import window_of

if TYPE_CHECKING:
    from ethang_nb.providers.cassettes.cassette import Cassette
    from ethang_nb.providers.endpoints.table import Tables
    from ethang_nb.providers.line import Line

__all__ = ["Reach"]

IN_PROCESS = "llamacpp/"
"""Models of a server that is started here; it is asked as any other."""
_NONE: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class Reach:
    """`look`: models are only looked at: no endpoint is asked what it knows."""

    def __init__(
        self, tables: Tables = _NONE, cassette: Cassette | None = None, *, look: bool = False
    ) -> None:
        self.tables, self.cassette = tables, cassette
        self._look = look
        self._found: dict[tuple[str, bool], ModelFacts | None] = {}

    def provider(self, model: str) -> Provider:
        """The provider of a model id. Raises as `registry.provider` does."""
        return registry.provider(model, tables=self.tables, around=self._around(model))

    def check(self, model: str) -> None:
        """Raises Unknown or Misuse for an id that no provider can be made of."""
        registry.check(model, tables=self.tables)

    def preflight(self, model: str) -> None:
        """Raises what the first request to the model would, before anything is recorded; else as `check` does.

        KeyMissing, unless a cassette may answer; CassetteMiss where only one may, and there is none.
        """
        self.check(model)
        if not self._outside(model):
            return
        if self.cassette is None:
            from ethang_nb.providers.cassettes.cassette import refuse_without

            refuse_without(model)
        if self.cassette is None or self.cassette.needs_network:
            registry.preflight(model, tables=self.tables)

    def answers(self, model: str) -> bool:
        """Whether nothing is known that stands against asking the model.

        A model that a cassette in replay holds nothing of was passed over, too, when it was recorded.
        """
        try:
            self.preflight(model)
            self.known(model)
        except (KeyMissing, CassetteMiss):
            return False
        return True

    def facts(self, model: str) -> ModelFacts | None:
        """What is known of a model, its endpoint asked; None: nothing. Raises Unknown for an id of no provider."""
        return self._find(model, live=not self._look)

    def known(self, model: str) -> ModelFacts | None:
        """The same without asking anybody."""
        return self._find(model, live=False)

    def window(self, given: int | str | Window | None, model: str) -> Window:
        """The window that is meant. Raises BadWindow where it is unknown."""
        return window_of(given, model=model, find=self.known if isinstance(given, int) else self.facts)

    def prices(self, model: str) -> Prices | None:
        """The model's prices; None: unknown, or not looked for."""
        try:
            facts = self._found.get((model, True)) or self.known(model)
        except EthangError:  # the prices of a model that can no longer be reached keep nobody from looking
            return None
        return None if facts is None else facts.prices

    def rates(self, model: str) -> Rates | None:
        """The same, per mille of a fresh input token."""
        prices = self.prices(model)
        return None if prices is None else prices.rates

    def clock(self, real: Clock) -> Clock:
        """The clock of what is recorded; that of a cassette that is replayed stands still."""
        return real if self.cassette is None else self.cassette.clock(real)

    def _find(self, model: str, *, live: bool) -> ModelFacts | None:
        if (model, live) not in self._found:
            find: Callable[[str], ModelFacts | None] = partial(registry.facts, tables=self.tables, live=live)
            cassette = self.cassette
            self._found[model, live] = find(model) if cassette is None else cassette.facts(model, find)
        return self._found[model, live]

    def _outside(self, model: str) -> bool:
        """Whether the model lies behind a line, which a cassette can stand for."""
        return model.startswith(IN_PROCESS) or named(model, self.tables) is not None

    def _around(self, model: str) -> Callable[[Callable[[], Line]], Line] | None:
        return None if self.cassette is None else partial(self.cassette.line, origin=model)
