"""Ethang: the settings that `%config Ethang.window = 6000` sets, checked as they are set."""

from __future__ import annotations

from typing import Any, Self
from warnings import warn

from traitlets import Dict, TraitError, TraitType, Unicode, validate
from traitlets.config import Configurable

from ethang_nb.config import NAMES, Name, Tables, check_model, checked, joined, own_policies, provider_tables
from ethang_nb.context.policies import POLICIES
from ethang_nb.errors import EthangError, Unknown
from ethang_nb.providers.registry import check

__all__ = ["Ethang"]


class _Tokens(TraitType[Any, Any]):
    """A number of tokens or None; `checked` says what is wrong with it."""

    info_text = "a whole number of tokens, or None for the model's own window"
    default_value = None


class _Models(TraitType[Any, Any]):
    """A list of model ids or None; `checked` says what is wrong with it."""

    info_text = "a list of model ids"
    default_value = None


SETTINGS = (*NAMES, "providers")


class Ethang(Configurable):
    """Settings of the sessions that a notebook's cells start. A cell's own flags go before them.

    After `%config` come the table [ethang] of ethang.toml in the project folder, the variables ETHANG_MODEL,
    ETHANG_WINDOW, ETHANG_POLICY and ETHANG_SUMMARISER, and the defaults. No key is a setting: it comes from the
    environment, and what is set here would be saved with the notebook.
    """

    model = Unicode(None, allow_none=True, help="Model id, as in 'reader'. None: not set here.").tag(
        config=True
    )
    window = _Tokens(allow_none=True, help="Window in tokens, as in 6000. None: not set here.").tag(
        config=True
    )
    policy = Unicode(None, allow_none=True, help="Policy, as in 'pressure'. None: not set here.").tag(
        config=True
    )

    summariser = Unicode(
        None,
        allow_none=True,
        help="Model that writes the handoff notes, as in 'openai/gpt-5-mini'. None: not set here.",
    ).tag(config=True)
    models = _Models(
        allow_none=True, help="Model ids among which a summariser is looked for. None: not set here."
    ).tag(config=True)
    cassette = Unicode(
        None, allow_none=True, help="Cassette that records and replays, as in 'demo'. None: not set here."
    ).tag(config=True)
    providers = Dict(
        help="Tables of providers, as in {'mine': {'base_url': 'http://127.0.0.1:8000/v1', 'key': 'MY_KEY'}}."
    ).tag(config=True)

    @validate(*NAMES)
    def _check(self, proposal: Any) -> Any:
        if proposal["value"] is None:
            return None
        name: Name = proposal["trait"].name
        try:
            known = (*POLICIES, *own_policies()) if name == "policy" else POLICIES
            value = checked(name, proposal["value"], "%config", known)
            for model in (value,) if name in ("model", "summariser") else value if name == "models" else ():
                check_model(model, self._find, "%config", name)
        except EthangError as error:
            raise TraitError(str(error)) from None
        return value

    @validate("providers")
    def _check_providers(self, proposal: Any) -> Any:
        tables: Tables = proposal["value"]
        try:
            check("reader", tables=tables)
        except EthangError as error:
            raise TraitError(str(error)) from None
        return tables

    def _find(self, model: str) -> None:
        check(model, tables=joined(self.providers, provider_tables()))

    @classmethod
    def of(cls, shell: Any) -> Self:
        """The settings of a shell, as its own configuration has them; what is wrong there is named and not used."""
        found = cls()
        given = shell.config.get(cls.__name__, {})
        for name, value in sorted(given.items(), key=lambda item: item[0] != "providers"):
            if name not in SETTINGS:
                warn(str(Unknown("setting of %config Ethang", name, SETTINGS)), stacklevel=2)
                continue
            try:
                setattr(found, name, value)
            except TraitError as error:
                warn(f"{error}; it is not used", stacklevel=2)
        return found

    @property
    def given(self) -> dict[str, Any]:
        """What is set, by name."""
        values = {name: getattr(self, name) for name in SETTINGS}
        return {name: value for name, value in values.items() if value not in (None, {})}
