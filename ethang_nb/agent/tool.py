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
        called = name or str(getattr(decorated, "__name__", ""))
        if not _NAME.fullmatch(called):
            raise Misuse(
                f"{called or decorated!r} cannot be a tool's name; give one of letters, digits, _ and -: @tool(name=…)"
            )
        about, parameters = _described(decorated)
        spec = ToolSpec(name=called, description=about, parameters=_schema(called, decorated, parameters))
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
        arguments = json.loads(text, parse_constant=_no_number) if text and text.strip() else {}
    except ValueError as error:
        raise ToolFault(f"arguments of {called.name} are not JSON: {error}; send one JSON object") from None
    except RecursionError:
        raise ToolFault(
            f"arguments of {called.name} are nested too deeply; send one flat JSON object"
        ) from None
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


def _no_number(word: str) -> Any:
    """NaN and the infinities, which Python would take and JSON does not know."""
    raise ValueError(f"{word} is no JSON value")


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
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what providers take as a tool's name
_PARAMETER = re.compile(r"(\s+)(\w+)(?: \([^)]*\))?: *(.*)")


def _schema(called: str, function: Callable[..., Any], about: Mapping[str, str]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        hints = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise Misuse(
                f"tool {called} takes {parameter}, which has no name to call it by; name every parameter"
            )
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
        return {"type": "object"} | (
            {"additionalProperties": _type_schema(arguments[1])} if arguments else {}
        )
    return {}


def _described(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The first paragraph of the docstring, and what its `Args:` say of each parameter, on one line each."""
    head, _, rest = f"\n{inspect.getdoc(function) or ''}".partition("\nArgs:")
    about: dict[str, str] = {}
    name, depth = "", 0
    for line in rest.split("\n")[1:]:
        if line[:1].strip():
            break  # the next section
        found = _PARAMETER.match(line)
        if found and (not name or len(found[1]) <= depth):
            depth, name = len(found[1]), found[2]
            about[name] = found[3]
        elif name:
            about[name] = f"{about[name]} {line.strip()}".strip()
    return " ".join(head.strip().split("\n\n")[0].split()), about
