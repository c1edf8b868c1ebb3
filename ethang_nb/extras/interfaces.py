"""Interface: what of a client's requests is shown: where they go, how they are read, who reads the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.errors import BadMessage
from ethang_nb.formats.detect import to_tools
from ethang_nb.formats.sending import Shape
from ethang_nb.providers.endpoints.table import WireName
from ethang_nb.providers.line import Parser
from ethang_nb.providers.models.quirks import PLAIN
from ethang_nb.providers.wires.by_name import wire

__all__ = ["Asked", "Interface", "catalogue", "text_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as its body says it. `after`: the id of an earlier answer that it goes on from; "": it holds all."""

    messages: Sequence[Any]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """`end` is how the path of its requests ends; `read` gives None for a body that is none of them.

    `shape` is how its messages look, `wire` what its answers are read by.
    """

    end: str
    shape: Shape
    read: Callable[[Mapping[str, Any]], Asked | None]
    wire: WireName

    def parser(self) -> Parser:
        return wire(self.wire, PLAIN).parser()


def catalogue(tools: object) -> tuple[ToolSpec, ...]:
    """The tools of a request. One that runs at the provider has no schema of its own: what is said of it stands in."""
    given = tools if isinstance(tools, list) else ()
    return tuple([_tool(item) for item in given if isinstance(item, Mapping)])


def _tool(item: Mapping[str, Any]) -> ToolSpec:
    try:
        return to_tools([item])[0]
    except BadMessage:
        rest = {key: value for key, value in item.items() if key not in ("name", "type")}
        return ToolSpec(
            name=str(item.get("name") or item.get("type") or "tool"), description="", parameters=rest
        )


def text_of(content: object) -> str:
    """A system text, given as a text or as blocks of text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = [block.get("text") for block in blocks if isinstance(block, Mapping)]
    return "\n\n".join(text for text in texts if isinstance(text, str))
