"""Models: what a person says of the models of a session beside its own: providers, cassette, summariser.

It is recorded as it was given, so that a session opens again as itself; a key is never in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ethang_nb.agent.masking import mask
from ethang_nb.agent.reach import Reach
from ethang_nb.config import check_model, joined, provider_tables
from ethang_nb.errors import Misuse
from ethang_nb.providers.protocol import Provider
from ethang_nb.providers.unasked import Unasked

if TYPE_CHECKING:
    from ethang_nb.providers.cassettes.cassette import Cassette
    from ethang_nb.providers.endpoints.table import Tables

__all__ = ["Models"]

LONGEST_SHOWN = 80  # ► characters of a wrong value that an error repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """As `Session` takes them. Raises Misuse for what is of the wrong kind."""

    providers: Tables | None = None
    cassette: str | Path | None = None
    summariser: str | None = None
    models: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        wrong: list[tuple[str, object, type | tuple[type, ...], str]] = [
            ("providers", self.providers, Mapping, "a dict of tables by provider"),
            ("cassette", self.cassette, (str, Path), "a name or a path"),
            ("summariser", self.summariser, str, "a model id"),
        ]
        for name, value, kind, wanted in wrong:
            if value is not None and not isinstance(value, kind):
                raise Misuse(f"{name}={_shown(value)} is of type {type(value).__name__}; give {wanted}")
        listed = not isinstance(self.models, str) and isinstance(self.models, Sequence)
        if not listed or not all(isinstance(model, str) for model in self.models):
            raise Misuse(
                f"models={_shown(self.models)} is no list of model ids; give one, as in ['openai/gpt-5']"
            )
        object.__setattr__(self, "models", tuple(self.models))

    @property
    def recorded(self) -> dict[str, Any]:
        """What of it was given, as plain JSON data and as arguments of Session."""
        values: dict[str, Any] = {
            "providers": _plain(self.providers or {}),
            "cassette": None if self.cassette is None else str(self.cassette),
            "summariser": self.summariser,
            "models": list(self.models),
        }
        return {name: value for name, value in values.items() if value}

    def reach(self, model: str, folder: Path, *, look: bool) -> Reach:
        """How `model` and the others are reached from a project folder. Nothing is sent.

        Raises KeyMissing for a model that will need a key, CassetteMiss where only a cassette may answer and none does,
        BadWindow for a summariser whose window is unknown, and as making a provider does; not if it is only to `look`.
        """
        tables = joined(self.providers or {}, provider_tables(folder))
        if look:
            return Reach(tables, look=True)
        reach = Reach(tables, self._opened(folder))
        for asked in filter(None, (model, self.summariser)):
            reach.preflight(asked)
        for candidate in self.models:
            check_model(candidate, reach.check, name="models")
        if self.summariser:
            reach.window(None, self.summariser)
        return reach

    def provider(self, model: str, reach: Reach, *, look: bool) -> Provider:
        """The session's own provider; one that is never asked if it is only to `look`."""
        return Unasked(model) if look else reach.provider(model)

    def _opened(self, folder: Path) -> Cassette | None:
        if self.cassette is None:
            return None
        from ethang_nb.providers.cassettes.cassette import opened

        return opened(self.cassette, folder)


def _plain(value: Any) -> Any:
    """Mappings of any kind, in any depth, as dicts."""
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value


def _shown(value: object) -> str:
    return mask(repr(value))[:LONGEST_SHOWN]
