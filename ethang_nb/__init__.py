"""ethang_nb: see and steer the context window of an agent, inside a notebook.

    import ethang_nb as eth
    session = eth.Session("reader", window=6_000)       # an agent with its window in view
    context = eth.Context(8_000, model="gpt-4o")        # the same for an agent of your own
    eth.plan(messages, 8_000), eth.budget(messages, 8_000), eth.segments(messages)

Names are loaded when they are first used; importing this loads no tokenizer, no HTTP client and no IPython.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ethang_nb.agent.limits import Limits
    from ethang_nb.agent.opening import open_session, sessions
    from ethang_nb.agent.run import Run
    from ethang_nb.agent.session import Session
    from ethang_nb.agent.tool import tool
    from ethang_nb.api import Context, budget, counter, plan, replay, segments, window
    from ethang_nb.context.messages import Message
    from ethang_nb.context.policies import POLICIES as policies
    from ethang_nb.context.policy import Policy
    from ethang_nb.context.window import Window
    from ethang_nb.errors import EthangError
    from ethang_nb.experiments.delegation import delegation
    from ethang_nb.store.spill import SpillStore

__version__ = "0.1.0"

_HOMES = {
    "Context": "api",
    "EthangError": "errors",
    "Limits": "agent.limits",
    "Message": "context.messages",
    "Policy": "context.policy",
    "Run": "agent.run",
    "Session": "agent.session",
    "SpillStore": "store.spill",
    "Window": "context.window",
    "budget": "api",
    "counter": "api",
    "delegation": "experiments.delegation",
    "open_session": "agent.opening",
    "plan": "api",
    "replay": "api",
    "policies": "context.policies:POLICIES",
    "segments": "api",
    "sessions": "agent.opening",
    "tool": "agent.tool",
    "window": "api",
}

__all__ = [
    "Context",
    "EthangError",
    "Limits",
    "Message",
    "Policy",
    "Run",
    "Session",
    "SpillStore",
    "Window",
    "budget",
    "counter",
    "delegation",
    "load_ipython_extension",
    "open_session",
    "plan",
    "policies",
    "replay",
    "segments",
    "sessions",
    "tool",
    "unload_ipython_extension",
    "window",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ethang_nb' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    value = getattr(import_module(f"ethang_nb.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext ethang_nb`: registers the magics and nothing else. Loading twice changes nothing."""
    # By name, as all of this file's imports: whoever imports ethang_nb does not thereby import the notebook.
    import_module("ethang_nb.notebook.extension").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext ethang_nb`: takes away what loading registered."""
    import_module("ethang_nb.notebook.extension").unload(shell)
