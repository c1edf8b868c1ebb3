"""Ethang: the settings that `%config Ethang.window = 6000` sets, checked as they are set."""

from __future__ import annotations

from typing import Any, Self
from warnings import warn

from traitlets import TraitError, TraitType, Unicode, validate
from traitlets.config import Configurable

from ethang_nb.config import NAMES, Name, check_model, checked, own_policies
from ethang_nb.context.policies import POLICIES
from ethang_nb.errors import EthangError, Unknown
from ethang_nb.providers.registry import facts

__all__ = ["Ethang"]


class _Tokens(TraitType[Any, Any]):
    """A number of tokens or None; `checked` says what is wrong with it."""

    info_text = "a whole number of tokens, or None for the model's own window"
    default_value = None


class Ethang(Configurable):
    """Settings of the sessions that a notebook's cells start. A cell's own flags go before them.

    After `%config` come the table [ethang] of ethang.toml in the project folder, the variables ETHANG_MODEL,
    ETHANG_WINDOW and ETHANG_POLICY, and the defaults.
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

    @validate("model", "window", "policy")
    def _check(self, proposal: Any) -> Any:
        if proposal["value"] is None:
            return None
        name: Name = proposal["trait"].name
        try:
            known = (*POLICIES, *own_policies()) if name == "policy" else POLICIES
            value = checked(name, proposal["value"], "%config", known)
            if name == "model":
                check_model(value, facts, "%config")
        except EthangError as error:
            raise TraitError(str(error)) from None
        return value

    @classmethod
    def of(cls, shell: Any) -> Self:
        """The settings of a shell, as its own configuration has them; what is wrong there is named and not used."""
        found = cls()
        for name, value in shell.config.get(cls.__name__, {}).items():
            if name not in NAMES:
                warn(str(Unknown("setting of %config Ethang", name, NAMES)), stacklevel=2)
                continue
            try:
                setattr(found, name, value)
            except TraitError as error:
                warn(f"{error}; it is not used", stacklevel=2)
        return found

    @property
    def given(self) -> dict[str, Any]:
        """What is set, by name."""
        values = {"model": self.model, "window": self.window, "policy": self.policy}
        return {name: value for name, value in values.items() if value is not None}
