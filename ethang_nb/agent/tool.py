"""Tool: a function an agent may call, with the JSON schema made from its signature and docstring.

A tool is called with checked arguments and answers with text; what it returns is turned into text here. A
tool that raises is told to the model in one line and the run goes on.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Again, clean
from ethang_nb.errors import Misuse, ToolFault

__all__ = ["Answer", "Effect", "Tool", "arguments_of", "as_answer", "as_tool", "tool"]

Effect = Literal["read", "write", "run", "network"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool answered: text, where that text can be read again, and how it can be had again."""

    text: str
    address: str = ""
    again: Again = "lost"
    paged: bool = False
    error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A callable tool. `effects` say what it does to the world; one that only reads may run again.

    `own_thread` None: a function defined in the notebook runs on the main thread while a cell waits, so that
    prints, plots and the interrupt work; others run in a thread. True or False decides it.
    """

    spec: ToolSpec
    run: Callable[..., Any] = field(repr=False)
    effects: tuple[Effect, ...] = ("read",)
    own_thread: bool | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def again(self) -> Again:
        """A tool that only reads can run again; of others only the record has the answer."""
        return "run" if set(self.effects) <= {"read"} else "lost"

    @property
    def in_notebook(self) -> bool:
        return getattr(self.run, "__module__", "") == "__main__"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, effects: tuple[Effect, ...] = ("read",), thread: bool | None = None
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    effects: tuple[Effect, ...] = ("read",),
    thread: bool | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a tool of a function: `@tool`, or `@tool(name=…, effects=("write",), thread=True)`.

    The first paragraph of the docstring is the description; lines `name: text` under `Args:` describe the
    parameters; annotations become JSON types.
    """

    def make(decorated: Callable[..., Any]) -> Tool:
        about, parameters = _described(decorated)
        spec = ToolSpec(
            name=name or decorated.__name__,
            description=about,
            parameters=_schema(decorated, parameters),
        )
        return Tool(spec=spec, run=decorated, effects=effects, own_thread=thread)

    return make if function is None else make(function)


def as_tool(item: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is, or one made of a plain function."""
    if isinstance(item, Tool):
        return item
    if callable(item):
        return tool(item)
    raise Misuse(f"{item!r} is no tool; give a function or one made with @eth.tool")


def arguments_of(called: Tool, text: str) -> dict[str, Any]:
    """The arguments of a call, checked against the tool's schema. No repair by guessing: the model may retry.

    Empty text, blanks and null mean no arguments.
    """
    import jsonschema

    try:
        arguments = json.loads(text) if text and text.strip() else {}
    except ValueError as error:
        raise ToolFault(f"arguments of {called.name} are not JSON: {error}; send one JSON object") from None
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, dict):
        raise ToolFault(f"arguments of {called.name} are a {type(arguments).__name__}; send one JSON object")
    found = next(
        iter(jsonschema.Draft202012Validator(dict(called.spec.parameters)).iter_errors(arguments)), None
    )
    if found is not None:
        where = "".join(f"[{step!r}]" for step in found.absolute_path)
        raise ToolFault(f"arguments of {called.name}{where}: {found.message[:300]}")
    return arguments


def as_answer(called: Tool, value: Any) -> Answer:
    """What a tool returned, as text. Values that are not text become JSON where they can, else their repr."""
    if isinstance(value, Answer):
        return Answer(
            text=clean(value.text),
            address=value.address,
            again=value.again if value.address or value.again != "lost" else called.again,
            paged=value.paged,
            error=value.error,
        )
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if value is None:
        value = "done"
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, default=str, indent=1)
        except (TypeError, ValueError):
            value = repr(value)
    return Answer(text=clean(value), again=called.again)


_JSON_TYPES: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(function: Callable[..., Any], about: Mapping[str, str]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        hints = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise Misuse(f"tool {function.__name__} takes *{name}; give every parameter a name of its own")
        shape = _type_schema(hints.get(name, Any))
        if name in about:
            shape["description"] = about[name]
        properties[name] = shape
        if parameter.default is parameter.empty:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def _type_schema(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type_schema(item) for item in arguments]}
    if hint is type(None):
        return {"type": "null"}
    if origin in (list, tuple, set) or hint in (list, tuple, set):
        return {"type": "array"} | ({"items": _type_schema(arguments[0])} if arguments else {})
    if origin is dict or hint is dict:
        return {"type": "object"}
    return {}


def _described(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    text = inspect.getdoc(function) or ""
    head, _, rest = text.partition("\nArgs:")
    about = " ".join(head.split("\n\n")[0].split())
    return about, dict(re.findall(r"^\s+(\w+)(?: \([^)]*\))?: (.+)$", rest, re.MULTILINE))
