"""ethang_nb: see and steer the context window of an agent, inside a notebook.

    import ethang_nb as eth
    session = eth.Session("reader", window=6_000)       # an agent with its window in view
    context = eth.Context(8_000, model="gpt-4o")        # the same for an agent of your own
    eth.plan(messages, 8_000), eth.budget(messages, 8_000), eth.segments(messages)
    eth.ContextView(session)                            # all of it, live in the notebook

Names are loaded when they are first used; importing this loads no tokenizer, no HTTP client, no IPython and no
widgets.
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
    from ethang_nb.extras.watch import watch
    from ethang_nb.store.spill import SpillStore
    from ethang_nb.views.widgets.budget_bar import BudgetBar
    from ethang_nb.views.widgets.compaction_diff import CompactionDiff
    from ethang_nb.views.widgets.context_view import ContextView
    from ethang_nb.views.widgets.segment_list import SegmentList
    from ethang_nb.views.widgets.timeline_view import TimelineView
    from ethang_nb.views.widgets.trace import Trace
    from ethang_nb.views.widgets.what_if import WhatIf

__version__ = "0.1.0"

_HOMES = {
    "BudgetBar": "views.widgets.budget_bar",
    "CompactionDiff": "views.widgets.compaction_diff",
    "Context": "api",
    "ContextView": "views.widgets.context_view",
    "EthangError": "errors",
    "Limits": "agent.limits",
    "Message": "context.messages",
    "Policy": "context.policy",
    "Run": "agent.run",
    "SegmentList": "views.widgets.segment_list",
    "Session": "agent.session",
    "SpillStore": "store.spill",
    "TimelineView": "views.widgets.timeline_view",
    "Trace": "views.widgets.trace",
    "WhatIf": "views.widgets.what_if",
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
    "watch": "extras.watch",
    "window": "api",
}

__all__ = [
    "BudgetBar",
    "CompactionDiff",
    "Context",
    "ContextView",
    "EthangError",
    "Limits",
    "Message",
    "Policy",
    "Run",
    "SegmentList",
    "Session",
    "SpillStore",
    "TimelineView",
    "Trace",
    "WhatIf",
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
    "watch",
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
