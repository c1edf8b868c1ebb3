"""Head: what stands before the messages of a request, as far as all wire formats agree on it.

The model's quirks decide what is left out, the format which names are its own; each thing that is not sent as it was
asked for is one line of `notices`. Those lines do not depend on the history, so that they need be said only once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.providers.models.quirks import Quirks
from ethang_nb.providers.packing import packed
from ethang_nb.providers.protocol import Request
from ethang_nb.providers.wires.schemas import plain_object

__all__ = ["Asked", "asked"]

_SAMPLING = (
    "temperature", "top_p", "top_k", "min_p", "typical_p", "presence_penalty", "frequency_penalty",
    "repetition_penalty", "logit_bias", "logprobs", "top_logprobs",
)  # fmt: skip
_FREE = ("auto", "none")  # a tool_choice that leaves it to the model, or forbids calls
_OF_TOOLS = ("tool_choice", "parallel_tool_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What of a request is sent besides its messages, and in `notices` what is not.

    `params` by name, `tools` in their own order with schemas that the APIs take, `schema` for the answer.
    """

    params: dict[str, Any]
    tools: tuple[ToolSpec, ...]
    schema: dict[str, Any] | None
    notices: tuple[str, ...]


def asked(request: Request, quirks: Quirks, *, ours: Collection[str]) -> Asked:
    """`ours` are the names in the head that the format writes itself. Raises Misuse for a value that is no JSON."""
    said: list[str] = []
    tools = _tools(request, quirks, said)
    params: dict[str, Any] = {}
    for name in sorted(request.params):
        value = request.params[name]
        packed(value, f"the parameter {name}")
        why = _refused(name, value, quirks, ours, with_tools=bool(tools))
        if why:
            said.append(f"the parameter {name} is not sent: {why}")
        else:
            params[name] = value
    schema = None
    if request.schema is not None:
        packed(request.schema, "the schema of the answer")
        if quirks.schema:
            schema = dict(request.schema)
        else:
            said.append("the schema of the answer is not sent: this model cannot be held to one")
    return Asked(params=params, tools=tools, schema=schema, notices=tuple(said))


def _tools(request: Request, quirks: Quirks, said: list[str]) -> tuple[ToolSpec, ...]:
    if request.tools and not quirks.tools:
        said.append(f"{len(request.tools)} tools are not sent: this model takes none")
        return ()
    done: list[ToolSpec] = []
    for spec in request.tools:
        schema, dropped = plain_object(spec.parameters)
        packed(schema, f"the schema of tool {spec.name}")
        if dropped:
            said.append(
                f"tool {spec.name}: {', '.join(dropped)} of its schema not sent: APIs refuse it at the top"
            )
        done.append(ToolSpec(name=spec.name, description=spec.description, parameters=schema))
    return tuple(done)


def _refused(name: str, value: Any, quirks: Quirks, ours: Collection[str], *, with_tools: bool) -> str:
    """Why a parameter is not sent; "" where it is."""
    if name in ours:
        return "the session sets that itself"
    if name in _SAMPLING and not quirks.sampling:
        return "this model takes no sampling parameters"
    if name in _OF_TOOLS and not with_tools:
        return "no tools are sent"
    if name == "tool_choice" and not quirks.forced_tools and _forces(value):
        return "this model cannot be made to call a tool"
    return ""


def _forces(choice: Any) -> bool:
    if isinstance(choice, dict):
        # OpenAI's choice among allowed tools has a mode of its own.
        inner = choice.get("allowed_tools", choice)
        choice = inner.get("mode", choice.get("type")) if isinstance(inner, dict) else choice.get("type")
    return choice is not None and choice not in _FREE
